"""The browser's client: the same coins, byte for byte, and the same refusals, ledger and manners."""

import hashlib
import json
import math
import re
import secrets
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from candor_client import Survey, description, randomize, verify
from candor_client.errors import AnswerError, CandorError, DefinitionError, ReportError
from candor_client.mechanisms import drawn, flip, mechanism, subset
from candor_client.mechanisms.geometric import SENTENCES as NOISE
from candor_client.report import to_base64url, unpack
from tests import mutants, reference
from tests.answers import EVERYTHING, GOOD, SMALL, all_answers
from tests.definitions import (
    WORKED_DIGEST,
    define,
    encode,
    field,
    geometric,
    number,
    simple,
    survey,
    worked_example,
)
from tests.javascript import JavaScript, Node, Refusal
from tests.reference import ByteDraw
from tests.replay import OUTSIDE, REPORTS, make_seeded_bytes
from tests.scripted_server import Server

SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}


def code_of(javascript: JavaScript, verb: str, **request: Any) -> str | None:
    with pytest.raises(Refusal) as refusal:
        javascript.ask(verb, **request)
    return refusal.value.code


# its own arithmetic


@pytest.mark.parametrize("length", [0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 239, 240, 1000])
def test_its_hashes(node: Node, length: int) -> None:
    text = "candor " * 200
    text = text[:length]
    assert node.ask("digest", text=text) == hashlib.sha256(text.encode()).hexdigest()
    assert node.ask("sha384", text=text) == hashlib.sha384(text.encode()).hexdigest()


def test_the_independent_vector(node: Node) -> None:
    assert node.ask(
        "vector",
        threshold="13485650502877570762",
        coins=100_000,
        bounds=[3, 5, 7, 1000, 4294967295],
        each=5000,
        prefix="test-vector-1",
    ) == "b3e85cbdac7a76b641248b28d7ea76aaea12b7a37e937d281f068a9d5209ecb7"  # fmt: skip


def test_a_definition_that_is_too_large(node: Node) -> None:
    assert code_of(node, "parse", source=(b"x" * 256_001).hex()) == "too_large"


# definitions and answers made elsewhere, and made up


def replayed(javascript: JavaScript, source: str, answers: dict[str, Any], tape: bytes) -> tuple[str, str, int]:
    made = javascript.ask("randomize", source=source.encode().hex(), answers=answers, tape=tape.hex())
    return to_base64url(bytes.fromhex(made["bits"])), to_base64url(bytes.fromhex(made["id"])), made["used"]


def check_outside(javascript: JavaScript) -> None:
    cases = [(vector, case) for vector in OUTSIDE for case in vector["cases"]]
    assert len(cases) == 240
    for vector, case in cases:
        made = replayed(
            javascript, vector["definition"], case["answers"], make_seeded_bytes(case["seed"], case["bytes"] + 8)
        )
        assert made == (case["bits"], case["id"], case["bytes"]), case["seed"]


def test_it_agrees_with_an_implementation_that_shares_no_code_with_it(node: Node) -> None:
    check_outside(node)


def test_it_agrees_with_it_in_a_browser_too(chromium: JavaScript) -> None:
    check_outside(chromium)


CASES = 300


def test_both_spend_the_same_and_refuse_the_same_with_the_same_code(node: Node) -> None:
    """On other definitions at every run; the seed repeats a failure."""
    seen = set()
    for _ in range(CASES):
        seed = secrets.randbits(64)
        random = Random(seed)  # noqa: S311
        whole = mutants.make_definition(random)
        for definition in (whole, *(mutants.spoil(random, whole) for _ in range(4))):
            source = encode(definition)
            try:
                loss = float(verify(Survey.from_json(source)))
                assert node.ask("parse", source=source.hex())["epsilon"] == pytest.approx(loss, rel=1e-12), seed
                seen.add("")
            except CandorError as error:
                assert code_of(node, "parse", source=source.hex()) == error.code, (seed, str(error))
                seen.add(error.code)
    assert seen >= {"", "bad_value", "bad_mechanism", "unknown_key", "missing_key"}


