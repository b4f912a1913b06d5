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
    short_help="Import reports from Parquet files.",
    epilog=format_examples("candor survey load exam exam-bits"),
)
@SLUG
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@DIGEST
@click.option("--yes", is_flag=True, help="Do not ask for confirmation, even if the survey already has reports.")
@click.pass_context
def load_command(ctx: click.Context, slug: str, paths: tuple[Path, ...], digest: str | None, yes: bool) -> None:
    """Add the reports in Parquet files, or in folders of them, to SLUG, which must have exactly the same definition.

    Loading the same file again adds nothing, so an interrupted command can be repeated. Reports that are in two files
    are counted twice, because the command cannot recognize them.
    """
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    try:
        reports = find(paths)
        present = store.snapshot(published).reports
        if present and not yes:
            click.confirm(
                f"{slug} already has {numbers.format_count(present)} reports. Any of them that are also in these files "
                f"would be counted twice. Add {numbers.format_count(reports.report_count)} reports?",
                abort=True,
            )
        with show_progress("Loading", reports.report_count) as progress:
            outcome = load(store, published, reports, progress)
    except (ParquetError, LoadError) as error:
        raise click.ClickException(str(error)) from None
    duplicates = (
        f"; {numbers.format_count(outcome.already_stored)} were already stored" if outcome.already_stored else ""
    )
    click.echo(f"{numbers.format_count(outcome.stored)} reports were added to {slug}{duplicates}")
