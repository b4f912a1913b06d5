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

from candor_client.answer import encode, index_of, shown, unanswered
from candor_client.definition import Field, Survey
from candor_client.question import Question, labels_of
from survey_app.assure.answer_mixtures import Mixture, mixture_of
from survey_app.channels import channel_of
from survey_app.kinds import kind_of

MOST_TRIED = 24  # answers to one field
FEWEST = 8  # further sets of answers: filled at random if nothing is left to try

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
    others: tuple[Answers, ...]

    @cached_property
    def answers(self) -> list[Answers]:
        """All sets of answers, by number."""
        return [one for turn in self.rounds for one in turn.answers] + list(self.others)

    @cached_property
    def mixtures(self) -> list[tuple[Mixture, ...]]:
        """The mixtures of symbols that the answers become, for every set and field."""
        return [tuple(mixtures(self.survey, one)) for one in self.answers]

    @cached_property
    def pairs(self) -> dict[int, tuple[int, int]]:
        """The numbers of the two sets that are furthest apart, for every field."""
        return {index: (2 * turn, 2 * turn + 1) for turn, one in enumerate(self.rounds) for index in one.fields}

    def symbols(self, index: int) -> tuple[int, int]:
        """Return the two symbols of a field that are furthest apart.

        Numbers are at the ends of their range here, so they are not rounded at random.
        """
        first, second = (self.mixtures[given][index][0][0] for given in self.pairs[index])
        return first, second


def choose_inputs(survey: Survey) -> Inputs:
    """Return all sets of answers to give to a client."""
    turns = rounds(survey)
    return Inputs(survey, tuple(turns), tuple(others(survey, [one for turn in turns for one in turn.answers])))


def rounds(survey: Survey) -> list[Round]:
    """Return few rounds that together try every field once."""
    left = list(range(len(survey.fields)))
    found: list[Round] = []
    while left:
        active: list[int] = []
        fixed: Answers = {}
        for index in left:
            wanted = _filters(survey, index)
            free = {one.id for other in (*active, index) for one in survey.fields[other].questions}
            together = fixed | wanted
            if not free & together.keys() and all(fixed.get(name, answer) == answer for name, answer in wanted.items()):
                active.append(index)
                fixed = together
        found.append(_round(survey, active, fixed))
        left = [index for index in left if index not in active]
    return found


def _filters(survey: Survey, index: int) -> Answers:
    """Return the answers to other questions that are required for the questions of this field to be asked."""
    own = {question.id for question in survey.fields[index].questions}
    wanted: Answers = {}
    todo = [question for question in survey.fields[index].questions if question.show_if]
    while todo:
        condition = todo.pop().show_if
        if condition and condition.question not in own and condition.question not in wanted:
            parent = next(one for one in survey.questions if one.id == condition.question)
            kind = kind_of(parent)
            symbol = kind.symbol_with(parent, parent.places[condition.labels[0]])
            wanted[parent.id] = kind.example(parent, symbol)
            todo.append(parent)
    return wanted


def _round(survey: Survey, active: list[int], fixed: Answers) -> Round:
    moving = {question.id for index in active for question in survey.fields[index].questions}

    def end(*, last: bool) -> Answers:
        wanted = {
            question.id: kind_of(question).ends(question)[last and question.id in moving]
            for question in survey.questions
            if question.id in moving or not question.optional
        }
        return _asked(survey, wanted | fixed)

    return Round((end(last=False), end(last=True)), tuple(active))


def _asked(survey: Survey, wanted: Answers) -> Answers:
    """Return the given answers to the questions that are shown, and None for all others."""
    answers: Answers = {}
    picked: dict[str, set[str]] = {}
    for question in survey.questions:
        answer = wanted.get(question.id) if shown(question, picked) else None
        answers[question.id] = answer
        picked[question.id] = labels_of(
            question, unanswered(question) if answer is None else index_of(question, answer)
        )
    return answers


