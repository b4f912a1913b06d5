"""The results page of a survey of which each device answers one block."""

import json
import re
import secrets
from collections.abc import Iterator

import pytest

from survey_app.results.checklist import CautionCode
from survey_app.results.denominators import DrawVerdict, describe_base_briefly, describe_draws
from survey_app.results.row_order import AMONG_ANSWERED, NOT_ASKED
from survey_app.results.survey_document import results
from survey_app.store import Submission
from survey_app.tally import columns_of
from survey_app.web.results.menus import MissingReason
from tests.block_survey import blocks
from tests.definitions import COIN, choice, define, drawn, field, multiple, number, subset, yes_no
from tests.golden_files import Golden
from tests.tree import Node
from tests.web.results.results_fixtures import Installation, check_row, plot_rows


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One survey of blocks that nobody changes."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    made.add(blocks(), 1500)
    yield made
    made.store.close()


def section(page: Node, name: str) -> Node:
    (found,) = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == name]
    return found


def fact(page: Node, question: str, code: str) -> str:
    return page.one("dl", id=f"facts-{question}").one("div", data_fact=code).one("dd").text


def missing(part: Node) -> list[tuple[str, list[str]]]:
    """Return which questions a form does not offer, after the reasons."""
    hints = [one.attributes for one in part.all("p", data_missing=None, data_questions=None)]
    return [(hint["data-missing"], hint["data-questions"].split()) for hint in hints]


def test_the_page_tells_how_often_each_block_was_drawn(installation: Installation) -> None:
    page = installation.page("/results/blocks")
    document = json.loads(installation.get("/api/surveys/blocks/results").text)
    rows = page.one("tbody", id="asked").all("tr")
    for row, block in zip(rows, document["asked"]["blocks"], strict=True):
        assert [link.attributes["href"] for link in row.all("a")] == [f"#q-{name}" for name in block["questions"]]
        chance, expected, n = (cell.text for cell in row.all("td"))
        assert (chance, n) == (f"{100 * block['chance']:.3g}%", str(block["n"]))
        assert expected == str(round(block["expected"]))
    published = installation.store.newest_version("blocks")
    assert published is not None
    asked = results(published.survey, installation.store.snapshot(published)).asked
    assert asked is not None
    assert page.one("p", id="live-draws").text == describe_draws(asked)
    assert describe_draws(asked) in page.one("p", id="paragraph").text
    assert "one of 6 blocks" in page.one("dl", id="live-summary").text


def test_what_is_replaced_while_the_page_lives_holds_nothing_to_press(installation: Installation) -> None:
    page = installation.page("/results/blocks?rows=used:notes&columns=used:phone")
    for part in page.all(data_live=None):
        if part.attributes["id"] != "live-summary":
            assert not part.all("a", "button", "input", "select", "summary"), part.attributes["id"]


def test_a_follow_up_with_several_answers_leads_with_those_who_answered(fresh: Installation) -> None:
    """Also where its options are drawn."""
    after = {"question": "cheated", "is": ["yes"]}
    fields = [field(COIN, "cheated"), field(drawn(4, 2), "used", chance=3)]
    fresh.add(define([yes_no(), multiple(show_if=after)], fields, ask=1), 400)
    told = fresh.page("/results/exam").one("section", id="q-used")
    assert "Asked if “Did you copy?” is “yes”: about" in told.one("p", class_="condition").text
    assert [title.partition(":")[0] for title in plot_rows(told.one("svg"))] == ["item 0", "item 1", "item 2"]
    assert [one.attributes["data-list"] for one in told.all("tbody")] == ["answered", "estimates"]
    assert {row.all("td")[5].text for row in told.all("tbody")[0].all("tr")} == {"guaranteed"}


