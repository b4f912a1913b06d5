"""From an author's file to a definition, and every mistake with its line."""

import json
import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from candor_client import canonical, verify
from candor_client.mechanisms import Drawn, Flip, Geometric, Subset
from survey_app.authoring import build, build_file
from survey_app.authoring.budget import Claim, split_epsilon
from survey_app.authoring.yaml_source import AuthoringError, parse_source
from survey_app.cli import main
from tests import reference
from tests.definitions import WORKED_DIGEST

EXAMPLES = Path(__file__).parents[2] / "examples"
CAMPUS = Path(__file__).parents[1] / "campus.yaml"
LN3 = 1.0986122886681098


def text(*questions: str, top: str = "epsilon: 4") -> bytes:
    lines = ["slug: exam", "title: Exam honesty", top, "questions:", *(f"  - {question}" for question in questions)]
    return "\n".join(lines).encode()


YES_NO = "{id: a, type: yes_no, text: Did you?}"
CHOICE = "{id: b, type: choice, text: What?, options: [none, notes, phone]}"
NUMBER = "{id: n, type: number, text: How many?, min: 0, max: 60, step: 1}"


def epsilons(source: bytes) -> list[float]:
    return [float(field.mechanism.epsilon) for field in build(source).survey.fields]


def error(source: bytes, *, json_file: bool = False) -> AuthoringError:
    with pytest.raises(AuthoringError) as caught:
        build(source, json_file=json_file)
    return caught.value


def test_the_worked_example_is_built_to_the_byte() -> None:
    assert build_file(EXAMPLES / "exam.yaml").survey.digest == WORKED_DIGEST


def test_the_command_writes_the_definition_and_nothing_else() -> None:
    done = CliRunner().invoke(main, ["survey", "build", str(EXAMPLES / "exam.yaml")])
    assert done.exit_code == 0
    assert done.stdout_bytes == build_file(EXAMPLES / "exam.yaml").survey.source


