"""The vectors, replayed by every client: Python, JavaScript in node, JavaScript in Chromium."""

import json
import secrets
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from candor_client import Survey, randomize, verify
from candor_client.errors import DefinitionError
from candor_client.report import to_base64url
from tests import make_vectors, random_definitions, reference
from tests.javascript import JavaScript
from tests.replay import OUTSIDE, REFUSED, REPORTS, check_refusals, check_replay, make_seeded_bytes


def test_the_files_are_what_the_reference_makes() -> None:
    made = make_vectors.make()
    assert {name: (make_vectors.FOLDER / name).read_text() for name in made} == made
    assert sum(len(vector["cases"]) for vector in REPORTS) >= 500


@pytest.mark.parametrize("vector", REPORTS, ids=lambda vector: vector["name"])
def test_python_replays(vector: dict[str, Any]) -> None:
    survey = Survey.from_json(vector["source"].encode())
    assert survey.digest == vector["digest"]
    assert verify(survey) == pytest.approx(Decimal(vector["epsilon"]), abs=Decimal("1e-20"))
    for case in vector["cases"]:
        draw = reference.ByteDraw(bytes.fromhex(case["tape"]))
        report = randomize(survey, case["answers"], random_bytes=draw.take)
        assert (report.bits.hex(), report.id.hex()) == (case["bits"], case["id"])
        assert draw.used == len(draw.source)


@pytest.mark.parametrize("vector", OUTSIDE, ids=lambda vector: vector["digest"][:8])
def test_python_agrees_with_an_implementation_that_shares_no_code_with_it(vector: dict[str, Any]) -> None:
    survey = Survey.from_json(vector["definition"].encode())
    assert survey.digest == vector["digest"]
    assert verify(survey) <= survey.epsilon
    for case in vector["cases"]:
        draw = reference.ByteDraw(make_seeded_bytes(case["seed"], case["bytes"]))
        report = randomize(survey, case["answers"], random_bytes=draw.take)
        assert (to_base64url(report.bits), to_base64url(report.id), draw.used) == (
            case["bits"],
            case["id"],
            case["bytes"],
        )


@pytest.mark.parametrize("vector", OUTSIDE, ids=lambda vector: vector["digest"][:8])
def test_the_reference_agrees_with_it_too(vector: dict[str, Any]) -> None:
    definition = json.loads(vector["definition"])
    for case in vector["cases"]:
        bits, identity, used = reference.report(
            definition, case["answers"], make_seeded_bytes(case["seed"], case["bytes"])
        )
        packed = to_base64url(reference.pack(bits))
        assert (packed, to_base64url(identity), used) == (case["bits"], case["id"], case["bytes"])


@pytest.mark.parametrize("vector", REFUSED, ids=lambda vector: vector["name"])
def test_python_refuses(vector: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as refusal:
        Survey.from_json(bytes.fromhex(vector["source"]))
    assert refusal.value.code == vector["code"]


@pytest.mark.parametrize("check", [check_replay, check_refusals])
def test_javascript_in_node(node: JavaScript, check: Any) -> None:
    check(node)


@pytest.mark.essential
@pytest.mark.parametrize("check", [check_replay, check_refusals])
def test_javascript_in_chromium(chromium: JavaScript, check: Any) -> None:
    check(chromium)


CASES = 400


def test_python_agrees_with_the_reference_on_anything() -> None:
    """On other definitions at every run; `tests.random_definitions.case(Random(seed))` repeats a failure."""
    for _ in range(CASES):
        seed = secrets.randbits(64)
        source, answers, tape, expected = random_definitions.case(Random(seed))  # noqa: S311
        draw = reference.ByteDraw(tape)
        report = randomize(Survey.from_json(source), answers, random_bytes=draw.take)
        assert (report.bits.hex(), report.id.hex(), draw.used) == expected, seed


def test_javascript_agrees_with_the_reference_on_anything(node: JavaScript) -> None:
    for _ in range(CASES):
        seed = secrets.randbits(64)
        source, answers, tape, (bits, identity, used) = random_definitions.case(Random(seed))  # noqa: S311
        made = node.ask("randomize", source=source.hex(), answers=answers, tape=tape[:used].hex())
        assert made == {"bits": bits, "id": identity, "used": used}, seed
