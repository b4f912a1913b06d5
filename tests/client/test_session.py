"""A session: an app asks its own questions, those that this device has drawn, and sends what they became."""

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import candor_client
from candor_client import Ledger, Session
from candor_client.errors import AnswerError, LimitExceeded, ServerRefusal, TicketNeeded, TooEarly, Unreachable
from candor_client.report import from_base64url, to_base64url, unpack
from tests.blind_signature_reference import KEYS
from tests.block_survey import blocks
from tests.clock import SimulatedClock, make_fast_clock
from tests.definitions import encode, worked_example
from tests.javascript import Node, Refusal
from tests.make_vectors import add_tickets
from tests.reference_issuer import Issuer
from tests.scripted_server import Server

SURVEY = blocks()
LEAST: dict[str, Any] = {"yes_no": False, "multiple": [], "number": 0}


@pytest.fixture
def link(server: Server) -> str:
    server.define(SURVEY.source, SURVEY.slug)
    return f"{server.origin}/s/{SURVEY.slug}"


def open_session(url: str, **more: Any) -> Session:
    return candor_client.open(url, **{"clock": make_fast_clock(), **more})


def draw_field(position: int) -> Callable[[int], bytes]:
    """Return randomness that draws this field first, as every later byte comes from the operating system."""
    chances = [field.chance for field in SURVEY.fields]
    first = [sum(chances[:position])]
    return lambda count: first.pop().to_bytes(count, "big") if first else secrets.token_bytes(count)


def answer_all(session: Session) -> list[str]:
    """Answer what a session asks with the least possible, and return the ids of what it asked."""
    shown = []
    for question in session.questions:
        if session.is_shown(question):
            session.answer(question.id, LEAST.get(question.type, question.labels[0] if question.labels else None))
            shown.append(question.id)
    return shown


@pytest.mark.parametrize("position", range(len(SURVEY.fields)))
def test_an_app_asks_exactly_the_questions_of_the_block_that_its_device_has_drawn(
    server: Server, link: str, position: int
) -> None:
    session = open_session(link, random_bytes=draw_field(position))
    assert {question.id for question in session.questions} == SURVEY.question_ids_for(position)
    answer_all(session)
    assert session.send().status == "stored"
    (body,) = server.bodies
    bits = unpack(SURVEY, from_base64url(json.loads(body)["bits"]))
    assert [i for i, part in enumerate(bits) if part is not None] == [position]


def test_a_follow_up_is_shown_only_after_the_answers_that_lead_to_it(link: str) -> None:
    session = open_session(link, random_bytes=draw_field(0))
    cheated, why, _ = (question for question in session.questions)
    assert session.is_shown(cheated) and not session.is_shown(why)
    session.answer("cheated", True)
    assert session.is_shown(why)
    session.answer("cheated", False)
    assert not session.is_shown(why)
    assert answer_all(session) == ["cheated", "stress"]


def test_a_survey_without_ask_asks_everything(server: Server) -> None:
    server.define(encode(worked_example()))
    session = open_session(f"{server.origin}/s/exam")
    assert [question.id for question in session.questions] == ["cheated", "help", "hours"]
    session.answer("cheated", True)
    session.answer("hours", 12)
    review = session.review()
    assert [reviewed.answer for reviewed in review.answers] == ["yes", "no answer", "12 h"]
    assert len(review.answers) == 3 and not review.repeated
    assert not server.bodies  # nothing is sent before `send`
    receipt = session.send()
    assert server.bodies == [review.report] and receipt.status == "stored"
    assert json.loads(review.report)["bits"] == to_base64url(receipt.bits or b"")


def test_a_review_names_the_answers_and_what_is_sent_in_their_place(link: str) -> None:
    """The joint field is told question by question, since its bits name one combination."""
    session = open_session(link, random_bytes=draw_field(0))
    answer_all(session)
    review = session.review()
    assert [[question.id for question in reviewed.questions] for reviewed in review.answers] == [
        ["cheated"], ["why"], ["stress"]
    ]  # fmt: skip
    assert [reviewed.answer for reviewed in review.answers] == ["no", "no answer", "no"]
    assert all(reviewed.sent for reviewed in review.answers)
    assert session.review() is review, "the noise is drawn once"


def test_nothing_is_charged_before_the_review_and_everything_after(link: str) -> None:
    session = open_session(link)
    assert Ledger().read().total() == 0
    answer_all(session)
    assert Ledger().read().total() == 0
    session.review()
    assert Ledger().read().total() == SURVEY.epsilon


@pytest.mark.parametrize("name", ["cheated", "nothing"])
def test_answers_to_what_the_device_does_not_ask_are_refused(link: str, name: str) -> None:
    hours = next(i for i, field in enumerate(SURVEY.fields) if field.questions[0].id == "hours")
    session = open_session(link, random_bytes=draw_field(hours))
    with pytest.raises(AnswerError, match="does not ask"):
        session.answer(name, True)


def test_an_answer_has_to_fit_and_has_to_be_there(link: str) -> None:
    session = open_session(link, random_bytes=draw_field(0))
    with pytest.raises(AnswerError):
        session.answer("cheated", "perhaps")
    with pytest.raises(AnswerError, match="missing"):
        session.answer("cheated", None)
    with pytest.raises(AnswerError, match="missing"):
        session.review()
    with pytest.raises(AnswerError, match="no such question"):
        session.is_shown(replace(SURVEY.questions[0], id="other"))
    answer_all(session)
    session.review()
    with pytest.raises(AnswerError, match="cannot change"):
        session.answer("cheated", True)


