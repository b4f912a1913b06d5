"""What a design saves, and how good the search for blocks is: `python -m benchmarks.design` writes docs/design.md.

The numbers are respondents until every main figure of a survey reaches its margin, for the people that authoring
assumes. The margin is ±5% of the figure's range at 95% confidence. The tables are exact. The surveys on which the
search is compared with all partitions are drawn from a stated seed, so that the page is reproducible.
`--search` prints the same comparison for new and larger surveys, with the time the search takes.
"""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from survey_app.authoring import build
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.blocks import (
    MARGIN,
    RESPONDENTS,
    Design,
    DesignQuestion,
    Prices,
    choose_randomization,
    compute_joint_cost_ratio,
    find_best_blocks,
    list_unit_orders,
)
from survey_app.authoring.design.partition import find_best_partition, search_partition
from survey_app.authoring.fields import DesignRequest
from survey_app.kinds.planning_assumptions import OPTION_SHARE, SKIP_SHARE, YES_SHARE
from survey_app.languages import numbers
from survey_app.plan.question_plan import make_question
from survey_app.plan.survey_plan import plan_survey

DOCS = Path(__file__).parent.parent / "docs" / "design.md"
EPSILONS = (1, 2, 3, 4, 6)
QUESTIONS = (3, 6, 9, 12)
MIXED_EPSILONS = (1, 2, 4)
OPTIONS = 10
PAIR_EPSILONS = (1, 2, 3, 4)
SEED, COMPARED_SURVEYS, UNITS = 15, 60, 10

MIXED: Sequence[dict[str, Any]] = (
    {"id": "yes", "type": "yes_no", "text": "?"},
    {"id": "why", "type": "choice", "text": "?", "options": [*"abcd"], "show_if": {"question": "yes", "is": ["yes"]}},
    {"id": "scale", "type": "scale", "text": "?", "points": [*"abcde"]},
    {"id": "several", "type": "multiple", "text": "?", "options": [*"abcd"]},
    {"id": "hours", "type": "number", "text": "?", "min": "0", "max": "24", "step": "0.1"},
    {"id": "maybe", "type": "choice", "text": "?", "options": [*"abc"], "optional": "true"},
)
PAIRS: dict[str, tuple[tuple[str, int | None], tuple[str, int | None]]] = {
    "yes or no, yes or no": (("yes_no", None), ("yes_no", None)),
    "3 points, 3 points": (("scale", 3), ("scale", 3)),
    "yes or no, 5 points": (("yes_no", None), ("scale", 5)),
    "5 points, 5 points": (("scale", 5), ("scale", 5)),
}
OPTIONAL_QUESTIONS: dict[str, tuple[str, int | None]] = {
    "yes or no": ("yes_no", None),
    "one of 3": ("choice", 3),
    "a scale of 5": ("scale", 5),
    "several of 4": ("multiple", 4),
    "a number": ("number", None),
}

ASSUMED = f"a yes at {YES_SHARE:.0%}, an option at {OPTION_SHARE:.0%}"
HEAD = f"""# How many respondents a design needs

Made by `python -m benchmarks.design`. Numbers are respondents until every main figure has a margin of
±{100 * MARGIN:g}% of its range, at 95% confidence: {ASSUMED}, the mean of a scale
or of a number that are spread evenly. ε is that of the whole survey: what a person gives away is the same whatever the
design.

- *Everything split* (`ask: all`): each device answers everything, and ε is split among the questions.
- *One question* (`ask: one`): each device answers one question at the full ε.
- *Best blocks* (`ask: auto`): each device answers one block of questions, randomized together at the full ε; the blocks
  are those that need the fewest, and each is drawn in proportion to its need.

[authoring.md](authoring.md) tells how blocks are found, [methods.md](methods.md) §15 has the formulas, and
`candor plan` ([planning.md](planning.md)) the numbers of your own file; it counts with the published chances, which are
whole millionths, and may say one respondent more.
"""
YES_OR_NO = """## Yes or no

Everything split / one question / **best blocks**.
"""
SIX = """## Six mixed questions

Yes or no, a follow-up of four options, a scale of five points, several of four options, a number, an optional choice of
three. *All shares ½* is what the same blocks take if half of the people say yes to everything, and so see the
follow-up. *The hardest alone* is what the most demanding of the six needs in a survey of its own.

The follow-up is the exception to "every main figure": it is planned as a share of all who were asked. One in five sees
it, so among those who do, where results are to be read first, its interval is about five times as wide.
"""
SIX_HEAD = [
    "ε", "everything split", "one question", "best blocks", "", "best blocks, all shares ½", "the hardest alone"
]  # fmt: skip
SEVERAL = """## Several of ten options

One question, of which each device answers for some options.
"""
PAIR_TEXT = """## The price of a pair

Respondents of two questions that are randomized together, in parts of those that they need apart. Below 1 the cross-tab
is free: it costs nothing, and saves some.
"""
OPTIONAL_TEXT = """## The price of `optional`

Respondents of a question that may be left out, and is by one in ten, in parts of those that it needs otherwise; asked
alone.
"""
SEARCH = f"""## The search

Up to ten units all partitions are compared. Above, a search finds the blocks; here it is held against all partitions of
{UNITS} mixed questions with follow-ups, optional ones and weights (seed {SEED}).
`python -m benchmarks.design --search` draws new ones, and larger ones.
"""


