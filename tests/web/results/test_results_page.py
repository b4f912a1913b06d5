"""The results page: its numbers are the API's, its plots say what its tables say, and everybody sees what they may."""

import csv
import io
import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.results.checklist import ItemCode
from survey_app.store import STEP, State, Submission, now
from survey_app.store.sqlite import SqliteStore
from survey_app.web.results.plots import MOST_PLOTTED
from survey_app.web.results.reader_choices import ChoiceCode
from tests.definitions import (
    COIN,
    choice,
    define,
    field,
    scale,
    subset,
    yes_no,
)
from tests.golden_files import Golden, page_text
from tests.tree import Node, parse
from tests.web.results.results_fixtures import (
    EVIL,
    LISTS,
    PASSWORD,
    TOKEN,
    Installation,
    alert_codes,
    campus,
    check_row,
    describe_row,
    fill,
    hide_numbers,
    hostile_survey,
    in_page_order,
    parse_svg,
    plot_rows,
    row_numbers,
)

QUERIES = [
    "",
    "?confidence=0.8&simultaneous=1",
    "?narrow=1&confidence=0.99",
    "?population=5000",
    "?target=sample&view=table",
]


@pytest.mark.parametrize("slug", ["campus", "others"])
@pytest.mark.parametrize("query", QUERIES)
def test_every_number_on_the_page_is_the_apis(installation: Installation, slug: str, query: str) -> None:
    page = installation.page(f"/results/{slug}{query}")
    document = json.loads(installation.get(f"/api/surveys/{slug}/results{query}").text)
    assert page.one("data", data_key="reports").attributes["value"] == str(document["reports"])
    seen = 0
    for part in document["questions"]:
        section = page.one("section", id=f"q-{part['id']}")
        for kind in LISTS:
            found = section.all("tbody", data_list=kind)
            assert len(found) == bool(part.get(kind))
            rows = [row for body in found for row in body.all("tr")]
            wanted = in_page_order(part, kind)
            assert [row.attributes["data-option"] for row in rows] == [line["option"] for line in wanted]
            for row, line in zip(rows, wanted, strict=True):
                check_row(row, line)
                seen += 1
        levels = {one["level"]: one["options"] for one in part.get("quantiles", [])}
        told_levels = {
            float(one.attributes["data-quantile"]): [member.text for member in one.all("span", class_="member")]
            for one in section.all("div", data_quantile=None)
        }
        assert told_levels == levels
    bodies = page.all("tbody", data_list="joint")
    assert len(bodies) == len(document["joint"])
    for body, part in zip(bodies, document["joint"], strict=True):
        cells = {tuple(line["options"]): line for line in part["estimates"]}
        for row in body.all("tr"):
            check_row(row, cells.pop(tuple(head.text for head in row.all("th"))))
            seen += 1
        assert not cells
    assert seen == sum(
        len(part.get(kind, [])) for part in [*document["questions"], *document["joint"]] for kind in LISTS
    )
    assert seen > 40


def test_a_wrong_number_would_be_noticed(installation: Installation) -> None:
    page = installation.page("/results/campus")
    line = json.loads(installation.get("/api/surveys/campus/results").text)["questions"][0]["estimates"][1]
    row = page.all("tbody", data_list="estimates")[0].all("tr")[0]
    check_row(row, line)
    with pytest.raises(AssertionError):
        check_row(row, {**line, "low": line["low"] + 1e-9})
    row.one("data", data_key="high").children = ["99.99%"]
    with pytest.raises(AssertionError):
        check_row(row, line)


