"""The words that go into papers: every number in them is this survey's own."""

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candor_client import Survey
from candor_client.mechanisms import Drawn, Flip, Geometric, Subset
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import build_file
from survey_app.channels.posterior import total_epsilon
from survey_app.estimate.intervals import Method, Options
from survey_app.languages import numbers
from survey_app.plan.simulated_people import draw_people
from survey_app.results.caution import correct_denied_answers, design_effect, effective_sample_size, largest_shift
from survey_app.results.checklist import CautionCode, ItemCode, list_cautions, make_checklist
from survey_app.results.denominators import describe_questioning
from survey_app.results.methods import (
    SurveyStatus,
    count_intervals,
    describe_interval_methods,
    mechanism_sentences,
    methods_paragraph,
)
from survey_app.results.survey_document import Results, results, table_rows
from survey_app.tally import Tally, add_bits
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    survey,
    yes_no,
)
from tests.golden_files import Golden

CAMPUS = Path(__file__).parents[1] / "campus.yaml"
PLAIN = SurveyStatus(Options(), shows_sample_intervals=False, is_final=True)


def document(made: Survey, count: int = 500, options: Options | None = None) -> Results:
    """The results of made-up people."""
    rng, counts = np.random.default_rng(), np.zeros(made.width, dtype=np.int64)
    for rows in reports(made, draw_people(made, {}, count, rng), rng):
        add_bits(counts, rows)
    return results(made, Tally(count, counts), options)


def as_if_all_were_alike(made: Survey) -> Results:
    """The results of 500 reports in which all bits of a field are equally frequent: the same numbers each time."""
    ones = {"cheated": 225, "help": 83, "used": 167, "hours": 250, "income": 125, "spend": 8, "why": 167}
    counts = [np.full(one.mechanism.width, ones[one.questions[0].id]) for one in made.fields]
    return results(made, Tally(500, np.concatenate(counts)))


@pytest.fixture(scope="module")
def campus() -> Survey:
    return build_file(CAMPUS).survey


def test_the_paragraph_holds_the_surveys_own_numbers(campus: Survey) -> None:
    text = methods_paragraph(campus, document(campus), PLAIN)
    assert "n = 500 " in text
    assert campus.digest in text
    assert f"ε = {numbers.format_epsilon(total_epsilon(campus))} (" in text
    for one in campus.fields:
        assert f"(ε = {numbers.format_epsilon(one.mechanism.epsilon)})" in text
        if not isinstance(one.mechanism, Geometric):
            assert f"p = {float(one.mechanism.p):.4g}" in text
            assert f"q = {float(one.mechanism.q):.4g}" in text
        for question in one.questions:
            assert f"“{question.id}”" in text
    assert "confidence of 95% each" in text
    words = describe_interval_methods(Options())
    assert words[Method.CLOPPER_PEARSON] in text and words[Method.FIELLER] in text


def test_the_paragraph_of_a_survey_with_everything(campus: Survey, golden: Golden) -> None:
    golden(methods_paragraph(campus, as_if_all_were_alike(campus), PLAIN))


@pytest.mark.parametrize(
    ("setting", "methods", "numbers"),
    [
        (SurveyStatus(Options(0.8, simultaneous=True), False, True), {Method.CLOPPER_PEARSON}, ["80%"]),
        (SurveyStatus(Options(narrow=True), False, True), {Method.WILSON}, ["95%"]),
        (SurveyStatus(Options(population=9000), False, True), {Method.FINITE_POPULATION}, ["95%", "9,000"]),
        (SurveyStatus(Options(), True, True), {Method.CLOPPER_PEARSON}, ["95%"]),
        (SurveyStatus(Options(), False, False), {Method.CLOPPER_PEARSON}, ["95%"]),
    ],
    ids=["simultaneous", "narrow", "population", "sample", "open"],
)
def test_the_paragraph_tells_which_intervals_these_are(
    setting: SurveyStatus, methods: set[Method], numbers: list[str], golden: Golden
) -> None:
    made = survey(define([yes_no()], [field(COIN, "cheated")], epsilon="1.098612288669"))
    text = methods_paragraph(made, results(made, Tally(500, np.array([240])), setting.options), setting)
    words = describe_interval_methods(setting.options)
    assert {method for method, phrase in words.items() if phrase in text} == methods
    assert all(number in text for number in numbers)
    assert ("95%" in text) == (setting.options.confidence == 0.95)
    usual = methods_paragraph(made, results(made, Tally(500, np.array([240]))), PLAIN).split(". ")
    others = [sentence for sentence in text.split(". ") if sentence not in usual]
    assert len(others) == 1
    golden(others[0])


