"""The respondent's client of Candor: standard library only, and short enough to audit before use.

>>> import candor_client
>>> receipt = candor_client.respond("https://example.org/s/exam", {"cheated": True, "hours": 12})  # doctest: +SKIP
"""

from candor_client.definition import Field, Survey
from candor_client.errors import CandorError
from candor_client.ledger import Ledger
from candor_client.question import Question
from candor_client.report import Report, randomize
from candor_client.respond import Clock, Receipt, fetch, respond, submit, take_ticket
from candor_client.session import Review, Session, open
from candor_client.ticket import Ticket
from candor_client.verify import verify

__all__ = [
    "CandorError",
    "Clock",
    "Field",
    "Ledger",
    "Question",
    "Receipt",
    "Report",
    "Review",
    "Session",
    "Survey",
    "Ticket",
    "fetch",
    "open",
    "randomize",
    "respond",
    "submit",
    "take_ticket",
    "verify",
]