def test_every_question_says_whom_its_n_counts(installation: Installation) -> None:
    page = installation.page("/results/blocks")
    document = json.loads(installation.get("/api/surveys/blocks/results").text)
    n = {one["questions"][0]: one["n"] for one in document["asked"]["blocks"]}
    base = {part["id"]: part["base"] for part in document["questions"]}
    assert fact(page, "stress", "n") == f"{n['cheated']}: {base['stress']}"
    assert "“Did you copy from somebody?”" in fact(page, "stress", "epsilon")
    assert fact(page, "who", "n") == f"{n['who']}: {base['who']}"
    assert re.fullmatch(rf"\d+ to \d+: {re.escape(base['used'])}", fact(page, "used", "n"))
    survey = blocks()
    for name in ("cheated", "used"):
        words = describe_base_briefly(survey, columns_of(survey, name).field)
        assert words and words in page.one("section", id=f"q-{name}").one("svg").text
    assert "n = " in section(page, "joint").one("svg").text


def test_a_follow_up_leads_with_those_who_answered_and_says_who_was_asked(installation: Installation) -> None:
    """No bar of "no answer" among the options; how many were asked and answered stands in the words before the plot,
    and is the n of the figures.
    """
    page = installation.page("/results/blocks")
    document = json.loads(installation.get("/api/surveys/blocks/results").text)
    for name, parent in (("why", "Did you copy from somebody?"), ("who", "Was there too much stress?")):
        part = next(one for one in document["questions"] if one["id"] == name)
        told = page.one("section", id=f"q-{name}")
        said = told.one("p", class_="condition").text
        none = next(line for line in part["estimates"] if line["kind"] == "no_answer")
        reached = f"about {round(none['n'] * (1 - none['estimate']))} of {none['n']}"
        assert said.startswith(f"{part['condition']}: {reached} ") and f"“{parent}”" in part["condition"]
        reach = part["answering"]
        known = "sample_" if reach["sample_low"] is not None else ""
        wanted = ["95", *(str(round(reach["n"] * reach[f"{known}{end}"])) for end in ("low", "high"))]
        assert re.findall(r"\d+", said.partition(reached)[2]) == wanted
        assert {row.all("td")[4].text for row in told.one("tbody", data_list="answered").all("tr")} == {reached}
        assert told.one("tbody", data_list="estimates").all("th")[-1].text == NOT_ASKED
        titles = plot_rows(told.one("svg"))
        assert [title.partition(":")[0] for title in titles] == [line["option"] for line in part["answered"]]
        assert f"{AMONG_ANSWERED[1:]}; n: {reached}" in told.one("svg").text
        assert [one.attributes["data-list"] for one in told.all("tbody")] == ["answered", "estimates"]
        for row, line in zip(told.one("tbody", data_list="estimates").all("tr"), part["estimates"], strict=True):
            check_row(row, line)
    assert not page.one("section", id="q-fair").all("p", class_="condition")


def test_the_combinations_of_a_block_are_drawn_and_can_be_taken(installation: Installation) -> None:
    page = installation.page("/results/blocks")
    figure = section(page, "joint").one("figure")
    assert len(plot_rows(figure.one("svg"))) == 8
    taken = installation.get(figure.one("a").attributes["href"])
    assert taken.content_type == "image/svg+xml"
    assert "cheated-joint" in taken.headers["Content-Disposition"]
    (together,) = json.loads(installation.get("/api/surveys/blocks/results").text)["joint"]
    assert section(page, "joint").one("caption").text.endswith(f" {together['base']}")


def test_menus_offer_what_can_be_crossed_and_words_say_what_is_missing(
    installation: Installation, golden: Golden
) -> None:
    part = section(installation.page("/results/blocks"), "crosstab")
    offered = [
        [option.attributes["value"] for option in select.all("option")[1:]]
        for form in part.all("form")
        for select in form.all("select")
    ]
    questions, options = (
        ["cheated", "why", "stress"],
        [f"used:{one}" for one in ("notes", "phone", "neighbour", "calculator")],
    )
    assert offered == [questions, questions, options, options]
    for names in (questions, options):
        for rows in names:
            for columns in names:
                installation.page(f"/results/blocks?rows={rows}&columns={columns}", 400 if rows == columns else 200)
    menu = part.all("form")[0]  # the hints are beside the menus
    assert missing(menu) == [
        (MissingReason.ROUNDED, ["hours"]),
        (MissingReason.ROUNDED, ["spend"]),
        (MissingReason.ALONE, ["who", "fair", "used"]),
    ]
    golden("\n".join(one.text for one in menu.all("p", data_missing=None)))


