"""Who may answer a survey by invitation: whoever brings a ticket, signed by the issuer with a key of this survey.

Here is only what a definition says about it.
"""

import base64
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from client.canonical import check_keys
from client.errors import DefinitionError

ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z")
MODULUS_BITS = 3072


@dataclass(frozen=True)
class Tickets:
    """Who may answer: whoever has a ticket signed with this key. `opens` is when reports begin, if later."""

    key: int
    issuer: str = ""
    opens: datetime | None = None


def parse_tickets(value: Any, path: str) -> Tickets:
    """The key that signs tickets, who signs if it is another server, and when answering begins."""
    check_keys(value, path, ("key",), ("issuer", "from"))
    issuer = value.get("issuer", "")
    if "issuer" in value and (not isinstance(issuer, str) or not ORIGIN.fullmatch(issuer)):
        raise DefinitionError("bad_value", f"{path}.issuer", "must be an origin such as https://example.org")
    opens = _moment(value["from"], f"{path}.from") if "from" in value else None
    return Tickets(_modulus(value["key"], f"{path}.key"), issuer, opens)


def _modulus(value: Any, path: str) -> int:
    if isinstance(value, str) and re.fullmatch("[A-Za-z0-9_-]{512}", value):
        key = int.from_bytes(base64.urlsafe_b64decode(value), "big")
        if key.bit_length() == MODULUS_BITS and key % 2:
            return key
    raise DefinitionError("bad_value", path, f"must be an odd number of exactly {MODULUS_BITS} bits, as base64url")


def _moment(value: Any, path: str) -> datetime:
    try:
        if isinstance(value, str) and MOMENT.fullmatch(value):
            return datetime.strptime(value, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    except ValueError:
        pass
    raise DefinitionError("bad_value", path, "must be a moment such as 2026-12-10T00:00Z")
