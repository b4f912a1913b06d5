"""The `export` command: write noisy bits with their definition to a file or a folder of Parquet, all or nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from candor_client.definition import Survey
from survey_app.cli.common import DIGEST, SLUG, find_survey, open_db, warn_if_withheld
from survey_app.cli.output_files import check_free, check_free_folder, whole, whole_folder
from survey_app.cli.terminal import bar, example
from survey_app.results.export import ExportError, csv_chunks, ndjson_chunks, watched, write_parquet
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.parquet_writer import write_parts
from survey_app.results.spss import STATISTICS, write_statistics
from survey_app.store import Published, State, now
from survey_app.store.records import Hold
from survey_app.tally import Bits

SUFFIXES = (".csv", ".ndjson", ".parquet", *STATISTICS)
BESIDE = (".csv", *STATISTICS)  # formats without a place for the definition


@click.command("export", epilog=example("candor export exam exam.sav"))
@SLUG
@click.argument("file", type=click.Path(path_type=Path))
@DIGEST
@click.option("--rows", type=click.IntRange(1), help="FILE is a folder of packed Parquet files of at most so many.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.pass_context
def export_command(
    ctx: click.Context, slug: str, file: Path, digest: str | None, rows: int | None, force: bool
) -> None:
    """Write the noisy bits of SLUG with their definition to FILE: .csv, .ndjson, .parquet, .sav or .dta.

    The reports behind the results, without ids, time or order. In .csv and .parquet every stored bit is a column, such
    as cheated or help:notes; in .sav (SPSS) and .dta (Stata) a variable such as help_2, whose label has p and q. The
    definition goes to FILE.definition.json beside .csv, .sav and .dta, into the first line of .ndjson, and into the
    metadata of .parquet (candor.definition).

    With --rows, FILE is a folder of Parquet files for machines instead: the bits of each report as it was sent, in one
    column, to be counted by candor tally and taken in by candor survey load.
    """
    if rows is not None:
        _export_folder(ctx, slug, file, digest, rows, force)
        return
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        advice = f"let it end in {', '.join(SUFFIXES)}, or give --rows for a folder of Parquet files"
        raise click.UsageError(f"{file} names no format; {advice}")
    definition_file = file.with_name(f"{file.name}.definition.json")
    files = [file, definition_file] if suffix in BESIDE else [file]
    check_free(files, force)
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    survey = published.survey
    try:
        with store.shown(published) as (tally, bits), whole(file) as target:
            with bar("Exporting", tally.reports) as progress:
                _write(suffix, survey, tally.reports, watched(bits, progress), target)
            check_free(files, force)
            if suffix in BESIDE:
                with whole(definition_file) as definition:
                    definition.write(survey.source)
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror or error}") from None
    except ExportError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{tally.reports} reports of {slug} are in {' and '.join(map(str, files))}")
    _tell_steps(published, slug)


def _export_folder(ctx: click.Context, slug: str, folder: Path, digest: str | None, most: int, force: bool) -> None:
    check_free_folder(folder, force)
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    try:
        with (
            store.shown(published) as (tally, bits),
            whole_folder(folder, force) as new_folder,
            bar("Exporting", tally.reports) as progress,
        ):
            parts = write_parts(published.survey, watched(bits, progress), most, new_folder)
    except OSError as error:
        raise click.ClickException(f"cannot write {folder}: {error.strerror or error}") from None
    except ParquetError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{tally.reports} reports of {slug} are in {folder}, in {len(parts)} file{'s' * (len(parts) > 1)}")
    _tell_steps(published, slug)


def _tell_steps(published: Published, slug: str) -> None:
    warn_if_withheld(published)
    if published.at(now()) is State.OPEN and published.hold is Hold.NONE:
        click.echo(f"{slug} is open: like its results, an export advances in steps of twenty reports", err=True)


def _write(suffix: str, survey: Survey, reports: int, rows: Iterator[Bits], target: BinaryIO) -> None:
    if suffix == ".parquet":
        write_parquet(survey, rows, target)
    elif suffix in STATISTICS:
        write_statistics(survey, reports, rows, suffix, target)
    else:
        target.writelines(csv_chunks(survey, rows) if suffix == ".csv" else ndjson_chunks(survey, reports, rows))
