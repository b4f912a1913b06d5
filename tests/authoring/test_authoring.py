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
from tests.authoring.fault_words import describe
from tests.definitions import WORKED_DIGEST
from tests.golden_files import Golden

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


def test_the_command_names_file_line_and_place(tmp_path: Path, golden: Golden) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(text("{id: b, type: choice, text: What?, options: [one]}"))
    done = CliRunner().invoke(main, ["survey", "build", str(file)])
    assert done.exit_code == 1
    assert f"{file}: line 5, questions[0].options: " in done.stderr
    golden(done.stderr)
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
    assert ("total_epsilon", 8) in [(advice.code, advice.value) for advice in draft.advice]


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


DESIGNS = [
        ("{warner: 1}", "questions[0].design", "infinite_epsilon"), ("{warner: 0}", "questions[0].design", "infinite_epsilon"), ("{warner: 0.5}", "questions[0].design", "uninformative"),
        ("{gamma: 0}", "questions[0].design", "uninformative"), ("{gamma: 0.5}", "questions[0].design", "infinite_epsilon"), ("{gamma: 0.6}", "questions[0].design", "infinite_epsilon"),
        ("{forced: {truth: 1, yes: 0.5}}", "questions[0].design", "infinite_epsilon"), ("{forced: {truth: 0.5, yes: 0}}", "questions[0].design", "infinite_epsilon"),
        ("{forced: {truth: 0.5, yes: 1}}", "questions[0].design", "infinite_epsilon"), ("{forced: {truth: 0, yes: 0.5}}", "questions[0].design", "uninformative"),
        ("{forced: {truth: 0.5}}", "questions[0].design.forced", "missing_key"), ("{warner: 1.5}", "questions[0].design.warner", "not_a_share"), ("{warner: x}", "questions[0].design.warner", "not_a_number"),
        ("{}", "questions[0].design", "bad_design"), ("{warner: 0.7, gamma: 0.2}", "questions[0].design", "bad_design"), ("dice", "questions[0].design", "unknown_word"),
        ("{warner: 1/0}", "questions[0].design.warner", "not_a_number"), ("[coin]", "questions[0].design", "not_a_mapping"),
]  # fmt: skip


@pytest.mark.parametrize(("design", "path", "code"), DESIGNS)
def test_designs_that_are_none(design: str, path: str, code: str) -> None:
    caught = error(text(YES_NO[:-1] + f", design: {design}}}"))
    assert (caught.line, caught.path, caught.code) == (5, path, code)


def test_what_is_wrong_with_a_design_in_words(golden: Golden) -> None:
    sources = [text(YES_NO[:-1] + f", design: {design}}}") for design, *_ in DESIGNS]
    golden("\n".join(describe(source, error(source)) for source in sources))


# mistakes


