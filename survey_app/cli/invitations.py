"""Inviting people: links with a code each, and who has taken a ticket; the same for a survey and for an issuer."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from candor_client.definition import Survey
from survey_app.cli.common import FILE, SLUG, find_study, find_survey, open_db, open_tickets, server_option, text_of
from survey_app.cli.terminal import example, waiting
from survey_app.invitations.codes import absent, as_csv, invite, invited, link
from survey_app.store import Published, State, StoreError, TicketFile, now, too_late

MOST = 1_000_000
COUNT: Callable[[Any], Any] = click.option("--count", type=click.IntRange(1, MOST), help="How many.")
NAMES: Callable[[Any], Any] = click.option(
    "--names", type=FILE, help="One name a line; the links come as a CSV with the names, which are kept nowhere."
)
LISTED: Callable[[Any], Any] = click.option(
    "--names", type=FILE, help="The CSV that invite made: tells who has not taken a ticket."
)


def refuse_late(survey: Survey) -> None:
    """Refuse to invite to a survey of two phases whose second has begun."""
    if why := too_late(survey, now()):
        raise StoreError(why)


def said_how_many(count: int | None, names: Path | None) -> None:
    """Refuse a call that says neither."""
    if names is None and count is None:
        raise click.UsageError("say how many with --count, or for whom with --names")


def make(file: TicketFile, slug: str, address: str, digest: str, count: int | None, names: Path | None) -> None:
    """Print one link a line, or a CSV of names and links."""
    listed = [line.strip() for line in text_of(names).splitlines() if line.strip()] if names else []
    if names is not None and not listed:
        raise click.ClickException(f"{names} has no names; write one a line")
    if names is not None and count not in (None, len(listed)):
        raise click.ClickException(f"{names} has {len(listed)} names, and --count says {count}; leave --count out")
    with waiting("Making invitations"):
        codes = invite(file, slug, count or len(listed))
    links = [link(address, code, digest) for code in codes]
    click.echo(as_csv(listed, links) if names else "".join(f"{one}\n" for one in links), nl=False)


def show(file: TicketFile, digest: str, as_json: bool, names: Path | None) -> None:
    """Print how the invitations stand; exact, so for whoever invites alone."""
    found = invited(file, digest)
    missing = absent(file, digest, text_of(names)) if names else None
    if as_json:
        more = {} if missing is None else {"names": missing}
        click.echo(json.dumps(found._asdict() | more, ensure_ascii=False))
        return
    click.echo(_stand(found.invited, found.taken))
    if found.not_taken and missing is None:
        click.echo("not taken yet, by the SHA-256 of their codes; --names links.csv tells who they are:")
    for one in found.not_taken if missing is None else missing:
        click.echo(one)


def _stand(invited: int, taken: int) -> str:
    return f"{invited} invited, {taken} {'has' if taken == 1 else 'have'} taken a ticket"


def _show_study(file: TicketFile, groups: Sequence[Published], as_json: bool) -> None:
    """How the invitations to each group stand, and to all of them."""
    found = [(one.survey.slug, invited(file, one.survey.digest)) for one in groups]
    total = sum(one.invited for _, one in found), sum(one.taken for _, one in found)
    if as_json:
        each = {slug: {"invited": one.invited, "taken": one.taken} for slug, one in found}
        click.echo(json.dumps({"invited": total[0], "taken": total[1], "groups": each}))
        return
    for slug, one in found:
        click.echo(f"{slug}: {_stand(one.invited, one.taken)}")
    click.echo(f"all groups: {_stand(*total)}")


@click.command(
    "invite",
    short_help="Make invitations and print their links.",
    epilog=example("candor survey invite exam --names class.txt --server https://example.org > links.csv"),
)
@SLUG
@COUNT
@NAMES
@server_option(default="", help="Where the survey is, such as https://example.org: links become whole.")
@click.pass_context
def invite_command(ctx: click.Context, slug: str, count: int | None, names: Path | None, server: str) -> None:
    """Make invitations and print their links, in no order; only hashes are kept."""
    said_how_many(count, names)
    store = open_db(ctx)
    published = _by_invitation(find_survey(store, slug))
    if published.state is State.CLOSED:
        raise StoreError(f"{slug} is closed")
    refuse_late(published.survey)
    if not server:
        click.echo("the links lack the host: --server https://example.org makes them whole", err=True)
    file = open_tickets(ctx, store)
    make(file, slug, f"{server}/s/{slug}", published.survey.digest, count, names)
    store.record(published.owner, slug, "made invitations")


@click.command(
    "invited",
    short_help="How many were invited, and who has not come.",
    epilog=example("candor survey invited exam --names links.csv"),
)
@SLUG
@click.option("--json", "as_json", is_flag=True, help="For a program.")
@LISTED
@click.pass_context
def invited_command(ctx: click.Context, slug: str, as_json: bool, names: Path | None) -> None:
    """How many were invited and have taken a ticket, and the hashes of codes that were not brought, or their names.

    Of a study the numbers of each group and of all.
    """
    store = open_db(ctx)
    if groups := find_study(store, slug):
        if names:
            raise click.UsageError(f"--names is the list of one group: {', '.join(one.survey.slug for one in groups)}")
        _show_study(open_tickets(ctx, store), [_by_invitation(one) for one in groups], as_json)
        return
    published = _by_invitation(find_survey(store, slug))
    show(open_tickets(ctx, store), published.survey.digest, as_json, names)


def _by_invitation(published: Published) -> Published:
    slug, tickets = published.survey.slug, published.survey.tickets
    if tickets is None:
        raise StoreError(f"anybody may answer {slug}; write invitations: true in its file and publish a new version")
    if tickets.issuer:
        raise StoreError(f"{tickets.issuer} invites to {slug}, by candor issuer invite")
    return published
