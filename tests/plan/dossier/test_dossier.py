"""The dossier: what a board reads is what the definition says, and its example is a report that a device could send."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from candor_client import canonical
from candor_client.definition import Survey
from candor_client.report import from_base64url, unpack
from candor_client.ticket import MODULUS_BYTES, PREFIX_BYTES, Tickets, ticket_id
from survey_app.authoring import ADVISED_TOTAL, build, build_file, is_weak
from survey_app.authoring.terms import Terms
from survey_app.channels.posterior import total_epsilon
from survey_app.languages import Words
from survey_app.languages.markup import Block, Code, Paragraph, Table, render_html, render_markdown
from survey_app.plan.dossier import INVITED_RESPONDENTS, UNKNOWN, build_dossier
from survey_app.plan.dossier.subject import PENDING_DIGEST, Subject
from survey_app.plan.dossier.transmission import NO_DIGEST, make_example
from survey_app.plan.forecast import find_sufficient_respondents, forecast_survey
from survey_app.plan.study_plan import plan_groups
from survey_app.plan.target import Settings
from survey_app.results.codebook import make_codebook
from tests.browser import LOOKS, apply_look, overflows, violations, visit
from tests.definitions import COIN, define, field, survey, yes_no
from tests.golden_files import Golden
from tests.results.figure_kinds import FIELDS, make_survey
from tests.results.test_archive_page import everything
from tests.tree import parse

EXAMPLES = Path(__file__).parents[3] / "examples"
CAMPUS = build_file(EXAMPLES / "campus.yaml")
HARASSMENT = build_file(EXAMPLES / "harassment.yaml")
STUDY_FILE = b"""
slug: exam
title: The exam
epsilon: 1
groups: {north: {label: North, size: 900}, south: {label: South, size: 400}}
questions: [{id: a, type: yes_no, text: A?}, {id: b, type: yes_no, text: B?}]
"""
STUDY = build(STUDY_FILE)
SURVEYS = {"all": everything(False), "ask": everything(True), "campus": CAMPUS.survey}


def about(parsed: Survey) -> Subject:
    return Subject((parsed,), Terms())


def rows(blocks: Iterable[Block], cell: str) -> list[list[str]]:
    """Return the rows of the first table whose first cell is so."""
    found = next(block for block in blocks if isinstance(block, Table) and block.rows[0][0] == cell)
    return [list(row) for row in found.rows]


def numbers_in(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def paragraphs(blocks: Iterable[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Paragraph)]


@pytest.mark.parametrize(("name", "respondents"), [("campus", 3000), ("harassment", 5000), ("wellbeing", 2000)])
def test_a_dossier_in_words(name: str, respondents: int, golden: Golden) -> None:
    subject = Subject.from_file(build_file(EXAMPLES / f"{name}.yaml"))
    golden(render_markdown(build_dossier(subject, respondents)))


def test_the_dossier_of_a_study_in_words(golden: Golden) -> None:
    golden(render_markdown(build_dossier(Subject.from_file(STUDY), 2000)))


@pytest.mark.parametrize("name", SURVEYS)
def test_the_example_is_shown_byte_for_byte_and_a_device_could_have_sent_it(name: str) -> None:
    parsed = SURVEYS[name]
    blocks = build_dossier(about(parsed), 2000)
    (body,) = (block.text for block in blocks if isinstance(block, Code) and block.text.startswith('{"survey"'))
    report = json.loads(body)
    assert report["survey"] == parsed.digest
    assert body.encode() == make_example(about(parsed))[1].to_json()
    parts = unpack(parsed, from_base64url(report["bits"]))
    shown = [block.rows for block in blocks if isinstance(block, Table) and set(block.rows[0][-1]) <= {"0", "1"}]
    assert [int(row[3], 2) for row in shown[0]] == [bits or 0 for bits in parts]
    assert any(len(body) in numbers_in(text) for text in paragraphs(blocks))


@pytest.mark.parametrize("name", FIELDS)
def test_every_kind_of_question_has_an_example(name: str) -> None:
    for ask in (False, True):
        parsed = make_survey([name, "coin"], ask=ask)
        unpack(parsed, make_example(about(parsed))[1].bits)


def test_it_comes_out_the_same_each_time_and_differs_from_survey_to_survey() -> None:
    parsed = everything(True)
    assert render_markdown(build_dossier(about(parsed), 500)) == render_markdown(build_dossier(about(parsed), 500))
    other = survey(json.loads(parsed.source) | {"title": "Another"})
    assert make_example(about(other))[1].id != make_example(about(parsed))[1].id


def test_the_definition_can_be_taken_out_and_has_the_digest() -> None:
    for parsed in (everything(False), survey(define([yes_no("a") | {"text": "<b>&\u2029"}], [field(COIN, "a")]))):
        page = render_html(parsed.title, build_dossier(about(parsed), 100))
        codes = [unescape(code) for code in re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)]
        assert hashlib.sha256(codes[-1].encode()).hexdigest() == parsed.digest
        assert f"sha256 {parsed.digest}" in codes


def test_epsilon_is_told_as_odds(golden: Golden) -> None:
    blocks = build_dossier(Subject((CAMPUS.survey,), CAMPUS.terms), 3000)
    assert total_epsilon(CAMPUS.survey) <= 2
    assert [text for text in paragraphs(blocks) if "ε = 2:" in text and " 7.39," in text]
    odds = [[list(map(numbers_in, row)) for row in table.rows] for table in blocks if isinstance(table, Table)]
    assert [[[1, 100], [7, 100]], [[5, 100], [29, 100]], [[50, 100], [89, 100]]] in odds
    assert not warnings_of_weakness(CAMPUS.survey)
    weak = survey(define([yes_no("a")], [field({"kind": "flip", "one": str(2**64 - 2**50), "zero": str(2**50)}, "a")]))
    assert is_weak(total_epsilon(weak))
    (warning,) = warnings_of_weakness(weak)
    golden(warning)


def warnings_of_weakness(parsed: Survey) -> list[str]:
    return [text for text in paragraphs(build_dossier(about(parsed), 100)) if f"ε = {ADVISED_TOTAL} " in text]


def test_the_precision_is_that_of_the_plan(golden: Golden) -> None:
    lines = forecast_survey(CAMPUS.survey, Settings(respondents=2000, margin=0.05))
    (shown,) = precision_tables(2000)
    assert [row[:2] for row in shown] == [[line.id, line.assumption] for line in lines]
    assert [row[2] for row in shown] == [line.margin_text() for line in lines]
    few = forecast_survey(CAMPUS.survey, Settings(respondents=20, margin=0.05))
    (shown,) = precision_tables(20)
    assert all(row[2].startswith(line.margin_text()) for row, line in zip(shown, few, strict=True))
    assert [row[2] != line.margin_text() for row, line in zip(shown, few, strict=True)] == [
        line.is_uninformative for line in few
    ]
    assert any(line.is_uninformative for line in few)
    more, less = (paragraphs(build_dossier(about(CAMPUS.survey), respondents)) for respondents in (2000, 20))
    assert len(less) == len(more) + 1
    golden("\n".join(text for text in less if text not in more))


def precision_tables(respondents: int) -> list[list[list[str]]]:
    """Return the tables with a margin for each line of the plan."""
    blocks = build_dossier(about(CAMPUS.survey), respondents)
    found = [block.rows for block in blocks if isinstance(block, Table) and len(block.head) == 4]
    return [[list(row) for row in table] for table in found if table[0][2].startswith("±")]


def test_it_says_what_respondents_are_told() -> None:
    page = parse(render_html("t", build_dossier(Subject((CAMPUS.survey,), CAMPUS.terms), 1000))).text
    words = Words("en")
    for key, text in words.section("privacy").items():
        if key.startswith(("unprotected_", "unstored_")) and not key.endswith(("heading", "invitation")):
            assert " ".join(text.split()) in page, key
    assert words("privacy.withdraw") in page
    assert CAMPUS.survey.consent in page
    assert all(question.text in page for question in CAMPUS.survey.questions)


@pytest.mark.parametrize("name", ["codebook", "dossier"])
def test_the_file_can_be_read_by_everybody_on_any_screen(name: str, browser: Browser, tmp_path: Path) -> None:
    parsed = everything(True)
    file = tmp_path / f"{name}.html"
    file.write_text(
        render_html(parsed.title, make_codebook(parsed) if name == "codebook" else build_dossier(about(parsed), 2000))
    )
    with visit(browser) as device:
        device.page.goto(file.as_uri())
        for look in LOOKS:
            apply_look(device.page, look)
            assert overflows(device.page) == []
            assert violations(device.page) == []
        assert [one.url for one in device.requests] == [file.as_uri()]
        assert device.complaints == []


def test_invitations_are_told_where_there_are_some() -> None:
    plain = survey(define([yes_no("a")], [field(COIN, "a")]))
    invited = replace(plain, tickets=Tickets(3, "https://council.example.org", datetime(2027, 1, 31, tzinfo=UTC)))
    words = Words("en")
    page = render_markdown(build_dossier(about(invited), 100))
    for key in ("unstored_invitation", "tickets", "tickets_times", "tickets_key"):
        assert words(f"privacy.{key}") in page
    assert (
        "2027-01-31 00:00 UTC" in page and words("privacy.tickets_issuer", issuer="https://council.example.org") in page
    )
    assert f"| {INVITED_RESPONDENTS} |" in page
    alone = render_markdown(build_dossier(about(plain), 100))
    assert f"| {INVITED_RESPONDENTS} |" not in alone and words("privacy.tickets") not in alone


def test_the_whole_request_of_somebody_invited_has_a_ticket_in_it() -> None:
    plain = survey(define([yes_no("a")], [field(COIN, "a")]))
    subject = about(replace(plain, tickets=Tickets(3)))
    (body,) = (
        block.text
        for block in build_dossier(subject, 100)
        if isinstance(block, Code) and block.text.startswith('{"survey"')
    )
    sent = json.loads(body)
    prefix, signature = (from_base64url(sent["ticket"][name]) for name in ("prefix", "signature"))
    assert (len(prefix), len(signature)) == (PREFIX_BYTES, MODULUS_BYTES)
    assert from_base64url(sent["id"]) == ticket_id(prefix)
    assert any(len(body) in numbers_in(text) for text in paragraphs(build_dossier(subject, 100)))


def test_no_digest_is_quoted_before_the_key_for_tickets_is_made() -> None:
    subject = Subject.from_file(HARASSMENT)
    page = render_markdown(build_dossier(subject, 5000))
    assert not any(one.digest in page for one in HARASSMENT.surveys)
    assert f"| {PENDING_DIGEST} |" in page and NO_DIGEST in page
    assert "--later" in page, "which makes the key"
    assert Words("en")("privacy.tickets") in page


def test_a_study_is_one_document_with_every_group_in_it() -> None:
    subject = Subject.from_file(STUDY)
    page = render_markdown(build_dossier(subject, 2000))
    assert all(one.digest in page for one in STUDY.surveys)
    plan = plan_groups(STUDY, Settings(respondents=2000, margin=0.05), 1000)
    assert plan and plan.margins
    for group in plan.groups:
        assert group.size and group.weight
        assert f"| {group.group} | {group.size:,} | {100 * group.weight:.3g}% | {group.respondents:,} |" in page
    lines = forecast_survey(STUDY.survey, Settings(respondents=2000, margin=0.05))
    margin_tables = [
        block for block in build_dossier(subject, 2000) if isinstance(block, Table) and len(block.head) == 6
    ]
    (shown,) = (table.rows for table in margin_tables)
    for i, (row, line) in enumerate(zip(shown, lines, strict=True)):
        margins = [plan.margins[i], *(group.margins[i] for group in plan.groups)]
        assert list(row[2:-1]) == [line.margin_text(margin) for margin in margins]


def test_the_definition_of_every_group_follows_from_the_one_that_is_shown() -> None:
    (source,) = (
        block.text
        for block in build_dossier(Subject.from_file(STUDY), 2000)
        if isinstance(block, Code) and block.text.startswith('{"') and '"questions"' in block.text
    )
    for one in STUDY.surveys:
        other = canonical.dumps(canonical.loads(source.encode()) | {"slug": one.slug, "group": one.group})
        assert hashlib.sha256(other).hexdigest() == one.digest


def test_a_study_without_sizes_has_no_total_and_says_so(golden: Golden) -> None:
    bare = build(STUDY_FILE.replace(b", size: 900", b"").replace(b", size: 400", b""))
    page = render_markdown(build_dossier(Subject.from_file(bare), 300))
    settings = Settings(respondents=300, margin=0.05)
    plan = plan_groups(bare, settings, find_sufficient_respondents(forecast_survey(bare.survey, settings)))
    assert plan and plan.total is None and all(sentence in page for sentence in plan.requirements)
    north, south = rows(build_dossier(Subject.from_file(bare), 300), "North")
    assert (numbers_in(" ".join(north)), numbers_in(" ".join(south))) == ([150], [150]), "no size, and no weight"
    golden(" | ".join(north))
    assert (
        Subject.from_file(bare).expected_respondents == 1000 and Subject.from_file(STUDY).expected_respondents == 1300
    )


def test_groups_are_named() -> None:
    parsed = survey(define([yes_no("a")], [field(COIN, "a")], slug="exam-north", study="exam", group="North"))
    for blocks in (build_dossier(about(parsed), 100), make_codebook(parsed)):
        assert "| exam, North |" in render_markdown(blocks)


def test_terms_and_what_is_missing_are_told(golden: Golden) -> None:
    plain = survey(define([yes_no("a")], [field(COIN, "a")]))
    closes = datetime(2027, 1, 31, tzinfo=UTC)
    terms = Terms(closes=closes, max_reports=900, public=True)
    assert rows(build_dossier(Subject((plain,), terms), 2000), "closes") == [
        ["closes", str(closes)],
        ["max reports", "900"],
        ["results", "public"],
    ]
    blocks = build_dossier(about(plain), 100)
    assert f"| {UNKNOWN} |" in render_markdown(blocks), "the contact"
    agreed = replace(plain, consent="I agree.")
    (missing,) = {*paragraphs(blocks)} - {*paragraphs(build_dossier(about(agreed), 100))}
    golden(missing)


def test_a_board_reads_sections_every_language_and_what_people_are_shown_at_the_end() -> None:
    parsed = build_file(EXAMPLES / "wellbeing.yaml").survey
    text = render_markdown(build_dossier(about(parsed), 2000))
    written = ["### Your work", "### How did you feel?", "counselling", "WB-2026", "## In de"]
    written += ["Wurden Sie bei der Arbeit schikaniert?"]
    assert all(words in text for words in written)
    assert text.index("### Your work") < text.index("### How did you feel?") < text.index("## In de")
