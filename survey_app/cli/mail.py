"""The `survey mail` command: send invitations by mail. Without --send it only prints a preview."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from candor_client.errors import CandorError
from survey_app.cli.common import FILE, SLUG, find_survey, open_db, open_tickets, server_option, text_of
from survey_app.cli.terminal import bar, example
from survey_app.invitations.mail import mailing as rounds
from survey_app.invitations.mail.code_source import Here, Inviting, There
from survey_app.invitations.mail.message import Letter, letter
from survey_app.invitations.mail.recipients import ListError, read
from survey_app.invitations.mail.sent_log import Kept, Sent, beside
from survey_app.invitations.mail.smtp import PORTS, Post, PostError, Server

TOKEN = "CANDOR_TOKEN"  # noqa: S105 — the name of a variable
OPTIONS = (
    server_option(required=True, help="Where the survey is, such as https://example.org."),
    click.option("--token-file", type=FILE, help="A file with your API token; or CANDOR_TOKEN. Without: the database."),
    click.option("--remind", is_flag=True, help="Write to those who were invited and have not taken a ticket."),
    click.option("--send", "really", is_flag=True, help="Send the messages; without, nothing is made or sent."),
    click.option("--from", "sender", envvar="CANDOR_MAIL_FROM", required=True, help="'Ada <ada@example.org>'."),
    click.option("--subject", default="", help="Instead of our own; may have {title}."),
    click.option("--template", type=FILE, help="A text instead of our own, with {name}, {link} and {title}."),
    click.option("--smtp", envvar="CANDOR_SMTP", help="The SMTP server: HOST or HOST:PORT."),
    click.option(
        "--security", envvar="CANDOR_SMTP_SECURITY", type=click.Choice(list(PORTS)), default="starttls",
        show_default=True, help="How it is encrypted.",
    ),
    click.option("--user", envvar="CANDOR_SMTP_USER", default="", help="Whom the SMTP server knows."),
    click.option("--password-file", envvar="CANDOR_SMTP_PASSWORD_FILE", type=FILE, help="Their password, in a file."),
    click.option("--per-minute", type=click.IntRange(1), help="At most so many messages a minute."),
    click.option(
        "--wait-days", type=click.FloatRange(0), default=2.0, show_default=True,
        help="Remind nobody who was written to since then.",
    ),
    click.option("--again-unsure", is_flag=True, help="Also those who may have it: the connection was lost over it."),
)  # fmt: skip


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command(
    "mail",
    short_help="Send invitations or reminders.",
    epilog=example(
        "candor survey mail exam people.csv --server https://example.org --from ada@example.org",
        "candor survey mail exam people.csv --server https://example.org --from ada@example.org --send",
    ),
)
@SLUG
@click.argument("listed", metavar="LIST.csv", type=FILE)
@_options
@click.pass_context
def mail_command(ctx: click.Context, /, slug: str, listed: Path, **said: Any) -> None:
    """Send invitations, or reminders, to the people of LIST.csv (name,email), from this machine.

    Without --send it tells how many would get what, shows one message, and sends and makes nothing. With it, each
    person gets one invitation, however often it is repeated. Who has which link stays in a file beside the list; the
    survey's server learns no name and no address.
    """
    try:
        with _alone(listed):
            _mail(ctx, slug, listed, **said)
    except ListError as error:
        raise click.ClickException(f"{listed}: {error}" if str(error).startswith("line ") else str(error)) from None
    except (CandorError, PostError) as error:
        raise click.ClickException(str(error)) from None


def _mail(ctx: click.Context, slug: str, listed: Path, *, server: str, really: bool, **said: Any) -> None:
    people = read(listed.read_bytes())
    for sentence in people.left_out:
        click.echo(sentence, err=True)
    source = _inviting(ctx, slug, server, said["token_file"])
    log = Kept(beside(listed, slug))
    lines = rounds.lines_of(people.everybody, log)
    remind, retry_unsure = said["remind"], said["again_unsure"]
    if not remind and any(line.person.link and not line.invited for line in lines):
        rounds.check_links(lines, source.not_taken())
    plan = (
        rounds.reminders(lines, source.not_taken(), timedelta(days=said["wait_days"]), again=retry_unsure)
        if remind
        else rounds.invitations(lines, again=retry_unsure)
    )
    template = text_of(said["template"]) if said["template"] else ""
    form_letter = letter(source.survey, said["sender"], remind=remind, subject=said["subject"], template=template)
    _tell(plan, log)
    if not plan.now:
        return
    if not really:
        _show(plan.now[0], form_letter, f"{server}/s/{slug}#code=…&sha256={source.survey.digest}")
        click.echo(f"\nnothing was sent; add --send to send {_messages(len(plan.now))}")
        return
    post = Post(_smtp(said), form_letter.sender.addr_spec)
    post.connect()  # before codes are made
    try:
        rounds.prepare(plan, lines, log, source, server)
        _send(plan, log, form_letter, post, said["per_minute"])
    finally:
        post.close()


@contextmanager
def _alone(listed: Path) -> Iterator[None]:
    """Lock the list: two simultaneous runs would write to people twice. Raise ClickException if it is locked."""
    with listed.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise click.ClickException(f"another candor survey mail is at work on {listed}") from None
        yield


def _inviting(ctx: click.Context, slug: str, server: str, token_file: Path | None) -> Inviting:
    token = text_of(token_file).strip() if token_file else os.environ.get(TOKEN, "")
    if token:
        return There(server, slug, token)
    store = open_db(ctx)
    return Here(find_survey(store, slug), open_tickets(ctx, store))


def _smtp(said: dict[str, Any]) -> Server:
    if not said["smtp"]:
        raise click.UsageError("say which SMTP server sends them: --smtp HOST, or CANDOR_SMTP")
    host, _, port = said["smtp"].partition(":")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise click.UsageError(f"--smtp {said['smtp']}: write HOST or HOST:PORT")
    security, file = said["security"], said["password_file"]
    password = text_of(file).rstrip("\r\n") if file else ""
    return Server(host, int(port) if port else PORTS[security], security, said["user"], password)


def _messages(count: int) -> str:
    return f"{count} message{'s' * (count != 1)}"


def _tell(plan: rounds.Plan, kept: Kept) -> None:
    noun = "a reminder" if plan.kind == "reminded" else "an invitation"
    click.echo(f"{len(plan.now)} would get {noun}" if plan.now else f"nobody gets {noun}")
    for count, reason in (
        (plan.have_it, "have theirs already"),
        (plan.taken, "have taken a ticket"),
        (plan.too_soon, "were written to lately (--wait-days)"),
        (plan.never, "were never invited: run it without --remind"),
    ):
        if count:
            click.echo(f"{count} {reason}")
    if plan.unsure:
        click.echo(f"{len(plan.unsure)} may have it or not; the connection was lost over it (--again-unsure):")
        for line in plan.unsure:
            click.echo(f"  {_named(line)}")
    if kept.lines:
        click.echo(f"who has which link is in {kept.path}")


def _named(line: Sent) -> str:
    return f"{line.person.name} <{line.person.email}>".strip()


def _show(line: Sent, written: Letter, link: str) -> None:
    person = line.person._replace(link=line.person.link or link)
    message = written.to(person)
    click.echo("\none of them:\n")
    for header in ("From", "To", "Subject"):
        click.echo(f"{header}: {message[header]}")
    click.echo("\n" + message.get_content().replace("\r\n", "\n"), nl=False)


def _send(plan: rounds.Plan, kept: Kept, written: Letter, post: Post, per_minute: int | None) -> None:
    def pause() -> None:
        if per_minute:
            time.sleep(60 / per_minute)

    faults: list[rounds.Outcome] = []
    sent_count = 0
    try:
        with bar("Sending", len(plan.now)) as progress:
            for outcome in rounds.send(plan, kept, written, post, pause):
                progress(1)
                if outcome.fault:
                    faults.append(outcome)
                else:
                    sent_count += 1
    finally:
        click.echo(f"{_messages(sent_count)} sent; who has which link is in {kept.path}, which is yours to keep")
        for outcome in faults:
            state = "may have it or not, the connection was lost" if outcome.unsure else "did not get it"
            click.echo(f"  {_named(outcome.line)} {state}: {outcome.fault}")
    if faults:
        raise click.ClickException("not everybody got it; repeat the command to try again with those who did not")
