"""The `issuer` commands: invite people to a survey that another server collects.

`--db` names the issuer's file, which has tickets and nothing else.
"""

import os
from dataclasses import replace
from pathlib import Path

import click

import candor_client
from candor_client.address import Address
from candor_client.canonical import NAME
from candor_client.definition import Survey
from survey_app.authoring.invitation_terms import format_modulus
from survey_app.cli.invitations import (
    COUNT_OPTION,
    LIST_OPTION,
    NAMES_OPTION,
    check_count,
    print_invitations,
    print_status,
    refuse_late,
)
from survey_app.cli.serve import add_server_options
from survey_app.cli.terminal import format_examples
from survey_app.invitations.keys import make_key
from survey_app.store import KeyRecord, StoreError, TicketFile
from survey_app.web import serve

DEFAULT_FILE = "issuer.db"
PREFIX = "sqlite:///"


@click.group(epilog=format_examples("candor issuer key exam"))
def issuer() -> None:
    """Invite people to a survey on another server, which then never sees an invitation."""


def _open_file(ctx: click.Context) -> TicketFile:
    url: str = ctx.obj or f"{PREFIX}{DEFAULT_FILE}"
    if not url.startswith(PREFIX) or url == PREFIX:
        raise StoreError(f"{url!r} is not the URL of a file; use sqlite:///{DEFAULT_FILE}")
    file = TicketFile(Path(url.removeprefix(PREFIX)))
    try:
        file.migrate()
    except StoreError as error:
        raise StoreError(f"{error}; use a file for the issuer alone: --db {PREFIX}{DEFAULT_FILE}") from None
    ctx.call_on_close(file.close)
    return file


def _find_signing_key(file: TicketFile, slug: str) -> KeyRecord:
    for key in file.active_keys(slug):
        if key.digest is not None:
            return key
    raise StoreError(f"no definition of {slug} is registered here; register it with candor issuer add URL")


@issuer.command(
    "key",
    short_help="Create a key for the next definition of SLUG.",
    epilog=format_examples("candor issuer key exam"),
)
@click.argument("slug")
@click.pass_context
def key_command(ctx: click.Context, slug: str) -> None:
    """Create a key for the next definition of SLUG, and print the text for its author's file."""
    if not NAME.fullmatch(slug):
        raise StoreError(f"{slug!r} is not a valid slug; use at most 63 characters: a to z, 0 to 9, - and _")
    key = make_key()
    _open_file(ctx).add_key(slug, key)
    click.echo(format_modulus(key.modulus))
    click.echo("for the author's file: invitations: {issuer: https://…, key: the line above}", err=True)


@issuer.command(
    "add",
    short_help="Register the definition at URL.",
    epilog=format_examples("candor issuer add https://example.org/s/exam"),
)
@click.argument("url")
@click.pass_context
def add_command(ctx: click.Context, url: str) -> None:
    """Register the definition at URL. From now on, tickets of its slug are signed for this definition only."""
    file = _open_file(ctx)
    try:
        address, survey = Address.parse(url), candor_client.fetch(url)
    except candor_client.CandorError as error:
        raise StoreError(str(error)) from None
    tickets = survey.tickets
    if tickets is None or not tickets.issuer:
        raise StoreError(f"{survey.slug} names no issuer: its file needs invitations: {{issuer: https://…, key: …}}")
    if not tickets.issuer.startswith("https:") and address.server.startswith("https:"):
        raise StoreError(f"the issuer {tickets.issuer} must use https, because the survey does")
    key = next((key for key in file.active_keys(survey.slug) if key.modulus == tickets.key), None)
    if key is None:
        raise StoreError(
            f"the key of {survey.slug} was not created here, or was destroyed; "
            f"create one with candor issuer key {survey.slug}"
        )
    if key.digest not in (None, survey.digest):
        raise StoreError(
            "this key already signs tickets for another definition, so the tickets of each would be valid for both; "
            f"create a new key with candor issuer key {survey.slug}"
        )
    if key.digest is None:
        file.bind(key, survey.digest, survey.source, f"{address.server}/s/{survey.slug}")
    click.echo(f"tickets of {survey.slug} are signed for {survey.digest}, at {tickets.issuer}")


@issuer.command(
    "invite",
    short_help="Create invitations and print their links.",
    epilog=format_examples("candor issuer invite exam --count 200 > links.txt"),
)
@click.argument("slug")
@COUNT_OPTION
@NAMES_OPTION
@click.pass_context
def invite_command(ctx: click.Context, slug: str, count: int | None, names: Path | None) -> None:
    """Create invitations and print their links, in no particular order. Only hashes of the codes are stored."""
    check_count(count, names)
    file = _open_file(ctx)
    key = _find_signing_key(file, slug)
    if key.definition is not None:
        refuse_late(Survey.from_stored(key.definition))
    print_invitations(file, slug, key.address or "", key.digest or "", count, names)


@issuer.command(
    "invited",
    short_help="Count invitations and tickets, and list unused codes.",
    epilog=format_examples("candor issuer invited exam"),
)
@click.argument("slug")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@LIST_OPTION
@click.pass_context
def invited_command(ctx: click.Context, slug: str, as_json: bool, names: Path | None) -> None:
    """Print how many people were invited and have taken a ticket, and the hashes of unused codes, or their names."""
    file = _open_file(ctx)
    print_status(file, _find_signing_key(file, slug).digest or "", as_json, names)


@issuer.command(
    "close",
    short_help="Stop signing tickets for SLUG permanently.",
    epilog=format_examples("candor issuer close exam"),
)
@click.argument("slug")
@click.pass_context
def close_command(ctx: click.Context, slug: str) -> None:
    """Stop signing tickets for SLUG: destroy its key, and the stored hashes of signed messages."""
    file = _open_file(ctx)
    file.destroy_key(_find_signing_key(file, slug).digest or "")
    click.echo(f"tickets of {slug} are no longer signed; its key was destroyed")


@issuer.command("serve", epilog=format_examples("candor issuer serve --port 8001"))
@add_server_options
@click.pass_context
def serve_command(ctx: click.Context, host: str, port: int, workers: int, trusted_proxies: int) -> None:
    """Run a server that only issues tickets."""
    serve.require_posix()
    file = _open_file(ctx)
    file.close()
    config = replace(serve.read_config(os.environ), trusted_proxies=trusted_proxies)
    serve.serve_issuer(file.path, config, host, port, workers)
