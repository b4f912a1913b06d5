"""Surveys by invitation for tests: keys whose primes are printed in this repository, definitions, requests, tickets."""

import json
import secrets
from typing import Any

from candor_client import Survey, Ticket
from candor_client.report import to_base64url
from candor_client.ticket import TicketRequest
from survey_app.store import Key
from tests import blind_signature_reference
from tests.definitions import simple, survey
from tests.make_vectors import add_tickets


def key(number: int = 0) -> Key:
    """Return a fixed key pair."""
    return Key(*blind_signature_reference.KEYS[number])


def invitation_survey(number: int = 0, *, definition: dict[str, Any] | None = None, **more: str) -> Survey:
    """Return a survey by invitation whose tickets this key signs; `issuer` and `from_` go next to its key."""
    said = {name.rstrip("_"): value for name, value in more.items()}
    return survey(add_tickets(blind_signature_reference.KEYS[number], definition or simple(), **said))


def request_for(made: Survey, blinded: int | None = None, **changes: Any) -> bytes:
    """Return a device's request to sign a message; a random one that nobody can use, unless it is given."""
    if blinded is None:
        blinded = secrets.randbelow(modulus(made) - 4) + 2
    return spell({"survey": made.digest, "blinded": to_base64url(blinded.to_bytes(384, "big")), **changes})


def spell(said: dict[str, Any]) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode()


def modulus(made: Survey) -> int:
    assert made.tickets is not None
    return made.tickets.key


def draw(made: Survey) -> tuple[TicketRequest, bytes]:
    """Return the blinding that a device draws, and its request."""
    blinding = TicketRequest.draw(modulus(made), secrets.token_bytes)
    return blinding, request_for(made, int.from_bytes(blinding.blind_message(modulus(made), made.digest), "big"))


def invent_ticket(made: Survey, number: int = 0) -> Ticket:
    """Return a ticket without an invitation: the holder of the key can invent one."""
    blinding = TicketRequest.draw(modulus(made), secrets.token_bytes)
    signed = blind_signature_reference.KEYS[number].sign(blinding.blind_message(modulus(made), made.digest))
    return blinding.unblind(modulus(made), made.digest, signed)
