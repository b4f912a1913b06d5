"""The integers of a field: how many symbols it has, whether they are valid, and how much ε they spend."""

import itertools
import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.independent import KEYS, NUMBERS, WHOLE, Object, integer, keys, matches_spelling, need

SLACK = Decimal("1e-9")


def steps(question: Object) -> int:
    low, high, step = (Fraction(question[key]) for key in ("min", "max", "step"))
    return int((high - low) / step)


def names(question: Object) -> list[str]:
    return list(question.get("options") or question.get("points") or ["no", "yes"])


def is_optional(question: Object) -> int:
    return int("optional" in question or "show_if" in question)


def size(question: Object) -> int:
    if question["type"] == "number":
        return int(question.get("levels") or question["bins"]) + is_optional(question)
    count = len(names(question))
    return (2**count if question["type"] == "multiple" else count) + is_optional(question)


def check_mechanism(made: Any, members: list[Object]) -> int:
    """Check that a field has a valid mechanism; return its work."""
    need(isinstance(made, dict) and f"mechanism {made.get('kind')}" in KEYS)
    kind = made["kind"]
    keys(made, f"mechanism {kind}")
    for key in {"one", "zero", "keep", "ratio"} & made.keys():
        need(matches_spelling(made[key], "threshold") and int(made[key]) < WHOLE)
    for key in {"size", "weight", "draw"} & made.keys():
        integer(made[key], 1, 2**53 - 1)
    cells, only = math.prod(size(one) for one in members), members[0]
    if len(members) > 1:
        need(kind in ("flip", "subset") and cells <= NUMBERS["cells of a joint field"])
    elif kind == "drawn":
        need(only["type"] == "multiple" and made["draw"] <= NUMBERS["options drawn"])
        return 1 << int(made["draw"])
    else:
        need(kind != "geometric" or ("levels" in only and not is_optional(only)))
    return cells


def check_size(made: Object, members: list[Object]) -> None:
    kind, only = made["kind"], members[0]
    symbols = len(cells_of(members)) if len(members) > 1 else size(only)
    need(made.get("size", 2) == (len(names(only)) + is_optional(only) if kind == "drawn" else symbols))
    keep, k, w, r = int(made.get("keep", 0)), made.get("size", 2), made.get("weight", 1), made.get("draw", 1)
    if kind == "flip":
        need(0 < int(made["zero"]) < int(made["one"]) < WHOLE)
    elif kind == "subset":
        need(1 <= w <= k - 1 and w * WHOLE < keep * k)
    elif kind == "drawn":
        need(r <= k and keep * 2**r > WHOLE)
    else:
        need(2 <= k <= NUMBERS["levels of geometric noise"])
        up = tails(made)
        need(2 * up[0] < WHOLE and all(after < before for before, after in itertools.pairwise(up)))


def tails(made: Object) -> list[int]:
    ratio = int(made["ratio"])
    return [-(-(ratio**k * 2**128) // (2 ** (64 * k) * (WHOLE + ratio))) for k in range(1, made["size"])]


def cells_of(members: Sequence[Object]) -> list[tuple[int, ...]]:
    """Return the combinations that can occur, in ascending order."""
    at = {one["id"]: place for place, one in enumerate(members)}

    def occurs(digits: tuple[int, ...]) -> bool:
        for one, digit in zip(members, digits, strict=True):
            parent = at.get(one["show_if"]["question"]) if "show_if" in one else None
            if parent is not None and digit != size(one) - 1:
                said = selected_labels(members[parent], digits[parent])
                if not {*said} & {*one["show_if"]["is"]}:
                    return False
        return True

    return [digits for digits in itertools.product(*(range(size(one)) for one in members)) if occurs(digits)]


def selected_labels(question: Object, symbol: int) -> list[str]:
    if question["type"] != "multiple":
        return names(question)[symbol : symbol + 1]
    none = symbol == 2 ** len(names(question))
    return [] if none else [label for i, label in enumerate(names(question)) if symbol >> i & 1]


def epsilon(definition: Object) -> Decimal:
    """Return the ε that the integers spend; raise DefinitionRefusal if it is above the claim."""
    losses = [loss(field["mechanism"]) for field in definition["fields"]]
    with localcontext(Context(prec=40)):
        spent = max(losses) if "ask" in definition else sum(losses, Decimal(0))
    need(spent <= Decimal(definition["epsilon"]) + SLACK, "above its claim")
    return spent


def loss(made: Object) -> Decimal:
    one, zero, keep = (int(made.get(key, 0)) for key in ("one", "zero", "keep"))
    if made["kind"] == "flip":
        odds = max(Fraction(one, zero), Fraction(WHOLE - zero, WHOLE - one))
    elif made["kind"] == "subset":
        odds = Fraction(keep * (made["size"] - made["weight"]), (WHOLE - keep) * made["weight"])
    elif made["kind"] == "drawn":
        odds = Fraction(keep * (2 ** made["draw"] - 1), WHOLE - keep)
    else:
        up = tails(made)
        inner = [WHOLE - 2 * up[0], *(before - after for before, after in itertools.pairwise(up))]
        odds = Fraction(WHOLE - up[0], up[-1])
        odds = max(odds, Fraction(max(inner), min(inner))) if made["size"] > 2 else odds
    with localcontext(Context(prec=50)):
        return (Decimal(odds.numerator) / odds.denominator).ln()


def width(made: Object) -> int:
    return 1 if made["kind"] == "flip" else int(made["size"]) * (2 if made["kind"] == "drawn" else 1)
