"""Write docs/attacks.md: `python -m tests.attacks`."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.reproductions.figures import Section
from tests.attacks.files import files_section
from tests.attacks.owner import owner_section
from tests.attacks.pins import pins_section
from tests.attacks.posterior import belief_section
from tests.attacks.reasking import reasking_section
from tests.attacks.watching import clocks_section, polling_section
from tests.attacks.waves import waves_section

HEAD = """\
# Attacks

What somebody can try against a survey, tried for real with this code, beside what theory says they find. Where nothing is
found, the same attempt is shown to succeed against something weaker, so that it could. This page is written by
`python -m tests.attacks`, with fresh randomness each time; do not edit it. The tests run all of it at a small size. What follows from it for people is in [the threat model](threat-model.md); how to put a client to the test is told
in [clients](clients.md#audit).

A number with ± has its standard error, and its theory in the cell to its left.
"""
PAGE = Path(__file__).parents[2] / "docs" / "attacks.md"


def sections(folder: Path, *, people: int, events: int, runs: int) -> list[Callable[[], Section]]:
    """Return a function for each section of the page, in order; calling one runs its attack."""
    return [
        lambda: reasking_section(people, folder / "reasking"),
        lambda: belief_section(10 * people),
        lambda: pins_section(people),
        clocks_section,
        lambda: files_section(folder / "files", runs),
        lambda: polling_section(folder / "polling", events),
        lambda: owner_section(folder / "owner"),
        lambda: waves_section(folder / "waves"),
    ]


@click.command()
@click.option("--people", default=2_000, show_default=True, type=click.IntRange(20))
@click.option("--events", default=600, show_default=True, type=click.IntRange(10))
@click.option("--runs", default=100, show_default=True, type=click.IntRange(1))
@click.option("--out", type=click.Path(path_type=Path), default=PAGE, show_default=False, help="The file to write.")
def main(people: int, events: int, runs: int, out: Path) -> None:
    """Run every attack and write what it found: some minutes."""
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for one in sections(Path(folder), people=people, events=events, runs=runs):
            made.append(one())
            click.echo(made[-1].title, err=True)
    out.write_text("\n\n".join([HEAD.rstrip(), *(section.text for section in made)]) + "\n", encoding="utf-8")
    click.echo(f"wrote {out}", err=True)


if __name__ == "__main__":
    sys.exit(main())
