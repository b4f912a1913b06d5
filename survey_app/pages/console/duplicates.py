"""A duplicate of a survey or a draft: a draft of one's own under a free address, with what still makes sense."""

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from survey_app.authoring.source import AuthoringError
from survey_app.drafts.duplicate import duplicate
from survey_app.drafts.edits import EditError
from survey_app.pages.access import owner, store
from survey_app.pages.console.home import peek
from survey_app.problems import Problem
from survey_app.store import now


def keep_duplicate(source: bytes) -> ResponseReturnValue:
    """Keep a duplicate as a draft, say what it lacks, and go there."""
    drafted = {peek(draft.source, "slug") for draft in store().drafts(owner())}
    try:
        made, left_out = duplicate(source, lambda slug: slug not in drafted and store().owner_of(slug) is None, now())
    except (AuthoringError, EditError) as error:
        raise Problem("malformed_request", f"This file cannot be duplicated by a button: {error}.") from None
    key = store().save_draft(owner(), made)
    told = f" Left out, because it would not make sense any more: {', '.join(left_out)}." if left_out else ""
    flash(f"This is a duplicate, a draft of another survey with the address {peek(made, 'slug')}.{told}", "status")
    return redirect(url_for("editor.questions", key=key))