@pytest.mark.parametrize("slug", ["campus", "others"])
@pytest.mark.parametrize("query", ["", "?confidence=0.8", "?target=sample"])
def test_the_table_and_the_plot_say_the_same(installation: Installation, slug: str, query: str) -> None:
    page = installation.page(f"/results/{slug}{query}")
    sample = 0
    for section in page.all("section", class_="question"):
        wanted: dict[str, list[str]] = {"mean": [], "share": []}
        first = section.all("tbody")[0]  # those who answered, where a question was put to some only
        assert first.attributes["data-list"] == ("answered" if section.all("p", class_="condition") else "estimates")
        means = [
            one
            for one in section.one("tbody", data_list="estimates").all("tr")
            if one.attributes["data-kind"] == "mean"
        ]
        for row in [*(one for one in first.all("tr") if one.attributes["data-kind"] != "mean"), *means]:
            ends = ("low", "high")
            if "sample" in query and "sample_low" in row_numbers(row):
                ends, sample = ("sample_low", "sample_high"), sample + 1
            wanted["mean" if row.attributes["data-kind"] == "mean" else "share"].append(describe_row(row, *ends))
        pictures = section.all("svg")
        assert len(pictures) == sum(bool(lines) for lines in wanted.values())
        for picture, rows in zip(pictures, [rows for rows in (wanted["share"], wanted["mean"]) if rows], strict=True):
            # where n differs by row, the plot says it too
            assert [row.split("; n =")[0] for row in plot_rows(picture)] == rows
            labels = [picture.one(id=name).text for name in picture.attributes["aria-labelledby"].split()]
            assert picture.attributes["role"] == "img"
            assert rows[0] in labels[1]  # the text alternative reads the same numbers
    assert (sample > 0) == ("sample" in query and slug == "campus")


def test_what_the_noise_did_is_told_once_with_its_numbers(installation: Installation, golden: Golden) -> None:
    page = installation.page("/results/campus")
    (section,) = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == "noise"]
    yes = json.loads(installation.get("/api/surveys/campus/results").text)["questions"][0]["estimates"][1]
    shown = {key: section.one("data", data_key=key).text for key in ("reported", "q", "p", "unbiased")}
    assert shown == {
        "reported": f"{100 * yes['reported']:.1f}%",
        "q": "25.0%",
        "p": "75.0%",
        "unbiased": f"{100 * yes['unbiased']:.1f}%".replace("-", "−"),
    }
    golden(hide_numbers(section.one("div", id="live-noise").text))
    rows = plot_rows(section.one("svg"))
    assert f"reported {100 * yes['reported']:.1f}%" in rows[0]


def test_what_the_noise_did_is_told_with_the_chances_of_a_margin(fresh: Installation) -> None:
    """A yes that shows another question is three of four cells of their joint field: P = ¾ + 2/12, Q = 3/12."""
    after_yes = {"question": "cheated", "is": ["yes"]}
    joint = field(subset(4, 1), "cheated", "help")
    fresh.add(define([yes_no(), choice(options=2, show_if=after_yes)], [joint]), 60)
    page = fresh.page("/results/exam")
    (section,) = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == "noise"]
    _, yes = json.loads(fresh.get("/api/surveys/exam/results").text)["questions"][0]["estimates"]
    shown = [section.one("data", data_key=key).text for key in ("q", "p", "reported")]
    assert shown in (  # decimals as the width of the interval allows
        ["25%", "92%", f"{100 * yes['reported']:.0f}%"],
        ["25.0%", "91.7%", f"{100 * yes['reported']:.1f}%"],
    )


def test_estimates_come_first_and_the_settings_are_folded_until_they_are_changed(installation: Installation) -> None:
    def folded(query: str, status: int = 200) -> bool:
        page = installation.page(f"/results/campus{query}", status)
        order = [one.attributes.get("class") for one in page.one("div", id="page").all("section", "details")]
        assert order.index("overview") < order.index("settings noprint") < order.index("question")
        return "open" not in page.one("details", class_="settings noprint").attributes

    assert folded("") and folded("?rows=cheated&columns=fair")
    assert not any(map(folded, ("?confidence=0.9", "?target=sample", "?scale=own", "?population=5000")))
    assert not folded("?confidence=7", 400)


