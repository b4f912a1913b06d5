"""The researchers' desk: their surveys and drafts, and what all pages of the console have in common.

Every page works without scripts. What cannot be undone is asked again on a page of its own, and what a researcher does
with a survey stands in a log that only its owner reads.
"""

import re
import secrets
from datetime import datetime
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from client.mechanism import round_up
from survey_app.authoring.source import LARGEST_FILE, AuthoringError, read
from survey_app.drafts import edits
from survey_app.explain import chances
from survey_app.pages.access import owner, store
from survey_app.pages.console.guard import guard
from survey_app.pages.console.outlook import sentence
from survey_app.pages.form.form import refusal
from survey_app.plan.words import line_size
from survey_app.simulate.demo import sample
from survey_app.store import Published, now

blueprint = Blueprint("console", __name__)
guard(blueprint)

SUSPICION = 20
LISTED_EVENTS = 100
STATES = {
    None: ("open", "Open"),
    "survey_not_open": ("ready", "Not open yet"),
    "survey_closed": ("closed", "Closed"),
    "survey_full": ("closed", "Full"),
}


def epsilon(value: Any) -> str:
    """ε to two digits, never less than it is."""
    return f"{round_up(value, 2).normalize():f}"


def chance(loss: Any) -> str:
    """What a suspicion of one in twenty can become at the most."""
    cases, people = chances.raised(SUSPICION, loss)
    return "certainty" if cases == people else f"{cases:,} in {people:,}"


def moment(value: datetime) -> str:
    """A moment as everybody reads it."""
    return value.astimezone(now().tzinfo).strftime("%d %b %Y, %H:%M UTC")


for name, shown in (
    ("epsilon", epsilon), ("chance", chance), ("moment", moment), ("margin", line_size), ("sentence", sentence),
):  # fmt: skip
    blueprint.add_app_template_filter(shown, f"console_{name}")


@blueprint.get("/console")
def home() -> ResponseReturnValue:
    """One's surveys and drafts; for the first time, a tour."""
    kept = store()
    surveys = [(one, stand(one), kept.snapshot(one).reports) for one in kept.surveys(owner())]
    drafts = [
        (one, peek(one.source, "title") or "Untitled draft", peek(one.source, "slug"))
        for one in reversed(kept.drafts(owner()))
    ]
    events = kept.events(owner())[:LISTED_EVENTS]
    template = "console/home.html" if (surveys or drafts) and "tour" not in request.args else "console/first.html"
    return render_template(template, surveys=surveys, drafts=drafts, events=events)


@blueprint.post("/console")
def start() -> ResponseReturnValue:
    """A new draft: from the sample, from nothing, or from a file."""
    how = request.form.get("start")
    if how == "sample":
        source = sample("campus.yaml").read_bytes()
    elif how == "upload":
        file = request.files.get("file")
        source = file.read(LARGEST_FILE + 1) if file else b""
        if message := _unreadable(source):
            flash(message, "error")
            return redirect(url_for(".home"))
    else:
        source = edits.empty(f"survey-{secrets.token_hex(3)}")
    key = store().save_draft(owner(), source)
    return redirect(url_for("editor.questions", key=key))


def _unreadable(source: bytes) -> str | None:
    """Why a file cannot even become a draft."""
    if not source:
        return "Choose a file first: a survey in YAML, such as the one that an earlier draft gave you."
    if len(source) > LARGEST_FILE:
        return f"A survey file has at most {LARGEST_FILE:,} bytes."
    try:
        source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"This is no text in UTF-8 (byte {error.start}). Save it as UTF-8 and upload it again."
    return None


def peek(source: bytes, key: str) -> str:
    """A short text of a draft, found without reading all of it; empty if there is none on one line."""
    found = re.search(rb"^%b[ \t]*:[^\n]*" % key.encode(), source, re.MULTILINE)
    try:
        text = read(found[0]).members()[key].text() if found else ""
    except AuthoringError:
        return ""
    return "" if text.startswith(("|", ">")) else text


def stand(published: Published) -> tuple[str, str]:
    """Where a survey stands, as a class and in words."""
    return STATES[refusal(published)]
