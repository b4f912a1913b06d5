"""The cheapest partition of units into blocks, if the price of every block is known.

A block is a set of units as a bit mask. Up to ten units, all partitions are compared. Above, several starts are
improved by moving, ejecting and swapping single units. The best of them is improved by comparing all partitions of a
few blocks at a time. The search is deterministic: of equal partitions the first is returned, so equal prices give equal
blocks.
"""

from collections.abc import Callable, Sequence

Cost = Callable[[int], float]  # of a block; infinite if it is not allowed

MOST_EXACT = 10
MOST_SEARCHED, PORTION = 120, 60
LONGEST_RUN = 6
MOST_STARTS = 4
MOST_WINDOWS, LARGEST_WINDOW = 30, 8
LESS = 1 - 1e-9  # a smaller saving does not count


def find_cheapest_blocks(count: int, cost: Cost, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return the blocks of all units, sorted by their first units.

    Neighbours in one of the `orders` are likely to share a block. If the search over all units would take long,
    portions of the first order are searched one by one.
    """
    if count <= MOST_EXACT:
        return find_best_partition(range(count), cost)
    size = count if count <= MOST_SEARCHED else PORTION
    portions = [orders[0][start : start + size] for start in range(0, count, size)]
    blocks = [block for portion in portions for block in search_partition(portion, cost, orders)]
    return sorted(blocks, key=lambda block: block & -block)


def find_best_partition(units: Sequence[int], cost: Cost) -> list[int]:
    """Return the best of all partitions.

    The lowest remaining unit is in some block, and the other units are a smaller problem.
    """
    masks, prices = [0], [0.0]  # of every set of units, numbered by their positions here
    for subset in range(1, 1 << len(units)):
        masks.append(masks[subset & (subset - 1)] | 1 << units[(subset & -subset).bit_length() - 1])
        prices.append(cost(masks[subset]))
    best, last_blocks = [0.0], [0]
    for subset in range(1, len(masks)):
        lowest = subset & -subset
        rest = subset ^ lowest
        least, block, extension = float("inf"), lowest, rest & -rest
        while True:  # all subsets of the rest, from its lowest unit on; the empty set last
            price = prices[lowest | extension] + best[rest ^ extension]
            if price < least * LESS:
                least, block = price, lowest | extension
            if not extension:
                break
            extension = (extension - rest) & rest
        best.append(least)
        last_blocks.append(block)
    blocks, remaining = [], len(masks) - 1
    while remaining:
        blocks.append(masks[last_blocks[remaining]])
        remaining ^= last_blocks[remaining]
    return blocks


def search_partition(units: Sequence[int], cost: Cost, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return the best partition of a search from several starts.

    The starts are a greedy merge and the best cuts of each order into runs.
    """
    unit_set = set(units)
    starts = [
        _merge_greedily(sorted(units), cost),
        *(_cut_into_runs([i for i in order if i in unit_set], cost) for order in orders),
    ]
    starts.sort(key=lambda blocks: _total_cost(blocks, cost))
    exchange = Exchange(cost)
    partitions = [_improve(start, cost, exchange) for start in starts[:MOST_STARTS]]
    return _polish(min(partitions, key=lambda blocks: _total_cost(blocks, cost)), cost)


def _polish(start: Sequence[int], cost: Cost) -> list[int]:
    """Repartition a few neighbouring blocks optimally, in several orders, up to a limit."""
    blocks, searched, changed = list(start), set[int](), True
    while changed:
        changed = False
        for order in (cost, lambda block: cost(block) / block.bit_count(), lambda block: block & -block):
            ring = sorted(blocks, key=order)
            for i in range(len(ring)):
                window = _choose_window(ring[i:] + ring[:i])
                old = [block for block in blocks if block & window]
                if window in searched or len(searched) == MOST_WINDOWS or sum(old) != window:
                    continue
                searched.add(window)
                better = find_best_partition([unit.bit_length() - 1 for unit in _split_units(window)], cost)
                if sum(map(cost, better)) < sum(map(cost, old)) * LESS:
                    blocks = [block for block in blocks if not block & window] + better
                    changed = True
    return blocks


def _choose_window(blocks: Sequence[int]) -> int:
    """Return as many units of the first blocks as can be repartitioned quickly."""
    window = 0
    for block in blocks:
        if (window | block).bit_count() <= LARGEST_WINDOW:
            window |= block
    return window


def _total_cost(blocks: Sequence[int], cost: Cost) -> float:
    """Return the total cost, without the last digits, in which equal sums may differ."""
    return float(f"{sum(map(cost, blocks)):.9g}")


def _merge_greedily(units: Sequence[int], cost: Cost) -> list[int]:
    """Merge the two blocks with the largest saving, as long as any merge saves."""
    blocks = [1 << i for i in units]

    def compute_saving(first: int, second: int) -> float:
        separate_cost = cost(first) + cost(second)
        return separate_cost - cost(first | second) if cost(first | second) < separate_cost * LESS else 0.0

    pairs = [(first, second) for i, second in enumerate(blocks) for first in blocks[:i]]
    savings = {pair: amount for pair in pairs if (amount := compute_saving(*pair))}
    while savings:
        merged_pair = max(savings, key=savings.__getitem__)
        merged = merged_pair[0] | merged_pair[1]
        blocks = [block for block in blocks if block not in merged_pair]
        savings = {pair: amount for pair, amount in savings.items() if not (pair[0] | pair[1]) & merged}
        savings |= {(block, merged): amount for block in blocks if (amount := compute_saving(block, merged))}
        blocks.append(merged)
    return blocks


def _cut_into_runs(order: Sequence[int], cost: Cost) -> list[int]:
    """Return the best cuts of an order into runs of neighbours."""
    best, last_blocks = [0.0], [0]
    for end in range(1, len(order) + 1):
        least, block, run = float("inf"), 0, 0
        for start in range(end - 1, max(end - 1 - LONGEST_RUN, -1), -1):
            run |= 1 << order[start]
            price = cost(run) + best[start]
            if price < least * LESS:
                least, block = price, run
        best.append(least)
        last_blocks.append(block)
    blocks, end = [], len(order)
    while end:
        blocks.append(last_blocks[end])
        end -= last_blocks[end].bit_count()
    return blocks


class Exchange:
    """The best exchange between two blocks, computed once: one unit moves, or two swap places.

    The second block may be empty: then a unit is ejected.
    """

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.cache: dict[tuple[int, int], tuple[int, ...]] = {}

    def __call__(self, first: int, second: int) -> tuple[int, ...]:
        """Return the two new blocks if their total cost is lower, else an empty tuple."""
        exchange = self.cache.get((first, second))
        if exchange is None:
            exchange = self.cache[first, second] = self._find_best(first, second)
        return exchange

    def _find_best(self, first: int, second: int) -> tuple[int, ...]:
        least = (self.cost(first) + (self.cost(second) if second else 0.0)) * LESS
        best: tuple[int, ...] = ()
        units, other_units = (0, *_split_units(first)), (0, *_split_units(second))
        for unit in units:
            for other_unit in other_units:
                new_first, new_second = first ^ unit | other_unit, second ^ other_unit | unit
                price = (self.cost(new_first) if new_first else 0.0) + (self.cost(new_second) if new_second else 0.0)
                if price < least:
                    least, best = price * LESS, (new_first, new_second)
        return best


def _split_units(block: int) -> list[int]:
    units = []
    while block:
        units.append(block & -block)
        block &= block - 1
    return units


def _improve(start: Sequence[int], cost: Cost, exchange: Exchange) -> list[int]:
    """Apply the best exchange of every two blocks, then dissolve blocks, until nothing changes."""
    blocks, changed = list(start), True
    while changed:
        changed = False
        for first in tuple(blocks):
            for second in (0, *blocks) if first in blocks else ():
                if (not second or first < second) and (exchanged := exchange(first, second)):
                    blocks = [block for block in blocks if block not in (first, second)] + [
                        new for new in exchanged if new
                    ]
                    changed = True
                    break
        for block in () if changed else tuple(blocks):
            for order in (1, -1):
                if block in blocks and (fewer := _dissolve(blocks, block, cost, order)):
                    blocks, changed = fewer, True
    return blocks


def _dissolve(blocks: Sequence[int], target: int, cost: Cost, order: int) -> list[int] | None:
    """Move each unit of one block to the place where it costs least. Return None if that is no better."""
    remaining, old_cost, price = [block for block in blocks if block != target], cost(target), 0.0
    for unit in _split_units(target)[::order]:
        extra_costs = [cost(block | unit) - cost(block) for block in remaining] + [cost(unit)]
        place = min(range(len(extra_costs)), key=extra_costs.__getitem__)
        remaining[place : place + 1] = [remaining[place] | unit if place < len(remaining) else unit]
        price += extra_costs[place]
    return remaining if price < old_cost * LESS else None