def test_a_refusal_stands_where_the_reader_is_sent(installation: Installation) -> None:
    page = installation.page("/results/blocks?rows=cheated&columns=fair", 400)
    alert = section(page, "crosstab").one(role="alert")
    assert alert.one("p").attributes["data-code"] == "separate_blocks"
    assert "joint: [[cheated, fair]]" in alert.text
    assert len(page.all(role="alert")) == 1
    api = json.loads(installation.get("/api/surveys/blocks/crosstab?rows=cheated&columns=fair", 400).text)
    assert f"No cross-tab: {api['detail']}" == alert.text
    page = installation.page("/results/blocks?with=nowhere", 400)
    assert section(page, "compare").one(role="alert").one("p").attributes["data-code"] == "unknown_survey"


def test_two_options_are_crossed_on_the_page_and_in_its_files(installation: Installation) -> None:
    query = "rows=used:notes&columns=used:phone"
    page = installation.page(f"/results/blocks?{query}")
    document = json.loads(installation.get(f"/api/surveys/blocks/crosstab?{query}").text)
    assert document["base"] and len(document["estimates"]) == 4
    cells = [cell for row in page.one("tbody", id="cross-estimates").all("tr") for cell in row.all("td")]
    for cell, line in zip(cells, reversed(document["estimates"]), strict=True):  # yes before no
        check_row(cell, line, ("estimate", "low", "high"))
    assert f": {document['base']}." in page.one("p", data_test=None).text
    file = installation.get(f"/results/blocks/crosstab.csv?{query}")
    assert 'filename="blocks-used-notes-by-used-phone.csv"' in file.headers["Content-Disposition"]
    assert file.text.splitlines()[0].startswith("list,used:notes,used:phone,kind,n,")
    (plot,) = [one for one in page.all("figure") if "crosstab" in one.one("a").attributes["href"]]
    assert document["base"] in installation.get(plot.one("a").attributes["href"]).text


def test_where_nothing_can_be_crossed_it_is_said(fresh: Installation, golden: Golden) -> None:
    questions = [yes_no(), choice(), number(), multiple()]
    fields = [
        field(COIN, "cheated"),
        field(subset(3, 1), "help"),
        field(subset(2, 1), "hours"),
        field(drawn(3, 1), "used"),
    ]
    fresh.add(define(questions, fields, ask=1), 200)
    part = section(fresh.page("/results/exam"), "crosstab")
    assert not part.all("form")
    assert part.one("p", data_missing="crosstab").text
    golden("\n".join(one.text for one in part.all("p", data_missing=None)), "page")
    refused = json.loads(fresh.get("/api/surveys/exam/crosstab?rows=used:item 0&columns=used:item 1", 400).text)
    golden(refused["detail"], "two options")


def test_draws_that_are_odd_are_a_caution(fresh: Installation) -> None:
    made = fresh.add(define([yes_no("a"), yes_no("b")], [field(COIN, "a", chance=9), field(COIN, "b")], ask=1))
    reports = [bytes([0b11000000])] * 60 + [bytes([0b00110000])] * 60
    fresh.store.write([Submission(made.key, secrets.token_bytes(16), bits) for bits in reports].copy)
    page = fresh.page("/results/exam")
    asked = results(made.survey, fresh.store.snapshot(made)).asked
    assert asked is not None and asked.verdict is DrawVerdict.SUSPICIOUS
    assert page.one("p", id="live-draws").text == describe_draws(asked)
    assert describe_draws(asked) in page.one("li", data_code=CautionCode.BLOCKS).text
