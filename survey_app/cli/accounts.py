"""Accounts of researchers and their API tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from survey_app.accounts import add_user, hash_password, hash_secret, new_token
from survey_app.cli.common import FILE, find_user, open_db, read_text
from survey_app.cli.terminal import format_examples
from survey_app.store import list_surveys, token_id


@click.group(epilog=format_examples("candor user add ada"))
def user() -> None:
    """Manage accounts of researchers; the first account is the administrator's."""


def _read_password(file: Path | None) -> str:
    if file:
        return read_text(file).strip("\n")
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


PASSWORD_FILE: Callable[[Any], Any] = click.option("--password-file", type=FILE, help="Read the password from a file.")


@user.command("add", epilog=format_examples("candor user add ada"))
@click.argument("name")
@PASSWORD_FILE
@click.pass_context
def user_add_command(ctx: click.Context, name: str, password_file: Path | None) -> None:
    """Add an account."""
    password = _read_password(password_file)
    account = add_user(open_db(ctx, begin=True), name, password)
    click.echo(f"account {account.name} was added{', as the administrator' if account.admin else ''}")


@user.command("list", epilog=format_examples("candor user list"))
@click.pass_context
def user_list_command(ctx: click.Context) -> None:
    """List all accounts."""
    for account in open_db(ctx).users():
        click.echo(
            f"{account.name}{'  administrator' if account.admin else ''}{'  disabled' if account.disabled else ''}"
        )


@user.command(
    "password",
    short_help="Change a password, and end sessions and tokens.",
    epilog=format_examples("candor user password ada --keep-tokens"),
)
@click.argument("name")
@PASSWORD_FILE
@click.option("--keep-tokens", is_flag=True, help="Keep the account's API tokens valid.")
@click.pass_context
def user_password_command(ctx: click.Context, name: str, password_file: Path | None, keep_tokens: bool) -> None:
    """Change a password. All sessions of the account end. Its API tokens are revoked unless you use --keep-tokens."""
    store = open_db(ctx)
    account = find_user(store, name)
    password_hash = hash_password(_read_password(password_file), name)
    token_count = 0 if keep_tokens else len(store.tokens(account))
    store.set_password(account, password_hash, keep_tokens=keep_tokens)
    click.echo(f"the password of {name} was changed, and all sessions of the account were ended")
    if token_count:
        click.echo(f"API tokens revoked: {token_count}")


@user.command("disable", short_help="Disable an account.", epilog=format_examples("candor user disable eve"))
@click.argument("name")
@click.pass_context
def user_disable_command(ctx: click.Context, name: str) -> None:
    """Disable an account. Its sessions, tokens and links to results stop working until candor user enable.

    Other accounts keep access to the surveys that it has shared, and the command lists them. The last administrator
    cannot be disabled.
    """
    store = open_db(ctx)
    account = find_user(store, name)
    store.set_disabled(account, True)
    click.echo(f"{name} is disabled")
    for groups in list_surveys(store, account.key):
        slug = groups[0].name
        for colleague in store.shares(slug):
            command = f"candor survey share {slug} {colleague.name} --withdraw"
            click.echo(f"{colleague.name} is still {colleague.role.label} of {slug}; to end this, run {command}")


@user.command("enable", short_help="Enable a disabled account.", epilog=format_examples("candor user enable ada"))
@click.argument("name")
@click.pass_context
def user_enable_command(ctx: click.Context, name: str) -> None:
    """Enable a disabled account. Its password, tokens and links to results work again, but its sessions have ended."""
    store = open_db(ctx)
    store.set_disabled(find_user(store, name), False)
    click.echo(f"{name} is enabled")


@click.group(epilog=format_examples("candor token list ada"))
def token() -> None:
    """Manage API tokens."""


@token.command(
    "add", short_help="Create a token and print it once.", epilog=format_examples("candor token add ada > ada.token")
)
@click.argument("name")
@click.pass_context
def token_add_command(ctx: click.Context, name: str) -> None:
    """Create a token for the account NAME and print it. It cannot be shown again. Its id goes to standard error."""
    store = open_db(ctx)
    new = new_token()
    store.add_token(find_user(store, name), hash_secret(new))
    click.echo(new)
    new_id = token_id(hash_secret(new))
    click.echo(f"id {new_id}; to revoke the token, run candor token revoke {name} {new_id}", err=True)


@token.command("list", short_help="List the token ids of an account.", epilog=format_examples("candor token list ada"))
@click.argument("name")
@click.pass_context
def token_list_command(ctx: click.Context, name: str) -> None:
    """List the tokens of the account NAME: their ids, and the days on which they were created."""
    store = open_db(ctx)
    for entry in store.tokens(find_user(store, name)):
        click.echo(f"{entry.id}  {entry.creation_date}")


@token.command(
    "revoke", short_help="Revoke a token permanently.", epilog=format_examples("candor token revoke ada 1f0c9a3e")
)
@click.argument("name")
@click.argument("wanted", metavar="ID")
@click.pass_context
def token_revoke_command(ctx: click.Context, name: str, wanted: str) -> None:
    """Revoke the token ID of the account NAME permanently."""
    store = open_db(ctx)
    if not store.revoke_token(find_user(store, name), wanted):
        raise click.ClickException(f"{name} has no token {wanted!r}; to see all tokens, run candor token list {name}")
    click.echo(f"{wanted} is revoked")