@pytest.mark.parametrize("ratio", [1, 2**32, 2**62, 2**63, 2**64 - 2**40, 2**64 - 2**20, 2**64 - 400, 2**64 - 5])
@pytest.mark.parametrize("size", [2, 3, 64])
def test_the_loss_of_geometric_noise_is_right_also_for_extreme_ratios(node: Node, size: int, ratio: int) -> None:
    source = encode(define([number(max=63, levels=size)], [field(geometric(size, ratio), "hours")]))
    try:
        loss = float(verify(Survey.from_json(source)))
    except DefinitionError as error:
        assert code_of(node, "parse", source=source.hex()) == error.code == "bad_mechanism"
    else:
        assert node.ask("verify", source=source.hex(), limit=None) == pytest.approx(loss, rel=1e-15)


@pytest.mark.parametrize("name", SMALL)
def test_the_bytes_drawn_depend_on_nothing_but_the_definition(node: Node, name: str) -> None:
    """Neither answer nor outcome shows in them; a byte above 240 alone could begin a word that `below` rejects."""
    source = encode(SMALL[name]).hex()
    fields = range(len(SMALL[name]["fields"])) if "ask" in SMALL[name] else [None]
    for asked in fields:
        used = set()
        for answers in all_answers(SMALL[name]):
            for tape in (bytes(200), bytes([240]) * 200, bytes(secrets.randbelow(241) for _ in range(200))):
                made = node.ask("randomize", source=source, answers=answers, asked=asked, tape=tape.hex())
                used.add(made["used"])
        assert len(used) == 1


def test_a_draw_made_before_is_not_made_again(node: Node) -> None:
    source = encode(SMALL["filter"]).hex()
    tape = bytes(range(60)).hex()
    said = {"cheated": True, "help": "option 1"}
    assert node.ask("needed", source=source, asked=0) == ["cheated"]
    assert node.ask("needed", source=source, asked=1) == ["help", "cheated"]
    for asked in (0, 1):
        drawn_before = node.ask("randomize", source=source, answers=said, asked=asked, tape=tape)
        python = ByteDraw(bytes.fromhex(tape))
        report = randomize(survey(SMALL["filter"]), said, asked=asked, random_bytes=python.take)
        assert drawn_before == {"bits": report.bits.hex(), "id": report.id.hex(), "used": python.used}
    assert node.ask("randomize", source=source, answers={"cheated": True}, asked=0, tape=tape)
    assert code_of(node, "randomize", source=source, answers={"help": "option 1"}, asked=1, tape=tape) == "bad_answer"
    for nothing in (-1, 2, 0.5):
        with pytest.raises(Refusal, match="RangeError"):
            node.ask("randomize", source=source, answers=said, asked=nothing, tape=tape)
    with pytest.raises(Refusal, match="RangeError"):
        node.ask("randomize", source=encode(simple()).hex(), answers={"cheated": True}, asked=0, tape=tape)


def test_a_survey_by_invitation_needs_a_ticket(node: Node) -> None:
    by_invitation = simple() | {"tickets": {"key": "_" * 512}}
    request = {"source": encode(by_invitation).hex(), "answers": {"cheated": True}, "tape": "00" * 24}
    assert code_of(node, "randomize", **request) == "ticket_needed"


def test_the_system_gives_more_bytes_than_a_browser_gives_at_once(node: Node) -> None:
    for count in (0, 1, 65_536, 65_537, 200_000):
        data = bytes.fromhex(node.ask("system", count=count))
        assert len(data) == count
        assert all(any(data[i : i + 512]) for i in range(0, count - 512, 512))


# answers


