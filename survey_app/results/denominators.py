"""The base of a figure: how often each block was drawn, which devices n counts, and which respondents saw a question.

Where each device answers one field, an estimate covers the devices that drew it; where options are drawn, the devices
asked about the option; and only respondents who saw a conditional question answered it. The results, their page, the
terminal and the methods paragraph all take these sentences from here.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.estimate.block_draws import count_draws, run_draw_test
from survey_app.estimate.hypotheses import Test
from survey_app.kinds import kind_of
from survey_app.languages.numbers import format_count, format_p_value, format_percent
from survey_app.tally import Tally

EVERYBODY = "all respondents"
UNLIKELY_P_VALUE, SUSPICIOUS_P_VALUE = 0.05, 0.01  # p-values below which draws are called unlikely, and suspicious
SMALLEST_P_VALUE = 0.0001


class BlockDraw(Struct, frozen=True, kw_only=True):
    """A block of questions: the chance that a device draws it, the expected number of draws, and the actual number."""

    questions: tuple[str, ...]
    chance: float
    expected: float
    n: int

    @property
    def name(self) -> str:
        """The name of the block in a table."""
        return " + ".join(self.questions)


class DrawVerdict(StrEnum):
    """The result of the test of the draws: how well they fit the chances."""

    NONE = "none"
    EXPECTED = "expected"
    UNLIKELY = "unlikely"
    SUSPICIOUS = "suspicious"


class BlockDraws(Struct, frozen=True, kw_only=True):
    """How often the devices drew each block, and a test of whether this fits the chances."""

    blocks: tuple[BlockDraw, ...]
    test: Test | None

    @property
    def verdict(self) -> DrawVerdict:
        """How well the draws fit the chances, by the p-value of the test."""
        if self.test is None:
            return DrawVerdict.NONE
        if self.test.p_value >= UNLIKELY_P_VALUE:
            return DrawVerdict.EXPECTED
        return DrawVerdict.UNLIKELY if self.test.p_value >= SUSPICIOUS_P_VALUE else DrawVerdict.SUSPICIOUS

    @property
    def outlier(self) -> BlockDraw:
        """The block that contributes most to the statistic of the test."""
        return max(self.blocks, key=lambda block: (block.n - block.expected) ** 2 / block.expected)


def count_block_draws(survey: Survey, tally: Tally) -> BlockDraws | None:
    """Count how often each block was drawn; return None where every device answers everything."""
    if not survey.ask:
        return None
    counts = count_draws(survey, tally)
    blocks = tuple(
        BlockDraw(questions=_list_ids(draw.field), chance=draw.chance, expected=draw.expected, n=draw.n)
        for draw in counts
    )
    return BlockDraws(blocks=blocks, test=run_draw_test(counts))


def _list_ids(field: Field) -> tuple[str, ...]:
    return tuple(question.id for question in field.questions)


def describe_draws(block_draws: BlockDraws) -> str:
    """Return whether devices drew their blocks as often as expected, and the possible reasons if they did not."""
    test = block_draws.test
    if test is None:
        return "No device has drawn a block yet."
    figures = f"χ² = {test.statistic:.2f}, df = {test.df}, {format_p_value(test.p_value)}, n = {format_count(test.n)}"
    if block_draws.verdict is DrawVerdict.EXPECTED:
        return f"Devices drew the blocks as often as expected ({figures})."
    if block_draws.verdict is DrawVerdict.UNLIKELY:
        rare = f"chance alone deviates this far in {format_percent(test.p_value, 2)} of surveys"
        return f"Devices drew the blocks roughly as often as expected ({figures}): {rare}."
    outlier = block_draws.outlier
    frequency = "rarely" if outlier.n < outlier.expected else "often"
    return (
        f"Devices did not draw the blocks as often as expected ({figures}). The largest deviation is {outlier.name},"
        f" drawn too {frequency}: {format_count(outlier.n)} times, with about"
        f" {format_count(round(outlier.expected))} expected. Either people broke off after they saw their questions,"
        " and the figures describe only those who stayed; or reports were made up; or it is chance, which deviates this"
        f" far in {_format_rarity(test.p_value)} surveys."
    )


def _format_rarity(p: float) -> str:
    """Format a p-value as one in a number of surveys, no finer than p-values are written."""
    return (
        "fewer than 1 of 10,000" if p < SMALLEST_P_VALUE else f"about 1 of {format_count(int(float(f'{1 / p:.2g}')))}"
    )


class Base(NamedTuple):
    """The devices that n counts.

    `block_chance` is the chance of their block, or None without blocks. `options` is how many of how many options each
    was asked about, or None if about all. `has_unasked` means that n also counts respondents who were not asked.
    """

    block_chance: float | None
    options: tuple[int, int] | None
    has_unasked: bool


def find_base(survey: Survey, field: Field, *questions: Question) -> Base:
    """Return the devices that n counts for some questions of a field."""
    return Base(
        float(survey.answer_probability(field)) if survey.ask else None,
        channel_of(field.mechanism).asked_options,
        any(question.show_if for question in questions),
    )


def describe_base(survey: Survey, field: Field, *questions: Question) -> str:
    """Describe the devices that n counts for some questions of a field; return empty text for all devices."""
    base, devices = find_base(survey, field, *questions), ""
    if base.block_chance is not None:
        devices = f"devices that drew this block ({format_percent(base.block_chance, 3)} expected)"
    if base.options:
        asked, all_options = base.options
        sampling = f"for each option, those asked about it ({asked} of {all_options} options each, drawn at random)"
        devices = f"{devices}; {sampling}" if devices else sampling
    if base.has_unasked:
        subject = "this question" if len(questions) == 1 else "all of these questions"
        devices = f"{devices or EVERYBODY}, including those not asked {subject}"
    return devices


def describe_base_briefly(survey: Survey, field: Field) -> str:
    """Describe the devices that n counts in a few words, for the foot of a plot; return empty text for all devices."""
    if channel_of(field.mechanism).asked_options:
        return "devices asked about the option"
    return "devices that drew this block" if survey.ask else ""


def describe_condition(survey: Survey, question: Question) -> str:
    """Describe the condition on which a question was asked; return empty text where it was asked of everybody."""
    if question.show_if is None:
        return ""
    parent = find_parent(survey, question)
    verb = "is" if kind_of(parent).exclusive else "includes"
    return f"Asked if “{parent.text}” {verb} {_join_answers(question.show_if.labels)}"


def find_parent(survey: Survey, question: Question) -> Question:
    """Return the question on which another depends; the question itself if it depends on none."""
    parent_id = question.show_if.question if question.show_if else question.id
    return next(candidate for candidate in survey.questions if candidate.id == parent_id)


def describe_audience(question: Question, parent: Question) -> str:
    """Describe the respondents who saw a question by their answers to its parent, which is named by its id."""
    if question.show_if is None:
        return "everybody"
    answers = _join_answers(question.show_if.labels)
    action = f"answered {answers} to" if kind_of(parent).exclusive else f"chose {answers} in"
    return f"those who {action} “{parent.id}”"


def _join_answers(answers: Sequence[str]) -> str:
    """Join answers in quotes with commas and “or”."""
    labels = [f"“{label}”" for label in answers]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"


def describe_questioning(survey: Survey, block_draws: BlockDraws | None) -> Iterator[str]:
    """Yield sentences for a paper: how blocks are drawn, how often each was, and which questions have a condition."""
    if survey.ask:
        method = "drawn at random"
        if len({field.chance for field in survey.fields}) > 1:
            chances = [
                f"{_name_block(field)} {format_percent(float(survey.answer_probability(field)), 3)}"
                for field in survey.fields
            ]
            method = f"drawn on the device with these chances: {', '.join(chances)}"
        yield f"Each device answered one of {len(survey.fields)} blocks of questions, {method}."
        if block_draws and block_draws.test:
            yield describe_draws(block_draws)
        yield "Every figure is based on the devices that drew its block; their number is given with the figure."
    for question in survey.questions:
        if question.show_if:
            parent = find_parent(survey, question)
            yield (
                f"“{question.id}” was asked only of "
                f"{describe_audience(question, parent)}{_describe_filter(survey, question, parent)}."
            )
    if any(question.show_if for question in survey.questions):
        yield (
            "A question that was not asked counts as unanswered. Shares among those who answered are ratios: the share"
            " of an answer, divided by the share that answered."
        )


def _name_block(field: Field) -> str:
    return " + ".join(f"“{question.id}”" for question in field.questions)


def _describe_filter(survey: Survey, question: Question, parent: Question) -> str:
    """Add that the device asked the parent as a filter only; return empty text if it did not."""
    is_joint = any({question, parent} <= set(field.questions) for field in survey.fields)
    return ", which the device asked first as a filter and did not send" if survey.ask and not is_joint else ""
