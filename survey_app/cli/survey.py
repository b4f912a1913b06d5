"""The `survey` commands: build, add, list, show, set, open, pause, close, delete, check."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from candor_client.verify import verify
from survey_app.authoring.publication import Difference, find_published, list_differences, publish
from survey_app.authoring.timestamps import format_timestamp, parse_timestamp
from survey_app.cli.common import (
    DIGEST,
    FILE,
    SLUG,
    build_survey,
    find_managed,
    find_survey,
    find_user,
    open_db,
    open_tickets,
)
from survey_app.cli.invitations import invite_command, invited_command
from survey_app.cli.load import load_command
from survey_app.cli.mail import mail_command
from survey_app.cli.sharing import share_command
from survey_app.cli.terminal import colour_word, confirm_on_terminal, format_examples, show_progress, show_status
from survey_app.invitations.keys import make_key
from survey_app.languages import numbers
from survey_app.plan.advice import check_survey_precision
from survey_app.results.report_counts import describe_hold
from survey_app.results.report_counts import format_report_count as told_reports
from survey_app.store import PublishedSurvey, State, Store, list_surveys, may_close, now
from survey_app.store.term_changes import MUTABLE_AFTER_CLOSING

DEFAULT = ParameterSource.DEFAULT
RESPONDENTS, MARGIN = 500, 0.05  # planned for by default
ORDER_NOTE = "the order of reports may remain readable on disk until there is enough disk space to rewrite the file"


@click.group(epilog=format_examples("candor survey add exam.yaml", "candor survey list"))
def survey() -> None:
    """Author and run surveys."""


for command in (invite_command, invited_command, load_command, mail_command, share_command):
    survey.add_command(command)


@survey.command(
    "build",
    short_help="Write the definition of FILE to standard output.",
    epilog=format_examples("candor survey build exam.yaml > exam.json"),
)
@click.argument("file", type=FILE)
def build_command(file: Path) -> None:
    """Write the definition of FILE to standard output; for a study, one line per group. Nothing is stored."""
    built = build_survey(file)
    if built.needs_key:
        raise click.ClickException(
            f"{file}: there is no definition yet, because its key is created when it is published (candor survey add)"
        )
    click.echo(b"\n".join(survey.source for survey in built.surveys), nl=len(built.surveys) > 1)


@survey.command("add", epilog=format_examples("candor survey add exam.yaml --respondents 400"))
@click.argument("file", type=FILE)
@click.option("--owner", help="The account that owns the survey; the administrator by default.")
@click.option("--later", is_flag=True, help="Publish without opening; candor survey open opens it.")
@click.option(
    "--respondents",
    type=click.IntRange(2),
    help="The expected number of respondents, for a warning if it is too small.",
)
@click.pass_context
def add_command(ctx: click.Context, file: Path, owner: str | None, later: bool, respondents: int | None) -> None:
    """Publish FILE, as a new version if its slug exists already."""
    built, store = build_survey(file), open_db(ctx, begin=True)
    if existing := find_published(store, built):
        raise click.ClickException(_explain_no_change(existing, list_differences(existing, built)))
    if owner is None:
        user = next((user for user in store.users() if user.admin), None)
        if user is None:
            raise click.ClickException("there is no account yet; create one with candor user add NAME")
    else:
        user = find_user(store, owner)
    groups = publish(
        store,
        open_tickets(ctx, store),
        built,
        owner=user.key,
        state=State.READY if later else State.OPEN,
        source=None if file.suffix == ".json" else file.read_bytes(),
        make_key=make_key,
    )
    _print_survey(store, groups)
    respondent_count = respondents or built.terms.max_reports or sum(built.sizes or ()) or RESPONDENTS
    for line in check_survey_precision(built, respondent_count, MARGIN):
        click.echo(f"precision: {line}", err=True)


def _explain_no_change(groups: Sequence[PublishedSurvey], changes: Sequence[Difference]) -> str:
    """Return why there is no new version, and the command that changes the terms that differ."""
    name = groups[0].name
    explanation = f"this definition of {name} is already published: {groups[0].survey.digest}"
    is_closed = groups[0].state is State.CLOSED
    options = [
        _format_option(change)
        for change in changes
        if change.term != "opens" and (not is_closed or change.term in MUTABLE_AFTER_CLOSING)
    ]
    note = ""
    if is_closed:
        note = "; it is closed"
    elif len(options) < len(changes):
        note = "; its opening date can no longer be changed: open or pause it instead"
    if not options:
        return f"{explanation}, {'with the same terms' if not changes else 'and nothing else differs'}{note}"
    command = f"candor survey set {name} {' '.join(options)}"
    return f"{explanation}; only its terms differ, and changing them needs no new version{note}:\n  {command}"


def _format_option(change: Difference) -> str:
    if change.term == "size":
        return f"--size {change.group}={change.written}"
    if change.term == "public":
        return f"--results {'public' if change.written else 'private'}"
    name = change.term.replace("_", "-")
    if change.written is None:
        return f"--{name} {'none' if change.term == 'max_reports' else 'never'}"
    return f"--{name} {format_timestamp(change.written) if isinstance(change.written, datetime) else change.written}"


def _print_survey(store: Store, groups: Sequence[PublishedSurvey]) -> None:
    """Print a survey, or what all groups of a study have in common and then each group."""
    published = groups[0]
    survey = published.survey
    group_note = f", {len(groups)} groups" if survey.study else ""
    click.echo(f"{published.name}  {published.state_at(now())}  {survey.title}{group_note}")
    if not group_note:
        click.echo(f"digest   {survey.digest}")
    click.echo(f"ε        {numbers.format_epsilon(verify(survey), fixed=True)}")
    if not group_note:
        click.echo(f"link     {_format_link(published)}")
    if owner := store.user(published.owner):
        click.echo(f"owner    {owner.name}")
    terms = published.terms
    click.echo(
        f"results  {'public' if terms.public else 'private'}{', by invitation' if published.is_by_invitation else ''}"
    )
    click.echo(f"opens    {_format_time(terms.opens, 'when it is opened')}")
    click.echo(f"closes   {_format_time(terms.closes, 'never')}")
    click.echo(f"reports  {'no limit' if terms.max_reports is None else f'at most {terms.max_reports}'}")
    click.echo(f"deletes  {_format_time(terms.deletes, 'never')}")
    if sentence := describe_hold(published):
        click.echo(f"shown    {sentence}")
    for group in groups if group_note else ():
        people = f", {numbers.format_count(group.terms.size)} people" if group.terms.size else ""
        click.echo(f"\n{group.survey.group}{people}")
        click.echo(f"digest   {group.survey.digest}")
        click.echo(f"link     {_format_link(group)}")


def _format_link(published: PublishedSurvey) -> str:
    tickets = published.survey.tickets
    if tickets:  # the link alone admits nobody
        invites = f"candor issuer invite, at {tickets.issuer}" if tickets.issuer else "candor survey invite"
        return f"one per person, from {invites}"
    return f"/s/{published.survey.slug}#sha256={published.survey.digest}"


def _format_time(time: datetime | None, otherwise: str) -> str:
    return otherwise if time is None else format_timestamp(time)


@survey.command(
    "list",
    short_help="List all surveys, with their reports in steps of twenty.",
    epilog=format_examples("candor survey list"),
)
@click.pass_context
def list_command(ctx: click.Context) -> None:
    """List all surveys and studies, their states, and their reports in steps of twenty."""
    store = open_db(ctx)
    for groups in list_surveys(store):
        published, reports = groups[0], sum(store.snapshot(group).reports for group in groups)
        group_note = f" ({len(groups)} groups)" if published.survey.study else ""
        state = published.state_at(now())
        report_text = told_reports(reports, state, len(groups), groups[0].hold)
        click.echo(f"{published.name:24} {state:8} {report_text:>14}  {published.survey.title}{group_note}")


@survey.command("show", epilog=format_examples("candor survey show exam"))
@SLUG
@click.pass_context
def show_command(ctx: click.Context, slug: str) -> None:
    """Show one survey, or all groups of a study."""
    store = open_db(ctx)
    _print_survey(store, find_managed(store, slug))


def _parse_time(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """Parse a date and time; return None for never. Raise BadParameter if it is neither."""
    if value is None or value == "never":
        return None
    try:
        return parse_timestamp(value)
    except ValueError as error:
        raise click.BadParameter(f"{value} {error}, or never") from None


def _parse_limit(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Parse a number of reports; return None for none. Raise BadParameter if it is neither."""
    if value is None or value == "none":
        return None
    if not (value.isascii() and value.isdigit() and 0 < int(value[:16]) < 10**15):
        raise click.BadParameter(f"{value!r} is not a number of reports such as 500, or none")
    return int(value)


