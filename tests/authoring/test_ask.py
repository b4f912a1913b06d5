"""What a device answers: everything, one field of the file, or one of the best blocks."""

import json
import math
import re
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from candor_client import Survey, verify
from candor_client.mechanisms import Flip, Geometric, Subset
from survey_app.authoring import build
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.savings import describe_saving
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.cli import main
from tests.golden_files import Golden

YES = "{id: a, type: yes_no, text: Did you?}"
CHOICE = "{id: b, type: choice, text: What?, options: [none, notes, phone]}"
NUMBER = "{id: n, type: number, text: How many?, min: 0, max: 60}"
WHY = "{id: why, type: choice, text: Why?, options: [time, fear], show_if: {question: a, is: [yes]}}"


def text(*questions: str, top: str = "epsilon: 2\nask: one") -> bytes:
    return "\n".join(["slug: s", "title: S", top, "questions:", *(f"  - {one}" for one in questions)]).encode()


def also(question: str, more: str) -> str:
    return f"{question[:-1]}, {more}}}"


def blocks(survey: Survey) -> list[list[str]]:
    return [[question.id for question in field.questions] for field in survey.fields]


def epsilons(survey: Survey) -> list[float]:
    return [float(field.mechanism.epsilon) for field in survey.fields]


def refusal(source: bytes) -> AuthoringError:
    with pytest.raises(AuthoringError) as caught:
        build(source)
    return caught.value


