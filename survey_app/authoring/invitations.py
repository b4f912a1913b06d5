"""`invitations:` in an author's file: who gives tickets out, and from when they are spent.

`true`, or a mapping: `from` parts taking a ticket and answering into two phases; `issuer` and `key` name another server
that invites, and the key it has made. Where this server invites, the key is made when the survey is published, and the
definition is whole only then.
"""

import dataclasses
from datetime import UTC, datetime
from urllib.parse import urlsplit

from client import canonical
from client.address import is_local
from client.definition import Survey
from client.ticket import parse_tickets
from survey_app.authoring.source import AuthoringError, Node


@dataclasses.dataclass(frozen=True)
class Invitations:
    """What the definition will say about tickets, but for a key that is not made yet."""

    said: tuple[tuple[str, str], ...] = ()

    @property
    def own(self) -> bool:
        """Whether this server makes the key and invites."""
        return "key" not in dict(self.said)

    @property
    def begins(self) -> datetime | None:
        """From when reports are taken, if tickets are taken before."""
        said = dict(self.said).get("from")
        return datetime.fromisoformat(said) if said else None

    def complete(self, survey: Survey, key: str | None = None) -> Survey:
        """The definition with its tickets: with this key, spelled as definitions spell it, or with another issuer's."""
        if self.own and key is None:
            raise AuthoringError(
                "a survey by invitation gets its key when it is published, so there is no definition before",
                "invitations",
            )
        tickets = dict(self.said) | ({"key": key} if key else {})
        return Survey.from_json(canonical.dumps(canonical.loads(survey.source) | {"tickets": tickets}))


def read_invitations(top: dict[str, Node]) -> Invitations | None:
    """What an author's file says; None if anybody may answer."""
    node = top.get("invitations")
    if node is None or (isinstance(node.value, str) and not node.truth()):
        return None
    if "max_reports" in top:
        raise top["max_reports"].error(
            "a survey by invitation takes one report from everybody who is invited, however many; leave it out"
        )
    if isinstance(node.value, str):
        return Invitations()
    members = node.mapping((), ("from", "issuer", "key"))
    said: dict[str, str] = {key: members[key].text() for key in ("issuer", "key") if key in members}
    if len(said) == 1:
        raise node.error("issuer and key go together: whoever invites makes the key (candor issuer key)")
    if "from" in members:
        said["from"] = _begin(members["from"], top)
    if "key" in said:
        parse_tickets(said, node.path)
        address = urlsplit(said["issuer"])
        if address.scheme == "http" and not is_local(address.hostname or ""):
            raise members["issuer"].error("must begin with https: no device takes a ticket over plain http")
    return Invitations(tuple(said.items()))


def _begin(node: Node, top: dict[str, Node]) -> str:
    """The moment from which reports are taken, as a definition writes it."""
    if node.value == "":
        raise node.error("two phases need a moment from which people answer, such as 2026-12-10T00:00Z")
    moment = node.moment().astimezone(UTC)
    if moment.second or moment.microsecond:
        raise node.error("must be a whole minute, such as 2026-12-10T00:00Z")
    before: datetime | None = top["opens"].moment() if "opens" in top else None
    after: datetime | None = top["closes"].moment() if "closes" in top else None
    if (before and moment <= before) or (after and moment >= after):
        raise node.error("must be later than opens, since tickets are taken before it, and earlier than closes")
    return f"{moment:%Y-%m-%dT%H:%MZ}"
