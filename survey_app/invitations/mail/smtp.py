"""The connection to the SMTP server: connect, encrypt, sign in, and send one message after the other.

There are three outcomes of a message. The server has accepted it; or it has certainly not, and said why; or the
connection was lost during the text, and the outcome is unknown. Passwords are never sent unencrypted to another
machine.
"""

import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage

from candor_client.address import is_local

PORTS = {"starttls": 587, "tls": 465, "none": 25}
TIMEOUT = 60.0
BUSY = 421  # the server closes the connection, whatever the command was


class SmtpError(Exception):
    """The server cannot be used, or no longer; no message is lost."""


class MessageRefused(Exception):
    """The server refused this message, or never got its text."""


class DeliveryUnknown(Exception):
    """The connection was lost during the message, which may have been accepted."""


@dataclass(frozen=True)
class Server:
    """The address of the SMTP server, and how to sign in."""

    host: str
    port: int
    security: str = "starttls"
    user: str = ""
    password: str = ""


class SmtpConnection:
    """A connection that is opened when needed, and opened again after a loss."""

    def __init__(self, server: Server, sender: str) -> None:
        if server.security == "none" and server.user and not is_local(server.host):
            raise SmtpError("a password is not sent unencrypted to another machine; use --security starttls or tls")
        self._server, self._sender = server, sender
        self._smtp: smtplib.SMTP | None = None

    def connect(self) -> smtplib.SMTP:
        """Return the connection, ready for a message. Raise SmtpError if it cannot be opened."""
        if self._smtp is not None:
            return self._smtp
        server, place = self._server, f"{self._server.host}:{self._server.port}"
        try:
            if server.security == "tls":
                smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                    server.host, server.port, timeout=TIMEOUT, context=ssl.create_default_context()
                )
            else:
                smtp = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT)
            self._smtp = smtp
            if server.security == "starttls":
                smtp.starttls(context=ssl.create_default_context())
            smtp.ehlo_or_helo_if_needed()
            if server.user:
                smtp.login(server.user, server.password)
        except smtplib.SMTPAuthenticationError as error:
            self.close()
            raise SmtpError(f"{place} rejected the sign-in of {server.user}: {_reply_text(error.smtp_error)}") from None
        except smtplib.SMTPNotSupportedError as error:
            self.close()
            hint = " (use --security tls, or none on this machine)" if server.security == "starttls" else ""
            raise SmtpError(f"{place} does not support this: {error}{hint}") from None
        except (OSError, smtplib.SMTPException, ssl.SSLError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or error
            raise SmtpError(
                f"cannot connect to an SMTP server at {place}: {reason}; check --smtp and --security"
            ) from None
        return smtp

    def deliver(self, message: EmailMessage, address: str, before_text: Callable[[], None]) -> None:
        """Send a message; call `before_text` right before its text, after which its outcome may be unknown.

        Raise MessageRefused, DeliveryUnknown or SmtpError if the server does not accept it.
        """
        smtp = self.connect()
        plain = address.isascii()
        if not plain and not smtp.has_extn("smtputf8"):
            raise MessageRefused("the SMTP server accepts only ASCII addresses")
        try:
            options = [] if plain else ["SMTPUTF8", "BODY=8BITMIME"]
            code, response = smtp.mail(self._sender, options)
            if code != 250:
                self._reset(code)
                raise SmtpError(f"the SMTP server accepts no mail from {self._sender}: {code} {_reply_text(response)}")
            code, response = smtp.rcpt(address)
            if code not in (250, 251):
                self._reset(code)
                raise MessageRefused(f"{code} {_reply_text(response)}")
        except (OSError, smtplib.SMTPException) as error:
            self.close()
            raise MessageRefused(f"the connection was lost before the message: {error}") from None
        before_text()
        try:
            code, response = smtp.data(message.as_bytes())
        except smtplib.SMTPDataError as error:  # the server refused the text
            self._reset(error.smtp_code)
            raise MessageRefused(f"{error.smtp_code} {_reply_text(error.smtp_error)}") from None
        except (OSError, smtplib.SMTPException) as error:
            self.close()
            raise DeliveryUnknown(str(error)) from None
        if code != 250:
            self._reset(code)
            raise MessageRefused(f"{code} {_reply_text(response)}")

    def _reset(self, code: int) -> None:
        if code == BUSY:
            self.close()
        elif self._smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                self._smtp.rset()

    def close(self) -> None:
        """End the connection."""
        smtp, self._smtp = self._smtp, None
        if smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                smtp.quit()
            smtp.close()


def _reply_text(reply: bytes | str) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return "".join(letter if letter.isprintable() else " " for letter in text[:300])
