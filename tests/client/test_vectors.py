"""The vectors, replayed by every client: Python, JavaScript in node, JavaScript in Chromium."""

from decimal import Decimal
from typing import Any

import pytest

from client import Survey, randomize, verify
from client.errors import DefinitionError
from client.ledger import Book
from tests import make_vectors, reference
from tests.javascript import JavaScript
from tests.replay import KEYED, REFUSED, REPORTS, check_keyed, check_refusals, check_replay


def test_the_files_are_what_the_reference_makes() -> None:
    made = make_vectors.make()
    assert {path.name: path.read_text() for path in make_vectors.FOLDER.glob("*.json")} == made
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


@pytest.mark.parametrize("vector", REFUSED, ids=lambda vector: vector["name"])
def test_python_refuses(vector: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as refusal:
        Survey.from_json(bytes.fromhex(vector["source"]))
    assert refusal.value.code == vector["code"]


def test_python_keys_its_noise() -> None:
    for vector in KEYED:
        survey = Survey.from_json(vector["source"].encode())
        book = Book(bytes.fromhex(vector["key"]), {}, frozenset())
        assert book.asked(survey) == vector["asked"]
        report = book.answer(survey, vector["answers"], "", bytes).entries[survey.digest].report
        assert report.bits.hex() == vector["bits"]


@pytest.mark.parametrize("check", [check_replay, check_refusals, check_keyed])
def test_javascript_in_node(node: JavaScript, check: Any) -> None:
    check(node)


@pytest.mark.parametrize("check", [check_replay, check_refusals, check_keyed])
def test_javascript_in_chromium(chromium: JavaScript, check: Any) -> None:
    check(chromium)
