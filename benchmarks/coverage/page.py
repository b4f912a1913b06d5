"""The page of docs/coverage.md: a line for each case, with the worst of its truths."""

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


SAID = ("**TOO LOW**", "as stated", "holds")  # the worst first


def worst_of(case: Case, outcomes: Sequence[Outcome]) -> Outcome:
    """The truth that decides: one that was looked at twice may be too low, and yet covered oftener than another."""
    return min(outcomes, key=lambda one: (SAID.index(verdict(case, one)), one.coverage))


def row(case: Case, outcomes: Sequence[Outcome]) -> list[str]:
    """One line of the table: the worst of its truths."""
    worst, runs = worst_of(case, outcomes), min(one.runs for one in outcomes)
    measured = f"{worst.coverage:.3f} ± {worst.error(worst.coverage):.3f}" if runs else f"{worst.coverage:.4f}"
    return [
        case.pair, case.setting, case.method, worst.label, f"{case.n:,}",
        f"{len(outcomes)} × {runs:,} runs" if runs else f"{len(outcomes)}, exact",
        measured + (f", {worst.runs:,} runs" if worst.runs > runs else ""),
        worst.truth, f"{np.mean([one.width for one in outcomes]):.3g}", verdict(case, worst),
    ]  # fmt: skip


def page(measured: list[tuple[Case, list[Outcome]]]) -> str:
    """The page; what is too low comes first."""
    rows = [row(case, outcomes) for case, outcomes in measured]
    low = [one for one in rows if "LOW" in one[-1]]
    head = HEAD.format(nominal=NOMINAL, errors=ERRORS, stated=APPROXIMATE, again=SECOND_LOOK)
    found = f"**Too low, {len(low)} of {len(rows)} lines:**\n\n{table(low)}\n" if low else "No line is too low.\n"
    said = [one[-1] for one in rows]
    counted = f"{len(rows)} lines: {said.count('holds')} hold, {said.count('as stated')} are as stated."
    return f"{head}{counted} {found}\n## All lines\n\n{table(rows)}"


def table(rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    return "".join(f"| {' | '.join(one)} |\n" for one in lines)
