"""The vectors, and how a client that speaks JavaScript replays them."""

import json
from typing import Any

import pytest

from tests import make_vectors
from tests.javascript import JavaScript, Refusal

VECTORS: dict[str, Any] = {
    path.name: json.loads(path.read_text()) for path in sorted(make_vectors.FOLDER.glob("*.json"))
}

REPORTS, KEYED, REFUSED = (VECTORS[name] for name in ("reports.json", "keyed.json", "refused.json"))


def check_replay(javascript: JavaScript) -> None:
    for vector in REPORTS:
        source = vector["source"].encode().hex()
        parsed = javascript.ask("parse", source=source)
        assert parsed["digest"] == vector["digest"]
        assert parsed["epsilon"] == pytest.approx(float(vector["epsilon"]), abs=1e-12, rel=1e-12)
        for case in vector["cases"]:
            made = javascript.ask("randomize", source=source, answers=case["answers"], tape=case["tape"])
            assert made == {"bits": case["bits"], "id": case["id"], "used": len(case["tape"]) // 2}, vector["name"]


def check_refusals(javascript: JavaScript) -> None:
    for vector in REFUSED:
        with pytest.raises(Refusal) as refusal:
            javascript.ask("parse", source=vector["source"])
        assert refusal.value.code == vector["code"], vector["name"]


def check_keyed(javascript: JavaScript) -> None:
    from client.report import to_text

    for vector in KEYED:
        source = vector["source"].encode().hex()
        wave = {"source": source, "answers": vector["answers"], "limit": None}
        (made,) = javascript.ask("keyed", key=to_text(bytes.fromhex(vector["key"])), waves=[wave])
        assert (made["bits"], made["asked"]) == (vector["bits"], vector["asked"])
