"""One round of messages: deciding who gets one, and sending them, so that nobody gets the same message twice.

People who have the message, or may have it, are left out. A refused address does not stop the others. All links are on
disk before the first message, and the outcome of each message is on disk after it. So a round that was killed continues
where it ended when it is started again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from survey_app.accounts import secret_hash
from survey_app.invitations.codes import code_of, link
from survey_app.invitations.mail.code_source import Inviting
from survey_app.invitations.mail.message import Letter
from survey_app.invitations.mail.recipients import ListError, Person
from survey_app.invitations.mail.sent_log import MOMENT, SENDING, Kept, Sent
from survey_app.invitations.mail.smtp import NotTaken, Post, PostError, Unknown
from survey_app.store import StoreError, now

MOST_LOST = 3  # connections, one after the other


class Plan(NamedTuple):
    """The people who get a message now, and the numbers of those who do not, by reason."""

    kind: str  # invited or reminded
    now: list[Sent]
    have_it: int
    unsure: list[Sent]
    taken: int = 0
    too_soon: int = 0
    never: int = 0


class Outcome(NamedTuple):
    """The outcome of the message to one person."""

    line: Sent
    fault: str = ""
    unsure: bool = False


def lines_of(everybody: Sequence[Person], kept: Kept) -> list[Sent]:
    """Return the lines of the current list with their state from the log; the link in the log has priority."""
    lines = []
    for person in everybody:
        logged = kept.lines.get(person.key)
        recipient = person._replace(link=(logged.person.link if logged else "") or person.link)
        lines.append(Sent(recipient, logged.invited, logged.reminded) if logged else Sent(recipient))
    return lines


def invitations(lines: Sequence[Sent], *, again: bool) -> Plan:
    """Plan invitations for all people who have none yet, and with `again` also for those who may have one."""
    unsure = [line for line in lines if line.invited == SENDING]
    fresh = [line for line in lines if not line.invited or (again and line.invited == SENDING)]
    return Plan("invited", fresh, len(lines) - len(fresh) - (0 if again else len(unsure)), [] if again else unsure)


def reminders(lines: Sequence[Sent], not_taken: set[str], wait: timedelta, *, again: bool) -> Plan:
    """Plan reminders for all invited people who have not taken a ticket and got no message within `wait`.

    With `again`, people who may have got the last message are included.
    """
    invited = [line for line in lines if line.invited and line.person.link]
    absent = [line for line in invited if secret_hash(code_of(line.person.link)).hex() in not_taken]
    unsure = [] if again else [line for line in absent if line.unsure]
    certain = [line for line in absent if line not in unsure]
    due = [line for line in certain if (again and line.unsure) or line.last is None or now() - line.last >= wait]
    return Plan(
        "reminded", due, 0, unsure, len(invited) - len(absent), len(certain) - len(due), len(lines) - len(invited)
    )


def prepare(plan: Plan, lines: Sequence[Sent], kept: Kept, inviting: Inviting, address: str) -> None:
    """Give each recipient a link to the current definition, with a new code if needed, and save all lines."""
    digest, slug = inviting.survey.digest, inviting.survey.slug
    codes = iter(inviting.make(sum(not line.person.link for line in plan.now)))
    for line in plan.now:
        code = code_of(line.person.link) if line.person.link else next(codes)
        line.person = line.person._replace(link=link(f"{address}/s/{slug}", code, digest))
    keys = {line.person.key for line in lines}
    kept.write([*lines, *(line for key, line in kept.lines.items() if key not in keys)])


def check_links(lines: Sequence[Sent], not_taken: set[str]) -> None:
    """Raise ListError if a link from the list is not an unused invitation to this survey."""
    for line in lines:
        if line.person.link and not line.invited:
            with suppress(StoreError):
                if secret_hash(code_of(line.person.link)).hex() in not_taken:
                    continue
            raise ListError(f"the link of {line.person.email} is no invitation to this survey that is free")


def send(
    plan: Plan, kept: Kept, letter: Letter, post: Post, pause: Callable[[], None], clock: Callable[[], datetime] = now
) -> Iterator[Outcome]:
    """Send the messages, and yield the outcome of each. Raise SmtpError if the server accepts no more messages."""
    losses = 0
    for line in plan.now:
        previous: str = getattr(line, plan.kind)
        try:
            post.deliver(letter.to(line.person), line.person.email, lambda: kept.mark(line, plan.kind, SENDING))  # noqa: B023
        except NotTaken as error:
            if getattr(line, plan.kind) != previous:
                kept.mark(line, plan.kind, previous)
            yield Outcome(line, str(error))
        except Unknown as error:
            losses += 1
            yield Outcome(line, str(error), unsure=True)
            if losses >= MOST_LOST:
                raise PostError(f"the connection was lost {losses} times: {error}") from None
        else:
            losses = 0
            kept.mark(line, plan.kind, clock().strftime(MOMENT))
            yield Outcome(line)
        pause()
