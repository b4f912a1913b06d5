"""The base of a figure: how often each block was drawn, which devices n counts, and which respondents saw a question.

Where each device answers one field, an estimate covers the devices that drew it; where options are drawn, the devices
asked about the option; and only respondents who saw a conditional question answered it. The results, their page, the
terminal and the methods paragraph all take these sentences from here.
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
USUAL, SMALL = 0.05, 0.01  # p-values below which draws are called unlikely, and suspicious
LEAST_TOLD = 0.0001


class AskedBlock(Struct, frozen=True, kw_only=True):
    """A block of questions, how likely a device draws it, how many were to be expected, and how many did."""

    questions: tuple[str, ...]
    chance: float
    expected: float
    n: int

    @property
    def name(self) -> str:
        """The name of the block in a table."""
        return " + ".join(self.questions)


class Asked(Struct, frozen=True, kw_only=True):
    """Which block the devices drew, and whether that is as their chances say."""

    blocks: tuple[AskedBlock, ...]
    test: Test | None


def asked_blocks(survey: Survey, tally: Tally) -> Asked | None:
    """Count how often each block was drawn; return None where every device answers everything."""
    if not survey.ask:
        return None
    counts = draws(survey, tally)
    blocks = tuple(
        AskedBlock(questions=_ids(draw.field), chance=draw.chance, expected=draw.expected, n=draw.n) for draw in counts
    )
    return Asked(blocks=blocks, test=draw_test(counts))


def _ids(field: Field) -> tuple[str, ...]:
    return tuple(question.id for question in field.questions)


def draws_sentence(asked: Asked) -> str:
    """Say whether devices drew their blocks as often as expected, and what it means if they did not."""
    test = asked.test
    if test is None:
        return "Nobody has drawn a block yet."
    figures = f"χ² = {test.statistic:.2f}, df = {test.df}, {p_value(test.p_value)}, n = {count(test.n)}"
    if test.p_value >= USUAL:
        return f"Devices drew the blocks as often as their chances say ({figures})."
    if test.p_value >= SMALL:
        rare = f"chance alone strays so far in {percent(test.p_value, 2)} of surveys"
        return f"Devices drew the blocks roughly as often as their chances say ({figures}): {rare}."
    outlier = max(asked.blocks, key=lambda block: (block.n - block.expected) ** 2 / block.expected)
    frequency = "seldom" if outlier.n < outlier.expected else "often"
    return (
        f"Devices did not draw the blocks as often as their chances say ({figures}); {outlier.name} came too"
        f" {frequency} most of all ({count(outlier.n)} of about {count(round(outlier.expected))} expected). Either"
        " people broke off after they saw what they were asked, and the figures are of those who stayed, or reports"
        f" were made up, or it is chance, which strays so far in {_seldom(test.p_value)} surveys."
    )


def _seldom(p: float) -> str:
    """Format a p-value as one in a number of surveys, no finer than p-values are written."""
    return "fewer than 1 of 10,000" if p < LEAST_TOLD else f"about 1 of {count(int(float(f'{1 / p:.2g}')))}"


def base(survey: Survey, field: Field, *questions: Question) -> str:
    """Describe the devices that n counts for some questions of a field; return empty text for all devices."""
    devices = f"devices that drew this block ({percent(float(survey.part(field)), 3)} expected)" if survey.ask else ""
    if options := channel_of(field.mechanism).asked_options:
        sampling = f"for each option those asked about it ({options[0]} of {options[1]}, drawn at random)"
        devices = f"{devices}; {sampling}" if devices else sampling
    if any(question.show_if for question in questions):
        subject = "it was" if len(questions) == 1 else "some of it was"
        devices = f"{devices or EVERYBODY}, also those to whom {subject} not put"
    return devices


def short_base(survey: Survey, field: Field) -> str:
    """Describe the devices that n counts in a few words, for the foot of a plot; return empty text for all devices."""
    if channel_of(field.mechanism).asked_options:
        return "devices asked about the option"
    return "devices that drew this block" if survey.ask else ""


def condition(survey: Survey, question: Question) -> str:
    """Describe the condition on which a question was asked; return empty text where it was asked of everybody."""
    if question.show_if is None:
        return ""
    parent = parent_of(survey, question)
    verb = "is" if kind_of(parent).exclusive else "includes"
    return f"Asked if “{parent.text}” {verb} {_said(question.show_if.labels)}"


def parent_of(survey: Survey, question: Question) -> Question:
    """Return the question on which another depends; the question itself if it depends on none."""
    parent_id = question.show_if.question if question.show_if else question.id
    return next(candidate for candidate in survey.questions if candidate.id == parent_id)


def shown_to(question: Question, parent: Question) -> str:
    """Describe the respondents who saw a question by their answers to its parent, which is named by its id."""
    if question.show_if is None:
        return "everybody"
    answers = _said(question.show_if.labels)
    action = f"answered {answers} to" if kind_of(parent).exclusive else f"chose {answers} in"
    return f"those who {action} “{parent.id}”"


def _said(answers: Sequence[str]) -> str:
    """Join answers in quotes with commas and “or”."""
    labels = [f"“{label}”" for label in answers]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"


def asked_sentences(survey: Survey, asked: Asked | None) -> Iterator[str]:
    """Yield sentences for a paper: how blocks are drawn, how often each was, and which questions have a condition."""
    if survey.ask:
        method = "drawn at random"
        if len({field.chance for field in survey.fields}) > 1:
            chances = [f"{_block(field)} {percent(float(survey.part(field)), 3)}" for field in survey.fields]
            method = f"drawn on the device with these chances: {', '.join(chances)}"
        yield f"Each device answered one of {len(survey.fields)} blocks of questions, {method}."
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
    """Add that the device asked the parent as a filter only; return empty text if it did not."""
    is_joint = any({question, parent} <= set(field.questions) for field in survey.fields)
    return ", which the device asked first, as a filter that was not sent" if survey.ask and not is_joint else ""
