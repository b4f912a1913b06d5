"""The commands that copy, back up and restore a store."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import cast

import click

from survey_app.cli.common import FILE, announce_new_database
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.store import Store, open_store, transfer
from survey_app.store.location import missing_file
from survey_app.store.sql.contents import Contents
from survey_app.store.sqlite.inspection import is_sqlite
from survey_app.web import DEFAULT_DB

NO_KEYS = (
    "{} is by invitation and has not ended. No copy contains the keys that sign tickets. People with a ticket can send "
    "their report to the new server too, but nobody can take a ticket there. If you shut down the old server, move its "
    "tickets file by hand and leave no copy behind (SQLite: FILE-tickets; PostgreSQL: the file that CANDOR_TICKETS "
    "names). Or invite people to a survey under another slug. If you publish a new version instead, the reports to "
    "this version are never shown."
)


class _CopyableStore(Store, Contents):
    """A store with both interfaces: queries, and the contents for a copy."""


@contextmanager
def _open_copyable(url: str, *, begin: bool = False) -> Iterator[_CopyableStore]:
    """Open and migrate a store, and close it at the end.

    Raise ClickException if it does not exist, unless `begin` allows to create it.
    """
    if begin:
        announce_new_database(url)
    elif path := missing_file(url):
        raise click.ClickException(f"there is no database at {path}; check the path")
    store = cast(_CopyableStore, open_store(url))
    store.migrate()
    try:
        yield store
    finally:
        store.close()


def _show_copy_progress(label: str, store: Contents) -> AbstractContextManager[Callable[[int], None]]:
    """Return a progress bar for three passes over all reports: copying, and reading them again on both sides."""
    return show_progress(label, 3 * transfer.count_reports(store))


def _print_digests(digests: transfer.Digests, target: str, keyless: list[str]) -> None:
    reports = sum(count for name, (count, _) in digests.items() if name not in transfer.TABLE_NAMES)
    tables = ", ".join(f"{digests[name][0]} {name}" for name in transfer.TABLE_NAMES)
    click.echo(f"{target}: {reports} reports, {tables}; source and copy are equal, and all tallies were recounted")
    for slug in keyless:
        click.echo(f"note: {NO_KEYS.format(slug)}", err=True)


def _copy(source: str, target: str) -> None:
    if source == target:
        raise click.UsageError("source and destination are the same database")
    with (
        _open_copyable(source) as source_store,
        _open_copyable(target, begin=True) as target_store,
        _show_copy_progress("Copying", source_store) as progress,
    ):
        source_store.check_complete()
        digests = transfer.copy_store(
            source_store, target_store, transfer.identity_of(source_store.secret_key()), progress
        )
        keyless = transfer.slugs_with_local_keys(source_store)
    _print_digests(digests, target.rpartition("@")[2], keyless)


@click.command(
    "copy", epilog=format_examples("candor copy --from sqlite:///candor.db --to postgresql://candor@db.example/candor")
)
@click.option("--from", "source", required=True, metavar="URL", help="The database to copy; it may be in use.")
@click.option("--to", "target", required=True, metavar="URL", help="An empty database, or an unfinished copy.")
def copy_command(source: str, target: str) -> None:
    """Copy everything except keys from one database to another, and compare both.

    If the command is interrupted, run it again.
    """
    _copy(source, target)


@click.command("backup", epilog=format_examples("candor backup candor-monday.db"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.pass_context
def backup_command(ctx: click.Context, file: Path, force: bool) -> None:
    """Back up everything except keys to FILE, as of one moment. The server can keep running."""
    if file.is_dir():
        raise click.ClickException(f"{file} is a folder; name a file in it")
    if file.exists() and not force:
        raise click.ClickException(f"{file} already exists; name another file, or replace it with --force")
    if not file.absolute().parent.is_dir():
        raise click.ClickException(f"there is no folder {file.absolute().parent}; create it first")
    with _open_copyable(ctx.obj or DEFAULT_DB) as store, _show_copy_progress("Backing up", store) as progress:
        store.check_complete()
        digests = transfer.backup(store, transfer.identity_of(store.secret_key()), file.absolute(), progress)
        keyless = transfer.slugs_with_local_keys(store)
    _print_digests(digests, str(file), keyless)


@click.command("restore", epilog=format_examples("CANDOR_DB=sqlite:///new.db candor restore candor-monday.db"))
@click.argument("file", type=FILE)
@click.pass_context
def restore_command(ctx: click.Context, file: Path) -> None:
    """Restore FILE, which candor backup wrote, into an empty database."""
    if not is_sqlite(file):
        raise click.ClickException(f"{file} is not a backup; use a file that candor backup wrote")
    _copy(f"sqlite:///{file.absolute()}", ctx.obj or DEFAULT_DB)
    Path(f"{file.absolute()}.lock").unlink(missing_ok=True)