MISTAKES = [
        (text(YES_NO, top="epsilon: 0"), 3, "epsilon", "not_positive"),
        (text(YES_NO, top="epsilon: -1"), 3, "epsilon", "not_positive"),
        (text(YES_NO, top="epsilon: inf"), 3, "epsilon", "not_finite"),
        (text(YES_NO, top="epsilon: .nan"), 3, "epsilon", "not_finite"),
        (text(YES_NO, top="epsilon: 1e3"), 3, "epsilon", "not_a_number"),
        (text(YES_NO, top="epsilon: 1_000"), 3, "epsilon", "not_a_number"),
        (text(YES_NO, top="epsilon: ١٢"), 3, "epsilon", "not_a_number"),
        (text(YES_NO, top="epsilon: [1]"), 3, "epsilon", "not_text"),
        (text(YES_NO, top="epsilon: 9"), 3, "epsilon", "weak_privacy"),
        (text(YES_NO, top="epsilon: 9\naccept_weak_privacy: false"), 3, "epsilon", "weak_privacy"),
        (text(YES_NO, top="epsilon: 0.0000001"), 3, "epsilon", "no_mechanism"),
        (text(YES_NO, top="epsilon: 1000"), 3, "epsilon", "no_mechanism"),
        (text(CHOICE, top="epsilon: 9999999"), 3, "epsilon", "no_mechanism"),
        (text(CHOICE[:-1] + ", epsilon: 41}", top="language: de"), 5, "questions[0].epsilon", "no_mechanism"),
        (text(NUMBER.replace("60", "9999999999999999")), 5, "questions[0].max", "not_a_number"),
        (b'slug: "\\U00110000"', None, "", "not_yaml"),
        (b'slug: "\\UFFFFFFFF"', None, "", "not_yaml"),
        (text(YES_NO, top="language: en"), 5, "questions[0]", "no_epsilon"),
        (text(YES_NO, CHOICE[:-1] + ", epsilon: 4}"), 3, "epsilon", "nothing_left"),
        (text(YES_NO[:-1] + ", epsilon: 5}"), 3, "epsilon", "nothing_left"),
        (text(YES_NO[:-1] + ", epsilon: 0}"), 5, "questions[0].epsilon", "not_positive"),
        (text(YES_NO[:-1] + ", weight: 0}"), 5, "questions[0].weight", "not_positive"),
        (text(YES_NO[:-1] + ", design: coin, epsilon: 1}"), 5, "questions[0].epsilon", "conflict"),
        (text(YES_NO[:-1] + ", epsilon: 1, weight: 2}"), 5, "questions[0].weight", "conflict"),
        (text(YES_NO[:-1] + ", design: coin, optional: true}"), 5, "questions[0].design", "not_for_design"),
        (text(YES_NO, YES_NO), 6, "questions[1].id", "bad_value"),
        (text(YES_NO[:-1] + ", text: Again?}"), 5, "questions[0]", "duplicate_key"),
        (text(YES_NO, top="epsilon: 4\nepsilon: 3"), 4, "", "duplicate_key"),
        (text(YES_NO, top="epsilon: 4\nsurprise: 3"), 4, "surprise", "unknown_key"),
        (text(YES_NO[:-1] + ", options: [a, b]}"), 5, "questions[0].options", "unknown_key"),
        (text(YES_NO[:-1] + ", levels: 2}"), 5, "questions[0].levels", "unknown_key"),
        (text("{id: a, text: Did you?}"), 5, "questions[0]", "missing_key"),
        (text("{id: a, type: yes_no}"), 5, "questions[0]", "missing_key"),
        (text("just text"), 5, "questions[0]", "not_a_mapping"),
        (text("{id: a, type: essay, text: Why?}"), 5, "questions[0].type", "unknown_word"),
        (text("{id: A, type: yes_no, text: Why?}"), 5, "questions[0].id", "bad_value"),
        (text("{id: b, type: choice, text: What?, options: [one]}"), 5, "questions[0].options", "too_few"),
        (text("{id: b, type: choice, text: What?, options: [one, one]}"), 5, "questions[0].options", "bad_value"),
        (text("{id: b, type: choice, text: What?, options: one}"), 5, "questions[0].options", "not_a_list"),
        (text('{id: b, type: choice, text: What?, options: [one, ""]}'), 5, "questions[0].options[1]", "empty"),
        (text(CHOICE[:-1] + ", optional: perhaps}"), 5, "questions[0].optional", "not_boolean"),
        (text('{id: a, type: yes_no, text: "bell\\a"}'), 5, "questions[0].text", "bad_value"),
        (text('{id: a, type: yes_no, text: "half \\ud800"}'), 5, "questions[0].text", "bad_value"),
        (text("{id: n, type: number, text: x, min: 60, max: 60, step: 1}"), 5, "questions[0].max", "bad_value"),
        (text("{id: n, type: number, text: x, min: 0, max: 60, step: 7}"), 5, "questions[0].step", "bad_value"),
        (text("{id: n, type: number, text: x, min: 0, max: 60, step: 0}"), 5, "questions[0].step", "bad_value"),
        (text("{id: n, type: number, text: x, min: 0, max: lots}"), 5, "questions[0].max", "not_a_number"),
        (text(NUMBER[:-1] + ", bins: 1}"), 5, "questions[0].bins", "not_an_integer"),
        (text(NUMBER[:-1] + ", bins: 62}"), 5, "questions[0].bins", "bad_value"),
        (text(NUMBER[:-1] + ", bins: 2.5}"), 5, "questions[0].bins", "not_an_integer"),
        (text(NUMBER[:-1] + ", mechanism: gauss}"), 5, "questions[0].mechanism", "unknown_word"),
        (text(NUMBER[:-1] + ", mechanism: laplace, bins: 3}"), 5, "questions[0].mechanism", "not_for_laplace"),
        (text(NUMBER[:-1] + ", mechanism: laplace, optional: true}"), 5, "questions[0].mechanism", "not_for_laplace"),
        (text("{id: s, type: scale, text: x, points: [a, b], scores: [1]}"), 5, "questions[0].scores", "bad_value"),
        (text(YES_NO[:-1] + ", show_if: {question: b, is: [none]}}"), 5, "questions[0].show_if.question", "bad_value"),
        (text(YES_NO, CHOICE[:-1] + ", show_if: {question: a, is: [maybe]}}"), 6, "questions[1].show_if.is", "bad_value"),
        (text(YES_NO, CHOICE, top="epsilon: 1\njoint: [[a]]"), 4, "joint[0]", "too_few"),
        (text(YES_NO, CHOICE, top="epsilon: 1\njoint: [[a, x]]"), 4, "joint[0][1]", "unknown_question"),
        (text(YES_NO, CHOICE, top="epsilon: 1\njoint: [[a, a]]"), 4, "joint[0][1]", "duplicate"),
        (text(YES_NO, CHOICE, NUMBER, top="epsilon: 1\njoint: [[a, b], [b, n]]"), 4, "joint[1][0]", "duplicate"),
        (text(YES_NO[:-1] + ", design: coin}", CHOICE, top="epsilon: 2\njoint: [[a, b]]"), 4, "joint[0][0]", "cannot_join"),
        (text(YES_NO, top="epsilon: 1\nopens: tomorrow"), 4, "opens", "not_a_timestamp"),
        (text(YES_NO, top="epsilon: 1\nopens: 2026-12-01T00:00"), 4, "opens", "no_time_zone"),
        (text(YES_NO, top="epsilon: 1\nopens: 2026-12-02T00:00Z\ncloses: 2026-12-01T00:00Z"), 5, "closes", "bad_order"),
        (text(YES_NO, top="epsilon: 1\ndeletes: 2026-12-01T00:00Z\ncloses: 2026-12-01T00:00Z"), 4, "deletes", "bad_order"),
        (text(YES_NO, top="epsilon: 1\nopens: 2026-12-01T00:00Z\ndeletes: 2026-12-01T00:00Z"), 5, "deletes", "bad_order"),
        (text(YES_NO, top="epsilon: 1\ndeletes: 2026-12-01T00:00"), 4, "deletes", "no_time_zone"),
        (text(YES_NO, top="epsilon: 1\nmax_reports: 0"), 4, "max_reports", "not_an_integer"),
        (text(YES_NO, top="epsilon: 1\nresults: secret"), 4, "results", "unknown_word"),
        (text(YES_NO, top="epsilon: 1\nlanguage: English"), 4, "language", "bad_language"),
        (text(YES_NO, top="epsilon: 1\ntitle2: &x a"), 4, "title2", "anchor_or_tag"),
        (text(YES_NO, top="epsilon: 1\ncontact: *x"), 4, "contact", "alias"),
        (text(YES_NO, top="epsilon: 1\ncontact: !!str x"), 4, "contact", "anchor_or_tag"),
        (text(YES_NO, top="epsilon: 1\n? [a]\n: b"), 4, "", "bad_key"),
        (text(YES_NO, top="epsilon: {"), 5, "", "not_yaml"),
        (text(YES_NO, top="\tepsilon: 1"), 3, "", "not_yaml"),
        (b"slug: exam\ntitle: x\n", 1, "", "missing_key"),
        (b"slug: exam\ntitle: x\nepsilon: 1\nquestions: []\n", 4, "questions", "bad_value"),
        (b"slug: Exam\ntitle: x\nepsilon: 1\nquestions: [" + YES_NO.encode() + b"]", 1, "slug", "bad_value"),
        (b"", None, "", "not_one_survey"),
        (b"a: 1\n---\nb: 2\n", None, "", "not_one_survey"),
        (b"\xff\xfe", None, "", "not_utf8"),
        (b"[" * 100_000, 1, "", "too_deep"),
        (b"x" * 1_000_001, None, "", "too_large"),
        (b"title: [" + b"a, " * 60_000 + b"]", 1, "", "too_large"),
        (b"title: [" + b"a, " * 60_000 + b"}", 1, "", "too_large"),  # nothing behind is read
        (b"title: a\x00b", 1, "", "not_yaml"),
]  # fmt: skip
JSON_MISTAKES = [
        (b'{"slug": "a", "slug": "b"}', "", "duplicate_key"),
        (b'{"slug": "a",}', "", "not_json"),
        (b'{"slug": "a", "title": "t", "questions": [{"id": "x"}], "epsilon": 1}', "questions[0]", "missing_key"),
        (b'{"slug": "a", "title": "t", "questions": null}', "questions", "not_a_list"),
        (b'{"slug": "a", "title": "t", "epsilon": NaN, "questions": [{"id":"x","type":"yes_no","text":"y"}]}', "epsilon", "not_finite"),
        (b'{"slug":"a","title":"\\ud800","epsilon":1,"questions":[{"id":"x","type":"yes_no","text":"y"}]}', "", "lone_surrogate"),
        (b"[" * 100_000, "", "too_deep"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "line", "path", "code"), MISTAKES)
