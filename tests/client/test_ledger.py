"""One report per definition, charged in full before it is shown, never redrawn, forgotten once it is acknowledged."""

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from candor_client import Ledger, Ticket, verify
from candor_client.errors import (
    AnswerError,
    BadTicket,
    LedgerCorrupt,
    LedgerError,
    LedgerOld,
    LimitExceeded,
    OtherServer,
    TicketNeeded,
)
from candor_client.ledger import MemoryLedger
from candor_client.report import unpack
from candor_client.spending import Entry, Spending, host_of
from candor_client.ticket import TicketRequest
from tests.blind_signature_reference import KEYS
from tests.definitions import (
    COIN,
    define,
    drawn,
    encode,
    field,
    multiple,
    simple,
    subset,
    survey,
    worked_example,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.make_vectors import add_tickets
from tests.soak import soak_count

ROOT = Path(__file__).parents[2]
SAID = {"cheated": True, "help": "notes", "hours": 12}
YES = {"cheated": True}
HERE = "https://a.example"
DAY = "2026-12-01"
ASK = define(
    [yes_no(name) for name in "abcdef"], [field(COIN, name) for name in "abcdef"], ask=1, epsilon="1.098612288669"
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "home" / "ledger.json")


def make(ledger: Ledger, definition: dict[str, Any], answers: dict[str, Any], **more: Any) -> tuple[Entry, bool]:
    return ledger.make(survey(definition), answers, **{"server": HERE, "day": DAY, **more})


def ticket_for(definition: dict[str, Any]) -> Ticket:
    made = TicketRequest.draw(KEYS[0].n, lambda count: b"7" * count)
    digest = survey(definition).digest
    return made.unblind(KEYS[0].n, digest, KEYS[0].sign(made.blind_message(KEYS[0].n, digest)))


# one report


def test_a_definition_gets_one_report_whatever_is_said_later(ledger: Ledger) -> None:
    first, made = make(ledger, worked_example(), SAID)
    again, made_again = make(ledger, worked_example(), SAID | {"cheated": False, "hours": 60})
    assert (made, made_again) == (True, False)
    assert first == again


def test_the_charge_is_on_disk_before_the_report_is_returned(ledger: Ledger) -> None:
    entry, _ = make(ledger, worked_example(), SAID)
    spending = Ledger(ledger.path).read()
    assert spending.entries[survey(worked_example()).digest] == entry
    assert (spending.total(), entry.day, entry.state) == (Decimal("3.098612288669"), DAY, "made")


def test_every_definition_is_charged_in_full(ledger: Ledger) -> None:
    """Also for the same answers, and whatever field was asked: the charge is the survey's."""
    uneven = define(
        [yes_no("a"), yes_no("b")], [field(COIN, "a"), field(subset(2, 1, 15 * 2**60), "b")], ask=1, epsilon=3
    )
    for i in range(2):
        entry, made = make(ledger, uneven | {"title": f"Wave {i}"}, {"a": True, "b": True})
        assert made
        assert entry.epsilon == Decimal("2.708050201103")  # ln 15, rounded up
    assert ledger.read().total() == 2 * Decimal("2.708050201103")


def test_the_ledger_covers_drawn_and_joint_fields(ledger: Ledger) -> None:
    definition = define(
        [multiple(optional=True), yes_no(), choice_question(optional=True)],
        [field(drawn(4, 2), "used"), field(subset(8, 1), "cheated", "help")],
    )
    for title, used in (("One", None), ("Two", []), ("Three", ["item 0", "item 2"])):
        parsed = survey(definition | {"title": title})
        entry, _ = make(ledger, definition | {"title": title}, {"used": used, "cheated": True, "help": None}, limit=100)
        assert 0 <= entry.epsilon - verify(parsed) < Decimal("1e-12")


@pytest.mark.parametrize("answers", [{"cheated": "maybe"}, {}, {"cheated": True, "x": 1}])
def test_nothing_is_charged_for_what_was_refused(ledger: Ledger, answers: dict[str, Any]) -> None:
    with pytest.raises(AnswerError):
        make(ledger, simple(), answers)
    with pytest.raises(LimitExceeded):
        make(ledger, simple(), YES, limit=1)
    assert ledger.read() == Spending({})


# the field asked


def test_the_asked_field_is_drawn_once_for_each_definition(tmp_path: Path) -> None:
    choices = set()
    for i in range(30):
        ledger = Ledger(tmp_path / f"{i}.json")
        asked = ledger.begin(survey(ASK), HERE).asked
        assert asked is not None
        assert ledger.begin(survey(ASK), HERE).asked == asked
        choices.add(asked)
        with pytest.raises(AnswerError):
            make(ledger, ASK, {})
        entry, _ = make(ledger, ASK, {"abcdef"[asked]: i % 2 == 0})
        seen = [place for place, bits in enumerate(unpack(survey(ASK), entry.bits)) if bits is not None]
        assert seen == [asked]
        ledger.acknowledge(survey(ASK).digest)
        assert ledger.begin(survey(ASK), HERE).asked is None
    assert len(choices) > 2  # of six; two or fewer in thirty draws: below 1e-12


def test_another_version_draws_its_field_anew() -> None:
    same = 0
    for _ in range(200):
        ledger = MemoryLedger()
        one, two = (ledger.begin(survey(ASK | {"title": title}), HERE).asked for title in ("One", "Two"))
        same += one == two
    assert 0 < same < 200  # each with chance 1/6; none in two hundred: (5/6)^200 < 1e-15


def test_a_draw_is_kept_when_an_answer_is_missing(ledger: Ledger) -> None:
    """Otherwise a respondent who leaves out an answer would have the field drawn again until it suits."""
    with pytest.raises(AnswerError, match="an answer is missing"):
        make(ledger, ASK, {})
    entry = ledger.read().entries[survey(ASK).digest]
    assert (entry.state, entry.epsilon, entry.day) == ("begun", Decimal(0), "")
    assert ledger.begin(survey(ASK), HERE) == entry


def test_where_everything_is_asked_beginning_leaves_no_trace(ledger: Ledger) -> None:
    assert ledger.begin(survey(simple()), HERE).asked is None
    assert not ledger.path.exists()


# limits


def study(group: str, title: str = "Exam") -> dict[str, Any]:
    return simple() | {"slug": f"exam-{group}", "study": "exam", "group": group, "title": title}


def test_two_hundred_slugs_of_one_server_stop_at_its_limit(ledger: Ledger) -> None:
    """A new slug is no new budget: a researcher who asks the same under ever new names is stopped at 24."""
    made = 0
    with pytest.raises(LimitExceeded, match=r"a\.example to ε = 24\.1695, 23\.0709 of it for other") as refusal:
        for i in range(200):
            make(ledger, simple() | {"slug": f"exam{i}"}, YES)
            made += 1
    assert (made, refusal.value.code) == (21, "above_server_limit")
    assert ledger.read().spent_on_server(HERE) == 21 * Decimal("1.098612288669")


def test_rewording_again_and_again_ends_at_the_limit_of_a_survey(ledger: Ledger) -> None:
    """A server that asks the same in other words, to average the noise away, is stopped by the person's limit."""
    made = 0
    with pytest.raises(LimitExceeded, match=r"this survey to ε = 8\.7889, 7\.6903 of it for earlier") as refusal:
        for i in range(20):
            make(ledger, define([yes_no() | {"text": f"Did you copy ({i})?"}], simple()["fields"]), YES)
            made += 1
    assert (made, refusal.value.code) == (7, "above_limit")


@pytest.mark.parametrize(
    ("definition", "server", "limit", "counted"),
    [
        (simple() | {"title": "A new version"}, HERE, "above_limit", True),
        (simple(), "https://a.example:8443/base", "above_limit", True),  # ports and paths are no other server
        (simple(), "https://A.example.", "above_limit", True),
        (study("north"), HERE, "above_limit", True),  # a study counts as one, and as its bare slug
        (simple() | {"slug": "poll"}, HERE, "above_server_limit", True),
        (simple() | {"slug": "exam-north"}, HERE, "above_server_limit", True),  # only looks like a group
        (simple(), "https://b.example", "", False),
        (simple(), "https://sub.a.example", "", False),
    ],
)
def test_which_surveys_share_which_limit(
    ledger: Ledger, definition: dict[str, Any], server: str, limit: str, counted: bool
) -> None:
    make(ledger, simple() | {"title": "Earlier"}, YES)
    limits = {"limit": "1.1", "server_limit": "2.2"} if limit == "above_limit" else {"limit": 8, "server_limit": "1.1"}
    if counted:
        with pytest.raises(LimitExceeded) as refusal:
            make(ledger, definition, YES, server=server, **limits)
        assert refusal.value.code == limit
    assert make(ledger, definition, YES, server=server, **({} if counted else limits))[1]


def test_the_groups_of_a_study_count_as_one(ledger: Ledger) -> None:
    for group in ("north", "south"):
        make(ledger, study(group), YES)
    with pytest.raises(LimitExceeded, match="other groups"):
        make(ledger, study("east"), YES, limit=3)
    with pytest.raises(LimitExceeded):
        make(ledger, study("north", "Second wave"), YES, limit=3)
    assert make(ledger, study("east"), YES, limit="3.3")[1]


def test_sums_are_exact() -> None:
    """Eighty charges of 0.1 are 8, not 7.999999999999988, and one unit of 1e-12 more is seen."""
    entry = Entry("exam", "", HERE, Decimal("0.1"), DAY, stored=True)
    spending = Spending({str(i): entry for i in range(80)})
    assert spending.spent_on_survey(survey(simple()), HERE) == 8
    assert spending.with_entry("x", Entry("exam", "", HERE, Decimal("1e-12"))).total() == Decimal("8.000000000001")


@pytest.mark.parametrize(
    ("server", "host"),
    [
        ("https://a.example", "a.example"),
        ("http://127.0.0.1:5000/base", "127.0.0.1"),
        ("https://[::1]:80", "::1"),
        ("https://A.Example.:444/x", "a.example"),
    ],
)
def test_a_host_is_a_name_alone(server: str, host: str) -> None:
    assert host_of(server) == host


# other servers


def test_a_report_is_never_offered_to_another_server(ledger: Ledger) -> None:
    """A mirror of the definition would otherwise learn an id that the first server stores."""
    make(ledger, simple(), YES)
    with pytest.raises(OtherServer, match=r"begun at https://a\.example"):
        make(ledger, simple(), YES, server="https://b.example")
    ledger.acknowledge(survey(simple()).digest)
    entry, made = make(ledger, simple(), YES, server="https://b.example")
    assert (entry.server, entry.stored, made) == (HERE, True, False)


def test_neither_is_a_ticket_or_the_beginning_of_one(ledger: Ledger) -> None:
    parsed = survey(add_tickets(KEYS[0], simple()))
    ledger.take(parsed, HERE, "code")
    with pytest.raises(OtherServer):
        ledger.take(parsed, "https://b.example", "code")
    ledger.keep(parsed, HERE, ticket_for(add_tickets(KEYS[0], simple())))
    with pytest.raises(OtherServer):
        make(ledger, add_tickets(KEYS[0], simple()), YES, server="https://b.example")


def test_what_was_only_looked_at_may_be_answered_elsewhere(ledger: Ledger) -> None:
    asked = ledger.begin(survey(ASK), HERE).asked
    assert ledger.begin(survey(ASK), "https://b.example").asked == asked
    entry, _ = make(ledger, ASK, dict.fromkeys("abcdef", True), server="https://b.example")
    assert (entry.server, entry.asked) == ("https://b.example", asked)


# what is kept


def lifetime(ledger: Ledger, definition: dict[str, Any], answers: dict[str, Any]) -> list[Entry]:
    """Every state that an entry of a survey by invitation goes through."""
    parsed = survey(definition)
    seen = [ledger.begin(parsed, HERE), ledger.take(parsed, HERE, "code-of-an-invitation")]
    seen.append(ledger.keep(parsed, HERE, ticket_for(definition)))
    seen.append(make(ledger, definition, answers)[0])
    ledger.acknowledge(parsed.digest)
    return [*seen, ledger.read().entries[parsed.digest]]


INVITED_ASK = add_tickets(KEYS[0], ASK)


def test_an_entry_holds_what_its_state_needs_and_no_more(ledger: Ledger) -> None:
    states = lifetime(ledger, INVITED_ASK, dict.fromkeys("abcdef", True))
    assert [entry.state for entry in states] == ["begun", "taking", "ticket", "made", "stored"]
    always = {"slug", "study", "server", "epsilon", "day", "stored"}
    assert [set(entry.to_json()) - always for entry in states] == [
        {"asked"},
        {"asked", "code", "prefix", "salt", "r"},
        {"asked", "prefix", "signature"},
        {"asked", "prefix", "signature", "id", "bits"},
        set(),
    ]
    assert states[-1].to_json() == {
        "slug": "exam", "study": "", "server": HERE, "epsilon": "1.098612288669", "day": DAY, "stored": True,
    }  # fmt: skip
    for entry in states:
        assert Entry.from_json(entry.to_json()) == entry


def spellings(secret: bytes) -> set[bytes]:
    """The ways in which bytes may lie in a file."""
    texts = {base64.urlsafe_b64encode(secret), base64.b64encode(secret), base64.b32encode(secret)}
    hexes = {secret.hex().encode(), secret.hex().upper().encode(), str(int.from_bytes(secret, "big")).encode()}
    return {secret, *(text.rstrip(b"=") for text in texts), *hexes}


def traces(ledger: Ledger, secrets: list[bytes]) -> list[bytes]:
    """Which of these are anywhere in the ledger's folder, whole or cut off after twelve bytes."""
    kept = b"".join(path.read_bytes() for path in ledger.path.parent.iterdir())
    return [one for one in secrets if any(text in kept for text in spellings(one) | spellings(one[:12]))]


def test_after_acknowledgement_nothing_in_the_ledger_names_a_row_of_the_server(ledger: Ledger) -> None:
    """Neither id nor bits, ticket or code, in any spelling; a thief of the file cannot find the report with it."""
    wide = define([choice_question(options=400)], [field(subset(400, 150), "help")])
    definition = add_tickets(KEYS[0], wide | {"epsilon": 3})
    _, taking, held, made, _ = lifetime(ledger, definition, {"help": "option 7"})
    code = taking.code.encode()
    named = [made.id, made.bits, held.prefix, held.signature, taking.salt, taking.r, code]
    assert not traces(ledger, named)
    again, was_made = make(ledger, definition, {"help": "option 8"})
    assert (again.stored, again.bits, was_made) == (True, b"", False)
    assert not traces(ledger, named)


def test_that_search_would_find_a_trace(ledger: Ledger) -> None:
    entry, _ = make(ledger, simple(), YES)
    assert traces(ledger, [entry.id]) == [entry.id]
    for text in spellings(b"0123456789abcdef"):
        (ledger.path.parent / "other").write_bytes(b"x" + text + b"y")
        assert traces(ledger, [b"0123456789abcdef"])


def test_the_order_of_answering_is_not_kept(ledger: Ledger) -> None:
    for i in range(8):
        make(ledger, simple() | {"slug": f"exam{i}"}, YES)
    digests = list(json.loads(ledger.path.read_bytes())["ledger"]["entries"])
    assert digests == sorted(digests)


def test_the_file_is_for_its_owner_alone_and_holds_no_answer(ledger: Ledger) -> None:
    canary = "canary-option-7f3a"
    question = choice_question(options=2) | {"options": ["plain", canary]}
    make(ledger, define([question], [field(subset(2, 1), "help")]), {"help": canary})
    assert canary not in ledger.path.read_text()
    assert ledger.path.stat().st_mode & 0o077 == 0
    assert not list(ledger.path.parent.glob("*.new"))


# tickets


def test_a_request_that_is_pending_stays_the_same(ledger: Ledger) -> None:
    parsed = survey(add_tickets(KEYS[0], simple()))
    first = ledger.take(parsed, HERE, "one")
    assert ledger.take(parsed, HERE, "one") == ledger.take(parsed, HERE, "two") == first
    assert first.ticket_request is not None
    ledger.drop(parsed.digest, TicketRequest(b"", b"", 1))
    assert ledger.take(parsed, HERE, "two") == first
    ledger.drop(parsed.digest, first.ticket_request)
    second = ledger.take(parsed, HERE, "two")
    assert (second.code, second.prefix == first.prefix) == ("two", False)


def test_only_a_ticket_that_verifies_is_kept(ledger: Ledger) -> None:
    definition = add_tickets(KEYS[0], simple())
    parsed, good = survey(definition), ticket_for(definition)
    pending = ledger.take(parsed, HERE, "one")
    with pytest.raises(BadTicket):
        ledger.keep(parsed, HERE, Ticket(good.prefix, good.signature[::-1]))
    assert ledger.read().entries[parsed.digest] == pending
    assert ledger.keep(parsed, HERE, good).ticket == good
    assert ledger.take(parsed, HERE, "two").ticket == good
    with pytest.raises(ValueError, match="takes no tickets"):
        ledger.keep(survey(simple()), HERE, good)


def test_a_ticket_that_comes_too_late_changes_nothing(ledger: Ledger) -> None:
    """Two programs take it at once; the other one has made the report, or sent it, before this one is back."""
    definition = add_tickets(KEYS[0], simple())
    parsed, good = survey(definition), ticket_for(definition)
    ledger.keep(parsed, HERE, good)
    made, _ = make(ledger, definition, YES)
    assert ledger.keep(parsed, HERE, good) == made
    ledger.acknowledge(parsed.digest)
    assert ledger.keep(parsed, HERE, good).state == "stored"


def test_without_a_ticket_nothing_is_made_or_charged(ledger: Ledger) -> None:
    with pytest.raises(TicketNeeded):
        make(ledger, add_tickets(KEYS[0], simple()), YES)
    assert ledger.read().total() == 0


# the file


def damage(kind: str, source: bytes) -> bytes:
    sealed = json.loads(source)
    if kind == "one digit of a charge":
        entry = next(iter(sealed["ledger"]["entries"].values()))
        entry["epsilon"] = "0.098612288669"
        return json.dumps(sealed).encode()
    if kind == "an entry removed":
        sealed["ledger"]["entries"] = {}
        return json.dumps(sealed).encode()
    if kind == "another format":
        return source.replace(b"candor-ledger/2", b"candor-ledger/9")
    return {"empty": b"", "half": source[: len(source) // 2], "garbage": b"\xff\x00", "a list": b"[]", "null": b"null"}[
        kind
    ]


def attempts(ledger: Ledger) -> list[Callable[[], object]]:
    """Everything that reads or writes."""
    parsed = survey(add_tickets(KEYS[0], simple()))
    return [
        ledger.read,
        lambda: ledger.begin(survey(ASK), HERE),
        lambda: ledger.take(parsed, HERE, "code"),
        lambda: ledger.keep(parsed, HERE, ticket_for(add_tickets(KEYS[0], simple()))),
        lambda: ledger.drop(parsed.digest, TicketRequest(b"", b"", 1)),
        lambda: make(ledger, worked_example(), SAID),
        lambda: ledger.acknowledge(survey(simple()).digest),
    ]


@pytest.mark.parametrize(
    "kind",
    ["empty", "half", "garbage", "a list", "null", "one digit of a charge", "an entry removed", "another format"],
)
def test_a_damaged_ledger_is_reported_and_left_alone(ledger: Ledger, kind: str) -> None:
    make(ledger, simple(), YES)
    damaged = damage(kind, ledger.path.read_bytes())
    ledger.path.write_bytes(damaged)
    for attempt in attempts(ledger):
        with pytest.raises(LedgerCorrupt, match="is damaged"):
            attempt()
        assert ledger.path.read_bytes() == damaged


OLD = b"""{"ledger": {"format": "candor-ledger/1", "key": "AAAA", "reports": {}, "drawn": []}, "sha256": "any"}"""


def test_a_ledger_of_the_old_format_is_refused_with_what_to_do(ledger: Ledger) -> None:
    ledger.path.parent.mkdir()
    ledger.path.write_bytes(OLD)
    for attempt in attempts(ledger):
        with pytest.raises(LedgerOld, match="`candor ledger forget`") as refusal:
            attempt()
        assert refusal.value.code == "ledger_old"
        assert ledger.path.read_bytes() == OLD
    ledger.forget()
    assert make(ledger, simple(), YES)[1]


def test_an_interrupted_write_leaves_the_old_ledger(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    make(ledger, simple(), YES)
    before = ledger.path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(LedgerError, match="No space left on device"):
        make(ledger, worked_example(), SAID)
    assert ledger.path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot lock the ledger"):
        make(Ledger(tmp_path / "file" / "ledger.json"), simple(), YES)


def test_a_directory_is_no_ledger(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/"), Path(".")):
        with pytest.raises(LedgerError) as refusal:
            make(Ledger(path), simple(), YES)
        assert str(refusal.value).startswith(f"{path} "), "it names the folder, and no error of the system"


def test_forgetting_leaves_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    make(ledger, simple(), YES)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(5, "broken disk")))
    with pytest.raises(LedgerError):
        make(ledger, worked_example(), SAID)
    ledger.forget()
    assert [path.name for path in ledger.path.parent.iterdir()] == ["ledger.json.lock"]


def test_forgetting_deletes_even_a_damaged_ledger(ledger: Ledger) -> None:
    make(ledger, simple(), YES)
    ledger.path.write_bytes(b"")
    ledger.forget()
    assert ledger.read() == Spending({})


def test_storing_is_remembered_once(ledger: Ledger) -> None:
    digest = survey(simple()).digest
    ledger.acknowledge(digest)
    assert not ledger.path.exists()
    make(ledger, simple(), YES)
    ledger.acknowledge(digest)
    written = ledger.path.stat().st_mtime_ns
    ledger.acknowledge(digest)
    assert ledger.read().entries[digest].stored
    assert ledger.path.stat().st_mtime_ns == written


def test_the_default_place_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CANDOR_LEDGER", str(tmp_path / "x.json"))
    assert Ledger().path == tmp_path / "x.json"
    monkeypatch.delenv("CANDOR_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Ledger().path == tmp_path / "candor" / "ledger.json"


RACER = """
import sys
from candor_client import Ledger, Survey
source, path, answer = sys.argv[1:]
sys.stdin.readline()
survey = Survey.from_json(source.encode())
entry, made = Ledger(path).make(survey, {"cheated": answer}, server="https://a.example", day="2026-12-01")
print(entry.report(survey.digest).to_json().decode(), made)
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
    check_race(tmp_path, soak_count(100))
