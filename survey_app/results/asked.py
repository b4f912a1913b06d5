"""Whom a figure is about: how often each block was drawn, which devices n counts, and who saw a question at all.

Where each device answers one field, an estimate is of those who drew it; where options are drawn, of those asked about
the option; and a question with a condition is answered only by those who saw it. The results, their page, the terminal
and the methods paragraph say so in the same words.
"""

from msgspec import Struct

from client.definition import Field, Survey
from client.mechanism import Drawn
from client.question import Question
from survey_app.estimate.asked import draw_test, draws
from survey_app.estimate.hypotheses import Test
from survey_app.explain.written import count, percent
from survey_app.tally import Tally

EVERYBODY = "all respondents"
SMALL = 0.01  # a p-value under which the draws are called odd


class AskedBlock(Struct, frozen=True, kw_only=True):
    """A block of questions, how likely a device draws it, how many were to be expected, and how many did."""

    questions: tuple[str, ...]
    chance: float
    expected: float
    n: int

    @property
    def name(self) -> str:
        """What a table calls it."""
        return " + ".join(self.questions)


class Asked(Struct, frozen=True, kw_only=True):
    """Which block the devices drew, and whether that is as their chances say."""

    blocks: tuple[AskedBlock, ...]
    test: Test | None


def asked_blocks(survey: Survey, tally: Tally) -> Asked | None:
    """How often each block was drawn; None where every device answers everything."""
    if not survey.ask:
        return None
    drawn = draws(survey, tally)
    blocks = tuple(
        AskedBlock(questions=_ids(one.field), chance=one.chance, expected=one.expected, n=one.n) for one in drawn
    )
    return Asked(blocks=blocks, test=draw_test(drawn))


def _ids(field: Field) -> tuple[str, ...]:
    return tuple(question.id for question in field.questions)


def draws_sentence(asked: Asked) -> str:
    """Whether devices drew their blocks as often as they should, and what it means if not."""
    test = asked.test
    if test is None:
        return "Nobody has drawn a block yet."
    p = "p < 0.0001" if test.p_value < 0.0001 else f"p = {test.p_value:.2g}"
    figures = f"χ² = {test.statistic:.2f}, df = {test.df}, {p}, n = {count(test.n)}"
    if test.p_value >= SMALL:
        return f"Devices drew the blocks as often as their chances say ({figures})."
    odd = max(asked.blocks, key=lambda one: (one.n - one.expected) ** 2 / one.expected)
    seldom = "seldom" if odd.n < odd.expected else "often"
    return (
        f"Devices did not draw the blocks as often as their chances say ({figures}); {odd.name} came too {seldom} most"
        f" of all ({count(odd.n)} of about {count(round(odd.expected))} expected). Either people broke off after they"
        " saw what they were asked, and the figures are of those who stayed, or reports were made up."
    )


def base(survey: Survey, field: Field, *questions: Question) -> str:
    """Which devices n counts, for some questions of a field; empty where it is all of them."""
    whom = f"devices that drew this block ({percent(float(survey.part(field)), 3)} of all)" if survey.ask else ""
    mechanism = field.mechanism
    if isinstance(mechanism, Drawn) and mechanism.draw < mechanism.size:
        drawn = f"for each option those asked about it ({mechanism.draw} of {mechanism.size}, drawn at random)"
        whom = f"{whom}; {drawn}" if whom else drawn
    if any(question.show_if for question in questions):
        what = "it was" if len(questions) == 1 else "some of it was"
        whom = f"{whom or EVERYBODY}, also those to whom {what} not put"
    return whom


def short_base(survey: Survey, field: Field) -> str:
    """The same in a few words, for the foot of a plot."""
    mechanism = field.mechanism
    if isinstance(mechanism, Drawn) and mechanism.draw < mechanism.size:
        return "devices asked about the option"
    return "devices that drew this block" if survey.ask else ""


def condition(survey: Survey, question: Question) -> str:
    """Of whom a question was asked, in words; empty where it was of everybody."""
    if question.show_if is None:
        return ""
    parent = next(one for one in survey.questions if one.id == question.show_if.question)
    labels = [f"“{label}”" for label in question.show_if.labels]
    said = labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"
    told = f"chose {said} in" if parent.type == "multiple" else f"answered {said} to"
    return f"Asked only of those who {told} “{parent.text}”"
