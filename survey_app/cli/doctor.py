"""The `doctor` command: find problems with an installation."""

import dataclasses
import json
import os
import textwrap

import click
from click.core import ParameterSource

from survey_app.assure.doctor import Finding, State, examine
from survey_app.cli.terminal import format_examples
from survey_app.languages.plain_text import WIDTH
from survey_app.web import DEFAULT_DB

COLOURS = {State.OK: "green", State.WARNING: "yellow", State.FAILURE: "red"}
STATE_WIDTH, CHECK_WIDTH = max(map(len, State)), 12
SOURCE_NAMES = {ParameterSource.COMMANDLINE: "--db", ParameterSource.ENVIRONMENT: "CANDOR_DB"}


@click.command("doctor", epilog=format_examples("candor doctor --url https://example.org"))
@click.option("--url", metavar="URL", help="Also check a running server, as a visitor sees it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor_command(ctx: click.Context, url: str | None, as_json: bool) -> None:
    """Find problems, and say how to fix them. Include the output when you ask for help.

    The command checks Python and its packages, SQLite, the database, its permissions, disk space and rewrites,
    settings and the clock. With --url, it also checks how a proxy affects a running server. It changes nothing,
    creates no database and prints no secrets. Exit code 1 means that a check failed.
    """
    root = ctx.find_root()
    found_by = SOURCE_NAMES.get(root.get_parameter_source("db") or ParameterSource.DEFAULT, "the default")
    findings: list[Finding] = []
    for finding in examine(ctx.obj or DEFAULT_DB, found_by, url, os.environ):
        findings.append(finding)
        if not as_json:
            click.echo(_format_finding(finding))
    failures = sum(finding.state is State.FAILURE for finding in findings)
    warnings = sum(finding.state is State.WARNING for finding in findings)
    if as_json:
        click.echo(json.dumps({"findings": [dataclasses.asdict(finding) for finding in findings], "ok": not failures}))
    else:
        click.echo(f"\n{_format_count(failures, 'failure')}, {_format_count(warnings, 'warning')}")
    ctx.exit(1 if failures else 0)


def _format_finding(finding: Finding) -> str:
    indent = " " * (STATE_WIDTH + CHECK_WIDTH + 4)
    lines = textwrap.wrap(finding.found, WIDTH, subsequent_indent=indent, initial_indent=indent, break_on_hyphens=False)
    arrow = (
        textwrap.wrap(f"→ {finding.next}", WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")
        if finding.next
        else []
    )
    state = click.style(
        f"{finding.state:{STATE_WIDTH}}", fg=COLOURS[finding.state], bold=finding.state is not State.OK or None
    )
    lines[0] = f"{state}  {finding.check:{CHECK_WIDTH}}  {lines[0].lstrip()}"
    return "\n".join(lines + arrow)


def _format_count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'s' * (number != 1)}"
