"""The errors that the client raises.

CandorError                 .code is stable and the same in Python and JavaScript
├── DefinitionError         the survey's definition is malformed; .path leads to the fault
├── PrivacyError            the definition is well-formed, but this device does not answer it
│   ├── ClaimExceeded       its integers spend more ε than it claims
│   └── LimitExceeded       it would exceed the respondent's limit for a survey or a server
├── PinMismatch             not the definition that the link pins or the client asked for
├── TicketError             the survey is by invitation
│   ├── TicketNeeded        there is neither a ticket nor an invitation
│   ├── BadTicket           the ticket is not for this survey, or its key cannot sign one
│   ├── TooEarly            tickets are issued, reports are accepted from .moment on
│   └── TooLate             tickets were issued until .moment
├── AnswerError             an answer does not fit its question; .path is the question's id
├── ReportError             no device could have produced these bits
├── LedgerError             the ledger cannot be read or written
│   ├── LedgerCorrupt       it is damaged; it is never replaced silently
│   ├── LedgerOld           its format is an earlier one, which could reveal answers
│   └── OtherServer         its report belongs to another server
└── TransportError          a request failed
    ├── BadAddress          no survey address, plain http to another machine, or a redirect to another origin
    ├── Unreachable         no answer, a time-out, or a server error; the same bytes may be sent again
    └── ServerRefusal       the server refused the request; .status and .code are its own
"""

from datetime import datetime


class CandorError(Exception):
    """Base class of all errors of the client; the message says what happened and what to do next."""

    code = "error"


class DefinitionError(CandorError):
    """The definition is malformed."""

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.code, self.path, self.reason = code, path, message


class PrivacyError(CandorError):
    """The survey is not private enough for this device to answer."""


class ClaimExceeded(PrivacyError):
    """The published integers spend more ε than the definition claims."""

    code = "above_claim"


class LimitExceeded(PrivacyError):
    """Answering would spend more ε than the respondent allows, for a survey or for a server."""

    code = "above_limit"

    def __init__(self, message: str, code: str = "above_limit") -> None:
        super().__init__(message)
        self.code = code


class PinMismatch(CandorError):
    """The server sent another definition than the requested one."""

    code = "wrong_definition"


class TicketError(CandorError):
    """The survey is by invitation, and there is no ticket that can be used now."""


class TicketNeeded(TicketError):
    """The survey accepts no report without a ticket."""

    code = "ticket_needed"


class BadTicket(TicketError):
    """The ticket is not signed with the key of this survey."""

    code = "bad_ticket"


class TooEarly(TicketError):
    """Reports are accepted only from a later moment on."""

    code = "too_early"

    def __init__(self, message: str, moment: datetime) -> None:
        super().__init__(message)
        self.moment = moment


class TooLate(TicketError):
    """Tickets were issued until an earlier moment."""

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
    """No device that follows the definition could have sent these bits."""

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
    """The ledger has an earlier format."""

    code = "ledger_old"


class OtherServer(LedgerError):
    """The report to this definition was made for another server."""

    code = "other_server"


class TransportError(CandorError):
    """A request to the server failed."""

    code = "transport"


class BadAddress(TransportError):
    """The client does not send requests to this address."""

    code = "bad_address"


class Unreachable(TransportError):
    """The server sent no usable response; the report stays in the ledger and may be sent again."""

    code = "unreachable"


class ServerRefusal(TransportError):
    """The server refused the request; `status` and `code` are its own."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code
