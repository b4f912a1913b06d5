"""The `shuffle` command for an independent party: remove ids, permute reports, and print the resulting (ε, δ)."""

from pathlib import Path

import click

from candor_client.definition import Survey
from candor_client.errors import CandorError
from survey_app.assure.amplification import DEFAULT_DELTA, central_epsilon
from survey_app.assure.shuffling import ShufflingError, shuffle
from survey_app.channels.posterior import total_epsilon
from survey_app.cli.common import FILE
from survey_app.cli.output_files import check_free, write_atomically
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.languages import numbers


@click.command(
    "shuffle", epilog=format_examples("candor shuffle received.ndjson shuffled.ndjson --definition exam.json")
)
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--definition", type=FILE, help="The definition from the server; needed unless IN begins with it.")
@click.option("--renumber", is_flag=True, help="Give each report a new random id, so that OUT can be sent as a batch.")
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=DEFAULT_DELTA,
    show_default=True,
    help="δ of the privacy of the shuffled reports.",
)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def shuffle_command(
    source: Path, target: Path, definition: Path | None, renumber: bool, delta: float, force: bool
) -> None:
    """Remove the ids of the reports in IN, and write the reports to OUT in an order that nobody knows.

    The command is for a party that is independent of the analysts. This party receives the reports (NDJSON, as devices
    send them, or an export), shuffles them with the system's randomness, and passes OUT on. Afterwards, delete IN and
    all copies of it. If the definition is known, the command prints the (ε, δ) of the data in OUT.
    """
    check_free([target], force)
    try:
        survey = Survey.from_stored(definition.read_bytes()) if definition else None
        with (
            source.open("rb") as reports,
            write_atomically(target) as file,
            show_progress("Shuffling", 2 * source.stat().st_size) as progress,
        ):
            outcome = shuffle(reports, file, survey, renumber=renumber, progress=progress)
    except CandorError as error:
        raise click.ClickException(f"{definition}: {error}") from None
    except ShufflingError as error:
        raise click.ClickException(f"{source}, {error}") from None
    except OSError as error:
        raise click.ClickException(f"cannot shuffle {source} to {target}: {error.strerror or error}") from None
    click.echo(f"wrote {numbers.format_count(outcome.reports)} reports to {target}, in random order")
    if outcome.duplicates:
        click.echo(f"left out {numbers.format_count(outcome.duplicates)} lines that repeat a report")
    if outcome.survey is None:
        click.echo("to check the bits, and to compute the privacy of the shuffled reports, use --definition", err=True)
        return
    local = float(total_epsilon(outcome.survey))
    click.echo(
        f"each report has ε = {numbers.format_epsilon(local)}; the shuffled reports together have ε = "
        f"{numbers.format_epsilon(central_epsilon(local, outcome.reports, delta))} with δ = {delta:g}, if the "
        "shuffler is independent of the analysts, keeps no ids, times or order, and all devices ran this definition"
    )
