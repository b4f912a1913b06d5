"""The cheapest partition of units into blocks, if the price of every block is known.

A block is a set of units as a bit mask. Up to ten units, all partitions are compared. Above, several starts are
improved by moving, ejecting and swapping single units. The best of them is improved by comparing all partitions of a
few blocks at a time. The search is deterministic: of equal partitions the first is kept, so equal prices give equal
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


def cheapest(count: int, cost: Cost, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return the blocks of all units, sorted by their first units.

    Neighbours in one of the `orders` are likely to share a block. If the search over all units would take long,
    portions of the first order are searched one by one.
    """
    if count <= MOST_EXACT:
        return exactly(range(count), cost)
    size = count if count <= MOST_SEARCHED else PORTION
    portions = [orders[0][start : start + size] for start in range(0, count, size)]
    blocks = [block for portion in portions for block in by_search(portion, cost, orders)]
    return sorted(blocks, key=lambda block: block & -block)


def exactly(units: Sequence[int], cost: Cost) -> list[int]:
    """Return the best of all partitions.

    The lowest remaining unit is in some block, and the rest is a smaller problem.
    """
    masks, prices = [0], [0.0]  # of every set of units, numbered by their positions here
    for some in range(1, 1 << len(units)):
        masks.append(masks[some & (some - 1)] | 1 << units[(some & -some).bit_length() - 1])
        prices.append(cost(masks[some]))
    best, taken = [0.0], [0]
    for some in range(1, len(masks)):
        lowest = some & -some
        rest = some ^ lowest
        least, block, more = float("inf"), lowest, rest & -rest
        while True:  # all subsets of the rest, from its lowest unit on; the empty set last
            price = prices[lowest | more] + best[rest ^ more]
            if price < least * LESS:
                least, block = price, lowest | more
            if not more:
                break
            more = (more - rest) & rest
        best.append(least)
        taken.append(block)
    blocks, left = [], len(masks) - 1
    while left:
        blocks.append(masks[taken[left]])
        left ^= taken[left]
    return blocks


