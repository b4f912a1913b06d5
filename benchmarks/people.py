"""The README's table of how many respondents a survey needs: `python -m benchmarks.people` rewrites it.

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

README = Path(__file__).parent.parent / "README.md"
EPSILONS: tuple[float, ...] = (4, 2, 1)
QUESTIONS = 6
PLACE = re.compile(r"(?<=<!-- people -->\n).*?(?=<!-- /people -->)", re.DOTALL)


def table() -> str:
    """Return the table in Markdown."""
    without_privacy = next(level.usual for level in guidance() if level.epsilon is None)
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
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _respondents(questions: int, epsilon: float, ask: Ask) -> int:
    questions_to_ask = [{"id": f"q{i}", "type": "yes_no", "text": "?"} for i in range(questions)]
    return build_designs(questions_to_ask, epsilon)[ask].respondents


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the table, and leave the README as it is.")
def main(only_print: bool) -> None:
    """Write the README's table of how many people a survey needs."""
    if not only_print:
        README.write_text(PLACE.sub(table(), README.read_text()))
    click.echo(table(), nl=False)


if __name__ == "__main__":
    main()