@survey.command(
    "set",
    short_help="Change the terms of a survey, even while it runs.",
    epilog=format_examples("candor survey set exam --closes 2027-03-31T22:00Z --results public"),
)
@SLUG
@click.option(
    "--closes",
    callback=_parse_time,
    metavar="T|never",
    help="When the survey closes permanently, such as 2026-12-01T00:00Z.",
)
@click.option("--results", type=click.Choice(["public", "private"]), help="Who sees the results.")
@click.option(
    "--max-reports",
    callback=_parse_limit,
    metavar="N|none",
    help="The number of reports at which the survey closes permanently.",
)
@click.option(
    "--deletes", callback=_parse_time, metavar="T|never", help="When the server deletes the survey automatically."
)
@click.option("--size", "sizes", multiple=True, metavar="GROUP=N", help="The number of people in a group of a study.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation if a lower limit may close the survey at once.")
@click.pass_context
def set_command(
    ctx: click.Context, /, slug: str, results: str | None, sizes: tuple[str, ...], yes: bool, **term_options: Any
) -> None:
    """Change the terms of a survey, or of all groups of a study, even while it runs.

    A closing date in the past, or a limit that is already reached, closes the survey at once. After closing, only
    results, deletes and sizes can be changed. A survey by invitation shows nothing before its closing date, which can
    only be moved later.
    """
    changes = {name: value for name, value in term_options.items() if ctx.get_parameter_source(name) is not DEFAULT}
    if results:
        changes["public"] = results == "public"
    if not changes and not sizes:
        raise click.UsageError(
            "there is nothing to change: give --closes, --results, --max-reports, --deletes or --size"
        )
    store = open_db(ctx)
    groups = find_managed(store, slug)
    sizes_by_group = _parse_sizes(groups, sizes)
    limit = changes.get("max_reports")
    if limit and not yes and may_close(store, groups, limit):
        click.echo(f"{groups[0].name} may already have {limit} reports: not all reports are shown yet.", err=True)
        click.confirm("If so, it closes now, permanently. Set the limit?", abort=True, err=True)
    for group, size in sizes_by_group:
        store.set_terms(group, replace(group.terms, size=size))
    if changes:
        published = find_managed(store, slug)[0]
        store.set_terms(published, replace(published.terms, **changes))
    was_closed, groups = groups[0].state is State.CLOSED, find_managed(store, slug)
    _print_survey(store, groups)
    if groups[0].state is State.CLOSED and not was_closed:
        reason = "it has reached its report limit" if groups[0].full else "its closing date has passed"
        click.echo(f"{slug} is closed: {reason}")
        _warn_if_not_rewritten(store)