def by_search(units: Sequence[int], cost: Cost, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return the best partition found from greedy merging, and from the best cuts of each order into runs."""
    wanted = set(units)
    starts = [_greedy(sorted(units), cost), *(_runs([i for i in order if i in wanted], cost) for order in orders)]
    starts.sort(key=lambda blocks: _total(blocks, cost))
    exchange = Exchange(cost)
    found = [_improved(start, cost, exchange) for start in starts[:MOST_STARTS]]
    return _polished(min(found, key=lambda blocks: _total(blocks, cost)), cost)


def _polished(start: Sequence[int], cost: Cost) -> list[int]:
    """Repartition a few neighbouring blocks optimally, in several orders, up to a limit."""
    blocks, seen, changed = list(start), set[int](), True
    while changed:
        changed = False
        for order in (cost, lambda block: cost(block) / block.bit_count(), lambda block: block & -block):
            ring = sorted(blocks, key=order)
            for i in range(len(ring)):
                window = _window(ring[i:] + ring[:i])
                old = [block for block in blocks if block & window]
                if window in seen or len(seen) == MOST_WINDOWS or sum(old) != window:
                    continue
                seen.add(window)
                new = exactly([unit.bit_length() - 1 for unit in _units(window)], cost)
                if sum(map(cost, new)) < sum(map(cost, old)) * LESS:
                    blocks = [block for block in blocks if not block & window] + new
                    changed = True
    return blocks


def _window(blocks: Sequence[int]) -> int:
    """Return as many units of the first blocks as can be repartitioned quickly."""
    window = 0
    for block in blocks:
        if (window | block).bit_count() <= LARGEST_WINDOW:
            window |= block
    return window


def _total(blocks: Sequence[int], cost: Cost) -> float:
    """Return the total cost, without the last digits, in which equal sums may differ."""
    return float(f"{sum(map(cost, blocks)):.9g}")


def _greedy(units: Sequence[int], cost: Cost) -> list[int]:
    """Merge the two blocks that save most together, as long as any do."""
    blocks = [1 << i for i in units]

    def saving(one: int, other: int) -> float:
        apart = cost(one) + cost(other)
        return apart - cost(one | other) if cost(one | other) < apart * LESS else 0.0

    pairs = [(one, other) for i, other in enumerate(blocks) for one in blocks[:i]]
    savings = {pair: saved for pair in pairs if (saved := saving(*pair))}
    while savings:
        merged_pair = max(savings, key=savings.__getitem__)
        merged = merged_pair[0] | merged_pair[1]
        blocks = [block for block in blocks if block not in merged_pair]
        savings = {pair: saved for pair, saved in savings.items() if not (pair[0] | pair[1]) & merged}
        savings |= {(block, merged): saved for block in blocks if (saved := saving(block, merged))}
        blocks.append(merged)
    return blocks


def _runs(order: Sequence[int], cost: Cost) -> list[int]:
    """Return the best cuts of an order into runs of neighbours."""
    best, taken = [0.0], [0]
    for end in range(1, len(order) + 1):
        least, block, run = float("inf"), 0, 0
        for start in range(end - 1, max(end - 1 - LONGEST_RUN, -1), -1):
            run |= 1 << order[start]
            price = cost(run) + best[start]
            if price < least * LESS:
                least, block = price, run
        best.append(least)
        taken.append(block)
    blocks, end = [], len(order)
    while end:
        blocks.append(taken[end])
        end -= taken[end].bit_count()
    return blocks


class Exchange:
    """The best exchange between two blocks, computed once: one unit moves, or two swap places.

    The second block may be empty: then a unit is ejected.
    """

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.known: dict[tuple[int, int], tuple[int, ...]] = {}

    def __call__(self, one: int, other: int) -> tuple[int, ...]:
        """Return the two new blocks if they are cheaper together, else an empty tuple."""
        found = self.known.get((one, other))
        if found is None:
            found = self.known[one, other] = self._best(one, other)
        return found

    def _best(self, one: int, other: int) -> tuple[int, ...]:
        least = (self.cost(one) + (self.cost(other) if other else 0.0)) * LESS
        best: tuple[int, ...] = ()
        away, back = (0, *_units(one)), (0, *_units(other))
        for here in away:
            for there in back:
                first, second = one ^ here | there, other ^ there | here
                price = (self.cost(first) if first else 0.0) + (self.cost(second) if second else 0.0)
                if price < least:
                    least, best = price * LESS, (first, second)
        return best


def _units(block: int) -> list[int]:
    units = []
    while block:
        units.append(block & -block)
        block &= block - 1
    return units


def _improved(start: Sequence[int], cost: Cost, exchange: Exchange) -> list[int]:
    """Apply the best exchange of every two blocks, then dissolve blocks, until nothing changes."""
    blocks, changed = list(start), True
    while changed:
        changed = False
        for one in tuple(blocks):
            for other in (0, *blocks) if one in blocks else ():
                if (not other or one < other) and (better := exchange(one, other)):
                    blocks = [block for block in blocks if block not in (one, other)] + [new for new in better if new]
                    changed = True
                    break
        for block in () if changed else tuple(blocks):
            for order in (1, -1):
                if block in blocks and (fewer := _dissolved(blocks, block, cost, order)):
                    blocks, changed = fewer, True
    return blocks


def _dissolved(blocks: Sequence[int], gone: int, cost: Cost, order: int) -> list[int] | None:
    """Move each unit of one block to the place where it costs least; return None if that is no better."""
    left, before, price = [block for block in blocks if block != gone], cost(gone), 0.0
    for unit in _units(gone)[::order]:
        more = [cost(block | unit) - cost(block) for block in left] + [cost(unit)]
        least = min(range(len(more)), key=more.__getitem__)
        left[least : least + 1] = [left[least] | unit if least < len(left) else unit]
        price += more[least]
    return left if price < before * LESS else None
