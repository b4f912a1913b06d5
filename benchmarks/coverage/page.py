"""The page docs/coverage.md: a line for each case, with the worst of its truths."""

from collections.abc import Sequence

import numpy as np

from benchmarks.coverage.study import APPROXIMATE, ERRORS, NOMINAL, SECOND_LOOK, Case, Outcome, verdict

HEAD = """# Coverage of every interval

Made by `make coverage` with the real pieces: simulated devices or all possible counts, the tally, the estimates.
Nominal coverage is {nominal:.0%}. *Worst* is the lowest coverage over the truths of a line, at the truth beside it.
Where all possible counts are enumerated it is exact. Elsewhere it comes from so many runs for each truth, drawn anew
whenever this page is made, with its standard error; being the lowest of several, it tends to be too low. Width is the
mean over runs and truths. People are drawn from a population, unless the line says otherwise. A test of independence
"covers" when it does not reject answers that are independent.

*Guaranteed* and *approximate* are the labels that results carry. The rule:

- *holds*: at most {errors:.0f} standard errors below nominal; where it is exact, not below nominal at all;
- *as stated*: less, but the label is approximate, and the measured coverage is at least {stated:.0%} (of the narrow
  intervals on request 91.7%), without any allowance;
- *too low*: everything else. A guaranteed interval holds or is too low.

Of so many truths some fall {errors:.0f} standard errors below by chance, about one in fifty of those that cover exactly
95%. So a truth that does not hold is simulated again with {again} times the runs, and only that second look counts.

"""
COLUMNS = ("question and mechanism", "setting", "interval", "label", "n", "truths", "worst", "at", "width", "")


VERDICTS = ("**TOO LOW**", "as stated", "holds")  # the worst first


def worst_of(case: Case, outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome that decides a case: the one with the worst verdict, and then the lowest coverage.

    An outcome of a second look may be too low, although its coverage is higher than that of another.
    """
    return min(outcomes, key=lambda outcome: (VERDICTS.index(verdict(case, outcome)), outcome.coverage))


def row(case: Case, outcomes: Sequence[Outcome]) -> list[str]:
    """Return one line of the table, with the worst of the case's truths."""
    worst, runs = worst_of(case, outcomes), min(outcome.runs for outcome in outcomes)
    coverage_text = f"{worst.coverage:.3f} ± {worst.error(worst.coverage):.3f}" if runs else f"{worst.coverage:.4f}"
    return [
        case.pair, case.setting, case.method, worst.label, f"{case.n:,}",
        f"{len(outcomes)} × {runs:,} runs" if runs else f"{len(outcomes)}, exact",
        coverage_text + (f", {worst.runs:,} runs" if worst.runs > runs else ""),
        worst.truth, f"{np.mean([outcome.width for outcome in outcomes]):.3g}", verdict(case, worst),
    ]  # fmt: skip


def page(measured: list[tuple[Case, list[Outcome]]]) -> str:
    """Return the page, on which lines that are too low come first."""
    rows = [row(case, outcomes) for case, outcomes in measured]
    low = [line for line in rows if "LOW" in line[-1]]
    head = HEAD.format(nominal=NOMINAL, errors=ERRORS, stated=APPROXIMATE, again=SECOND_LOOK)
    low_text = f"**Too low, {len(low)} of {len(rows)} lines:**\n\n{table(low)}\n" if low else "No line is too low.\n"
    verdicts = [line[-1] for line in rows]
    summary = f"{len(rows)} lines: {verdicts.count('holds')} hold, {verdicts.count('as stated')} are as stated."
    return f"{head}{summary} {low_text}\n## All lines\n\n{table(rows)}"


def table(rows: list[list[str]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)