def build_designs(questions: Sequence[dict[str, Any]], epsilon: float) -> dict[Ask, Design]:
    """Return the designs of a survey of these questions, by the value of `ask`."""
    return build(_file(questions, epsilon), json_file=True).designs


def _file(questions: Sequence[dict[str, Any]], epsilon: float, ask: str = "auto") -> bytes:
    definition = {"slug": "s", "title": "S", "epsilon": str(epsilon), "ask": ask, "questions": list(questions)}
    return json.dumps(definition).encode()


def format_table(text: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a section with its table, in Markdown."""
    lines = "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))
    return f"{text}\n{lines}"


def _epsilon_headings(epsilons: Sequence[int]) -> list[str]:
    return [f"ε = {epsilon}" for epsilon in epsilons]


def build_page() -> str:
    """Return the whole page."""
    parts = (
        HEAD,
        yes_or_no_section(),
        mixed_section(),
        options_section(),
        pairs_section(),
        optional_section(),
        search_section(),
    )
    return "\n".join(parts)


def yes_or_no_section() -> str:
    rows = []
    for count in QUESTIONS:
        questions = [{"id": f"q{i}", "type": "yes_no", "text": "?"} for i in range(count)]
        design_sets = [build_designs(questions, epsilon) for epsilon in EPSILONS]
        rows.append([str(count), *(_three_counts(design_set) for design_set in design_sets)])
    return format_table(YES_OR_NO, ["questions", *_epsilon_headings(EPSILONS)], rows)


def _three_counts(design_set: dict[Ask, Design]) -> str:
    split, one, best = (numbers.format_count(design_set[ask].respondents) for ask in (Ask.ALL, Ask.ONE, Ask.AUTO))
    return f"{split} / {one} / **{best}**"


def mixed_section() -> str:
    rows = []
    for epsilon in MIXED_EPSILONS:
        design_set = build_designs(MIXED, epsilon)
        split, one, best = (design_set[ask].respondents for ask in (Ask.ALL, Ask.ONE, Ask.AUTO))
        hardest = max(
            build_designs([question], epsilon)[Ask.AUTO].respondents for question in MIXED if "show_if" not in question
        )
        half = plan_survey(_file(MIXED, epsilon), json_file=True).variant(Ask.AUTO)
        counts = [split, one, best]
        rows.append(
            [
                str(epsilon),
                *(numbers.format_count(count) for count in counts),
                f"{numbers.format_quantity(split / best)} times fewer",
                numbers.format_respondents(half.at_half if half else None),
                numbers.format_count(hardest),
            ]
        )
    return format_table(SIX, SIX_HEAD, rows)


def options_section() -> str:
    question = make_question("multiple", options=OPTIONS)
    choices = [choose_randomization(question, 1.0, math.exp(epsilon)) for epsilon in EPSILONS]
    rows = [
        ["options drawn by a device", *(str(choice.draw) for choice in choices)],
        ["respondents", *(numbers.format_count(math.ceil(RESPONDENTS * choice.variance)) for choice in choices)],
    ]
    return format_table(SEVERAL, ["", *_epsilon_headings(EPSILONS)], rows)


def pairs_section() -> str:
    rows = []
    for name, pair in PAIRS.items():
        questions = [make_question(kind, options=options) for kind, options in pair]
        asked_questions = [
            DesignQuestion(replace(question, id=f"q{i}"), i, 1.0, 1.0) for i, question in enumerate(questions)
        ]
        rows.append(
            [
                name,
                *(
                    numbers.format_cost_factor(compute_joint_cost_ratio(asked_questions, epsilon))
                    for epsilon in PAIR_EPSILONS
                ),
            ]
        )
    return format_table(PAIR_TEXT, ["", *_epsilon_headings(PAIR_EPSILONS)], rows)


def optional_section() -> str:
    rows = []
    for name, (kind, options) in OPTIONAL_QUESTIONS.items():
        plain, optional = (make_question(kind, options=options, optional=optional) for optional in (False, True))
        prices = []
        for epsilon in PAIR_EPSILONS:
            odds = math.exp(epsilon)
            prices.append(
                choose_randomization(optional, 1 - SKIP_SHARE, odds).variance
                / choose_randomization(plain, 1.0, odds).variance
            )
        rows.append([name, *(numbers.format_cost_factor(price) for price in prices)])
    return format_table(OPTIONAL_TEXT, ["", *_epsilon_headings(PAIR_EPSILONS)], rows)


def search_section() -> str:
    """Return the section that compares the search with all partitions, on surveys of a stated seed."""
    rows = []
    for epsilon in (1, 2, 4, 6):
        rng = np.random.default_rng([SEED, epsilon])
        ratios = [
            search_ratio(build(random_survey(UNITS, epsilon, rng), json_file=True).request, epsilon)
            for _ in range(COMPARED_SURVEYS)
        ]
        best = sum(value < 1 + 1e-9 for value in ratios)
        rows.append([str(epsilon), f"{best} of {COMPARED_SURVEYS}", f"{max(ratios):.4f}"])
    return format_table(SEARCH, ["ε", "as good as the best", "worst, in parts of the best"], rows)


# random surveys

SIZES = (10, 12, 20, 40, 60)
MAX_COMPARED_SIZE = 12
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


def random_survey(count: int, epsilon: int, rng: np.random.Generator) -> bytes:
    """Return the file of a random survey of `count` questions."""
    questions: list[dict[str, object]] = []
    for i in range(count):
        question = {"id": f"q{i}", "text": "?", **KINDS[int(rng.integers(len(KINDS)))]}
        parents = [parent["id"] for parent in questions if parent["type"] == "yes_no"]
        if parents and rng.random() < 0.25:
            question.pop("optional", None)
            question["show_if"] = {"question": parents[int(rng.integers(len(parents)))], "is": ["yes"]}
        if rng.random() < 0.2:
            question["weight"] = str(rng.choice([0.5, 2, 3]))
        questions.append(question)
    return _file(questions, epsilon, "one")


def search_ratio(wishes: DesignRequest, epsilon: int) -> float:
    """Return the variance of the blocks found by the search, relative to that of the best partition."""
    units = [[wishes.design_questions[item.question.id] for item in group] for group in wishes.groups]
    prices = Prices(units, epsilon)
    blocks = search_partition(range(len(units)), prices.__getitem__, list_unit_orders(prices))
    return sum(prices[block] for block in blocks) / sum(
        prices[block] for block in find_best_partition(range(len(units)), prices.__getitem__)
    )


def print_search(quick: bool) -> None:
    """Print how good and how fast the search is on new surveys."""
    rng = np.random.default_rng()
    count = QUICK_SURVEYS if quick else SURVEYS
    print(f"Designs: {count} random surveys of each size and ε; medians, and the longest time and the worst ratio")
    print(f"{'questions':>9}{'ε':>4}{'split':>12}{'one':>10}{'auto':>9}{'blocks':>8}{'seconds':>9}{'search/best':>13}")
    for size in SIZES:
        for epsilon in (1, 2, 4, 6):
            rows, ratios = [], []
            for _ in range(count):
                built = build(random_survey(size, epsilon, rng), json_file=True)
                units = [
                    [built.request.design_questions[item.question.id] for item in group]
                    for group in built.request.groups
                ]
                start = time.perf_counter()
                blocks = find_best_blocks(units, epsilon)
                duration = time.perf_counter() - start
                respondents = [built.designs[ask].respondents for ask in (Ask.ALL, Ask.ONE, Ask.AUTO)]
                rows.append([*respondents, len(blocks), duration])
                if size <= MAX_COMPARED_SIZE:
                    ratios.append(search_ratio(built.request, epsilon))
            split, one, auto, several, _ = np.median(rows, axis=0)
            longest = max(row[-1] for row in rows)
            worst = f"{max(ratios):.4f}" if ratios else "-"
            print(
                f"{size:>9}{epsilon:>4}{split:>12,.0f}{one:>10,.0f}{auto:>9,.0f}{several:>8.0f}{longest:>9.3f}{worst:>13}"
            )


@click.command()
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=DOCS, help="The page; docs/design.md.")
@click.option("--search", "searching", is_flag=True, help="Instead: how good and quick the search is, on new surveys.")
@click.option("--quick", is_flag=True, help="With --search: one survey of each kind.")
def main(out: Path, searching: bool, quick: bool) -> None:
    """Write the page of designs, or print how good the search is."""
    if searching:
        print_search(quick)
    else:
        out.write_text(build_page(), encoding="utf-8")
        print(out)


if __name__ == "__main__":
    main()
