"""The `candor` command: every subcommand a few lines around a module that does the work."""

import csv
import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from client.__main__ import main as client_main
from client.mechanism import round_up
from client.verify import verify
from survey_app import DEFAULT_DB, demo, serve, simulate
from survey_app.accounts import add_user, hash_password, new_token
from survey_app.authoring import Draft, build_file
from survey_app.authoring.source import AuthoringError
from survey_app.collect import invitation_hash
from survey_app.pages.api import token_hash
from survey_app.results import results
from survey_app.store import (
    Outcome,
    Published,
    State,
    Store,
    StoreError,
    Submission,
    Unavailable,
    User,
    now,
    open_store,
)

PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NUMBERS = ("kind", "n", "estimate", "low", "high", "unbiased", "reported", "coverage")
DEMO_DB = "sqlite:///.candor-demo/candor.db"


class _Friendly(click.Group):
    """Refusals of the store and of an author's file are one clear line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (StoreError, AuthoringError) as error:
            raise click.ClickException(str(error)) from None
        except Unavailable as error:
            raise click.ClickException(f"the database cannot be written now: {error}") from None


@click.group(cls=_Friendly)
@click.option("--db", envvar="CANDOR_DB", default=None, help=f"The store: sqlite:///path (default {DEFAULT_DB}).")
@click.pass_context
def main(ctx: click.Context, db: str | None) -> None:
    """Surveys whose server cannot know your answer."""
    ctx.obj = db


def _store(ctx: click.Context) -> Store:
    store = open_store(ctx.obj or DEFAULT_DB)
    store.migrate()
    ctx.call_on_close(store.close)
    return store


def _survey(store: Store, slug: str, digest: str | None = None) -> Published:
    """The version that collects now, or the one with this digest; a draft only if there is nothing else."""
    current = store.current(slug)
    wanted = digest or (current and current[1])
    published = store.version(slug, wanted) if wanted else store.newest(slug)
    if published is None:
        what = f"version {digest} of {slug!r}" if digest else f"survey {slug!r}"
        raise click.ClickException(f"there is no {what}; candor survey list shows all")
    return published


DIGEST: Callable[[Any], Any] = click.option("--digest", help="An older version, by its digest.")


def _user(store: Store, name: str) -> User:
    user = store.user_named(name)
    if user is None:
        raise click.ClickException(f"there is no account {name!r}; candor user list shows all")
    return user


@main.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option(
    "--trusted-proxies", default=0, show_default=True, type=click.IntRange(0), help="How many may set X-Forwarded-*."
)
@click.pass_context
def serve_command(ctx: click.Context, host: str, port: int, workers: int, trusted_proxies: int) -> None:
    """Run the server."""
    serve.serve(ctx.obj or DEFAULT_DB, host, port, workers, trusted_proxies)


@main.command("demo")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--respondents", default=2000, show_default=True, help="How many people to simulate at the first run.")
@click.pass_context
def demo_command(ctx: click.Context, host: str, port: int, respondents: int) -> None:
    """A sample survey with simulated respondents, served."""
    db = ctx.obj or DEMO_DB
    store = open_store(db)
    store.migrate()
    published, password = demo.prepare(store)
    base, slug = f"http://{host}:{port}", published.survey.slug
    click.echo(f"survey    {base}/s/{slug}")
    click.echo(f"results   {base}/api/surveys/{slug}/results")
    click.echo(f"console   {base}/login   name {demo.NAME}, password {password or 'as printed at the first run'}")
    click.echo(f"answer    candor respond {base}/s/{slug}#sha256={published.survey.digest}")
    missing = respondents - store.snapshot(published).reports
    if missing > 0:
        with click.progressbar(length=missing, label="Simulating respondents", file=sys.stderr) as bar:
            for made in demo.respondents(published, missing):
                store.write(made.copy)
                bar.update(len(made))
    store.close()
    serve.serve(db, host, port, 1, 0)


@main.group()
def survey() -> None:
    """Author and run surveys."""


def _build(file: Path) -> Draft:
    try:
        draft = build_file(file)
    except AuthoringError as error:
        raise click.ClickException(f"{file}: {error}") from None
    for line in draft.advice:
        click.echo(f"advice: {line}", err=True)
    return draft


@survey.command("build")
@click.argument("file", type=FILE)
def build_command(file: Path) -> None:
    """Write the definition of FILE to standard output; nothing is stored."""
    click.echo(_build(file).survey.source, nl=False)


@survey.command("add")
@click.argument("file", type=FILE)
@click.option("--owner", help="The account that owns it; the administrator unless said.")
@click.option("--draft", is_flag=True, help="Keep it a draft until candor survey open.")
@click.option("--invited", is_flag=True, help="Only for people with an invitation.")
@click.pass_context
def add_command(ctx: click.Context, file: Path, owner: str | None, draft: bool, invited: bool) -> None:
    """Publish FILE, as a new version if its slug is known."""
    store, written = _store(ctx), _build(file)
    if owner is None:
        user = next((user for user in store.users() if user.admin), None)
        if user is None:
            raise click.ClickException("there is no account yet; make one with candor user add NAME")
    else:
        user = _user(store, owner)
    published = store.add_survey(
        written.survey, owner=user.key, state=State.DRAFT if draft else State.OPEN, public=written.public,
        opens=written.opens, closes=written.closes, max_reports=written.max_reports, invited=invited,
    )  # fmt: skip
    _describe(published)


def _describe(published: Published) -> None:
    survey = published.survey
    click.echo(f"{survey.slug}  {published.at(now())}  {survey.title}")
    click.echo(f"digest   {survey.digest}")
    click.echo(f"ε        {round_up(verify(survey), 4)}")
    click.echo(f"link     /s/{survey.slug}#sha256={survey.digest}")
    for name in ("opens", "closes", "max_reports"):
        if value := getattr(published, name):
            click.echo(f"{name:8} {value}")
    click.echo(
        f"results  {'public' if published.public else 'private'}{', by invitation' if published.invited else ''}"
    )


@survey.command("list")
@click.pass_context
def list_command(ctx: click.Context) -> None:
    """All surveys, their states, and their reports in steps of twenty."""
    store = _store(ctx)
    for published in store.surveys():
        reports = store.snapshot(published).reports
        click.echo(f"{published.survey.slug:24} {published.at(now()):8} {reports:>9}  {published.survey.title}")


@survey.command("show")
@click.argument("slug")
@click.pass_context
def show_command(ctx: click.Context, slug: str) -> None:
    """One survey."""
    _describe(_survey(_store(ctx), slug))


@survey.command("open")
@click.argument("slug")
@click.pass_context
def open_command(ctx: click.Context, slug: str) -> None:
    """Open a draft."""
    store = _store(ctx)
    published = store.newest(slug)
    store.set_state(published or _survey(store, slug), State.OPEN)
    click.echo(f"{slug} is open")


@survey.command("close")
@click.argument("slug")
@click.pass_context
def close_command(ctx: click.Context, slug: str) -> None:
    """Close a survey for good; its results advance to the last report."""
    store = _store(ctx)
    published = _survey(store, slug)
    if published.state is State.DRAFT:
        raise click.ClickException(f"{slug} is a draft; open or delete it")
    store.set_state(published, State.CLOSED)
    click.echo(f"{slug} is closed")
    _warn_if_untidy(store)


@survey.command("delete")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def delete_command(ctx: click.Context, slug: str, yes: bool) -> None:
    """Delete a survey with all versions and reports."""
    store = _store(ctx)
    _survey(store, slug)
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


@survey.command("invite")
@click.argument("slug")
@click.option("--count", required=True, type=click.IntRange(1, 1_000_000))
@click.pass_context
def invite_command(ctx: click.Context, slug: str, count: int) -> None:
    """Make one-time invitations and print their links, in no order; only hashes are kept."""
    store = _store(ctx)
    published = _survey(store, slug)
    codes = [secrets.token_urlsafe(18) for _ in range(count)]
    store.add_invitations(published, [invitation_hash(code) for code in codes])
    for code in codes:
        click.echo(f"/s/{slug}#code={code}&sha256={published.survey.digest}")


@survey.command("check")
@click.argument("slug")
@DIGEST
@click.option("--json", "as_json", is_flag=True)
@click.pass_context
def check_command(ctx: click.Context, slug: str, digest: str | None, as_json: bool) -> None:
    """Recount a survey from its bits and compare with the tally; exact, so for the operator alone."""
    store = _store(ctx)
    published = _survey(store, slug, digest)
    length = store.snapshot(published).reports
    with click.progressbar(length=length, label="Recounting", file=sys.stderr) as bar:
        kept, counted = store.recount(published, bar.update)
    ok = kept.reports == counted.reports and bool(np.array_equal(kept.counts, counted.counts))
    found = {"reports": counted.reports, "tally": kept.reports, "ok": ok}
    click.echo(
        json.dumps(found) if as_json else f"{counted.reports} reports, tally {kept.reports}: {'ok' if ok else 'WRONG'}"
    )
    sys.exit(0 if ok else 1)


@main.command("results")
@click.argument("slugs", nargs=-1, required=True)
@DIGEST
@click.option("--json", "form", flag_value="json", default="json")
@click.option("--csv", "form", flag_value="csv")
@click.pass_context
def results_command(ctx: click.Context, slugs: tuple[str, ...], digest: str | None, form: str) -> None:
    """Estimates with 95% intervals, in steps of twenty reports."""
    store = _store(ctx)
    found = [results(one, store.snapshot(one)) for one in (_survey(store, slug, digest) for slug in slugs)]
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


@main.command("simulate")
@click.argument("slug")
@click.option("--respondents", required=True, type=click.IntRange(1, 100_000_000))
@click.option("--truth", type=FILE, help="JSON or YAML: what the population says to each question.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def simulate_command(ctx: click.Context, slug: str, respondents: int, truth: Path | None, yes: bool) -> None:
    """Add reports of made-up people to a survey, for a try; they cannot be told from real ones, or taken out again."""
    store = _store(ctx)
    published = _survey(store, slug)
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


@main.group()
def user() -> None:
    """Accounts of researchers; the first is the administrator's."""