def test_the_command_names_file_line_and_place(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(text("{id: b, type: choice, text: What?, options: [one]}"))
    done = CliRunner().invoke(main, ["survey", "build", str(file)])
    assert done.exit_code == 1
    assert f"{file}: line 5, questions[0].options: needs at least two of the options" in done.stderr
    assert done.stdout == ""


def test_every_key_of_an_author_is_understood() -> None:
    draft = build_file(CAMPUS)
    survey = draft.survey
    assert draft.terms.public
    assert draft.terms.opens and draft.terms.closes and draft.terms.opens < draft.terms.closes
    assert draft.terms.max_reports == 100_000
    assert survey.consent.count("\u2029") == 1
    assert [type(field.mechanism) for field in survey.fields] == [
        Flip, Subset, Drawn, Subset, Subset, Geometric, Subset,
    ]  # fmt: skip
    assert [question.id for question in survey.fields[1].questions] == ["help", "fair"]
    assert survey.epsilon == 8
    assert [float(f.mechanism.epsilon) / float(survey.fields[3].mechanism.epsilon) for f in survey.fields[1:]] == (
        pytest.approx([2, 2, 1, 1, 1, 1])
    )
    assert verify(survey) <= survey.epsilon
    assert any("in total is more than 4" in line for line in draft.advice)


def test_scalars_are_text() -> None:
    (question,) = build(
        text("{id: b, type: choice, text: 12, options: [yes, no, 1:30, 0x10, 1.0, null, ~]}")
    ).survey.questions
    assert question.text == "12"
    assert question.labels == ("yes", "no", "1:30", "0x10", "1.0", "null", "~")


def test_the_order_on_the_screen_may_be_mixed() -> None:
    mixed, plain = (build(text(f"{CHOICE[:-1]}, shuffle: {said}}}")).survey for said in ("true", "false"))
    assert [one.questions[0].shuffle for one in (mixed, plain)] == [True, False]
    assert plain == build(text(CHOICE)).survey


def test_json_and_yaml_build_the_same() -> None:
    as_json = {
        "slug": "exam", "title": "Exam honesty 😀", "epsilon": 4.5,
        "questions": [
            {"id": "a", "type": "yes_no", "text": "Did you?", "optional": True},
            {"id": "n", "type": "number", "text": "?", "min": 0, "max": 60, "step": 0.5},
        ],
    }  # fmt: skip
    as_yaml = text(
        "{id: a, type: yes_no, text: Did you?, optional: true}",
        '{id: n, type: number, text: "?", min: 0, max: 60, step: 0.5}',
        top="epsilon: 4.5",
    ).replace(b"honesty", "honesty 😀".encode())
    assert build(json.dumps(as_json).encode(), json_file=True).survey == build(as_yaml).survey


# budgets


def test_the_total_is_shared_by_weight() -> None:
    assert epsilons(text(YES_NO, CHOICE, NUMBER[:-1] + ", weight: 2}")) == pytest.approx([1, 1, 2])


def test_own_epsilon_and_designs_are_charged_first() -> None:
    shares = epsilons(text(YES_NO[:-1] + ", design: coin}", CHOICE[:-1] + ", epsilon: 0.5}", NUMBER))
    assert shares == pytest.approx([LN3, 0.5, 4 - 0.5 - LN3])


def test_the_claim_is_what_is_spent_rounded_up() -> None:
    survey = build(text(YES_NO[:-1] + ", epsilon: 0.3}", CHOICE[:-1] + ", epsilon: 0.4}")).survey
    assert survey.epsilon == Decimal("0.7")
    assert 0 < survey.epsilon - verify(survey) < Decimal("1e-12")


def test_a_joint_field_gets_the_sum_of_its_members() -> None:
    top = "epsilon: 4\njoint: [[b, a]]"
    survey = build(text(YES_NO, CHOICE, NUMBER[:-1] + ", weight: 2}", top=top)).survey
    assert [[q.id for q in f.questions] for f in survey.fields] == [["a", "b"], ["n"]], "in the survey's order"
    assert [float(f.mechanism.epsilon) for f in survey.fields] == pytest.approx([2, 2])
    assert survey.fields[0].mechanism.size == 6


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=8), st.integers(1, 60))
def test_shares_spend_exactly_the_total_and_keep_their_proportions(raw: list[tuple[int, int]], total: int) -> None:
    claims = [Claim(Fraction(fixed, 10), Fraction(weight)) for fixed, weight in raw]
    shares = split_epsilon(claims, Fraction(total, 10))
    fixed = sum((claim.fixed for claim in claims), Fraction(0))
    weighted = [(s - c.fixed) / c.weight for s, c in zip(shares or (), claims, strict=False) if c.weight]
    if shares is None:
        assert fixed >= Fraction(total, 10)
    elif not weighted:
        assert shares == [claim.fixed for claim in claims]
    else:
        assert len(set(weighted)) == 1
        assert weighted[0] > 0
        assert sum(shares) == Fraction(total, 10)


# designs


