"""The console's first page: a researcher's surveys and drafts, and the log of actions.

Every page works without scripts. An action that cannot be undone has a confirmation page of its own. Each action on a
survey is recorded in a log that only its owner reads.
"""

import re
import secrets
from collections.abc import Sequence

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.assure.simulation.demo_survey import example_path
from survey_app.authoring.drafts import edits
from survey_app.authoring.drafts.group_rows import make_group_name
from survey_app.authoring.yaml_source import LARGEST_FILE, AuthoringError, parse_source
from survey_app.languages import numbers
from survey_app.languages.language_names import list_names
from survey_app.store import PublishedSurvey, State, group_by_study, list_surveys, now
from survey_app.web.access import owner_key, role_of, store
from survey_app.web.console.guard import guard
from survey_app.web.sessions import require_session_account

blueprint = Blueprint("console", __name__)
guard(blueprint)

LISTED_EVENTS = 100
LONGEST_TITLE = 1000
STATES = {
    State.READY: "Not open yet",
    State.OPEN: "Open",
    State.PAUSED: "Paused",
    State.CLOSED: "Closed",
}


@blueprint.get("/console")
def home() -> ResponseReturnValue:
    """Show the researcher's surveys, the surveys shared with them, and drafts; a tour on the first visit."""
    database = store()
    surveys = [_summarize(groups) for groups in list_surveys(database, owner_key())]
    shared = [
        (*_summarize(groups), role_of(require_session_account(), groups[0]), _owner_name(groups[0]))
        for groups in group_by_study(database, database.shared_with(owner_key()))
    ]
    drafts = [
        (draft, read_line(draft.source, "title") or "Untitled draft", read_line(draft.source, "slug"))
        for draft in reversed(database.drafts(owner_key()))
    ]
    events = database.events(owner_key())[:LISTED_EVENTS]
    template = (
        "console/home.html" if (surveys or shared or drafts) and "tour" not in request.args else "console/welcome.html"
    )
    return render_template(
        template, surveys=surveys, shared=shared, drafts=drafts, events=events, languages=list_names(), moment=now()
    )


def _summarize(groups: Sequence[PublishedSurvey]) -> tuple[PublishedSurvey, int, tuple[str, str], int]:
    """Return a survey, or the first group of a study, with its number of groups, its state, and its reports so far."""
    return groups[0], len(groups), describe_state(groups[0]), sum(store().snapshot(group).reports for group in groups)


def _owner_name(published: PublishedSurvey) -> str:
    account = store().user(published.owner)
    return account.name if account else ""


@blueprint.post("/console")
def start() -> ResponseReturnValue:
    """Create a draft: from the sample, from nothing, or from a file."""
    choice = request.form.get("start")
    if choice == "sample":
        source = edits.set_survey(example_path("campus.yaml").read_bytes(), {"slug": _make_unused_slug("campus")})
    elif choice == "upload":
        file = request.files.get("file")
        source = file.read(LARGEST_FILE + 1) if file else b""
        if message := _upload_objection(source):
            flash(message, "error")
            return redirect(url_for(".home"))
    else:
        title = " ".join(request.form.get("title", "").split())[:LONGEST_TITLE]
        language = request.form.get("language", "")
        slug = _make_unused_slug(make_group_name(title, set()) if title else "survey")
        source = edits.make_empty_draft(slug, title, language if language in list_names() and language != "en" else "")
    key = store().save_draft(owner_key(), source)
    return redirect(url_for("editor.questions", key=key))


def _make_unused_slug(slug: str) -> str:
    """Return a slug for a new draft with a random suffix.

    So the draft is not mistaken for a new version of a published survey.
    """
    return f"{slug}-{secrets.token_hex(3)}"


def _upload_objection(source: bytes) -> str | None:
    """Return the reason why a file cannot become a draft; None if it can."""
    if not source:
        return "Choose a file first: a survey in YAML, such as one that you downloaded from an earlier draft."
    if len(source) > LARGEST_FILE:
        return f"The file is too large: a survey file may have at most {numbers.format_count(LARGEST_FILE)} bytes."
    try:
        source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"The file is not valid UTF-8 (byte {error.start}). Save it as UTF-8 and upload it again."
    return None


def read_line(source: bytes, key: str) -> str:
    """Return a short text of a draft without parsing the whole file; empty if it is not on one line."""
    line = re.search(rb"^%b[ \t]*:[^\n]*" % key.encode(), source, re.MULTILINE)
    try:
        text = parse_source(line[0]).members()[key].text() if line else ""
    except AuthoringError:
        return ""
    return "" if text.startswith(("|", ">")) else text


def describe_state(published: PublishedSurvey) -> tuple[State, str]:
    """Return the state of a survey, as a CSS class and in words."""
    state = published.state_at(now())
    return state, "Full" if published.full else STATES[state]