def _parse_sizes(groups: Sequence[PublishedSurvey], texts: Sequence[str]) -> list[tuple[PublishedSurvey, int]]:
    """Parse GROUP=N, with groups named by the ends of their links; return groups with sizes.

    Raise ClickException for an unknown group, an invalid size, or if some groups would be without a size.
    """
    by_name = {
        group.survey.slug.removeprefix(f"{group.survey.study}-"): group for group in groups if group.survey.study
    }
    new_sizes: dict[str, int] = {}
    for text in texts:
        name, _, size = text.partition("=")
        if name not in by_name:
            advice = (
                f"its groups are {', '.join(by_name)}" if by_name else "the survey is not a study, so it has no groups"
            )
            raise click.ClickException(f"--size {text}: there is no group {name!r}; {advice}")
        if not (size.isascii() and size.isdigit() and 0 < int(size[:16]) < 10**15):
            raise click.ClickException(
                f"--size {text}: write GROUP=N with a whole number of people, such as {name}=1200"
            )
        new_sizes[name] = int(size)
    missing = [name for name, group in by_name.items() if new_sizes and name not in new_sizes and not group.terms.size]
    if missing:
        raise click.ClickException(f"sizes are for all groups or for none; also give a size for {', '.join(missing)}")
    return [(by_name[name], size) for name, size in new_sizes.items()]


