"""The dossier: what a board reads is what the definition says, and its example is a report that a device could send."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from client.definition import Survey
from client.report import from_text, unpack
from client.ticket import Tickets
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.explain.chances import total
from survey_app.explain.languages import Words
from survey_app.explain.prose import Code, Paragraph, Table, html, markdown
from survey_app.plan.dossier import dossier, example
from survey_app.plan.forecast import forecasts
from survey_app.plan.settings import Settings
from survey_app.results.codebook import codebook
from tests.browser import LOOKS, overflows, violations, visit, wear
from tests.definitions import COIN, define, field, survey, yes_no
from tests.results.kinds import FIELDS, made_of
from tests.results.test_archive_page import everything
from tests.tree import parse

CAMPUS = build_file(Path(__file__).parents[2] / "examples" / "campus.yaml")
SURVEYS = {"all": everything(False), "ask": everything(True), "campus": CAMPUS.survey}


def tables(parsed: Survey, **terms: Any) -> Iterator[Table]:
    return (block for block in dossier(parsed, Terms(**terms), 2000) if isinstance(block, Table))


def rows(parsed: Survey, head: str, **terms: Any) -> list[list[str]]:
    """The rows of the table whose head begins so."""
    (found,) = (table for table in tables(parsed, **terms) if table.head[0] == head)
    return [list(row) for row in found.rows]


@pytest.mark.parametrize("name", SURVEYS)
def test_the_example_is_shown_byte_for_byte_and_a_device_could_have_sent_it(name: str) -> None:
    parsed = SURVEYS[name]
    blocks = dossier(parsed, Terms(), 2000)
    (body,) = (block.text for block in blocks if isinstance(block, Code) and block.text.startswith('{"survey"'))
    report = json.loads(body)
    assert report["survey"] == parsed.digest
    assert body.encode() == example(parsed)[1].to_json()
    parts = unpack(parsed, from_text(report["bits"]))
    shown = next(
        block.rows
        for block in blocks
        if isinstance(block, Table) and list(block.head[:2]) == ["part", "made-up answer"]
    )
    assert [int(row[3], 2) for row in shown] == [bits or 0 for bits in parts]
    assert any(f"{len(body)} bytes" in block.text for block in blocks if isinstance(block, Paragraph))


@pytest.mark.parametrize("name", FIELDS)
def test_every_kind_of_question_has_an_example(name: str) -> None:
    for ask in (False, True):
        parsed = made_of([name, "coin"], ask=ask)
        unpack(parsed, example(parsed)[1].bits)


def test_it_comes_out_the_same_each_time_and_differs_from_survey_to_survey() -> None:
    parsed = everything(True)
    assert markdown(dossier(parsed, Terms(), 500)) == markdown(dossier(parsed, Terms(), 500))
    other = survey(json.loads(parsed.source) | {"title": "Another"})
    assert example(other)[1].id != example(parsed)[1].id


def test_the_definition_can_be_taken_out_and_has_the_digest() -> None:
    for parsed in (everything(False), survey(define([yes_no("a") | {"text": "<b>&\u2029"}], [field(COIN, "a")]))):
        page = html(parsed.title, dossier(parsed, Terms(), 100))
        codes = [unescape(code) for code in re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)]
        assert hashlib.sha256(codes[-1].encode()).hexdigest() == parsed.digest
        assert f"sha256 {parsed.digest}" in codes


def test_epsilon_is_told_as_odds() -> None:
    text = markdown(dossier(CAMPUS.survey, CAMPUS.terms, 3000))
    assert total(CAMPUS.survey) <= 2
    assert "ε = 2: it multiplies the odds of any suspicion about them by at most 7.39," in text
    assert rows(CAMPUS.survey, "somebody thought the chance was") == [
        ["1 in 100", "7 in 100"],
        ["5 in 100", "29 in 100"],
        ["50 in 100", "89 in 100"],
    ]
    assert "this survey asks for more" not in text
    weak = survey(define([yes_no("a")], [field({"kind": "flip", "one": str(2**64 - 2**50), "zero": str(2**50)}, "a")]))
    assert "this survey asks for more" in markdown(dossier(weak, Terms(), 100))


def test_the_precision_is_that_of_the_plan() -> None:
    lines = forecasts(CAMPUS.survey, Settings(respondents=2000, margin=0.05))
    shown = rows(CAMPUS.survey, "question")
    assert [row[:2] for row in shown] == [[line.id, line.assumption] for line in lines]
    assert all(row[2].startswith(line.margin_text()) for row, line in zip(shown, lines, strict=True))
    few = markdown(dossier(CAMPUS.survey, Terms(), 20))
    assert "(says nothing)" in few.replace("\\", "") and "cannot answer the question" in few


def test_it_says_what_respondents_are_told() -> None:
    page = parse(html("t", dossier(CAMPUS.survey, CAMPUS.terms, 1000))).text
    words = Words("en")
    for key, text in words.section("privacy").items():
        if key.startswith(("unprotected_", "unstored_")) and not key.endswith(("heading", "invitation")):
            assert " ".join(text.split()) in page, key
    assert words("privacy.withdraw") in page
    assert "Nothing can be withdrawn once it is sent, because nothing says whose it is." in page
    assert CAMPUS.survey.consent in page
    assert all(question.text in page for question in CAMPUS.survey.questions)


@pytest.mark.parametrize("name", ["codebook", "dossier"])
def test_the_file_can_be_read_by_everybody_on_any_screen(name: str, browser: Browser, tmp_path: Path) -> None:
    parsed = everything(True)
    file = tmp_path / f"{name}.html"
    file.write_text(html(parsed.title, codebook(parsed) if name == "codebook" else dossier(parsed, Terms(), 2000)))
    with visit(browser) as device:
        device.page.goto(file.as_uri())
        for look in LOOKS:
            wear(device.page, look)
            assert overflows(device.page) == []
            assert violations(device.page) == []
        assert [one.url for one in device.requests] == [file.as_uri()]
        assert device.complaints == []


def test_invitations_are_told_where_there_are_some() -> None:
    plain = survey(define([yes_no("a")], [field(COIN, "a")]))
    invited = replace(plain, tickets=Tickets(3))
    told = Words("en")("privacy.unstored_invitation")
    page = markdown(dossier(invited, Terms(), 100))
    assert told in page and "With each goes a ticket" in page
    assert told not in markdown(dossier(plain, Terms(), 100))


def test_groups_are_named() -> None:
    parsed = survey(define([yes_no("a")], [field(COIN, "a")], slug="exam-north", study="exam", group="North"))
    for blocks in (dossier(parsed, Terms(), 100), codebook(parsed)):
        assert "| Study, group | exam, North |" in markdown(blocks)


def test_terms_and_what_is_missing_are_told() -> None:
    plain = survey(define([yes_no("a")], [field(COIN, "a")]))
    closes = datetime(2027, 1, 31, tzinfo=UTC)
    assert rows(plain, "term, which the owner may change", closes=closes, max_reports=900, public=True) == [
        ["closes", str(closes)],
        ["max reports", "900"],
        ["results", "public"],
    ]
    text = markdown(dossier(plain, Terms(), 100))
    assert "No consent text is written yet" in text and "| Contact | not decided yet |" in text


def test_a_board_reads_sections_every_language_and_what_people_are_shown_at_the_end() -> None:
    parsed = build_file(Path(__file__).parents[2] / "examples" / "wellbeing.yaml").survey
    text = markdown(dossier(parsed, Terms(), 2000))
    order = ["### Your work", "### How did you feel?", "in an order that each device draws", "in de too", "counselling"]
    order += ["They are shown WB-2026, the same for everybody", "## In de", "Wurden Sie bei der Arbeit schikaniert?"]
    assert all(words in text for words in order)
    assert text.index("### Your work") < text.index("### How did you feel?") < text.index("## In de")
