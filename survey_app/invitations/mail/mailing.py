"""One round of messages: who gets one, and sending them, so that nobody gets the same one twice.

Whoever has a message already is left out, and so is whoever may have it. A refused address does not stop the others.
Before the first message every link is on disk, and after each one what became of it: whoever starts a round again, also
after it was killed, goes on where it ended.
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
    """Who gets a message now, and how many of the list do not, by the reason."""

    kind: str  # invited or reminded
    now: list[Sent]
    have_it: int
    unsure: list[Sent]
    taken: int = 0
    too_soon: int = 0
    never: int = 0


class Outcome(NamedTuple):
    """What became of the message to one person."""

    line: Sent
    fault: str = ""
    unsure: bool = False


def lines_of(everybody: Sequence[Person], kept: Kept) -> list[Sent]:
    """The list as it is now, with what is kept of each; a link that the list itself has counts if none is kept."""
    found = []
    for person in everybody:
        before = kept.lines.get(person.key)
        linked = person._replace(link=(before.person.link if before else "") or person.link)
        found.append(Sent(linked, before.invited, before.reminded) if before else Sent(linked))
    return found


def invitations(lines: Sequence[Sent], *, again: bool) -> Plan:
    """Everybody who was not invited yet; who may have been, only `again`."""
    unsure = [line for line in lines if line.invited == SENDING]
    fresh = [line for line in lines if not line.invited or (again and line.invited == SENDING)]
    return Plan("invited", fresh, len(lines) - len(fresh) - (0 if again else len(unsure)), [] if again else unsure)


def reminders(lines: Sequence[Sent], not_taken: set[str], wait: timedelta, *, again: bool) -> Plan:
    """Everybody who was invited, has not taken a ticket, and was not written to lately."""
    invited = [line for line in lines if line.invited and line.person.link]
    absent = [line for line in invited if secret_hash(code_of(line.person.link)).hex() in not_taken]
    unsure = [] if again else [line for line in absent if line.unsure]
    left = [line for line in absent if line not in unsure]
    due = [line for line in left if (again and line.unsure) or line.last is None or now() - line.last >= wait]
    return Plan("reminded", due, 0, unsure, len(invited) - len(absent), len(left) - len(due), len(lines) - len(invited))


def prepare(plan: Plan, lines: Sequence[Sent], kept: Kept, inviting: Inviting, address: str) -> None:
    """Give everybody who gets a message a link to the definition of now, and put all of it on disk."""
    digest, slug = inviting.survey.digest, inviting.survey.slug
    codes = iter(inviting.make(sum(not line.person.link for line in plan.now)))
    for line in plan.now:
        code = code_of(line.person.link) if line.person.link else next(codes)
        line.person = line.person._replace(link=link(f"{address}/s/{slug}", code, digest))
    listed = {line.person.key for line in lines}
    kept.write([*lines, *(line for key, line in kept.lines.items() if key not in listed)])


def check_links(lines: Sequence[Sent], not_taken: set[str]) -> None:
    """Links that a list brought must be invitations of this survey that nobody used; ListError tells whose is not."""
    for line in lines:
        if line.person.link and not line.invited:
            with suppress(StoreError):
                if secret_hash(code_of(line.person.link)).hex() in not_taken:
                    continue
            raise ListError(f"the link of {line.person.email} is no invitation to this survey that is free")


def send(
    plan: Plan, kept: Kept, letter: Letter, post: Post, pause: Callable[[], None], clock: Callable[[], datetime] = now
) -> Iterator[Outcome]:
    """Send the messages, and tell of each what became of it; PostError if the SMTP server takes nothing any more."""
    lost = 0
    for line in plan.now:
        before: str = getattr(line, plan.kind)
        try:
            post.deliver(letter.to(line.person), line.person.email, lambda: kept.mark(line, plan.kind, SENDING))  # noqa: B023
        except NotTaken as error:
            if getattr(line, plan.kind) != before:
                kept.mark(line, plan.kind, before)
            yield Outcome(line, str(error))
        except Unknown as error:
            lost += 1
            yield Outcome(line, str(error), unsure=True)
            if lost >= MOST_LOST:
                raise PostError(f"the connection was lost {lost} times: {error}") from None
        else:
            lost = 0
            kept.mark(line, plan.kind, clock().strftime(MOMENT))
            yield Outcome(line)
        pause()
