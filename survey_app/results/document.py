"""Results as the API gives them: estimates with their intervals, from the snapshot of the tally."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from client.definition import Question, Survey
from survey_app.estimate import derived
from survey_app.estimate.intervals import Options
from survey_app.estimate.question import Estimate, Evidence, evidence, joint_cells, question_estimates
from survey_app.tally import Tally

NUMBERS = (
    "kind", "n", "estimate", "low", "high", "unbiased", "reported", "coverage", "sample_low", "sample_high",
)  # fmt: skip
LISTS = ("estimates", "answered", "totals", "cumulative")
TOO_FEW = {"estimates": [], "note": "not enough reports"}
TARGETS = {
    "population": "low and high are for the population that the respondents are a random sample of: they cover who"
    " happened to answer, and the coins.",
    "sample": "sample_low and sample_high are for these very respondents: they cover the coins alone, and say nothing"
    " of others.",
}
Totals = Mapping[str, Sequence[Sequence[str]]]  # for a question, sets of labels


def results(
    survey: Survey, tally: Tally, options: Options | None = None, totals: Totals | None = None
) -> dict[str, Any]:
    """The document of GET /api/surveys/<slug>/results."""
    options = options or Options()
    questions: dict[str, dict[str, Any]] = {}
    joint: list[dict[str, Any]] = []
    for found in evidence(survey, tally):
        for question in found.field.questions:
            questions[question.id] = _question(found, question, options, (totals or {}).get(question.id, ()))
        if len(found.field.questions) > 1:
            cells = [
                {"options": list(cell.options), **numbers(cell.estimate)}
                for cell in joint_cells(found, found.field.questions, options)
            ]
            names = {"questions": [question.id for question in found.field.questions]}
            joint.append({**names, **({"estimates": cells} if cells else TOO_FEW)})
    wanted = {"simultaneous": options.simultaneous, "narrow": options.narrow, "population": options.population}
    return {
        "survey": survey.digest,
        "reports": tally.reports,
        "confidence": options.confidence,
        **{key: value for key, value in wanted.items() if value},
        "targets": TARGETS,
        "questions": [questions[question.id] for question in survey.questions],
        "joint": joint,
    }


def _question(found: Evidence, question: Question, options: Options, totals: Sequence[Sequence[str]]) -> dict[str, Any]:
    estimates = [entry(one) for one in question_estimates(found, question, options)]
    about = {"id": question.id, "type": question.type, "epsilon": float(found.field.mechanism.epsilon)}
    if not estimates:
        return {**about, **TOO_FEW}
    more: dict[str, list[Any]] = {
        "answered": [entry(one) for one in derived.answered(found, question, options)],
        "totals": [entry(one) for labels in totals if (one := derived.total(found, question, labels, options))],
    }
    if derived.has_order(question):
        more["cumulative"] = [entry(one) for one in derived.cumulative(found, question, options)]
        more["quantiles"] = [
            {"level": one.level, "options": list(one.options), "n": one.n, "coverage": one.coverage}
            for one in derived.quantiles(found, question, options)
        ]
    return {**about, "estimates": estimates, **{key: value for key, value in more.items() if value}}


def entry(one: Estimate) -> dict[str, Any]:
    """An estimate as a line of the document."""
    return {"option": one.option, **numbers(one)}


def numbers(one: Estimate) -> dict[str, Any]:
    """The numbers of an estimate; what is not a number is null."""
    sample = one.limits.sample
    return {
        "kind": one.kind,
        "n": one.n,
        "estimate": one.estimate,
        "low": one.interval.low,
        "high": one.interval.high,
        "unbiased": None if math.isnan(one.unbiased) else one.unbiased,
        "reported": one.reported,
        "coverage": one.interval.label,
        "sample_low": sample and sample.low,
        "sample_high": sample and sample.high,
    }


def lines(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str, list[Any]]]:
    """The document flat, for tables: which list, the question, the option, the numbers."""
    for part in [*document["questions"], *document["joint"]]:
        name = part.get("id") or " + ".join(part["questions"])
        for kind in LISTS:
            for line in part.get(kind, []):
                option = line.get("option") or " + ".join(line["options"])
                yield kind, name, option, [line[key] for key in NUMBERS]
