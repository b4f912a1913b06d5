"""The commands that invite people and count tickets; `issuer` shares their functions."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from candor_client.definition import Survey
from survey_app.cli.common import FILE, SLUG, find_study, find_survey, open_db, open_tickets, read_text, server_option
from survey_app.cli.terminal import format_examples, show_status
from survey_app.invitations.codes import format_csv, format_link, invitation_status, invite, names_without_ticket
from survey_app.store import EventCode, EventData, PublishedSurvey, State, StoreError, TicketFile, now, ticket_refusal

MOST_INVITATIONS = 1_000_000
COUNT_OPTION: Callable[[Any], Any] = click.option(
    "--count", type=click.IntRange(1, MOST_INVITATIONS), help="Number of invitations."
)
NAMES_OPTION: Callable[[Any], Any] = click.option(
    "--names",
    type=FILE,
    help="A file with one name per line. The links are printed as a CSV with the names, which are not stored.",
)
LIST_OPTION: Callable[[Any], Any] = click.option(
    "--names", type=FILE, help="The CSV that invite printed, to list the people who have not taken a ticket."
)


def refuse_late(survey: Survey) -> None:
    """Raise StoreError if a survey of two phases is already in its second phase."""
    if reason := ticket_refusal(survey, now()):
        raise StoreError(reason)


def check_count(count: int | None, names: Path | None) -> None:
    """Raise UsageError unless the call has a number of invitations or a list of names."""
    if names is None and count is None:
        raise click.UsageError("give the number of invitations with --count, or a list of names with --names")


def print_invitations(
    file: TicketFile, slug: str, address: str, digest: str, count: int | None, names: Path | None
) -> int:
    """Create invitations, and print one link a line, or a CSV of names and links. Return the number of invitations.

    Raise ClickException if the list is empty or does not match `count`.
    """
    people = [line.strip() for line in read_text(names).splitlines() if line.strip()] if names else []
    if names is not None and not people:
        raise click.ClickException(f"{names} has no names; write one per line")
    if names is not None and count not in (None, len(people)):
        raise click.ClickException(f"{names} has {len(people)} names, but --count is {count}; leave --count out")
    with show_status("Making invitations"):
        codes = invite(file, slug, count or len(people))
    links = [format_link(address, code, digest) for code in codes]
    click.echo(format_csv(people, links) if names else "".join(f"{url}\n" for url in links), nl=False)
    return len(codes)


def print_status(file: TicketFile, digest: str, as_json: bool, names: Path | None) -> None:
    """Print how many people were invited and have taken a ticket: exact, for the inviting party only."""
    status = invitation_status(file, digest)
    absentees = names_without_ticket(file, digest, read_text(names)) if names else None
    if as_json:
        extra = {} if absentees is None else {"names": absentees}
        click.echo(json.dumps(status._asdict() | extra, ensure_ascii=False))
        return
    click.echo(_format_status(status.invited, status.taken))
    if status.not_taken and absentees is None:
        click.echo("SHA-256 of the codes that have not taken a ticket; to see names, use --names links.csv:")
    for absentee in status.not_taken if absentees is None else absentees:
        click.echo(absentee)


def _format_status(invitation_count: int, ticket_count: int) -> str:
    return f"{invitation_count} invited, {ticket_count} {'has' if ticket_count == 1 else 'have'} taken a ticket"


def _print_study_status(file: TicketFile, groups: Sequence[PublishedSurvey], as_json: bool) -> None:
    """Print the number of invitations and tickets of each group of a study, and of all groups."""
    by_group = [(group.survey.slug, invitation_status(file, group.survey.digest)) for group in groups]
    total = sum(status.invited for _, status in by_group), sum(status.taken for _, status in by_group)
    if as_json:
        groups_document = {slug: {"invited": status.invited, "taken": status.taken} for slug, status in by_group}
        click.echo(json.dumps({"invited": total[0], "taken": total[1], "groups": groups_document}))
        return
    for slug, status in by_group:
        click.echo(f"{slug}: {_format_status(status.invited, status.taken)}")
    click.echo(f"all groups: {_format_status(*total)}")


@click.command(
    "invite",
    short_help="Create invitations and print their links.",
    epilog=format_examples("candor survey invite exam --names class.txt --server https://example.org > links.csv"),
)
@SLUG
@COUNT_OPTION
@NAMES_OPTION
@server_option(default="", help="The server of the survey, such as https://example.org, for complete links.")
@click.pass_context
def invite_command(ctx: click.Context, slug: str, count: int | None, names: Path | None, server: str) -> None:
    """Create invitations and print their links, in no particular order. Only hashes of the codes are stored."""
    check_count(count, names)
    store = open_db(ctx)
    published = _check_by_invitation(find_survey(store, slug))
    if published.state is State.CLOSED:
        raise StoreError(f"{slug} is closed, so nobody can be invited")
    refuse_late(published.survey)
    if not server:
        click.echo("the links lack the host; for complete links, use --server https://example.org", err=True)
    file = open_tickets(ctx, store)
    made = print_invitations(file, slug, f"{server}/s/{slug}", published.survey.digest, count, names)
    store.record(published.owner, slug, EventCode.INVITATIONS_MADE, EventData(count=made))


@click.command(
    "invited",
    short_help="Count invitations and tickets, and list unused codes.",
    epilog=format_examples("candor survey invited exam --names links.csv"),
)
@SLUG
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@LIST_OPTION
@click.pass_context
def invited_command(ctx: click.Context, slug: str, as_json: bool, names: Path | None) -> None:
    """Print how many people were invited and have taken a ticket, and the hashes of unused codes, or their names.

    For a study, print the numbers of each group and of all groups.
    """
    store = open_db(ctx)
    if groups := find_study(store, slug):
        if names:
            raise click.UsageError(
                f"--names is for one group; name one of them: {', '.join(group.survey.slug for group in groups)}"
            )
        _print_study_status(open_tickets(ctx, store), [_check_by_invitation(group) for group in groups], as_json)
        return
    published = _check_by_invitation(find_survey(store, slug))
    print_status(open_tickets(ctx, store), published.survey.digest, as_json, names)


def _check_by_invitation(published: PublishedSurvey) -> PublishedSurvey:
    slug, tickets = published.survey.slug, published.survey.tickets
    if tickets is None:
        raise StoreError(
            f"anybody can answer {slug}; to invite people, publish a new version with invitations: true in its file"
        )
    if tickets.issuer:
        raise StoreError(f"{tickets.issuer} issues the invitations to {slug}; run candor issuer invite there")
    return published
