"""The design of a survey: the blocks of questions that a device answers, and how often each block is drawn.

Each device answers one block at the full ε. The questions of a block are randomized jointly and share only the number
of its cells. A block needs as many respondents as its most demanding question. The survey needs as many as all its
blocks in total. A block is drawn in proportion to its need. `ask: auto` searches for the blocks that need the fewest
(docs/methods.md §15).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from candor_client.definition import MOST_CELLS, MOST_CHANCES, MOST_WORK
from candor_client.mechanisms import MOST_DRAWN
from candor_client.question import Question
from candor_client.types import type_of
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.main_figures import count_cells, design_share, main_figures
from survey_app.authoring.design.partition import find_cheapest_blocks
from survey_app.authoring.mechanism_choice import MOST_SETS, list_grids, round_variance
from survey_app.channels.design_variance import (
    Moments,
    event_moments,
    k_ary_variance,
    subset_variance,
    uniform_draw_odds,
)
from survey_app.kinds import kind_of

MARGIN = 0.05  # of every main figure, as a part of its range
RESPONDENTS = (1.959964 / MARGIN) ** 2  # needed for n·Var = 1, at 95% confidence
MOST_MERGED_CELLS = 64
MOST_MERGED, MOST_MERGED_WEAK, WEAK = 4, 6, 4.0  # questions in a merged block; some more above an ε of 4
MOST_LEVELS = 8


Polynomial = tuple[float, float, float]  # n·Var = (1 + τ)(v_f + τ v_u) + τ d², by powers of τ


@dataclass(frozen=True)
class Block:
    """Questions that are randomized jointly, and the respondents they need if everybody answers them."""

    questions: tuple[str, ...]
    chance: int
    need: float


@dataclass(frozen=True)
class Design:
    """The blocks of a survey. Each device answers all of them, or one that it draws (`ask` is auto or one)."""

    ask: Ask
    blocks: tuple[Block, ...]

    @property
    def respondents(self) -> int:
        """The respondents needed until every main figure has its margin, and a figure of weight w its margin/√w."""
        needs = [block.need for block in self.blocks]
        return math.ceil(max(needs) if self.ask is Ask.ALL else sum(needs))


@dataclass(frozen=True, eq=False)
class DesignQuestion:
    """A question, its place in the survey, its predicted response rate, and its weight.

    The weight multiplies its need of respondents.
    """

    question: Question
    place: int
    response_rate: float
    weight: float
    cache: dict[tuple[int, ...], list[Polynomial]] = field(default_factory=dict, repr=False)

    def figures(self, cells: tuple[int, ...]) -> list[Polynomial]:
        """Return the main figures, if `cells` of a block contain each symbol. The result is cached."""
        if cells not in self.cache:
            self.cache[cells] = [
                (
                    self.weight * figure.people_variance,
                    self.weight * (figure.people_variance + figure.uniform_variance + figure.mean_gap**2),
                    self.weight * figure.uniform_variance,
                )
                for figure in (
                    main_figure.moments for main_figure in main_figures(self.question, self.response_rate, cells)
                )
            ]
        return self.cache[cells]


class Randomization(NamedTuple):
    """A randomization of a single question: its n·Var, its levels, and its mechanism without the thresholds."""

    variance: float
    question: Question
    weight: int = 1
    draw: int = 0


def choose_randomization(question: Question, response_rate: float, odds: float) -> Randomization:
    """Return the best randomization of a single question. `odds` is e^ε."""
    return min(_list_randomizations(question, response_rate, odds), key=lambda way: round_variance(way.variance))


def _list_randomizations(question: Question, response_rate: float, odds: float) -> Iterator[Randomization]:
    kind, has_sets = kind_of(question), type_of(question.type).has_sets
    if kind.is_rounded(question):
        for grid in list_grids(question, MOST_LEVELS):
            yield Randomization(
                k_ary_variance(_find_main_moments(grid, response_rate), uniform_draw_odds(grid.size, odds)), grid
            )
        return
    if not has_sets or question.size <= MOST_SETS:
        figure, size = _find_main_moments(question, response_rate), question.size
        lower_weight = int(size / (odds + 1))
        for weight in sorted({1, max(lower_weight, 1), min(lower_weight + 1, size - 1)}):
            p = weight * odds / (weight * odds + size - weight)
            yield Randomization(subset_variance(figure, size, weight, p), question, weight=weight)
    if has_sets:
        options = kind.answer_count(question)
        one_option = event_moments(design_share(question, response_rate), 0.5)
        for draw in range(1, min(options, MOST_DRAWN) + 1):
            yield Randomization(
                k_ary_variance(one_option, uniform_draw_odds(2**draw, odds)) * options / draw, question, draw=draw
            )


def _find_main_moments(question: Question, response_rate: float) -> Moments:
    (figure,) = main_figures(question, response_rate)
    return figure.moments


class JointQuestions(NamedTuple):
    """Questions that are randomized jointly: their number of cells, and their main figures times their weights."""

    cells: int
    figures: Sequence[Polynomial]

    def price(self, tau: float) -> float:
        """Return n·Var of the most demanding figure."""
        return max(constant + tau * (linear + tau * square) for constant, linear, square in self.figures)


TOO_LARGE = JointQuestions(MOST_MERGED_CELLS + 1, [(math.inf,) * 3])  # fits into no block with another unit


def join_questions(questions: Iterable[DesignQuestion]) -> JointQuestions:
    """Return the cells and figures of jointly randomized questions. Impossible combinations are not counted."""
    ordered = sorted(questions, key=lambda item: item.place)
    counts = count_cells([item.question for item in ordered])
    figures: list[Polynomial] = []
    for item, cells in zip(ordered, counts, strict=True):
        scale = math.gcd(*cells)
        figures += item.figures(tuple(count // scale for count in cells))
    return JointQuestions(sum(counts[0]), figures)


def price_unit(unit: Sequence[DesignQuestion], odds: float) -> float:
    """Return the price of a separate unit: of one question, or of a group that its author wants joint."""
    if len(unit) > 1:
        questions = join_questions(unit)
        return questions.price(uniform_draw_odds(questions.cells, odds))
    return unit[0].weight * choose_randomization(unit[0].question, unit[0].response_rate, odds).variance


class Prices(dict[int, float]):
    """The price of every block of units at one ε, computed at the first lookup.

    A forbidden block has an infinite price.
    """

    def __init__(self, units: Sequence[Sequence[DesignQuestion]], epsilon: float) -> None:
        super().__init__()
        self.units, self.odds = units, math.exp(epsilon)
        self.most_questions = MOST_MERGED_WEAK if epsilon > WEAK else MOST_MERGED
        small = [len(unit) > 1 or unit[0].question.size <= MOST_MERGED_CELLS for unit in units]
        self.parts = [
            join_questions(unit) if is_small else TOO_LARGE for unit, is_small in zip(units, small, strict=True)
        ]
        self.counts, self.sizes = [len(unit) for unit in units], [part.cells for part in self.parts]
        self.products = [math.prod(item.question.size for item in unit) for unit in units]
        self.most_work = min(MOST_CELLS, MOST_WORK // len(units))  # keeps all blocks together below the limit
        self.related_units = _find_related_units(units)
        self.families: dict[int, JointQuestions] = {}
        self.update({1 << i: price_unit(unit, self.odds) for i, unit in enumerate(units)})

    def __missing__(self, block: int) -> float:
        self[block] = price = self._price(block) if block.bit_count() <= self.most_questions else math.inf
        return price

    def _price(self, block: int) -> float:
        members, remaining, related_mask = list[int](), block, 0
        questions, cells = 0, 1
        while remaining:
            unit = remaining & -remaining
            remaining ^= unit
            members.append(i := unit.bit_length() - 1)
            questions += self.counts[i]
            if self.related_units[i] & block:
                related_mask |= unit
            else:
                cells *= self.sizes[i]
                if cells > MOST_MERGED_CELLS:
                    return math.inf
        if questions > self.most_questions:
            return math.inf
        parts = [self.parts[i] for i in members if not related_mask >> i & 1]
        if related_mask:
            if math.prod(self.products[i] for i in members) > self.most_work:
                return math.inf
            parts.append(self._join_family(related_mask))
            cells *= parts[-1].cells
        tau = uniform_draw_odds(cells, self.odds)
        return max(part.price(tau) for part in parts) if cells <= MOST_MERGED_CELLS else math.inf

    def _join_family(self, block: int) -> JointQuestions:
        """Join units that depend on each other, and return them as one.

        Their possible combinations have to be counted.
        """
        family = self.families.get(block)
        if family is None:
            members = [i for i in range(block.bit_length()) if block >> i & 1]
            large = any(self.parts[i] is TOO_LARGE for i in members)
            family = TOO_LARGE if large else join_questions(item for i in members for item in self.units[i])
            self.families[block] = family
        return family


def _find_related_units(units: Sequence[Sequence[DesignQuestion]]) -> list[int]:
    """Return for every unit the mask of its related units: those that show one of its questions or are shown by one."""
    unit_of = {item.question.id: i for i, unit in enumerate(units) for item in unit}
    kin = [0] * len(units)
    for i, unit in enumerate(units):
        for item in unit:
            condition = item.question.show_if
            related = unit_of.get(condition.question, i) if condition else i
            if related != i:
                kin[i] |= 1 << related
                kin[related] |= 1 << i
    return kin


def find_best_blocks(units: Sequence[Sequence[DesignQuestion]], epsilon: float) -> list[list[int]]:
    """Return the units of every block of the design that needs the fewest respondents at this ε."""
    prices = Prices(units, epsilon)
    blocks = find_cheapest_blocks(len(units), prices.__getitem__, list_unit_orders(prices))
    return [[i for i in range(len(units)) if block >> i & 1] for block in blocks]


def list_unit_orders(prices: Prices) -> list[list[int]]:
    """Return orders in which neighbours are alike or related: by price, cells, blind variance and family."""
    places = range(len(prices.units))
    return [
        sorted(places, key=lambda i: prices[1 << i]),
        sorted(places, key=lambda i: prices.parts[i].cells),
        sorted(places, key=lambda i: max(square for *_, square in prices.parts[i].figures)),
        _order_by_family(prices.related_units),
    ]


def _order_by_family(kin: Sequence[int]) -> list[int]:
    """Return an order in which each unit is near its related units.

    Units with the fewest relations are the nearest.
    """
    order: list[int] = []
    stack = list(reversed(range(len(kin))))
    while stack:
        i = stack.pop()
        if i not in order:
            order.append(i)
            neighbours = [j for j in range(len(kin)) if kin[i] >> j & 1]
            stack += sorted(neighbours, key=lambda j: (-kin[j].bit_count(), -j))
    return order


def compute_chances(needs: Sequence[float]) -> list[int]:
    """Return how often each block is drawn, in millionths: in proportion to its need, and at least once."""
    total = sum(needs)
    exact = [MOST_CHANCES * need / total for need in needs]
    parts = [max(math.floor(part), 1) for part in exact]
    by_remainder = sorted(range(len(needs)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: max(MOST_CHANCES - sum(parts), 0)]:
        parts[i] += 1
    parts[parts.index(max(parts))] += MOST_CHANCES - sum(parts)  # if even the minimum of 1 each exceeded the total
    return parts


def compute_joint_cost_ratio(group: Sequence[DesignQuestion], epsilon: float) -> float:
    """Return the need of jointly randomized questions, relative to their need in separate blocks.

    Below 1, a cross-tabulation of the questions costs no extra respondents.
    """
    odds = math.exp(epsilon)
    return price_unit(group, odds) / sum(price_unit((question,), odds) for question in group)
