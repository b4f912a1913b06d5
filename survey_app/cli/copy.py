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
    "{} takes answers by invitation and is not over. Keys of tickets are in no copy: people with a ticket can send "
    "their report to the new server too, but nobody can take one there. If the old server goes, move its tickets file "
    "by hand (SQLite: FILE-tickets; PostgreSQL: what CANDOR_TICKETS names) and leave none behind, or invite to a "
    "survey under another slug. A new version would mean that the reports of this one are never shown."
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
        raise click.ClickException(f"there is no database at {path}; look whether its name is right")
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
    click.echo(f"{target}: {reports} reports, {tables}; both sides are equal, and their tallies recounted")
    for slug in keyless:
        click.echo(f"note: {NO_KEYS.format(slug)}", err=True)


def _copy(source: str, target: str) -> None:
    if source == target:
        raise click.UsageError("--from and --to name the same database")
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
@click.option("--from", "source", required=True, metavar="URL", help="The store that is copied; it may be in use.")
@click.option("--to", "target", required=True, metavar="URL", help="An empty store, or a copy that was not finished.")
def copy_command(source: str, target: str) -> None:
    """Copy everything from one store to another, and compare; repeat it if it was interrupted."""
    _copy(source, target)


@click.command("backup", epilog=format_examples("candor backup candor-monday.db"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_context
def backup_command(ctx: click.Context, file: Path, force: bool) -> None:
    """Keep everything but keys in FILE, as it is at one moment; the server may go on."""
    if file.is_dir():
        raise click.ClickException(f"{file} is a folder; name a file in it")
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already; name another file, or replace it with --force")
    if not file.absolute().parent.is_dir():
        raise click.ClickException(f"there is no folder {file.absolute().parent}; make it first")
    with _open_copyable(ctx.obj or DEFAULT_DB) as store, _show_copy_progress("Keeping", store) as progress:
        store.check_complete()
        digests = transfer.backup(store, transfer.identity_of(store.secret_key()), file.absolute(), progress)
        keyless = transfer.slugs_with_local_keys(store)
    _print_digests(digests, str(file), keyless)


@click.command("restore", epilog=format_examples("CANDOR_DB=sqlite:///new.db candor restore candor-monday.db"))
@click.argument("file", type=FILE)
@click.pass_context
def restore_command(ctx: click.Context, file: Path) -> None:
    """Fill an empty store from FILE, which backup made."""
    if not is_sqlite(file):
        raise click.ClickException(f"{file} is no backup; restore takes what candor backup made")
    _copy(f"sqlite:///{file.absolute()}", ctx.obj or DEFAULT_DB)
    Path(f"{file.absolute()}.lock").unlink(missing_ok=True)