def numbers_in(sentence: str | None) -> list[float]:
    """Return the numbers of a sentence, without those of ids."""
    return [float(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*\b", sentence or "")]


def test_anything_but_the_three_words_is_answered_with_them(golden: Golden) -> None:
    reasons: set[str] = set()
    for ask in ("1", "0", "12", "some", "1.5", "Auto", "-1"):
        caught = refusal(text(YES, CHOICE, top=f"epsilon: 1\nask: {ask}"))
        assert (caught.line, caught.path, caught.code) == (4, "ask", "unknown_word")
        reasons.add(caught.reason)
    (reason,) = reasons
    assert all(word in reason for word in Ask)
    golden(reason)


def test_asking_for_everything_is_the_default() -> None:
    said, unsaid = (build(text(YES, CHOICE, top=f"epsilon: 1\n{ask}")) for ask in ("ask: all", "language: en"))
    assert said.survey == unsaid.survey
    assert said.design == unsaid.design
    assert not said.survey.ask


def test_the_definition_says_who_is_asked_what() -> None:
    definition = json.loads(build(text(YES, CHOICE, NUMBER)).survey.source)
    assert definition["ask"] == 1
    chances = [field["chance"] for field in definition["fields"]]
    assert sum(chances) == 10**6
    assert chances[1] > chances[0] > chances[2], "a choice of three needs more than a yes, and that more than a mean"


def test_every_field_has_the_whole_total() -> None:
    """Until now a block of one beside a block of two got half of ε, for nothing."""
    survey = build(text(YES, CHOICE, NUMBER, top="epsilon: 2\nask: one\njoint: [[b, a]]")).survey
    assert blocks(survey) == [["a", "b"], ["n"]]
    assert epsilons(survey) == pytest.approx([2, 2])
    assert survey.epsilon == 2
    weighted = build(text(also(YES, "weight: 3"), CHOICE)).survey
    assert epsilons(weighted) == pytest.approx([2, 2]), "weights are about respondents"


def test_weight_multiplies_a_questions_need() -> None:
    plain, weighted = (build(text(one, CHOICE)).design for one in (YES, also(YES, "weight: 3")))
    assert weighted.blocks[0].need == pytest.approx(3 * plain.blocks[0].need)
    assert weighted.blocks[1] != plain.blocks[1], "and so its chance, which takes from the others"
    odds = [block.chance for block in weighted.blocks]
    assert odds[0] / odds[1] == pytest.approx(weighted.blocks[0].need / weighted.blocks[1].need, rel=1e-5)


def test_what_is_fixed_keeps_its_own() -> None:
    own = [also(YES, "design: coin"), also(CHOICE, "epsilon: 0.5"), also(NUMBER, "mechanism: laplace")]
    survey = build(
        text(*own, "{id: y, type: yes_no, text: x}", "{id: z, type: yes_no, text: x}", top="epsilon: 4\nask: auto")
    ).survey
    assert blocks(survey) == [["a"], ["b"], ["n"], ["y", "z"]]
    assert epsilons(survey) == pytest.approx([1.098612288668, 0.5, 4, 4])
    assert isinstance(survey.fields[0].mechanism, Flip)
    assert isinstance(survey.fields[2].mechanism, Geometric)
    assert verify(survey) <= survey.epsilon == 4


def test_a_group_has_what_its_questions_have() -> None:
    own = [also(YES, "epsilon: 0.5"), also(CHOICE, "epsilon: 0.75")]
    survey = build(text(*own, NUMBER, top="epsilon: 2\nask: auto\njoint: [[a, b]]")).survey
    assert blocks(survey) == [["a", "b"], ["n"]]
    assert epsilons(survey) == pytest.approx([1.25, 2])
    alone = build(text(*own, top="ask: one")).survey
    assert epsilons(alone) == pytest.approx([0.5, 0.75])
    assert float(alone.epsilon) == pytest.approx(0.75), "a person answers one of them"


@pytest.mark.parametrize(
    ("questions", "more", "line", "path", "code"),
    [
        ([also(YES, "epsilon: 1"), CHOICE], "\njoint: [[a, b]]", 8, "questions[1]", "mixed_epsilon"),
        ([also(YES, "epsilon: 2.1"), CHOICE], "", 6, "questions[0].epsilon", "above_total"),
        ([also(YES, "design: {warner: 0.9}"), CHOICE], "", 6, "questions[0].design", "above_total"),
        (
            [also(YES, "epsilon: 1.5"), also(CHOICE, "epsilon: 0.6")],
            "\njoint: [[a, b]]",
            7,
            "questions[0].epsilon",
            "above_total",
        ),
        ([also(YES, "design: coin"), CHOICE], "\njoint: [[a, b]]", 5, "joint[0][0]", "cannot_join"),
    ],
)
@pytest.mark.parametrize("ask", ["one", "auto"])
def test_what_cannot_be_asked_alone(questions: list[str], more: str, line: int, path: str, code: str, ask: str) -> None:
    caught = refusal(text(*questions, top=f"epsilon: 2\nask: {ask}{more}"))
    assert (caught.line, caught.path, caught.code) == (line, path, code)


def test_a_mix_is_an_error_only_with_ask() -> None:
    survey = build(text(also(YES, "epsilon: 1"), CHOICE, top="epsilon: 2\njoint: [[a, b]]")).survey
    assert epsilons(survey) == pytest.approx([2])


def test_a_question_without_any_epsilon_is_told_so() -> None:
    assert refusal(text(YES, also(CHOICE, "epsilon: 1"), top="ask: auto")).code == "no_epsilon"


@pytest.mark.parametrize("epsilon", ["0.0000001", "41", "1000"])
def test_an_epsilon_beyond_all_mechanisms_is_told_so(epsilon: str) -> None:
    assert refusal(text(YES, CHOICE, top=f"epsilon: {epsilon}\nask: auto")).code == "no_mechanism"


@pytest.mark.parametrize("ask", ["one", "auto"])
def test_a_single_field_leaves_ask_out(ask: str) -> None:
    definition = json.loads(build(text(YES, top=f"epsilon: 2\nask: {ask}")).survey.source)
    assert "ask" not in definition
    assert "chance" not in definition["fields"][0]


def test_where_one_block_is_best_everybody_answers_it(golden: Golden) -> None:
    yes = [f"{{id: q{i}, type: yes_no, text: x}}" for i in range(3)]
    built = build(text(*yes, top="epsilon: 4\nask: auto"))
    definition = json.loads(built.survey.source)
    assert "ask" not in definition
    assert definition["fields"][0]["questions"] == ["q0", "q1", "q2"]
    assert definition["fields"][0]["mechanism"]["size"] == 8
    assert definition["epsilon"] == 4
    assert numbers_in(describe_saving(built)) == [370, 5, 990]
    golden(describe_saving(built))


def test_a_follow_up_can_be_asked_without_its_question() -> None:
    survey = build(text(YES, WHY)).survey
    assert blocks(survey) == [["a"], ["why"]]
    assert survey.question_ids_for(1) == {"a", "why"}, "as a filter"


def test_a_follow_up_in_the_block_of_its_question_has_fewer_cells() -> None:
    survey = build(text(YES, WHY, NUMBER, top="epsilon: 2\nask: one\njoint: [[a, why]]")).survey
    assert survey.fields[0].cells == ((0, 2), (1, 0), (1, 1), (1, 2))
    mechanism = survey.fields[0].mechanism
    assert isinstance(mechanism, Subset)
    assert (mechanism.size, mechanism.weight) == (4, 1)


def test_a_group_of_too_many_cells_is_refused_and_of_many_advised_against(golden: Golden) -> None:
    def pair(first: int, second: int, ask: str) -> bytes:
        options = [", ".join(f"{name}{i}" for i in range(size)) for name, size in (("x", first), ("y", second))]
        questions = [
            f"{{id: {name}, type: choice, text: x, options: [{given}]}}"
            for name, given in zip("ab", options, strict=True)
        ]
        return text(*questions, NUMBER, top=f"epsilon: 3\nask: {ask}\njoint: [[a, b]]")

    for ask in ("auto", "all"):
        caught = refusal(pair(11, 91, ask))
        assert (caught.path, caught.code) == ("joint[0]", "too_many_cells")
        golden(caught, f"{ask} refused")
        (advice,) = (advice for advice in build(pair(10, 100, ask)).advice if advice.code == "many_cells")
        assert (advice.question_ids, advice.value) == (("a", "b"), 1000)
        golden(advice.sentence, f"{ask} advice")
        assert not any(advice.code == "many_cells" for advice in build(pair(8, 8, ask)).advice)


def test_advice_is_about_what_a_person_spends(golden: Golden) -> None:
    everything = build(text(YES, CHOICE, top="epsilon: 4.5")).advice
    assert [(advice.code, advice.question_ids) for advice in everything] == [
        ("field_epsilon", ("a",)),
        ("field_epsilon", ("b",)),
        ("total_epsilon", ()),
    ]
    assert "ask: auto" in everything[-1].sentence
    golden("\n".join(advice.sentence for advice in everything), "split")
    (only,) = build(text(YES, CHOICE, top="epsilon: 4.5\nask: one")).advice
    assert (only.code, only.value) == ("total_epsilon", Decimal("4.5"))
    assert "ask: auto" not in only.sentence
    golden(only.sentence, "one")
    assert build(text(YES, CHOICE, top="epsilon: 4\nask: one")).advice == ()


# what the command says


def said(tmp_path: Path, source: bytes) -> str:
    file = tmp_path / "survey.yaml"
    file.write_bytes(source)
    done = CliRunner().invoke(main, ["survey", "build", str(file)])
    assert done.exit_code == 0
    assert done.stdout_bytes == build(source).survey.source
    return done.stderr


SIX = [f"{{id: q{i}, type: yes_no, text: x}}" for i in range(6)]


@pytest.mark.parametrize(
    ("ask", "blocks", "respondents"),
    [
        ("auto", "q0 + q1; q2 + q3; q4 + q5", [2600, 14000]),
        ("one", "q0; q1; q2; q3; q4; q5", [3100, 14000, 2600]),
        ("all", "q0 + q1; q2 + q3; q4 + q5", [2600, 14000]),
    ],
    ids=["auto", "one", "all"],
)
def test_the_command_says_what_was_chosen_and_what_it_saves(
    tmp_path: Path, ask: str, blocks: str, respondents: list[int], golden: Golden
) -> None:
    sentence = said(tmp_path, text(*SIX, top=f"epsilon: 2\nask: {ask}"))
    assert f"({blocks})" in sentence
    assert [number for number in numbers_in(sentence) if number > 100] == respondents
    golden(sentence)


def test_the_command_is_silent_where_nothing_is_saved(tmp_path: Path) -> None:
    assert said(tmp_path, text(YES, top="epsilon: 2")) == ""
    assert said(tmp_path, text(also(YES, "epsilon: 1"), also(NUMBER, "epsilon: 1"), top="language: en")) == ""


def test_many_blocks_are_not_listed_and_weights_are_mentioned(tmp_path: Path, golden: Golden) -> None:
    many = [f"{{id: q{i}, type: yes_no, text: x, weight: {1 + i % 2}}}" for i in range(24)]
    sentence = said(tmp_path, text(*many, top="epsilon: 2\nask: auto"))
    assert numbers_in(sentence)[0] == 12
    assert "q0" not in sentence
    golden(sentence)


def scales(count: int) -> list[str]:
    return [f"{{id: s{i}, type: scale, text: x, points: [a, b, c, d, e]}}" for i in range(count)]


def test_a_design_that_needs_more_than_another_says_so(tmp_path: Path, golden: Golden) -> None:
    apart = said(tmp_path, text(*scales(3), top="epsilon: 8\nask: auto")).splitlines()[-1]
    assert "(s0 + s1; s2)" in apart and "(ask: all)" in apart
    assert [number for number in numbers_in(apart) if number > 100] == [390, 360, 210]
    golden(apart, "apart")
    together = said(tmp_path, text(*scales(3), top="epsilon: 8\nask: auto\njoint: [[s0, s1, s2]]")).splitlines()[-1]
    assert [number for number in numbers_in(together) if number > 100] == [210, 210], "as many as its split"
    golden(together, "together")


def test_a_file_that_cannot_be_split_is_not_compared_with_it(tmp_path: Path, golden: Golden) -> None:
    """Two questions of an ε of their own fit the total one by one, but not together."""
    source = text(also(YES, "epsilon: 1.5"), also(CHOICE, "epsilon: 1.5"), top="epsilon: 2\nask: one")
    assert "all" not in build(source).designs
    assert "ask: all" not in said(tmp_path, source)
    golden(said(tmp_path, source))


def test_a_weight_beside_a_fixed_epsilon_counts_where_nothing_is_split() -> None:
    plain, weighted = (build(text(also(YES, f"epsilon: 0.5{more}"), CHOICE)).design for more in ("", ", weight: 3"))
    assert weighted.blocks[0].need == pytest.approx(3 * plain.blocks[0].need)
    both = refusal(text(also(YES, "epsilon: 0.5, design: coin"), CHOICE))
    assert (both.path, both.code) == ("questions[0].epsilon", "conflict")


def test_advice_on_single_questions_is_for_those_who_split() -> None:
    """Even where the best design is one block, and so has no draw."""
    several = [f"{{id: q{i}, type: yes_no, text: x}}" for i in range(2)]
    assert build(text(*several, top="epsilon: 4\nask: auto")).advice == ()
    assert build(text(*several, top="epsilon: 6\nask: all")).advice[0].code == "field_epsilon"


def test_scores_that_are_one_float_are_still_two_scores() -> None:
    close = "{id: s, type: scale, text: x, points: [p, q], scores: [999999999999999.01, 999999999999999.02]}"
    for ask in ("auto", "one", "all"):
        built = build(text(close, YES, top=f"epsilon: 2\nask: {ask}"))
        assert all(math.isfinite(design.respondents) for design in built.designs.values())


def chain(questions: int, options: int) -> list[str]:
    """Follow-ups of follow-ups: few combinations can occur, of very many."""
    named = ", ".join(f"o{i}" for i in range(options))
    made = [f"{{id: q0, type: choice, text: x, options: [{named}]}}"]
    for i in range(1, questions):
        shown = f"show_if: {{question: q{i - 1}, is: [o0]}}, weight: {9 if i > 1 else 3}"
        made.append(f"{{id: q{i}, type: choice, text: x, options: [{named}], {shown}}}")
    return made


@pytest.mark.parametrize(("questions", "options"), [(5, 11), (6, 9), (4, 16)])
def test_no_block_is_formed_that_a_definition_may_not_have(questions: int, options: int) -> None:
    built = build(text(*chain(questions, options), top="epsilon: 7\nask: auto"))
    assert built.design.respondents <= built.designs[Ask.ONE].respondents


@pytest.mark.parametrize("ask", ["auto", "all"])
def test_an_authors_group_that_is_too_large_is_refused_where_it_is_written(ask: str) -> None:
    for questions in (chain(6, 9), [f"{{id: q{i}, type: yes_no, text: x}}" for i in range(1500)]):
        joint = ", ".join(f"q{i}" for i in range(len(questions)))
        caught = refusal(text(*questions, top=f"epsilon: 4\nask: {ask}\njoint: [[{joint}]]"))
        assert (caught.line, caught.code) == (5, "too_many_cells")
