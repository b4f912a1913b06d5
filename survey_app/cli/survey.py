"""Author and run surveys: build, add, list, show, open, close, delete, check."""

import json
import sys
from pathlib import Path

import click
import numpy as np

from client.verify import verify
from survey_app.cli.common import DIGEST, FILE, build_survey, find_survey, find_user, open_db
from survey_app.explain import written
from survey_app.store import Member, Published, State, Store, now


@click.group()
def survey() -> None:
    """Author and run surveys."""


@survey.command("build")
@click.argument("file", type=FILE)
def build_command(file: Path) -> None:
    """Write the definition of FILE to standard output; nothing is stored."""
    click.echo(build_survey(file).survey.source, nl=False)


@survey.command("add")
@click.argument("file", type=FILE)
@click.option("--owner", help="The account that owns it; the administrator unless said.")
@click.option("--later", is_flag=True, help="Only make it ready; candor survey open opens it.")
@click.pass_context
def add_command(ctx: click.Context, file: Path, owner: str | None, later: bool) -> None:
    """Publish FILE, as a new version if its slug is known."""
    built, store = build_survey(file), open_db(ctx, begin=True)
    if owner is None:
        user = next((user for user in store.users() if user.admin), None)
        if user is None:
            raise click.ClickException("there is no account yet; make one with candor user add NAME")
    else:
        user = find_user(store, owner)
    added = store.add_surveys(
        [Member(built.survey, built.terms)],
        owner=user.key,
        state=State.READY if later else State.OPEN,
        source=None if file.suffix == ".json" else file.read_bytes(),
    )
    for published in added:
        _describe(published)


def _describe(published: Published) -> None:
    survey = published.survey
    click.echo(f"{survey.slug}  {published.at(now())}  {survey.title}")
    click.echo(f"digest   {survey.digest}")
    click.echo(f"ε        {written.epsilon(verify(survey), fixed=True)}")
    click.echo(f"link     /s/{survey.slug}#sha256={survey.digest}")
    for name in ("opens", "closes", "max_reports"):
        if value := getattr(published.terms, name):
            click.echo(f"{name:8} {value}")
    click.echo(
        f"results  {'public' if published.terms.public else 'private'}{', by invitation' if published.invited else ''}"
    )


@survey.command("list")
@click.pass_context
def list_command(ctx: click.Context) -> None:
    """All surveys, their states, and their reports in steps of twenty."""
    store = open_db(ctx)
    for published in store.surveys():
        reports = store.snapshot(published).reports
        click.echo(f"{published.survey.slug:24} {published.at(now()):8} {reports:>9}  {published.survey.title}")


@survey.command("show")
@click.argument("slug")
@click.pass_context
def show_command(ctx: click.Context, slug: str) -> None:
    """One survey."""
    _describe(find_survey(open_db(ctx), slug))


@survey.command("open")
@click.argument("slug")
@click.pass_context
def open_command(ctx: click.Context, slug: str) -> None:
    """Open a survey that is ready."""
    store = open_db(ctx)
    published = store.newest(slug)
    store.set_state(published or find_survey(store, slug), State.OPEN)
    click.echo(f"{slug} is open")


@survey.command("close")
@click.argument("slug")
@click.pass_context
def close_command(ctx: click.Context, slug: str) -> None:
    """Close a survey for good; its results advance to the last report."""
    store = open_db(ctx)
    published = find_survey(store, slug)
    if published.state is State.READY:
        raise click.ClickException(f"{slug} was never opened; open or delete it")
    store.set_state(published, State.CLOSED)
    click.echo(f"{slug} is closed")
    _warn_if_untidy(store)


@survey.command("delete")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def delete_command(ctx: click.Context, slug: str, yes: bool) -> None:
    """Delete a survey with all versions and reports."""
    store = open_db(ctx)
    find_survey(store, slug)
    if not yes:
        click.confirm(f"Delete {slug}, all its versions and reports, for good?", abort=True)
    store.delete_survey(slug)
    click.echo(f"{slug} is deleted")
    _warn_if_untidy(store)


def _warn_if_untidy(store: Store) -> None:
    if store.untidy:
        click.echo(
            "the file is in use and could not be rewritten; a running server will do it when it is quiet", err=True
        )


@survey.command("check")
@click.argument("slug")
@DIGEST
@click.option("--json", "as_json", is_flag=True)
@click.pass_context
def check_command(ctx: click.Context, slug: str, digest: str | None, as_json: bool) -> None:
    """Recount a survey from its bits and compare with the tally; exact, so for the operator alone."""
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    length = store.snapshot(published).reports
    with click.progressbar(length=length, label="Recounting", file=sys.stderr) as bar:
        kept, counted = store.recount(published, bar.update)
    ok = kept.reports == counted.reports and bool(np.array_equal(kept.counts, counted.counts))
    document = {"reports": counted.reports, "tally": kept.reports, "ok": ok}
    click.echo(
        json.dumps(document)
        if as_json
        else f"{counted.reports} reports, tally {kept.reports}: {'ok' if ok else 'WRONG'}"
    )
    sys.exit(0 if ok else 1)
