"""A server that issues tickets and takes reports with them, by the description of the protocol and without our code."""

import base64
import hashlib
import json
from typing import Any

from tests import blind_signature_reference
from tests.definitions import encode, worked_example
from tests.make_vectors import add_tickets
from tests.scripted_server import Reply, Server

KEY = blind_signature_reference.KEYS[0]


def to_bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def problem(status: int, code: str) -> Reply:
    return status, {}, json.dumps({"code": code, "title": code}).encode()


class Issuer:
    """Codes and the signatures given for them; reports by id. `source` is served as the definition."""

    def __init__(
        self, server: Server, definition: dict[str, Any] | None = None, *, key: blind_signature_reference.Key = KEY
    ) -> None:
        self.server, self.key = server, key
        self.source = encode(add_tickets(key, worked_example()) if definition is None else definition)
        self.digest = hashlib.sha256(self.source).hexdigest()
        slug = json.loads(self.source)["slug"]
        self.link = f"{server.origin}/s/{slug}"
        self.codes: set[str] = set()
        self.message_hashes: dict[str, str] = {}
        self.requests: list[tuple[str, bytes]] = []
        self.reports: dict[bytes, bytes] = {}
        server.define(self.source, slug)
        server.tickets, server.post = self.sign, self.collect

    def invite(self, *codes: str) -> str:
        """Invite these codes; return the link of the first."""
        self.codes.update(codes)
        return f"{self.link}#code={codes[0]}"

    def sign(self, code: str, body: bytes) -> Reply | None:
        """Mark the code and sign the message; the same message gets its signature again."""
        self.requests.append((code, body))
        request = json.loads(body)
        if set(request) != {"survey", "blinded"} or request["survey"] != self.digest:
            return problem(400, "wrong_survey")
        if code not in self.codes:
            return problem(403, "not_invited")
        z = to_bytes(request["blinded"])
        if len(z) != 384 or not 1 < int.from_bytes(z, "big") < self.key.n - 1:
            return problem(400, "malformed_request")
        if self.message_hashes.setdefault(code, hashlib.sha256(z).hexdigest()) != hashlib.sha256(z).hexdigest():
            return problem(409, "already_issued")
        return 200, {}, json.dumps({"signature": to_text(self.key.sign(z))}).encode()

    def collect(self, body: bytes) -> Reply | None:
        """Take a report: once, with its ticket."""
        report = json.loads(body)
        prefix, signature = (to_bytes(report["ticket"][name]) for name in ("prefix", "signature"))
        if report["survey"] != self.digest or to_bytes(report["id"]) != blind_signature_reference.identity(prefix):
            return problem(400, "malformed_report")
        if not blind_signature_reference.accepts(self.key.n, self.digest, prefix, signature):
            return problem(403, "bad_ticket")
        known = self.reports.setdefault(blind_signature_reference.identity(prefix), to_bytes(report["bits"]))
        if known != to_bytes(report["bits"]):
            return problem(409, "id_taken")
        return 201, {}, b'{"status":"stored"}'
