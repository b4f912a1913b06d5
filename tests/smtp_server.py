"""A real SMTP server in this process, which keeps the messages and can be told to fail."""

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP as Protocol
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session


class Postbox:
    """The messages that arrived, in order; `rcpt` may reply instead to an address, `data` to a text."""

    def __init__(self) -> None:
        self.arrived: list[tuple[str, EmailMessage]] = []
        self.sessions: set[int] = set()
        self.rcpt: Callable[[str], str | None] = lambda address: None
        self.data: Callable[[int], str | None] = lambda number: None
        self.encrypted: list[bool] = []
        self.unwanted: set[str] = set()

    async def handle_MAIL(
        self, server: Protocol, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.unwanted:
            return "550 not from you"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(
        self, server: Protocol, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if said := self.rcpt(address):
            return said
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Protocol, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        self.sessions.add(id(session))
        self.encrypted.append(session.ssl is not None)
        said = self.data(len(self.arrived))
        if said == "hang up":
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
            return "250 too late"
        if said:
            return said
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.arrived.append((envelope.rcpt_tos[0], message))
        return "250 OK"

    @property
    def addresses(self) -> list[str]:
        return [address for address, _ in self.arrived]


class _Controller(Controller):
    """A controller on a free port, which is known once it listens."""

    def _trigger_server(self) -> None:
        assert isinstance(self.server, asyncio.Server)
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def run_smtp_server(box: Postbox, *, context: ssl.SSLContext | None = None, password: str = "") -> Iterator[str]:
    """Run the server; yield its HOST:PORT. With a context it offers STARTTLS and requires it."""

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        return AuthResult(success=data.password.decode() == password, handled=False)

    more: dict[str, Any] = {"authenticator": authenticate, "auth_required": True} if password else {}
    if context:
        more |= {"tls_context": context, "require_starttls": True}
    controller = _Controller(box, hostname="127.0.0.1", port=0, enable_SMTPUTF8=True, **more)
    controller.start()
    try:
        yield f"127.0.0.1:{controller.port}"
    finally:
        controller.stop()
