"""Every way in which the respondent's side says no.

CandorError                 .code is stable and the same in Python and JavaScript
├── DefinitionError         the survey's definition is malformed; .path leads to the fault
├── PrivacyError            the definition is well-formed, but this device will not answer it
│   ├── ClaimExceeded       its integers spend more than it claims
│   └── LimitExceeded       it, or its server, would spend more than the person allows
├── PinMismatch             not the definition that the link, or the question, named
├── TicketError             the survey is by invitation
│   ├── TicketNeeded        and there is neither a ticket nor an invitation
│   ├── BadTicket           and this is no ticket for it, or its key could give none
│   ├── TooEarly            tickets are taken, answers begin later; .moment tells when
│   └── TooLate             tickets are no longer given out; .moment tells since when
├── AnswerError             an answer does not fit its question; .path is the question's id
├── ReportError             bits that no device could have produced
├── LedgerError             the ledger cannot be read or written
│   ├── LedgerCorrupt       it was damaged; it is never replaced silently
│   ├── LedgerOld           it is of an earlier format, which could give answers away
│   └── OtherServer         its report belongs to another server
└── TransportError          the network
    ├── BadAddress          no survey there, plain http beyond this machine, a redirect elsewhere
    ├── Unreachable         no answer, a time-out, or a server error: the same bytes may be sent again
    └── Refused             the server said no; .status and .code are its own
"""

from datetime import datetime


class CandorError(Exception):
    """Anything Candor refuses; the message says what happened and what to do next."""

    code = "error"


class DefinitionError(CandorError):
    """The definition is malformed."""

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.code, self.path, self.reason = code, path, message


class PrivacyError(CandorError):
    """This device will not answer such a survey."""


class ClaimExceeded(PrivacyError):
    """The published integers spend more privacy than the definition claims."""

    code = "above_claim"


class LimitExceeded(PrivacyError):
    """Answering would spend more privacy than the person allows, for a survey or for a server."""

    code = "above_limit"

    def __init__(self, message: str, code: str = "above_limit") -> None:
        super().__init__(message)
        self.code = code


class PinMismatch(CandorError):
    """The server sent another definition than the one asked for."""

    code = "wrong_definition"


class TicketError(CandorError):
    """The survey is by invitation, and there is no ticket to answer with now."""


class TicketNeeded(TicketError):
    """The survey takes no report without a ticket."""

    code = "ticket_needed"


class BadTicket(TicketError):
    """Not signed with the key of this survey."""

    code = "bad_ticket"


class TooEarly(TicketError):
    """Reports are taken from a later moment on."""

    code = "too_early"

    def __init__(self, message: str, moment: datetime) -> None:
        super().__init__(message)
        self.moment = moment


class TooLate(TicketError):
    """Tickets were given out until an earlier moment."""

    code = "too_late"

    def __init__(self, message: str, moment: datetime) -> None:
        super().__init__(message)
        self.moment = moment


class AnswerError(CandorError):
    """An answer does not fit its question."""

    code = "bad_answer"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class ReportError(CandorError):
    """These bits could not come from a device that follows the definition."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class LedgerError(CandorError):
    """The ledger cannot be read or written."""

    code = "ledger_unavailable"


class LedgerCorrupt(LedgerError):
    """The ledger is damaged."""

    code = "ledger_corrupt"


class LedgerOld(LedgerError):
    """The ledger is of an earlier format."""

    code = "ledger_old"


class OtherServer(LedgerError):
    """The report to this definition was made for another server."""

    code = "other_server"


class TransportError(CandorError):
    """Something between this device and the server."""

    code = "transport"


class BadAddress(TransportError):
    """An address that this client does not talk to."""

    code = "bad_address"


class Unreachable(TransportError):
    """No usable answer; the report is kept and may be sent again."""

    code = "unreachable"


class Refused(TransportError):
    """The server refused, with a code of its own."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code