@pytest.mark.parametrize("slug", ["campus", "others"])
def test_the_overview_has_a_line_for_each_question_with_interval_and_n_that_leads_to_it(
    installation: Installation, slug: str
) -> None:
    """The yes of a yes or no, a mean on its own range, else the largest share; each as its own part says it."""
    page, document = (
        installation.page(f"/results/{slug}"),
        json.loads(installation.get(f"/api/surveys/{slug}/results").text),
    )
    lines = page.one("section", class_="overview").one("ol").all("li")
    assert [one.one("a").attributes["href"] for one in lines] == [f"#q-{part['id']}" for part in document["questions"]]
    for line, part in zip(lines, document["questions"], strict=True):
        figure, between = line.one("p", class_="figure"), line.one("span", class_="range").text
        value = (figure.all("strong") or figure.all("span", class_="silent"))[0].text
        answer = line.one("p", class_="answer").text
        shares = [one for one in part.get("answered") or part["estimates"] if one["kind"] == "share"]
        if any(one["kind"] == "mean" for one in part["estimates"]):
            wanted = "mean"
            assert "mean, range" in answer and (line.one("svg").all("rect") or figure.all("span", class_="silent"))
        elif part["type"] == "yes_no":
            wanted = "yes"
        else:
            wanted = max(shares, key=lambda one: one["estimate"])["option"]
            assert f"largest of {len(shares)}" in answer
        assert wanted in answer
        table = page.one("section", id=f"q-{part['id']}").all("tbody")
        rows = [row for body in table for row in body.all("tr") if row.attributes["data-option"] == wanted]
        said = [{one.attributes["data-key"]: one.text for one in row.all("data")} for row in rows]
        assert (value, between) in [(one["estimate"], f"{one['low']} to {one['high']}") for one in said]
        n = line.one("p", class_="n").text
        if part.get("condition"):
            share = part["answering"]["estimate"]
            assert n == f"n: about {round(part['answering']['n'] * share):,} of {part['answering']['n']:,}"
        else:
            assert n.startswith("n = ")


def test_yes_stands_before_no_in_plots_tables_and_combinations(fresh: Installation) -> None:
    """Documents and files keep the order of symbols."""
    questions = [yes_no(), yes_no("right", optional=True), scale("fair")]
    fresh.add(define(questions, [field(COIN, "cheated"), field(subset(9, 1), "right", "fair")]), 200)
    page = fresh.page("/results/exam")
    for name, wanted in (("cheated", ["yes", "no"]), ("right", ["yes", "no", "no answer"])):
        section = page.one("section", id=f"q-{name}")
        rows = [row.attributes["data-option"] for row in section.one("tbody", data_list="estimates").all("tr")]
        assert rows == [title.partition(":")[0] for title in plot_rows(section.one("svg"))] == wanted
    together = [row.attributes["data-option"].split(" + ")[0] for row in page.one("tbody", id="joint-1").all("tr")]
    assert together == ["yes"] * 3 + ["no"] * 3 + ["no answer"] * 3
    document = json.loads(fresh.get("/api/surveys/exam/results").text)
    assert [line["option"] for line in document["questions"][0]["estimates"]] == ["no", "yes"]
    lines = list(csv.DictReader(io.StringIO(fresh.get("/results/exam.csv").text)))
    assert [line["option"] for line in lines[:2]] == ["no", "yes"]


def test_all_plots_of_shares_have_one_scale_unless_the_reader_wants_others(installation: Installation) -> None:
    def longest(query: str) -> set[str]:
        page = installation.page(f"/results/campus{query}")
        shares = [one.one("svg", class_="chart intervals") for one in page.all("section", id="q-cheated")]
        shares += [page.one("section", id="q-why").one("svg"), page.one("section", id="q-used").one("svg")]
        return {[tick.text for tick in one.all("text", class_="tick")][-1] for one in shares}

    assert longest("") == {"100%"}
    assert len(longest("?scale=own")) > 1
    assert alert_codes(installation.page("/results/campus?scale=mine", 400)) == [ChoiceCode.SCALE]


def test_what_the_noise_did_is_never_told_of_no_answer_or_of_what_nobody_can_tell(fresh: Installation) -> None:
    """Neither of a follow-up that few were asked, nor of an interval that says nothing; else the best there is."""
    after = {"question": "cheated", "is": ["yes"]}
    hopeless = {"kind": "flip", "one": str(2**63 + 2**57), "zero": str(2**63 - 2**57)}  # always 0 to 100%
    questions = [yes_no(), choice("who", 3, show_if=after), choice("left", 3, optional=True)]
    fields = [field(hopeless, "cheated"), field(subset(4, 1), "who"), field(subset(4, 1), "left")]
    fresh.add(define(questions, fields), 400)
    (section,) = [
        one for one in fresh.page("/results/exam").all("section") if one.attributes.get("aria-labelledby") == "noise"
    ]
    told = section.one("div", id="live-noise").text
    assert "option" in told and "no answer" not in told
    assert "noise-left" in section.one("svg").attributes["aria-labelledby"]
    fresh.add(define(questions[:1], fields[:1], slug="nothing"), 400)
    assert not [
        one for one in fresh.page("/results/nothing").all("section") if one.attributes.get("aria-labelledby") == "noise"
    ]


