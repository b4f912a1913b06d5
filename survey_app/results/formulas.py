"""The estimators of a survey's figures, in words and with its own numbers, for the methods paragraph.

A reader who has the reported shares and this text can compute every displayed figure (tests/results/test_formulas.py
does). Nothing here is about a single respondent.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.channels import Channel, channel_of
from survey_app.estimate.question_estimates import symbols_by_answer
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.languages.numbers import format_probability
from survey_app.results.group_document import TOTAL, Study
from survey_app.results.survey_document import Line, Results

MOST_LISTED = 12  # means and differences that a sentence lists
MOST_SCORES = 12  # scores that a sentence lists
SECOND_ANSWER = 1  # place of the answer to list of a yes or no; the other one is its mirror image


def margin_sentences(field: Field) -> Iterator[str]:
    """Yield P and Q of every answer that several symbols of a field contain: in joint questions and sets of options."""
    channel = channel_of(field.mechanism)
    if channel.reads_answers:
        return
    sizes = {question.id: _count_symbols(field, question) for question in field.questions}
    if all(size == 1 for by_answer in sizes.values() for size in by_answer.values()):
        return
    unit = "combinations" if field.joint else "sets"
    listing = "; ".join(f"“{name}”: {_format_sizes(channel, by_answer)}" for name, by_answer in sizes.items())
    if channel.answers_per_report == 1:
        yield (
            f"For an answer that c of these {unit} contain, r counts the devices that sent any of them, and"
            f" P = p + (c − 1)q and Q = cq replace p and q: {listing}."
        )
    else:
        yield f"The share of an answer that c of these {unit} contain is the sum of their shares: {listing}."


def _count_symbols(field: Field, question: Question) -> dict[str, int]:
    """Count the symbols of a field that contain each answer to a question."""
    return dict(zip(kind_of(question).all_answers(question), map(len, symbols_by_answer(field, question)), strict=True))


def _format_sizes(channel: Channel, sizes: dict[str, int]) -> str:
    """List answers with their number of symbols; the most common number stands once, for all answers that have it."""
    labels: dict[int, list[str]] = {}
    for label, size in sizes.items():
        labels.setdefault(size, []).append(label)
    *rare, (common_size, _) = sorted(labels.items(), key=lambda item: len(item[1]))
    parts = [f"“{label}” {_chances(channel, size)}" for size, answers in rare for label in answers]
    return ", ".join([*parts, f"any {'other ' * bool(parts)}answer {_chances(channel, common_size)}"])


def _chances(channel: Channel, size: int) -> str:
    coin = channel.union_coin(size) if channel.answers_per_report == 1 else None
    if coin is None:
        return f"(c = {size})"
    p, q = (format_probability(float(chance)) for chance in coin)
    return f"(c = {size}, P = {p}, Q = {q})"


def estimator_sentences(survey: Survey, document: Results | Study) -> Iterator[str]:
    """Yield how shares, means, ratios and differences were estimated, and how displayed figures differ from them."""
    figures = [(field, question) for field in survey.fields for question in field.questions]
    if shares := [field for field in survey.fields if channel_of(field.mechanism).coin]:
        yield from _share_sentences(shares)
    means = [
        (channel_of(field.mechanism), question)
        for field, question in figures
        if kind_of(question).scores(question) is not None
    ]
    if means:
        yield from _mean_sentences(means)
    if optional := [field for field, question in figures if question.optional]:
        yield from _ratio_sentences(optional)
    if isinstance(document, Study):
        yield "Displayed differences are differences between the displayed figures of two groups."
    if means or isinstance(document, Study):
        subject = (
            "means and differences" if means and isinstance(document, Study) else "means" if means else "differences"
        )
        yield (
            f"So displayed {subject} follow from the nearest possible shares, and are biased towards the middle"
            " where reports are few."
        )
        yield from _describe_unbiased_values(document)


def _share_sentences(fields: Sequence[Field]) -> Iterator[str]:
    yield (
        "Shares were estimated without bias by (r − q)/(p − q). Here r is the share of the devices asked that sent the"
        " answer; p and q follow from the published integers."
    )
    if any(field.mechanism.width == 1 for field in fields):
        yield (
            "Where one bit was sent, r is the share of ones (yes, or the second of two answers); the other answer has"
            " the remaining share."
        )
    if any(_has_symbol_shares(field) for field in fields):
        yield "Totals and cumulative shares are sums of shares."
    yield (
        "Displayed shares are the nearest possible ones: none is below 0 or above 1, and those of exclusive answers sum"
        " to one."
    )
    if any(field.joint for field in fields):
        yield (
            "For questions randomized together, the displayed shares of each question are determined first, then those"
            " of their combinations."
        )


def _has_symbol_shares(field: Field) -> bool:
    """Return whether the mechanism gives shares of symbols, which can be added up."""
    return channel_of(field.mechanism).estimate_shares(np.zeros(field.mechanism.width, dtype=np.int64), 1) is not None


def _mean_sentences(means: Sequence[tuple[Channel, Question]]) -> Iterator[str]:
    """Yield one sentence for each formula of a mean, first those of channels that estimate only means."""
    scores: dict[str, list[str]] = {}
    for channel, question in sorted(means, key=lambda item: item[0].coin is not None):
        scores.setdefault(channel.mean_formula, []).append(f"“{question.id}” {_scores(channel, question)}")
    for formula, listing in scores.items():
        yield formula.format(scores="; ".join(listing))


def _scores(channel: Channel, question: Question) -> str:
    """Format the scores of the answers; many equally spaced levels of a number are given by their range."""
    kind = kind_of(question)
    scores = kind.scores(question) or ()
    if not kind.is_rounded(question):
        return ", ".join(f"{score:g}" for score in scores)
    if channel.coin and len(scores) <= MOST_SCORES:
        return ", ".join(f"{score:.10g}" for score in scores)
    low, high = kind.value_range(question)
    return f"{len(scores)} equally spaced levels from {low:.10g} to {high:.10g}"


def _ratio_sentences(fields: Sequence[Field]) -> Iterator[str]:
    yield (
        "Figures among those who answered are ratios: a share, or a sum of score × share, divided by one minus the"
        " share without an answer. Displayed ratios are computed from displayed shares."
    )
    if any(channel_of(field.mechanism).reads_answers for field in fields):
        yield (
            "Where options were drawn, a displayed ratio is the ratio of the unbiased shares; if it lies outside its"
            " interval, it is moved to the nearest end."
        )


def _describe_unbiased_values(document: Results | Study) -> Iterator[str]:
    """Yield a sentence with the unbiased values and intervals of means, and of differences between groups."""
    lines = [*_format_unbiased_lines(document)]
    if not lines:
        return
    excess = len(lines) - MOST_LISTED
    rest = f"; {excess} more are in the table of results" if excess > 0 else ""
    heading = "Unbiased values with their intervals (for ratios, the ratio of two unbiased sums)"
    yield f"{heading}: {'; '.join(lines[:MOST_LISTED])}{rest}."


def _format_unbiased_lines(document: Results | Study) -> Iterator[str]:
    if isinstance(document, Results):
        for question in document.questions:
            for line in question.estimates:
                if line.kind == FigureKind.MEAN:
                    yield _figure(f"mean of “{question.id}”", line)
        return
    for name, parts in document.named_parts:
        for part in parts:
            for place, line in enumerate(part.lists["estimates"]):
                if line.kind == FigureKind.MEAN and name == TOTAL:
                    yield _figure(f"mean of “{part.name}”, {name}", line)
                elif line.kind == FigureKind.DIFFERENCE and not _is_mirror_image(part.lists["estimates"], place):
                    yield _figure(f"“{part.name}” {line.option}, {name}", line)


def _is_mirror_image(lines: Sequence[Line], place: int) -> bool:
    """Return whether a line is the first of two mirror images, as no is of yes."""
    return len(lines) == SECOND_ANSWER + 1 and place != SECOND_ANSWER


def _figure(name: str, line: Line) -> str:
    value = line.unbiased if line.unbiased is not None else line.raw
    text = f"{value:.4g}" if isinstance(value, float) else "none"
    return f"{name} {text} ({line.low:.4g} to {line.high:.4g})"
