"""Shared by the commands: opening the store, and finding files, surveys and accounts."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from candor_client.address import Address
from candor_client.errors import CandorError
from survey_app.assure.simulation import example_files
from survey_app.authoring import BuiltSurvey, build_file
from survey_app.authoring.design.savings import describe_saving
from survey_app.authoring.diagnostics import check
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.cli.completion import complete_slug, complete_slug_or_file
from survey_app.invitations.key_disposal import destroy_closed_keys
from survey_app.results.report_counts import describe_hold
from survey_app.store import PublishedSurvey, Store, StoreError, TicketFile, User, any_version, open_store
from survey_app.store import open_tickets as tickets_beside
from survey_app.store.location import missing_file
from survey_app.web import DEFAULT_DB


class _ReadableFile(click.Path):
    """A parameter type for a file that must be readable; a missing file is not a usage error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        check_readable(path)
        return path


def check_readable(path: Path) -> None:
    """Raise ClickException with advice if the path is a folder, is missing, or cannot be read."""
    if path.is_dir():
        raise click.ClickException(f"{path} is a folder; name a file in it")
    if not path.exists():
        is_example = path.suffix == example_files.END and path.stem in example_files.names()
        advice = f"to write the example, run candor example {path.stem} > {path}" if is_example else "check the path"
        raise click.ClickException(f"there is no file {path}; {advice}")
    if not os.access(path, os.R_OK):
        raise click.ClickException(f"{path} cannot be read; run the command as the user who owns the file")


def read_text(file: Path) -> str:
    """Return the content of a UTF-8 text file, without a byte order mark. Raise ClickException if it is not UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise click.ClickException(f"the file {file} is not text in UTF-8; save it as UTF-8") from None


def read_mapping(file: Path) -> dict[Any, Any]:
    """Return the mapping in a small YAML or JSON file; empty if the file is empty.

    Raise ClickException if it is not YAML, or not a mapping.
    """
    try:
        value = YAML(typ="safe", pure=True).load(read_text(file))
    except MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise click.ClickException(f"{file}: {line}not YAML: {error.problem or error.context}") from None
    except YAMLError as error:
        raise click.ClickException(f"{file}: not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(value, dict | None):
        raise click.ClickException(f"{file}: expected one `key: value` per line")
    return value or {}


def _parse_server(_: click.Context, __: click.Parameter, value: str) -> str:
    """Return the address of a server without its trailing slash. Raise BadParameter if links cannot lead there."""
    if not value:
        return value
    try:
        return Address.parse(f"{value.rstrip('/')}/s/exam").server
    except CandorError:
        is_plain = value.startswith("http://")
        reason = "not encrypted, so others on the network could read it" if is_plain else "not a server address"
        raise click.BadParameter(f"{value!r} is {reason}; use an address such as https://example.org") from None


def server_option(**more: Any) -> Callable[[Any], Any]:
    """Return the `--server` option: the server's address, for complete links."""
    return click.option("--server", callback=_parse_server, metavar="URL", **more)


FILE = _ReadableFile(path_type=Path)
SLUG: Callable[[Any], Any] = click.argument("slug", shell_complete=complete_slug)
SLUGS: Callable[[Any], Any] = click.argument(
    "slugs", metavar="SLUG…", nargs=-1, required=True, shell_complete=complete_slug
)
SLUG_OR_FILE: Callable[[Any], Any] = click.argument("survey", metavar="SLUG|FILE", shell_complete=complete_slug_or_file)
DIGEST: Callable[[Any], Any] = click.option("--digest", help="Use an older version, given by its digest.")


def open_db(ctx: click.Context, *, begin: bool = False) -> Store:
    """Open and migrate the store that --db names; it is closed when the command ends.

    Raise ClickException if the database file is missing, unless `begin` allows to create it.
    """
    url = ctx.obj or DEFAULT_DB
    store = open_store(url)
    if begin:
        announce_new_database(url)
    elif missing := missing_file(url):
        raise click.ClickException(
            f"there is no database at {missing}. Name another one with --db or CANDOR_DB, such as "
            "sqlite:////an/absolute/path.db. To create one, run candor user add NAME"
        )
    try:
        store.migrate()
    except StoreError as error:
        raise click.ClickException(f"{error}; for details, run candor doctor") from None
    store.check_complete()
    ctx.call_on_close(lambda: _close_store(store))
    return store


