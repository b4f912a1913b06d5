"""The `tally` command: count reports in Parquet files, on this machine or with Spark, without a database."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import click
import msgspec

from candor_client.definition import Survey
from survey_app.cli.terminal import format_examples, show_progress, show_status
from survey_app.languages import numbers
from survey_app.results.parquet import ParquetError, spark
from survey_app.results.parquet.pair_counts import TallyWithPairs, check_pairs, count
from survey_app.results.parquet.parquet_reader import ReportFiles, find
from survey_app.tally import column_names


@click.command("tally", epilog=format_examples("candor tally exam-bits --results"))
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(["numpy", "spark"]),
    default="numpy",
    show_default=True,
    help="The engine that counts.",
)
@click.option("--master", default="local[*]", show_default=True, help="The Spark master, such as spark://host:7077.")
@click.option(
    "--pairs",
    is_flag=True,
    help="Count, for every two bits, the reports in which both are one; with --json or --csv.",
)
@click.option("--results", "as_results", is_flag=True, help="Print estimates with intervals, as candor results does.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def tally_command(
    paths: tuple[Path, ...], engine: str, master: str, pairs: bool, as_results: bool, as_json: bool, as_csv: bool
) -> None:
    """Count the ones in every bit of Parquet files that candor export wrote, or of folders of them.

    All files must have one definition, which they contain. numpy counts on this machine. Spark counts on a cluster,
    whose workers need this package and the same paths. Both give the same numbers.
    """
    if as_json and as_csv:
        raise click.UsageError("give --json or --csv, not both")
    if pairs and (as_results or not (as_json or as_csv)):
        raise click.UsageError(
            "--pairs is a table of every bit by every bit: use it with --json or --csv, and without --results"
        )
    try:
        reports = find(paths)
        if pairs:
            check_pairs(reports.survey)
        counts = _count_by_spark(reports, master, pairs) if engine == "spark" else _count_locally(reports, pairs)
    except ParquetError as error:
        raise click.ClickException(str(error)) from None
    if as_results:
        _print_results(reports.survey, counts, "json" if as_json else "csv" if as_csv else "text")
    elif as_json:
        click.echo(json.dumps(_build_tally_document(reports.survey, counts)))
    elif as_csv:
        click.echo(_format_tally_csv(reports.survey, counts), nl=False)
    else:
        click.echo(_format_tally(reports.survey, counts))


def _count_locally(reports: ReportFiles, pairs: bool) -> TallyWithPairs:
    with show_progress("Counting", reports.report_count) as progress:
        return count(reports, pairs=pairs, progress=progress)


def _count_by_spark(reports: ReportFiles, master: str, pairs: bool) -> TallyWithPairs:
    with show_status("Counting with Spark"), spark.open_session(master) as session:
        return spark.count(reports, session, pairs=pairs)


def _print_results(survey: Survey, counted: TallyWithPairs, form: str) -> None:
    from survey_app.results.csv_columns import format_csv, results_table
    from survey_app.results.results_text import format_results
    from survey_app.results.survey_document import results  # with scipy, which plain counts do without

    document = results(survey, counted.tally)
    if form == "json":
        click.echo(json.dumps(msgspec.to_builtins(document), indent=1))
    elif form == "csv":
        click.echo(format_csv(results_table(survey, document)), nl=False)
    else:
        click.echo(format_results(survey, document))


def _build_tally_document(survey: Survey, counted: TallyWithPairs) -> dict[str, Any]:
    ones = zip(column_names(survey), counted.tally.counts.tolist(), strict=True)
    document: dict[str, Any] = {"survey": survey.digest, "slug": survey.slug, "reports": counted.tally.reports}
    document["bits"] = [{"bit": name, "ones": count} for name, count in ones]
    return document if counted.pairs is None else document | {"pairs": counted.pairs.tolist()}


def _format_tally_csv(survey: Survey, counted: TallyWithPairs) -> str:
    names, text = column_names(survey), io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    if counted.pairs is None:
        write(["bit", "ones", "reports"])
        for name, ones in zip(names, counted.tally.counts.tolist(), strict=True):
            write([name, ones, counted.tally.reports])
    else:
        write(["bit", *names])
        for name, row in zip(names, counted.pairs.tolist(), strict=True):
            write([name, *row])
    return text.getvalue()


def _format_tally(survey: Survey, counted: TallyWithPairs) -> str:
    names, reports = column_names(survey), counted.tally.reports
    width = max(map(len, names))
    lines = [f"{numbers.format_count(reports)} reports to {survey.slug}, {survey.digest}"]
    for name, ones in zip(names, counted.tally.counts.tolist(), strict=True):
        share = f"{ones / reports:8.4f}" if reports else ""
        lines.append(f"{name:{width}} {numbers.format_count(ones):>15} {share}".rstrip())
    return "\n".join(lines)
