"""From invitation to report, against the real server: whatever is killed wherever, nobody loses the vote, nobody gets two."""

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import candor_client
from candor_client import Ledger
from candor_client.errors import ServerRefusal, Unreachable
from survey_app.accounts import hash_secret
from survey_app.store import PublishedSurvey, TicketFile, open_tickets
from survey_app.store.sqlite import SqliteStore
from tests.clock import make_fast_clock
from tests.fixtures import CHEAP, add, check_store
from tests.invitations.crash_points import POINTS, CrashingServer
from tests.server_process import Server
from tests.ticket_surveys import invitation_survey, key, request_for

pytestmark = pytest.mark.slow

SAID = {"cheated": True}


class Place:
    """A server's two files, with one survey by invitation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SqliteStore(folder / "candor.db")
        self.store.migrate()
        owner = self.store.add_user("ada", CHEAP.hash("a long password"))
        self.tickets: TicketFile = open_tickets(self.store)
        made = invitation_survey()
        self.tickets.add_key(made.slug, key(), made.digest)
        self.published: PublishedSurvey = add(self.store, made, owner=owner.key)

    def invite(self, *codes: str) -> None:
        self.tickets.invite("exam", [hash_secret(code) for code in codes])

    def ledger(self, name: str) -> Ledger:
        return Ledger(self.folder / f"{name}.json")

    @property
    def reports(self) -> int:
        return check_store(self.store, self.published)

    @property
    def taken(self) -> int:
        return self.tickets.count_invitations(self.published.survey.digest)[1]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.tickets.close()
    made.store.close()


@contextlib.contextmanager
def serving(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        server.kill()


def link(server: Server, code: str) -> str:
    return f"http://127.0.0.1:{server.port}/s/exam#code={code}"


def respond(url: str, ledger: Ledger) -> str:
    return candor_client.respond(url, SAID, ledger=ledger, clock=make_fast_clock()).status


def refusal(url: str, ledger: Ledger) -> str:
    with pytest.raises(ServerRefusal) as refused:
        respond(url, ledger)
    return refused.value.code


def check_one_vote(place: Place, server: Server, code: str, name: str) -> None:
    """A respondent who was interrupted has one vote, and nobody else has another with the same code."""
    before = place.reports
    assert respond(link(server, code), place.ledger(name)) == "stored"
    assert respond(link(server, code), place.ledger(name)) == "already_stored"
    assert refusal(link(server, code), place.ledger("somebody else")) == "already_issued"
    assert place.reports == before + 1


def test_invited_people_answer_once_and_others_not_at_all(place: Place, tmp_path: Path) -> None:
    place.invite("one", "two")
    with serving(Server(tmp_path / "candor.db", 1)) as server:
        check_one_vote(place, server, "one", "ada")
        check_one_vote(place, server, "two", "bob")
        assert refusal(link(server, "three"), place.ledger("eve")) == "not_invited"
    assert (place.reports, place.taken) == (2, 2)


def test_of_fifty_who_bring_one_invitation_to_two_workers_one_gets_a_ticket(place: Place, tmp_path: Path) -> None:
    place.invite("one")
    survey, start, outcomes = place.published.survey, threading.Barrier(50), list[int]()

    def taker() -> None:
        body = request_for(survey)
        with contextlib.closing(server.connect()) as connection:
            start.wait()
            connection.request("POST", "/api/surveys/exam/tickets", body, {"Candor-Invitation": "one"})
            outcomes.append(connection.getresponse().status)

    with serving(Server(tmp_path / "candor.db", 2)) as server:
        takers = [threading.Thread(target=taker) for _ in range(50)]
        for one in takers:
            one.start()
        for one in takers:
            one.join()
    assert len(outcomes) == 50 and outcomes.count(200) == 1
    assert set(outcomes) <= {200, 409, 429}, "taken already, or tried too often"
    assert place.taken == 1


@pytest.mark.parametrize("point", POINTS)
def test_a_server_killed_on_a_tickets_way_costs_nobody_their_vote(place: Place, tmp_path: Path, point: str) -> None:
    place.invite("one")
    with serving(CrashingServer(tmp_path / "candor.db", point)) as server:
        with pytest.raises(Unreachable):
            candor_client.take_ticket(link(server, "one"), ledger=place.ledger("ada"), clock=make_fast_clock())
        assert server.process is not None and server.process.wait() == -signal.SIGKILL
        assert place.taken == (point != POINTS[0]), "it died where it should"
        server.start(again=True)
        check_one_vote(place, server, "one", "ada")
    assert (place.reports, place.taken) == (1, 1)


# Where a device is killed: with everything in its ledger, before anything is sent; after all is sent, and before anybody
# has read the reply; with the reply in hand, and before it is kept; after the ticket is kept.
KILLED = """
import os, signal, sys
import candor_client, candor_client.transport
from candor_client import Ledger
from pathlib import Path

point, url, ledger = sys.argv[1], sys.argv[2], Ledger(Path(sys.argv[3]))

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

keep, begin = Ledger.keep, candor_client.transport.http.client.HTTPResponse.begin

def until_reply(self):
    if self._method == "POST":
        self.fp.peek(1)  # the server has answered
        die()
    return begin(self)

if point == "before":
    sys.modules["candor_client.respond"].post = die
elif point == "unread":
    candor_client.transport.http.client.HTTPResponse.begin = until_reply
elif point == "unkept":
    Ledger.keep = die
elif point == "kept":
    Ledger.keep = lambda *arguments: die(keep(*arguments))
candor_client.take_ticket(url, ledger=ledger)
"""


def test_a_device_killed_on_a_tickets_way_keeps_its_vote(place: Place, tmp_path: Path) -> None:
    points = {"before": 0, "unread": 1, "unkept": 1, "kept": 1}
    place.invite(*points)
    with serving(Server(tmp_path / "candor.db", 1)) as server:
        for point, taken in points.items():
            before, ledger = place.taken, place.ledger(point)
            done = subprocess.run(
                [sys.executable, "-c", KILLED, point, link(server, point), str(ledger.path)], check=False
            )
            assert done.returncode == -signal.SIGKILL
            assert place.taken == before + taken, point
            check_one_vote(place, server, point, point)
    assert (place.reports, place.taken) == (len(points), len(points))
