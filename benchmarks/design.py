"""How good and how quick the search for blocks is: `python -m benchmarks.design`.

Surveys of mixed questions, with follow-ups, optional ones and weights. Up to twelve units all partitions are compared
too: the last column is what the search needs in parts of the best, at worst.
"""

import json
import time
from collections.abc import Sequence

import click
import numpy as np

from survey_app.authoring import build
from survey_app.authoring.design import Prices, best_blocks, unit_orders
from survey_app.authoring.fields import Wishes
from survey_app.authoring.partition import by_search, exactly

SIZES = (10, 12, 20, 40, 60)
MOST_COMPARED = 12
EPSILONS = (1, 2, 4, 6)
SURVEYS, QUICK_SURVEYS = 8, 1

KINDS: Sequence[dict[str, object]] = (
    {"type": "yes_no"},
    {"type": "yes_no", "optional": "true"},
    {"type": "choice", "options": ["a", "b", "c"]},
    {"type": "choice", "options": ["a", "b", "c", "d", "e", "f"]},
    {"type": "scale", "points": ["a", "b", "c", "d", "e"]},
    {"type": "multiple", "options": ["a", "b", "c", "d"]},
    {"type": "number", "min": "0", "max": "60"},
    {"type": "number", "min": "0", "max": "100", "bins": "4"},
)


def survey(count: int, epsilon: int, rng: np.random.Generator) -> bytes:
    """A file of so many questions."""
    questions: list[dict[str, object]] = []
    for i in range(count):
        one = {"id": f"q{i}", "text": "?", **KINDS[int(rng.integers(len(KINDS)))]}
        parents = [known["id"] for known in questions if known["type"] == "yes_no"]
        if parents and rng.random() < 0.25:
            one.pop("optional", None)
            one["show_if"] = {"question": parents[int(rng.integers(len(parents)))], "is": ["yes"]}
        if rng.random() < 0.2:
            one["weight"] = str(rng.choice([0.5, 2, 3]))
        questions.append(one)
    said = {"slug": "s", "title": "S", "epsilon": str(epsilon), "ask": "one", "questions": questions}
    return json.dumps(said).encode()


def ratio(wishes: Wishes, epsilon: int) -> float:
    """What the search needs in parts of the best of all partitions."""
    units = [[wishes.asked[item.question.id] for item in group] for group in wishes.groups]
    prices = Prices(units, epsilon)
    found = by_search(range(len(units)), prices.__getitem__, unit_orders(prices))
    return sum(prices[block] for block in found) / sum(
        prices[block] for block in exactly(range(len(units)), prices.__getitem__)
    )


@click.command()
@click.option("--quick", is_flag=True, help="One survey of each kind.")
def main(quick: bool) -> None:
    """Print the table."""
    rng = np.random.default_rng()
    count = QUICK_SURVEYS if quick else SURVEYS
    print(f"Designs: {count} random surveys of each size and ε; medians, and the longest time and the worst ratio")
    print(f"{'questions':>9}{'ε':>4}{'split':>12}{'one':>10}{'auto':>9}{'blocks':>8}{'seconds':>9}{'search/best':>13}")
    for size in SIZES:
        for epsilon in EPSILONS:
            rows, ratios = [], []
            for _ in range(count):
                built = build(survey(size, epsilon, rng), json_file=True)
                units = [[built.wishes.asked[item.question.id] for item in group] for group in built.wishes.groups]
                start = time.perf_counter()
                blocks = best_blocks(units, epsilon)
                taken = time.perf_counter() - start
                needed = [built.designs[ask].respondents for ask in ("all", "one", "auto")]
                rows.append([*needed, len(blocks), taken])
                if size <= MOST_COMPARED:
                    ratios.append(ratio(built.wishes, epsilon))
            split, one, auto, several, _ = np.median(rows, axis=0)
            longest = max(row[-1] for row in rows)
            worst = f"{max(ratios):.4f}" if ratios else "-"
            print(
                f"{size:>9}{epsilon:>4}{split:>12,.0f}{one:>10,.0f}{auto:>9,.0f}{several:>8.0f}{longest:>9.3f}{worst:>13}"
            )


if __name__ == "__main__":
    main()
