"""The `simulate` command: add made-up respondents to a survey, or to all groups of a study."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from survey_app.assure.simulation import devices
from survey_app.assure.simulation.refusals import refusal_reason
from survey_app.cli.common import FILE, SLUG, find_managed, open_db, read_mapping
from survey_app.cli.terminal import format_examples, show_progress, show_status
from survey_app.kinds.planning_assumptions import Indices, TruthError
from survey_app.plan.simulated_people import draw_people
from survey_app.plan.study_plan import split_respondents
from survey_app.store import Outcome, PublishedSurvey, Submission, now


@click.command(
    "simulate", epilog=format_examples("candor simulate campus --respondents 5000 --truth campus-truth.yaml")
)
@SLUG
@click.option(
    "--respondents", required=True, type=click.IntRange(1, 100_000_000), help="The number of respondents to simulate."
)
@click.option("--truth", type=FILE, help="A JSON or YAML file with the population's answers to each question.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def simulate_command(ctx: click.Context, slug: str, respondents: int, truth: Path | None, yes: bool) -> None:
    """Add reports of simulated people to a survey, for testing. Nobody can tell them from real reports or remove them.

    In a study, the people are divided among its groups by size, or equally if the sizes are not known.
    """
    store = open_db(ctx)
    surveys = find_managed(store, slug)
    if reason := refusal_reason(surveys[0], now()):
        raise click.ClickException(f"{slug} {reason}. Nothing was added")
    if not yes:
        click.confirm(f"Add {respondents} simulated reports to {slug} permanently?", abort=True)
    try:
        population = read_mapping(truth) if truth else {}
        with show_status("Drawing people"):
            by_group = list(_draw_reports(surveys, respondents, population, np.random.default_rng()))
    except (TruthError, AttributeError, TypeError) as error:
        raise click.ClickException(f"{truth}: {error}") from None
    stored = 0
    with show_progress("Simulating", respondents) as progress:
        for batches in by_group:
            for reports in batches:
                stored += store.write(lambda: reports).count(Outcome.STORED)  # noqa: B023 — called at once
                progress(len(reports))
    click.echo(f"{stored} reports were added to {slug}")
    if stored < respondents:
        reason = refusal_reason(find_managed(store, slug)[0], now()) or "changed in the meantime"
        raise click.ClickException(f"{respondents - stored} were refused: {slug} {reason}")


def _draw_reports(
    surveys: list[PublishedSurvey], respondents: int, population: dict[str, Any], rng: np.random.Generator
) -> Iterator[Iterator[list[Submission]]]:
    """Yield the reports of each group.

    Answers of all people are drawn before the first report is stored, so an invalid truth file adds none.
    """
    sizes = [published.terms.size for published in surveys if published.terms.size]
    group_sizes = sizes if len(sizes) == len(surveys) else None
    for published, count in zip(surveys, split_respondents(respondents, group_sizes, len(surveys)), strict=True):
        yield _randomize_reports(published, draw_people(published.survey, population, count, rng), rng)


def _randomize_reports(
    published: PublishedSurvey, answers: dict[str, Indices], rng: np.random.Generator
) -> Iterator[list[Submission]]:
    for rows in devices.reports(published.survey, answers, rng):
        yield [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
