"""`invitations:` in an author's file: which server issues tickets, and from when they can be used.

The value is `true` or a mapping. `from` separates taking a ticket and answering into two phases. `issuer` and `key`
name another server that invites, and its key. If this server invites, the key is made when the survey is published. The
definition is complete only then.
"""

import dataclasses
from datetime import UTC, datetime
from urllib.parse import urlsplit

from candor_client import canonical
from candor_client.address import is_local
from candor_client.definition import Survey
from candor_client.report import to_base64url
from candor_client.ticket import MODULUS_BYTES, parse_tickets
from survey_app.authoring.yaml_source import AuthoringError, Node


def format_modulus(modulus: int) -> str:
    """Return the modulus of a ticket key as a definition has it: base64url of its bytes."""
    return to_base64url(modulus.to_bytes(MODULUS_BYTES, "big"))


@dataclasses.dataclass(frozen=True)
class Invitations:
    """The entries of the definition about tickets, without a key that does not exist yet."""

    entries: tuple[tuple[str, str], ...] = ()

    @property
    def is_own_issuer(self) -> bool:
        """Whether this server makes the key and invites."""
        return "key" not in dict(self.entries)

    @property
    def start(self) -> datetime | None:
        """The time from which reports are accepted, if tickets are taken before it; else None."""
        start = dict(self.entries).get("from")
        return datetime.fromisoformat(start) if start else None

    def complete(self, survey: Survey, key: str | None = None) -> Survey:
        """Return the definition with its tickets.

        `key` is the key of this server, in the definition's format. Another issuer's key is in the file already. Raise
        AuthoringError if this server makes the key and none is passed.
        """
        if self.is_own_issuer and key is None:
            raise AuthoringError(
                "no_key_yet",
                "a survey by invitation gets its key at publishing and has no definition before; publish it first",
                "invitations",
            )
        tickets = dict(self.entries) | ({"key": key} if key else {})
        return Survey.from_json(canonical.dumps(canonical.loads(survey.source) | {"tickets": tickets}))


def read_invitations(top: dict[str, Node]) -> Invitations | None:
    """Return the invitations of an author's file, or None if anybody may answer.

    Raise AuthoringError if they are invalid.
    """
    node = top.get("invitations")
    if node is None or (isinstance(node.value, str) and not node.boolean()):
        return None
    if "max_reports" in top:
        raise top["max_reports"].error(
            "not_with_invitations",
            "a survey by invitation accepts one report from everybody who is invited, however many; leave this key out",
        )
    if isinstance(node.value, str):
        return Invitations()
    members = node.mapping((), ("from", "issuer", "key"))
    entries: dict[str, str] = {key: members[key].text() for key in ("issuer", "key") if key in members}
    if len(entries) == 1:
        raise node.error(
            "issuer_without_key", "issuer and key must be given together; the issuer makes the key (candor issuer key)"
        )
    if "from" in members:
        entries["from"] = _read_start(members["from"], top)
    if "key" in entries:
        parse_tickets(entries, node.path)
        address = urlsplit(entries["issuer"])
        if address.scheme == "http" and not is_local(address.hostname or ""):
            raise members["issuer"].error(
                "plain_http", "must begin with https, because devices take no tickets over plain http"
            )
    return Invitations(tuple(entries.items()))


def _read_start(node: Node, top: dict[str, Node]) -> str:
    """Return the time from which reports are accepted, as a definition writes it."""
    if node.value == "":
        raise node.error("empty", "two phases need the time from which reports are accepted, such as 2026-12-10T00:00Z")
    start = node.timestamp().astimezone(UTC)
    if start.second or start.microsecond:
        raise node.error("not_a_minute", "must be a whole minute, such as 2026-12-10T00:00Z")
    opens: datetime | None = top["opens"].timestamp() if "opens" in top else None
    closes: datetime | None = top["closes"].timestamp() if "closes" in top else None
    if (opens and start <= opens) or (closes and start >= closes):
        raise node.error(
            "bad_order", "must be later than opens, because tickets are taken before it, and earlier than closes"
        )
    return f"{start:%Y-%m-%dT%H:%MZ}"