def _password(file: Path | None) -> str:
    if file:
        try:
            return file.read_text().strip("\n")
        except UnicodeDecodeError:
            raise click.ClickException(f"{file} is not a text file") from None
    entered: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return entered


PASSWORD_FILE: Callable[[Any], Any] = click.option("--password-file", type=FILE, help="Read the password from a file.")


@user.command("add")
@click.argument("name")
@PASSWORD_FILE
@click.pass_context
def user_add_command(ctx: click.Context, name: str, password_file: Path | None) -> None:
    """Add an account."""
    added = add_user(_store(ctx), name, _password(password_file))
    click.echo(f"{added.name} is added{', as the administrator' if added.admin else ''}")


@user.command("list")
@click.pass_context
def user_list_command(ctx: click.Context) -> None:
    """All accounts."""
    for one in _store(ctx).users():
        click.echo(f"{one.name}{'  administrator' if one.admin else ''}{'  disabled' if one.disabled else ''}")


@user.command("password")
@click.argument("name")
@PASSWORD_FILE
@click.pass_context
def user_password_command(ctx: click.Context, name: str, password_file: Path | None) -> None:
    """Change a password; the account's sessions end."""
    store = _store(ctx)
    store.set_password(_user(store, name), hash_password(_password(password_file)))
    click.echo(f"the password of {name} is changed, its sessions have ended")


@user.command("disable")
@click.argument("name")
@click.pass_context
def user_disable_command(ctx: click.Context, name: str) -> None:
    """Close an account; its sessions and tokens stop working."""
    store = _store(ctx)
    store.set_disabled(_user(store, name), True)
    click.echo(f"{name} is disabled")


@main.group()
def token() -> None:
    """API tokens."""


@token.command("add")
@click.argument("name")
@click.pass_context
def token_add_command(ctx: click.Context, name: str) -> None:
    """Make a token for the account NAME and print it; it cannot be shown again."""
    store = _store(ctx)
    made = new_token()
    store.add_token(_user(store, name), token_hash(made))
    click.echo(made)


@main.command("respond", context_settings=PASS_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def respond_command(arguments: tuple[str, ...]) -> None:
    """Answer a survey at URL; every answer is randomized on this device first."""
    sys.exit(client_main(arguments))


@main.command("ledger", context_settings=PASS_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ledger_command(arguments: tuple[str, ...]) -> None:
    """Show or forget what this device has answered and spent."""
    sys.exit(client_main(["ledger", *arguments]))
