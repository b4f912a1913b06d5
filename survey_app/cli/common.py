"""What the commands share: the store they work on, and how they name surveys and accounts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from survey_app.authoring import Built, build_file
from survey_app.authoring.faults import check
from survey_app.authoring.saving import saving
from survey_app.authoring.source import AuthoringError
from survey_app.cli.called import called
from survey_app.store import DEFAULT_DB, Published, Store, TicketFile, User, any_version, open_store
from survey_app.store import open_tickets as tickets_beside
from survey_app.store.place import missing_file
from survey_app.tickets.ending import end_closed

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DIGEST: Callable[[Any], Any] = click.option("--digest", help="An older version, by its digest.")


def open_db(ctx: click.Context, *, begin: bool = False) -> Store:
    """The store that --db names, migrated, closed when the command ends; only a command that begins may make one."""
    url = ctx.obj or DEFAULT_DB
    store = open_store(url)
    if begin:
        announce(url)
    elif path := missing_file(url):
        raise click.ClickException(
            f"there is no database at {path}. Name another one with --db or CANDOR_DB, such as "
            "sqlite:////an/absolute/path.db, or begin one: candor user add NAME"
        )
    store.migrate()
    store.check_whole()
    ctx.call_on_close(lambda: _leave(store))
    return store


def announce(url: str) -> None:
    """Say where, if a command is about to make a database."""
    if path := missing_file(url):
        click.echo(f"making a new database: {path}", err=True)


def _leave(store: Store) -> None:
    """Whatever the command did may have closed a survey, or deleted it."""
    path = store.beside("tickets")
    if path and path.exists():
        file = tickets_beside(store)
        end_closed(file, store)
        file.close()
    store.close()


def open_tickets(ctx: click.Context, store: Store) -> TicketFile:
    """The tickets file beside the store, closed when the command ends."""
    file = tickets_beside(store)
    ctx.call_on_close(file.close)
    return file


def find_survey(store: Store, slug: str, digest: str | None = None) -> Published:
    """The version that collects now, or the one with this digest; an unopened one only if there is nothing else."""
    published = any_version(store, slug, digest)
    if published is None and (groups := store.study(slug)):
        names = ", ".join(group.survey.slug for group in groups)
        raise click.ClickException(f"{slug} is a study of several groups; name one of them: {names}")
    if published is None:
        what = f"version {digest} of {slug!r}" if digest else f"survey {slug!r}"
        raise click.ClickException(f"there is no {what}; candor survey list shows all")
    return published


def find_study(store: Store, slug: str, digest: str | None = None) -> list[Published]:
    """The groups of a study, in their order; none if the slug is a survey's, or nobody's."""
    groups = store.study(slug)
    if groups and digest:
        raise click.ClickException(f"{slug} is a study; name one of its groups for an older version")
    return groups


def find_managed(store: Store, slug: str, *, unopened: bool = False) -> list[Published]:
    """What a slug or a study names, to be managed: the version that collects now, or the newest."""
    found = store.study(slug, unopened=unopened)
    if found:
        return found
    newest = store.newest(slug) if unopened else None
    return [newest or find_survey(store, slug)]


def find_user(store: Store, name: str) -> User:
    """The account of this name."""
    user = store.user_named(name)
    if user is None:
        raise click.ClickException(f"there is no account {name!r}; candor user list shows all")
    return user


def build_survey(file: Path) -> Built:
    """What an author's file says; advice, and what its design saves, go to the terminal."""
    try:
        built = build_file(file)
    except AuthoringError as error:
        raise click.ClickException(f"{file}: {all_faults(file, error)}") from None
    for line in built.advice:
        click.echo(f"advice: {called(line)}", err=True)
    if sentence := saving(built):
        click.echo(f"design: {sentence}", err=True)
    return built


def all_faults(file: Path, first: AuthoringError) -> str:
    """Whatever is wrong with an author's file, a line each; the first as it is, if it is alone."""
    faults = check(file.read_bytes(), json_file=file.suffix == ".json").faults if file.is_file() else ()
    if len(faults) < 2:
        return str(first)
    lines = (str(AuthoringError(fault.reason, fault.path, fault.line)) for fault in faults)
    return "\n  ".join((f"{len(faults)} errors", *lines))
