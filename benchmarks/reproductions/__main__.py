"""Write docs/reproductions.md and its charts: `make reproductions`, or `python -m benchmarks.reproductions`."""

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import click

from benchmarks.reproductions import RUNS, peers
from benchmarks.reproductions.figures import Section
from benchmarks.reproductions.libraries import CONTESTANTS
from benchmarks.reproductions.page import EXPERIMENTS, farthest, make, page

FAR = 5.0  # standard errors that chance does not explain
DOCS = Path(__file__).parents[2] / "docs"
Cells = dict[tuple[int, int], tuple[peers.Cell, peers.Cell]]


@click.command()
@click.option("--peers/--no-peers", "with_peers", default=True, help="Measure the other libraries too (two minutes).")
@click.option("--runs", type=click.IntRange(50), default=RUNS, show_default=True, help="Fewer are for a try only.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=DOCS, show_default=False, help="The folder to write to."
)
def main(with_peers: bool, runs: int, out: Path) -> None:
    """Make the page again."""
    start = time.monotonic()

    def tell(what: str) -> None:
        click.echo(f"{time.monotonic() - start:6.1f} s  {what}", err=True)

    with ProcessPoolExecutor(2) as pool:
        places = [(place, column) for place in range(len(CONTESTANTS)) for column in range(len(peers.SIZES))]
        cells = [cell for cell in places if with_peers or CONTESTANTS[cell[0]].name.startswith("**Candor")]
        slow_first = sorted(cells, key=lambda cell: "OpenDP" not in CONTESTANTS[cell[0]].name)
        futures = {cell: pool.submit(peers.measure, *cell, runs) for cell in slow_first}
        sections = []
        for place, experiment in enumerate(EXPERIMENTS):
            sections.append(make(place, runs))
            tell(f"{place + 1} of {len(EXPERIMENTS)}: {experiment.name}")
        sections.append(peers.section(_collect(futures, tell)))
    _write(sections, out)
    tell(f"wrote {out / 'reproductions.md'}")
    _, worst = farthest(sections)
    if worst > FAR:
        raise click.ClickException(
            f"a simulated number is {worst:.0f} standard errors from its theory; look at the page, one of them is wrong"
        )


def _collect(
    futures: dict[tuple[int, int], "Future[tuple[peers.Cell, peers.Cell]]"], tell: Callable[[str], None]
) -> Cells:
    cells: Cells = {}
    for number, (place, future) in enumerate(futures.items()):
        cells[place] = future.result()
        name = CONTESTANTS[place[0]].name.replace("*", "")
        tell(f"peers, {number + 1} of {len(futures)}: {name}, k = {peers.SIZES[place[1]]} {cells[place][0].trouble}")
    return cells


def _write(sections: list[Section], out: Path) -> None:
    charts = out / "reproductions"
    charts.mkdir(parents=True, exist_ok=True)
    (out / "reproductions.md").write_text(page(sections), encoding="utf-8")
    for section in sections:
        for name, svg in section.charts.items():
            (charts / name).write_text(svg + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
