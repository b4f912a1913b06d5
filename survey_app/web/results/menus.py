"""The menus for cross-tabs and regressions: questions that one device answered together, and why others are missing."""

from collections.abc import Sequence
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


class RegressionMenu(NamedTuple):
    """Questions with the answers whose odds can be explained, and sentences why others are missing."""

    outcomes: list[tuple[Question, list[str]]]
    missing: list[str]

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


def explain_missing_crosstabs(survey: Survey, menus: Sequence[CrosstabMenu]) -> list[str]:
    """Return sentences that say why some questions are in no cross-tab menu."""
    sentences = _rounded_sentences(survey, "no rows or columns")
    offered = {name for menu in menus for name, _ in menu.sides}
    single = [question.text for question in survey.questions if _has_shares(question) and question.id not in offered]
    if survey.ask and single:
        verb = "was alone in its block" if len(single) == 1 else "were each alone in their block"
        sentences.append(
            f"{_join_quoted(single)} {verb}, so no device answered another question with it. To cross two "
            "questions next"
            " time, name both in one joint group of the author's file."
        )
    return sentences


def regression_menu(survey: Survey) -> RegressionMenu:
    """Return the questions and answers of which the page can make a regression."""
    if survey.ask:
        reason = "Each device answered one block of this survey only: no report tells how two go together."
        return RegressionMenu([], [reason])
    pairs = [(question, labels) for question, labels in list_outcomes(survey) if question.size <= PAGE_LIMITS.cells]
    offered = {question.id for question, _ in pairs}
    missing = _rounded_sentences(survey, "no odds")
    remaining = [question.text for question in survey.questions if question.id not in offered and _has_shares(question)]
    if remaining:
        verb = "was" if len(remaining) == 1 else "were each"
        missing.append(
            f"{_join_quoted(remaining)} {verb} randomized together with another question, or can have several "
            "or too many"
            " answers: a cross-tab may do."
        )
    return RegressionMenu(pairs, missing)


def _has_shares(question: Question) -> bool:
    return kind_of(question).has_shares(question)


def _rounded_sentences(survey: Survey, lacking: str) -> list[str]:
    """Return sentences that say why questions with only a mean are in no menu. Only the first ones are explained."""
    questions = [question for question in survey.questions if not _has_shares(question)]
    sentences = [
        f"“{question.text}” is asked in {question.no_answer} levels "
        f"({_join_labels(kind_of(question).answers(question))}):"
        " devices round to them by chance, so that the mean stays right, and only that is estimated. A mean has"
        f" {lacking}; a number in bins has them."
        for question in questions[:MOST_EXPLAINED]
    ]
    if rest := questions[MOST_EXPLAINED:]:
        sentences.append(f"The same is true of {_join_quoted([question.text for question in rest])}.")
    return sentences


def _join_labels(labels: Sequence[str]) -> str:
    """Join labels with commas. If there are many, only the first two and the last two are given."""
    return ", ".join(labels if len(labels) <= MOST_LABELS else [labels[0], labels[1], "…", labels[-1]])


def _join_quoted(texts: Sequence[str]) -> str:
    """Join quoted texts into a list. If there are many, the last are only counted."""
    quotes = [f"“{text}”" for text in texts]
    if len(quotes) > MOST_LABELS + 1:
        quotes = [*quotes[:MOST_LABELS], f"{len(quotes) - MOST_LABELS} more questions"]
    return quotes[0] if len(quotes) == 1 else f"{', '.join(quotes[:-1])} and {quotes[-1]}"
