"""The two sources of codes: a server over HTTP, with a token; or, on the server's own machine, its database.

Either is asked for a number of new codes, and for the hashes of unused codes. It gets nothing else from a list.
"""

import json
from typing import Any, Protocol, assert_never

import candor_client
from candor_client import Survey, transport
from candor_client.address import Address
from candor_client.errors import ServerRefusal
from survey_app.invitations.codes import invitation_status, invite
from survey_app.invitations.mail.recipients import ListError
from survey_app.store import PublishedSurvey, State, TicketFile, now, ticket_refusal

CODES_PER_REQUEST = 10_000  # codes in one reply
LARGEST_REPLY = 100_000_000  # a million hashes


class CodeSource(Protocol):
    """A source of codes for one survey."""

    survey: Survey

    def make_codes(self, count: int) -> list[str]:
        """Return so many new codes."""

    def unused_hashes(self) -> set[str]:
        """Return the hashes of unused codes, in hexadecimal."""


class LocalCodeSource:
    """The database on this machine."""

    def __init__(self, published: PublishedSurvey, file: TicketFile) -> None:
        self.survey, self._file = published.survey, file
        check_invitable(self.survey, published.state)

    def make_codes(self, count: int) -> list[str]:
        return invite(self._file, self.survey.slug, count)

    def unused_hashes(self) -> set[str]:
        return set(invitation_status(self._file, self.survey.digest).not_taken)


class RemoteCodeSource:
    """The API of a server, used with the token of an account that may invite."""

    def __init__(self, server: str, slug: str, token: str) -> None:
        address = f"{server.rstrip('/')}/s/{slug}"
        self._url = f"{Address.parse(address).api}/invitations"
        self._headers = {"Authorization": f"Bearer {token}"}
        self.survey = candor_client.fetch(address)
        check_invitable(self.survey, State.OPEN)
        self._state = self._fetch_state()
        check_invitable(self.survey, State(str(self._state["state"])))

    def make_codes(self, count: int) -> list[str]:
        codes: list[str] = []
        while len(codes) < count:
            body = json.dumps({"count": min(CODES_PER_REQUEST, count - len(codes))}).encode()
            # no retry: a lost response leaves codes that nobody has, and a retry would leave more
            codes += transport.post(
                self._url, body, self._codes, headers=self._headers, attempts=1, pause=lambda _: None
            )
        return codes

    def unused_hashes(self) -> set[str]:
        return set(self._state["not_taken"])

    def _codes(self, reply: Any) -> list[str] | None:
        if reply.get("survey") != self.survey.digest:
            raise ListError("a new version was published meanwhile; run the command again")
        return list(reply["codes"])

    def _fetch_state(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = json.loads(transport.get(self._url, headers=self._headers, most=LARGEST_REPLY))
        except ServerRefusal as error:
            if error.status == 404:
                raise ListError(
                    f"the server has no invitations to {self.survey.slug}, or its version is too old"
                ) from None
            raise
        if state["survey"] != self.survey.digest:
            raise ListError("a new version was published meanwhile; run the command again")
        return state


def check_invitable(survey: Survey, state: State) -> None:
    """Raise ListError if nobody can be invited to a survey from here."""
    slug, tickets = survey.slug, survey.tickets
    if tickets is None:
        raise ListError(f"anybody can answer {slug} with the same link, so there are no invitations to send")
    if tickets.issuer:
        raise ListError(f"{tickets.issuer} issues the invitations to {slug}; run candor issuer invite there")
    if refusal := ticket_refusal(survey, now()):
        raise ListError(refusal)
    match state:
        case State.READY:
            raise ListError(f"{slug} is not open yet, so its links would not work; open it first")
        case State.OPEN | State.PAUSED:
            return
        case State.CLOSED:
            raise ListError(f"{slug} is closed, so nobody can be invited")
        case _:
            assert_never(state)
