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
from survey_app.authoring.design.main_figures import cell_counts, design_share, main_figures
from survey_app.authoring.design.partition import cheapest
from survey_app.authoring.mechanism_choice import MOST_SETS, grids, rounded
from survey_app.channels.design_variance import Moments, blind_variance, blindness, event_moments, set_variance
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
class Asked:
    """A question, its place in the survey, its predicted response rate, and its weight.

    The weight multiplies its need of respondents.
    """

    question: Question
    place: int
    answering: float
    weight: float
    known: dict[tuple[int, ...], list[Polynomial]] = field(default_factory=dict, repr=False)

    def figures(self, cells: tuple[int, ...]) -> list[Polynomial]:
        """Return the main figures, if so many cells of a block hold each symbol. The result is cached."""
        if cells not in self.known:
            self.known[cells] = [
                (
                    self.weight * figure.true,
                    self.weight * (figure.true + figure.blind + figure.apart**2),
                    self.weight * figure.blind,
                )
                for figure in (
                    main_figure.moments for main_figure in main_figures(self.question, self.answering, cells)
                )
            ]
        return self.known[cells]


class Way(NamedTuple):
    """A randomization of a single question: its n·Var, its levels, and its mechanism without the thresholds."""

    variance: float
    question: Question
    weight: int = 1
    draw: int = 0


def best_way(question: Question, answering: float, odds: float) -> Way:
    """Return the best randomization of a single question. `odds` is e^ε."""
    return min(_ways(question, answering, odds), key=lambda way: rounded(way.variance))


def _ways(question: Question, answering: float, odds: float) -> Iterator[Way]:
    kind, has_sets = kind_of(question), type_of(question.type).has_sets
    if kind.is_rounded(question):
        for grid in grids(question, MOST_LEVELS):
            yield Way(blind_variance(_figure(grid, answering), blindness(grid.size, odds)), grid)
        return
    if not has_sets or question.size <= MOST_SETS:
        figure, size = _figure(question, answering), question.size
        lower_weight = int(size / (odds + 1))
        for weight in sorted({1, max(lower_weight, 1), min(lower_weight + 1, size - 1)}):
            p = weight * odds / (weight * odds + size - weight)
            yield Way(set_variance(figure, size, weight, p), question, weight=weight)
    if has_sets:
        options = kind.count(question)
        one_option = event_moments(design_share(question, answering), 0.5)
        for draw in range(1, min(options, MOST_DRAWN) + 1):
            yield Way(blind_variance(one_option, blindness(2**draw, odds)) * options / draw, question, draw=draw)


def _figure(question: Question, answering: float) -> Moments:
    (figure,) = main_figures(question, answering)
    return figure.moments


class Joint(NamedTuple):
    """Questions that are randomized jointly: their number of cells, and their main figures times their weights."""

    cells: int
    figures: Sequence[Polynomial]

    def price(self, tau: float) -> float:
        """Return n·Var of the most demanding figure."""
        return max(constant + tau * (linear + tau * square) for constant, linear, square in self.figures)


TOO_LARGE = Joint(MOST_MERGED_CELLS + 1, [(math.inf,) * 3])  # fits into no block with another unit


