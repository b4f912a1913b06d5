"""Several surveys with the same questions, the groups of one study, as a document like the results."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from client.definition import Question, Survey
from survey_app.estimate import groups
from survey_app.estimate.groups import GroupsError
from survey_app.estimate.intervals import Options
from survey_app.estimate.question import Estimate, evidence, question_estimates
from survey_app.results.document import TOO_FEW, entry, results
from survey_app.tally import Tally

Group = tuple[Survey, Tally]


def groups_document(
    members: Sequence[Group], options: Options, weights: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Each survey's results, their differences to the first, and with weights their post-stratified whole."""
    surveys = [survey for survey, _ in members]
    groups.check_same(surveys)
    shares = _shares(surveys, weights) if weights is not None else None
    found = [_estimates(survey, tally, options) for survey, tally in members]
    document: dict[str, Any] = {
        "strata": [{"slug": survey.slug, **results(survey, tally, options)} for survey, tally in members],
        "differences": [],
    }
    for survey, other in zip(surveys[1:], found[1:], strict=True):
        questions = [
            {
                "id": question.id,
                **_lines(
                    groups.difference(b, a, groups.possible(question, a.kind))
                    for a, b in _together([found[0], other], question)
                ),
            }
            for question in surveys[0].questions
        ]
        document["differences"].append({"of": survey.slug, "to": surveys[0].slug, "questions": questions})
    if shares is not None:
        document["weights"] = dict(zip([survey.slug for survey in surveys], shares, strict=True))
        counted = [(estimates, share) for estimates, share in zip(found, shares, strict=True) if share]
        document["combined"] = [
            {
                "id": question.id,
                "type": question.type,
                **_lines(
                    groups.combine(lines, [share for _, share in counted], groups.possible(question, lines[0].kind))
                    for lines in _together([estimates for estimates, _ in counted], question)
                ),
            }
            for question in surveys[0].questions
        ]
    return document


def _lines(estimates: Iterable[Estimate]) -> dict[str, Any]:
    lines = [entry(one) for one in estimates]
    return {"estimates": lines} if lines else TOO_FEW


def _shares(surveys: Sequence[Survey], weights: Mapping[str, float]) -> list[float]:
    """Weights that sum to one, in the order of the surveys."""
    slugs = [survey.slug for survey in surveys]
    if set(weights) != set(slugs):
        raise GroupsError(f"the weights must name exactly {', '.join(slugs)}")
    values = [float(weights[slug]) for slug in slugs]
    if not all(math.isfinite(value) and value >= 0 for value in values) or sum(values) <= 0:
        raise GroupsError("weights are numbers from 0, and not all 0")
    return [value / math.fsum(values) for value in values]


def _estimates(survey: Survey, tally: Tally, options: Options) -> dict[str, list[Estimate]]:
    return {
        question.id: question_estimates(found, question, options)
        for found in evidence(survey, tally)
        for question in found.field.questions
    }


def _together(found: Sequence[Mapping[str, list[Estimate]]], question: Question) -> list[list[Estimate]]:
    """For each line of a question, its estimates in every group; lines that some group lacks are left out."""
    by_option = [{(one.option, one.kind): one for one in estimates[question.id]} for estimates in found]
    return [[lines[key] for lines in by_option] for key in by_option[0] if all(key in lines for lines in by_option)]
