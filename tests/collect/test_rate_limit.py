"""How many reports one address may send, over all workers, and that the address is not remembered."""

import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from survey_app.collect.rate_limit import COUNTER_BYTES, COUNTERS, DEFAULT_RATE_LIMIT, HEAD, Counts, Limiter, TooMany
from tests.fixtures import build, check_open_to_all_pages, check_refused, check_stored, check_tally, make_report
from tests.golden_files import Golden


def test_an_address_that_sends_too_much_has_to_wait(tmp_path: Path) -> None:
    installation = build(tmp_path, limit="5/minute")
    published = installation.publish()
    for _ in range(5):
        check_stored(installation.post(make_report(published)))
    response = installation.post(make_report(published))
    check_refused(response, "too_many_requests")
    check_open_to_all_pages(response)
    check_stored(installation.post(make_report(published), environ_overrides={"REMOTE_ADDR": "203.0.113.77"}))
    assert installation.client.options("/api/surveys/exam/reports").status_code == 204
    assert check_tally(installation, published) == 6
    installation.close()


def test_the_limit_remembers_no_address_and_after_its_minute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, address = Counts(), "203.0.113.77"
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr("survey_app.collect.rate_limit.time", clock)
    limiter = Limiter("5/minute", "senders", counts)

    def cells() -> list[int]:
        return [cell for (cell,) in struct.iter_unpack("=I", counts._memory[HEAD.size : COUNTER_BYTES]) if cell]

    for _ in range(5):
        limiter.check(address)
    with pytest.raises(TooMany) as refused:
        limiter.check(address)
    assert (refused.value.wait, refused.value.headers) == (60, [("Retry-After", "60")])
    assert cells() == [5] * 4  # one in each row
    kept, digits = bytes(counts._memory), bytes([203, 0, 113, 77])
    assert not any(plain in kept for plain in (address.encode(), digits, digits[::-1]))
    clock.monotonic = lambda: 60.0
    limiter.check("198.51.100.1")
    assert cells() == [1] * 4
    limiter.check(address)


def test_nobody_is_counted_too_low_and_hardly_anybody_too_high() -> None:
    """Of 200 names one would be refused too early by chance 200 (200/65536)^4 < 2e-8."""
    limiter = Limiter("3/minute")
    for _ in range(3):
        for name in range(200):
            limiter.check(str(name))
    for name in range(200):
        with pytest.raises(TooMany):
            limiter.check(str(name))


def test_what_is_counted_apart_does_not_add_up() -> None:
    counts = Counts()
    for place in COUNTERS:
        Limiter("1/minute", place, counts).check("203.0.113.77")
        with pytest.raises(TooMany):
            Limiter("1/minute", place, counts).check("203.0.113.77")


def test_all_addresses_of_one_network_are_one_sender() -> None:
    """The owner of one IPv6 address has 2^64; IPv4 seen through a socket for both does not become one network."""
    limiter = Limiter("1/minute")
    for address in (
        "[2001:db8::1]",
        "2001:db8:0:1::1",
        "fe80::1%eth0",
        "::ffff:203.0.113.7",
        "::ffff:203.0.113.8",
        "a:b",
    ):
        limiter.check(address)
    for address in ("[2001:db8::ffff:1]", "2001:db8:0:1:9::1", "203.0.113.7", "a:b"):
        with pytest.raises(TooMany):
            limiter.check(address)


@pytest.mark.parametrize(
    "limit", ["", "0/minute", "3000", "5/day", "-1/minute", "5 per minute", "Off", "5/minute;1/second"]
)
def test_what_is_no_limit_is_said_to_be_none(limit: str) -> None:
    with pytest.raises(ValueError) as caught:
        Limiter(limit)
    assert repr(limit) in str(caught.value) and DEFAULT_RATE_LIMIT in str(caught.value)


def test_the_refusal_of_a_limit_says_how_one_is_written(golden: Golden) -> None:
    with pytest.raises(ValueError) as caught:
        Limiter("5/day")
    golden(caught.value)


KILLED = """
import os, signal
from survey_app.collect.rate_limit import Counts, Limiter, TooMany
counts = Counts()
limiter = Limiter("5/minute", "senders", counts)
for _ in range(3):
    if os.fork() == 0:  # a worker: it counts once, and is killed while nobody else may count
        limiter.check("203.0.113.77")
        with counts.open_counter("senders"):
            os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
allowed = 0
try:
    while True:
        limiter.check("203.0.113.77")
        allowed += 1
except TooMany:
    print(allowed)
"""


def test_a_worker_that_is_killed_while_it_counts_stops_nobody_and_its_counts_stay() -> None:
    assert subprocess.check_output([sys.executable, "-c", KILLED], timeout=60) == b"2\n"
