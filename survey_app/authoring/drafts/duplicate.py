"""Duplicate an author's file for another survey, without its slug and without dates that have passed.

The title of a duplicate ends with "(copy)", so that nobody confuses the two in a list.

The key of another issuer signs for one definition only. So a duplicate leaves out this key and the issuer, and begins
with invitations from this server.
"""

from collections.abc import Callable
from datetime import datetime

from survey_app.authoring.drafts.edits import set_survey
from survey_app.authoring.timestamps import parse_timestamp
from survey_app.authoring.yaml_source import Plain, read_content

DATES = ("opens", "closes", "deletes")
LONGEST_STEM = 55  # of a slug, so that a number fits behind it


def duplicate(source: bytes, is_free: Callable[[str], bool], now: datetime) -> tuple[bytes, list[str]]:
    """Return the file of another survey, and the keys that were left out.

    Raise AuthoringError or EditError if the file cannot be read.
    """
    data = read_content(source).data
    slug = data.get("slug")
    new_slug, number = find_free_slug(slug if isinstance(slug, str) else "survey", is_free)
    changes: dict[str, Plain | None] = {"slug": new_slug}
    title = data.get("title")
    if isinstance(title, str) and title.strip():
        changes["title"] = f"{title.strip()} (copy{f' {number - 1}' if number > 2 else ''})"
    omitted = [key for key in DATES if key in data and _has_passed(data[key], now)]
    changes |= dict.fromkeys(omitted)
    invitations = data.get("invitations")
    if isinstance(invitations, dict):
        remaining = {key: value for key, value in invitations.items() if key == "from" and not _has_passed(value, now)}
        if remaining != invitations:
            changes["invitations"] = remaining or "true"
            omitted += [f"invitations.{key}" for key in invitations if key not in remaining]
    return set_survey(source, changes), omitted


def find_free_slug(slug: str, is_free: Callable[[str], bool]) -> tuple[str, int]:
    """Return a free slug and its number: exam-2 for a copy of exam."""
    stem, number = slug[:LONGEST_STEM].rstrip("-") or "survey", 2
    while not is_free(f"{stem}-{number}"):
        number += 1
    return f"{stem}-{number}", number


def _has_passed(value: Plain, now: datetime) -> bool:
    try:
        return parse_timestamp(value) <= now if isinstance(value, str) else False
    except ValueError:
        return False  # the editor shows the invalid value
