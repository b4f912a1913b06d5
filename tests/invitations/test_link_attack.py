"""Two hundred people come one after the other, each takes a ticket and answers at once; an attacker with all files tries
to tell whose report is whose.

That is the worst case: both orders are one. What is tried is told in `tests/invitations/link_attack.py`, with its error rate: all
attempts together find more than guessing would once in a million runs. On files that keep the order of tickets in a WAL the
same attempts find everybody, so they can.
"""

import hashlib
import http.client
import json
import resource
import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

import candor_client
from candor_client import Survey
from candor_client.report import from_base64url
from survey_app.accounts import hash_secret
from survey_app.collect.intake import Intake
from survey_app.invitations.codes import invite
from survey_app.invitations.issuing import TicketIssuer, make_store_finder
from survey_app.store import Outcome, TicketFile
from survey_app.store.sqlite import SqliteStore
from tests.fixtures import CHEAP, add
from tests.invitations.link_attack import AttackResult, attack
from tests.server_process import PATIENCE, Server
from tests.ticket_surveys import draw, invitation_survey, key, modulus

pytestmark = pytest.mark.slow

PEOPLE = 200
Take = Callable[[str, bytes], bytes]  # a code and a request; the blind signature
Send = Callable[[bytes], object]


class Walled(TicketFile):
    """What we do not do: tickets in a WAL, which keeps one commit after the other."""

    PRAGMAS = TicketFile.PRAGMAS | {"journal_mode": "wal"}


class Visitors(NamedTuple):
    """What the attacker knows of each person, and the ids of their reports; in one order, which is the truth."""

    people: list[tuple[bytes, bytes]]
    reports: list[bytes]

    def look(self, *folders: Path) -> AttackResult:
        """What somebody finds who has all bytes below these folders."""
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        found = attack({str(path): path.read_bytes() for path in files}, self.people, self.reports)
        assert found.attempts, "nothing was there to look at"
        return found


def visit(survey: Survey, codes: list[str], take: Take, send: Send) -> Visitors:
    """Everybody in one visit, one after the other."""
    people, reports = [], []
    for code in codes:
        blinding, body = draw(survey)
        ticket = blinding.unblind(modulus(survey), survey.digest, take(code, body))
        report = candor_client.randomize(survey, {"cheated": secrets.randbelow(2) == 1}, ticket=ticket)
        send(report.to_json())
        message = from_base64url(json.loads(body)["blinded"])
        people.append((hash_secret(code), hashlib.sha256(message).digest()))
        reports.append(report.id)
    return Visitors(people, reports)


def publish(folder: Path, file: TicketFile, issuer: str = "") -> tuple[SqliteStore, Survey]:
    """A store with one survey by invitation, whose key is in this file unless another issuer has it."""
    store = SqliteStore(folder / "candor.db")
    store.migrate()
    made = invitation_survey(issuer=issuer) if issuer else invitation_survey()
    file.migrate()
    if not issuer:
        file.add_key(made.slug, key(), made.digest)
    add(store, made, owner=store.add_user("ada", CHEAP.hash("a long password")).key)
    return store, made


@contextmanager
def by_http(server: Server, path: str) -> Iterator[Callable[[bytes, dict[str, str]], bytes]]:
    """Post to a server over one connection; what it replies, if it replies well."""
    with closing(server.connect()) as connection:

        def post(body: bytes, headers: dict[str, str]) -> bytes:
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            said = response.read()
            if response.status >= 300:
                raise http.client.HTTPException(said.decode())
            return said

        yield post


def go(collector: Server, issuer: Server, survey: Survey, codes: list[str]) -> Visitors:
    """Everybody at real servers."""
    api = f"/api/surveys/{survey.slug}"
    with by_http(issuer, f"{api}/tickets") as ask, by_http(collector, f"{api}/reports") as send:

        def take(code: str, body: bytes) -> bytes:
            return from_base64url(json.loads(ask(body, {"Candor-Invitation": code}))["signature"])

        return visit(survey, codes, take, lambda body: send(body, {}))


@contextmanager
def without_http(folder: Path, file: TicketFile) -> Iterator[Visitors]:
    """Yield everybody who visited the ticket issuer and the intake of this process, which still runs during the attack."""
    store, survey = publish(folder, file)
    codes = invite(file, survey.slug, PEOPLE)
    issuer, intake = TicketIssuer(file, make_store_finder(store)), Intake(store)

    def send(body: bytes) -> None:
        assert intake.accept(survey.slug, body).result(PATIENCE) is Outcome.STORED

    yield visit(survey, codes, lambda code, body: issuer.issue(survey.slug, code, body).result(PATIENCE), send)
    issuer.close()
    intake.close()
    store.close()