def test_words_on_the_page_are_those_that_people_know(installation: Installation, golden: Golden) -> None:
    html = installation.get("/results/campus", name="ada").text
    golden(page_text(html, '<details class="terms"', "</details>"), "terms")
    golden(page_text(html, '<h2 id="downloads"', "</section>"), "downloads")
    golden("\n".join(name.text for name in parse(html).one("dl", id="facts-cheated").all("dt")), "facts")
    for ours in ("Worth without noise", "invented", "Noisy bits", "ε of a whole report"):
        assert ours not in html


def test_a_reader_may_choose_the_intervals_without_scripts(installation: Installation) -> None:
    page = installation.page("/results/campus?confidence=0.99&simultaneous=1&target=sample&population=2000&view=table")
    form = page.all("form")[0]
    assert form.attributes["method"] == "get"
    chosen = [option.attributes["value"] for option in form.all("option", selected=None)]
    assert chosen == ["0.99", "sample"]
    assert [option.text for option in form.all("select")[0].all("option")] == ["80%", "90%", "95%", "99%"]
    assert [box.attributes["name"] for box in form.all("input", checked=None)] == ["simultaneous", "view"]
    assert form.one("input", name="population").attributes["value"] == "2000"
    assert all("open" in details.attributes for details in page.all("details"))
    assert "these 1,200 respondents" in page.one("p", class_="target").text
    plain = installation.page("/results/campus")
    assert not any("open" in details.attributes for section in plain.all("section", class_="question")
                   for details in section.all("details"))  # fmt: skip
    assert "random sample of" in plain.one("p", class_="target").text


BAD_CHOICES: list[tuple[str, list[ChoiceCode | RefusalCode]]] = [
    ("confidence=high", [ChoiceCode.CONFIDENCE]),
    ("confidence=0.9995", [ChoiceCode.CONFIDENCE]),
    ("confidence=0.90000001", [ChoiceCode.CONFIDENCE]),
    ("confidence=2", [ChoiceCode.CONFIDENCE]),
    ("confidence=nan", [ChoiceCode.CONFIDENCE]),
    ("population=many", [ChoiceCode.POPULATION]),
    ("population=10", [ChoiceCode.SMALL_POPULATION]),
    ("population=-5", [ChoiceCode.POPULATION]),
    ("population=" + "9" * 5000, [ChoiceCode.POPULATION]),
    ("target=everybody", [ChoiceCode.TARGET]),
    ("view=upside", [ChoiceCode.VIEW]),
    ("scale=mine", [ChoiceCode.SCALE]),
    ("rows=cheated", [RefusalCode.MISSING_COLUMNS]),
    ("columns=cheated", [RefusalCode.MISSING_ROWS]),
    ("rows=cheated&columns=cheated", [RefusalCode.REPEATED]),
    ("rows=cheated&columns=nothing", [RefusalCode.UNKNOWN_QUESTION]),
    ("rows=cheated&columns=hours", [RefusalCode.NO_SHARES]),
    ("with=nowhere", [RefusalCode.UNKNOWN_SURVEY]),
    ("with=private", [RefusalCode.UNKNOWN_SURVEY]),
    ("with=others", [RefusalCode.OTHER_QUESTIONS]),
    (
        urlencode({"with": EVIL, "rows": EVIL, "columns": "fair"}),
        [RefusalCode.UNKNOWN_QUESTION, RefusalCode.UNKNOWN_SURVEY],
    ),
    (
        urlencode([("with", f"s{i}") for i in range(20)]),
        [RefusalCode.TOO_MANY_SURVEYS, *[RefusalCode.UNKNOWN_SURVEY] * 12],
    ),
]


@pytest.mark.parametrize(("query", "codes"), BAD_CHOICES)
def test_a_bad_choice_is_a_message_on_a_page_that_still_shows_the_results(
    installation: Installation, query: str, codes: list[ChoiceCode | RefusalCode]
) -> None:
    page = installation.page(f"/results/campus?{query}", 400)
    assert alert_codes(page) == codes
    assert len(page.all("section", class_="question")) == 8
    assert not [one for one in page.all("script") if "src" not in one.attributes]


