"""Accounts of researchers and their API tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from survey_app.accounts import add_user, hash_password, new_token, secret_hash
from survey_app.cli.common import FILE, find_user, open_db


@click.group()
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
    added = add_user(open_db(ctx), name, _password(password_file))
    click.echo(f"{added.name} is added{', as the administrator' if added.admin else ''}")


@user.command("list")
@click.pass_context
def user_list_command(ctx: click.Context) -> None:
    """All accounts."""
    for one in open_db(ctx).users():
        click.echo(f"{one.name}{'  administrator' if one.admin else ''}{'  disabled' if one.disabled else ''}")


@user.command("password")
@click.argument("name")
@PASSWORD_FILE
@click.pass_context
def user_password_command(ctx: click.Context, name: str, password_file: Path | None) -> None:
    """Change a password; the account's sessions end."""
    store = open_db(ctx)
    store.set_password(find_user(store, name), hash_password(_password(password_file)))
    click.echo(f"the password of {name} is changed, its sessions have ended")


@user.command("disable")
@click.argument("name")
@click.pass_context
def user_disable_command(ctx: click.Context, name: str) -> None:
    """Close an account; its sessions and tokens stop working."""
    store = open_db(ctx)
    store.set_disabled(find_user(store, name), True)
    click.echo(f"{name} is disabled")


@click.group()
def token() -> None:
    """API tokens."""


@token.command("add")
@click.argument("name")
@click.pass_context
def token_add_command(ctx: click.Context, name: str) -> None:
    """Make a token for the account NAME and print it; it cannot be shown again."""
    store = open_db(ctx)
    made = new_token()
    store.add_token(find_user(store, name), secret_hash(made))
    click.echo(made)
