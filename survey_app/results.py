"""Results as the API gives them: estimates with their intervals, from the snapshot of the tally."""

import math
from typing import Any

from survey_app.estimate.fields import Estimate, joint_cells, question_estimates
from survey_app.store import Counts, Published, Tally

CONFIDENCE = 0.95
TOO_FEW = {"estimates": [], "note": "not enough reports"}


def results(published: Published, tally: Tally, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """The document of GET /api/surveys/<slug>/results."""
    survey, alpha = published.survey, 1 - confidence
    questions: dict[str, dict[str, Any]] = {}
    joint: list[dict[str, Any]] = []
    at = 0
    for field in survey.fields:
        asked = tally.reports
        if survey.ask is not None:
            asked = int(tally.counts[at])
            at += 1
        counts: Counts = tally.counts[at : at + field.mechanism.width]
        at += field.mechanism.width
        for question in field.questions:
            found = [_entry(one) for one in question_estimates(field, question, counts, asked, alpha)]
            about = {"id": question.id, "type": question.type, "epsilon": float(field.mechanism.epsilon)}
            questions[question.id] = {**about, **({"estimates": found} if found else TOO_FEW)}
        if len(field.questions) > 1:
            cells = [
                {"options": list(cell.options), **_numbers(cell.estimate)}
                for cell in joint_cells(field, counts, asked, alpha)
            ]
            names = {"questions": [question.id for question in field.questions]}
            joint.append({**names, **({"estimates": cells} if cells else TOO_FEW)})
    return {
        "survey": survey.digest,
        "reports": tally.reports,
        "confidence": confidence,
        "questions": [questions[question.id] for question in survey.questions],
        "joint": joint,
    }


def _entry(one: Estimate) -> dict[str, Any]:
    return {"option": one.option, **_numbers(one)}


def _numbers(one: Estimate) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "n": one.n,
        "estimate": one.estimate,
        "low": one.interval.low,
        "high": one.interval.high,
        "unbiased": None if math.isnan(one.unbiased) else one.unbiased,
        "reported": one.reported,
        "coverage": one.interval.label,
    }
