"""One report per definition, charged before it is shown, never redrawn."""

import hmac
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from client import Ledger, verify
from client.errors import AnswerError, LedgerCorrupt, LedgerError, LimitExceeded, OtherServer
from client.ledger import keyed_stream
from client.report import unpack
from tests.definitions import (
    COIN,
    define,
    drawn,
    encode,
    field,
    multiple,
    number,
    simple,
    subset,
    survey,
    worked,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.soak import part_of

ROOT = Path(__file__).parents[2]
SAID = {"cheated": True, "help": "notes", "hours": 12}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "home" / "ledger.json")


def test_a_definition_gets_one_report_whatever_is_said_later(ledger: Ledger) -> None:
    first, made = ledger.make(survey(worked()), SAID, limit=10)
    again, made_again = ledger.make(survey(worked()), SAID | {"cheated": False, "hours": 60}, limit=10)
    assert (made, made_again) == (True, False)
    assert first.report.to_json() == again.report.to_json()


def test_the_charge_is_on_disk_before_the_report_is_returned(ledger: Ledger) -> None:
    entry, _ = ledger.make(survey(worked()), SAID, limit=10)
    book = Ledger(ledger.path).read()
    assert book is not None
    assert book.entries[survey(worked()).digest] == entry
    assert book.spent("exam") == book.spent() == Decimal("3.098612288669")


def test_the_file_is_for_its_owner_alone_and_holds_no_answer(ledger: Ledger) -> None:
    canary = "canary-option-7f3a"
    question = choice_question(options=2) | {"options": ["plain", canary]}
    ledger.make(survey(define([question], [field(subset(2, 1), "help")])), {"help": canary}, limit=10)
    assert canary not in ledger.path.read_text()
    assert ledger.path.stat().st_mode & 0o077 == 0
    assert not list(ledger.path.parent.glob("*.new"))


def test_the_same_answer_in_a_new_version_gives_the_same_bits_and_costs_nothing(ledger: Ledger) -> None:
    first, _ = ledger.make(survey(worked()), SAID, limit=10)
    second, made = ledger.make(survey(worked() | {"title": "Exam honesty, second wave"}), SAID, limit=10)
    assert made
    assert second.report.bits == first.report.bits
    assert second.report.id != first.report.id
    assert second.epsilon == 0


def test_a_changed_answer_is_charged_even_if_the_bits_are_the_same(tmp_path: Path) -> None:
    same = 0
    for i in range(40):
        ledger = Ledger(tmp_path / f"{i}.json")
        first, _ = ledger.make(survey(simple()), {"cheated": True}, limit=10)
        second, _ = ledger.make(survey(simple() | {"title": "Again"}), {"cheated": False}, limit=10)
        same += first.report.bits == second.report.bits
        assert second.epsilon == first.epsilon
        back, _ = ledger.make(survey(simple() | {"title": "And again"}), {"cheated": True}, limit=10)
        assert back.report.bits == first.report.bits
        assert back.epsilon == 0
    assert 0 < same < 40  # each alike with chance 3/8; all or none in forty: below 1e-8


def test_a_field_joined_with_a_changing_question_cannot_average_the_noise_away(ledger: Ledger) -> None:
    """Every wave changes the harmless half of a joint field, to have the sensitive half drawn again."""
    today = number("today", max=1000)
    joint = define([yes_no(), today], [field(subset(4, 1, 8768971294881393556), "cheated", "today")])
    waves = 0
    with pytest.raises(LimitExceeded):
        for i in range(100):
            ledger.make(survey(joint | {"title": f"Wave {i}"}), {"cheated": True, "today": i}, limit=5)
            waves += 1
    assert waves == 5


def test_a_report_is_never_offered_to_another_server(ledger: Ledger) -> None:
    """A mirror of the definition would otherwise learn an id that the first server stores."""
    ledger.make(survey(simple()), {"cheated": True}, limit=10, origin="https://a.example")
    with pytest.raises(OtherServer, match=r"answered at https://a\.example"):
        ledger.make(survey(simple()), {"cheated": True}, limit=10, origin="https://b.example")


def test_a_reworded_question_is_a_new_question(ledger: Ledger) -> None:
    ledger.make(survey(simple()), {"cheated": True}, limit=10)
    reworded = survey(define([yes_no() | {"text": "Did you really copy?"}], simple()["fields"]))
    entry, _ = ledger.make(reworded, {"cheated": True}, limit=10)
    assert entry.epsilon == Decimal("1.098612288669")


def test_rewording_again_and_again_ends_at_the_limit(ledger: Ledger) -> None:
    """A server that asks the same in other words, to average the noise away, is stopped by the person's limit."""
    made = 0
    with pytest.raises(LimitExceeded, match="for earlier versions"):
        for i in range(20):
            reworded = survey(define([yes_no() | {"text": f"Did you copy ({i})?"}], simple()["fields"]))
            ledger.make(reworded, {"cheated": True}, limit=5)
            made += 1
    assert made == 4
    book = ledger.read()
    assert book is not None
    assert book.spent("exam") <= 5


