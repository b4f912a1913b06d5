"""How the figures of a survey were made, in words and with its own numbers: the estimators of the methods paragraph.

A reader who has the reported shares and this text can compute every figure that is displayed
(tests/results/test_formulas.py does). Nothing here is about a respondent.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from client.definition import Field, Survey
from client.mechanisms import Drawn, Flip, Geometric, Subset
from client.question import Question
from client.words import level_value
from survey_app.estimate.question import answer_sets, scores_of, union_chances
from survey_app.explain.written import probability
from survey_app.results.document import Line, Results
from survey_app.results.groups import TOTAL, Study

MOST_LISTED = 12  # means and differences that a sentence lists
MOST_SCORES = 12  # that are written out
SECOND = 1  # of the two answers of a yes or no: the other one says the same


def margin_sentences(field: Field) -> Iterator[str]:
    """Give P and Q of every answer that several symbols of a field hold: of joint questions, and of sets of options."""
    mechanism = field.mechanism
    if not isinstance(mechanism, Subset):
        return
    sizes = {question.id: _sizes(field, question) for question in field.questions}
    if all(size == 1 for each in sizes.values() for size in each.values()):
        return
    held = "combinations" if field.joint else "sets"
    each = "; ".join(f"“{name}”: {_by_size(mechanism, of)}" for name, of in sizes.items())
    if mechanism.weight == 1:
        yield (
            f"For an answer that c of these {held} hold, r counts the devices that sent any of them, and"
            f" P = p + (c − 1)q and Q = cq take the place of p and q: {each}."
        )
    else:
        yield f"The share of an answer that c of these {held} hold is the sum of theirs: {each}."


def _sizes(field: Field, question: Question) -> dict[str, int]:
    """How many symbols of the field hold each answer to a question."""
    return {label: len(symbols) for (label, _), symbols in answer_sets(field, question)}


def _by_size(mechanism: Subset, sizes: dict[str, int]) -> str:
    """Name the answers that each number of symbols holds; those that are most of all, together."""
    labels: dict[int, list[str]] = {}
    for label, size in sizes.items():
        labels.setdefault(size, []).append(label)
    *named, (most, _) = sorted(labels.items(), key=lambda one: len(one[1]))
    found = [f"“{label}” {_chances(mechanism, size)}" for size, some in named for label in some]
    return ", ".join([*found, f"any {'other ' * bool(found)}answer {_chances(mechanism, most)}"])


def _chances(mechanism: Subset, size: int) -> str:
    if mechanism.weight > 1:
        return f"(c = {size})"
    p, q = (probability(float(chance)) for chance in union_chances(mechanism, size))
    return f"(c = {size}, P = {p}, Q = {q})"


def estimator_sentences(survey: Survey, document: Results | Study) -> Iterator[str]:
    """Say how shares, means, ratios and differences were estimated, and how what is displayed differs."""
    figures = [(field, question) for field in survey.fields for question in field.questions]
    if shares := [field for field in survey.fields if not isinstance(field.mechanism, Geometric)]:
        yield from _share_sentences(shares)
    if means := [(field, question) for field, question in figures if question.levels or question.type == "scale"]:
        yield from _mean_sentences(means)
    if optional := [field for field, question in figures if question.optional]:
        yield from _ratio_sentences(optional)
    if isinstance(document, Study):
        yield "Displayed differences are those of the displayed figures of both groups."
    if means or isinstance(document, Study):
        what = "means and differences" if means and isinstance(document, Study) else "means" if means else "differences"
        yield (
            f"So displayed {what} are those of the nearest possible shares, and biased towards the middle where reports"
            " are few."
        )
        yield from _unbiased(document)


def _share_sentences(fields: Sequence[Field]) -> Iterator[str]:
    yield (
        "Shares were estimated without bias by (r − q)/(p − q), r being the share of the devices asked that sent the"
        " answer, and p, q following from the published integers."
    )
    if any(isinstance(field.mechanism, Flip) for field in fields):
        yield "Where one bit was sent, r is the share of ones (yes, or the second of two answers), and the rest is no."
    if any(isinstance(field.mechanism, Subset) for field in fields):
        yield "Totals and cumulative shares are sums of shares."
    joint = ", of questions randomized together first the shares of each, then their combinations"
    yield (
        "Displayed shares are the nearest possible ones: none below 0 or above 1, those of exclusive answers summing to"
        f" one{joint if any(field.joint for field in fields) else ''}."
    )


def _mean_sentences(means: Sequence[tuple[Field, Question]]) -> Iterator[str]:
    if noisy := [question for field, question in means if isinstance(field.mechanism, Geometric)]:
        each = "; ".join(f"“{question.id}” {_levels(question)}" for question in noisy)
        yield (
            "With geometric noise the mean was estimated without bias by that of the levels sent, the lowest counting"
            f" for r/(1 − r) levels less and the highest for r/(1 − r) levels more ({each}); displayed is the nearest"
            " possible mean."
        )
    if others := [question for field, question in means if not isinstance(field.mechanism, Geometric)]:
        each = "; ".join(f"“{question.id}” {_scores(question)}" for question in others)
        yield (
            "Means are the sum of score × share, without bias if the shares are, with these scores in the order of the"
            f" answers: {each}; displayed means are made of displayed shares."
        )


def _scores(question: Question) -> str:
    if question.levels > MOST_SCORES:
        return _levels(question)
    if question.levels:
        return ", ".join(_written(level_value(question, level)) for level in range(question.levels))
    return ", ".join(f"{score:g}" for score in scores_of(question))


def _levels(question: Question) -> str:
    ends = (_written(Fraction(end)) for end in (question.min, question.max))
    return f"{question.levels} equally spaced levels from {' to '.join(ends)}"


def _written(value: Fraction) -> str:
    return f"{float(value):.10g}"


def _ratio_sentences(fields: Sequence[Field]) -> Iterator[str]:
    yield (
        "Figures among those who answered are ratios: a share, or a sum of score × share, divided by one minus the"
        " share without an answer; displayed ones are made of displayed shares."
    )
    if any(isinstance(field.mechanism, Drawn) for field in fields):
        yield (
            "Where options were drawn, a displayed ratio is that of the unbiased shares, moved to the nearest end of"
            " its interval where it lies outside."
        )


def _unbiased(document: Results | Study) -> Iterator[str]:
    """List the unbiased values, with their intervals: of means, and of what differs between groups."""
    lines = [*_listed(document)]
    if not lines:
        return
    more = len(lines) - MOST_LISTED
    rest = f"; {more} more are in the table of results" if more > 0 else ""
    yield f"Unbiased, with their intervals (ratios are of unbiased sums): {'; '.join(lines[:MOST_LISTED])}{rest}."


def _listed(document: Results | Study) -> Iterator[str]:
    if isinstance(document, Results):
        for question in document.questions:
            for line in question.estimates:
                if line.kind == "mean":
                    yield _figure(f"mean of “{question.id}”", line)
        return
    for name, parts in document.named_parts:
        for part in parts:
            for place, line in enumerate(part.lists["estimates"]):
                if line.kind == "mean" and name == TOTAL:
                    yield _figure(f"mean of “{part.name}”, {name}", line)
                elif line.kind == "difference" and not _mirrored(part.lists["estimates"], place):
                    yield _figure(f"“{part.name}” {line.option}, {name}", line)


def _mirrored(lines: Sequence[Line], place: int) -> bool:
    """Tell whether a line is the first of two that say the same, such as no beside yes."""
    return len(lines) == SECOND + 1 and place != SECOND


def _figure(name: str, line: Line) -> str:
    value = line.unbiased if line.unbiased is not None else line.raw
    told = f"{value:.4g}" if isinstance(value, float) else "none"
    return f"{name} {told} ({line.low:.4g} to {line.high:.4g})"
