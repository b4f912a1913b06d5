"""What goes beyond one question of one survey: cross-tabs and strata, as documents like the results."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from client.definition import Question, Survey
from survey_app.estimate import strata
from survey_app.estimate.fields import Cell, Estimate, evidence, question_estimates
from survey_app.estimate.intervals import Options
from survey_app.estimate.pairs import crosstab
from survey_app.estimate.strata import StrataError
from survey_app.results import TOO_FEW, entry, numbers, results
from survey_app.store import Bits, Published, Tally

Stratum = tuple[Published, Tally]


def crosstab_document(
    published: Published, tally: Tally, scan: Iterable[Bits], rows: str, columns: str, options: Options
) -> dict[str, Any]:
    """Two questions: cells, shares within rows, differences to the first row, a test of independence."""
    found = crosstab(published.survey, rows, columns, tally, scan, options)

    def lines(cells: Sequence[Cell]) -> list[dict[str, Any]]:
        return [{"options": list(cell.options), **numbers(cell.estimate)} for cell in cells]

    about = {"survey": published.survey.digest, "rows": rows, "columns": columns}
    if not found.cells:
        return {**about, "n": found.n, **TOO_FEW}
    return {
        **about,
        "n": found.n,
        "confidence": options.confidence,
        "row_options": list(found.rows),
        "column_options": list(found.columns),
        "estimates": lines(found.cells),
        "within_rows": lines(found.within),
        "differences": lines(found.differences),
        "test": found.test and asdict(found.test),
    }


def strata_document(
    studies: Sequence[Stratum], options: Options, weights: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Each survey's results, their differences to the first, and with weights their post-stratified whole."""
    surveys = [published.survey for published, _ in studies]
    strata.check_same(surveys)
    shares = _shares(surveys, weights) if weights is not None else None
    found = [_estimates(published.survey, tally, options) for published, tally in studies]
    document: dict[str, Any] = {
        "strata": [{"slug": one.survey.slug, **results(one, tally, options)} for one, tally in studies],
        "differences": [],
    }
    for survey, other in zip(surveys[1:], found[1:], strict=True):
        questions = [
            {
                "id": question.id,
                **_lines(
                    strata.difference(b, a, strata.possible(question, a.kind))
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
                    strata.combine(lines, [share for _, share in counted], strata.possible(question, lines[0].kind))
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
        raise StrataError(f"the weights must name exactly {', '.join(slugs)}")
    values = [float(weights[slug]) for slug in slugs]
    if not all(math.isfinite(value) and value >= 0 for value in values) or sum(values) <= 0:
        raise StrataError("weights are numbers from 0, and not all 0")
    return [value / math.fsum(values) for value in values]


def _estimates(survey: Survey, tally: Tally, options: Options) -> dict[str, list[Estimate]]:
    return {
        question.id: question_estimates(found, question, options)
        for found in evidence(survey, tally)
        for question in found.field.questions
    }


def _together(found: Sequence[Mapping[str, list[Estimate]]], question: Question) -> list[list[Estimate]]:
    """For each line of a question, its estimates in every stratum; lines that some stratum lacks are left out."""
    by_option = [{(one.option, one.kind): one for one in estimates[question.id]} for estimates in found]
    return [[lines[key] for lines in by_option] for key in by_option[0] if all(key in lines for lines in by_option)]
