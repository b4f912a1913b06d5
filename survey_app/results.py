"""Results as the API gives them, read from the snapshot of the tally: until estimates are computed, raw counts."""

from typing import Any

from client.definition import Field
from client.mechanism import Geometric
from client.words import symbol_label
from survey_app.store import Counts, Published, Tally


def results(published: Published, tally: Tally) -> dict[str, Any]:
    """The document of GET /api/surveys/<slug>/results."""
    survey = published.survey
    found: dict[str, Any] = {"survey": survey.digest, "reports": tally.reports, "questions": [], "joint": []}
    at = 0
    for field in survey.fields:
        asked = tally.reports
        if survey.ask is not None:
            asked = int(tally.counts[at])
            at += 1
        counts = tally.counts[at : at + field.mechanism.width]
        at += field.mechanism.width
        entry = _entry(field, counts, asked)
        if len(field.questions) > 1:
            found["joint"].append({"questions": [question.id for question in field.questions], **entry})
        else:
            only = field.questions[0]
            found["questions"].append({"id": only.id, "type": only.type, **entry})
    return found


def _entry(field: Field, counts: Counts, asked: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"epsilon": float(field.mechanism.epsilon), "n": asked}
    if asked < 2:
        return {**entry, "counts": [], "note": "not enough reports"}
    labels: list[str] = []
    if not isinstance(field.mechanism, Geometric) and field.mechanism.width == field.size:
        labels = [symbol_label(field, symbol) for symbol in range(field.size)]
    return {**entry, "options": labels, "counts": [int(count) for count in counts]}