@survey.command("open", epilog=format_examples("candor survey open exam"))
@SLUG
@click.pass_context
def open_command(ctx: click.Context, slug: str) -> None:
    """Open the newest version of a survey, or resume a paused survey."""
    store = open_db(ctx)
    store.set_state(find_managed(store, slug, unopened=True)[0], State.OPEN)
    click.echo(f"{slug} is open")


@survey.command("pause", short_help="Pause a survey.", epilog=format_examples("candor survey pause exam"))
@SLUG
@click.pass_context
def pause_command(ctx: click.Context, slug: str) -> None:
    """Pause a survey: it accepts no reports until candor survey open resumes it. Pausing shows no reports."""
    store = open_db(ctx)
    store.set_state(find_managed(store, slug)[0], State.PAUSED)
    click.echo(f"{slug} is paused; to resume it, run candor survey open {slug}")


@survey.command(
    "close",
    short_help="Close a survey, or a whole study, permanently.",
    epilog=format_examples("candor survey close exam", "candor survey close exam --yes"),
)
@SLUG
@click.option("--yes", is_flag=True, help="Do not ask for confirmation; required without a terminal.")
@click.pass_context
def close_command(ctx: click.Context, slug: str, yes: bool) -> None:
    """Close a survey, or all groups of a study, permanently. The last reports are shown if there are at least twenty.

    A closed survey accepts no reports and cannot be opened again, so the command asks first. Closing a survey by
    invitation does not show its results earlier.
    """
    store = open_db(ctx)
    published = find_managed(store, slug)[0]
    study = published.survey.study
    subject = f"the study {study} with all its groups" if study else slug
    if not yes:
        confirm_on_terminal(f"Close {subject} permanently?", f"candor survey close {slug} --yes")
    with show_status("Closing, and rewriting the file"):
        store.set_state(published, State.CLOSED)
    sentence = describe_hold(find_managed(store, slug)[0])
    click.echo(f"{slug} is closed{f'. {sentence}' if sentence else ''}")
    _warn_if_not_rewritten(store)


@survey.command("delete", epilog=format_examples("candor survey delete exam"))
@SLUG
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def delete_command(ctx: click.Context, slug: str, yes: bool) -> None:
    """Delete a survey, or a whole study, with all versions and reports."""
    store = open_db(ctx)
    study = find_managed(store, slug)[0].survey.study
    subject = f"the study {study} with all its groups" if study else slug
    if not yes:
        click.confirm(f"Delete {subject} permanently, with all versions and reports?", abort=True)
    with show_status("Deleting, and rewriting the file"):
        store.delete_survey(slug)
    click.echo(f"{study or slug} was deleted")
    _warn_if_not_rewritten(store)


def _warn_if_not_rewritten(store: Store) -> None:
    if store.needs_rewrite:
        click.echo(
            "the database is in use and could not be rewritten; a server rewrites it when it is idle, or at its start",
            err=True,
        )


@survey.command(
    "check",
    short_help="Recount the bits, and compare with the tally.",
    epilog=format_examples("candor survey check exam --json"),
)
@SLUG
@DIGEST
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check_command(ctx: click.Context, slug: str, digest: str | None, as_json: bool) -> None:
    """Recount a survey from its bits, and compare with the tally. The counts are exact, so only for the operator."""
    store = open_db(ctx)
    published = find_survey(store, slug, digest)
    length = store.snapshot(published).reports
    with show_progress("Recounting", length) as progress:
        stored, recount = store.recount(published, progress)
    ok = stored.reports == recount.reports and bool(np.array_equal(stored.counts, recount.counts))
    document: dict[str, Any] = {"reports": recount.reports, "tally": stored.reports, "ok": ok}
    if since := store.rewrite_failing_since:
        document["untidy_since"] = f"{since:%Y-%m-%d}"
        click.echo(f"untidy since {since:%Y-%m-%d}: {ORDER_NOTE}", err=True)
    summary = f"{recount.reports} reports, tally {stored.reports}: {'ok' if ok else 'WRONG'}"
    click.echo(json.dumps(document) if as_json else colour_word(summary, "WRONG", "red"))
    ctx.exit(0 if ok else 1)
