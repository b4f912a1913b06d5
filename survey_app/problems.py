"""Every problem the server reports: one table, one format (RFC 9457, application/problem+json), stable codes."""

import json
from collections.abc import Mapping, Sequence

PROBLEMS: dict[str, tuple[int, str]] = {
    "malformed_report": (400, "The request body is not a valid report."),
    "malformed_request": (400, "The request cannot be understood."),
    "unauthorized": (401, "This needs a valid token or sign-in."),
    "forbidden": (403, "This belongs to another account, or is not public."),
    "not_invited": (403, "This survey needs a valid invitation. Use the complete link that was sent to you."),
    "bad_ticket": (403, "This survey accepts only reports with a ticket signed for it."),
    "too_early": (403, "The survey does not accept reports yet. Send the same report again later."),
    "too_late": (403, "Tickets for this survey are no longer issued, because answering has begun."),
    "not_found": (404, "There is nothing at this address."),
    "method_not_allowed": (405, "This address does not accept this HTTP method."),
    "id_taken": (409, "Another report already has this id. Nothing was changed."),
    "already_issued": (409, "This invitation was already used for another ticket."),
    "conflict": (409, "This is not possible in the current state."),
    "wrong_survey": (409, "This request is for a different definition than the current one."),
    "survey_not_open": (409, "The survey is not open yet. Retry later."),
    "survey_paused": (409, "The survey is paused. Retry later."),
    "survey_closed": (410, "The survey is closed. It accepts no more reports."),
    "survey_full": (410, "The survey has reached its report limit. It accepts no more reports."),
    "too_large": (413, "The request is too large."),
    "bad_survey": (422, "The survey file has errors."),
    "impossible_bits": (422, "No device could have sent these bits."),
    "too_many_requests": (429, "Too many requests. Retry in a minute."),
    "internal_error": (500, "The server has an internal error."),
    "unavailable": (503, "The server cannot do this now. Retry later."),
}

CONTENT_TYPE = "application/problem+json"
HTTP_CODES = (  # the codes for errors that the HTTP layer raises, looked up by status
    "unauthorized", "forbidden", "not_found", "method_not_allowed", "too_large", "too_many_requests", "unavailable",
)  # fmt: skip


class Problem(Exception):
    """A refusal that the client gets as a problem document.

    `faults` lists all faults of an author's file, each with its place in the file.
    `wait` is the number of seconds after which a retry is worthwhile, if known.
    """

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        faults: Sequence[Mapping[str, object]] = (),
        *,
        wait: int | None = None,
    ) -> None:
        super().__init__(code)
        self.code, self.detail, self.faults, self.wait = code, detail, faults, wait
        self.status = PROBLEMS[code][0]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The additional HTTP headers of the response."""
        return [] if self.wait is None else [("Retry-After", str(self.wait))]

    @classmethod
    def from_status(cls, status: int) -> "Problem":
        """Return the problem for a refusal by Flask or the HTTP server, given its status."""
        codes = {PROBLEMS[code][0]: code for code in HTTP_CODES}
        problem = cls(codes.get(status, "malformed_request" if status < 500 else "internal_error"))
        problem.status = status
        return problem

    def body(self) -> bytes:
        """Return the problem document as JSON."""
        title = PROBLEMS[self.code][1]
        document = {"type": "about:blank", "status": self.status, "code": self.code, "title": title}
        extra = {"faults": self.faults} if self.faults else {}
        return json.dumps(document | {"detail": self.detail or title} | extra).encode()


def is_api(path: str) -> bool:
    """Return whether clients of this path expect problem documents rather than HTML pages."""
    return path.startswith("/api/") or path in ("/healthz", "/metrics", "/openapi.json")
