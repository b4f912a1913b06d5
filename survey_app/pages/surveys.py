"""The researchers' desk: their surveys and drafts, and what all pages of the console have in common.

Every page works without scripts. What cannot be undone is asked again on a page of its own, and what a researcher does
with a survey stands in a log that only its owner reads.
"""

import re
import secrets
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, current_app, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from flask_wtf.csrf import CSRFError

from client.mechanism import round_up
from survey_app import get_store, odds, sketch
from survey_app.authoring.source import LARGEST_FILE, AuthoringError, read
from survey_app.demo import sample
from survey_app.pages.outlook import sentence
from survey_app.pages.respond import asset, refusal
from survey_app.plan.words import line_size
from survey_app.problems import PROBLEMS, Problem
from survey_app.store import Published, Store, StoreError, Unavailable, now

blueprint = Blueprint("surveys", __name__)

ASSETS = ("surveys.style", "surveys.script")
SUSPICION = 20
LISTED_EVENTS = 100
STATES = {
    None: ("open", "Open"),
    "survey_not_open": ("draft", "Not open yet"),
    "survey_closed": ("closed", "Closed"),
    "survey_full": ("closed", "Full"),
}


def store() -> Store:
    """The store of the current app."""
    return get_store(current_app)


def owner() -> int:
    """Whose console this is."""
    key: int = current_user.user.key
    return key


def signed_in() -> ResponseReturnValue | None:
    """Send whoever is not signed in to the page where one does that."""
    if request.endpoint in ASSETS or current_user.is_authenticated:
        return None
    unauthorized: ResponseReturnValue = current_app.login_manager.unauthorized()  # type: ignore[attr-defined]
    return unauthorized


def refused(error: Problem | Unavailable | StoreError | CSRFError) -> ResponseReturnValue:
    """A page that says what happened and leads back to the console."""
    if isinstance(error, CSRFError):
        told = "You signed out, or in again, since the page was made. Nothing was changed; open the page anew."
        return render_template("console/problem.html", title="This page is too old.", detail=told), 400
    if isinstance(error, StoreError):
        return render_template("console/problem.html", title="This was refused.", detail=f"{error}."), 409
    code = "unavailable" if isinstance(error, Unavailable) else error.code
    status, title = PROBLEMS[code]
    detail = error.detail if isinstance(error, Problem) else "The database cannot write now. Nothing was changed."
    return render_template("console/problem.html", title=title, detail=detail), status


def guard(pages: Blueprint) -> None:
    """What all blueprints of the console have in common."""
    pages.before_request(signed_in)
    for kind in (Problem, Unavailable, StoreError, CSRFError):
        pages.register_error_handler(kind, refused)


guard(blueprint)


@blueprint.get("/console.css")
def style() -> Response:
    """What the researchers' pages add to the one stylesheet."""
    return asset("console.css", "text/css")


@blueprint.get("/console/js/<name>.js")
def script(name: str) -> Response:
    """A script of the console."""
    if not re.fullmatch(r"[a-z]+", name):
        raise Problem("not_found")
    return asset(f"console/{name}.js", "text/javascript")


def download(body: str | bytes, name: str, kind: str) -> Response:
    """A file to keep."""
    return Response(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def epsilon(value: Any) -> str:
    """ε to two digits, never less than it is."""
    return f"{round_up(value, 2).normalize():f}"


def chance(loss: Any) -> str:
    """What a suspicion of one in twenty can become at the most."""
    cases, people = odds.raised(SUSPICION, loss)
    return "certainty" if cases == people else f"{cases:,} in {people:,}"


def moment(value: datetime) -> str:
    """A moment as everybody reads it."""
    return value.astimezone(now().tzinfo).strftime("%d %b %Y, %H:%M UTC")


for name, shown in (
    ("epsilon", epsilon), ("chance", chance), ("moment", moment), ("margin", line_size), ("sentence", sentence),
):  # fmt: skip
    blueprint.add_app_template_filter(shown, f"console_{name}")


# the desk


@blueprint.get("/console")
def console() -> ResponseReturnValue:
    """One's surveys and drafts; for the first time, a tour."""
    kept = store()
    surveys = [(one, stand(one), kept.snapshot(one).reports) for one in kept.surveys(owner())]
    drafts = [
        (one, peek(one.source, "title") or "Untitled draft", peek(one.source, "slug"))
        for one in reversed(kept.sketches(owner()))
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
            return redirect(url_for(".console"))
    else:
        source = sketch.empty(f"survey-{secrets.token_hex(3)}")
    key = store().save_sketch(owner(), source)
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
