"""Run all benchmarks: `make bench`, or `python -m benchmarks NAME`. With `--quick`, only check that they run."""

import contextlib
import io
import sys
from pathlib import Path
from typing import TextIO

import click

from benchmarks import (
    aggregate,
    collect,
    memory,
    page,
    parquet,
    postgres,
    randomize,
    readers,
    simulation,
    surveys,
    tickets,
)

# tables for docs of their own, and what takes long to fill, have commands of their own
TABLES = {
    "randomize": ("Clients", randomize),
    "collect": ("Collecting", collect),
    "postgres": ("Collecting into PostgreSQL", postgres),
    "readers": ("Readers beside respondents", readers),
    "tickets": ("Tickets", tickets),
    "aggregate": ("Aggregation", aggregate),
    "parquet": ("Counting Parquet", parquet),
    "simulation": ("Simulation", simulation),
    "memory": ("Memory", memory),
    "surveys": ("Whole surveys", surveys),
}


class Tee(io.StringIO):
    """A text buffer that also passes everything on to another stream."""

    def __init__(self, on: TextIO) -> None:
        super().__init__()
        self._on = on

    def write(self, text: str) -> int:
        self._on.write(text)
        self._on.flush()
        return super().write(text)


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(TABLES)))
@click.option("--quick", is_flag=True, help="Small sizes: all of it runs in seconds, and the numbers mean little.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder for benchmarks.md and its charts.")
def main(names: tuple[str, ...], quick: bool, out: Path | None) -> None:
    """Print the tables, or those that are named."""
    if names and out:
        raise click.UsageError("the page has every table: name some, or give --out, not both")
    sections = []
    for name in names or TABLES:
        title, module = TABLES[name]
        with contextlib.redirect_stdout(Tee(sys.stdout)) as printed:
            charts = module.main(quick)
        about = (module.__doc__ or "").strip()
        sections.append(page.Section(title, about, printed.getvalue(), charts))
    if out:
        page.write(out, sections, quick=quick)


if __name__ == "__main__":
    main()
