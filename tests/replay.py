"""The test vectors, and how a client in JavaScript replays them."""

import hashlib
import json
from typing import Any

import pytest

from tests import make_vectors
from tests.javascript import JavaScript, Refusal

VECTORS: dict[str, Any] = {
    path.name: json.loads(path.read_text()) for path in sorted(make_vectors.FOLDER.glob("*.json"))
}

REPORTS, TICKETS, REFUSED = (VECTORS[name] for name in ("reports.json", "tickets.json", "refused.json"))
RFC9474 = VECTORS["rfc9474.json"]  # appendix A of the RFC
OUTSIDE = VECTORS["candor2.json"]["surveys"]  # made elsewhere, from the description of the wire alone


def make_seeded_bytes(seed: str, count: int) -> bytes:
    """Return the byte string of an external case: SHA-256 of the seed and a counter, block after block."""
    blocks = (hashlib.sha256(seed.encode() + i.to_bytes(8, "big")).digest() for i in range(count // 32 + 1))
    return b"".join(blocks)[:count]


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