def joint(asked: Iterable[Asked]) -> Joint:
    """Return the cells and figures of jointly randomized questions. Impossible combinations are no cells."""
    ordered = sorted(asked, key=lambda item: item.place)
    counts = cell_counts([item.question for item in ordered])
    figures: list[Polynomial] = []
    for item, cells in zip(ordered, counts, strict=True):
        scale = math.gcd(*cells)
        figures += item.figures(tuple(count // scale for count in cells))
    return Joint(sum(counts[0]), figures)


def unit_price(unit: Sequence[Asked], odds: float) -> float:
    """Return the price of a unit by itself: of one question, or of a group that its author wants joint."""
    if len(unit) > 1:
        questions = joint(unit)
        return questions.price(blindness(questions.cells, odds))
    return unit[0].weight * best_way(unit[0].question, unit[0].answering, odds).variance


class Prices(dict[int, float]):
    """The price of every block of units at one ε, computed at the first lookup.

    A forbidden block has an infinite price.
    """

    def __init__(self, units: Sequence[Sequence[Asked]], epsilon: float) -> None:
        super().__init__()
        self.units, self.odds = units, math.exp(epsilon)
        self.most = MOST_MERGED_WEAK if epsilon > WEAK else MOST_MERGED
        small = [len(unit) > 1 or unit[0].question.size <= MOST_MERGED_CELLS for unit in units]
        self.parts = [joint(unit) if is_small else TOO_LARGE for unit, is_small in zip(units, small, strict=True)]
        self.counts, self.sizes = [len(unit) for unit in units], [part.cells for part in self.parts]
        self.products = [math.prod(item.question.size for item in unit) for unit in units]
        self.most_work = min(MOST_CELLS, MOST_WORK // len(units))  # keeps all blocks together below the limit
        self.kin = _kin(units)
        self.families: dict[int, Joint] = {}
        self.update({1 << i: unit_price(unit, self.odds) for i, unit in enumerate(units)})

    def __missing__(self, block: int) -> float:
        self[block] = price = self._price(block) if block.bit_count() <= self.most else math.inf
        return price

    def _price(self, block: int) -> float:
        members, remaining, related_mask = list[int](), block, 0
        questions, cells = 0, 1
        while remaining:
            unit = remaining & -remaining
            remaining ^= unit
            members.append(i := unit.bit_length() - 1)
            questions += self.counts[i]
            if self.kin[i] & block:
                related_mask |= unit
            else:
                cells *= self.sizes[i]
                if cells > MOST_MERGED_CELLS:
                    return math.inf
        if questions > self.most:
            return math.inf
        parts = [self.parts[i] for i in members if not related_mask >> i & 1]
        if related_mask:
            if math.prod(self.products[i] for i in members) > self.most_work:
                return math.inf
            parts.append(self._family(related_mask))
            cells *= parts[-1].cells
        tau = blindness(cells, self.odds)
        return max(part.price(tau) for part in parts) if cells <= MOST_MERGED_CELLS else math.inf

    def _family(self, block: int) -> Joint:
        """Join units that depend on each other, and return them as one.

        Their possible combinations have to be counted.
        """
        family = self.families.get(block)
        if family is None:
            members = [i for i in range(block.bit_length()) if block >> i & 1]
            large = any(self.parts[i] is TOO_LARGE for i in members)
            family = TOO_LARGE if large else joint(item for i in members for item in self.units[i])
            self.families[block] = family
        return family


def _kin(units: Sequence[Sequence[Asked]]) -> list[int]:
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


def best_blocks(units: Sequence[Sequence[Asked]], epsilon: float) -> list[list[int]]:
    """Return the units of every block of the design that needs the fewest respondents at this ε."""
    prices = Prices(units, epsilon)
    blocks = cheapest(len(units), prices.__getitem__, unit_orders(prices))
    return [[i for i in range(len(units)) if block >> i & 1] for block in blocks]


def unit_orders(prices: Prices) -> list[list[int]]:
    """Return orders in which neighbours are alike or related: by price, cells, blind variance and family."""
    places = range(len(prices.units))
    return [
        sorted(places, key=lambda i: prices[1 << i]),
        sorted(places, key=lambda i: prices.parts[i].cells),
        sorted(places, key=lambda i: max(square for *_, square in prices.parts[i].figures)),
        _families(prices.kin),
    ]


def _families(kin: Sequence[int]) -> list[int]:
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


def chances(needs: Sequence[float]) -> list[int]:
    """Return how often each block is drawn, in millionths: in proportion to its need, and at least once."""
    total = sum(needs)
    exact = [MOST_CHANCES * need / total for need in needs]
    parts = [max(math.floor(part), 1) for part in exact]
    by_remainder = sorted(range(len(needs)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: max(MOST_CHANCES - sum(parts), 0)]:
        parts[i] += 1
    parts[parts.index(max(parts))] += MOST_CHANCES - sum(parts)  # if even the minimum of 1 each exceeded the total
    return parts


def joint_price(group: Sequence[Asked], epsilon: float) -> float:
    """Return the need of jointly randomized questions, relative to their need in separate blocks.

    Below 1, a cross-tabulation of the questions costs no extra respondents.
    """
    odds = math.exp(epsilon)
    return unit_price(group, odds) / sum(unit_price((question,), odds) for question in group)
