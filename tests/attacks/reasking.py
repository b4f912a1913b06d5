"""Asking again: a server averages the noise away by ever new versions or slugs, or by errors."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import binom

import candor_client
from benchmarks.reproductions.figures import Section, share_of
from candor_client import Ledger
from candor_client.errors import LimitExceeded
from tests.clock import SimulatedClock
from tests.definitions import encode, simple, survey
from tests.scripted_server import Server

KEEP = 0.75  # two coins: ε = ln 3
ASKED = (1, 3, 5, 10, 20, 50)
MOST = 40


def guess_chance(reports: int, keep: float = KEEP) -> float:
    """Return how often the best guess from so many reports is right, if both answers are equally likely."""
    more = float(binom.sf(reports // 2, reports, keep))
    return more + (float(binom.pmf(reports // 2, reports, keep)) / 2 if reports % 2 == 0 else 0.0)


def _guess_answers(reports: int, people: int) -> np.ndarray:
    made = survey(simple())
    hits = []
    for person in range(people):
        said = person % 2 == 0
        yes = sum(candor_client.randomize(made, {"cheated": said}).bits[0] >> 7 for _ in range(reports))
        guess = yes * 2 > reports if yes * 2 != reports else person % 4 < 2  # a tie is guessed, right half the time
        hits.append(guess == said)
    return np.array(hits)


def _count_reports(folder: Path, change: Callable[[int], dict[str, str]]) -> int:
    """Return how many reports a malicious server gets from one device by a new definition each time."""
    server = Server()
    try:
        ledger = Ledger(folder / "ledger.json")
        for turn in range(MOST):
            definition = simple() | change(turn)
            slug = definition["slug"]
            server.define(encode(definition), slug)
            try:
                address = f"{server.origin}/s/{slug}"
                candor_client.respond(address, {"cheated": True}, ledger=ledger, clock=SimulatedClock().clock)
            except LimitExceeded:
                return len(server.bodies)
        return MOST
    finally:
        server.close()


def _count_requests(folder: Path) -> tuple[int, int]:
    """Return how many requests, and how many different ones, reach a server that answers each report with an error."""
    server = Server()
    try:
        server.define(encode(simple()))
        server.post = lambda body: (500, {}, b"")
        for _ in range(3):
            try:
                candor_client.respond(
                    f"{server.origin}/s/exam",
                    {"cheated": True},
                    ledger=Ledger(folder / "ledger.json"),
                    clock=SimulatedClock().clock,
                )
            except candor_client.CandorError:
                continue
        return len(server.bodies), len(set(server.bodies))
    finally:
        server.close()


def reasking_section(people: int, folder: Path) -> Section:
    """Return the section on asking again."""
    section = Section("Asking again")
    section.say(
        "A server wants more than one report of a person, to average the noise away. With two coins (ε = ln 3) the best"
        f" guess from m reports to the same question is right this often; {people} people, the real client's `randomize`:"
    )
    section.table(
        ["reports", "right, in theory", "seen"],
        ([f"{m}", share_of(_guess_answers(m, people), guess_chance(m))] for m in ASKED),
    )
    versions = _count_reports(_make_folder(folder / "versions"), lambda turn: {"title": f"Version {turn}"})
    slugs = _count_reports(_make_folder(folder / "slugs"), lambda turn: {"slug": f"exam-{turn}"})
    requests, different = _count_requests(_make_folder(folder / "failing"))
    section.say(
        "That is what the ledger is for. The same server, and the real client with its ledger:",
        f"- new versions of one slug: **{versions}** reports, then the client refuses (ε ≤ 8 for a survey). The best"
        f" guess is then right in {guess_chance(versions):.1%};\n"
        f"- a new slug each time: **{slugs}** reports, then it refuses (ε ≤ 24 for a server): {guess_chance(slugs):.1%};\n"
        f"- a server that answers every report with an error: {requests} requests of three tries, and in them"
        f" **{different}** report: the same bytes are sent again, and nothing is drawn anew.",
        "So limits bound the loss, and do not make it small: a respondent who answers the same question on one server until the"
        " limit of 24 has told it. The limits are the person's to lower (`--limit`, `--server-limit`), and the form"
        " shows both sums before the first question. A person who uses several devices, or lets the ledger forget,"
        " has several ledgers.",
    )
    return section


def _make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