@pytest.mark.parametrize(("kind", "links"), [(TicketFile, False), (Walled, True)])
def test_the_attempts_find_everybody_where_a_wal_keeps_the_order_and_nobody_here(
    tmp_path: Path, kind: type[TicketFile], links: bool
) -> None:
    """Before anything was tidied up: the WAL of the reports has their order, and so has the other one."""
    file = kind(tmp_path / "candor.db-tickets")
    with without_http(tmp_path, file) as visitors:
        found = visitors.look(tmp_path)
    assert found.beats_guessing is links, found
    assert found.right > 0.9 * PEOPLE or not links, found
    file.close()


def test_nothing_links_after_a_server_was_killed_nor_after_it_came_back(tmp_path: Path) -> None:
    file = TicketFile(tmp_path / "candor.db-tickets")
    store, survey = publish(tmp_path, file)
    codes = invite(file, survey.slug, PEOPLE)
    with (tmp_path / "log").open("wb") as log:
        server = Server(tmp_path / "candor.db", 1, log)
        server.start()
        visitors = go(server, server, survey, codes)
        server.kill()
        wal = Path(f"{store.path}-wal").read_bytes()
        assert sum(report in wal for report in visitors.reports) > PEOPLE / 2, "the order of reports is there"
        assert not visitors.look(tmp_path).beats_guessing, "killed"
        server.start()
        assert server.stop() == 0
        assert not visitors.look(tmp_path).beats_guessing, "at rest"
    assert file.count_invitations(survey.digest) == (PEOPLE, PEOPLE)
    kept = file.path.read_bytes() + Path(f"{file.path}-journal").read_bytes()
    others = store.path.read_bytes() + (tmp_path / "log").read_bytes()
    assert not [report for report in visitors.reports if report in kept]
    assert not [part for known in visitors.people for part in known if part in others]


@contextmanager
def small_disk(place: Path) -> Iterator[Callable[[Server], None]]:
    """Six megabytes, and what fills them up; where nothing may be mounted, a server that can let no file grow instead."""
    place.mkdir()
    size = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)]
    mounted = not subprocess.run(size, capture_output=True, check=False).returncode

    def fill(server: Server) -> None:
        if mounted:
            with suppress(OSError), (place / "ballast").open("wb", buffering=0) as ballast:
                while True:
                    ballast.write(bytes(4096))
        else:
            for process in server.processes():
                resource.prlimit(process, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    try:
        yield fill
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_nothing_links_on_a_full_disk(tmp_path: Path) -> None:
    with small_disk(place := tmp_path / "small") as fill:
        file = TicketFile(place / "candor.db-tickets")
        store, survey = publish(place, file)
        codes = invite(file, survey.slug, PEOPLE + 1)
        server = Server(place / "candor.db", 1)
        server.start()
        visitors = go(server, server, survey, codes[:PEOPLE])
        fill(server)
        with pytest.raises(http.client.HTTPException, match="unavailable"):
            go(server, server, survey, codes[PEOPLE:])
        server.kill()
        (place / "ballast").unlink(missing_ok=True)
        assert not visitors.look(place).beats_guessing
        assert file.count_invitations(survey.digest) == (PEOPLE + 1, PEOPLE), "who got no ticket is not marked"
        file.close()
        store.close()


def test_nothing_links_where_another_server_issues_even_if_both_files_meet(tmp_path: Path) -> None:
    here, there = tmp_path / "collector", tmp_path / "issuer"
    here.mkdir()
    there.mkdir()
    issuer = Server(there / "issuer.db", 1, serves=("issuer", "serve"))
    issuer_file = TicketFile(there / "issuer.db")
    issuer_file.migrate()
    issuer_file.add_key("exam", key())
    issuer.start()
    store, survey = publish(here, TicketFile(here / "candor.db-tickets"), issuer=f"http://127.0.0.1:{issuer.port}")
    issuer_file.bind(issuer_file.active_keys("exam")[0], survey.digest, survey.source, "http://127.0.0.1/s/exam")
    codes = invite(issuer_file, survey.slug, PEOPLE)
    collector = Server(here / "candor.db", 1)
    collector.start()
    visitors = go(collector, issuer, survey, codes)
    for server in (collector, issuer):
        server.kill()
    assert not visitors.look(here, there).beats_guessing
    assert issuer_file.count_invitations(survey.digest) == (PEOPLE, PEOPLE)
    seen = b"".join(path.read_bytes() for path in here.iterdir())
    assert not [part for known in visitors.people for part in known if part in seen], "the collector sees no invitation"
    store.close()
    issuer_file.close()