BAD_ANSWERS: list[tuple[str, Any]] = [
    ("cheated", None), ("cheated", 1), ("cheated", "maybe"), ("cheated", "Yes"), ("cheated", []),
    ("help", "option 9"), ("help", 2), ("help", ""), ("help", ["option 1"]), ("help", True),
    ("fair", None), ("fair", 3), ("fair", "agree"),
    ("used", None), ("used", "item 0"), ("used", ["item 9"]), ("used", ["item 0", "item 0"]), ("used", [0]),
    ("used", {"item 0": 1}), ("used", [["item 0"]]),
    ("hours", None), ("hours", 61), ("hours", -1), ("hours", "12.5"), ("hours", 12.5), ("hours", True),
    ("hours", "0x10"), ("hours", "1_000"), ("hours", "١٢"), ("hours", "1e1"), ("hours", " 5"), ("hours", ""),
    ("hours", 10**30), ("hours", [5]), ("hours", 60.0000001), ("hours", -0.0000001), ("hours", "+-5"), ("hours", "5."),
    ("price", "0.3"), ("price", 2.25), ("price", "-0.75"), ("price", "0.2500001"), ("nobody", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bad"), BAD_ANSWERS)
def test_bad_answers_are_refused_by_both(node: Node, name: str, bad: Any) -> None:
    answers = GOOD | {name: bad}
    with pytest.raises(AnswerError):
        randomize(Survey.from_json(encode(EVERYTHING)), answers)
    assert code_of(node, "randomize", source=encode(EVERYTHING).hex(), answers=answers, tape="") == "bad_answer"


@pytest.mark.parametrize("hours", [12, "12", "12.0", "012", "+12", "12.000"])
def test_numbers_go_through_decimal_text(node: Node, hours: Any) -> None:
    tape = bytes(range(200)).hex()
    expected = reference.report(worked_example(), SAID | {"hours": 12}, bytes.fromhex(tape))
    made = node.ask("randomize", source=encode(worked_example()).hex(), answers=SAID | {"hours": hours}, tape=tape)
    assert made["bits"] == reference.pack(expected[0]).hex()


def test_short_randomness_is_an_error(node: Node) -> None:
    assert code_of(node, "randomize", source=encode(simple()).hex(), answers={"cheated": True}, tape="00" * 23) is None


# definitions


def test_a_key_that_may_be_missing_is_known_by_its_own_name_only(node: Node) -> None:
    """The schema marks such keys with a question mark, which is no part of them."""
    source = encode(simple() | {"description?": "Hello"})
    assert code_of(node, "parse", source=source.hex()) == "unknown_key"


# what bits say


def spelled(part: int | None, width: int) -> list[int] | None:
    return None if part is None else [int(bit) for bit in f"{part:0{width}b}"]


@pytest.mark.parametrize("vector", REPORTS, ids=lambda vector: vector["name"])
def test_both_unpack_the_same_reports_and_refuse_the_same(node: Node, vector: dict[str, Any]) -> None:
    survey = Survey.from_json(vector["source"].encode())
    source = survey.source.hex()
    sent = {bytes.fromhex(case["bits"]) for case in vector["cases"][:4]}
    turned = {
        bytes([*bits[:i], bits[i] ^ 1 << place, *bits[i + 1 :]])
        for bits in sent
        for i in (0, -1 % len(bits))
        for place in (0, 7)
    }
    for bits in sent | turned | {b"", bytes(survey.length), bytes(survey.length + 1), b"\xff" * survey.length}:
        try:
            parts = unpack(survey, bits)
        except ReportError as error:
            assert code_of(node, "unpack", source=source, bits=bits.hex()) == error.code == "impossible_bits"
            continue
        expected = [spelled(part, field.mechanism.width) for field, part in zip(survey.fields, parts, strict=True)]
        assert node.ask("unpack", source=source, bits=bits.hex()) == expected


# the strings of the terminal, for the client that has none of its own
ENGLISH = {
    "yes": "yes",
    "no": "no",
    "no_answer": description.NO_ANSWER,
    "none": "none of them",
    "more": "{count} more",
    "range": "{low} to {high}",
    **mechanism.SENTENCES,
    **flip.SENTENCES,
    **subset.SENTENCES,
    **drawn.SENTENCES,
    **NOISE,
}


def listed(text: str) -> list[str]:
    """The words, but not how they are listed: {a, b} in a terminal, "a and b" in a browser."""
    plain = re.sub(r"(\d),(?=\d)", r"\1", text).replace("{}", "none of them")
    return [word for word in re.findall(r"[^\s{},;()]+", plain) if word not in ("and", "or")]


@pytest.mark.parametrize("vector", REPORTS, ids=lambda vector: vector["name"])
def test_both_say_the_same_about_odds_and_bits(node: Node, vector: dict[str, Any]) -> None:
    survey = Survey.from_json(vector["source"].encode())
    for case in vector["cases"][:10]:
        told = node.ask("words", source=survey.source.hex(), bits=case["bits"], strings=ENGLISH)
        for field_, part, there in zip(survey.fields, unpack(survey, bytes.fromhex(case["bits"])), told, strict=True):
            assert listed(there["odds"]) == listed(description.odds_sentence(field_))
            assert (there["sent"] is None) == (part is None)
            if part is not None:
                assert listed(there["sent"]) == listed(description.describe(field_, part))


# verification


def test_claims_and_limits(node: Node) -> None:
    source = encode(simple()).hex()
    assert node.ask("verify", source=source, limit=1.0987) == pytest.approx(1.0986122886681098)
    assert code_of(node, "verify", source=source, limit=1.0986) == "above_limit"
    assert code_of(node, "verify", source=source, limit="much") == "above_limit"
    lying = encode(simple() | {"epsilon": "1.098612287"}).hex()
    assert code_of(node, "verify", source=lying, limit=None) == "above_claim"


# the network


@pytest.fixture
def link(server: Server) -> str:
    server.define(encode(worked_example()))
    return f"{server.origin}/s/exam"


def test_a_respondent_gets_a_receipt_for_exactly_what_was_sent(node: Node, server: Server, link: str) -> None:
    receipt = node.ask("respond", url=link, answers=SAID, name="one")
    sent = json.loads(server.bodies[0])
    assert set(sent) == {"survey", "id", "bits"}
    assert {key: receipt[key] for key in ("survey", "bits", "status", "repeated")} == {
        "survey": sent["survey"], "bits": sent["bits"], "status": "stored", "repeated": False
    }  # fmt: skip
    assert receipt["epsilon"] == pytest.approx(3.098612288669, abs=1e-15)
    assert not any("Cookie" in headers or "Referer" in headers for _, _, headers in server.requests)
    assert not any("candor-invitation" in {name.lower() for name in headers} for _, _, headers in server.requests)


def test_what_was_acknowledged_is_not_sent_again(node: Node, server: Server, link: str) -> None:
    first = node.ask("respond", url=link, answers=SAID, name="acknowledged")
    again = node.ask("respond", url=link, answers=SAID | {"cheated": False}, name="acknowledged")
    assert again == {**first, "bits": None, "status": "already_stored", "repeated": True}
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [400, 403, 409, 413, 429, 500, 503])
def test_a_server_that_always_fails_gets_the_same_bytes_every_time(
    node: Node, server: Server, link: str, status: int
) -> None:
    problem = json.dumps({"code": "some_code", "title": "No"}).encode()
    server.post = lambda body: (status, {}, problem)
    name = f"failing {status}"
    for _ in range(3):
        final = status < 500 and status != 429
        assert code_of(node, "respond", url=link, answers=SAID, name=name) == ("some_code" if final else "unreachable")
    assert len(server.bodies) == (3 if final else 9)
    assert len(set(server.bodies)) == 1
    server.post = lambda body: (201, {}, b'{"status":"stored"}')
    assert node.ask("respond", url=link, answers=SAID, name=name)["repeated"]
    assert len(set(server.bodies)) == 1


@pytest.mark.parametrize("reply", [b"", b"{}", b"[]", b"null", b"thanks", b'{"status":"maybe"}', b"\xff"])
def test_a_success_that_acknowledges_nothing_is_no_success(node: Node, server: Server, link: str, reply: bytes) -> None:
    server.post = lambda body: (200, {}, reply)
    assert code_of(node, "respond", url=link, answers=SAID, options={"attempts": 1}) == "unreachable"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(node: Node, server: Server, link: str, status: int) -> None:
    server.post = lambda body: (status, {"Location": "/elsewhere"}, b"")
    assert code_of(node, "respond", url=link, answers=SAID, options={"attempts": 1}) == "unreachable"
    server.get = lambda path: (status, {"Location": "/elsewhere"}, b"")
    assert code_of(node, "fetch", url=link) == "unreachable"
    assert "/elsewhere" not in {path for _, path, _ in server.requests}


def test_an_invitation_is_not_sent_to_a_survey_without_tickets(node: Node, server: Server, link: str) -> None:
    node.ask("respond", url=f"{link}#code=abc-DEF_123", answers=SAID)
    assert not any("abc-DEF" in f"{path}{headers}" for _, path, headers in server.requests)
    assert b"abc-DEF" not in server.bodies[0]


@pytest.mark.parametrize(
    ("began", "stored", "waits"),
    [(5.0, 5.25, 0.75), (5.0, 5.0, 1.0), (0.5, 1.5, 0.0), (2.0, 4.5, 0.5), (7.0, 9.75, 0.25)],
)
def test_a_report_leaves_at_a_whole_second_from_when_the_device_began_to_randomize(
    node: Node, link: str, began: float, stored: float, waits: float
) -> None:
    assert node.ask("seconds", url=link, answers=SAID, ticks=[began, stored]) == [waits]


def test_a_link_may_pin_its_definition(node: Node, server: Server, link: str) -> None:
    assert node.ask("fetch", url=f"{link}#sha256={WORKED_DIGEST}") == WORKED_DIGEST
    for unclear in ("sha256=", f"SHA256={WORKED_DIGEST}", WORKED_DIGEST, f"sha256%3D{WORKED_DIGEST}"):
        assert code_of(node, "fetch", url=f"{link}#{unclear}") == "bad_address"
    assert code_of(node, "fetch", url=f"{link}#sha256=abc") == "wrong_definition"
    server.define(encode(worked_example() | {"title": "Exam honesty!"}))
    assert code_of(node, "respond", url=f"{link}#sha256={WORKED_DIGEST}", answers=SAID) == "wrong_definition"
    server.define(encode(worked_example() | {"slug": "other"}))
    assert code_of(node, "fetch", url=link) == "wrong_definition"
    assert not server.bodies


def test_bad_input_sends_nothing(node: Node, server: Server, link: str) -> None:
    assert code_of(node, "respond", url=link, answers={}, name="x") == "bad_answer"
    assert code_of(node, "respond", url=link, answers=SAID, name="x", options={"limit": 3}) == "above_limit"
    server.define(encode(worked_example() | {"epsilon": 3}))
    assert code_of(node, "respond", url=link, answers=SAID, name="x") == "above_claim"
    server.define(b"<html>")
    assert code_of(node, "respond", url=link, answers=SAID, name="x") == "not_canonical"
    assert not server.bodies
    assert node.ask("entries", name="x") == {}


def test_a_suspicion_is_rounded_up_alike_in_both_languages(node: Node) -> None:
    """One rule: 28.0005% is 29 in 100. ε on a grid, and so near to where a whole number of cases is reached that it shows."""
    for suspicion in (100, 20, 2):
        losses = [place / 64 for place in range(16 * 64)]
        losses += [
            math.log((suspicion - 1) * cases / (100 - cases)) + near
            for cases in range(50, 100)
            for near in (0, -1e-9, 1e-9)
        ]
        found = node.ask("ofHundred", suspicion=suspicion, losses=losses)
        for loss, one in zip(losses, found, strict=True):
            assert (one["cases"], one["people"]) == description.posterior_in_hundred(suspicion, Decimal(loss)), (
                suspicion,
                loss,
            )
    assert node.ask("ofHundred", suspicion=20, losses=[2]) == [{"cases": 29, "people": 100}]