@pytest.mark.parametrize(
    ("design", "p", "q", "epsilon"),
    [
        ("coin", "3/4", "1/4", LN3),
        ("die", "2/3", "1/3", math.log(2)),
        ("forced_die", "5/6", "1/6", math.log(5)),
        ("{warner: 0.7}", "7/10", "3/10", math.log(7 / 3)),
        ("{warner: 0.3}", "7/10", "3/10", math.log(7 / 3)),
        ("{warner: 5/6}", "5/6", "1/6", math.log(5)),
        ("{gamma: 0.25}", "3/4", "1/4", LN3),
        ("{forced: {truth: 1/2, yes: 1/2}}", "3/4", "1/4", LN3),
        ("{forced: {truth: 0.5, yes: 0.2}}", "3/5", "1/10", math.log(6)),
    ],
)
def test_classic_designs(design: str, p: str, q: str, epsilon: float) -> None:
    survey = build(text(YES_NO[:-1] + f", design: {design}}}")).survey
    made = survey.fields[0].mechanism
    assert isinstance(made, Flip)
    assert 0 <= Fraction(p) - made.p < Fraction(1, 2**64)
    assert 0 <= made.q - Fraction(q) < Fraction(1, 2**64)
    assert float(made.epsilon) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ("{warner: 1}", "ε is infinite"), ("{warner: 0}", "ε is infinite"), ("{warner: 0.5}", "ε = 0"),
        ("{gamma: 0}", "ε = 0"), ("{gamma: 0.5}", "ε is infinite"), ("{gamma: 0.6}", "ε is infinite"),
        ("{forced: {truth: 1, yes: 0.5}}", "ε is infinite"), ("{forced: {truth: 0.5, yes: 0}}", "ε is infinite"),
        ("{forced: {truth: 0.5, yes: 1}}", "ε is infinite"), ("{forced: {truth: 0, yes: 0.5}}", "ε = 0"),
        ("{forced: {truth: 0.5}}", "yes is missing"), ("{warner: 1.5}", "from 0 to 1"), ("{warner: x}", "not a plain decimal"),
        ("{}", "a design is one of"), ("{warner: 0.7, gamma: 0.2}", "a design is one of"), ("dice", "must be one of coin"),
        ("{warner: 1/0}", "not a plain decimal"), ("[coin]", "must be a mapping"),
    ],
)  # fmt: skip
def test_designs_that_are_none(design: str, message: str) -> None:
    caught = error(text(YES_NO[:-1] + f", design: {design}}}"))
    assert message in str(caught)
    assert caught.line == 5


