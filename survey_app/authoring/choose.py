"""From ε to integers: which mechanism a field gets, and its thresholds.

Subset selection with the better of the two weights around k/(e^ε+1) is within 1% of the best known mechanism for
every k below 50(e^ε+1)+100, optimized unary encoding above. Thresholds come from `decimal` with 60 digits and are
rounded the private way: a mechanism never spends more than the ε it was made for.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from client.definition import Question
from client.errors import DefinitionError
from client.mechanism import Flip, Geometric, Mechanism, Sampled, Subset, Unary
from client.sampling import WHOLE
from survey_app.channel import bit_variance, geometric_variance, level_variance, sampled_variance, union_variance

PRECISE = Context(prec=60)
DOUBT = Decimal("1e-30")  # far more than 60 digits can err by in a threshold: rounding down is down for certain
LEAST_EPSILON, MOST_EPSILON = Decimal("0.000001"), 40
PLANNING_SHARE = 0.2  # of a yes, where a plan needs a guess
PLANNING_OPTION = 0.3  # of one option of a multiple
MOST_CELLS = 2**10 + 1  # sets of a multiple that are randomized as one choice
MOST_DRAWN = 32
MOST_LEVELS = 64
LEVELS_PER_EPSILON = 4900  # keeps geometric noise under 10,000 coins on average


@dataclass(frozen=True)
class Choice:
    """A mechanism, the levels of each number (0 for other questions), and n·Var at planning shares."""

    mechanism: Mechanism
    levels: tuple[int, ...]
    variance: float


def choose(questions: Sequence[Question], epsilon: Decimal, *, laplace: bool = False) -> Choice:
    """The mechanism for a field over these questions; DefinitionError if there is none at this ε."""
    if epsilon > MOST_EPSILON:
        raise DefinitionError("bad_mechanism", "", f"above {MOST_EPSILON} nothing is protected")
    if epsilon < LEAST_EPSILON:
        raise DefinitionError("bad_mechanism", "", f"below {LEAST_EPSILON} there is nothing left to estimate")
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
        return Choice(mechanism, (0,), bit_variance(mechanism, PLANNING_SHARE))
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


def unary(size: int, epsilon: Decimal) -> Unary:
    """Optimized unary encoding: ½ for the true symbol, 1/(e+1) for each other."""
    return Unary(size=size, one=WHOLE // 2, zero=WHOLE - _floor(lambda e: e / (1 + e), epsilon))


def geometric(levels: int, epsilon: Decimal) -> Geometric:
    """Two-sided geometric noise, r = e^(−ε/(L−1)) rounded up, in the fewest bits that hold it."""
    with localcontext(PRECISE):
        ratio = WHOLE - _floor(lambda e: 1 - 1 / e, epsilon / (levels - 1))
    for width in range(2, 32):
        with suppress(DefinitionError):
            return Geometric(size=levels, ratio=ratio, width=width)
    return Geometric(size=levels, ratio=ratio, width=32)


def categories(size: int, epsilon: Decimal) -> Subset | Unary:
    """The mechanism for one of `size` symbols."""
    e = math.exp(epsilon)
    if size >= 50 * (e + 1) + 100:
        return unary(size, epsilon)
    lower = max(1, int(size / (e + 1)))
    candidates = [subset(size, weight, epsilon) for weight in (lower, min(lower + 1, size - 1))]
    return min(candidates, key=lambda mechanism: bit_variance(mechanism, 1 / size))


def _joint(questions: Sequence[Question], epsilon: Decimal) -> Choice:
    levels = tuple(2 if question.type == "number" and not question.bins else 0 for question in questions)
    size = math.prod(
        most + question.optional if most else question.size for question, most in zip(questions, levels, strict=True)
    )
    best = categories(size, epsilon)
    return Choice(best, levels, bit_variance(best, 1 / size))


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
    levels = min(question.steps, int(epsilon * LEVELS_PER_EPSILON)) + 1
    if levels < 2:
        raise DefinitionError("bad_mechanism", "", "ε is too small for Laplace noise; leave out mechanism: laplace")
    mechanism = geometric(levels, epsilon)
    variance = geometric_variance(mechanism.ratio / WHOLE, levels, rounded=levels <= question.steps)
    return Choice(mechanism, (levels,), variance / 4)


def _multiple(question: Question, epsilon: Decimal) -> Choice:
    """Some options drawn at random, or all 2^m sets as one choice: whichever is more precise for one option."""
    size = len(question.labels) + question.optional
    choices: list[Choice] = []
    for draw in range(1, min(size, MOST_DRAWN) + 1):
        with localcontext(PRECISE):
            coins = flip(epsilon / draw)
        drawn = Sampled(size=size, draw=draw, one=coins.one, zero=coins.zero)
        choices.append(Choice(drawn, (0,), sampled_variance(drawn, PLANNING_OPTION)))
    if question.size <= MOST_CELLS:
        cells = categories(question.size, epsilon)
        if isinstance(cells, Subset):
            variance = union_variance(cells, question.no_answer // 2, PLANNING_OPTION)
            choices.append(Choice(cells, (0,), variance))
    return min(choices, key=lambda choice: choice.variance)


def _floor(share: Callable[[Decimal], Decimal], epsilon: Decimal) -> int:
    with localcontext(PRECISE):
        return int((WHOLE * share(epsilon.exp()) - DOUBT).to_integral_value(rounding=ROUND_FLOOR))
