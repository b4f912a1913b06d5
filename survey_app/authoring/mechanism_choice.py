"""The choice of a field's mechanism for a given ε, and its integer thresholds.

One bit gets randomized response. One of k symbols gets subset selection with the better of the two weights around
k/(e^ε+1), the best known mechanism for every k. A set of options gets some options drawn at random, or all sets as one
choice. Rounded answers get the best grid. Thresholds are computed in `decimal` with 60 digits and rounded towards
privacy. A mechanism never spends more than its given ε.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from candor_client.definition import possible_cells
from candor_client.errors import DefinitionError
from candor_client.mechanisms import MOST_DRAWN, MOST_LEVELS, Drawn, Flip, Geometric, Mechanism, Subset
from candor_client.question import Question
from candor_client.sampling import DENOMINATOR
from candor_client.types import type_of
from survey_app.channels.design_variance import level_variance, share_variance
from survey_app.channels.geometric import GeometricChannel
from survey_app.channels.subset import SubsetChannel
from survey_app.kinds import kind_of

PRECISE = Context(prec=60)
FLOOR_MARGIN = Decimal("1e-30")  # far above the error of 60 digits in a threshold: the floor is never too high
LEAST_EPSILON, MOST_EPSILON = Decimal("0.000001"), 40
MOST_SETS = 2**10 + 1  # sets of options that are randomized as one choice
JOINT_LEVELS = 2  # of rounded answers in a joint field


@dataclass(frozen=True)
class Choice:
    """A mechanism, its questions with the levels they are rounded to, and n·Var of the figure it was chosen for."""

    mechanism: Mechanism
    questions: tuple[Question, ...]
    variance: float


def check_epsilon(epsilon: Decimal) -> None:
    """Raise DefinitionError if no mechanism exists at this ε."""
    if epsilon > MOST_EPSILON:
        raise DefinitionError("bad_mechanism", "", f"above {MOST_EPSILON} nothing is protected")
    if epsilon < LEAST_EPSILON:
        raise DefinitionError("bad_mechanism", "", f"below {LEAST_EPSILON} nothing can be estimated")


def make_single(question: Question, epsilon: Decimal, *, weight: int = 1, draw: int = 0) -> Mechanism:
    """Return the mechanism of a single question: drawn options, a flip, or subset selection."""
    if draw:
        return make_drawn(kind_of(question).answer_count(question), draw, epsilon)
    return make_flip(epsilon) if kind_of(question).is_one_bit(question) else make_subset(question.size, weight, epsilon)


def choose(questions: Sequence[Question], epsilon: Decimal, *, laplace: bool = False) -> Choice:
    """Return the mechanism for a field over these questions. Raise DefinitionError if there is none at this ε."""
    check_epsilon(epsilon)
    if len(questions) > 1:
        return _choose_joint(questions, epsilon)
    question, kind = questions[0], kind_of(questions[0])
    if laplace:
        return _choose_laplace(question, epsilon)
    if type_of(question.type).has_sets:
        return _choose_for_sets(question, epsilon)
    if kind.is_rounded(question):
        return _choose_levels(question, epsilon)
    if kind.is_one_bit(question):
        mechanism = make_flip(epsilon)
        return Choice(mechanism, (question,), bit_variance(mechanism, kind.design_share(question)))
    best = choose_subset(question.size, epsilon)
    return Choice(best, (question,), bit_variance(best, 1 / question.size))


def bit_variance(mechanism: Flip | Subset | Drawn, share: float) -> float:
    """Return n·Var of a share that depends on one stored bit, among the respondents who are asked about it."""
    return share_variance(float(mechanism.p), float(mechanism.q), share)


def make_flip(epsilon: Decimal) -> Flip:
    """Return symmetric randomized response, the best mechanism for a yes or no: p = e/(1+e)."""
    threshold = _floor_threshold(lambda e: e / (1 + e), epsilon)
    return Flip(one=threshold, zero=DENOMINATOR - threshold)


def make_classic_flip(p: Fraction, q: Fraction) -> Flip:
    """Return a classic design with P(1 | yes) = p and P(1 | no) = q: p is rounded down, q up."""
    return Flip(one=math.floor(p * DENOMINATOR), zero=math.ceil(q * DENOMINATOR))


def make_subset(size: int, weight: int, epsilon: Decimal) -> Subset:
    """Return subset selection: keep = w e/(w e + k − w)."""
    keep = _floor_threshold(lambda e: weight * e / (weight * e + size - weight), epsilon)
    return Subset(size=size, weight=weight, keep=keep)


def make_drawn(size: int, draw: int, epsilon: Decimal) -> Drawn:
    """Return the mechanism that randomizes some drawn options jointly: keep = e/(e + 2^r − 1)."""
    keep = _floor_threshold(lambda e: e / (e + 2**draw - 1), epsilon)
    return Drawn(size=size, draw=draw, keep=keep)


def make_geometric(levels: int, epsilon: Decimal) -> Geometric:
    """Return two-sided geometric noise, r = e^(−ε/(L−1)) rounded up.

    The ratio is raised further if rounding would cost ε.
    """
    with localcontext(PRECISE):
        ratio = DENOMINATOR - _floor_threshold(lambda e: 1 - 1 / e, epsilon / (levels - 1))
    increment = 0
    while (mechanism := Geometric(size=levels, ratio=ratio + increment)).epsilon > epsilon:
        increment = 2 * increment + 1
    return mechanism


def choose_subset(size: int, epsilon: Decimal) -> Subset:
    """Return the best subset selection for one of `size` symbols."""
    e = math.exp(epsilon)
    lower = max(1, int(size / (e + 1)))
    candidates = [make_subset(size, weight, epsilon) for weight in (lower, min(lower + 1, size - 1))]
    return min(candidates, key=lambda mechanism: bit_variance(mechanism, 1 / size))


def _choose_joint(questions: Sequence[Question], epsilon: Decimal) -> Choice:
    mechanism = choose_subset(sum(1 for _ in possible_cells(questions)), epsilon)
    return Choice(mechanism, set_joint_levels(questions), bit_variance(mechanism, 1 / mechanism.size))


def set_joint_levels(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return the questions of a joint field. Rounded questions get few levels."""
    kinds = map(kind_of, questions)
    return tuple(
        kind.set_levels(question, JOINT_LEVELS) if kind.is_rounded(question) else question
        for kind, question in zip(kinds, questions, strict=True)
    )


