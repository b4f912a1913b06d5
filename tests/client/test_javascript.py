"""The browser's client: the same coins, byte for byte, and the same refusals, ledger and manners."""

import hashlib
import hmac
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from client import Survey, randomize, verify, words
from client.errors import AnswerError, ReportError
from client.ledger import Book
from client.report import to_text, unpack
from tests import make_vectors, reference
from tests.answers import EVERYTHING, GOOD
from tests.definitions import (
    WORKED_DIGEST,
    define,
    encode,
    field,
    multiple,
    number,
    simple,
    subset,
    worked,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.impostor import Server
from tests.javascript import JavaScript, Node, Refusal

REPORTS: list[dict[str, Any]] = json.loads((make_vectors.FOLDER / "reports.json").read_text())
SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}


def code_of(javascript: JavaScript, verb: str, **request: Any) -> str | None:
    with pytest.raises(Refusal) as refusal:
        javascript.ask(verb, **request)
    return refusal.value.code


# its own arithmetic


@pytest.mark.parametrize("length", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_sha256_and_hmac(node: Node, length: int) -> None:
    text = "candor " * 200
    text = text[:length]
    assert node.ask("digest", text=text) == hashlib.sha256(text.encode()).hexdigest()
    key = bytes(range(32))
    assert node.ask("hmac", key=key.hex(), text=text) == hmac.digest(key, text.encode(), "sha256").hex()


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


# made by Hypothesis


@st.composite
def thresholds(draw: st.DrawFn) -> dict[str, str]:
    zero = draw(st.integers(1, 2**64 - 2))
    return {"one": str(draw(st.integers(zero + 1, 2**64 - 1))), "zero": str(zero)}


@st.composite
def questions(draw: st.DrawFn, name: str) -> tuple[dict[str, Any], Any]:
    """A question and an answer to it."""
    optional: dict[str, Any] = {"optional": True} if draw(st.booleans()) else {}
    kind = draw(st.sampled_from(["yes_no", "choice", "multiple", "levels", "bins"]))
    answer: Any
    if kind == "yes_no":
        question = yes_no(name, **optional)
        answer = draw(st.booleans())
    elif kind == "choice":
        count = draw(st.integers(2, 9))
        question = choice_question(name, options=count, **optional)
        answer = f"option {draw(st.integers(0, count - 1))}"
    elif kind == "multiple":
        count = draw(st.integers(2, 4))
        question = multiple(name, options=count, **optional)
        answer = draw(st.lists(st.sampled_from(question["options"]), unique=True))
    else:
        low, steps = draw(st.integers(-50, 50)), draw(st.integers(1, 10**6))
        grain = {kind: draw(st.integers(2, min(6, steps + 1)))}
        question = number(name, min=low, max=low + steps, **optional, **grain)
        question = {key: value for key, value in question.items() if key != "levels" or kind == "levels"}
        answer = low + draw(st.integers(0, steps))
    skipped = draw(st.booleans())
    if optional and skipped:
        answer = None
    return question, answer


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """A definition, answers and a byte string long enough."""
    made = [draw(questions(f"q{i}")) for i in range(draw(st.integers(1, 4)))]
    left = [question for question, _ in made]
    fields = []
    while left:
        members = [left.pop(0) for _ in range(min(len(left), draw(st.sampled_from([1, 1, 1, 2]))))]
        size = 1
        for member in members:
            size *= reference.number_of_symbols(member)
        kind = draw(st.sampled_from(["subset", "unary"]))
        if len(members) == 1 and members[0]["type"] == "multiple" and draw(st.booleans()):
            options = len(members[0]["options"]) + bool(members[0].get("optional"))
            mechanism = {
                "kind": "sampled",
                "size": options,
                "draw": draw(st.integers(1, options)),
                **draw(thresholds()),
            }
        elif size == 2 and draw(st.booleans()):
            mechanism = {"kind": "flip", **draw(thresholds())}
        elif kind == "subset":
            weight = draw(st.integers(1, size - 1))
            keep = draw(st.integers(weight * 2**64 // size + 1, 2**64 - 1))
            mechanism = {"kind": "subset", "size": size, "weight": weight, "keep": str(keep)}
        else:
            mechanism = {"kind": "unary", "size": size, **draw(thresholds())}
        fields.append({"mechanism": mechanism, "questions": [member["id"] for member in members]})
    more = {"ask": draw(st.integers(1, len(fields)))} if draw(st.booleans()) else {}
    definition = define([question for question, _ in made], fields, epsilon=10**6, **more)
    answers = {question["id"]: answer for question, answer in made}
    return definition, answers, draw(st.binary(min_size=64, max_size=64)) * 400


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(cases(), min_size=1, max_size=6))
def test_made_up_definitions_and_answers_agree(
    node: Node, batch: list[tuple[dict[str, Any], dict[str, Any], bytes]]
) -> None:
    for definition, answers, source in batch:
        bits, identity, used = reference.report(definition, answers, source)
        draw = reference.ByteDraw(source)
        parsed = Survey.from_json(encode(definition))
        report = randomize(parsed, answers, random_bytes=draw.take)
        assert (report.bits, report.id, draw.used) == (reference.pack(bits), identity, used)
        there = node.ask("randomize", source=encode(definition).hex(), answers=answers, tape=source.hex())
        assert there == {"bits": report.bits.hex(), "id": identity.hex(), "used": used}
        loss = float(verify(parsed))
        assert node.ask("verify", source=encode(definition).hex(), limit=None) == pytest.approx(loss, rel=1e-12)


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
    expected = reference.report(worked(), SAID | {"hours": 12}, bytes.fromhex(tape))
    made = node.ask("randomize", source=encode(worked()).hex(), answers=SAID | {"hours": hours}, tape=tape)
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
    "no_answer": words.NO_ANSWER,
    "none": "none of them",
    "more": "{count} more",
    "range": "{low} to {high}",
    "odds_flip": "of {people} people with {yes}, about {p} devices send {yes}; of {people} with {no}, about {q} do",
    "odds_named": "of {people} people who gave an answer, about {p} devices name it; of {people} who gave another, about {q} do",
    "odds_sampled": "reports on {draw} of {size} options, drawn at random; of {people} people who chose such an option, "
    "about {p} devices say so; of {people} who did not, about {q} do",
    "odds_noise": "random noise is added; about every second device sends a number at least {away} off",
    "odds_little": "random noise is added, but on more than half of all devices it leaves the number as it is",
}  # fmt: skip


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
            assert listed(there["odds"]) == listed(words.odds_sentence(field_))
            assert (there["sent"] is None) == (part is None)
            if part is not None:
                assert listed(there["sent"]) == listed(words.describe(field_, part))


# verification and ledger


def test_claims_and_limits(node: Node) -> None:
    source = encode(simple()).hex()
    assert node.ask("verify", source=source, limit=1.0987) == pytest.approx(1.0986122886681098)
    assert code_of(node, "verify", source=source, limit=1.0986) == "above_limit"
    assert code_of(node, "verify", source=source, limit="much") == "above_limit"
    lying = encode(simple() | {"epsilon": "1.098612287"}).hex()
    assert code_of(node, "verify", source=lying, limit=None) == "above_claim"


def wave(
    title: str, answers: dict[str, Any], definition: dict[str, Any] | None = None, limit: Any = 10
) -> dict[str, Any]:
    return {"source": encode((definition or worked()) | {"title": title}).hex(), "answers": answers, "limit": limit}


def test_both_ledgers_charge_the_same_for_the_same_waves(node: Node) -> None:
    key = bytes(range(7, 39))
    says = [SAID, SAID, SAID | {"cheated": False}, SAID, SAID | {"hours": 13}, SAID | {"help": "notes"}]
    there = node.ask(
        "keyed", key=to_text(key), waves=[wave(f"Wave {i}", said, limit=None) for i, said in enumerate(says)]
    )
    book = Book(key, {}, frozenset())
    for i, (said, made) in enumerate(zip(says, there, strict=True)):
        survey = Survey.from_json(encode(worked() | {"title": f"Wave {i}"}))
        book = book.answer(survey, said, "", bytes)
        entry = book.entries[survey.digest]
        assert entry.report.bits.hex() == made["bits"]
        assert float(entry.epsilon) == pytest.approx(made["epsilon"], abs=1e-11)


def test_one_report_a_definition(node: Node) -> None:
    first, again = node.ask(
        "keyed", key=to_text(bytes(32)), waves=[wave("A", SAID), wave("A", SAID | {"cheated": False})]
    )
    assert (first["made"], again["made"]) == (True, False)
    assert first["bits"] == again["bits"]


def test_rewording_again_and_again_ends_at_the_limit(node: Node) -> None:
    waves = [
        wave("A", {"cheated": True}, define([yes_no() | {"text": f"Did you ({i})?"}], simple()["fields"]), limit=5)
        for i in range(6)
    ]
    assert len(node.ask("keyed", key=to_text(bytes(32)), waves=waves[:4])) == 4
    assert code_of(node, "keyed", key=to_text(bytes(32)), waves=waves) == "above_limit"


def test_a_field_joined_with_a_changing_question_cannot_average_the_noise_away(node: Node) -> None:
    joint = define(
        [yes_no(), number("today", max=1000)], [field(subset(4, 1, 8768971294881393556), "cheated", "today")]
    )
    waves = [wave(f"Wave {i}", {"cheated": True, "today": i}, joint, limit=5) for i in range(6)]
    assert len(node.ask("keyed", key=to_text(bytes(32)), waves=waves[:5])) == 5
    assert code_of(node, "keyed", key=to_text(bytes(32)), waves=waves) == "above_limit"


def test_a_damaged_ledger_is_reported_and_left_alone(node: Node, server: Server) -> None:
    server.define(encode(worked()))
    for damaged in ("", "{}", "null", '{"book":{},"sha256":"00"}'):
        node.ask("storage", name="damaged", content={"candor-ledger/1": damaged})
        assert code_of(node, "respond", url=f"{server.origin}/s/exam", answers=SAID, name="damaged") == "ledger_corrupt"
        assert node.ask("stored", name="damaged") == damaged
    assert not server.bodies
    node.ask("forget", name="damaged")
    assert node.ask("stored", name="damaged") is None


def test_without_storage_it_says_so(node: Node) -> None:
    assert node.ask("storage", name="none", content=None) is False
    assert node.ask("storage", name="some", content={}) is True


def test_the_browser_keeps_its_ledger_in_local_storage(chromium: JavaScript) -> None:
    from tests.javascript import Chromium

    assert isinstance(chromium, Chromium)
    assert chromium.ask("storage", name="page") is True
    assert chromium.ask("spent", name="page") == 0
    stored = chromium.ask("stored", name="page")
    assert set(json.loads(stored)["book"]) == {"key", "reports", "drawn"}
    chromium.ask("forget", name="page")


# the network


@pytest.fixture
def link(server: Server) -> str:
    server.define(encode(worked()))
    return f"{server.origin}/s/exam"


def test_a_respondent_gets_a_receipt_for_exactly_what_was_sent(node: Node, server: Server, link: str) -> None:
    receipt = node.ask("respond", url=link, answers=SAID, name="one")
    assert json.loads(server.bodies[0]) == {key: receipt[key] for key in ("survey", "id", "bits")}
    assert (receipt["status"], receipt["repeated"]) == ("stored", False)
    assert receipt["epsilon"] == pytest.approx(3.0986122886681098)
    again = node.ask("respond", url=link, answers=SAID | {"cheated": False}, name="one")
    assert again["repeated"]
    assert server.bodies[0] == server.bodies[1]
    assert not any("Cookie" in headers or "Referer" in headers for _, _, headers in server.requests)
    assert not any("candor-invitation" in {name.lower() for name in headers} for _, _, headers in server.requests)


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


def test_a_link_may_pin_its_definition(node: Node, server: Server, link: str) -> None:
    assert node.ask("fetch", url=f"{link}#sha256={WORKED_DIGEST}") == WORKED_DIGEST
    for unclear in ("sha256=", f"SHA256={WORKED_DIGEST}", WORKED_DIGEST, f"sha256%3D{WORKED_DIGEST}"):
        assert code_of(node, "fetch", url=f"{link}#{unclear}") == "bad_address"
    assert code_of(node, "fetch", url=f"{link}#sha256=abc") == "wrong_definition"
    server.define(encode(worked() | {"title": "Exam honesty!"}))
    assert code_of(node, "respond", url=f"{link}#sha256={WORKED_DIGEST}", answers=SAID) == "wrong_definition"
    server.define(encode(worked() | {"slug": "other"}))
    assert code_of(node, "fetch", url=link) == "wrong_definition"
    assert not server.bodies


def test_an_invitation_travels_in_a_header_only(node: Node, server: Server, link: str) -> None:
    node.ask("respond", url=f"{link}#code=abc-DEF_123", answers=SAID)
    node.ask("respond", url=link, answers=SAID, options={"invitation": "other"})
    posts = [headers for method, _, headers in server.requests if method == "POST"]
    codes = [{name.lower(): value for name, value in headers.items()}["candor-invitation"] for headers in posts]
    assert codes == ["abc-DEF_123", "other"]
    assert not any("abc-DEF" in path for _, path, _ in server.requests)


def test_bad_input_sends_nothing(node: Node, server: Server, link: str) -> None:
    assert code_of(node, "respond", url=link, answers={}, name="x") == "bad_answer"
    assert code_of(node, "respond", url=link, answers=SAID, name="x", options={"limit": 3}) == "above_limit"
    server.define(encode(worked() | {"epsilon": 3}))
    assert code_of(node, "respond", url=link, answers=SAID, name="x") == "above_claim"
    server.define(b"<html>")
    assert code_of(node, "respond", url=link, answers=SAID, name="x") == "not_canonical"
    assert not server.bodies
    assert node.ask("spent", name="x") == 0