def test_bad_choices_in_words(installation: Installation, golden: Golden) -> None:
    queries = {codes[0]: query for query, codes in reversed(BAD_CHOICES)}  # the first of each
    pages = {code: installation.page(f"/results/campus?{query}", 400) for code, query in queries.items()}
    golden("\n".join(f"{code}: {page.all(role='alert')[0].all('p')[0].text}" for code, page in sorted(pages.items())))


def test_a_survey_that_one_may_not_see_is_told_as_one_that_does_not_exist(installation: Installation) -> None:
    hidden, unknown = (installation.page(f"/results/campus?with={name}", 400) for name in ("private", "nowhere"))
    assert hidden.one(role="alert").text.replace("private", "nowhere") == unknown.one(role="alert").text


def test_empty_fields_of_the_form_are_no_choices(installation: Installation) -> None:
    installation.page("/results/campus?confidence=0.95&target=population&population=&rows=&columns=&with=")


def test_who_may_see_what(installation: Installation, golden: Golden) -> None:
    assert installation.page("/results/private", name="ada").one("h1").text == "Campus life"
    refused = installation.get("/results/private", 403, name="bob").text
    assert parse(refused).one("h1").attributes["data-code"] == "forbidden"
    golden(page_text(refused, "<h1", "</ul>"))
    answer = installation.get("/results/private?confidence=0.9&rows=fair", 302)
    where = urlsplit(answer.headers["Location"])
    assert where.path == "/login"
    assert parse_qs(where.query)["next"] == ["/results/private?confidence=0.9&rows=fair"]
    with_token = {"Authorization": f"Bearer {TOKEN}"}
    assert installation.client().get("/results/private", headers=with_token).status_code == 200
    assert installation.client().get("/results/private.csv", headers=with_token).status_code == 200
    assert (
        installation.client().get("/results/private", headers={"Authorization": f"Bearer {'x' * 43}"}).status_code
        == 401
    )
    for address in ("/results/private.csv", "/results/private/plots/fair.svg", "/results/private/crosstab.csv"):
        installation.get(address, 302)
        installation.get(address, 403, name="bob")
    assert json.loads(installation.get("/results/private/count", 401).text)["code"] == "unauthorized"
    installation.get("/results/private/count", 403, name="bob")
    assert "Set-Cookie" not in installation.get("/results/campus").headers


def test_signing_in_leads_back_to_the_results(installation: Installation) -> None:
    client = installation.app.test_client()
    target = client.get("/results/private?confidence=0.9").headers["Location"]
    answer = client.post(target, data={"name": "ada", "password": PASSWORD})
    assert answer.headers["Location"] == "/results/private?confidence=0.9"


def test_the_page_obeys_the_strict_policy(installation: Installation) -> None:
    answer = installation.get("/results/campus?rows=cheated&columns=fair&with=west")
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self'; style-src 'self'" in policy and "unsafe" not in policy
    assert answer.headers["Cache-Control"] == "no-store"
    page = parse(answer.text)
    assert all(one.attributes.get("src", "").startswith("/") for one in page.all("script"))
    everything = page.all()
    assert not [one for one in everything if "style" in one.attributes or one.tag == "style"]
    assert not [key for one in everything for key in one.attributes if key.startswith("on")]
    assert re.search(r"@media screen[^{]*\(prefers-color-scheme:dark\)", installation.get("/static/charts.css").text)


@pytest.mark.parametrize("address", ["/results/campus?rows=help&columns=fair&with=west&view=table", "/results/others"])
def test_ids_are_unique_and_headings_in_order(installation: Installation, address: str) -> None:
    page = installation.page(address, name="ada")
    ids = [one.attributes["id"] for one in page.all(id=None)]
    assert len(ids) == len(set(ids))
    known = set(ids)
    for one in page.all():
        for key in ("aria-labelledby", "aria-describedby", "for"):
            assert set(one.attributes.get(key, "").split()) <= known
    for link in page.all("a"):
        if link.attributes["href"].startswith("#"):
            assert link.attributes["href"][1:] in known
    heads = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert heads[0] == 1 and heads.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(heads))


