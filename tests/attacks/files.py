"""Attackers with everything on disk: a curious administrator, and somebody who links invitations and reports."""

import secrets
from pathlib import Path

import numpy as np

import candor_client
from benchmarks.clock import SCENARIOS, match_share
from benchmarks.reproductions.figures import Section, share_of
from survey_app.collect.intake import Intake
from survey_app.invitations.codes import invite
from survey_app.store import Outcome, TicketFile
from survey_app.store.sqlite import SqliteStore
from tests.definitions import simple, survey
from tests.fixtures import CHEAP, add
from tests.invitations.link_attack import AttackResult, attack
from tests.invitations.test_link_attack import PEOPLE, Walled, go, publish, without_http
from tests.server_process import PATIENCE, Server

SEEN = 300  # people whom the curious administrator saw coming, one after the other


def administrator(folder: Path) -> tuple[AttackResult, AttackResult, np.ndarray]:
    """Return what an administrator who saw everybody come finds.

    That is: the links before the server has tidied up, those after it, and how often a linked report tells the truth.
    """
    folder.mkdir(parents=True)
    store = SqliteStore(folder / "candor.db")
    store.migrate()
    made = survey(simple())
    add(store, made, owner=store.add_user("ada", CHEAP.hash("a long password")).key)
    intake = Intake(store)
    said, sent = [], []
    for _ in range(SEEN):
        answer = secrets.randbelow(2) == 1
        report = candor_client.randomize(made, {"cheated": answer})
        if intake.accept(made.slug, report.to_json()).result(PATIENCE) is not Outcome.STORED:
            raise AssertionError("not stored")
        said.append(answer)
        sent.append(report)
    ids = [report.id for report in sent]
    found = []
    for tidy in (False, True):
        if tidy:
            intake.close()
            store.tidy(now=True)
        files = {str(path): path.read_bytes() for path in folder.iterdir()}
        found.append(_match_orders(files, ids))
    store.close()
    linked = np.array([(report.bits[0] >> 7 == 1) == answer for report, answer in zip(sent, said, strict=True)])
    return found[0], found[1], linked


def _match_orders(files: dict[str, bytes], ids: list[bytes]) -> AttackResult:
    """Match the known order of arrival with the order in the files, as if a list of the people lay among them."""
    names = [(f"{place:08d}".encode(),) for place in range(len(ids))]
    return attack({**files, "what was seen": b"".join(name for (name,) in names)}, names, ids)


def files_section(folder: Path, runs: int, *, servers: bool = True) -> Section:
    """Return the section on files."""
    section = Section("Everything on disk")
    before, after, linked = administrator(folder / "administrator")
    section.say(
        f"*A curious administrator* sat at the door, saw {SEEN} people come one after the other, and has all files. Nothing"
        " in them names anybody, so the only way is order: which report came when. Rows lie in the order of their random"
        " ids. The write-ahead log holds the order of the last ones until it is emptied, which the server does when it is"
        " quiet and when it ends:"
    )
    section.table(
        ["files", "people whose report is found (guessing: about 1)", "correlation of the two orders"],
        [
            ["while reports are coming", f"{before.right} of {SEEN}", f"{before.correlation:.2f}"],
            ["after the server has tidied up", f"{after.right} of {SEEN}", f"{after.correlation:.2f}"],
        ],
    )
    section.say(
        "The correlation is the strongest of all attempts. What is left of it comes from the ids that are not shown yet"
        " (*pending*): about twenty, most of them among the last that came. And a person who is found is found with a noisy"
        " report. With two coins it says the truth this often:"
    )
    section.table(["ε = ln 3", "seen"], [[share_of(linked, 0.75)]])
    rows = []
    for name, kind in (
        ("tickets in a file with a write-ahead log, which we do not do", Walled),
        ("as it is", TicketFile),
    ):
        (place := folder / kind.__name__).mkdir(parents=True)
        file = kind(place / "candor.db-tickets")
        with without_http(place, file) as visitors:
            rows.append([name, f"{visitors.look(place).right} of {PEOPLE}"])
        file.close()
    if servers:
        rows.append(
            [
                "a server killed in the middle: database, WAL, tickets, log",
                f"{_link_after_kill(folder / 'killed')} of {PEOPLE}",
            ]
        )
    section.say(
        f"*Which report came of which invitation?* {PEOPLE} invited people come one after the other, each takes a ticket"
        " and answers at once: the worst case. Somebody has the list of codes and all bytes of all files, and pairs the"
        " order of the ones with the order of the others in every way; the best of all attempts finds:"
    )
    section.table(["files", "people linked (guessing: about 1, the best of all attempts a few)"], rows)
    rng = np.random.default_rng()
    section.say(
        "*By the clock.* The operator of the server could write down when tickets are taken and when reports come. 300 people,"
        f" the likeliest matching, {runs} simulations each:"
    )
    section.table(
        ["how people come", "matched"],
        [
            *([way, f"{np.mean([match_share(way, 300, rng) for _ in range(runs)]):.1%}"] for way in SCENARIOS),
            ["two servers, of which neither knows the other's times", f"{1 / 300:.1%}, by guessing"],
        ],
    )
    return section


def _link_after_kill(folder: Path) -> int:
    folder.mkdir(parents=True)
    file = TicketFile(folder / "candor.db-tickets")
    store, made = publish(folder, file)
    codes = invite(file, made.slug, PEOPLE)
    with (folder / "log").open("wb") as log:
        server = Server(folder / "candor.db", 1, log)
        server.start()
        visitors = go(server, server, made, codes)
        server.kill()
    store.close()
    file.close()
    return visitors.look(folder).right
