"""The respondent's side of Candor: standard library only, short enough to read before trusting it.

>>> import client
>>> receipt = client.respond("https://example.org/s/exam", {"cheated": True, "hours": 12})  # doctest: +SKIP
"""

from client.definition import Field, Survey
from client.errors import CandorError
from client.ledger import Ledger
from client.question import Question
from client.report import Report, randomize
from client.respond import Clock, Receipt, fetch, respond, submit, take_ticket
from client.ticket import Ticket
from client.verify import verify

__all__ = [
    "CandorError",
    "Clock",
    "Field",
    "Ledger",
    "Question",
    "Receipt",
    "Report",
    "Survey",
    "Ticket",
    "fetch",
    "randomize",
    "respond",
    "submit",
    "take_ticket",
    "verify",
]
