"""The tables of how many respondents a survey needs, in README and docs/planning.md: `python -m benchmarks.people`.

The numbers are those of docs/design.md and of `candor plan --guidance`.
They count respondents until every share, a yes at 20%, is known to ±5 points at 95% confidence.
Without privacy everybody answers every question truthfully, so the number of questions does not matter.
"""

import re
from decimal import Decimal
from pathlib import Path

import click

from benchmarks.design import build_designs
from survey_app.authoring.ask import Ask
from survey_app.channels.posterior import SUSPICION, posterior_chance, prior_chance
from survey_app.languages import numbers
from survey_app.plan.epsilon_guide import list_levels as guidance

ROOT = Path(__file__).parent.parent
README, PLANNING = ROOT / "README.md", ROOT / "docs" / "planning.md"
EPSILONS: tuple[float, ...] = (4, 2, 1)
README_EPSILONS: tuple[float, ...] = (2, 1)
QUESTIONS = 6
PLACE = re.compile(r"(?<=<!-- people -->\n).*?(?=<!-- /people -->)", re.DOTALL)


def readme_table() -> str:
    """Return the README's table in Markdown: one question, and what becomes of a suspicion."""
    suspicion = numbers.format_chance(prior_chance(SUSPICION))
    rows = [
        ["one yes-or-no question, ±5 points", "people you need", f"a suspicion of {suspicion} becomes"],
        ["---", "---:", "---"],
        ["an ordinary survey", numbers.format_count(_respondents_without_privacy()), "certainty: it reads the answer"],
    ]
    for epsilon in README_EPSILONS:
        people = numbers.format_count(_respondents(1, epsilon, Ask.AUTO))
        posterior = numbers.format_chance(posterior_chance(SUSPICION, Decimal(epsilon)))
        rows.append([f"Candor at ε = {epsilon}", people, f"at most {posterior}"])
    return _format_table(rows)


def planning_table() -> str:
    """Return the table of docs/planning.md in Markdown: one question and several, by ε."""
    without_privacy = _respondents_without_privacy()
    single = [_respondents(1, epsilon, Ask.AUTO) for epsilon in EPSILONS]
    split, best = ([_respondents(QUESTIONS, epsilon, ask) for epsilon in EPSILONS] for ask in (Ask.ALL, Ask.AUTO))
    rows = [
        ["yes-or-no questions", "no privacy", *(f"ε = {epsilon}" for epsilon in EPSILONS)],
        ["---", *["---:"] * (1 + len(EPSILONS))],
        ["one", *map(numbers.format_count, (without_privacy, *single))],
        [f"{QUESTIONS}, ε split among them", *map(numbers.format_count, (without_privacy, *split))],
        [
            f"{QUESTIONS}, in Candor's best blocks",
            numbers.format_count(without_privacy),
            *(f"**{numbers.format_count(count)}**" for count in best),
        ],
        ["which is", "", *(f"{numbers.format_quantity(a / b)} times fewer" for a, b in zip(split, best, strict=True))],
        [
            f"a suspicion of {numbers.format_chance(prior_chance(SUSPICION))} becomes at most",
            "certainty",
            *(numbers.format_chance(posterior_chance(SUSPICION, Decimal(epsilon))) for epsilon in EPSILONS),
        ],
    ]
    return _format_table(rows)


def _format_table(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _respondents_without_privacy() -> int:
    return next(level.usual for level in guidance() if level.epsilon is None)


def _respondents(questions: int, epsilon: float, ask: Ask) -> int:
    questions_to_ask = [{"id": f"q{i}", "type": "yes_no", "text": "?"} for i in range(questions)]
    return build_designs(questions_to_ask, epsilon)[ask].respondents


TABLES = {README: readme_table, PLANNING: planning_table}


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the tables, and leave the pages as they are.")
def main(only_print: bool) -> None:
    """Write the tables of how many people a survey needs into README.md and docs/planning.md."""
    for page, make_table in TABLES.items():
        table = make_table()
        click.echo(table, nl=False)
        if not only_print:
            page.write_text(PLACE.sub(table, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
