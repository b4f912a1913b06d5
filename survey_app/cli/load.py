"""The `survey load` command: add reports from Parquet files."""

from pathlib import Path

import click

from survey_app.cli.common import DIGEST, SLUG, find_survey, open_db
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.collect.load import LoadError, load
from survey_app.languages import numbers
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.parquet_reader import find


@click.command(
    "load",
    short_help="Take in reports from Parquet files.",
    epilog=format_examples("candor survey load exam exam-bits"),
)
@SLUG
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@DIGEST
@click.option("--yes", is_flag=True, help="Do not ask, also where there are reports already.")
@click.pass_context
def load_command(ctx: click.Context, slug: str, paths: tuple[Path, ...], digest: str | None, yes: bool) -> None:
    """Add the reports of Parquet files, or of folders of them, to SLUG, which must have the very same definition.

    The same file again adds nothing, so what was interrupted is simply repeated. Reports that are in two files are
    counted twice: nothing tells that they are the same.
    """
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    try:
        reports = find(paths)
        present = store.snapshot(published).reports
        if present and not yes:
            click.confirm(
                f"{slug} has {numbers.format_count(present)} reports already; any of them that are in these "
                "files, too, would "
                f"be counted twice. Add {numbers.format_count(reports.report_count)}?",
                abort=True,
            )
        with show_progress("Loading", reports.report_count) as progress:
            outcome = load(store, published, reports, progress)
    except (ParquetError, LoadError) as error:
        raise click.ClickException(str(error)) from None
    duplicates = (
        f"; {numbers.format_count(outcome.already_stored)} were there already" if outcome.already_stored else ""
    )
    click.echo(f"{numbers.format_count(outcome.stored)} reports were added to {slug}{duplicates}")
