"""The `survey mail` command: send invitations by mail. Without --send it only prints a preview."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from candor_client.errors import CandorError
from survey_app.cli.common import FILE, SLUG, find_survey, open_db, open_tickets, read_text, server_option
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.invitations.mail import mailing as rounds
from survey_app.invitations.mail.code_source import CodeSource, LocalCodeSource, RemoteCodeSource
from survey_app.invitations.mail.message import Letter, compose_letter
from survey_app.invitations.mail.recipients import ListError, ListFaults, read_recipients
from survey_app.invitations.mail.sent_log import SentLine, SentLog, log_path
from survey_app.invitations.mail.smtp import PORTS, Server, SmtpConnection, SmtpError
from survey_app.store.file_system import try_to_lock_file

TOKEN = "CANDOR_TOKEN"  # noqa: S105 — the name of a variable
OPTIONS = (
    server_option(required=True, help="The server of the survey, such as https://example.org."),
    click.option(
        "--token-file", type=FILE,
        help="A file with your API token; or set CANDOR_TOKEN. Without a token, the database is used.",
    ),
    click.option("--remind", is_flag=True, help="Remind people who were invited and have not taken a ticket."),
    click.option("--send", "really", is_flag=True, help="Send the messages. Otherwise nothing is created or sent."),
    click.option(
        "--from", "sender", envvar="CANDOR_MAIL_FROM", required=True, help="The sender: 'Ada <ada@example.org>'."
    ),
    click.option("--subject", default="", help="A subject instead of the default one; may contain {title}."),
    click.option(
        "--template", type=FILE,
        help="A text instead of the default one. It must contain {link}, and may contain {name} and {title}.",
    ),
    click.option("--smtp", envvar="CANDOR_SMTP", help="The SMTP server: HOST or HOST:PORT."),
    click.option(
        "--security", envvar="CANDOR_SMTP_SECURITY", type=click.Choice(list(PORTS)), default="starttls",
        show_default=True, help="How the connection is encrypted.",
    ),
    click.option("--user", envvar="CANDOR_SMTP_USER", default="", help="SMTP user name."),
    click.option("--password-file", envvar="CANDOR_SMTP_PASSWORD_FILE", type=FILE, help="File with the SMTP password."),
    click.option("--per-minute", type=click.IntRange(1), help="Send at most this many messages a minute."),
    click.option(
        "--wait-days", type=click.FloatRange(0), default=2.0, show_default=True,
        help="Remind nobody who got a message within this many days.",
    ),
    click.option(
        "--again-unsure", is_flag=True,
        help="Also write to people who may have the message already, because sending it was interrupted.",
    ),
)  # fmt: skip


def _add_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command(
    "mail",
    short_help="Send invitations or reminders.",
    epilog=format_examples(
        "candor survey mail exam people.csv --server https://example.org --from ada@example.org",
        "candor survey mail exam people.csv --server https://example.org --from ada@example.org --send",
    ),
)
@SLUG
@click.argument("listed", metavar="LIST.csv", type=FILE)
@_add_options
@click.pass_context
def mail_command(ctx: click.Context, /, slug: str, listed: Path, **options: Any) -> None:
    """Send invitations, or reminders, from this machine to the people in LIST.csv (name,email).

    Without --send, the command prints how many people would get a message, shows one message, and sends and creates
    nothing. With --send, each person gets one invitation, however often the command is repeated. A file next to the
    list records who has which link. The survey's server learns no name and no address.
    """
    try:
        with _lock_list(listed):
            _prepare_and_send(ctx, slug, listed, **options)
    except ListFaults as error:
        raise click.ClickException(f"{listed}: {error}") from None
    except (ListError, CandorError, SmtpError) as error:
        raise click.ClickException(str(error)) from None


def _prepare_and_send(
    ctx: click.Context, slug: str, listed: Path, *, server: str, really: bool, **options: Any
) -> None:
    people = read_recipients(listed.read_bytes())
    for sentence in people.duplicates:
        click.echo(sentence, err=True)
    source = _find_code_source(ctx, slug, server, options["token_file"])
    log = SentLog(log_path(listed, slug))
    lines = rounds.merge_log(people.people, log)
    remind, retry_unsure = options["remind"], options["again_unsure"]
    if not remind and any(line.person.link and not line.invited for line in lines):
        rounds.check_links(lines, source.unused_hashes())
    plan = (
        rounds.plan_reminders(lines, source.unused_hashes(), timedelta(days=options["wait_days"]), again=retry_unsure)
        if remind
        else rounds.plan_invitations(lines, again=retry_unsure)
    )
    template = read_text(options["template"]) if options["template"] else ""
    form_letter = compose_letter(
        source.survey, options["sender"], remind=remind, subject=options["subject"], template=template
    )
    _print_plan(plan, log)
    if not plan.recipients:
        return
    if not really:
        _print_sample(plan.recipients[0], form_letter, f"{server}/s/{slug}#code=…&sha256={source.survey.digest}")
        click.echo(f"\nnothing was sent; add --send to send {_format_messages(len(plan.recipients))}")
        return
    post = SmtpConnection(_parse_smtp(options), form_letter.sender.addr_spec)
    post.connect()  # before codes are made
    try:
        rounds.prepare(plan, lines, log, source, server)
        _send_messages(plan, log, form_letter, post, options["per_minute"])
    finally:
        post.close()


@contextmanager
def _lock_list(listed: Path) -> Iterator[None]:
    """Lock the list: two simultaneous runs would write to people twice. Raise ClickException if it is locked."""
    with listed.open("rb") as file:
        try:
            try_to_lock_file(file.fileno())
        except BlockingIOError:
            raise click.ClickException(f"another candor survey mail is using {listed}; wait until it ends") from None
        yield


def _find_code_source(ctx: click.Context, slug: str, server: str, token_file: Path | None) -> CodeSource:
    token = read_text(token_file).strip() if token_file else os.environ.get(TOKEN, "")
    if token:
        return RemoteCodeSource(server, slug, token)
    store = open_db(ctx)
    return LocalCodeSource(find_survey(store, slug), open_tickets(ctx, store))


def _parse_smtp(options: dict[str, Any]) -> Server:
    if not options["smtp"]:
        raise click.UsageError("an SMTP server is needed to send messages; use --smtp HOST, or set CANDOR_SMTP")
    host, _, port = options["smtp"].partition(":")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise click.UsageError(f"--smtp {options['smtp']}: write HOST or HOST:PORT")
    security, file = options["security"], options["password_file"]
    password = read_text(file).rstrip("\r\n") if file else ""
    return Server(host, int(port) if port else PORTS[security], security, options["user"], password)


def _format_messages(count: int) -> str:
    return f"{count} message{'s' * (count != 1)}"


def _print_plan(plan: rounds.Plan, sent_log: SentLog) -> None:
    noun = "a reminder" if plan.kind == "reminded" else "an invitation"
    click.echo(f"{len(plan.recipients)} would get {noun}" if plan.recipients else f"nobody gets {noun}")
    for count, reason in (
        (plan.already_sent, "got theirs before"),
        (plan.taken, "took a ticket"),
        (plan.too_soon, "got a message recently (--wait-days)"),
        (plan.never, "got no invitation yet: run the command without --remind"),
    ):
        if count:
            click.echo(f"{count} {reason}")
    if plan.unsure:
        click.echo(f"{len(plan.unsure)} may or may not have it: sending was interrupted (--again-unsure repeats it):")
        for line in plan.unsure:
            click.echo(f"  {_format_recipient(line)}")
    if sent_log.lines:
        click.echo(f"{sent_log.path} records who has which link")


def _format_recipient(line: SentLine) -> str:
    return f"{line.person.name} <{line.person.email}>".strip()


def _print_sample(line: SentLine, form_letter: Letter, link: str) -> None:
    person = line.person._replace(link=line.person.link or link)
    message = form_letter.compose_for(person)
    click.echo("\none of the messages:\n")
    for header in ("From", "To", "Subject"):
        click.echo(f"{header}: {message[header]}")
    click.echo("\n" + message.get_content().replace("\r\n", "\n"), nl=False)


def _send_messages(
    plan: rounds.Plan, sent_log: SentLog, form_letter: Letter, post: SmtpConnection, per_minute: int | None
) -> None:
    def pause() -> None:
        if per_minute:
            time.sleep(60 / per_minute)

    faults: list[rounds.Delivery] = []
    sent_count = 0
    try:
        with show_progress("Sending", len(plan.recipients)) as progress:
            for outcome in rounds.send(plan, sent_log, form_letter, post, pause):
                progress(1)
                if outcome.fault:
                    faults.append(outcome)
                else:
                    sent_count += 1
    finally:
        click.echo(f"{_format_messages(sent_count)} sent; keep {sent_log.path}, which records who has which link")
        for outcome in faults:
            state = "may or may not have it, because the connection was lost" if outcome.unsure else "did not get it"
            click.echo(f"  {_format_recipient(outcome.line)} {state}: {outcome.fault}")
    if faults:
        raise click.ClickException("not everybody got the message; repeat the command to retry those who did not")