def test_slugs_never_share_noise(ledger: Ledger) -> None:
    questions = [choice_question(options=2000) | {"options": [str(i) for i in range(2000)]}]
    definition = define(questions, [field(subset(2000, 700), "help")])
    here, _ = ledger.make(survey(definition), {"help": "5"}, limit=None)
    there, _ = ledger.make(survey(definition | {"slug": "other"}), {"help": "5"}, limit=None)
    assert here.report.bits != there.report.bits


def test_the_key_differs_between_devices(tmp_path: Path) -> None:
    keys = set()
    for name in ("a", "b"):
        keys.add(Ledger(tmp_path / name).open().key)
    assert len(keys) == 2


def test_the_keyed_stream_is_hmac_in_counter_mode() -> None:
    key = bytes(range(32))
    blocks = [hmac.digest(key, b"exam\0ab\0[3]\0" + i.to_bytes(8, "big"), "sha256") for i in range(3)]
    stream = keyed_stream(key, "exam", "ab", "[3]")
    assert stream(5) + stream(60) + stream(31) == b"".join(blocks)
    assert keyed_stream(key, "exam", "ab", "[4]")(32) != blocks[0]


def test_numbers_are_keyed_before_rounding(ledger: Ledger) -> None:
    """Rounding draws come from the keyed stream too, or re-asking would reveal the exact number."""
    definition = define([number(max=60)], [field(subset(2, 1), "hours")])
    book = ledger.open()
    waves = [survey(definition | {"title": f"Wave {i}"}) for i in range(40)]
    reports = [book.answer(wave, {"hours": 29}, "", bytes).entries[wave.digest].report for wave in waves]
    assert len({report.bits for report in reports}) == 1


ASK = define(
    [yes_no(name) for name in "abcdef"], [field(COIN, name) for name in "abcdef"], ask=1, epsilon="1.098612288669"
)


def test_the_asked_field_depends_on_the_device_and_not_on_the_answers(tmp_path: Path) -> None:
    choices = set()
    for i in range(30):
        ledger = Ledger(tmp_path / f"{i}.json")
        asked = ledger.open().asked(survey(ASK))
        assert asked is not None
        choices.add(asked)
        wave = survey(ASK | {"title": "Second wave"})
        assert ledger.open().asked(wave) == asked
        entry, _ = ledger.make(survey(ASK), {"abcdef"[asked]: i % 2 == 0}, limit=10)
        seen = [place for place, bits in enumerate(unpack(survey(ASK), entry.report.bits)) if bits is not None]
        assert seen == [asked]
    assert len(choices) > 2  # of six; two or fewer in thirty draws: below 1e-12


def test_only_the_asked_field_is_charged(ledger: Ledger) -> None:
    uneven = define(
        [yes_no("a"), yes_no("b")], [field(COIN, "a"), field(subset(2, 1, 15 * 2**60), "b")], ask=1, epsilon=3
    )
    asked = ledger.open().asked(survey(uneven))
    entry, _ = ledger.make(survey(uneven), {"a": True, "b": True}, limit=10)
    assert asked is not None
    loss = survey(uneven).fields[asked].mechanism.epsilon
    assert entry.epsilon == pytest.approx(loss, abs=Decimal("1e-12"))


def test_an_asked_question_needs_an_answer(ledger: Ledger) -> None:
    with pytest.raises(AnswerError, match="an answer is missing"):
        ledger.make(survey(ASK), {}, limit=10)
    book = ledger.read()
    assert book is not None
    assert not book.entries


@pytest.mark.parametrize(
    ("answers", "limit"),
    [({"cheated": "maybe"}, 10), ({}, 10), ({"cheated": True, "x": 1}, 10), ({"cheated": True}, 1)],
)
def test_nothing_is_charged_for_what_was_refused(ledger: Ledger, answers: dict[str, Any], limit: float) -> None:
    with pytest.raises((AnswerError, LimitExceeded)):
        ledger.make(survey(simple()), answers, limit=limit)
    book = ledger.read()
    assert book is not None
    assert book.spent() == 0
    assert not book.drawn


