"""Which pairs a reader may cross: menus offer what some device answered together, and words say what is missing."""

from collections.abc import Sequence
from typing import NamedTuple

from client.definition import Survey
from client.question import Question
from survey_app.estimate.pairs import has_pairs, names_option, option_question
from survey_app.kinds import kind_of

MOST_NAMED, MOST_TOLD = 6, 2


class Offer(NamedTuple):
    """Names, each with its text, of which any two can be crossed."""

    heading: str
    sides: list[tuple[str, str]]


def offers(survey: Survey) -> list[Offer]:
    """Questions of one block, or of the whole survey where everybody answers everything; options of one question."""
    groups = [field.questions for field in survey.fields] if survey.ask else [survey.questions]
    found: list[Offer] = []
    for group in groups:
        sides = [(question.id, question.text) for question in group if has_shares(question)]
        if len(sides) > 1:
            block = f" of the block {' + '.join(one.id for one in group)}" if survey.ask else ""
            found.append(Offer(f"Two questions{block}", sides))
    for question in survey.questions:
        if has_pairs(survey, question):
            sides = [(f"{question.id}:{label}", label) for label in question.labels]
            found.append(Offer(f"Two options of “{question.text}”", sides))
    return found


def has_shares(question: Question) -> bool:
    """Whether the shares of its answers mean something."""
    return kind_of(question).has_shares(question)


def missing(survey: Survey) -> list[str]:
    """Why the other questions are in no menu."""
    sentences = numbers(survey, "no rows or columns")
    offered = {name for offer in offers(survey) for name, _ in offer.sides}
    alone = [question.text for question in survey.questions if has_shares(question) and question.id not in offered]
    if survey.ask and alone:
        what = "was alone in its block" if len(alone) == 1 else "were each alone in their block"
        sentences.append(
            f"{listed(alone)} {what}, so no device answered another question with it. To cross two questions next"
            " time, name both in one joint group of the author's file."
        )
    return sentences


def numbers(survey: Survey, lacking: str) -> list[str]:
    """Why numbers without bins are in no menu: of the first ones, how they are asked."""
    found = [question for question in survey.questions if not has_shares(question)]
    sentences = [
        f"“{question.text}” is asked in {question.no_answer} levels ({_levels(question)}): devices round to them by"
        f" chance, so that the mean stays right, and only that is estimated. A mean has {lacking}; a number in bins has"
        " them."
        for question in found[:MOST_TOLD]
    ]
    if rest := found[MOST_TOLD:]:
        sentences.append(f"The same is true of {listed([question.text for question in rest])}.")
    return sentences


def _levels(question: Question) -> str:
    """Few levels one by one, of many the ends."""
    labels = kind_of(question).answers(question)
    return ", ".join(labels if len(labels) <= MOST_NAMED else [labels[0], labels[1], "…", labels[-1]])


def listed(texts: Sequence[str]) -> str:
    """Texts in quotes, few of them."""
    quoted = [f"“{text}”" for text in texts]
    if len(quoted) > MOST_NAMED + 1:
        quoted = [*quoted[:MOST_NAMED], f"{len(quoted) - MOST_NAMED} more questions"]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def side(survey: Survey, name: str) -> Question:
    """What stands in the rows or columns: a question, or an option as a yes or no of its own."""
    if not names_option(name):
        return next(question for question in survey.questions if question.id == name)
    return option_question(survey, name)
