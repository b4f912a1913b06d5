"""The menus for cross-tabs and regressions: questions that one device answered together, and why others are missing."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.option_pairs import has_pairs
from survey_app.kinds import kind_of
from survey_app.results.regression_document import PAGE_LIMITS, list_outcomes

MOST_LABELS, MOST_EXPLAINED = 6, 2


class CrosstabMenu(NamedTuple):
    """Questions or options, as pairs of name and text. Any two of them can be crossed."""

    heading: str
    sides: list[tuple[str, str]]


class MissingReason(StrEnum):
    """The reasons why a menu lacks questions."""

    ROUNDED = "rounded"  # only the mean is estimated
    ALONE = "alone"  # no device answered another question with it
    BLOCKS = "blocks"  # each device answered one block
    SHARED_FIELD = "shared_field"  # randomized with another question, or too many answers


class MissingQuestions(NamedTuple):
    """Questions that are in no menu, given by id, with the reason as a code and in words."""

    reason: MissingReason
    questions: tuple[str, ...]
    text: str


class RegressionMenu(NamedTuple):
    """Questions with the answers whose odds can be explained, and the questions that are missing."""

    outcomes: list[tuple[Question, list[str]]]
    missing: list[MissingQuestions]

    @property
    def predictors(self) -> list[Question]:
        """The questions that may explain the outcome."""
        return [question for question, _ in self.outcomes]


def crosstab_menus(survey: Survey) -> list[CrosstabMenu]:
    """Return menus of questions, then menus of the options of one question.

    There is one menu of questions for each block, or one for the whole survey if everybody answers everything.
    """
    groups = [field.questions for field in survey.fields] if survey.ask else [survey.questions]
    menus: list[CrosstabMenu] = []
    for group in groups:
        sides = [(question.id, question.text) for question in group if _has_shares(question)]
        if len(sides) > 1:
            block = f" of the block {' + '.join(question.id for question in group)}" if survey.ask else ""
            menus.append(CrosstabMenu(f"Two questions{block}", sides))
    for question in survey.questions:
        if has_pairs(survey, question):
            sides = [(f"{question.id}:{label}", label) for label in question.labels]
            menus.append(CrosstabMenu(f"Two options of “{question.text}”", sides))
    return menus


def explain_missing_crosstabs(survey: Survey, menus: Sequence[CrosstabMenu]) -> list[MissingQuestions]:
    """Return the questions that are in no cross-tab menu, with the reasons."""
    missing = _rounded_questions(survey, "no rows or columns")
    offered = {name for menu in menus for name, _ in menu.sides}
    single = [question for question in survey.questions if _has_shares(question) and question.id not in offered]
    if survey.ask and single:
        verb = "was the only question of its block" if len(single) == 1 else "were each the only question of a block"
        text = (
            f"{_join_quoted(single)} {verb}, so no device answered another question with it. To cross two questions"
            " next time, name both in one joint field of the author's file."
        )
        missing.append(MissingQuestions(MissingReason.ALONE, _list_ids(single), text))
    return missing


def regression_menu(survey: Survey) -> RegressionMenu:
    """Return the questions and answers of which the page can make a regression."""
    if survey.ask:
        text = "Each device answered only one block of this survey, so no report shows how two blocks are related."
        return RegressionMenu([], [MissingQuestions(MissingReason.BLOCKS, _list_ids(survey.questions), text)])
    pairs = [(question, labels) for question, labels in list_outcomes(survey) if question.size <= PAGE_LIMITS.cells]
    offered = {question.id for question, _ in pairs}
    missing = _rounded_questions(survey, "no odds")
    remaining = [question for question in survey.questions if question.id not in offered and _has_shares(question)]
    if remaining:
        verb = "was" if len(remaining) == 1 else "were each"
        text = (
            f"{_join_quoted(remaining)} {verb} randomized together with another question, or can have several or too"
            " many answers. A cross-tab may be possible instead."
        )
        missing.append(MissingQuestions(MissingReason.SHARED_FIELD, _list_ids(remaining), text))
    return RegressionMenu(pairs, missing)


def _list_ids(questions: Sequence[Question]) -> tuple[str, ...]:
    return tuple(question.id for question in questions)


def _has_shares(question: Question) -> bool:
    return kind_of(question).has_shares(question)


def _rounded_questions(survey: Survey, lacking: str) -> list[MissingQuestions]:
    """Return the questions with only a mean, which are in no menu. Only the first ones are explained."""
    questions = [question for question in survey.questions if not _has_shares(question)]
    missing = [
        MissingQuestions(
            MissingReason.ROUNDED,
            (question.id,),
            f"Devices round answers to “{question.text}” at random to {question.no_answer} levels "
            f"({_join_labels(kind_of(question).answers(question))}), so that the mean stays right on average."
            f" Only the mean is estimated. A mean has {lacking}; a number in bins has them.",
        )
        for question in questions[:MOST_EXPLAINED]
    ]
    if rest := questions[MOST_EXPLAINED:]:
        text = f"The same is true of {_join_quoted(rest)}."
        missing.append(MissingQuestions(MissingReason.ROUNDED, _list_ids(rest), text))
    return missing


def _join_labels(labels: Sequence[str]) -> str:
    """Join labels with commas. If there are many, only the first two and the last two are given."""
    return ", ".join(labels if len(labels) <= MOST_LABELS else [labels[0], labels[1], "…", labels[-1]])


def _join_quoted(questions: Sequence[Question]) -> str:
    """Join the quoted texts of questions into a list. If there are many, the last are only counted."""
    quotes = [f"“{question.text}”" for question in questions]
    if len(quotes) > MOST_LABELS + 1:
        quotes = [*quotes[:MOST_LABELS], f"{len(quotes) - MOST_LABELS} more questions"]
    return quotes[0] if len(quotes) == 1 else f"{', '.join(quotes[:-1])} and {quotes[-1]}"
