"""Shared parts of the pages of a draft: its file, its sidebar, and stamps against concurrent edits.

A form carries the stamp of the file, or of the part of the file, that it shows. If another window has changed that part
in the meantime, nothing is overwritten without a question.
"""

import hashlib
import json
import re
from typing import Any

from flask import render_template, request, session
from flask.typing import ResponseReturnValue

from survey_app.authoring.ask import Ask
from survey_app.authoring.diagnostics import CheckResult, check
from survey_app.authoring.drafts import form_fields
from survey_app.authoring.drafts.sections import handle_of
from survey_app.authoring.yaml_source import Plain
from survey_app.kinds import KINDS
from survey_app.languages.language_names import list_names
from survey_app.plan.ask_advice import format_saving
from survey_app.plan.variants import VARIANT_NAMES
from survey_app.problems import Problem
from survey_app.store import StoreError
from survey_app.web.access import owner_key, store
from survey_app.web.console.editor_sidebar import (
    MOST_RESPONDENTS,
    RESPONDENTS,
    epsilon_levels,
    forecast_draft,
    parse_respondents,
)

TYPE_NAMES = {name: kind.menu for name, kind in KINDS.items()}
LAYOUT_NAMES = {"battery": "Battery", "section": "Section"}
KEY_NAMES = {
    "accept_weak_privacy": "weak privacy",
    "ask": "what each person answers",
    "closes": "closing",
    "deletes": "deletion",
    "epsilon": "ε",
    "invitations": "who may answer",
    "joint": "joint fields",
    "max": "maximum",
    "max_reports": "maximum number of reports",
    "min": "minimum",
    "opens": "opening",
    "show_if": "condition",
    "slug": "URL",
}
DESIGN_NAMES = {
    "": "none: the best mechanism for its ε",
    "coin": "coin (¾, ¼)",
    "die": "die (⅔, ⅓)",
    "forced_die": "forced die (5/6, 1/6)",
    "warner": "Warner, with p",
    "gamma": "gamma, ½ ± g",
    "forced": "forced response",
}
ASK_TEXTS = {
    Ask.ALL: "Each person answers every question. Their protection is split among all the answers, so each answer "
    "carries a lot of noise.",
    Ask.ONE: "Each person's device draws one block at random and asks only that block: one question, or one of your "
    "joint fields. Fewer answers need less noise.",
    Ask.AUTO: "As above, but questions are combined into the blocks with which you need the fewest people.",
}
MOST_REMEMBERED = 20  # drafts for which a session remembers the expected respondents
CHECKBOX_FIELDS = ("show_if_is",)
CONFLICT_MESSAGE = (
    "This was changed in another window, so what you typed was not saved. To overwrite the other change, save again."
)


def make_stamp(source: bytes) -> str:
    """Return a short stamp of the file that a form was made from."""
    return hashlib.sha256(source).hexdigest()[:16]


def make_part_stamp(part: Plain) -> str:
    """Return the stamp of a part of the file: a question, or the settings."""
    return make_stamp(json.dumps(part, sort_keys=True).encode())


def select_settings(content: dict[str, Plain]) -> dict[str, Plain]:
    """Return the values that the settings form shows: all except the questions."""
    return {key: value for key, value in content.items() if key != "questions"}


def load_draft(key: int) -> bytes:
    """Return the file of a draft of the signed-in account. Raise Problem if there is none."""
    draft = store().draft(owner_key(), key)
    if draft is None:
        raise Problem("not_found", "There is no such draft. It may have been published or deleted.")
    return draft.source


def save_draft(key: int, source: bytes) -> None:
    """Save a draft. Raise Problem if it was deleted in the meantime."""
    try:
        store().save_draft(owner_key(), source, key)
    except StoreError as error:
        raise Problem("not_found", f"{error}.") from None


def read_form() -> dict[str, str]:
    """Return the fields of the form by name.

    Of several fields with one name the last is returned, so that a switch can be off. A field of check boxes returns
    all of its ticked values.
    """
    return {name: "\n".join(values) if name in CHECKBOX_FIELDS else values[-1] for name, values in request.form.lists()}


def expected_respondents(key: int) -> int:
    """Return the number of respondents expected for a draft. The session remembers it for the most recent drafts.

    The number is not part of the file, which becomes the survey. A draft has no other place for it, because two people
    who share a draft may expect different numbers.

    The session is one cookie, which also holds the messages for the next page. So it is set only if the number changes.
    A needless cookie in the reply to a live check could overtake the reply to a save, and the message "saved" would be
    lost.
    """
    session_value = session.get("respondents")
    counts: dict[str, int] = session_value if isinstance(session_value, dict) else {}
    previous = counts.get(str(key)) or _total_group_size(key) or RESPONDENTS
    expected = parse_respondents(request.args.get("respondents"), previous)
    if expected != previous:
        remaining = [(name, number) for name, number in counts.items() if name != str(key)]
        session["respondents"] = dict([*remaining, (str(key), expected)][-MOST_REMEMBERED:])
    return expected


def _total_group_size(key: int) -> int:
    """Return the total size of the groups of a draft; 0 if their sizes are unknown, or it is no valid survey yet."""
    built = check(load_draft(key)).built
    return min(sum(built.sizes or ()), MOST_RESPONDENTS) if built else 0


def render_page(template: str, key: int, source: bytes, status: int = 200, **more: Any) -> ResponseReturnValue:
    """Render a page about a draft, with its sidebar."""
    checked = check(source)
    forecast = forecast_draft(source, expected_respondents(key), request.args.get("plan") == "all")
    html = render_template(
        f"console/{template}.html",
        **template_context(key, source, checked),
        outlook=forecast,
        levels=epsilon_levels(),
        **more,
    )
    return html, status


def template_context(key: int, source: bytes, checked: CheckResult) -> dict[str, Any]:
    """Return the template variables that every page of a draft needs."""
    values = checked.content.data if checked.content else {}
    title = values.get("title")
    return {
        "key": key,
        "stamp": make_stamp(source),
        "checked": checked,
        "content": checked.content,
        "title": title if isinstance(title, str) and title.strip() else "Untitled draft",
        "respondents": expected_respondents(key),
        "asks": [(ask, name.capitalize(), ASK_TEXTS[ask]) for ask, name in VARIANT_NAMES.items()],
        "asked": values.get("ask", Ask.ALL),
        "saving": format_saving,
        "type_names": TYPE_NAMES,
        "others": LAYOUT_NAMES,
        "handle_of": handle_of,
        "design_names": DESIGN_NAMES,
        "key_names": KEY_NAMES,
        "show_question": form_fields.show_question,
        "question_template": question_template,
        "parents_of": form_fields.parents_of,
        "answers_of": form_fields.answers_of,
        "languages": list_names(),
        "type_of": form_fields.type_of,
        "part_stamp": make_part_stamp,
        "own": make_part_stamp(select_settings(values)),
        "moment_kind": moment_kind,
    }


def question_template(question: dict[str, Plain], typed: dict[str, str]) -> str:
    """Return the template of a question's form: the template of its type, or of the type chosen in an unsaved form.

    An unknown type has no fields of its own.
    """
    kind = KINDS.get(typed.get("type", form_fields.show_question(question)["type"]))
    return kind.template if kind else "console/_question_form.html"


def moment_kind(text: str | None) -> str:
    """Return the input type for a moment.

    Browsers pick valid moments; any other value stays text, so that the author can see and correct it.
    """
    return "datetime-local" if not text or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", text) else "text"
