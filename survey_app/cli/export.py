"""The `export` command: write noisy bits with their definition to a file or a folder of Parquet, all or nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from candor_client.definition import Survey
from survey_app.cli.common import DIGEST, SLUG, find_survey, open_db, warn_if_withheld
from survey_app.cli.output_files import check_free, check_free_folder, write_atomically, write_folder_atomically
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.results.export import ExportError, report_progress, write_csv_chunks, write_ndjson_chunks, write_parquet
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.parquet_writer import write_parts
from survey_app.results.spss import STATISTICS_SUFFIXES, write_statistics_file
from survey_app.store import PublishedSurvey, State, now
from survey_app.store.records import Hold
from survey_app.tally import Bits

SUFFIXES = (".csv", ".ndjson", ".parquet", *STATISTICS_SUFFIXES)
WITHOUT_DEFINITION = (".csv", *STATISTICS_SUFFIXES)  # formats without a place for the definition


@click.command("export", epilog=format_examples("candor export exam exam.sav"))
@SLUG
@click.argument("file", type=click.Path(path_type=Path))
@DIGEST
@click.option(
    "--rows",
    type=click.IntRange(1),
    help="Write FILE as a folder of packed Parquet files, with at most this many rows each.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.pass_context
def export_command(
    ctx: click.Context, slug: str, file: Path, digest: str | None, rows: int | None, force: bool
) -> None:
    """Write the noisy bits of SLUG with their definition to FILE: .csv, .ndjson, .parquet, .sav or .dta.

    FILE has the reports behind the results, without ids, time or order. In .csv and .parquet, every stored bit is a
    column, such as cheated or help:notes. In .sav (SPSS) and .dta (Stata), it is a variable such as help_2, whose label
    has p and q. For .csv, .sav and .dta, the definition goes to FILE.definition.json. In .ndjson it is the first line,
    and in .parquet it is in the metadata (candor.definition).

    With --rows, FILE is a folder of Parquet files for other programs instead. One column has the bits of each report as
    it was sent. candor tally counts these files, and candor survey load imports them.
    """
    if rows is not None:
        _export_folder(ctx, slug, file, digest, rows, force)
        return
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        advice = f"use a name that ends in {', '.join(SUFFIXES)}, or --rows for a folder of Parquet files"
        raise click.UsageError(f"{file} has no known format; {advice}")
    definition_file = file.with_name(f"{file.name}.definition.json")
    files = [file, definition_file] if suffix in WITHOUT_DEFINITION else [file]
    check_free(files, force)
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    survey = published.survey
    try:
        with store.open_snapshot(published) as (tally, bits), write_atomically(file) as target:
            with show_progress("Exporting", tally.reports) as progress:
                _write(suffix, survey, tally.reports, report_progress(bits, progress), target)
            check_free(files, force)
            if suffix in WITHOUT_DEFINITION:
                with write_atomically(definition_file) as definition:
                    definition.write(survey.source)
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror or error}") from None
    except ExportError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"wrote {tally.reports} reports of {slug} to {' and '.join(map(str, files))}")
    _explain_steps(published, slug)


def _export_folder(
    ctx: click.Context, slug: str, folder: Path, digest: str | None, rows_per_file: int, force: bool
) -> None:
    check_free_folder(folder, force)
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    try:
        with (
            store.open_snapshot(published) as (tally, bits),
            write_folder_atomically(folder, force) as new_folder,
            show_progress("Exporting", tally.reports) as progress,
        ):
            parts = write_parts(published.survey, report_progress(bits, progress), rows_per_file, new_folder)
    except OSError as error:
        raise click.ClickException(f"cannot write {folder}: {error.strerror or error}") from None
    except ParquetError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"wrote {tally.reports} reports of {slug} to {folder}, in {len(parts)} file{'s' * (len(parts) > 1)}")
    _explain_steps(published, slug)


def _explain_steps(published: PublishedSurvey, slug: str) -> None:
    warn_if_withheld(published)
    if published.state_at(now()) is State.OPEN and published.hold is Hold.NONE:
        click.echo(f"{slug} is open: its exports, like its results, advance in steps of twenty reports", err=True)


def _write(suffix: str, survey: Survey, reports: int, rows: Iterator[Bits], target: BinaryIO) -> None:
    if suffix == ".parquet":
        write_parquet(survey, rows, target)
    elif suffix in STATISTICS_SUFFIXES:
        write_statistics_file(survey, reports, rows, suffix, target)
    else:
        target.writelines(
            write_csv_chunks(survey, rows) if suffix == ".csv" else write_ndjson_chunks(survey, reports, rows)
        )
