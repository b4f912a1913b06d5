"""Made-up respondents for a survey that runs."""

import secrets
import sys
from pathlib import Path

import click
import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from survey_app.cli.common import FILE, find_survey, open_db
from survey_app.plan.people import TruthError, draw_people
from survey_app.simulate import devices
from survey_app.simulate.conditions import unmet
from survey_app.store import Outcome, Submission, now


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
    if reason := unmet(published, now()):
        raise click.ClickException(f"{slug} {reason}. Nothing was added")
    if not yes:
        click.confirm(f"Add {respondents} made-up reports to {slug}, for good?", abort=True)
    try:
        population = YAML(typ="safe", pure=True).load(truth.read_text()) if truth else {}
        rng = np.random.default_rng()
        indices = draw_people(published.survey, population or {}, respondents, rng)
    except (TruthError, YAMLError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise click.ClickException(f"{truth}: {error}") from None
    stored = 0
    with click.progressbar(length=respondents, label="Simulating", file=sys.stderr) as bar:
        for rows in devices.reports(published.survey, indices, rng):
            made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
            stored += store.write(lambda: made).count(Outcome.STORED)  # noqa: B023 — called at once
            bar.update(len(made))
    click.echo(f"{stored} reports were added to {slug}")
    if stored < respondents:
        reason = unmet(find_survey(store, slug), now()) or "changed meanwhile"
        raise click.ClickException(f"{respondents - stored} were refused: {slug} {reason}")
