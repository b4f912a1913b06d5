"""What all pages of a draft share: its file, what stands around it, and stamps against two windows.

A form carries the stamp of the file, or of the part of it, that it was made from; where another window has changed that
meanwhile, nothing is overwritten without a question.
"""

import hashlib
import json
import re
from typing import Any

from flask import render_template, request, session
from flask.typing import ResponseReturnValue

from survey_app.authoring.ask import Ask
from survey_app.authoring.faults import Checked, check
from survey_app.authoring.source import Plain
from survey_app.drafts import form
from survey_app.drafts.others import handle_of
from survey_app.explain.languages.names import names
from survey_app.kinds import KINDS
from survey_app.pages.access import owner, store
from survey_app.pages.console.outlook import MOST_RESPONDENTS, RESPONDENTS, levels, outlook, respondents_of
from survey_app.plan.choice import saving
from survey_app.plan.variants import NAMES
from survey_app.problems import Problem
from survey_app.store import StoreError

TYPE_NAMES = {name: kind.menu for name, kind in KINDS.items()}
OTHERS = {"battery": "Battery", "section": "Section"}
KEY_NAMES = {
    "accept_weak_privacy": "weak privacy",
    "ask": "what each person answers",
    "closes": "closing",
    "deletes": "deletion",
    "epsilon": "ε",
    "invitations": "who may answer",
    "joint": "joint fields",
    "max": "most",
    "max_reports": "maximum",
    "min": "least",
    "opens": "opening",
    "show_if": "condition",
    "slug": "URL",
}
DESIGN_NAMES = {
    "": "none: the best for its ε",
    "coin": "coin (¾, ¼)",
    "die": "die (⅔, ⅓)",
    "forced_die": "forced die (5/6, 1/6)",
    "warner": "Warner, with p",
    "gamma": "gamma, ½ ± g",
    "forced": "forced response",
}
ASKS = {
    Ask.ALL: "Each person answers every question. Their protection is split among all the answers, so each answer "
    "carries a lot of noise.",
    Ask.ONE: "Each person's device draws one block and asks only that: one question, or one of your joint fields. So "
    "few answers need less noise.",
    Ask.AUTO: "The same, with blocks of questions that are formed so that you need the fewest people.",
}
REMEMBERED = 20  # drafts whose expected respondents a browser remembers
TICKED = ("show_if_is",)
CHANGED = "This was changed in another window, and what you typed was not saved. Save again to put it in its place."


def stamp(source: bytes) -> str:
    """A short name for what the file was when a form was made."""
    return hashlib.sha256(source).hexdigest()[:16]


def part_stamp(part: Plain) -> str:
    """The same for a part of it: a question, or the settings."""
    return stamp(json.dumps(part, sort_keys=True).encode())


def settings_of(said: dict[str, Plain]) -> dict[str, Plain]:
    """What the survey's own form shows."""
    return {key: value for key, value in said.items() if key != "questions"}


def draft_of(key: int) -> bytes:
    """The file of one's own draft, or a Problem."""
    found = store().draft(owner(), key)
    if found is None:
        raise Problem("not_found", "There is no such draft. It may have been published or deleted.")
    return found.source


def save(key: int, source: bytes) -> None:
    """Keep a draft; Problem if it is gone meanwhile."""
    try:
        store().save_draft(owner(), source, key)
    except StoreError as error:
        raise Problem("not_found", f"{error}.") from None


def sent() -> dict[str, str]:
    """The fields of the form; of several with one name the last, so that a switch can be off, or all that is ticked."""
    return {name: "\n".join(values) if name in TICKED else values[-1] for name, values in request.form.lists()}


def planned(key: int) -> int:
    """How many respondents are expected of a draft; the browser's session remembers it for the last of them.

    It is no part of the file, which becomes the survey, and a draft has no other place: two people who share one may
    well expect different numbers. A session is one cookie, which also holds what the next page is to say. A reply that
    sets it without need, to a check while somebody types, may overtake the reply to a save, and then nobody is told
    that it was saved.
    """
    found = session.get("respondents")
    kept: dict[str, int] = found if isinstance(found, dict) else {}
    known = kept.get(str(key)) or _people(key) or RESPONDENTS
    expected = respondents_of(request.args.get("respondents"), known)
    if expected != known:
        others = [(name, number) for name, number in kept.items() if name != str(key)]
        session["respondents"] = dict([*others, (str(key), expected)][-REMEMBERED:])
    return expected


def _people(key: int) -> int:
    """How many belong to the groups of a draft; none where their sizes are not known, or it is no survey yet."""
    built = check(draft_of(key)).built
    return min(sum(built.sizes or ()), MOST_RESPONDENTS) if built else 0


def page(template: str, key: int, source: bytes, status: int = 200, **more: Any) -> ResponseReturnValue:
    """A page about a draft, with everything that stands around it."""
    checked = check(source)
    ahead = outlook(source, planned(key), request.args.get("plan") == "all")
    html = render_template(
        f"console/{template}.html",
        **context(key, source, checked),
        outlook=ahead,
        levels=levels(),
        **more,
    )
    return html, status


def context(key: int, source: bytes, checked: Checked) -> dict[str, Any]:
    """What every page of a draft needs to know."""
    said = checked.content.said if checked.content else {}
    title = said.get("title")
    return {
        "key": key,
        "stamp": stamp(source),
        "checked": checked,
        "content": checked.content,
        "title": title if isinstance(title, str) and title.strip() else "Untitled draft",
        "respondents": planned(key),
        "asks": [(ask, name.capitalize(), ASKS[ask]) for ask, name in NAMES.items()],
        "asked": said.get("ask", Ask.ALL),
        "saving": saving,
        "type_names": TYPE_NAMES,
        "others": OTHERS,
        "handle_of": handle_of,
        "design_names": DESIGN_NAMES,
        "key_names": KEY_NAMES,
        "show_question": form.show_question,
        "question_template": question_template,
        "parents_of": form.parents_of,
        "answers_of": form.answers_of,
        "languages": names(),
        "type_of": form.type_of,
        "part_stamp": part_stamp,
        "own": part_stamp(settings_of(said)),
        "moment_kind": moment_kind,
    }


def question_template(question: dict[str, Plain], typed: dict[str, str]) -> str:
    """Return the template of a question's form: that of its type, or of the type that was chosen in an unsaved form.

    A type that nobody knows has no fields of its own.
    """
    kind = KINDS.get(typed.get("type", form.show_question(question)["type"]))
    return kind.template if kind else "console/question.html"


def moment_kind(text: str | None) -> str:
    """Browsers pick moments; what is none stays text, so that it can be seen and corrected."""
    return "datetime-local" if not text or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", text) else "text"
