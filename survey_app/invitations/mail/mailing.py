"""One round of messages: deciding who gets one, and sending them, so that nobody gets the same message twice.

People who have the message, or may have it, are left out. A refused address does not stop the others. All links are on
disk before the first message, and the outcome of each message is on disk after it. So a round that was killed continues
where it ended when it is started again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from survey_app.accounts import hash_secret
from survey_app.invitations.codes import format_link, parse_code
from survey_app.invitations.mail.code_source import CodeSource
from survey_app.invitations.mail.message import Letter
from survey_app.invitations.mail.recipients import ListError, Person
from survey_app.invitations.mail.sent_log import MOMENT, SENDING, SentLine, SentLog
from survey_app.invitations.mail.smtp import DeliveryUnknown, MessageRefused, SmtpConnection, SmtpError
from survey_app.store import StoreError, now

MOST_LOST = 3  # connections, one after the other


class Plan(NamedTuple):
    """The people who get a message now, and the numbers of those who do not, by reason."""

    kind: str  # invited or reminded
    recipients: list[SentLine]
    already_sent: int
    unsure: list[SentLine]
    taken: int = 0
    too_soon: int = 0
    never: int = 0


class Delivery(NamedTuple):
    """The outcome of the message to one person."""

    line: SentLine
    fault: str = ""
    unsure: bool = False


def merge_log(people: Sequence[Person], log: SentLog) -> list[SentLine]:
    """Return the lines of the current list with their state from the log; the link in the log has priority."""
    lines = []
    for person in people:
        logged = log.lines.get(person.key)
        recipient = person._replace(link=(logged.person.link if logged else "") or person.link)
        lines.append(SentLine(recipient, logged.invited, logged.reminded) if logged else SentLine(recipient))
    return lines


def plan_invitations(lines: Sequence[SentLine], *, again: bool) -> Plan:
    """Plan invitations for all people who have none yet, and with `again` also for those who may have one."""
    unsure = [line for line in lines if line.invited == SENDING]
    fresh = [line for line in lines if not line.invited or (again and line.invited == SENDING)]
    return Plan("invited", fresh, len(lines) - len(fresh) - (0 if again else len(unsure)), [] if again else unsure)


def plan_reminders(lines: Sequence[SentLine], unused_hashes: set[str], wait: timedelta, *, again: bool) -> Plan:
    """Plan reminders for all invited people who have not taken a ticket and got no message within `wait`.

    With `again`, people who may have got the last message are included.
    """
    invited = [line for line in lines if line.invited and line.person.link]
    absent = [line for line in invited if hash_secret(parse_code(line.person.link)).hex() in unused_hashes]
    unsure = [] if again else [line for line in absent if line.is_unsure]
    certain = [line for line in absent if line not in unsure]
    due = [line for line in certain if (again and line.is_unsure) or line.last is None or now() - line.last >= wait]
    return Plan(
        "reminded", due, 0, unsure, len(invited) - len(absent), len(certain) - len(due), len(lines) - len(invited)
    )


def prepare(plan: Plan, lines: Sequence[SentLine], log: SentLog, source: CodeSource, address: str) -> None:
    """Give each recipient a link to the current definition, with a new code if needed, and save all lines."""
    digest, slug = source.survey.digest, source.survey.slug
    codes = iter(source.make_codes(sum(not line.person.link for line in plan.recipients)))
    for line in plan.recipients:
        code = parse_code(line.person.link) if line.person.link else next(codes)
        line.person = line.person._replace(link=format_link(f"{address}/s/{slug}", code, digest))
    keys = {line.person.key for line in lines}
    log.write([*lines, *(line for key, line in log.lines.items() if key not in keys)])


def check_links(lines: Sequence[SentLine], unused_hashes: set[str]) -> None:
    """Raise ListError if a link from the list is not an unused invitation to this survey."""
    for line in lines:
        if line.person.link and not line.invited:
            with suppress(StoreError):
                if hash_secret(parse_code(line.person.link)).hex() in unused_hashes:
                    continue
            raise ListError(f"the link of {line.person.email} is not an unused invitation to this survey")


def send(
    plan: Plan,
    log: SentLog,
    letter: Letter,
    post: SmtpConnection,
    pause: Callable[[], None],
    clock: Callable[[], datetime] = now,
) -> Iterator[Delivery]:
    """Send the messages, and yield the outcome of each. Raise SmtpError if the server accepts no more messages."""
    losses = 0
    for line in plan.recipients:
        previous: str = getattr(line, plan.kind)
        try:
            post.deliver(letter.compose_for(line.person), line.person.email, lambda: log.mark(line, plan.kind, SENDING))  # noqa: B023
        except MessageRefused as error:
            if getattr(line, plan.kind) != previous:
                log.mark(line, plan.kind, previous)
            yield Delivery(line, str(error))
        except DeliveryUnknown as error:
            losses += 1
            yield Delivery(line, str(error), unsure=True)
            if losses >= MOST_LOST:
                raise SmtpError(f"the connection was lost {losses} times: {error}") from None
        else:
            losses = 0
            log.mark(line, plan.kind, clock().strftime(MOMENT))
            yield Delivery(line)
        pause()