def list_grids(question: Question, most: int) -> Iterator[Question]:
    """Yield a rounded question with every number of levels that it can have, up to `most`."""
    kind = kind_of(question)
    for levels in range(2, min(most, kind.max_levels(question)) + 1):
        yield kind.set_levels(question, levels)


def _choose_levels(question: Question, epsilon: Decimal) -> Choice:
    choices: list[Choice] = []
    for grid in list_grids(question, MOST_LEVELS):
        mechanism = make_subset(grid.size, 1, epsilon)
        variance = level_variance(float(mechanism.p), float(mechanism.q), grid.no_answer)
        choices.append(Choice(mechanism, (grid,), variance / 4))
        if variance > 4 * choices[0].variance:  # the variance falls, then rises
            break
    return min(choices, key=lambda choice: choice.variance)


def _choose_laplace(question: Question, epsilon: Decimal) -> Choice:
    kind = kind_of(question)
    finest = kind.max_levels(question)
    levels = min(finest, MOST_LEVELS)
    mechanism = make_geometric(levels, epsilon)
    variance = GeometricChannel(mechanism).worst_variance(rounded=levels < finest)
    return Choice(mechanism, (kind.set_levels(question, levels),), variance / 4)


def _choose_for_sets(question: Question, epsilon: Decimal) -> Choice:
    """Choose the more precise mechanism for one option: all 2^m sets as one choice, or some options drawn at random.

    If both are equal, all sets are better, because they also show which options are chosen jointly.
    """
    size, share = kind_of(question).answer_count(question), kind_of(question).design_share(question)
    choices: list[Choice] = []
    if question.size <= MOST_SETS:
        all_sets = choose_subset(question.size, epsilon)
        variance = SubsetChannel(all_sets).union_variance(question.no_answer // 2, share)
        choices.append(Choice(all_sets, (question,), variance))
    for draw in range(1, min(size, MOST_DRAWN) + 1):
        mechanism = make_drawn(size, draw, epsilon)
        choices.append(Choice(mechanism, (question,), bit_variance(mechanism, share) * size / draw))
    return min(choices, key=lambda choice: round_variance(choice.variance))


def round_variance(variance: float) -> float:
    """Return a variance without its last digits, so that the first of two equal mechanisms is chosen."""
    return float(f"{variance:.9g}")


def _floor_threshold(share: Callable[[Decimal], Decimal], epsilon: Decimal) -> int:
    with localcontext(PRECISE):
        return int((DENOMINATOR * share(epsilon.exp()) - FLOOR_MARGIN).to_integral_value(rounding=ROUND_FLOOR))
