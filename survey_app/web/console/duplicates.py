"""Duplicates of surveys and drafts: a new draft under an unused slug, without the keys that no longer make sense."""

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from survey_app.authoring.drafts.duplicate import duplicate
from survey_app.authoring.drafts.edits import EditError
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.problems import Problem
from survey_app.store import now
from survey_app.web.access import owner_key, store
from survey_app.web.console.home import read_line


def save_duplicate(source: bytes) -> ResponseReturnValue:
    """Save a duplicate as a draft, report the omitted keys, and redirect to the draft."""
    slugs = {read_line(draft.source, "slug") for draft in store().drafts(owner_key())}
    try:
        copy, omissions = duplicate(source, lambda slug: slug not in slugs and store().owner_of(slug) is None, now())
    except (AuthoringError, EditError) as error:
        raise Problem("malformed_request", f"This file cannot be duplicated here: {error}.") from None
    key = store().save_draft(owner_key(), copy)
    note = f" Left out, as no longer applicable: {', '.join(omissions)}." if omissions else ""
    flash(f"This duplicate is a draft of another survey, whose URL ends in {read_line(copy, 'slug')}.{note}", "status")
    return redirect(url_for("editor.questions", key=key))
