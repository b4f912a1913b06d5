"""Random surveys of all question types, and the respondents that a design takes, worked out from the definitions alone.

Nothing here uses the package's own formulas: cells are listed one by one, and the variance of a figure is that of its
score in one report, E[z²] − E[z]², over everything that can be meant and everything that can be sent.
"""

import itertools
import json
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

Question = dict[str, Any]

SHARES = {"yes_no": 0.2, "choice": 0.3, "multiple": 0.3, "number": 0.3}
RESPONDENTS = (1.959964 / 0.05) ** 2


def random_survey(chance: random.Random, units: int) -> dict[str, Any]:
    """Return a file with so many units: all types, weights, optional questions, follow-ups, own ε, joint groups."""
    total = chance.choice([0.5, 1, 1.5, 2, 3, 4, 4.5, 6])
    said: dict[str, Any] = {"slug": "s", "title": "t", "epsilon": str(total), "ask": "auto", "questions": []}
    joint: list[list[str]] = []
    for _ in range(units):
        members = [_add(said["questions"], chance) for _ in range(2 if chance.random() < 0.12 else 1)]
        if len(members) > 1 and math.prod(map(size, members)) <= 200:
            joint.append([one["id"] for one in members])
        elif len(members) > 1:
            said["questions"].pop()
    if joint:
        said["joint"] = joint
    together = {name for group in joint for name in group}
    for one in said["questions"]:
        if one["id"] in together:
            if chance.random() < 0.2:
                one["weight"] = str(chance.choice([0.5, 2, 3]))
        elif chance.random() < 0.08:
            one["epsilon"] = str(round(total * chance.choice([0.3, 0.6, 1]), 3))
        elif one["type"] == "yes_no" and "optional" not in one and "show_if" not in one and chance.random() < 0.1:
            if total >= 1.1:
                one["design"] = "coin"
        elif (
            one["type"] == "number"
            and set(one) <= {"id", "type", "text", "min", "max", "step"}
            and chance.random() < 0.1
        ):
            one["mechanism"] = "laplace"
        elif chance.random() < 0.25:
            one["weight"] = str(chance.choice([0.25, 0.5, 2, 4]))
    return said


def _add(questions: list[Question], chance: random.Random) -> Question:
    kind = chance.choice(["yes_no", "yes_no", "choice", "scale", "multiple", "number", "bins"])
    one: Question = {"id": f"q{len(questions)}", "type": "number" if kind == "bins" else kind, "text": "?"}
    if kind in ("choice", "multiple"):
        most = 9 if kind == "choice" else 5
        one["options"] = [f"o{i}" for i in range(chance.randint(2, most))]
    elif kind == "scale":
        one["points"] = [f"p{i}" for i in range(chance.randint(2, 7))]
        if chance.random() < 0.3:
            one["scores"] = [str(chance.randint(-5, 5)) for _ in one["points"]]
            one["scores"][0] = "7"
    elif one["type"] == "number":
        one |= {"min": "0", "max": str(chance.choice([3, 10, 60, 500])), "step": "1"}
        if kind == "bins":
            one["bins"] = str(chance.randint(2, 4))
    parents = [other for other in questions if other["type"] != "number"]
    if parents and chance.random() < 0.25:
        parent = chance.choice(parents)
        shown = chance.sample(labels(parent), chance.randint(1, len(labels(parent)) - 1))
        one["show_if"] = {"question": parent["id"], "is": shown}
    elif chance.random() < 0.2:
        one["optional"] = "true"
    questions.append(one)
    return one


