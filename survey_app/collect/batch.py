"""Many reports at once, from the owner of a survey: one JSON object a line."""

import json
import re
from typing import Any

from client.canonical import NAME
from client.definition import LARGEST_REPORT
from survey_app.collect.intake import Decoder
from survey_app.problems import Problem
from survey_app.store import Outcome, Store, Submission, Unavailable, opened_version

BATCHES = re.compile(rf"/api/surveys/{NAME.pattern}/reports/batch")
LARGEST_BATCH = 32_000_000
FLUSHED = 8192  # lines that share a transaction
LISTED_LINES = 100


def read_batch(store: Store, slug: str, body: bytes) -> dict[str, Any]:
    """Store an NDJSON batch, some thousand lines at a time; how many became what, and which were rejected."""
    published = opened_version(store, slug)
    if published is None:
        raise Problem("not_found", "There is no such survey.")
    if published.invited:
        raise Problem("forbidden", "A survey by invitation takes no batches.")
    result: dict[str, Any] = {"stored": 0, "already_stored": 0, "rejected": {}, "rejected_lines": []}

    def reject(code: str, line: int) -> None:
        result["rejected"][code] = result["rejected"].get(code, 0) + 1
        if len(result["rejected_lines"]) < LISTED_LINES:
            result["rejected_lines"].append(line)

    decoder = Decoder(published.survey, published.key)
    waiting: list[tuple[int, Submission]] = []

    def flush() -> None:
        outcomes = store.write(lambda: [submission for _, submission in waiting])
        for (line, _), outcome in zip(waiting, outcomes, strict=True):
            if outcome in (Outcome.STORED, Outcome.ALREADY_STORED):
                result[outcome] += 1
            else:
                reject(outcome, line)
        waiting.clear()

    try:
        for line, text in enumerate(body.split(b"\n"), 1):
            if text.strip():
                try:
                    if len(text) > LARGEST_REPORT:
                        raise Problem("too_large")
                    waiting.append((line, decoder.decode(text)))
                except Problem as problem:
                    reject(problem.code, line)
            if len(waiting) >= FLUSHED:
                flush()
        if waiting:
            flush()
    except Unavailable:
        raise Problem("unavailable", f"Stopped after: {json.dumps(result)}") from None
    return result
