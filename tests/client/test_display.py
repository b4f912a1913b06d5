"""What a person sees in a terminal beside the questions: headings, another language, mixed options, words of thanks."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from candor_client import Survey, randomize
from candor_client import __main__ as program
from candor_client.display import choose_language, translate_survey
from candor_client.interview import format_farewell, interview
from survey_app.authoring import build
from tests.clock import make_fast_clock
from tests.definitions import COIN, choice, define, encode, field, subset, yes_no
from tests.golden_files import Golden
from tests.scripted_server import Server

EXAMPLE = Path(__file__).parents[2] / "examples" / "wellbeing.yaml"
OF_THE_SERVER = EXAMPLE.read_bytes().replace(b"slug: wellbeing", b"slug: exam")
EVERYTHING = build(OF_THE_SERVER.replace(b"ask: auto\n", b"")).survey.source  # so that all of it is asked


def main(arguments: list[str]) -> int:
    return program.main(arguments, clock=make_fast_clock())


def tape(source: bytes) -> Callable[[int], bytes]:
    left = iter(source)
    return lambda count: bytes(next(left) for _ in range(count))


def test_sections_thanks_and_code_are_shown_in_the_language_of_the_terminal_or_the_one_that_is_asked_for(
    server: Server,
    typed_lines: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
) -> None:
    server.define(EVERYTHING)
    link = f"{server.origin}/s/exam"
    monkeypatch.delenv("LANGUAGE", raising=False)
    monkeypatch.setenv("LC_ALL", "de_AT.UTF-8")
    typed_lines += ["y", "no", "1", "2", "3", "7", "y", "y"]
    assert main([link]) == 0
    said = capsys.readouterr().out
    order = [
        "Wohlbefinden bei der Arbeit", "--language en", "Ihre Arbeit", "Denken Sie an", "Wurden Sie", "Wie haben Sie",
        "Ich war ruhig.", "1. nie", "Ihre Gewohnheiten", "Wie viele", "12 Stunden", "you: nie  →  sent: ",
        "Your receipt", "Danke.", "WB-2026",
    ]  # fmt: skip
    places = [said.index(words) for words in order]
    assert places == sorted(places)
    golden(said[places[-2] :])
    assert "Your work" not in said and "never" not in said, "no word of the original is left among them"
    (body,) = server.bodies
    assert {*json.loads(body)} == {"survey", "id", "bits"}, "and the report does not tell the language"
    assert main([link, "--language", "en"]) == 0
    again = capsys.readouterr().out
    assert "Wellbeing at work" in again and "--language de" in again and "WB-2026" in again
    assert main([link, "--language", "fr"]) == 1
    assert capsys.readouterr().err.endswith(" en, de\n")


def test_the_same_answers_and_bytes_make_the_same_report_in_every_language() -> None:
    survey = Survey.from_json(EVERYTHING)
    answers = {"bullied": "yes", "who": "a client", "calm": "often", "tense": "never", "tired": "always", "hours": 7}
    german = {**answers, "who": "Kundschaft", "calm": "oft", "tense": "nie", "tired": "immer"}
    noise = bytes(range(256)) * 4
    made = randomize(survey, answers, random_bytes=tape(noise))
    assert randomize(translate_survey(survey, "de"), german, random_bytes=tape(noise)) == made
    assert translate_survey(survey, "de").digest == survey.digest
    assert translate_survey(survey, "fr") is survey
    assert choose_language(survey, ["fr-CA", "DE-at", "en"]) == "de" and choose_language(survey, ["fr"]) == "en"


def test_mixed_options_stand_in_an_order_of_their_own_and_mean_what_they_say(
    typed_lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    survey = Survey.from_json(encode(define([choice(shuffle=True)], [field(subset(3, 1), "help")])))
    orders = set()
    for source in (bytes(64), bytes(range(64)), bytes(range(200, 264 - 8)) * 2):
        typed_lines += ["1"]
        answer = interview(survey, None, random_bytes=tape(source))["help"]
        lines = re.findall(r"^  \d\. (.*)$", capsys.readouterr().out, re.MULTILINE)
        assert sorted(lines) == sorted(survey.questions[0].labels) and answer == lines[0]
        orders.add(tuple(lines))
    assert len(orders) > 1


def test_a_heading_stands_once_above_the_first_question_that_is_asked_of_it(
    typed_lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = yes_no("b", show_if={"question": "a", "is": ["yes"]})
    headings = [{"first": "a", "title": "One"}, {"first": "b", "title": "Two", "text": "First.\u2029Then."}]
    questions = [yes_no("a"), hidden, yes_no("c", text="C?"), yes_no("d")]
    fields = [field(COIN, "a"), field(subset(3, 1), "b"), field(COIN, "c"), field(COIN, "d")]
    typed_lines += ["no", "no", "no"]
    interview(Survey.from_json(encode(define(questions, fields, sections=headings, epsilon=9))), None)
    said = capsys.readouterr().out
    assert said.count("Two\n---\nFirst.\nThen.\n\nC?") == 1 and said.count("Two") == said.count("One") == 1


def test_a_completion_address_is_shown_and_not_opened(golden: Golden) -> None:
    survey = replace(Survey.from_json(EVERYTHING), completion="https://panel.example/done")
    _, address, note = format_farewell(survey).partition("https://panel.example/done\n")
    assert address
    golden(note)
    assert format_farewell(replace(survey, thanks="", completion="")) == ""