def test_a_mistake_has_a_code_and_a_place(source: bytes, line: int | None, path: str, code: str) -> None:
    caught = error(source)
    assert (caught.line, caught.path, caught.code) == (line, path, code)
    assert caught.reason, "and words"


@pytest.mark.parametrize(("source", "path", "code"), JSON_MISTAKES)
def test_mistakes_in_json(source: bytes, path: str, code: str) -> None:
    caught = error(source, json_file=True)
    assert (caught.path, caught.code) == (path, code)


def test_mistakes_in_words(golden: Golden) -> None:
    golden("\n".join(describe(source, error(source)) for source, *_ in MISTAKES))
    golden("\n".join(describe(source, error(source, json_file=True)) for source, *_ in JSON_MISTAKES), "json")


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
        assert caught.code == "invisible_character"
        assert f"U+{ord(invisible):04X}" in caught.reason


@pytest.mark.slow
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
    assert (caught.line, caught.path, caught.code) == (5, "questions[0].options", "too_large")


def test_a_text_of_several_lines_is_one_line() -> None:
    source = b"slug: a\ntitle: >\n  Two\n  lines\nepsilon: 1\nquestions:\n- id: x\n  type: yes_no\n  text: |\n    Did\n    you?\n"
    survey = build(source).survey
    assert (survey.title, survey.questions[0].text) == ("Two lines", "Did you?")


