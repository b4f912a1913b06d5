"""The console's first page: a researcher's surveys and drafts, and the log of actions.

Every page works without scripts. An action that cannot be undone has a confirmation page of its own. Each action on a
survey is recorded in a log that only its owner reads.
"""

import re
import secrets
from collections.abc import Sequence

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from survey_app.assure.simulation.demo_survey import sample
from survey_app.authoring.drafts import edits
from survey_app.authoring.drafts.group_rows import named_like
from survey_app.authoring.yaml_source import LARGEST_FILE, AuthoringError, read
from survey_app.languages import numbers
from survey_app.languages.language_names import names
from survey_app.store import Published, State, grouped, listed, now
from survey_app.web.access import owner, role_of, store
from survey_app.web.console.guard import guard

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
    surveys = [_card(groups) for groups in listed(database, owner())]
    shared = [
        (*_card(groups), role_of(current_user.user, groups[0]), _name(groups[0]))
        for groups in grouped(database, database.shared_with(owner()))
    ]
    drafts = [
        (draft, peek(draft.source, "title") or "Untitled draft", peek(draft.source, "slug"))
        for draft in reversed(database.drafts(owner()))
    ]
    events = database.events(owner())[:LISTED_EVENTS]
    template = (
        "console/home.html" if (surveys or shared or drafts) and "tour" not in request.args else "console/first.html"
    )
    return render_template(
        template, surveys=surveys, shared=shared, drafts=drafts, events=events, languages=names(), moment=now()
    )


def _card(groups: Sequence[Published]) -> tuple[Published, int, tuple[str, str], int]:
    """Return a survey, or the first group of a study, with its number of groups, its state, and its reports so far."""
    return groups[0], len(groups), stand(groups[0]), sum(store().snapshot(group).reports for group in groups)


def _name(published: Published) -> str:
    account = store().user(published.owner)
    return account.name if account else ""


@blueprint.post("/console")
def start() -> ResponseReturnValue:
    """Create a draft: from the sample, from nothing, or from a file."""
    choice = request.form.get("start")
    if choice == "sample":
        source = edits.set_survey(sample("campus.yaml").read_bytes(), {"slug": _unused("campus")})
    elif choice == "upload":
        file = request.files.get("file")
        source = file.read(LARGEST_FILE + 1) if file else b""
        if message := _unreadable(source):
            flash(message, "error")
            return redirect(url_for(".home"))
    else:
        title = " ".join(request.form.get("title", "").split())[:LONGEST_TITLE]
        language = request.form.get("language", "")
        slug = _unused(named_like(title, set()) if title else "survey")
        source = edits.empty(slug, title, language if language in names() and language != "en" else "")
    key = store().save_draft(owner(), source)
    return redirect(url_for("editor.questions", key=key))


def _unused(slug: str) -> str:
    """Return a slug for a new draft with a random suffix.

    So the draft is not mistaken for a new version of a published survey.
    """
    return f"{slug}-{secrets.token_hex(3)}"


def _unreadable(source: bytes) -> str | None:
    """Return the reason why a file cannot become a draft; None if it can."""
    if not source:
        return "Choose a file first: a survey in YAML, such as the one that an earlier draft gave you."
    if len(source) > LARGEST_FILE:
        return f"A survey file has at most {numbers.count(LARGEST_FILE)} bytes."
    try:
        source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"This is no text in UTF-8 (byte {error.start}). Save it as UTF-8 and upload it again."
    return None


def peek(source: bytes, key: str) -> str:
    """Return a short text of a draft without parsing the whole file; empty if it is not on one line."""
    line = re.search(rb"^%b[ \t]*:[^\n]*" % key.encode(), source, re.MULTILINE)
    try:
        text = read(line[0]).members()[key].text() if line else ""
    except AuthoringError:
        return ""
    return "" if text.startswith(("|", ">")) else text


def stand(published: Published) -> tuple[State, str]:
    """Return the state of a survey, as a CSS class and in words."""
    state = published.at(now())
    return state, "Full" if published.full else STATES[state]
