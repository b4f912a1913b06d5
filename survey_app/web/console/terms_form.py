"""The form of a survey's terms: its fields, how they are parsed, and which terms it refuses.

Terms that would close a survey at once are refused: closing has its own page, because it cannot be undone. Terms that
may close it at once need a confirmation, because more reports may have arrived than are shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from survey_app.authoring.diagnostics import check
from survey_app.authoring.drafts import edits
from survey_app.authoring.terms import Terms
from survey_app.authoring.timestamps import format_timestamp, parse_timestamp
from survey_app.languages import numbers
from survey_app.store import PublishedSurvey

FIELDS = ("closes", "max_reports", "results", "deletes")
CLOSE_ADVICE = "To close the survey now, use Close… below"


class TermsError(ValueError):
    """Raised for invalid terms; the message gives the reason."""


def terms_fields(terms: Terms) -> dict[str, str]:
    """Return the fields of the form. Moments are in UTC, in the format of browsers."""
    most = "" if terms.max_reports is None else str(terms.max_reports)
    results = "public" if terms.public else "private"
    return dict(zip(FIELDS, (_format_field(terms.closes), most, results, _format_field(terms.deletes)), strict=True))


def apply_terms(source: bytes, terms: Terms) -> bytes:
    """Return an author's file with the current terms, which may have changed since it was written."""
    built = check(source).built
    if built is None:
        return source
    current, original = _yaml_values(terms), _yaml_values(built.terms)
    try:
        return edits.set_survey(source, {key: current[key] for key in current if current[key] != original[key]})
    except edits.EditError:
        return source


def _yaml_values(terms: Terms) -> dict[str, str | None]:
    moments = {key: getattr(terms, key) for key in ("opens", "closes", "deletes")}
    texts = {key: format_timestamp(moment) if moment else None for key, moment in moments.items()}
    most = None if terms.max_reports is None else str(terms.max_reports)
    return {"results": "public" if terms.public else "private", "max_reports": most, **texts}


def submitted_terms(form: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the form as the researcher sent them."""
    return {name: form.get(name, "").strip() for name in FIELDS}


def parse_terms(old: Terms, values: Mapping[str, str], reports: int, moment: datetime) -> Terms:
    """Parse the fields of the form, given the number of reports shown. Raise TermsError if they are invalid.

    Unchanged fields keep their exact values, to the second.
    """
    old_fields = terms_fields(old)
    closes = (
        old.closes if values["closes"] == old_fields["closes"] else _parse_moment(values["closes"], "The closing date")
    )
    deletes = (
        old.deletes
        if values["deletes"] == old_fields["deletes"]
        else _parse_moment(values["deletes"], "The deletion date")
    )
    most = (
        old.max_reports if values["max_reports"] == old_fields["max_reports"] else _parse_count(values["max_reports"])
    )
    if values["results"] not in ("public", "private"):
        raise TermsError("Results must be public or private")
    terms = replace(old, public=values["results"] == "public", closes=closes, max_reports=most, deletes=deletes)
    if why := closing_reason(old, terms, reports, moment):
        raise TermsError(f"{why}. {CLOSE_ADVICE}")
    return terms


def closing_reason(old: Terms, new: Terms, reports: int, moment: datetime) -> str | None:
    """Return the reason why new terms would close a survey at once, or None, given the number of reports shown."""
    if new.closes and new.closes != old.closes and new.closes <= moment:
        return "This closing date has passed"
    if new.max_reports and new.max_reports != old.max_reports and new.max_reports <= reports:
        return f"The survey already has {numbers.format_count(reports)} reports"
    return None


def parse_sizes(
    groups: Sequence[PublishedSurvey], values: Mapping[str, str]
) -> list[tuple[PublishedSurvey, int | None]]:
    """Return the groups of a study whose size changed, with the new sizes.

    Raise TermsError unless all groups have a size afterwards, or none.
    """
    typed = [values.get(f"size-{group.survey.slug}", "").strip().replace(",", "") for group in groups]
    if not all(text == "" or (text.isascii() and text.isdigit() and 0 < int(text[:16]) < 10**15) for text in typed):
        raise TermsError("The number of people in a group must be a whole number of at least 1, or empty")
    if any(typed) and not all(typed):
        raise TermsError("Enter the number of people for every group or for none: a total needs all of them")
    sizes = [int(text) if text else None for text in typed]
    return [(group, size) for group, size in zip(groups, sizes, strict=True) if size != group.terms.size]


def _format_field(moment: datetime | None) -> str:
    return "" if moment is None else format_timestamp(moment).removesuffix("Z")


def _parse_moment(text: str, what: str) -> datetime | None:
    if not text:
        return None
    try:
        zoned = text.endswith(("Z", "z")) or "+" in text
        return parse_timestamp(text if zoned else f"{text}Z")
    except ValueError:
        raise TermsError(f"{what} must be a date and time such as 2026-12-01T00:00, or empty") from None


def _parse_count(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit() and 0 < int(text[:12]) < 10**9):
        raise TermsError("The maximum number of reports must be a whole number of at least 1, or empty")
    return int(text) if text else None
