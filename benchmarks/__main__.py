"""Every benchmark in one run: `make bench`, or `python -m benchmarks NAME`. `--quick` only shows that all runs."""

import click

from benchmarks import aggregate, collect, parquet, randomize, surveys, tickets

# tables for docs, and what takes long to fill, have commands of their own
TABLES = {
    "aggregate": aggregate.main,
    "collect": collect.main,
    "parquet": parquet.main,
    "randomize": randomize.main,
    "surveys": surveys.main,
    "tickets": tickets.main,
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(TABLES)))
@click.option("--quick", is_flag=True, help="Small sizes: all of it runs in seconds, and the numbers mean little.")
def main(names: tuple[str, ...], quick: bool) -> None:
    """Print the tables, or those that are named."""
    for name in names or TABLES:
        TABLES[name](quick)


if __name__ == "__main__":
    main()
