"""Author and run surveys: build, add, list, show, open, close, delete, check."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from client.verify import verify
from survey_app.cli.common import (
    DIGEST,
    FILE,
    build_survey,
    find_newest,
    find_survey,
    find_surveys,
    find_user,
    find_whole,
    open_db,
    open_tickets,
)
from survey_app.explain import written
from survey_app.publish import publish
from survey_app.store import Published, State, Store, listed, now


@click.group()
def survey() -> None:
    """Author and run surveys."""


@survey.command("build")
@click.argument("file", type=FILE)
def build_command(file: Path) -> None:
    """Write the definition of FILE to standard output, of groups one a line; nothing is stored."""
    built = build_survey(file)
    if built.needs_key:
        raise click.ClickException(
            f"{file}: its key is made when it is published (candor survey add), so there is no definition before"
        )
    click.echo(b"\n".join(survey.source for survey in built.surveys), nl=len(built.surveys) > 1)


@survey.command("add")
@click.argument("file", type=FILE)
@click.option("--owner", help="The account that owns it; the administrator unless said.")
@click.option("--later", is_flag=True, help="Only make it ready; candor survey open opens it.")
@click.pass_context
def add_command(ctx: click.Context, file: Path, owner: str | None, later: bool) -> None:
    """Publish FILE, as a new version if its slug is known."""
    store, built = open_db(ctx), build_survey(file)
    if owner is None:
        user = next((user for user in store.users() if user.admin), None)
        if user is None:
            raise click.ClickException("there is no account yet; make one with candor user add NAME")
    else:
        user = find_user(store, owner)
    added = publish(
        store,
        open_tickets(ctx, store),
        built,
        owner=user.key,
        state=State.READY if later else State.OPEN,
        source=None if file.suffix == ".json" else file.read_bytes(),
    )
    _describe(added)


def _describe(groups: Sequence[Published]) -> None:
    """A survey, or what all groups of a study share and then each of them."""
    published = groups[0]
    survey = published.survey
    several = f", {len(groups)} groups" if survey.study else ""
    click.echo(f"{published.name}  {published.at(now())}  {survey.title}{several}")
    if not several:
        click.echo(f"digest   {survey.digest}")
    click.echo(f"ε        {written.epsilon(verify(survey), fixed=True)}")
    if not several:
        click.echo(f"link     {_link(published)}")
    for name in ("opens", "closes", "max_reports"):
        if value := getattr(published.terms, name):
            click.echo(f"{name:8} {value}")
    click.echo(
        f"results  {'public' if published.terms.public else 'private'}{', by invitation' if published.invited else ''}"
    )
    for group in groups if several else ():
        people = f", {written.count(group.terms.size)} people" if group.terms.size else ""
        click.echo(f"\n{group.survey.group}{people}")
        click.echo(f"digest   {group.survey.digest}")
        click.echo(f"link     {_link(group)}")


def _link(published: Published) -> str:
    tickets = published.survey.tickets
    if tickets:  # a bare link lets nobody in
        invites = f"candor issuer invite, at {tickets.issuer}" if tickets.issuer else "candor survey invite"
        return f"one a person, by {invites}"
    return f"/s/{published.survey.slug}#sha256={published.survey.digest}"


@survey.command("list")
@click.pass_context
def list_command(ctx: click.Context) -> None:
    """All surveys and studies, their states, and their reports in steps of twenty."""
    store = open_db(ctx)
    for groups in listed(store):
        published, reports = groups[0], sum(store.snapshot(group).reports for group in groups)
        several = f" ({len(groups)} groups)" if published.survey.study else ""
        click.echo(f"{published.name:24} {published.at(now()):8} {reports:>9}  {published.survey.title}{several}")


@survey.command("show")
@click.argument("slug")
@click.pass_context
def show_command(ctx: click.Context, slug: str) -> None:
    """One survey, or one study."""
    _describe(find_surveys(open_db(ctx), slug))


@survey.command("open")
@click.argument("slug")
@click.pass_context
def open_command(ctx: click.Context, slug: str) -> None:
    """Open a survey that is ready, or all groups of a study."""
    store = open_db(ctx)
    store.set_state(find_newest(store, slug), State.OPEN)
    click.echo(f"{slug} is open")


@survey.command("close")
@click.argument("slug")
@click.pass_context
def close_command(ctx: click.Context, slug: str) -> None:
    """Close a survey for good, with all groups of its study."""
    store = open_db(ctx)
    published = find_whole(store, slug)
    if published.state is State.READY:
        raise click.ClickException(f"{slug} was never opened; open or delete it")
    store.set_state(published, State.CLOSED)
    click.echo(f"{published.name} is closed")
    _warn_if_untidy(store)


@survey.command("delete")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def delete_command(ctx: click.Context, slug: str, yes: bool) -> None:
    """Delete a survey with all versions and reports, and with all groups of its study."""
    store = open_db(ctx)
    published = find_whole(store, slug)
    groups = " and groups" if published.survey.study else ""
    if not yes:
        click.confirm(f"Delete {published.name}, all its versions{groups} and reports, for good?", abort=True)
    store.delete_survey(published.name)
    click.echo(f"{published.name} is deleted")
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
