"""What researchers do with reports: results, made-up respondents."""

import csv
import json
import secrets
import sys
from pathlib import Path

import click
import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from survey_app import simulate
from survey_app.cli.common import DIGEST, FILE, find_survey, open_db
from survey_app.results import results
from survey_app.store import Outcome, Submission

NUMBERS = ("kind", "n", "estimate", "low", "high", "unbiased", "reported", "coverage")


@click.command("results")
@click.argument("slugs", nargs=-1, required=True)
@DIGEST
@click.option("--json", "form", flag_value="json", default="json")
@click.option("--csv", "form", flag_value="csv")
@click.pass_context
def results_command(ctx: click.Context, slugs: tuple[str, ...], digest: str | None, form: str) -> None:
    """Estimates with 95% intervals, in steps of twenty reports."""
    store = open_db(ctx)
    found = [results(one, store.snapshot(one)) for one in (find_survey(store, slug, digest) for slug in slugs)]
    if form == "json":
        click.echo(json.dumps(found[0] if len(found) == 1 else found, indent=1))
        return
    table = csv.writer(sys.stdout)
    table.writerow(["survey", "question", "option", *NUMBERS])
    for slug, one in zip(slugs, found, strict=True):
        for entry in one["questions"] + one["joint"]:
            name = entry.get("id") or " + ".join(entry["questions"])
            for line in entry["estimates"]:
                option = line.get("option") or " + ".join(line["options"])
                table.writerow([slug, name, neutral(option), *(line[key] for key in NUMBERS)])


def neutral(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


@click.command("simulate")
@click.argument("slug")
@click.option("--respondents", required=True, type=click.IntRange(1, 100_000_000))
@click.option("--truth", type=FILE, help="JSON or YAML: what the population says to each question.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def simulate_command(ctx: click.Context, slug: str, respondents: int, truth: Path | None, yes: bool) -> None:
    """Add reports of made-up people to a survey, for a try; they cannot be told from real ones, or taken out again."""
    store = open_db(ctx)
    published = find_survey(store, slug)
    if not yes:
        click.confirm(f"Add {respondents} made-up reports to {slug}, for good?", abort=True)
    try:
        said = YAML(typ="safe", pure=True).load(truth.read_text()) if truth else {}
        rng = np.random.default_rng()
        indices = simulate.people(published.survey, said or {}, respondents, rng)
    except (simulate.TruthError, YAMLError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise click.ClickException(f"{truth}: {error}") from None
    stored = 0
    with click.progressbar(length=respondents, label="Simulating", file=sys.stderr) as bar:
        for rows in simulate.reports(published.survey, indices, rng):
            made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
            stored += store.write(made.copy).count(Outcome.STORED)
            bar.update(len(made))
    click.echo(f"{stored} reports were added to {slug}")
    if stored < respondents:
        raise click.ClickException(
            f"{respondents - stored} were refused: is {slug} open, with room, and without invitations?"
        )