def test_hostile_texts_stay_texts(fresh: Installation) -> None:
    fresh.add(hostile_survey(), 60)
    fresh.add(hostile_survey() | {"slug": "twin"}, 60)
    query = "rows=pick&columns=rate&with=twin&view=table"
    html = fresh.get(f"/results/evil?{query}", name="ada").text
    assert "<script>alert" not in html and "<img" not in html
    page = parse(html)
    assert [one.attributes["src"] for one in page.all("script")] == ["/static/moments.js", "/static/results/page.js"]
    assert not page.all("img")
    assert page.one("h1").text == EVIL
    assert page.one("h1").attributes["lang"] == "de"
    assert {one.text for one in page.one("tbody", id="t-pick").all("th")} == set(
        hostile_survey()["questions"][0]["options"]
    )
    for figure in page.all("figure"):
        picture = parse_svg(fresh.get(figure.one("a").attributes["href"], name="ada").text)
        names = {one.tag.rpartition("}")[2] for one in picture.iter()}
        assert not names & {"script", "img", "image", "foreignObject"}
        assert EVIL in (picture.findtext("{http://www.w3.org/2000/svg}title") or "")
    for page in (fresh.page("/results/evil", name="bob"), fresh.page("/results/evil?confidence=x", 400)):
        assert len(page.all("script")) == 2


def note(page: Node) -> Node:
    """Return where a page says why it has no results, or which state its survey is in."""
    return (page.all("section", data_note=None) or page.all("p", id="live-state"))[0]


def test_every_state_has_a_page_of_its_own(fresh: Installation, golden: Golden) -> None:
    fresh.add(campus("empty"))
    for slug, count in (("none", 0), ("few", 1), ("almost", STEP - 1)):
        fresh.add(campus(slug), count, close=True)
    fresh.add(campus("later"), opens=datetime(2099, 1, 1, tzinfo=UTC))
    fresh.add(campus("open"), 40)
    fresh.store.set_state(fresh.add(campus("paused"), 40), State.PAUSED)
    fresh.add(campus("closed"), 33, close=True)
    fresh.add(campus("full"), 30, max_reports=30)
    codes = {
        "empty": "waiting",
        "none": "too_few_reports",
        "few": "too_few_reports",
        "almost": "too_few_reports",
        "later": "not_open",
        "open": "open",
        "paused": "paused",
        "closed": "closed",
        "full": "full",
    }
    pages = {slug: fresh.page(f"/results/{slug}") for slug in codes}
    assert {slug: note(page).attributes["data-note"] for slug, page in pages.items()} == codes
    words = {code: note(pages[slug]).text for slug, code in codes.items()}
    golden("\n".join(f"{code}: {text}" for code, text in words.items()))
    assert "/s/empty" in [link.attributes["href"] for link in pages["empty"].all("a")]
    assert [one.attributes["class"] for one in pages["empty"].all("svg")] == ["mark"], "no plots"
    alive = {slug for slug, page in pages.items() if "data-count" in page.one(id="page").attributes}
    assert alive == {"empty", "later", "open", "paused"}
    assert "30" in pages["full"].one("div", data_item=ItemCode.STOPPING).text
    fresh.add(campus("draft"), state=State.READY)
    for slug in ("draft", "nothing", "No%20Slug"):
        assert fresh.page(f"/results/{slug}", 404).one("h1").attributes["data-code"] == "not_found"
        fresh.page(f"/results/{slug}", 404, name="ada")
    fresh.get("/results/nothing.csv", 404)


def test_one_report_of_an_open_survey_shows_nothing(fresh: Installation) -> None:
    fresh.add(campus(), 1)
    assert note(fresh.page("/results/campus")).attributes["data-note"] == "waiting"


def test_an_older_version_says_so(fresh: Installation) -> None:
    fields = [field(COIN, "cheated"), field(COIN, "told")]
    first = fresh.add(define([yes_no(), yes_no("told")], fields), 40)
    fresh.add(define([yes_no() | {"text": "Again?"}, yes_no("told")], fields), 20)
    page = fresh.page(f"/results/exam?digest={first.survey.digest}")
    assert page.all("p", data_note="older_version")
    assert page.one("data", data_key="reports").text == "60"  # it is closed, so all of them
    link = next(a for a in page.all("a") if "CSV" in a.text)
    assert f"digest={first.survey.digest}" in link.attributes["href"]
    kept = [one.attributes["value"] for one in page.all("input", type="hidden", name="digest")]
    assert kept == [first.survey.digest] * len(page.all("form"))  # every form stays with this version
    assert not fresh.page("/results/exam").all("p", data_note="older_version")
    fresh.page("/results/exam?digest=00", 404)


