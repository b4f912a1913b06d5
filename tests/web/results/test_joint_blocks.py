"""The results page of a survey of which each device answers one block."""

import json
import re
import secrets
from collections.abc import Iterator

import pytest

from survey_app.results.denominators import describe_draws
from survey_app.results.survey_document import results
from survey_app.store import Submission
from tests.block_survey import blocks
from tests.definitions import COIN, choice, define, drawn, field, multiple, number, subset, yes_no
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


def fact(page: Node, question: str, name: str) -> str:
    rows = page.one("dl", id=f"facts-{question}").all("div")
    return next(row.one("dd").text for row in rows if row.one("dt").text == name)


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
    n = {
        one["questions"][0]: one["n"]
        for one in json.loads(installation.get("/api/surveys/blocks/results").text)["asked"]["blocks"]
    }
    assert fact(page, "stress", "n") == f"{n['cheated']}: devices that drew this block (24.4% expected)"
    assert "together with “Did you copy from somebody?”" in fact(page, "stress", "ε")
    assert (
        fact(page, "who", "n")
        == f"{n['who']}: devices that drew this block (6.8% expected), also those to whom it was not put"
    )
    assert re.search(r"^\d+ to \d+: .*; for each option those asked about it \(3 of 4,", fact(page, "used", "n"))
    for name, words in (("cheated", "devices that drew this block"), ("used", "devices asked about the option")):
        assert words in page.one("section", id=f"q-{name}").one("svg").text
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
        assert said.startswith(f"Asked if “{parent}” is “yes”: {reached} were asked and answered (95% interval ")
        assert {row.all("td")[4].text for row in told.one("tbody", data_list="answered").all("tr")} == {reached}
        assert told.one("tbody", data_list="estimates").all("th")[-1].text == "not asked or no answer"
        titles = plot_rows(told.one("svg"))
        assert [title.partition(":")[0] for title in titles] == [line["option"] for line in part["answered"]]
        assert f"Among those who were asked and answered; n: {reached}" in told.one("svg").text
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
    assert (
        section(page, "joint").one("caption").text.startswith("Shares of devices that drew this block (24.4% expected)")
    )


def test_menus_offer_what_can_be_crossed_and_words_say_what_is_missing(installation: Installation) -> None:
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
    hints = " ".join(one.text for one in part.all("form")[0].all("p", class_="hint"))  # beside the menus
    assert "“Hours of study a week?” is asked in " in hints and " levels (" in hints
    assert "“Spent on tutors?” is asked in " in hints and "A mean has no rows or columns" in hints
    assert (
        "“Who caused it?”, “The exam was fair.” and “Which of these did you use?” were each alone in their block"
        in hints
    )


def test_a_refusal_stands_where_the_reader_is_sent(installation: Installation) -> None:
    page = installation.page("/results/blocks?rows=cheated&columns=fair", 400)
    alert = section(page, "crosstab").one(role="alert")
    assert "no device answered both cheated and fair" in alert.text
    assert "joint: [[cheated, fair]]" in alert.text
    assert len(page.all(role="alert")) == 1
    api = json.loads(installation.get("/api/surveys/blocks/crosstab?rows=cheated&columns=fair", 400).text)
    assert f"No cross-tab: {api['detail']}" == alert.text
    page = installation.page("/results/blocks?with=nowhere", 400)
    assert "There is no survey" in section(page, "compare").one(role="alert").text


def test_two_options_are_crossed_on_the_page_and_in_its_files(installation: Installation) -> None:
    query = "rows=used:notes&columns=used:phone"
    page = installation.page(f"/results/blocks?{query}")
    document = json.loads(installation.get(f"/api/surveys/blocks/crosstab?{query}").text)
    assert (document["base"], len(document["estimates"])) == ("devices asked about both options", 4)
    cells = [cell for row in page.one("tbody", id="cross-estimates").all("tr") for cell in row.all("td")]
    for cell, line in zip(cells, reversed(document["estimates"]), strict=True):  # yes before no
        check_row(cell, line, ("estimate", "low", "high"))
    assert ": devices asked about both options." in page.one("p", data_test=None).text
    file = installation.get(f"/results/blocks/crosstab.csv?{query}")
    assert 'filename="blocks-used-notes-by-used-phone.csv"' in file.headers["Content-Disposition"]
    assert file.text.splitlines()[0].startswith("list,used:notes,used:phone,kind,n,")
    (plot,) = [one for one in page.all("figure") if "crosstab" in one.one("a").attributes["href"]]
    assert "devices asked about both options" in installation.get(plot.one("a").attributes["href"]).text


def test_where_nothing_can_be_crossed_it_is_said(fresh: Installation) -> None:
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
    assert "No device answered two questions of this survey that could be crossed." in part.text
    assert (
        "asked about one option"
        in json.loads(fresh.get("/api/surveys/exam/crosstab?rows=used:item 0&columns=used:item 1", 400).text)["detail"]
    )


def test_draws_that_are_odd_are_a_caution(fresh: Installation) -> None:
    made = fresh.add(define([yes_no("a"), yes_no("b")], [field(COIN, "a", chance=9), field(COIN, "b")], ask=1))
    reports = [bytes([0b11000000])] * 60 + [bytes([0b00110000])] * 60
    fresh.store.write([Submission(made.key, secrets.token_bytes(16), bits) for bits in reports].copy)
    page = fresh.page("/results/exam")
    for place in (page.one("p", id="live-draws"), page.one("ul", id="live-cautions")):
        assert "Either people broke off after they saw what they were asked" in place.text