def test_questions_with_one_mechanism_share_a_sentence(golden: Golden) -> None:
    names = [f"q{i}" for i in range(20)]
    made = survey(define([yes_no(name) for name in names], [field(COIN, name) for name in names]))
    (sentence,) = mechanism_sentences(made)
    assert [f"“{name}”" in sentence for name in names] == [True] * 6 + [False] * 14 and " 14 " in sentence
    assert sentence in methods_paragraph(made, document(made), PLAIN)
    golden(sentence)


def test_a_number_whose_every_value_is_a_level_is_not_rounded(golden: Golden) -> None:
    made = survey(define([number(levels=7)], [field(geometric(7), "hours")]))
    rounded = survey(define([number(levels=7, max=12)], [field(geometric(7), "hours")]))
    for name, one in (("each value a level", made), ("rounded", rounded)):
        (sentence,) = mechanism_sentences(one)
        assert sentence in methods_paragraph(one, document(one), PLAIN)
        golden(sentence, name)


def test_with_ask_the_paragraph_says_what_a_device_answered(golden: Golden) -> None:
    made = survey(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")], ask=1))
    text = methods_paragraph(made, shown := results(made, Tally(100, np.array([55, 20, 45, 15]))), PLAIN)
    assert shown.asked is not None
    assert [sentence in text for sentence in describe_questioning(made, shown.asked)] == [True] * 3
    assert "ε = 1.0987 " in text and "ε = 2.1" not in text, "one field's, not their sum"
    golden("\n".join(describe_questioning(made, shown.asked)))


def test_with_chances_the_paragraph_tells_them(golden: Golden) -> None:
    questions = [yes_no("a"), yes_no("b"), choice("c")]
    fields = [field(COIN, "a", chance=5), field(subset(6, 1), "b", "c", chance=3)]
    made = survey(define(questions, fields, ask=1))
    first, *_ = describe_questioning(made, None)
    assert first in methods_paragraph(made, document(made), PLAIN)
    assert "“a” 62.5%" in first and "“b” + “c” 37.5%" in first
    golden(first)


@pytest.mark.parametrize("draw", [1, 2])
def test_options_that_are_drawn_are_told_with_their_chances(draw: int, golden: Golden) -> None:
    made = survey(define([multiple()], [field(drawn(3, draw), "used")]))
    (sentence,) = mechanism_sentences(made)
    assert sentence in methods_paragraph(made, document(made), PLAIN)
    mechanism = made.fields[0].mechanism
    assert isinstance(mechanism, Drawn)
    assert f"p = {float(mechanism.p):.4g}" in sentence and f" {draw} of 3 " in sentence
    golden(sentence)


def test_every_interval_is_counted(campus: Survey) -> None:
    shown = document(campus)
    assert count_intervals(shown, PLAIN) == len(list(table_rows(shown.parts)))
    more = SurveyStatus(Options(), False, True, comparison_count=7)
    assert count_intervals(shown, more) == count_intervals(shown, PLAIN) + 7
    for setting in (PLAIN, more):
        (caution,) = (one for one in list_cautions(shown, setting) if one.code is CautionCode.APART)
        assert caution.text.startswith(f"{count_intervals(shown, setting)} ") and "95%" in caution.text
    together = SurveyStatus(Options(simultaneous=True), False, True)
    codes = caution_codes(shown, together)
    assert CautionCode.TOGETHER in codes and CautionCode.APART not in codes


def caution_codes(shown: Results, setting: SurveyStatus) -> set[CautionCode]:
    return {caution.code for caution in list_cautions(shown, setting)}


def test_cautions_follow_the_state_and_the_invitations(campus: Survey) -> None:
    shown, closed = document(campus), {CautionCode.STOPPING, CautionCode.NO_INVITATIONS}
    followed = {CautionCode.STOPPING, CautionCode.OPEN, CautionCode.NO_INVITATIONS}
    assert followed & caution_codes(shown, PLAIN) == closed
    assert followed & caution_codes(shown, SurveyStatus(Options(), False, False)) == {
        CautionCode.OPEN, CautionCode.NO_INVITATIONS,
    }  # fmt: skip
    invited = SurveyStatus(Options(), False, True, is_by_invitation=True)
    assert followed & caution_codes(shown, invited) == {CautionCode.STOPPING}


def test_the_words_of_cautions_and_of_the_checklist(campus: Survey, golden: Golden) -> None:
    shown = as_if_all_were_alike(campus)
    changed = SurveyStatus(
        Options(simultaneous=True), True, False, True, "The survey closes with 100 reports.", stopping_rule_changed=True
    )
    for name, setting in (("closed", PLAIN), ("open", changed)):
        cautions = "\n".join(f"{one.code}: {one.text}" for one in list_cautions(shown, setting))
        golden(cautions, f"cautions {name}")
        items = make_checklist(campus, shown, setting)
        text = "\n".join(f"{one.code}{' (open)' * one.open}: {one.name}. {one.text}" for one in items)
        golden(text, f"checklist {name}")


def test_the_checklist_fills_in_what_is_known(campus: Survey) -> None:
    items = {item.code: item for item in make_checklist(campus, document(campus), PLAIN)}
    assert set(items) == set(ItemCode) - {ItemCode.BLOCKS}
    assert items[ItemCode.STOPPING].open and items[ItemCode.RESPONSE].open and not items[ItemCode.PRIVACY].open
    assert campus.digest in items[ItemCode.DEFINITION].text
    assert "cheated 1.0987" in items[ItemCode.PRIVACY].text and "help+fair" in items[ItemCode.PRIVACY].text
    known = SurveyStatus(Options(), False, True, True, "The rule.")
    known_items = {item.code: item for item in make_checklist(campus, document(campus), known)}
    assert known_items[ItemCode.STOPPING].text == "The rule." and not known_items[ItemCode.STOPPING].open
    assert known_items[ItemCode.SAMPLING].text != items[ItemCode.SAMPLING].text


def test_an_epsilon_is_never_told_smaller_than_it_is() -> None:
    assert numbers.format_epsilon(Decimal("1.09861228")) == "1.0987"
    assert numbers.format_epsilon(Decimal("2")) == "2"
    assert numbers.format_epsilon(Decimal("0.50001")) == "0.5001"


# docs/methods.md §1: design effect 5.7 at ln 3 and π = .2, 16.8 at π = .05.
@pytest.mark.parametrize(("share", "effect"), [(0.2, 5.7), (0.05, 16.8)])
def test_the_design_effect_of_a_coin(share: float, effect: float) -> None:
    made = survey(define([yes_no()], [field(COIN, "cheated")]))
    assert design_effect(made.fields[0], made.questions[0], "yes", share) == pytest.approx(effect, abs=0.05)


def test_the_design_effect_of_a_joint_question_is_seen_in_simulation() -> None:
    """The variance of 4000 estimates is known to 1/√2000; six of those are a false-alarm rate of about 2e-9."""
    made = survey(define([choice(), scale()], [field(subset(9, 2), "help", "fair")]))
    one, question = made.fields[0], made.questions[0]
    mechanism = one.mechanism
    assert isinstance(mechanism, Subset)
    rng, count, runs = np.random.default_rng(), 200, 4000
    said = draw_people(made, {"help": {"option 0": 0.3, "option 1": 0.3, "option 2": 0.4}}, count * runs, rng)
    rows = np.concatenate([np.unpackbits(part, axis=1, count=9) for part in reports(made, said, rng)])
    sums = rows.reshape(runs, count, 9).sum(axis=1)[:, :3].sum(axis=1)
    estimates = (sums / count - 3 * float(mechanism.q)) / float(mechanism.p - mechanism.q)
    effect = design_effect(one, question, "option 0", 0.3)
    assert effect is not None
    seen = float(np.var(estimates)) * count / (0.3 * 0.7)
    assert seen == pytest.approx(effect, rel=6 / math.sqrt(runs / 2))
    alone = survey(define([choice()], [field(subset(3, 1), "help")]))
    other = design_effect(alone.fields[0], alone.questions[0], "option 0", 0.3)
    assert other is not None and seen != pytest.approx(other, rel=6 / math.sqrt(runs / 2))


def test_the_design_effect_counts_the_cells_that_an_answer_has() -> None:
    """Of four possible cells no has one and yes three: (π + gτ)(1 − π + (1−g)τ)/(π(1−π))."""
    after_yes = {"question": "cheated", "is": ["yes"]}
    made = survey(define([yes_no(), choice(options=2, show_if=after_yes)], [field(subset(4, 1), "cheated", "help")]))
    tau = 4 / (9 - 1)  # kept with ¾, each other with 1/12: e^ε = 9
    for label, g in (("no", 0.25), ("yes", 0.75)):
        effect = (0.3 + g * tau) * (0.7 + (1 - g) * tau) / 0.21
        assert design_effect(made.fields[0], made.questions[0], label, 0.3) == pytest.approx(effect)


def test_what_has_no_share_has_no_design_effect() -> None:
    made = survey(define([number()], [field(subset(2, 1), "hours")]))
    assert design_effect(made.fields[0], made.questions[0], "0", 0.5) is None
    made = survey(define([yes_no()], [field(COIN, "cheated")]))
    assert design_effect(made.fields[0], made.questions[0], "yes", 0.0) is None
    assert effective_sample_size(made.fields[0], made.questions[0], []) is None


# docs/methods.md §9, at ε = 1, for a fraction b: RR 1.58 b, GRR k=5 3.33 b, GRR k=100 58.6 b.
def test_the_largest_shift_by_invented_reports() -> None:
    e = math.e

    def shift(mechanism: dict[str, Any], question: dict[str, Any], **more: Any) -> float:
        made = survey(define([question], [field(mechanism, question["id"])], **more))
        found = largest_shift(made, made.fields[0], made.questions[0], 0.01)
        assert found is not None
        return found

    flip = {"kind": "flip", "one": str(int(2**64 * e / (1 + e))), "zero": str(int(2**64 / (1 + e)) + 1)}
    assert shift(flip, yes_no()) == pytest.approx(0.0158, abs=5e-5)
    assert shift(subset(5, 1, int(2**64 * e / (e + 4))), choice(options=5)) == pytest.approx(0.0333, abs=5e-5)
    assert shift(subset(100, 1, int(2**64 * e / (e + 99))), choice(options=100)) == pytest.approx(0.586, abs=5e-4)
    assert shift(COIN, yes_no()) == pytest.approx(0.015)
    one_of_three = shift(drawn(3, 1), multiple())
    assert one_of_three == pytest.approx(0.045)  # the inventor of a report chooses what it is asked
    assert shift(drawn(3, 2), multiple()) == pytest.approx(0.01 * 3 / 2 * (5 / 6) / (2 / 3))
    assert shift(subset(2, 1), number(max=60)) == pytest.approx(0.01 * 60 * 1.5)
    assert shift(COIN, number(max=60)) == pytest.approx(0.01 * 60 * 1.5)


def test_invented_reports_claim_the_field_that_is_asked_most_seldom() -> None:
    """b(1 + (1−g)τ)/α, with g of the answer that has the fewest cells."""
    after_yes = {"question": "cheated", "is": ["yes"]}
    questions = [yes_no(), choice(options=2, show_if=after_yes), yes_no("sure")]
    fields = [field(subset(4, 1), "cheated", "help"), field(COIN, "sure", chance=9)]
    made = survey(define(questions, fields, ask=1))
    tau = 4 / 8
    told = largest_shift(made, made.fields[0], made.questions[0], 0.01)
    assert told == pytest.approx(0.01 * (1 + 0.75 * tau) * 10)
    assert largest_shift(made, made.fields[1], made.questions[2], 0.01) == pytest.approx(0.01 * 1.5 * 10 / 9)
    assert largest_shift(made, made.fields[0], made.questions[0], 0.2) == pytest.approx(1 + 0.75 * tau)  # all of them


def test_no_invented_reports_shift_an_estimate_further_than_told() -> None:
    """All honest reports say no and 2% are invented as yes: the shift is the one told; and the other way round."""
    made = survey(define([choice(), scale()], [field(subset(9, 2), "help", "fair")]))
    one, question = made.fields[0], made.questions[0]
    mechanism = one.mechanism
    assert isinstance(mechanism, Subset)
    p, q = float(mechanism.p), float(mechanism.q)
    told = largest_shift(made, one, question, 0.02)
    invented = 0.02 * (2 - 3 * q) / (p - q)  # both symbols of a made-up report lie among the three of one answer
    assert told is not None and told == pytest.approx(max(invented, 0.02 * (p + 2 * q) / (p - q)))


def test_a_mean_among_those_who_answered_has_no_bound() -> None:
    made = survey(define([number(optional=True)], [field(subset(3, 1), "hours")]))
    assert largest_shift(made, made.fields[0], made.questions[0]) is None


def test_an_invented_report_of_a_noisy_number_counts_for_all_beyond_its_end() -> None:
    """Levels from 0 to 6 with r = ½: an end stands for one level more."""
    made = survey(define([number(max=12, levels=7)], [field(geometric(7, 2**63), "hours")]))
    assert largest_shift(made, made.fields[0], made.questions[0], 0.01) == pytest.approx(0.01 * 2 * (6 + 1))


def test_untrue_answers_divide_the_estimate_and_its_interval(campus: Survey) -> None:
    shown = document(campus)
    (found,) = correct_denied_answers(campus, shown)
    line = shown.questions[0].estimates[1]
    assert line.option == "yes"
    for lie, row in zip((0.1, 0.3), found.corrected_estimates, strict=True):
        assert row == pytest.approx([min(end / (1 - lie), 1) for end in (line.estimate, line.low, line.high)])


def test_mechanisms_are_those_the_tests_think_of(campus: Survey) -> None:
    kinds = {type(one.mechanism) for one in campus.fields}
    assert {Flip, Subset, Drawn, Geometric} <= kinds


def test_an_option_about_which_no_device_was_asked_has_no_effective_sample_size() -> None:
    made = survey(define([multiple()], [field(drawn(3, 1), "used")]))
    part = results(made, Tally(20, np.array([0, 0, 10, 0, 10, 0]))).questions[0]
    assert [line.n for line in part.estimates] == [0, 10, 10]
    found = effective_sample_size(made.fields[0], made.questions[0], part.estimates)
    assert found is None or found[1] > 0
    assert effective_sample_size(made.fields[0], made.questions[0], part.estimates[:1]) is None
