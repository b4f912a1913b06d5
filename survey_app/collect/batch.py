"""Batches of reports from the owner of a survey: one JSON object per line."""

import json
import re
from collections.abc import Sequence
from typing import Any

from candor_client.canonical import NAME
from candor_client.definition import LARGEST_REPORT
from survey_app.collect.intake import Decoder
from survey_app.problems import Problem
from survey_app.store import Outcome, Store, Submission, Unavailable, opened_version

BATCHES = re.compile(rf"/api/surveys/{NAME.pattern}/reports/batch")
LARGEST_BATCH = 32_000_000
LINES_PER_TRANSACTION = 32_768  # lines per transaction, which blocks other writers for a tenth of a second
LISTED_LINES = 100


def read_batch(store: Store, slug: str, body: bytes) -> dict[str, Any]:
    """Store an NDJSON batch, LINES_PER_TRANSACTION lines at a time; return counts by outcome and the rejected lines.

    Raise Problem if the survey is unknown or accepts no batches, or if the store is unavailable.
    """
    published = opened_version(store, slug)
    if published is None:
        raise Problem("not_found", "There is no such survey.")
    if published.is_by_invitation:
        raise Problem("forbidden", "A survey by invitation accepts no batches.")
    if published.survey.study:
        raise Problem("forbidden", "A group of a study accepts no batches, only single reports from its own link.")
    result: dict[str, Any] = {"stored": 0, "already_stored": 0, "rejected": {}, "rejected_lines": []}

    def reject(code: str, line: int) -> None:
        result["rejected"][code] = result["rejected"].get(code, 0) + 1
        if len(result["rejected_lines"]) < LISTED_LINES:
            result["rejected_lines"].append(line)

    decoder = Decoder(published.survey, published.key)

    def decode(first: int, lines: Sequence[bytes]) -> tuple[Sequence[int], list[Submission]]:
        plain = decoder.decode_plain(lines)
        if plain is not None:
            return range(first, first + len(lines)), plain
        numbered: list[tuple[int, Submission]] = []
        for line, text in enumerate(lines, first):
            try:
                if len(text) > LARGEST_REPORT:
                    raise Problem("too_large")
                if text.strip():
                    numbered.append((line, decoder.decode(text)))
            except Problem as problem:
                reject(problem.code, line)
        return [line for line, _ in numbered], [submission for _, submission in numbered]

    try:
        lines = body.rstrip(b"\n").split(b"\n")
        for begin in range(0, len(lines), LINES_PER_TRANSACTION):
            numbers, submissions = decode(begin + 1, lines[begin : begin + LINES_PER_TRANSACTION])
            outcomes = store.write(lambda submissions=submissions: submissions, batch=True) if submissions else []  # type: ignore[misc]
            stored = outcomes.count(Outcome.STORED)
            result["stored"] += stored
            if stored == len(outcomes):
                continue
            for line, outcome in zip(numbers, outcomes, strict=True):
                if outcome is Outcome.ALREADY_STORED:
                    result["already_stored"] += 1
                elif outcome is not Outcome.STORED:
                    reject(outcome, line)
    except Unavailable:
        raise Problem("unavailable", f"The batch was stopped. Result until then: {json.dumps(result)}") from None
    return result
