"""The `audit` command: test whether the reports of a client keep what the definition claims."""

import dataclasses
import json
from pathlib import Path

import click

from candor_client import canonical, fetch
from candor_client.definition import Survey
from candor_client.errors import CandorError
from survey_app.assure.audit import ERROR, STEPS, Audit, audit, audit_without_reports, client_processes
from survey_app.assure.audit.client_processes import SubjectError
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.cli.common import DIGEST, SLUG_OR_FILE, build_survey, check_readable, find_survey, open_db
from survey_app.cli.terminal import colour_word, format_examples, show_progress
from survey_app.languages import numbers
from survey_app.languages.plain_text import format_table
from survey_app.store import StoreError


class AuditImpossible(click.ClickException):
    """The audit cannot be run, so neither confirms nor refutes the claims."""

    exit_code = 2


@click.command("audit", epilog=format_examples("candor audit exam.yaml --client js"))
@SLUG_OR_FILE
@DIGEST
@click.option(
    "--client",
    type=click.Choice(["python", "js"]),
    default="python",
    show_default=True,
    help="Built-in client to audit.",
)
@click.option("--command", help="Audit another client: a command that reads requests and prints reports, one per line.")
@click.option(
    "--trials",
    type=click.IntRange(100, 10_000_000),
    help="Reports for each of the two sets of answers that are compared.",
)
@click.option("--time", is_flag=True, help="Also test whether the time to make a report reveals an answer.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def audit_command(
    ctx: click.Context,
    survey: str,
    digest: str | None,
    client: str,
    command: str | None,
    trials: int | None,
    time: bool,
    as_json: bool,
) -> None:
    """Run a real client many thousand times on a survey, and measure what its reports reveal.

    The survey is a SLUG, an author's FILE, a definition from a server, or the URL of any survey.

    For every field, the command prints the claimed ε, the ε of the published integers, and a lower bound from the
    reports. All bounds hold together with 95% confidence. Exit code 1 means that a claim is refuted: a bound is above
    it, or something other than the noisy bits tells answers apart. Exit code 2 means that the client could not be run.

    A COMMAND reads lines {"definition":"<text>","answers":{…}} and prints one report per line. After it ends, it is
    started again, briefly and four times at once, because its random generator may start in the same state.
    """
    try:
        definition = _load_definition(ctx, survey, digest)
    except (click.ClickException, CandorError, StoreError, AuthoringError, OSError) as error:
        raise AuditImpossible(
            error.format_message() if isinstance(error, click.ClickException) else str(error)
        ) from None
    try:
        arguments = (
            client_processes.built_in_command(client) if command is None else client_processes.split_command(command)
        )
        with show_progress("Auditing", STEPS) as progress:
            outcome = audit(definition, arguments, trials, built_in=command is None, time=time, progress=progress)
    except SubjectError as error:
        outcome = audit_without_reports(definition, str(error))
        if outcome.ok:
            raise AuditImpossible(str(error)) from None
    text = colour_word(_format_audit(outcome, command or f"the {client} client"), "REFUTED", "red")
    click.echo(json.dumps(_build_audit_document(outcome)) if as_json else text)
    ctx.exit(0 if outcome.ok else 1)


def _load_definition(ctx: click.Context, name: str, digest: str | None) -> Survey:
    """Return the definition to audit, without tickets: they change nothing in how answers are randomized."""
    if "://" in name:
        survey = fetch(name)
    elif not canonical.NAME.fullmatch(name):
        path = Path(name)
        check_readable(path)
        survey = _read_definition(path)
    else:
        survey = find_survey(open_db(ctx), name, digest).survey
    if digest not in (None, survey.digest):
        raise click.ClickException(f"--digest does not match: {name} has the digest {survey.digest}")
    if survey.tickets is None:
        return survey
    content = {key: value for key, value in json.loads(survey.source).items() if key != "tickets"}
    return Survey.from_json(canonical.dumps(content))


def _read_definition(path: Path) -> Survey:
    """Return the survey in a file: a definition as the server publishes it, or an author's file.

    Raise AuditImpossible if the file cannot be read, or is a broken definition: that is never read as an author's file.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise AuditImpossible(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        return Survey.from_json(source.removesuffix(b"\n"))
    except CandorError as error:
        if source.lstrip().startswith(b"{") and b'"format"' in source:
            raise AuditImpossible(f"{path} is not a valid definition: {error}") from None
    return build_survey(path).survey


def _build_audit_document(audit_result: Audit) -> dict[str, object]:
    fields = [dataclasses.asdict(field) for field in audit_result.fields]
    for entry in fields:
        if entry["timed"] is None:
            del entry["timed"]
    checks = [dataclasses.asdict(check) | {"name": check.name} for check in audit_result.checks]
    rest = {
        "trials": audit_result.trials,
        "reports": audit_result.reports,
        "notes": audit_result.notes,
        "ok": audit_result.ok,
    }
    return {"fields": fields, "checks": checks, **rest}


def _format_audit(audit_result: Audit, subject: str) -> str:
    rows = []
    for field in audit_result.fields:
        row = [" + ".join(field.questions), *(f"{value:.4f}" for value in (field.claimed, field.exact, field.lower))]
        if field.timed:
            row += [f"{field.timed.lower:.4f}", f"{field.timed.answer:.1%}", f"{field.timed.sent:.1%}"]
        rows.append([*row, "holds" if field.ok else "REFUTED"])
    headings = ["field", "claimed ε", "exact ε", "lower bound"]
    if any(field.timed for field in audit_result.fields):
        headings += ["with time", "time reveals answer", "time reveals bits"]
    lines = [
        f"{numbers.format_count(audit_result.reports)} reports of {subject}, "
        f"{numbers.format_count(audit_result.trials)} for each of two sets of answers"
    ]
    lines += ["", *format_table([[*headings, ""], *rows], range(1, len(headings))), ""]
    for check in audit_result.checks:
        lines.append(f"{'holds  ' if check.ok else 'REFUTED'}  {check.name}{f' ({check.told})' if check.told else ''}")
    lines += ["", *audit_result.notes] if audit_result.notes else []
    verdict = "Nothing refutes the claims." if audit_result.ok else "The claims are refuted."
    lines += [
        "",
        f"{verdict} A faithful client is refuted in at most {ERROR:.0%} of audits. An unfaithful one can pass.",
    ]
    return "\n".join(lines)
