"""The address of a survey, with the parameters in the fragment of its link.

The fragment is never sent to a server as part of an address. Plain http is accepted only on this machine.
A link may pin its definition (`sha256=`), carry an invitation (`code=`), or carry a ticket that was taken on another
device (`ticket=<prefix>.<signature>`).
"""

import ipaddress
import re
import urllib.parse
from dataclasses import dataclass

from candor_client.canonical import NAME
from candor_client.definition import Survey
from candor_client.errors import BadAddress, BadTicket, PinMismatch, ReportError
from candor_client.report import from_base64url, to_base64url
from candor_client.ticket import MODULUS_BYTES, PREFIX_BYTES, Ticket

LABEL = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
HOST = re.compile(rf"({LABEL}\.)*{LABEL}\.?")
NUMERIC = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.?")  # an IPv4 address in a short or unusual notation
SURVEY_PATH = re.compile(rf"(?P<base>.*)/(?:s|api/surveys)/(?P<slug>{NAME.pattern})/?")


@dataclass(frozen=True)
class Address:
    """The server with any path before the survey's, the slug, and the parameters of the link's fragment."""

    server: str
    slug: str
    pin: str | None
    invitation: str | None
    ticket: Ticket | None

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Parse `…/s/<slug>` or `…/api/surveys/<slug>`, with `#sha256=…`, `#code=…` and `#ticket=…`, once each.

        Raise BadAddress, PinMismatch or BadTicket if the link is malformed.
        """
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise BadAddress(f"{url!r} is not an address: {error}") from None
        place = SURVEY_PATH.fullmatch(parts.path)
        if parts.scheme not in ("http", "https") or not host or not place or re.search(r"[^\x21-\x7e]", url):
            raise BadAddress(f"{url!r} is not the address of a survey, such as https://example.org/s/exam")
        if parts.username is not None:
            raise BadAddress("an address with a user name or password is not opened; remove them")
        host = normalize_host(host)
        if parts.scheme == "http" and not is_local(host):
            raise BadAddress(
                f"{url.partition('#')[0]} is not encrypted: others on the network could read it. Use https."
            )
        parameters = [part.partition("=")[::2] for part in parts.fragment.split("&") if part]
        fragment = dict(parameters)
        if len(fragment) < len(parameters) or set(fragment) - {"sha256", "code", "ticket"}:
            raise BadAddress("after # a link may have sha256=…, code=… and ticket=…, once each; ask for the whole link")
        pin = fragment.get("sha256")
        if pin is not None and not re.fullmatch("[0-9a-f]{64}", pin):
            raise PinMismatch("the link's #sha256= is not 64 hexadecimal digits; ask for the whole link")
        code = check_invitation(urllib.parse.unquote(fragment["code"])) if "code" in fragment else None
        ticket = _parse_ticket(fragment["ticket"]) if "ticket" in fragment else None
        netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
        return cls(f"{parts.scheme}://{netloc}{place['base']}", place["slug"], pin, code, ticket)

    @property
    def api(self) -> str:
        """The URL of the definition."""
        return f"{self.server}/api/surveys/{self.slug}"

    def issuer(self, survey: Survey) -> str:
        """Return the URL that issues tickets of a survey: at its own server, or at the one that its definition names.

        Raise BadAddress if that server is not encrypted.
        """
        issuer = survey.tickets.issuer if survey.tickets else ""
        if issuer.startswith("http:") and not (
            self.server.startswith("http:") and is_local(urllib.parse.urlsplit(issuer).hostname or "")
        ):
            raise BadAddress(
                f"tickets of this survey are issued at {issuer}, which is not encrypted; do not take one there"
            )
        return f"{issuer or self.server}/api/surveys/{self.slug}/tickets"

    def ticket_link(self, ticket: Ticket) -> str:
        """Return a link that carries the ticket to another device, with the pin if there was one."""
        pin = f"sha256={self.pin}&" if self.pin else ""
        return f"{self.server}/s/{self.slug}#{pin}ticket={to_base64url(ticket.prefix)}.{to_base64url(ticket.signature)}"


def check_invitation(code: str) -> str:
    """Return an invitation code that fits into an HTTP header; raise BadAddress for any other."""
    if not re.fullmatch(r"[\x21-\x7e]{1,200}", code):
        raise BadAddress("an invitation code must have 1 to 200 visible ASCII characters")
    return code


def _parse_ticket(text: str) -> Ticket:
    try:
        prefix, signature = map(from_base64url, text.split("."))
        if (len(prefix), len(signature)) == (PREFIX_BYTES, MODULUS_BYTES):
            return Ticket(prefix, signature)
    except (ValueError, ReportError):
        pass
    raise BadTicket("the link's #ticket= is damaged; ask for the whole link")


def normalize_host(host: str) -> str:
    """Return the only accepted spelling of a host; raise BadAddress if it has none.

    Limits are kept by host name, so that a second spelling would count as another host.
    """
    try:
        if "%" not in host:
            return ipaddress.ip_address(host).compressed
    except ValueError:
        if HOST.fullmatch(host) and not NUMERIC.fullmatch(host):
            return host
    raise BadAddress(f"{host!r} is not a plain host name")


def is_local(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
