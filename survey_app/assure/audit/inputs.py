"""The answers that an audit gives to a client: for every field the two furthest apart, then all others.

Many fields can be tried at once, since the bits of a field depend on its own answers only.
A conditional question needs a fixed answer to the question it depends on, so the two are tried in different rounds.
A client could be faithful to the two answers and to no other.
So an audit also gives every symbol of a field, the numbers between two levels, and no answer.
These are combined at random in every audit; if there are very many, a sample is drawn.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import Any

from candor_client.answer import encode, index_of, is_visible, unanswered
from candor_client.definition import Field, Survey
from candor_client.question import Question, labels_of
from survey_app.assure.answer_mixtures import Mixture, mixture_of
from survey_app.channels import channel_of
from survey_app.kinds import kind_of

MAX_ANSWERS_PER_FIELD = 24  # answers to one field
MIN_EXTRA_INPUTS = 8  # further sets of answers: filled at random if nothing is left to try

Answers = dict[str, Any]

_chance = secrets.SystemRandom()


@dataclass(frozen=True)
class Round:
    """Two sets of answers, and the fields that they try."""

    answers: tuple[Answers, Answers]
    fields: tuple[int, ...]


@dataclass(frozen=True)
class Inputs:
    """All sets of answers that an audit gives: two for each round, followed by the extra sets."""

    survey: Survey
    rounds: tuple[Round, ...]
    extra: tuple[Answers, ...]

    @cached_property
    def answers(self) -> list[Answers]:
        """All sets of answers, by number."""
        return [answers for pair in self.rounds for answers in pair.answers] + list(self.extra)

    @cached_property
    def mixtures(self) -> list[tuple[Mixture, ...]]:
        """The mixtures of symbols that the answers become, for every set and field."""
        return [tuple(mixtures(self.survey, answers)) for answers in self.answers]

    @cached_property
    def pairs(self) -> dict[int, tuple[int, int]]:
        """The numbers of the two sets that are furthest apart, for every field."""
        return {index: (2 * number, 2 * number + 1) for number, pair in enumerate(self.rounds) for index in pair.fields}

    def symbols(self, index: int) -> tuple[int, int]:
        """Return the two symbols of a field that are furthest apart.

        Numbers are at the ends of their range here, so they are not rounded at random.
        """
        first, second = (self.mixtures[number][index][0][0] for number in self.pairs[index])
        return first, second


def choose_inputs(survey: Survey) -> Inputs:
    """Return all sets of answers to give to a client."""
    pairs = plan_rounds(survey)
    return Inputs(
        survey,
        tuple(pairs),
        tuple(choose_extra_inputs(survey, [answers for pair in pairs for answers in pair.answers])),
    )


def plan_rounds(survey: Survey) -> list[Round]:
    """Return few rounds that together try every field once."""
    remaining = list(range(len(survey.fields)))
    result: list[Round] = []
    while remaining:
        active: list[int] = []
        fixed: Answers = {}
        for index in remaining:
            conditions = _required_answers(survey, index)
            own_questions = {
                question.id for field_index in (*active, index) for question in survey.fields[field_index].questions
            }
            combined = fixed | conditions
            if not own_questions & combined.keys() and all(
                fixed.get(name, answer) == answer for name, answer in conditions.items()
            ):
                active.append(index)
                fixed = combined
        result.append(_build_round(survey, active, fixed))
        remaining = [index for index in remaining if index not in active]
    return result


def _required_answers(survey: Survey, index: int) -> Answers:
    """Return the answers to other questions that are required for the questions of this field to be asked."""
    own = {question.id for question in survey.fields[index].questions}
    conditions: Answers = {}
    pending = [question for question in survey.fields[index].questions if question.show_if]
    while pending:
        condition = pending.pop().show_if
        if condition and condition.question not in own and condition.question not in conditions:
            parent = next(question for question in survey.questions if question.id == condition.question)
            kind = kind_of(parent)
            symbol = kind.symbol_for_answer(parent, parent.places[condition.labels[0]])
            conditions[parent.id] = kind.example(parent, symbol)
            pending.append(parent)
    return conditions


def _build_round(survey: Survey, active: list[int], fixed: Answers) -> Round:
    active_questions = {question.id for index in active for question in survey.fields[index].questions}

    def choose_ends(*, last: bool) -> Answers:
        choices = {
            question.id: kind_of(question).extreme_examples(question)[last and question.id in active_questions]
            for question in survey.questions
            if question.id in active_questions or not question.optional
        }
        return _visible_answers(survey, choices | fixed)

    return Round((choose_ends(last=False), choose_ends(last=True)), tuple(active))


def _visible_answers(survey: Survey, choices: Answers) -> Answers:
    """Return the given answers to the questions that are shown, and None for all others."""
    answers: Answers = {}
    labels_by_question: dict[str, set[str]] = {}
    for question in survey.questions:
        answer = choices.get(question.id) if is_visible(question, labels_by_question) else None
        answers[question.id] = answer
        labels_by_question[question.id] = labels_of(
            question, unanswered(question) if answer is None else index_of(question, answer)
        )
    return answers


def choose_extra_inputs(survey: Survey, tried_sets: list[Answers]) -> list[Answers]:
    """Return few further sets that together give every field each of its answers, or MAX_ANSWERS_PER_FIELD of them."""
    possible = [_field_answers(field) for field in survey.fields]
    remaining = [
        [candidate for candidate in candidates if not any(_is_part_of(candidate, answers) for answers in tried_sets)]
        for candidates in possible
    ]
    last_first = sorted(range(len(remaining)), key=lambda i: -survey.questions.index(survey.fields[i].questions[-1]))
    result: list[Answers] = []
    while any(remaining) or len(result) < MIN_EXTRA_INPUTS:
        choices: Answers = {}
        for index in last_first:  # a dependent question chooses before the question it depends on
            candidates = [candidate for candidate in remaining[index] if _is_compatible(candidate, choices)] or [
                candidate for candidate in possible[index] if _is_compatible(candidate, choices)
            ]
            if not candidates:
                continue
            choice = candidates[0] if candidates[0] in remaining[index] else _chance.choice(candidates)
            conditions = _required_answers(survey, index)
            if choice in remaining[index]:
                remaining[index].remove(choice)
                if _is_compatible(conditions, choices):
                    choices |= conditions
            choices = choice | choices
        answers = _visible_answers(survey, choices)
        result.append(answers)
        remaining = [
            [candidate for candidate in candidates if not _is_part_of(candidate, answers)] for candidates in remaining
        ]
    return result


def _is_part_of(part: Answers, answers: Answers) -> bool:
    return all(answers[name] == answer for name, answer in part.items())


def _is_compatible(part: Answers, choices: Answers) -> bool:
    return all(choices.get(name, answer) == answer for name, answer in part.items())


def _field_answers(field: Field) -> list[Answers]:
    """Return answers to the questions of a field that give each of its symbols, and numbers between two levels."""
    if field.joint:
        cells = (
            field.cells
            if len(field.cells) <= MAX_ANSWERS_PER_FIELD
            else _chance.sample(field.cells, MAX_ANSWERS_PER_FIELD)
        )
        return [_cell_answers(field, cell) for cell in cells] + list(_answers_between_levels(field))
    (question,) = field.questions
    candidates = list(_question_answers(question, one_by_one=channel_of(field.mechanism).reads_answers))
    return [
        {question.id: answer}
        for answer in (
            candidates if len(candidates) <= MAX_ANSWERS_PER_FIELD else _sample_answers(question, candidates)
        )
    ]


def _cell_answers(field: Field, cell: tuple[int, ...]) -> Answers:
    return {
        question.id: _example_answer(question, digit) for question, digit in zip(field.questions, cell, strict=True)
    }


def _answers_between_levels(field: Field) -> Iterator[Answers]:
    """Yield answers that are rounded at random, in randomly chosen cells of a joint field."""
    for place, question in enumerate(field.questions):
        kind = kind_of(question)
        cells = [cell for cell in field.cells if kind.is_rounded(question) and cell[place] < question.no_answer]
        for symbol in range(min(question.no_answer - 1, MAX_ANSWERS_PER_FIELD)) if cells else ():
            between_levels = kind.midpoint_example(question, symbol)
            if between_levels is not None:
                yield _cell_answers(field, _chance.choice(cells)) | {question.id: between_levels}


def _sample_answers(question: Question, candidates: list[Any]) -> list[Any]:
    """Return a sample of many answers; it includes None for an optional question."""
    no_answer = [None] if question.optional else []
    return no_answer + _chance.sample(
        [answer for answer in candidates if answer is not None], MAX_ANSWERS_PER_FIELD - len(no_answer)
    )


def _question_answers(question: Question, *, one_by_one: bool) -> Iterator[Any]:
    """Yield an answer for every symbol, and answers that are rounded at random.

    If there are many sets of options, or a device randomizes options one by one (`one_by_one`), yield fewer sets.
    These are the empty set, each option alone, and two random sets.
    """
    kind = kind_of(question)
    if kind.exclusive or (question.no_answer <= MAX_ANSWERS_PER_FIELD and not one_by_one):
        examples = (
            (_example_answer(question, symbol), kind.midpoint_example(question, symbol))
            for symbol in range(question.no_answer)
        )
        yield from (answer for answer, _ in groupby(chain.from_iterable(examples)) if answer is not None)
    else:
        members = range(len(kind.answers(question)))
        yield from (
            _example_answer(question, symbol)
            for symbol in (0, *(kind.symbol_for_answer(question, answer) for answer in members))
        )
        yield from (_example_answer(question, _chance.randrange(question.no_answer)) for _ in range(2))
    if question.optional:
        yield None


def _example_answer(question: Question, symbol: int) -> Any:
    """Return an answer that gives this symbol; a random one if several numbers are in a bin."""
    return None if symbol >= question.no_answer else kind_of(question).random_example(question, symbol, _chance)


def mixtures(survey: Survey, answers: Answers) -> Iterator[Mixture]:
    """Yield, for every field, the mixture of symbols that these answers become."""
    indices = encode(survey, answers)
    for field in survey.fields:
        yield mixture_of(field, [indices[question.id] for question in field.questions])