def encode_file(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode()


def labels(one: Question) -> list[str]:
    if one["type"] == "yes_no":
        return ["no", "yes"]
    return [str(label) for key in ("options", "points") for label in one.get(key, [])]


def is_skippable(one: Question) -> bool:
    return "optional" in one or "show_if" in one


def symbols(one: Question, levels: int = 2) -> list[Any]:
    """Return all possible answers: a label, a set of labels, a level, or None for no answer."""
    if one["type"] == "multiple":
        options = labels(one)
        found: list[Any] = [frozenset(s) for n in range(len(options) + 1) for s in itertools.combinations(options, n)]
    elif one["type"] == "number":
        found = [*range(int(one["bins"]) if "bins" in one else levels)]
    else:
        found = [*labels(one)]
    return found + [None] * is_skippable(one)


def size(one: Question) -> int:
    return len(symbols(one))


def shows(parent: Question, symbol: Any, child: Question) -> bool:
    wanted = set(child["show_if"]["is"])
    if symbol is None:
        return False
    return bool(symbol & wanted) if parent["type"] == "multiple" else symbol in wanted


def cells(block: Sequence[Question]) -> list[tuple[Any, ...]]:
    """Return the combinations of answers that can occur."""
    places = {one["id"]: i for i, one in enumerate(block)}

    def possible(cell: tuple[Any, ...]) -> bool:
        for one, symbol in zip(block, cell, strict=True):
            parent = places.get(one.get("show_if", {}).get("question"))
            if parent is not None and symbol is not None and not shows(block[parent], cell[parent], one):
                return False
        return True

    return [cell for cell in itertools.product(*map(symbols, block)) if possible(cell)]


def answering_share(one: Question, questions: Sequence[Question]) -> float:
    if "show_if" not in one:
        return 0.9 if is_skippable(one) else 1.0
    parent = next(other for other in questions if other["id"] == one["show_if"]["question"])
    wanted = one["show_if"]["is"]
    if parent["type"] == "multiple":
        chosen = 1 - 0.7 ** len(wanted)
    elif parent["type"] == "yes_no":
        chosen = sum({"yes": 0.2, "no": 0.8}[label] for label in wanted)
    else:
        chosen = len(wanted) / len(labels(parent))
    return chosen * answering_share(parent, questions)


def score_sets(
    one: Question, questions: Sequence[Question], levels: int = 2
) -> Iterator[tuple[list[float], list[float]]]:
    """Yield for every main figure the score of each symbol, and the share of each symbol among people who are asked."""
    found = symbols(one, levels)
    there = answering_share(one, questions)
    if one["type"] == "scale" or (one["type"] == "number" and "bins" not in one):
        count = len(found) - is_skippable(one)
        if one["type"] == "scale":
            scores = [float(score) for score in one.get("scores", range(count))]
            shares = [1 / count] * count
        else:
            scores = [float(level) for level in range(levels)]
            steps = int(one["max"])
            shares = [0.0] * levels
            for i in range(steps + 1):
                below, up = divmod(i * (levels - 1), steps)
                shares[below] += (1 - up / steps) / (steps + 1)
                if up:
                    shares[below + 1] += up / steps / (steps + 1)
        width = max(scores) - min(scores)
        mean = sum(a * f for a, f in zip(scores, shares, strict=True))
        centred = [(a - mean) / width / there for a in scores]
        shares = [f * there for f in shares]
        yield centred + [0.0] * is_skippable(one), shares + [1 - there] * is_skippable(one)
        return
    events: list[Any] = ["yes"] if one["type"] == "yes_no" else [*labels(one)] or [*range(int(one["bins"]))]
    share, several = SHARES[one["type"]], one["type"] == "multiple"
    if "show_if" in one:
        share = there * (share if one["type"] in ("yes_no", "multiple") else 1 / len(events))
    for event in events:
        inside = [symbol is not None and (event in symbol if several else symbol == event) for symbol in found]
        # any spread of the people inside and outside will do: only the totals matter
        yield (
            [float(held) for held in inside],
            [share / sum(inside) if held else (1 - share) / (len(inside) - sum(inside)) for held in inside],
        )


def response_variance(scores: Sequence[float], shares: Sequence[float], p: float, weight: int = 1) -> float:
    """Return n·Var of Σ a f, if a set of `weight` symbols is sent that holds the true one with probability p."""
    k = len(scores)
    q = (weight - p) / (k - 1)
    mean = second = 0.0
    total, squares = sum(scores), sum(a * a for a in scores)
    for a, f in zip(scores, shares, strict=True):
        others, other_squares = total - a, squares - a * a
        pairs = (others**2 - other_squares) / ((k - 1) * (k - 2)) if k > 2 else 0.0
        for held, probability in ((1, p), (0, 1 - p)):
            drawn = weight - held
            expected = drawn * others / (k - 1)
            square = drawn * other_squares / (k - 1) + drawn * (drawn - 1) * pairs
            mean += f * probability * (expected + held * a)
            second += f * probability * (square + held * (2 * a * expected + a * a))
    return (second - mean**2) / (p - q) ** 2


def keep_chance(size: int, epsilon: float, weight: int = 1) -> float:
    e = math.exp(epsilon)
    return weight * e / (weight * e + size - weight)


def block_need(
    block: Sequence[Question], questions: Sequence[Question], p: float | None = None, *, epsilon: float = 0
) -> float:
    """Return the variance of a block of several questions, weighted, at p or at ε."""
    rows = cells(block)
    p = keep_chance(len(rows), epsilon) if p is None else p
    needs = []
    for place, one in enumerate(block):
        found = symbols(one)
        held = [found.index(cell[place]) for cell in rows]
        for scores, shares in score_sets(one, questions):
            by_cell = [shares[s] / held.count(s) for s in held]
            needs.append(response_variance([scores[s] for s in held], by_cell, p) * weight_of(one))
    return max(needs)


def weight_of(one: Question) -> float:
    return float(one.get("weight", 1))


def sets_need(one: Question, questions: Sequence[Question], draw: int, p: float) -> float:
    """Return the variance of a multiple choice of which `draw` options are drawn."""
    scores, shares = next(score_sets(one, questions))
    selected = sum(f for a, f in zip(scores, shares, strict=True) if a)
    options, sets = len(labels(one)) + is_skippable(one), 2**draw
    held = [float(i % 2) for i in range(sets)]
    return options / draw * response_variance(held, [2 / sets * (selected if a else 1 - selected) for a in held], p)


def noise_need(one: Question, questions: Sequence[Question], levels: int, ratio: float) -> float:
    """Return the variance of a number under clamped two-sided geometric noise."""
    _, shares = next(score_sets(one, questions, levels))
    ends = ratio / (1 - ratio)
    mean = second = 0.0
    for level, share in enumerate(shares):
        for sent in range(levels):
            far = abs(sent - level)
            chance = ratio**far / (1 + ratio) * (1 if sent in (0, levels - 1) else 1 - ratio)
            score = sent - ends * (sent == 0) + ends * (sent == levels - 1)
            mean += share * chance * score
            second += share * chance * score * score
    return (second - mean**2) / (levels - 1) ** 2


def question_need(one: Question, questions: Sequence[Question], epsilon: float) -> float:
    """Return the variance of a question alone, by its best mechanism, or by the one that its author chose."""
    if "design" in one:
        return response_variance([0, 1], [0.8, 0.2], 0.75)
    if "mechanism" in one:
        levels = min(int(one["max"]) + 1, 64)
        return noise_need(one, questions, levels, math.exp(-epsilon / (levels - 1)))
    if one["type"] == "number" and "bins" not in one:
        grids = {n: next(score_sets(one, questions, n)) for n in range(2, min(8, int(one["max"]) + 1) + 1)}
        return min(response_variance(*grid, keep_chance(n + is_skippable(one), epsilon)) for n, grid in grids.items())
    k, best = size(one), size(one) / (math.exp(epsilon) + 1)
    weights = {1} | {w for w in (math.floor(best), math.ceil(best)) if 1 <= w < k}
    figures = [*score_sets(one, questions)]
    ways = [max(response_variance(*one, keep_chance(k, epsilon, w), w) for one in figures) for w in weights]
    if one["type"] == "multiple":
        options = len(labels(one)) + is_skippable(one)
        ways += [sets_need(one, questions, r, keep_chance(2**r, epsilon)) for r in range(1, options + 1)]
    return min(ways)


def fewest_respondents(said: dict[str, Any]) -> float:
    """Return the respondents of the best design of all, by trying every partition of what may be merged."""
    questions, total = said["questions"], float(said["epsilon"])
    by_id = {one["id"]: one for one in questions}
    groups = [[by_id[name] for name in group] for group in said.get("joint", [])]
    in_groups = {one["id"] for group in groups for one in group}
    units = groups + [[one] for one in questions if one["id"] not in in_groups]
    fixed = [unit for unit in units if any({"epsilon", "design", "mechanism"} & set(one) for one in unit)]
    free = [unit for unit in units if unit not in fixed]
    known: dict[tuple[str, ...], float] = {}

    def price(units: Sequence[Sequence[Question]]) -> float:
        block = sorted((one for unit in units for one in unit), key=questions.index)
        name = tuple(one["id"] for one in block)
        if name not in known:
            epsilon = sum(float(one["epsilon"]) for one in block if "epsilon" in one) or total
            if len(block) == 1:
                known[name] = weight_of(block[0]) * question_need(block[0], questions, epsilon)
            elif len(units) > 1 and (
                len(block) > (6 if total > 4 else 4) or fewest_cells(block) > 64 or len(cells(block)) > 64
            ):
                known[name] = math.inf
            else:
                known[name] = block_need(block, questions, epsilon=epsilon)
        return known[name]

    def best(left: list[list[Question]]) -> float:
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        found = math.inf
        for n in range(len(rest) + 1):
            for others in itertools.combinations(range(len(rest)), n):
                here = price([first, *(rest[i] for i in others)])
                if here < found:
                    found = min(found, here + best([unit for i, unit in enumerate(rest) if i not in others]))
        return found

    return RESPONDENTS * (sum(price([unit]) for unit in fixed) + best(free))


def fewest_cells(block: Sequence[Question]) -> int:
    """Return a lower bound for the cells: those of the questions that depend on no other of the block."""
    names = {one["id"] for one in block}
    return math.prod(size(one) for one in block if one.get("show_if", {}).get("question") not in names)


def respondents(said: dict[str, Any], definition: dict[str, Any]) -> float:
    """Return how many respondents a published definition needs until every main figure has its margin."""
    questions = said["questions"]
    by_id = {one["id"]: one for one in questions}
    whole = sum(field.get("chance", 1) for field in definition["fields"])
    needs = []
    for field, levels in ((field, _levels(definition, field)) for field in definition["fields"]):
        block, form = [by_id[name] for name in field["questions"]], field["mechanism"]
        one, p = block[0], int(form.get("keep", form.get("one", 0))) / 2**64
        if len(block) > 1:
            assert form["weight"] == 1 and form["size"] == len(cells(block)) and levels <= 2
            need = block_need(block, questions, p)
        elif form["kind"] == "drawn":
            need = weight_of(one) * sets_need(one, questions, form["draw"], p)
        elif form["kind"] == "geometric":
            need = weight_of(one) * noise_need(one, questions, levels, int(form["ratio"]) / 2**64)
        else:
            figures = score_sets(one, questions, levels)
            need = weight_of(one) * max(response_variance(*figure, p, form.get("weight", 1)) for figure in figures)
        needs.append(need * whole / field.get("chance", 1) if "ask" in definition else need)
    return RESPONDENTS * max(needs)


def _levels(definition: dict[str, Any], field: dict[str, Any]) -> int:
    return max(int(one.get("levels", 0)) for one in definition["questions"] if one["id"] in field["questions"])