def damage(kind: str, source: bytes) -> bytes:
    sealed = json.loads(source)
    if kind == "one digit of a charge":
        entry = next(iter(sealed["ledger"]["reports"].values()))
        entry["epsilon"] = "0.098612288669"
        return json.dumps(sealed).encode()
    if kind == "a report removed":
        sealed["ledger"]["reports"] = {}
        return json.dumps(sealed).encode()
    if kind == "another format":
        return source.replace(b"candor-ledger/1", b"candor-ledger/9")
    return {"empty": b"", "half": source[: len(source) // 2], "garbage": b"\xff\x00", "a list": b"[]", "null": b"null"}[
        kind
    ]


@pytest.mark.parametrize(
    "kind",
    ["empty", "half", "garbage", "a list", "null", "one digit of a charge", "a report removed", "another format"],
)
def test_a_damaged_ledger_is_reported_and_left_alone(ledger: Ledger, kind: str) -> None:
    ledger.make(survey(simple()), {"cheated": True}, limit=10)
    damaged = damage(kind, ledger.path.read_bytes())
    ledger.path.write_bytes(damaged)
    for attempt in (
        ledger.read,
        ledger.open,
        lambda: ledger.make(survey(worked()), SAID, limit=10),
        lambda: ledger.mark_stored(survey(simple()).digest),
    ):
        with pytest.raises(LedgerCorrupt, match="is damaged"):
            attempt()
        assert ledger.path.read_bytes() == damaged


def test_an_interrupted_write_leaves_the_old_ledger(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.make(survey(simple()), {"cheated": True}, limit=10)
    before = ledger.path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(LedgerError, match="No space left on device"):
        ledger.make(survey(worked()), SAID, limit=10)
    assert ledger.path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot lock the ledger"):
        Ledger(tmp_path / "file" / "ledger.json").open()


def test_a_directory_is_no_ledger(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/"), Path(".")):
        with pytest.raises(LedgerError, match="a ledger is a file"):
            Ledger(path).open()


def test_forgetting_leaves_no_copy_of_the_key(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(5, "broken disk")))
    with pytest.raises(LedgerError):
        ledger.make(survey(simple()), {"cheated": True}, limit=10)
    ledger.forget()
    assert [path.name for path in ledger.path.parent.iterdir()] == ["ledger.json.lock"]


def test_a_very_wide_field_does_not_stall_the_device(ledger: Ledger) -> None:
    """The keyed stream of 380,000 coins once took quadratic time, with the lock held."""
    stream = keyed_stream(bytes(32), "wide")
    assert len(stream(3_000_000)) == 3_000_000


def test_forgetting_deletes_even_a_damaged_ledger(ledger: Ledger) -> None:
    ledger.open()
    ledger.path.write_bytes(b"")
    ledger.forget()
    assert ledger.read() is None


def test_storing_is_remembered_once(ledger: Ledger) -> None:
    digest = survey(simple()).digest
    ledger.mark_stored(digest)
    ledger.make(survey(simple()), {"cheated": True}, limit=10)
    ledger.mark_stored(digest)
    book = ledger.read()
    assert book is not None
    assert book.entries[digest].stored


def test_the_default_place_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CANDOR_LEDGER", str(tmp_path / "x.json"))
    assert Ledger().path == tmp_path / "x.json"
    monkeypatch.delenv("CANDOR_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Ledger().path == tmp_path / "candor" / "ledger.json"


RACER = """
import json, sys
from client import Ledger, Survey
source, path, answer = sys.argv[1:]
sys.stdin.readline()
entry, made = Ledger(path).make(Survey.from_json(source.encode()), {"cheated": answer}, limit=10)
print(entry.report.to_json().decode(), made)
"""


def race(path: Path, source: bytes, processes: int) -> list[str]:
    """Let several processes answer the same survey, differently, at the same moment."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, source.decode(), str(path), "yes" if i % 2 else "no"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for i in range(processes)
    ]  # fmt: skip
    with ThreadPoolExecutor(processes) as pool:
        return [out for out, _ in pool.map(lambda racer: racer.communicate("go\n"), racers)]


def check_race(directory: Path, rounds: int) -> None:
    for i in range(rounds):
        lines = race(directory / f"{i}" / "ledger.json", encode(simple()), 4)
        reports = {line.split(" ")[0] for line in lines}
        assert len(reports) == 1
        assert sorted(line.split(" ")[1].strip() for line in lines) == ["False"] * 3 + ["True"]


def test_processes_that_answer_at_once_send_one_report(tmp_path: Path) -> None:
    check_race(tmp_path, 2)


@pytest.mark.soak
def test_processes_that_answer_at_once_send_one_report_a_hundred_times(tmp_path: Path) -> None:
    check_race(tmp_path, part_of(100))


def test_the_ledger_covers_drawn_and_joint_fields(ledger: Ledger) -> None:
    definition = define(
        [multiple(optional=True), yes_no(), choice_question(optional=True)],
        [field(drawn(4, 2), "used"), field(subset(8, 1), "cheated", "help")],
    )
    for title, used in (("One", None), ("Two", []), ("Three", ["item 0", "item 2"])):
        parsed = survey(definition | {"title": title})
        entry, _ = ledger.make(parsed, {"used": used, "cheated": True, "help": None}, limit=100)
        assert entry.epsilon <= verify(parsed) + Decimal("1e-11")