def test_weak_privacy_can_be_accepted(golden: Golden) -> None:
    draft = build(text(YES_NO, top="epsilon: 9\naccept_weak_privacy: true"))
    assert draft.survey.epsilon == 9
    assert [(advice.code, float(advice.value)) for advice in draft.advice] == [
        ("field_epsilon", pytest.approx(9)),
        ("total_epsilon", 9),
    ]
    golden("\n".join(advice.sentence for advice in draft.advice))


def test_numbers_get_levels_bins_or_laplace() -> None:
    survey = build(text(NUMBER, NUMBER.replace("id: n", "id: m")[:-1] + ", bins: 4}")).survey
    assert [(q.levels, q.bins) for q in survey.questions] == [(3, 0), (0, 4)]
    laplace = build(text(NUMBER[:-1] + ", mechanism: laplace}")).survey
    assert laplace.questions[0].levels == 61
    wide = "{id: n, type: number, text: x, min: 0, max: 1000000, step: 1, mechanism: laplace, epsilon: 0.1}"
    assert build(text(wide)).survey.questions[0].levels == 64


def test_a_file_that_is_not_there(golden: Golden) -> None:
    with pytest.raises(AuthoringError) as caught:
        build_file(Path("/nowhere/survey.yaml"))
    assert caught.value.code == "unreadable"
    golden(caught.value)


@settings(max_examples=200)
@given(st.text(max_size=80), st.integers(0, 400))
def test_rubbish_in_a_file_is_an_authoring_error_or_a_survey(rubbish: str, place: int) -> None:
    source = text(YES_NO, CHOICE, NUMBER).decode()
    spoiled = source[: place % len(source)] + rubbish + source[place % len(source) :]
    with suppress(AuthoringError):
        build(spoiled.encode("utf-8", "surrogatepass"))