def others(survey: Survey, tried: list[Answers]) -> list[Answers]:
    """Return few further sets that together give every field each of its answers, at most MOST_TRIED."""
    possible = [_possible(field) for field in survey.fields]
    left = [[one for one in mine if not any(_within(one, given) for given in tried)] for mine in possible]
    last_first = sorted(range(len(left)), key=lambda i: -survey.questions.index(survey.fields[i].questions[-1]))
    found: list[Answers] = []
    while any(left) or len(found) < FEWEST:
        wanted: Answers = {}
        for index in last_first:  # a dependent question chooses before the question it depends on
            mine = [one for one in left[index] if _fits(one, wanted)] or [
                one for one in possible[index] if _fits(one, wanted)
            ]
            if not mine:
                continue
            chosen = mine[0] if mine[0] in left[index] else _chance.choice(mine)
            needs = _filters(survey, index)
            if chosen in left[index]:
                left[index].remove(chosen)
                if _fits(needs, wanted):
                    wanted |= needs
            wanted = chosen | wanted
        given = _asked(survey, wanted)
        found.append(given)
        left = [[one for one in mine if not _within(one, given)] for mine in left]
    return found


def _within(part: Answers, given: Answers) -> bool:
    return all(given[name] == answer for name, answer in part.items())


def _fits(part: Answers, wanted: Answers) -> bool:
    return all(wanted.get(name, answer) == answer for name, answer in part.items())


def _possible(field: Field) -> list[Answers]:
    """Return answers to the questions of a field that give each of its symbols, and numbers between two levels."""
    if field.joint:
        cells = field.cells if len(field.cells) <= MOST_TRIED else _chance.sample(field.cells, MOST_TRIED)
        return [_cell(field, cell) for cell in cells] + list(_between(field))
    (question,) = field.questions
    every = list(_every(question, one_by_one=channel_of(field.mechanism).reads_answers))
    return [{question.id: one} for one in (every if len(every) <= MOST_TRIED else _some(question, every))]


def _cell(field: Field, cell: tuple[int, ...]) -> Answers:
    return {question.id: _said(question, digit) for question, digit in zip(field.questions, cell, strict=True)}


def _between(field: Field) -> Iterator[Answers]:
    """Yield answers that are rounded at random, in randomly chosen cells of a joint field."""
    for place, question in enumerate(field.questions):
        kind = kind_of(question)
        cells = [cell for cell in field.cells if kind.is_rounded(question) and cell[place] < question.no_answer]
        for symbol in range(min(question.no_answer - 1, MOST_TRIED)) if cells else ():
            middle = kind.between(question, symbol)
            if middle is not None:
                yield _cell(field, _chance.choice(cells)) | {question.id: middle}


def _some(question: Question, every: list[Any]) -> list[Any]:
    """Return a sample of many answers; it includes None for an optional question."""
    silent = [None] if question.optional else []
    return silent + _chance.sample([one for one in every if one is not None], MOST_TRIED - len(silent))


def _every(question: Question, *, one_by_one: bool) -> Iterator[Any]:
    """Yield an answer for every symbol, and answers that are rounded at random.

    If there are many sets of options, or a device randomizes options one by one (`per_member`), yield fewer sets.
    These are the empty set, each option alone, and two random sets.
    """
    kind = kind_of(question)
    if kind.exclusive or (question.no_answer <= MOST_TRIED and not one_by_one):
        each = ((_said(question, symbol), kind.between(question, symbol)) for symbol in range(question.no_answer))
        yield from (one for one, _ in groupby(chain.from_iterable(each)) if one is not None)
    else:
        members = range(len(kind.answers(question)))
        yield from (_said(question, symbol) for symbol in (0, *(kind.symbol_with(question, one) for one in members)))
        yield from (_said(question, _chance.randrange(question.no_answer)) for _ in range(2))
    if question.optional:
        yield None


def _said(question: Question, symbol: int) -> Any:
    """Return an answer that gives this symbol; a random one if several numbers are in a bin."""
    return None if symbol >= question.no_answer else kind_of(question).any_example(question, symbol, _chance)


def mixtures(survey: Survey, answers: Answers) -> Iterator[Mixture]:
    """Yield, for every field, the mixture of symbols that these answers become."""
    indices = encode(survey, answers)
    for field in survey.fields:
        yield mixture_of(field, [indices[question.id] for question in field.questions])
