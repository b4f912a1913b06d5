"""What kinds say of their questions, on random definitions: answers, parts, examples, and what is assumed of people."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import SystemRandom

import numpy as np
import pytest

from candor_client.answer import index_of
from candor_client.question import Question
from candor_client.types import TypeName, type_of
from survey_app.authoring.authored_question import COMPUTED, READERS
from survey_app.kinds import KINDS, kind_by_name, kind_of
from survey_app.kinds.planning_assumptions import Guess, even_mean
from survey_app.plan.question_plan import make_question
from tests import random_definitions
from tests.definitions import survey


def questions(surveys: int = 60) -> Iterator[Question]:
    for _ in range(surveys):
        yield from survey(random_definitions.definition(SystemRandom())).questions


def test_every_type_of_the_client_has_its_kind() -> None:
    assert [*KINDS] == [*TypeName]
    assert all(kind_by_name(name).name == name for name in TypeName)


def test_answers_are_counted_as_they_are_named() -> None:
    for question in questions():
        kind = kind_of(question)
        assert (
            kind.answer_count(question)
            == len(kind.all_answers(question))
            == len(kind.answers(question)) + question.optional
        )
        assert {*kind.main_answers(question)} <= {*range(len(kind.answers(question)))}


def test_the_parts_of_a_field_are_those_of_the_symbols_that_hold_an_answer() -> None:
    for question in questions():
        kind = kind_of(question)
        for cells in (None, np.random.default_rng().integers(1, 9, question.size).tolist()):
            each = cells or [1] * question.size
            held = [0] * kind.answer_count(question)
            for symbol, count in enumerate(each):
                for answer in kind.answers_in(question, symbol):
                    held[answer] += count
            whole = [count / sum(each) for count in held[: len(kind.answers(question))]]
            assert kind.symbol_fractions(question, cells) == pytest.approx(whole)


def test_what_is_made_up_can_be_answered() -> None:
    for question in questions():
        kind, number = kind_of(question), SystemRandom().getrandbits(64)
        assert (
            0 <= index_of(question, kind.paper_example(question, number)) < type_of(question.type).unanswered(question)
        )
        for symbol in range(question.no_answer):
            found = kind.symbol_chances(question, index_of(question, kind.example(question, symbol)))
            assert symbol in [one for one, _ in found]


def test_fewer_answers_are_the_first_of_them() -> None:
    for question in questions():
        kind = kind_of(question)
        if kind.has_shares(question):
            shorter = kind.truncate_answers(question, 2)
            assert kind.answer_count(shorter) == 2 + question.optional
            assert shorter.bins or [*kind.answers(shorter)] == [*kind.answers(question)][:2]


def test_only_answers_that_are_rounded_have_levels_to_choose() -> None:
    for question in questions():
        kind = kind_of(question)
        if kind.is_rounded(question):
            finest = kind.set_levels(question, kind.max_levels(question))
            assert kind.compiled_keys(finest) == {"levels": question.steps + 1} == {"levels": finest.no_answer}
            assert all(len(kind.symbol_chances(finest, index)) == 1 for index in range(min(question.steps, 50)))
        else:
            assert kind.compiled_keys(question) == {}


@pytest.mark.parametrize("name", [name for name in TypeName if name != TypeName.NUMBER])
def test_answers_that_are_not_rounded_have_no_levels(name: TypeName) -> None:
    question = make_question(name, options=3)
    for ask in (lambda: kind_of(question).max_levels(question), lambda: kind_of(question).set_levels(question, 2)):
        with pytest.raises(ValueError, match="not rounded"):
            ask()


def test_one_bit_says_everything_of_two_symbols_of_which_one_is_asked_for() -> None:
    found = [question for question in questions() if kind_of(question).is_one_bit(question)]
    assert all(kind_of(one).main_answers(one) == (1,) and one.size == 2 for one in found)
    assert kind_by_name(TypeName.YES_NO).is_one_bit(make_question("yes_no"))
    assert not kind_by_name(TypeName.YES_NO).is_one_bit(make_question("yes_no", optional=True))
    assert not kind_by_name(TypeName.CHOICE).is_one_bit(make_question("choice", options=2))


def test_many_answers_are_listed_in_part() -> None:
    few, many = (make_question("choice", options=count) for count in (3, 10))
    assert kind_of(few).describe_answers(few, 8) == "1, 2, 3"
    assert kind_of(many).describe_answers(many, 8) == "1, 2, 3, 4, 5, 6, 7, 8 and 2 more"
    plain, number = make_question("yes_no"), make_question("number", high=Decimal(40))
    assert kind_of(plain).describe_answers(plain, 8) == ""
    assert kind_of(number).describe_answers(number, 8) == "0 to 40, in steps of 1"


def test_places_are_the_values_on_a_range_of_length_1() -> None:
    for question in questions():
        for guess in (Guess(), Guess(sd=0.7)):
            mean = kind_of(question).planned_mean(question, guess)
            if mean is not None:
                low, high = mean.values.min(), mean.values.max()
                assert mean.places == pytest.approx((mean.values - low) / (high - low))
                assert mean.shares.sum() == pytest.approx(1)
                assert low <= mean.centre <= high


def test_scores_that_are_one_float_have_places_of_their_own() -> None:
    mean = even_mean([10**17 + Fraction(score) for score in range(3)])
    assert mean is not None
    assert mean.places.tolist() == [0, 0.5, 1]
    assert len({*mean.values.tolist()}) < 3
    assert even_mean([Fraction(5)] * 3) is None


def test_scores_of_which_all_are_equal_have_no_mean() -> None:
    scale = make_question("scale", options=3)
    flat = replace(scale, scores=(Decimal(1),) * 3)
    assert kind_of(flat).planned_mean(flat, Guess()) is None
    assert kind_of(scale).planned_mean(scale, Guess()) is not None


def test_every_key_of_a_type_is_read_from_an_authors_file() -> None:
    keys = {key for name in TypeName for key in (*type_of(name).required_keys, *type_of(name).optional_keys)}
    assert keys <= {*READERS, *COMPUTED, "shuffle"}