def announce_new_database(url: str) -> None:
    """Print where a command is about to create a database, if it does not exist."""
    if path := missing_file(url):
        click.echo(f"creating a new database: {path}", err=True)


def _close_store(store: Store) -> None:
    """Close the store. The command may have closed or deleted surveys, so first destroy keys no longer needed."""
    path = store.sidecar_path("tickets")
    if path and path.exists():
        file = tickets_beside(store)
        destroy_closed_keys(file, store)
        file.close()
    store.close()


def warn_if_withheld(published: PublishedSurvey) -> None:
    """Print on standard error which reports of a survey by invitation are not shown yet."""
    if sentence := describe_hold(published):
        click.echo(f"{published.name}: {sentence}", err=True)


def open_tickets(ctx: click.Context, store: Store) -> TicketFile:
    """Open the tickets file of a store; it is closed when the command ends."""
    file = tickets_beside(store)
    ctx.call_on_close(file.close)
    return file


def find_survey(store: Store, slug: str, digest: str | None = None) -> PublishedSurvey:
    """Return the version that collects now, or the one with this digest.

    An unopened version is returned only if there is no other. Raise ClickException if there is none.
    """
    published = any_version(store, slug, digest)
    if published is None and (groups := store.study(slug)):
        names = ", ".join(group.survey.slug for group in groups)
        raise click.ClickException(f"{slug} is a study of several groups; name one of them: {names}")
    if published is None:
        subject = f"version {digest} of {slug!r}" if digest else f"survey {slug!r}"
        raise click.ClickException(f"there is no {subject}; to see all surveys, run candor survey list")
    return published


def find_study(store: Store, slug: str, digest: str | None = None) -> list[PublishedSurvey]:
    """Return the groups of a study in their order; empty if the slug is not that of a study."""
    groups = store.study(slug)
    if groups and digest:
        raise click.ClickException(f"--digest is for one survey, and {slug} is a study; name one of its groups")
    return groups


def find_managed(store: Store, slug: str, *, unopened: bool = False) -> list[PublishedSurvey]:
    """Return the groups of a study, or a list of one survey: the version that collects now.

    With `unopened`, return the newest version, even if it was never opened.
    """
    groups = store.study(slug, unopened=unopened)
    if groups:
        return groups
    newest = store.newest_version(slug) if unopened else None
    return [newest or find_survey(store, slug)]


def find_user(store: Store, name: str) -> User:
    """Return the account with this name. Raise ClickException if there is none."""
    user = store.user_by_name(name)
    if user is None:
        raise click.ClickException(f"there is no account {name!r}; to see all accounts, run candor user list")
    return user


def build_survey(file: Path) -> BuiltSurvey:
    """Return the survey built from an author's file; print advice and the savings of its design on standard error.

    Raise ClickException with all errors of the file.
    """
    try:
        built = build_file(file)
    except AuthoringError as error:
        raise click.ClickException(f"{file}: {format_faults(file, error)}") from None
    for advice in built.advice:
        click.echo(f"advice: {advice.sentence}", err=True)
    if sentence := describe_saving(built):
        click.echo(f"design: {sentence}", err=True)
    return built


def format_faults(file: Path, first: AuthoringError) -> str:
    """Return all errors of an author's file, one a line; `first` alone if there is no other."""
    faults = check(file.read_bytes(), json_file=file.suffix == ".json").faults if file.is_file() else ()
    if len(faults) < 2:
        return str(first)
    lines = (str(AuthoringError(fault.code, fault.reason, fault.path, fault.line)) for fault in faults)
    return "\n  ".join((f"{len(faults)} errors", *lines))
