"""docs/protocol.md is complete: a client written from it alone agrees with every vector, and with the server.

Each number, spelling and key of the page is also spoiled once; where nothing noticed, the page could say anything.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterator, MutableMapping
from decimal import Decimal
from typing import Any

import pytest

from candor_client import Survey, definition, spending
from candor_client.errors import DefinitionError
from survey_app.invitations import issuing
from tests import independent
from tests.definitions import (
    COIN,
    define,
    drawn,
    encode,
    field,
    geometric,
    multiple,
    number,
    scale,
    simple,
    subset,
    worked_example,
    yes_no,
)  # fmt: skip
from tests.fixtures import Installation, check_refused, check_stored
from tests.independent import PAGE, DefinitionRefusal, digest_of, spell, ticket
from tests.independent.definition import modulus, read_definition
from tests.independent.mechanism import cells_of, epsilon, loss, tails
from tests.independent.report import below, bits_of, report
from tests.module_graph import ROOT, imports
from tests.replay import OUTSIDE, REFUSED, REPORTS, RFC9474, TICKETS, make_seeded_bytes


def tape(data: bytes) -> Callable[[int], bytes]:
    """Bytes one after the other; all of them, for `draw(0)` after the last."""
    left = bytearray(data)

    def draw(count: int) -> bytes:
        assert count <= len(left), "more bytes are taken than there are"
        taken = bytes(left[:count])
        del left[:count]
        return taken if count else bytes(left)

    return draw


def is_read(source: bytes) -> bool:
    try:
        read_definition(source)
    except DefinitionRefusal:
        return False
    return True


def sorted_out() -> Iterator[bool]:
    """Whether the client from the page takes what is to be taken, and refuses what is to be refused."""
    yield from (is_read(vector["source"].encode()) for vector in (*REPORTS, *TICKETS))
    yield from (is_read(encode(taken)) for taken, _ in BORDERS.values())
    yield is_read(encode(RARE))
    yield from (not is_read(bytes.fromhex(vector["source"])) for vector in REFUSED)
    yield from (not is_read(encode(refused)) for _, refused in BORDERS.values())


def replayed() -> Iterator[bool]:
    """Whether it makes of answers and random bytes what is to be made of them, vector by vector."""
    for vector in REPORTS:
        made = read_definition(vector["source"].encode())
        yield abs(epsilon(made) - Decimal(vector["epsilon"])) < Decimal("1e-25")
        for case in vector["cases"]:
            draw = tape(bytes.fromhex(case["tape"]))
            bits, identity = bits_of(made, case["answers"], draw), draw(independent.NUMBERS["bytes of an id"])
            yield (bits.hex(), identity.hex(), draw(0)) == (case["bits"], case["id"], b"")
    for vector in OUTSIDE:
        made = read_definition(vector["definition"].encode())
        for case in vector["cases"]:
            draw = tape(make_seeded_bytes(case["seed"], case["bytes"]))
            bits, identity = bits_of(made, case["answers"], draw), draw(independent.NUMBERS["bytes of an id"])
            yield (spell(bits), spell(identity), draw(0)) == (case["bits"], case["id"], b"")
    for vector in TICKETS:
        yield taken(vector)
    for vector in RFC9474:
        n, message, salt = int(vector["n"], 16), bytes.fromhex(vector["input_msg"]), bytes.fromhex(vector["salt"])
        r = pow(int(vector["inv"], 16), -1, n)
        signed = ticket.unblind_signature(n, message, salt, r, bytes.fromhex(vector["blind_sig"]))
        blinded = ticket.blind_message(n, message, salt, r)
        yield (blinded.hex(), signed.hex()) == (vector["blinded_msg"], vector["sig"])


def taken(vector: dict[str, Any]) -> bool:
    source, n, draw = vector["source"].encode(), int(vector["n"], 16), tape(bytes.fromhex(vector["tape"]))
    prefix, salt, r = ticket.draw_blinding(n, draw)
    message = prefix + bytes.fromhex(digest_of(source))
    signature = ticket.unblind_signature(n, message, salt, r, bytes.fromhex(vector["blind_signature"]))
    sent = vector["report"]
    bits = bits_of(read_definition(source), sent["answers"], tape(bytes.fromhex(sent["tape"])))
    made = (ticket.blind_message(n, message, salt, r), signature, ticket.ticket_id(prefix), bits)
    return [one.hex() for one in made] == [vector["z"], vector["signature"], vector["id"], sent["bits"]]


def test_the_client_from_the_page_imports_nothing_of_ours() -> None:
    found = {name for file in (ROOT / "tests" / "independent").glob("*.py") for name in imports(file)}
    assert {name.partition(".")[0] for name in found} & {"candor_client", "survey_app", "tests"} == {"tests"}
    assert all(name.startswith("tests.independent") for name in found if name.startswith("tests"))


def test_it_agrees_with_every_vector() -> None:
    assert all(sorted_out()) and all(replayed())
    assert all(digest_of(one["source"].encode()) == one["digest"] for one in (*REPORTS, *TICKETS))


def padded(length: int) -> dict[str, Any]:
    return simple() | {"description": "x" * (length - len(encode(simple() | {"description": ""})))}


def binned(bins: int) -> dict[str, Any]:
    return define([number(max=bins, bins=bins)], [field(subset(bins, 1), "hours")])


def pair(first: int, second: int) -> dict[str, Any]:
    asked = [number("a", max=first, bins=first), number("b", max=second, bins=second)]
    return define(asked, [field(subset(first * second, 1), "a", "b")])


def worked_through(bins: int) -> dict[str, Any]:
    """Fifteen sets of 2^16, and so many bins."""
    sets = [multiple(f"m{i}", options=16) for i in range(15)]
    asked = [*sets, number(max=bins, bins=bins)]
    return define(asked, [*(field(drawn(16, 16), one["id"]) for one in sets), field(subset(bins, 1), "hours")])


def of_chances(first: int) -> dict[str, Any]:
    return define([yes_no("a"), yes_no("b")], [field(COIN, "a", chance=first), field(COIN, "b")], ask=1)


def of_levels(levels: int) -> dict[str, Any]:
    return define([number(max=levels, levels=levels)], [field(geometric(levels, 15 * 2**60), "hours")])


def of_options(count: int) -> dict[str, Any]:
    return define([multiple() | {"options": [f"{i:x}" for i in range(count)]}], [field(drawn(count, 1), "used")])


BORDERS: dict[str, tuple[dict[str, Any], ...]] = {  # the largest that is taken, and the least that is not
    "bytes of a definition": (padded(256_000), padded(256_001)),
    "bytes of the bits of a report": (binned(376_000), binned(376_001)),
    "options or points of a question": (of_options(1024), of_options(1025)),
    "steps of a number, N": tuple(
        define([number(max=most)], [field(subset(2, 1), "hours")]) for most in (2**31 - 1, 2**31)
    ),
    "sum of the chances": (of_chances(999_999), of_chances(1_000_000)),
    "cells of a joint field": (pair(256, 256), pair(2, 32_769)),
    "work of all fields": (worked_through(65_536), worked_through(65_537)),
    "options drawn": tuple(define([multiple(options=17)], [field(drawn(17, draw), "used")]) for draw in (16, 17)),
    "levels of geometric noise": (of_levels(64), of_levels(65)),
    "places of ε": tuple(simple() | {"epsilon": said} for said in ("1.123456789012", "1.1234567890123")),
}
RARE = define(  # keys that no vector has
    [yes_no(optional=True), scale(scores=[-1, 0, "1.5"], show_if={"question": "cheated", "is": ["no"]})],
    [field(subset(3, 1), "cheated"), field(subset(4, 1), "fair")],
)
OF_A_PERSON = {  # these are not of a definition, or, the fields, more than fit into one
    "fields": definition.MOST_FIELDS,
    "bytes of a report": definition.LARGEST_REPORT,
    "bytes of a request for a ticket": issuing.LARGEST_REQUEST,
    "ε for one survey": spending.SURVEY_LIMIT,
    "ε for one server": spending.SERVER_LIMIT,
}
OF_VECTORS = {"bytes of an id", "bits of a modulus", "public exponent", "bytes of a prefix", "bytes of a salt"}


@pytest.mark.parametrize("name", BORDERS)
def test_a_number_of_the_page_is_where_our_client_draws_the_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, refused = map(encode, BORDERS[name])
    Survey.from_json(taken)
    with pytest.raises(DefinitionError):
        Survey.from_json(refused)
    assert is_read(taken) and not is_read(refused)
    value = independent.NUMBERS[name]
    monkeypatch.setitem(independent.NUMBERS, name, value - 1)
    assert not is_read(taken), "the page could say less"
    monkeypatch.setitem(independent.NUMBERS, name, value + 2)  # 65,537 is a prime: so many cells has no field
    assert is_read(refused), "the page could say more"


@pytest.mark.parametrize("name", sorted(OF_VECTORS))
def test_the_other_numbers_are_those_of_the_vectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert independent.NUMBERS.keys() == BORDERS.keys() | OF_A_PERSON.keys() | OF_VECTORS
    assert {name: independent.NUMBERS[name] for name in OF_A_PERSON} == OF_A_PERSON
    monkeypatch.setitem(independent.NUMBERS, name, independent.NUMBERS[name] + 1)
    with pytest.raises((AssertionError, DefinitionRefusal)):
        assert all(taken(vector) for vector in TICKETS) and is_read(TICKETS[0]["source"].encode())


def spoilt() -> Iterator[tuple[str, MutableMapping[str, Any], str, Any]]:
    """Every spelling and key of the page, changed."""
    for name in independent.SPELLINGS:
        searched = name in ("forbidden", "invisible")  # and must not be there
        yield f"{name}: anything", independent.SPELLINGS, name, "(?!)" if searched else "(?s:.*)"
        yield f"{name}: nothing", independent.SPELLINGS, name, "." if searched else "(?!)"
    for name, (must, may) in independent.KEYS.items():
        for key in (*must, *may):
            without = ([one for one in must if one != key], [one for one in may if one != key])
            yield f"{name} without {key}", independent.KEYS, name, without


@pytest.mark.slow
def test_no_spelling_and_no_key_on_the_page_could_be_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    unnoticed = []
    for what, table, name, value in spoilt():
        with monkeypatch.context() as spoiling:
            spoiling.setitem(table, name, value)
            try:
                unnoticed += [what] * all(sorted_out())
            except (KeyError, ValueError):  # what it needs and does not find, or cannot read
                continue
    assert not unnoticed


def fenced(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)\n```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_report_of_the_page_is_made_of_its_bytes() -> None:
    source, sent = (one.encode() for one in fenced("json"))
    line = re.search(r"^    ((?:[0-9a-f]{8,} ?){7})$", PAGE, re.MULTILINE)
    answers = re.search(r"`(\{\"cheated\".*?\})`", PAGE)
    assert line and answers
    pieces = [bytes.fromhex(one) for one in line[1].split()]
    assert report(source, json.loads(answers[1]), tape(b"".join(pieces))) == sent
    assert f"digest `{digest_of(source)}`" in PAGE
    assert (
        f"ε = {str(epsilon(read_definition(source)))[:14]}…" in PAGE
        and read_definition(source)["epsilon"] == "3.098612288669"
    )
    rows = re.findall(r"^\| ([0-9a-f]{8,}) \| (.*?) \| *(\d*) *\|$", PAGE, re.MULTILINE)
    assert [one for one, _, _ in rows] == [piece.hex() for piece in pieces[:-1]]
    byte = "".join(bits for _, _, bits in rows) + "0"
    assert json.loads(sent)["bits"] == spell(bytes([int(byte, 2)])) and f"the byte {int(byte, 2):x}" in PAGE
    for piece, told, _ in rows:
        for bound, drawn_number in re.findall(r"below\((\d+)\) = (\d+)", told):
            assert below(int(bound), tape(bytes.fromhex(piece))) == int(drawn_number)


def test_the_other_samples_of_the_page_are_computed() -> None:
    first, second = tails({"size": 3, "ratio": str(2**63)})
    assert f"G_1 = {first}" in PAGE and f"G_2 = {second}" in PAGE
    assert loss({"kind": "geometric", "size": 3, "ratio": str(2**63)}) > 0
    assert f"For a prefix of 32 zeros the id is `{spell(ticket.ticket_id(bytes(32)))}`" in PAGE
    why = {
        "id": "why",
        "type": "choice",
        "options": ["time", "fear"],
        "show_if": {"question": "cheated", "is": ["yes"]},
    }
    said = {0: "no", 1: "yes"}, {0: "time", 1: "fear", 2: "no answer"}
    cells = cells_of([{"id": "cheated", "type": "yes_no"}, why])
    shown = [f"    {place}  {said[0][a]}, {said[1][b]}\n" for place, (a, b) in enumerate(cells)]
    assert "".join(shown) in PAGE


def test_the_server_takes_what_it_sends(installation: Installation) -> None:
    installation.publish(worked_example())
    source = installation.client.get("/api/surveys/exam").data
    sent = report(source, {"cheated": False, "help": None, "hours": 60}, secrets.token_bytes)
    check_stored(installation.post(sent))
    check_stored(installation.post(sent), again=True)
    other = sent.replace(digest_of(source).encode(), b"0" * 64)
    check_refused(installation.post(other), "wrong_survey")


def test_the_server_gives_it_a_ticket_and_takes_the_report(installation: Installation) -> None:
    installation.invite("a-code-of-somebody")
    source = installation.client.get("/api/surveys/exam").data
    n = modulus(read_definition(source)["tickets"])
    prefix, salt, r = ticket.draw_blinding(n, secrets.token_bytes)
    message = prefix + bytes.fromhex(digest_of(source))
    wanted = json.dumps(
        {"survey": digest_of(source), "blinded": spell(ticket.blind_message(n, message, salt, r))}
    ).encode()
    check_refused(installation.take("another", wanted), "not_invited")
    reply = json.loads(installation.take("a-code-of-somebody", wanted).data)
    signature = ticket.unblind_signature(n, message, salt, r, independent.unspell(reply["signature"]))
    sent = report(source, {"cheated": True}, secrets.token_bytes, (prefix, signature))
    check_stored(installation.post(sent))
    check_refused(installation.post(sent[:-10] + b"AAAAAAAA" + sent[-2:]), "malformed_report")
    check_stored(installation.post(sent), again=True)