# mistakes


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (text(YES_NO, top="epsilon: 0"), 3, "epsilon: ε must be positive"),
        (text(YES_NO, top="epsilon: -1"), 3, "ε must be positive"),
        (text(YES_NO, top="epsilon: inf"), 3, "ε must be finite"),
        (text(YES_NO, top="epsilon: .nan"), 3, "ε must be finite"),
        (text(YES_NO, top="epsilon: 1e3"), 3, "not a plain decimal number"),
        (text(YES_NO, top="epsilon: 1_000"), 3, "not a plain decimal number"),
        (text(YES_NO, top="epsilon: ١٢"), 3, "not a plain decimal number"),
        (text(YES_NO, top="epsilon: [1]"), 3, "must be text"),
        (text(YES_NO, top="epsilon: 9"), 3, "accept_weak_privacy: true"),
        (text(YES_NO, top="epsilon: 9\naccept_weak_privacy: false"), 3, "accept_weak_privacy: true"),
        (text(YES_NO, top="epsilon: 0.0000001"), 3, "no mechanism at ε"),
        (text(YES_NO, top="epsilon: 1000"), 3, "nothing is protected"),
        (text(CHOICE, top="epsilon: 9999999"), 3, "nothing is protected"),
        (text(CHOICE[:-1] + ", epsilon: 41}", top="language: de"), 5, "nothing is protected"),
        (text(NUMBER.replace("60", "9999999999999999")), 5, "not a plain decimal"),
        (b'slug: "\\U00110000"', None, "not YAML"),
        (b'slug: "\\UFFFFFFFF"', None, "not YAML"),
        (text(YES_NO, top="language: en"), 5, "has no ε"),
        (text(YES_NO, CHOICE[:-1] + ", epsilon: 4}"), 3, "leave nothing of this total"),
        (text(YES_NO[:-1] + ", epsilon: 5}"), 3, "leave nothing of this total"),
        (text(YES_NO[:-1] + ", epsilon: 0}"), 5, "ε must be positive"),
        (text(YES_NO[:-1] + ", weight: 0}"), 5, "a weight must be positive"),
        (text(YES_NO[:-1] + ", design: coin, epsilon: 1}"), 5, "only one of design, epsilon and weight"),
        (text(YES_NO[:-1] + ", epsilon: 1, weight: 2}"), 5, "only one of design, epsilon and weight"),
        (text(YES_NO[:-1] + ", design: coin, optional: true}"), 5, "without optional"),
        (text(YES_NO, YES_NO), 6, "questions[1].id: a occurs twice"),
        (text(YES_NO[:-1] + ", text: Again?}"), 5, "text occurs twice"),
        (text(YES_NO, top="epsilon: 4\nepsilon: 3"), 4, "epsilon occurs twice"),
        (text(YES_NO, top="epsilon: 4\nsurprise: 3"), 4, "surprise: unknown key"),
        (text(YES_NO[:-1] + ", options: [a, b]}"), 5, "unknown key"),
        (text(YES_NO[:-1] + ", levels: 2}"), 5, "unknown key"),
        (text("{id: a, text: Did you?}"), 5, "type is missing"),
        (text("{id: a, type: yes_no}"), 5, "text is missing"),
        (text("just text"), 5, "must be a mapping"),
        (text("{id: a, type: essay, text: Why?}"), 5, "must be one of yes_no"),
        (text("{id: A, type: yes_no, text: Why?}"), 5, "questions[0].id"),
        (text("{id: b, type: choice, text: What?, options: [one]}"), 5, "questions[0].options: needs at least two of the options"),
        (text("{id: b, type: choice, text: What?, options: [one, one]}"), 5, "must differ"),
        (text("{id: b, type: choice, text: What?, options: one}"), 5, "must be a list"),
        (text('{id: b, type: choice, text: What?, options: [one, ""]}'), 5, "is empty"),
        (text(CHOICE[:-1] + ", optional: perhaps}"), 5, "must be true or false"),
        (text('{id: a, type: yes_no, text: "bell\\a"}'), 5, "control character"),
        (text('{id: a, type: yes_no, text: "half \\ud800"}'), 5, "half a character"),
        (text("{id: n, type: number, text: x, min: 60, max: 60, step: 1}"), 5, "questions[0].max: must be above min"),
        (text("{id: n, type: number, text: x, min: 0, max: 60, step: 7}"), 5, "questions[0].step"),
        (text("{id: n, type: number, text: x, min: 0, max: 60, step: 0}"), 5, "questions[0].step"),
        (text("{id: n, type: number, text: x, min: 0, max: lots}"), 5, "not a plain decimal number"),
        (text(NUMBER[:-1] + ", bins: 1}"), 5, "at least 2"),
        (text(NUMBER[:-1] + ", bins: 62}"), 5, "questions[0].bins"),
        (text(NUMBER[:-1] + ", bins: 2.5}"), 5, "must be an integer"),
        (text(NUMBER[:-1] + ", mechanism: gauss}"), 5, "must be one of laplace"),
        (text(NUMBER[:-1] + ", mechanism: laplace, bins: 3}"), 5, "laplace is for numbers without bins"),
        (text(NUMBER[:-1] + ", mechanism: laplace, optional: true}"), 5, "laplace is for numbers without bins"),
        (text("{id: s, type: scale, text: x, points: [a, b], scores: [1]}"), 5, "scores"),
        (text(YES_NO[:-1] + ", show_if: {question: b, is: [none]}}"), 5, "must be an earlier question"),
        (text(YES_NO, CHOICE[:-1] + ", show_if: {question: a, is: [maybe]}}"), 6, "'maybe' is no answer of a; its answers are no, yes"),
        (text(YES_NO, CHOICE, top="epsilon: 1\njoint: [[a]]"), 4, "at least two questions"),
        (text(YES_NO, CHOICE, top="epsilon: 1\njoint: [[a, x]]"), 4, "there is no question 'x'"),
        (text(YES_NO, CHOICE, top="epsilon: 1\njoint: [[a, a]]"), 4, "in a joint field already"),
        (text(YES_NO, CHOICE, NUMBER, top="epsilon: 1\njoint: [[a, b], [b, n]]"), 4, "in a joint field already"),
        (text(YES_NO[:-1] + ", design: coin}", CHOICE, top="epsilon: 2\njoint: [[a, b]]"), 4, "cannot be joint"),
        (text(YES_NO, top="epsilon: 1\nopens: tomorrow"), 4, "must be a date and time"),
        (text(YES_NO, top="epsilon: 1\nopens: 2026-12-01T00:00"), 4, "needs a zone"),
        (text(YES_NO, top="epsilon: 1\nopens: 2026-12-02T00:00Z\ncloses: 2026-12-01T00:00Z"), 5, "later than opens"),
        (text(YES_NO, top="epsilon: 1\ndeletes: 2026-12-01T00:00Z\ncloses: 2026-12-01T00:00Z"), 4, "later than closes"),
        (text(YES_NO, top="epsilon: 1\nopens: 2026-12-01T00:00Z\ndeletes: 2026-12-01T00:00Z"), 5, "later than opens"),
        (text(YES_NO, top="epsilon: 1\ndeletes: 2026-12-01T00:00"), 4, "needs a zone"),
        (text(YES_NO, top="epsilon: 1\nmax_reports: 0"), 4, "at least 1"),
        (text(YES_NO, top="epsilon: 1\nresults: secret"), 4, "must be one of public, private"),
        (text(YES_NO, top="epsilon: 1\nlanguage: English"), 4, "language"),
        (text(YES_NO, top="epsilon: 1\ntitle2: &x a"), 4, "anchors"),
        (text(YES_NO, top="epsilon: 1\ncontact: *x"), 4, "aliases"),
        (text(YES_NO, top="epsilon: 1\ncontact: !!str x"), 4, "tags"),
        (text(YES_NO, top="epsilon: 1\n? [a]\n: b"), 4, "a key must be a plain word"),
        (text(YES_NO, top="epsilon: {"), 5, "not YAML"),
        (text(YES_NO, top="\tepsilon: 1"), 3, "not YAML"),
        (b"slug: exam\ntitle: x\n", 1, "questions is missing"),
        (b"slug: exam\ntitle: x\nepsilon: 1\nquestions: []\n", 4, "at least one"),
        (b"slug: Exam\ntitle: x\nepsilon: 1\nquestions: [" + YES_NO.encode() + b"]", 1, "slug"),
        (b"", None, "one survey"),
        (b"a: 1\n---\nb: 2\n", None, "one survey"),
        (b"\xff\xfe", None, "not UTF-8"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b"x" * 1_000_001, None, "at most 1000000 bytes"),
        (b"title: [" + b"a, " * 60_000 + b"]", 1, "at most 50000 words, lists and mappings"),
        (b"title: [" + b"a, " * 60_000 + b"}", 1, "at most 50000 words, lists and mappings"),  # nothing behind is read
        (b"title: a\x00b", 1, "not YAML"),
    ],
)  # fmt: skip
def test_a_mistake_has_its_own_message_and_line(source: bytes, line: int | None, message: str) -> None:
    caught = error(source)
    assert message in str(caught)
    assert caught.line == line


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b'{"slug": "a", "slug": "b"}', "slug occurs twice"),
        (b'{"slug": "a",}', "line 1: not JSON"),
        (b'{"slug": "a", "title": "t", "questions": [{"id": "x"}], "epsilon": 1}', "questions[0]: type is missing"),
        (b'{"slug": "a", "title": "t", "questions": null}', "questions: must be a list"),
        (b'{"slug": "a", "title": "t", "epsilon": NaN, "questions": [{"id":"x","type":"yes_no","text":"y"}]}', "finite"),
        (b'{"slug":"a","title":"\\ud800","epsilon":1,"questions":[{"id":"x","type":"yes_no","text":"y"}]}', "half a character"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_mistakes_in_json(source: bytes, message: str) -> None:
    assert message in str(error(source, json_file=True))


def test_a_file_of_three_hundred_questions_with_a_hundred_options_each_is_read() -> None:
    """Its definition would be larger than any may be, and its words are within the bound."""
    options = ", ".join(map(str, range(100)))
    questions = [f"{{id: q{i}, type: choice, text: Which?, options: [{options}]}}" for i in range(300)]
    assert len(parse_source(text(*questions)).members()["questions"].items()) == 300


@pytest.mark.parametrize("invisible", ["\u00ad", "\u2060", "\ufeff", "\U000e0041", "\u200d"])
def test_an_invisible_character_is_named_with_its_line(invisible: str) -> None:
    yes_no = YES_NO.replace("Did you", f"Did{invisible} you")
    thanks = f"epsilon: 4\nthanks: |\n  Thank\n  you{invisible}"
    titled = text(YES_NO).replace(b"Exam", f"Exam{invisible} ".encode())
    translated = f"epsilon: 4\ntranslations:\n  de: {{title: T, questions: {{a: {{text: 'Hast {invisible}du?'}}}}}}"
    for source, line, path in (
        (titled, 2, "title"),
        (text(CHOICE, yes_no), 6, "questions[1].text"),
        (text(CHOICE.replace("notes", f"notes{invisible}")), 5, "questions[0].options[1]"),
        (text(YES_NO, top=thanks), 4, "thanks"),
        (text(YES_NO, top=translated), 5, "translations.de.questions.a.text"),
    ):
        caught = error(source)
        assert (caught.line, caught.path) == (line, path)
        assert f"U+{ord(invisible):04X}" in caught.reason


def test_authors_may_write_exactly_the_characters_that_clients_take() -> None:
    """All of Unicode but surrogates, and what YAML or a line break takes: thousands at once, refused ones alone."""
    points = [*range(0xA0, 0xD800), *range(0xE000, 0xFFFE), *range(0x10000, 0x110000)]
    refused = [
        chr(point) for point in points if canonical.FORBIDDEN.search(chr(point)) or reference.has_invisible(chr(point))
    ]
    for character in refused:
        assert error(text(YES_NO.replace("Did you", f"Did {character}you"))).path == "questions[0].text", ascii(
            character
        )
    taken = [chr(point) for point in points if chr(point) not in {*refused, "\u2028", "\u2029"}]
    for start in range(0, len(taken), 20_000):
        joined = "".join(taken[start : start + 20_000])
        assert joined.strip() in build(text(YES_NO.replace("Did you", f"x{joined}x"))).survey.questions[0].text


@pytest.mark.parametrize("kind", ["choice", "multiple"])
def test_a_question_has_at_most_1024_options(kind: str) -> None:
    def options(count: int) -> bytes:
        return text(f"{{id: b, type: {kind}, text: What?, options: [{', '.join(f'o{i}' for i in range(count))}]}}")

    assert len(build(options(1024)).survey.questions[0].labels) == 1024
    caught = error(options(1025))
    assert (caught.line, caught.path) == (5, "questions[0].options")
    assert "1024" in caught.reason


def test_a_text_of_several_lines_is_one_line() -> None:
    source = b"slug: a\ntitle: >\n  Two\n  lines\nepsilon: 1\nquestions:\n- id: x\n  type: yes_no\n  text: |\n    Did\n    you?\n"
    survey = build(source).survey
    assert (survey.title, survey.questions[0].text) == ("Two lines", "Did you?")


def test_weak_privacy_can_be_accepted() -> None:
    draft = build(text(YES_NO, top="epsilon: 9\naccept_weak_privacy: true"))
    assert draft.survey.epsilon == 9
    assert ["more than 2" in line or "more than 4" in line for line in draft.advice] == [True, True]


def test_numbers_get_levels_bins_or_laplace() -> None:
    survey = build(text(NUMBER, NUMBER.replace("id: n", "id: m")[:-1] + ", bins: 4}")).survey
    assert [(q.levels, q.bins) for q in survey.questions] == [(3, 0), (0, 4)]
    laplace = build(text(NUMBER[:-1] + ", mechanism: laplace}")).survey
    assert laplace.questions[0].levels == 61
    wide = "{id: n, type: number, text: x, min: 0, max: 1000000, step: 1, mechanism: laplace, epsilon: 0.1}"
    assert build(text(wide)).survey.questions[0].levels == 64


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(AuthoringError, match="cannot read"):
        build_file(Path("/nowhere/survey.yaml"))


@settings(max_examples=200)
@given(st.text(max_size=80), st.integers(0, 400))
def test_rubbish_in_a_file_is_an_authoring_error_or_a_survey(rubbish: str, place: int) -> None:
    source = text(YES_NO, CHOICE, NUMBER).decode()
    spoiled = source[: place % len(source)] + rubbish + source[place % len(source) :]
    with suppress(AuthoringError):
        build(spoiled.encode("utf-8", "surrogatepass"))
