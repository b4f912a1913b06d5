"""What a reader may cross or explain: menus offer what some device answered together, and words say what is missing."""

from collections.abc import Sequence
from typing import NamedTuple

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.option_pairs import has_pairs
from survey_app.kinds import kind_of
from survey_app.results.regression_document import PAGE, outcomes

MOST_NAMED, MOST_EXPLAINED = 6, 2


class CrosstabMenu(NamedTuple):
    """Names, each with its text, of which any two can be crossed."""

    heading: str
    sides: list[tuple[str, str]]


class RegressionMenu(NamedTuple):
    """Questions with the answers whose odds can be explained; and why others are missing."""

    outcomes: list[tuple[Question, list[str]]]
    missing: list[str]

    @property
    def predictors(self) -> list[Question]:
        """The questions that may explain it."""
        return [question for question, _ in self.outcomes]


def crosstab_menus(survey: Survey) -> list[CrosstabMenu]:
    """Return questions of one block, or of all where everybody answers everything; then options of one question."""
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


def missing_in_crosstabs(survey: Survey, menus: Sequence[CrosstabMenu]) -> list[str]:
    """Return sentences why the other questions are in no menu."""
    sentences = _rounded_sentences(survey, "no rows or columns")
    offered = {name for menu in menus for name, _ in menu.sides}
    alone = [question.text for question in survey.questions if _has_shares(question) and question.id not in offered]
    if survey.ask and alone:
        what = "was alone in its block" if len(alone) == 1 else "were each alone in their block"
        sentences.append(
            f"{_quoted(alone)} {what}, so no device answered another question with it. To cross two questions next"
            " time, name both in one joint group of the author's file."
        )
    return sentences


def regression_menu(survey: Survey) -> RegressionMenu:
    """Return what a regression on a page may be made of."""
    if survey.ask:
        why = "Each device answered one block of this survey only: no report tells how two go together."
        return RegressionMenu([], [why])
    found = [(question, labels) for question, labels in outcomes(survey) if question.size <= PAGE.cells]
    offered = {question.id for question, _ in found}
    missing = _rounded_sentences(survey, "no odds")
    others = [question.text for question in survey.questions if question.id not in offered and _has_shares(question)]
    if others:
        what = "was" if len(others) == 1 else "were each"
        missing.append(
            f"{_quoted(others)} {what} randomized together with another question, or can have several or too many"
            " answers: a cross-tab may do."
        )
    return RegressionMenu(found, missing)


def _has_shares(question: Question) -> bool:
    return kind_of(question).has_shares(question)


def _rounded_sentences(survey: Survey, lacking: str) -> list[str]:
    """Return why questions that have only a mean are in no menu: of the first ones, how they are asked."""
    found = [question for question in survey.questions if not _has_shares(question)]
    sentences = [
        f"“{question.text}” is asked in {question.no_answer} levels ({_few(kind_of(question).answers(question))}):"
        " devices round to them by chance, so that the mean stays right, and only that is estimated. A mean has"
        f" {lacking}; a number in bins has them."
        for question in found[:MOST_EXPLAINED]
    ]
    if rest := found[MOST_EXPLAINED:]:
        sentences.append(f"The same is true of {_quoted([question.text for question in rest])}.")
    return sentences


def _few(labels: Sequence[str]) -> str:
    """Return few labels one by one, of many the ends."""
    return ", ".join(labels if len(labels) <= MOST_NAMED else [labels[0], labels[1], "…", labels[-1]])


def _quoted(texts: Sequence[str]) -> str:
    """Return texts in quotes, few of them."""
    quoted = [f"“{text}”" for text in texts]
    if len(quoted) > MOST_NAMED + 1:
        quoted = [*quoted[:MOST_NAMED], f"{len(quoted) - MOST_NAMED} more questions"]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
