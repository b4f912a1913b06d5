"""From ε to integers: which mechanism a field gets, and its thresholds.

For one of k symbols it is subset selection with the better of the two weights around k/(e^ε+1), the best known
mechanism for every k; for a multiple some options that are drawn, or all its sets as one choice; for a number the best
grid. Thresholds come from `decimal` with 60 digits and are rounded the private way: a mechanism never spends more than
the ε it was made for.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from client.definition import possible_cells
from client.errors import DefinitionError
from client.mechanisms import MOST_DRAWN, MOST_LEVELS, Drawn, Flip, Geometric, Mechanism, Subset
from client.question import Question
from client.sampling import WHOLE
from survey_app.authoring.imagined import OPTION, YES
from survey_app.channel import bit_variance, drawn_variance, geometric_variance, level_variance, union_variance

PRECISE = Context(prec=60)
DOUBT = Decimal("1e-30")  # far more than 60 digits can err by in a threshold: rounding down is down for certain
LEAST_EPSILON, MOST_EPSILON = Decimal("0.000001"), 40
MOST_SETS = 2**10 + 1  # of a multiple, if they are randomized as one choice
JOINT_LEVELS = 2  # of a number that is randomized together with other questions


@dataclass(frozen=True)
class Choice:
    """A mechanism, the levels of each number (0 for other questions), and n·Var of what it was chosen for."""

    mechanism: Mechanism
    levels: tuple[int, ...]
    variance: float


def check(epsilon: Decimal) -> None:
    """DefinitionError if there is no mechanism at this ε."""
    if epsilon > MOST_EPSILON:
        raise DefinitionError("bad_mechanism", "", f"above {MOST_EPSILON} nothing is protected")
    if epsilon < LEAST_EPSILON:
        raise DefinitionError("bad_mechanism", "", f"below {LEAST_EPSILON} there is nothing left to estimate")


def single(question: Question, epsilon: Decimal, *, weight: int = 1, draw: int = 0, levels: int = 0) -> Mechanism:
    """The mechanism of one question by itself, if that is what it looks like."""
    if draw:
        return drawn(len(question.labels) + question.optional, draw, epsilon)
    if question.type == "yes_no" and not question.optional:
        return flip(epsilon)
    return subset((levels or question.no_answer) + question.optional, weight, epsilon)


def choose(questions: Sequence[Question], epsilon: Decimal, *, laplace: bool = False) -> Choice:
    """The mechanism for a field over these questions; DefinitionError if there is none at this ε."""
    check(epsilon)
    if len(questions) > 1:
        return _joint(questions, epsilon)
    only = questions[0]
    if laplace:
        return _laplace(only, epsilon)
    if only.type == "multiple":
        return _multiple(only, epsilon)
    if only.type == "number" and not only.bins:
        return _levels(only, epsilon)
    if only.type == "yes_no" and not only.optional:
        mechanism = flip(epsilon)
        return Choice(mechanism, (0,), bit_variance(mechanism, YES))
    best = categories(only.size, epsilon)
    return Choice(best, (0,), bit_variance(best, 1 / only.size))


def flip(epsilon: Decimal) -> Flip:
    """Symmetric randomized response, the best for a yes or no: p = e/(1+e)."""
    one = _floor(lambda e: e / (1 + e), epsilon)
    return Flip(one=one, zero=WHOLE - one)


def design(p: Fraction, q: Fraction) -> Flip:
    """A classic design with P(1 | yes) = p and P(1 | no) = q: p is rounded down, q up."""
    return Flip(one=math.floor(p * WHOLE), zero=math.ceil(q * WHOLE))


def subset(size: int, weight: int, epsilon: Decimal) -> Subset:
    """Subset selection: keep = w e/(w e + k − w)."""
    keep = _floor(lambda e: weight * e / (weight * e + size - weight), epsilon)
    return Subset(size=size, weight=weight, keep=keep)


def drawn(size: int, draw: int, epsilon: Decimal) -> Drawn:
    """Some of the options together: keep = e/(e + 2^r − 1)."""
    keep = _floor(lambda e: e / (e + 2**draw - 1), epsilon)
    return Drawn(size=size, draw=draw, keep=keep)


def geometric(levels: int, epsilon: Decimal) -> Geometric:
    """Two-sided geometric noise, r = e^(−ε/(L−1)) rounded up; and further up, where rounding would cost ε."""
    with localcontext(PRECISE):
        ratio = WHOLE - _floor(lambda e: 1 - 1 / e, epsilon / (levels - 1))
    more = 0
    while (mechanism := Geometric(size=levels, ratio=ratio + more)).epsilon > epsilon:
        more = 2 * more + 1
    return mechanism


def categories(size: int, epsilon: Decimal) -> Subset:
    """The mechanism for one of `size` symbols."""
    e = math.exp(epsilon)
    lower = max(1, int(size / (e + 1)))
    candidates = [subset(size, weight, epsilon) for weight in (lower, min(lower + 1, size - 1))]
    return min(candidates, key=lambda mechanism: bit_variance(mechanism, 1 / size))


def _joint(questions: Sequence[Question], epsilon: Decimal) -> Choice:
    best = categories(sum(1 for _ in possible_cells(questions)), epsilon)
    return Choice(best, joint_levels(questions), bit_variance(best, 1 / best.size))


def joint_levels(questions: Sequence[Question]) -> tuple[int, ...]:
    """The levels of each number in a joint field."""
    return tuple(JOINT_LEVELS if question.levels else 0 for question in questions)


def _levels(question: Question, epsilon: Decimal) -> Choice:
    choices: list[Choice] = []
    for levels in range(2, min(MOST_LEVELS, question.steps + 1) + 1):
        mechanism = subset(levels + question.optional, 1, epsilon)
        variance = level_variance(float(mechanism.p), float(mechanism.q), levels)
        choices.append(Choice(mechanism, (levels,), variance / 4))
        if variance > 4 * choices[0].variance:  # it falls, then rises
            break
    return min(choices, key=lambda choice: choice.variance)


def _laplace(question: Question, epsilon: Decimal) -> Choice:
    levels = min(question.steps + 1, MOST_LEVELS)
    mechanism = geometric(levels, epsilon)
    variance = geometric_variance(mechanism, rounded=levels <= question.steps)
    return Choice(mechanism, (levels,), variance / 4)


def _multiple(question: Question, epsilon: Decimal) -> Choice:
    """All 2^m sets as one choice, or some options drawn at random: whichever is more precise for one option.

    If both are the same, all sets are better: they also tell which options go together.
    """
    size = len(question.labels) + question.optional
    choices: list[Choice] = []
    if question.size <= MOST_SETS:
        cells = categories(question.size, epsilon)
        choices.append(Choice(cells, (0,), union_variance(cells, question.no_answer // 2, OPTION)))
    for draw in range(1, min(size, MOST_DRAWN) + 1):
        some = drawn(size, draw, epsilon)
        choices.append(Choice(some, (0,), drawn_variance(some, OPTION)))
    return min(choices, key=lambda choice: rounded(choice.variance))


def rounded(variance: float) -> float:
    """A variance without its last digits, so that of two equal mechanisms the first is taken."""
    return float(f"{variance:.9g}")


def _floor(share: Callable[[Decimal], Decimal], epsilon: Decimal) -> int:
    with localcontext(PRECISE):
        return int((WHOLE * share(epsilon.exp()) - DOUBT).to_integral_value(rounding=ROUND_FLOOR))
