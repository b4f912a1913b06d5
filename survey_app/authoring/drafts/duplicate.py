"""What of an author's file makes sense for another survey: all but its address, and dates that have passed.

Its title says that it is a copy, so that nobody mistakes one for the other in a list.

The key of another issuer signs for one definition alone, so it goes too, with the issuer: a duplicate begins with
invitations of this server's own.
"""

from collections.abc import Callable
from datetime import datetime

from survey_app.authoring.drafts.edits import set_survey
from survey_app.authoring.timestamps import moment_of
from survey_app.authoring.yaml_source import Plain, content_of

DATES = ("opens", "closes", "deletes")
LONGEST_STEM = 55  # of a slug, so that a number fits behind it


def duplicate(source: bytes, is_free: Callable[[str], bool], now: datetime) -> tuple[bytes, list[str]]:
    """The file of another survey, and the keys that were left out; AuthoringError or EditError if it cannot be read."""
    said = content_of(source).said
    slug = said.get("slug")
    free, number = free_slug(slug if isinstance(slug, str) else "survey", is_free)
    changes: dict[str, Plain | None] = {"slug": free}
    title = said.get("title")
    if isinstance(title, str) and title.strip():
        changes["title"] = f"{title.strip()} (copy{f' {number - 1}' if number > 2 else ''})"
    left_out = [key for key in DATES if key in said and _has_passed(said[key], now)]
    changes |= dict.fromkeys(left_out)
    invitations = said.get("invitations")
    if isinstance(invitations, dict):
        kept = {key: value for key, value in invitations.items() if key == "from" and not _has_passed(value, now)}
        if kept != invitations:
            changes["invitations"] = kept or "true"
            left_out += [f"invitations.{key}" for key in invitations if key not in kept]
    return set_survey(source, changes), left_out


def free_slug(like: str, is_free: Callable[[str], bool]) -> tuple[str, int]:
    """A slug that nothing has, and its number: exam-2 for a copy of exam."""
    stem, place = like[:LONGEST_STEM].rstrip("-") or "survey", 2
    while not is_free(f"{stem}-{place}"):
        place += 1
    return f"{stem}-{place}", place


def _has_passed(value: Plain, now: datetime) -> bool:
    try:
        return moment_of(value) <= now if isinstance(value, str) else False
    except ValueError:
        return False  # whatever it is, the editor shows it
