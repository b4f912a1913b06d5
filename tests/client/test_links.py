"""Nothing to link: one device, two versions, and no more in common than two devices have."""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import stats

from candor_client import Ledger, Report, Survey, randomize
from tests import reference
from tests.definitions import survey, worked_example

SAID: dict[str, Any] = {"cheated": True, "help": "notes", "hours": 12}
VERSIONS = [worked_example() | {"title": title} for title in ("First wave", "Second wave")]
DEVICES = 400
FALSE_ALARMS = 1e-6

Device = Callable[[Survey], Report]


def honest(path: Path) -> Device:
    """The client as it is: one ledger for both versions."""
    ledger = Ledger(path)

    def answer(version: Survey) -> Report:
        entry, _ = ledger.make(version, SAID, server="https://a.example", day="2026-12-01")
        return entry.report(version.digest)

    return answer


def keyed(path: Path) -> Device:
    """A client that repeats its noise: all bytes follow from a key of the device, the slug and the answers."""
    key = hashlib.sha256(str(path).encode()).digest()

    def answer(version: Survey) -> Report:
        source = b"".join(hmac.digest(key, f"{version.slug} {SAID} {i}".encode(), "sha256") for i in range(8))
        return randomize(version, SAID, random_bytes=reference.ByteDraw(source).take)

    return answer


def agreements(device: Callable[[Path], Device], folder: Path) -> int:
    """Of how many devices the reports to the two versions have equal bits; equal ids are not even looked for."""
    one, two = map(survey, VERSIONS)
    count = 0
    for i in range(DEVICES):
        answer = device(folder / f"{i}.json")
        first, second = answer(one), answer(two)
        assert first.id != second.id or device is keyed
        count += first.bits == second.bits
    return count


def chance_of_strangers() -> float:
    """How often the reports of two devices with the same answers agree, exactly."""
    return float(sum(chance**2 for chance in reference.distribution(VERSIONS[0], SAID).values()))


def p_value(count: int) -> float:
    """That strangers agree so often, or so seldom."""
    return float(stats.binomtest(count, DEVICES, chance_of_strangers()).pvalue)


def test_reports_of_one_device_to_two_versions_agree_no_more_often_than_those_of_two_devices(tmp_path: Path) -> None:
    """False alarms: one in a million runs."""
    assert p_value(agreements(honest, tmp_path)) > FALSE_ALARMS


def test_a_client_that_repeats_its_noise_is_found_out(tmp_path: Path) -> None:
    count = agreements(keyed, tmp_path)
    assert count == DEVICES
    assert p_value(count) < FALSE_ALARMS
    assert p_value(round(DEVICES * (chance_of_strangers() + 0.15))) < FALSE_ALARMS  # one device in six would show too