def test_a_question_that_too_few_were_asked_says_so(fresh: Installation) -> None:
    """With ask, one of two fields may have no report at all; the page tells and still shows the other."""
    made = fresh.add(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")], ask=1))
    first_asked = bytes([0b11000000])
    fresh.store.write([Submission(made.key, secrets.token_bytes(16), first_asked) for _ in range(2 * STEP)].copy)
    page = fresh.page("/results/exam")
    assert page.one("section", id="q-a").all("svg")
    assert page.one("section", id="q-b").all("p", data_note="too_few_reports")


def test_new_reports_show_at_their_step(fresh: Installation) -> None:
    published = fresh.add(campus(), STEP)
    seen = []
    for _ in range(2):
        page = fresh.page("/results/campus")
        seen.append(page.one("data", data_key="reports").text)
        assert json.loads(fresh.get("/results/campus/count").text) == {
            "reports": int(seen[-1]), "state": "open", "text": seen[-1],
        }  # fmt: skip
        fill(fresh.store, published, STEP)
    assert seen == ["20", "40"]


def test_the_page_reads_the_tally_and_no_bits(fresh: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.add(campus(), 100)

    def never(*_: Any) -> Iterator[Any]:
        raise AssertionError("the page scans")
        yield

    monkeypatch.setattr(SqliteStore, "_scan", never)
    fresh.page("/results/campus?with=&target=sample")
    fresh.page("/results/campus?rows=help&columns=fair")  # a joint field needs no scan either
    fresh.page("/results/campus?rows=cheated&columns=fair", 500)


def test_a_choice_with_a_thousand_options_stays_usable(fresh: Installation) -> None:
    fresh.add(define([choice("town", 1000)], [field(subset(1000, 30, 2**62), "town")]), 400)
    page = fresh.page("/results/exam")
    assert len(page.one("tbody", id="t-town").all("tr")) == 1000
    picture = page.one("div", id="live-town").one("svg")
    assert len(picture.all("g", class_="row")) == MOST_PLOTTED
    assert re.search(rf"\b{MOST_PLOTTED} .*\b1,000\b", picture.text)
    values = {
        row.attributes["data-option"]: row_numbers(row)["estimate"] for row in page.one("tbody", id="t-town").all("tr")
    }
    drawn = [title.split(":")[0] for title in plot_rows(picture)]
    assert min(values[name] for name in drawn) >= sorted(values.values())[-MOST_PLOTTED]


def test_a_survey_with_a_hundred_questions_has_contents_and_all_of_them(fresh: Installation) -> None:
    questions = [yes_no(f"q{i}") if i % 2 else scale(f"q{i}") for i in range(100)]
    fields = [field(COIN if i % 2 else subset(3, 1), f"q{i}") for i in range(100)]
    fresh.add(define(questions, fields), 60)
    page = fresh.page("/results/exam")
    sections = page.all("section", class_="question")
    assert [one.attributes["id"] for one in sections] == [f"q-q{i}" for i in range(100)]
    assert all(one.all("svg") and one.all("tbody") for one in sections)
    links = [one.attributes["href"] for one in page.one("section", class_="overview").one("ol").all("a")]
    assert links == [f"#q-q{i}" for i in range(100)]


def test_a_stopping_rule_that_was_changed_while_people_answered_is_to_be_explained(
    fresh: Installation, golden: Golden
) -> None:
    def rule() -> Node:
        return fresh.page("/results/campus").one("div", data_item=ItemCode.STOPPING)

    published = fresh.add(campus(), 2 * STEP, max_reports=4000)
    fresh.store.set_terms(published, replace(published.terms, deletes=now() + timedelta(days=9)))
    assert "class" not in rule().attributes, "nothing to fill in"
    golden(rule().text, "as published")
    fresh.store.set_terms(published, replace(published.terms, max_reports=5000))
    changed = rule()
    assert changed.attributes["class"] == "open" and "5,000" in changed.text
    golden(changed.text, "changed")
    fresh.store.set_state(published, State.PAUSED)
    fresh.store.set_state(published, State.OPEN)
    assert rule().text == changed.text
