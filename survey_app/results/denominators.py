"""Whom a figure is about: how often each block was drawn, which devices n counts, and who saw a question at all.

Where each device answers one field, an estimate is of those who drew it; where options are drawn, of those asked about
the option; and a question with a condition is answered only by those who saw it. The results, their page, the terminal
and the methods paragraph say so in the same words.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.estimate.block_draws import draw_test, draws
from survey_app.estimate.hypotheses import Test
from survey_app.kinds import kind_of
from survey_app.languages.numbers import count, p_value, percent
from survey_app.tally import Tally

EVERYBODY = "all respondents"
USUAL, SMALL = 0.05, 0.01  # p-values under which the draws are called rare, and odd
LEAST_TOLD = 0.0001


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
    figures = f"χ² = {test.statistic:.2f}, df = {test.df}, {p_value(test.p_value)}, n = {count(test.n)}"
    if test.p_value >= USUAL:
        return f"Devices drew the blocks as often as their chances say ({figures})."
    if test.p_value >= SMALL:
        rare = f"chance alone strays so far in {percent(test.p_value, 2)} of surveys"
        return f"Devices drew the blocks roughly as often as their chances say ({figures}): {rare}."
    odd = max(asked.blocks, key=lambda one: (one.n - one.expected) ** 2 / one.expected)
    seldom = "seldom" if odd.n < odd.expected else "often"
    return (
        f"Devices did not draw the blocks as often as their chances say ({figures}); {odd.name} came too {seldom} most"
        f" of all ({count(odd.n)} of about {count(round(odd.expected))} expected). Either people broke off after they"
        " saw what they were asked, and the figures are of those who stayed, or reports were made up, or it is chance,"
        f" which strays so far in {_seldom(test.p_value)} surveys."
    )


def _seldom(p: float) -> str:
    """In one of how many; no finer than a p-value is written."""
    return "fewer than 1 of 10,000" if p < LEAST_TOLD else f"about 1 of {count(int(float(f'{1 / p:.2g}')))}"


def base(survey: Survey, field: Field, *questions: Question) -> str:
    """Which devices n counts, for some questions of a field; empty where it is all of them."""
    whom = f"devices that drew this block ({percent(float(survey.part(field)), 3)} expected)" if survey.ask else ""
    if some := channel_of(field.mechanism).asked_options:
        drawn = f"for each option those asked about it ({some[0]} of {some[1]}, drawn at random)"
        whom = f"{whom}; {drawn}" if whom else drawn
    if any(question.show_if for question in questions):
        what = "it was" if len(questions) == 1 else "some of it was"
        whom = f"{whom or EVERYBODY}, also those to whom {what} not put"
    return whom


def short_base(survey: Survey, field: Field) -> str:
    """The same in a few words, for the foot of a plot."""
    if channel_of(field.mechanism).asked_options:
        return "devices asked about the option"
    return "devices that drew this block" if survey.ask else ""


def condition(survey: Survey, question: Question) -> str:
    """On what it depended whether a question was asked; empty where it was of everybody."""
    if question.show_if is None:
        return ""
    parent = parent_of(survey, question)
    verb = "is" if kind_of(parent).exclusive else "includes"
    return f"Asked if “{parent.text}” {verb} {_said(question.show_if.labels)}"


def parent_of(survey: Survey, question: Question) -> Question:
    """The question on which another depends; itself if on none."""
    wanted = question.show_if.question if question.show_if else question.id
    return next(one for one in survey.questions if one.id == wanted)


def shown_to(question: Question, parent: Question) -> str:
    """To whom a question was put: those who said so to another, by its id."""
    if question.show_if is None:
        return "everybody"
    said = _said(question.show_if.labels)
    told = f"answered {said} to" if kind_of(parent).exclusive else f"chose {said} in"
    return f"those who {told} “{parent.id}”"


def _said(answers: Sequence[str]) -> str:
    """Any of some answers."""
    labels = [f"“{label}”" for label in answers]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"


def asked_sentences(survey: Survey, asked: Asked | None) -> Iterator[str]:
    """For a paper: which block a device answers, how likely each is and was; and what was put to some only."""
    if survey.ask:
        how = "drawn at random"
        if len({field.chance for field in survey.fields}) > 1:
            named = [f"{_block(field)} {percent(float(survey.part(field)), 3)}" for field in survey.fields]
            how = f"drawn on the device with these chances: {', '.join(named)}"
        yield f"Each device answered one of {len(survey.fields)} blocks of questions, {how}."
        if asked and asked.test:
            yield draws_sentence(asked)
        yield "Every figure rests on the devices that drew its block; their number is given with it."
    for question in survey.questions:
        if question.show_if:
            parent = parent_of(survey, question)
            yield f"“{question.id}” was put only to {shown_to(question, parent)}{_filtered(survey, question, parent)}."
    if any(question.show_if for question in survey.questions):
        yield "A question that was not put counts as unanswered; shares among those who answered are ratios of the two."


def _block(field: Field) -> str:
    return " + ".join(f"“{question.id}”" for question in field.questions)


def _filtered(survey: Survey, question: Question, parent: Question) -> str:
    """Whether the device asked the other question as a filter only."""
    together = any({question, parent} <= set(field.questions) for field in survey.fields)
    return ", which the device asked first, as a filter that was not sent" if survey.ask and not together else ""