def test_a_mapping_of_answers_will_do_as_well(link: str) -> None:
    everything = {question.id: LEAST.get(question.type) for question in SURVEY.questions}
    everything |= {"why": None, "who": None}
    session = open_session(link, random_bytes=draw_field(0))
    assert len(session.review(everything).answers) == 3


def test_another_session_goes_on_with_the_block_that_was_drawn(link: str) -> None:
    drawn = {tuple(question.id for question in open_session(link).questions) for _ in range(20)}
    assert len(drawn) == 1


def test_every_device_draws_for_itself(link: str, tmp_path: Path) -> None:
    """40 devices all draw the same of five fields with a chance below 1e-15."""
    drawn = {
        tuple(question.id for question in open_session(link, ledger=Ledger(tmp_path / f"{i}.json")).questions)
        for i in range(40)
    }
    assert len(drawn) > 1


def test_what_no_server_acknowledged_is_sent_again_as_it_was(server: Server, link: str) -> None:
    session = open_session(link)
    answer_all(session)
    server.post = lambda body: (503, {}, b"")
    with pytest.raises(Unreachable):
        session.send()
    server.post = lambda body: (201, {}, b'{"status":"stored"}')
    later = open_session(link)
    assert later.is_answered and later.questions == ()
    review = later.review()
    assert review.repeated and [reviewed.answer for reviewed in review.answers] == [None] * len(review.answers)
    receipt = later.send()
    assert receipt.repeated and len({*server.bodies}) == 1
    again = open_session(link)
    assert again.review().answers == () and again.review().report == b""
    assert again.send().status == "already_stored" and again.send().bits is None


def test_a_limit_is_checked_before_any_question_is_asked(server: Server, link: str) -> None:
    with pytest.raises(LimitExceeded):
        open_session(link, limit=1)
    with pytest.raises(LimitExceeded):
        open_session(link, server_limit="0.5")
    assert not server.bodies
    assert open_session(link, limit=None).questions


def test_without_a_ledger_a_session_forgets_everything_at_its_end(link: str, tmp_path: Path) -> None:
    session = open_session(link, ledger=None)
    answer_all(session)
    assert session.send().status == "stored" and session.send().status == "already_stored"
    assert not Ledger().read().entries
    assert not open_session(link, ledger=None).is_answered


def test_threads_that_share_a_ledger_make_one_report(server: Server, link: str) -> None:
    sessions = [open_session(link) for _ in range(8)]
    start, statuses = threading.Barrier(len(sessions)), list[str]()

    def run(session: Session) -> None:
        answer_all(session)
        start.wait()
        statuses.append(session.send().status)

    threads = [threading.Thread(target=run, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == len(sessions) and len({*server.bodies}) == 1
    assert Ledger().read().total() == SURVEY.epsilon


def test_a_report_leaves_at_a_whole_second_after_it_was_begun(link: str) -> None:
    clock = SimulatedClock()
    session = open_session(link, clock=clock.clock)
    answer_all(session)
    session.review()
    clock.seconds += 3.25  # somebody reads what will be sent
    session.send()
    assert clock.seconds == 4


def test_a_ticket_is_taken_before_the_questions(server: Server) -> None:
    issuer = Issuer(server)
    session = open_session(issuer.invite("code"))
    assert len(issuer.requests) == 1 and not server.bodies
    assert session.review({"cheated": True, "hours": 12}).report
    assert session.send().status == "stored" and "ticket" in json.loads(server.bodies[0])
    with pytest.raises(TicketNeeded):
        open_session(issuer.link, ledger=None)


def test_a_survey_in_two_phases_is_opened_only_in_the_second(server: Server) -> None:
    issuer = Issuer(server, add_tickets(KEYS[0], worked_example(), **{"from": "2026-12-10T00:00Z"}))
    clock = SimulatedClock()
    with pytest.raises(TooEarly):
        open_session(issuer.invite("code"), clock=clock.clock)
    assert Ledger().read().entries[issuer.digest].ticket, "the ticket waits in the ledger"
    clock.seconds += 30 * 24 * 3600
    assert open_session(issuer.link, clock=clock.clock).questions


def test_a_refusal_is_raised(server: Server, link: str) -> None:
    server.post = lambda body: (403, {}, b'{"code":"survey_closed","title":"closed"}')
    session = open_session(link)
    answer_all(session)
    with pytest.raises(ServerRefusal):
        session.send()


def test_javascript_asks_and_sends_alike(server: Server, link: str, node: Node) -> None:
    """A device with a ledger asks the same block again, and sends one report."""
    seen = {}
    for name in map(str, range(20)):
        first = node.ask("session", url=link, least=LEAST, name=name)
        position = next(
            i for i, field in enumerate(SURVEY.fields) if [q.id for q in field.questions] in first["fields"]
        )
        assert {*first["asked"]} == SURVEY.question_ids_for(position)
        assert first["fields"] == [[question.id for question in SURVEY.fields[position].questions]]
        assert (first["status"], first["later"], first["repeated"]) == ("stored", "already_stored", False)
        assert first["isSame"] and server.bodies[-1].decode() == first["report"]
        again = node.ask("session", url=link, least=LEAST, name=name)
        assert (again["asked"], again["report"], again["status"]) == ([], "", "already_stored")
        seen[position] = True
    assert len(seen) > 1 and len(server.bodies) == 20  # all 20 in one of six fields: below 1e-10


def test_javascript_refuses_the_same_answers(link: str, node: Node) -> None:
    for name, value in (("nothing", True), ("cheated", "perhaps")):
        with pytest.raises(Refusal) as refusal:
            node.ask("refusedAnswer", url=link, id=name, value=value)
        assert refusal.value.code == "bad_answer"
