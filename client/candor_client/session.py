"""A survey, one question at a time: what an app needs that asks its own questions.

With `ask`, a device answers one block of questions, which is one field of the definition. The device draws it
in `open`, so that the app knows what to ask before it asks. Nothing is randomized, charged or sent before `review` and
`send`.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from candor_client import description
from candor_client.address import Address
from candor_client.answer import encode, index_of, is_visible
from candor_client.definition import Survey
from candor_client.errors import AnswerError
from candor_client.ledger import Ledger, MemoryLedger
from candor_client.question import Question, labels_of
from candor_client.report import unpack
from candor_client.respond import DEFAULT_LEDGER, SYSTEM_CLOCK, Clock, Device, Receipt, fetch
from candor_client.sampling import RandomBytes
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT, Entry, Limit


@dataclass(frozen=True)
class ReviewedAnswer:
    """What an answer became: the respondent's words, and what the noisy bits say in their place."""

    questions: tuple[Question, ...]  # more than one if they are randomized together and cannot be told apart
    answer: str | None  # None if it is not known: an earlier run made the report, and no answer is stored
    sent: str


@dataclass(frozen=True)
class Review:
    """The report as it will be sent, for the respondent to read. `answers` lists only what this device was asked."""

    answers: tuple[ReviewedAnswer, ...]
    report: bytes  # the JSON that leaves the device, with nothing added; empty if the server has it already
    repeated: bool  # whether the report was made earlier, so that the answers of this session are not used


class Session:
    """One respondent's way through one survey. `open` makes it.

    A session belongs to one thread. Several sessions, also in other processes, may share a ledger file: it is locked
    while it changes, and each definition is answered once.
    """

    def __init__(self, address: Address, survey: Survey, device: Device, entry: Entry) -> None:
        self.survey = survey
        self._address, self._device, self._entry = address, device, entry
        self._answers: dict[str, Any] = {}
        self._review_start = 0.0  # by the clock of the device; set by `review`
        self._review: Review | None = None

    @property
    def is_answered(self) -> bool:
        """Whether this device has made its report already, so that there is nothing to ask."""
        return self._entry.state in ("made", "stored")

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that this device asks, in order: all, or those of the block that it has drawn.

        They include the questions on which others depend; `is_shown` tells which follow-ups to skip.
        """
        if self.is_answered:
            return ()
        field_index = self._entry.asked
        needed = self.survey.ids if field_index is None else self.survey.question_ids_for(field_index)
        return tuple(question for question in self.survey.questions if question.id in needed)

    def is_shown(self, question: Question) -> bool:
        """Return whether a question is to be asked after the answers so far: a follow-up may not be."""
        picked: dict[str, set[str]] = {}
        for earlier in self.survey.questions:
            answer = self._answers.get(earlier.id)
            is_earlier_shown = is_visible(earlier, picked)
            if earlier.id == question.id:
                return is_earlier_shown
            picked[earlier.id] = (
                labels_of(earlier, index_of(earlier, answer)) if is_earlier_shown and answer is not None else set()
            )
        raise AnswerError(question.id, "there is no such question")

    def answer(self, question_id: str, value: Any) -> None:
        """Note the answer to the question with this id; None for no answer, where that is allowed.

        An answer may be replaced until `review` or `send`. Raise AnswerError if it does not fit the question, if this
        device does not ask the question, or if the report is made.
        """
        question = next((question for question in self.questions if question.id == question_id), None)
        if question is None:
            why = "the report is made and cannot change" if self.is_answered else "this device does not ask it"
            raise AnswerError(question_id, why)
        if value is not None:
            index_of(question, value)
        elif not question.optional:
            raise AnswerError(question_id, "an answer is missing, and this question is not optional")
        self._answers[question_id] = value

    def review(self, answers: Mapping[str, Any] | None = None) -> Review:
        """Randomize the answers, once and for all, and return what each became; this spends the ε of the survey.

        `answers` is added to those given by `answer`; answers to questions that this device does not ask are not used,
        and after the first call `answers` has no effect.
        The report is in the ledger before this returns, so that no other noise can be drawn. Raise AnswerError if an
        answer is missing or does not fit, and LimitExceeded if the report would spend more than the limits allow.
        """
        if self._review is None:
            start = self._device.clock.monotonic()
            given = {**self._answers, **(answers or {})}
            self._entry, is_new = self._device.make(self._address, self.survey, given)
            self._review_start = start
            self._review = self._describe(given if is_new else None)
        return self._review

    def send(self) -> Receipt:
        """Send the report and return the receipt; make it first if `review` was not called.

        It is sent a whole number of seconds after `review` began, so that the time of sending does not reveal how long
        randomizing took. May be called again after Unreachable, also in another session: the same bytes are sent, and
        the server stores them once.
        """
        review = self.review()
        entry = self._entry
        status = self._device.send(self._address, self.survey, entry, self._review_start)
        self._entry = self._device.entry(self._address, self.survey)
        return Receipt(self.survey.digest, entry.bits or None, status, entry.epsilon, review.repeated)

    def _describe(self, answers: Mapping[str, Any] | None) -> Review:
        entry, survey = self._entry, self.survey
        if entry.stored:
            return Review((), b"", repeated=True)
        fields = unpack(survey, entry.bits)
        field_index = next(i for i, bits in enumerate(fields) if bits is not None) if survey.ask else None
        indices = None if answers is None else encode(survey, answers, field_index)
        reviewed = tuple(
            ReviewedAnswer(part.questions, None if indices is None else description.format_answers(part, indices), sent)
            for field, bits in zip(survey.fields, fields, strict=True)
            if bits is not None
            for part, sent in description.split_by_question(field, bits)
        )
        return Review(reviewed, entry.report(survey.digest).to_json(), repeated=answers is None)


def open(
    url: str,
    *,
    limit: Limit = SURVEY_LIMIT,
    server_limit: Limit = SERVER_LIMIT,
    ledger: Ledger | None = DEFAULT_LEDGER,
    random_bytes: RandomBytes = secrets.token_bytes,
    clock: Clock = SYSTEM_CLOCK,
) -> Session:
    """Fetch and verify the survey of a link, take a ticket if it needs one, draw the block, and return the session.

    Options and errors are those of `respond`: `limit=None` allows any ε, and with `ledger=None` the session forgets
    everything at its end. Raise LimitExceeded before any question is asked if the answers would cost too much.
    """
    address, survey = Address.parse(url), fetch(url)
    device = Device(ledger or MemoryLedger(), limit, server_limit, random_bytes, clock)
    entry = device.prepare(address, survey)
    return Session(address, survey, device, entry)
