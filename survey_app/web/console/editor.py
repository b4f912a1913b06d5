"""The editor: an author's file, changed by forms or by hand, until it is published.

The file is the only source of truth. Every form is an ordinary POST. All input is saved to the file even if it is
wrong, and each error is shown at its place.
"""

import re
from typing import Any, NamedTuple

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.authoring.ask import Ask
from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.diagnostics import check
from survey_app.authoring.drafts import draft_translations, edits, form_fields, group_rows
from survey_app.authoring.drafts.edits import EditError
from survey_app.authoring.drafts.sections import SECTION, handle_of
from survey_app.authoring.yaml_source import LARGEST_FILE, LARGEST_FORM, AuthoringError, Plain
from survey_app.kinds import KINDS
from survey_app.languages import numbers
from survey_app.problems import Problem
from survey_app.web.access import download, owner_key, store
from survey_app.web.console.draft_page import (
    CONFLICT_MESSAGE,
    LAYOUT_NAMES,
    load_draft,
    make_part_stamp,
    make_stamp,
    read_form,
    render_page,
    save_draft,
    select_settings,
    template_context,
)
from survey_app.web.console.duplicates import save_duplicate
from survey_app.web.console.guard import guard

blueprint = Blueprint("editor", __name__)
guard(blueprint)

ACTION = re.compile(r"(save|done|open|up|down|copy|head|remove|delete|move):(\d{1,6})|add:(\w+)")
CHOICE_PAGES = ("editor.questions", "editor.settings", "editor.yaml", "launch.trial", "launch.review")
POSITION = re.compile(r"[0-9]{1,6}")
STRAY_ISSUER = (
    "Nothing was saved. “Answers from” is only for surveys in two phases, where people take a ticket first."
    " Choose two phases under “Invitations”, or clear “Answers from”."
)
FORM_INTERNALS = ("csrf_token", "stamp", "own", "do", "was", "question", "to", "back")


class ActionResult(NamedTuple):
    """The result of an action: the file, the question to scroll to, and the message.

    `edit` is the position of the open question, and `remove` of the question to be deleted.
    """

    source: bytes
    position: int
    message: str
    edit: int | None = None
    remove: int | None = None


class EditConflict(Exception):
    """Raised if another window changed the question being edited, which is at `position`."""

    def __init__(self, position: int) -> None:
        super().__init__(CONFLICT_MESSAGE)
        self.position = position


@blueprint.url_value_preprocessor
def _raise_form_limit(endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Raise the size limit of form fields, so that a whole file fits into one. This runs before the form is read."""
    request.max_form_memory_size = LARGEST_FORM


# questions


@blueprint.get("/console/drafts/<int:key>")
def questions(key: int) -> ResponseReturnValue:
    """Show all questions, one of them open. Redirect to the YAML if there is nothing else to show."""
    source = load_draft(key)
    if check(source).content is None:
        return redirect(url_for(".yaml", key=key))
    places = {name: request.args.get(name, -1, type=int) for name in ("edit", "remove", "focus")}
    return render_page("questions", key, source, **places, typed={}, notice="")


@blueprint.post("/console/drafts/<int:key>")
def change(key: int) -> ResponseReturnValue:
    """Save the open question, if there is one, then perform the action of the button."""
    source, fields = load_draft(key), read_form()
    action = ACTION.fullmatch(fields.get("do", ""))
    if action is None:
        raise Problem("malformed_request", "The request names no action. Reload the page and try again.")
    try:
        position, is_stale = int(action[2] or 0), fields.get("stamp") != make_stamp(source)
        if "question" in fields:  # the buttons of the whole page save the open question
            is_other = action[2] is not None and action[2] != fields["question"]
            source, open_position = apply_question(source, fields)
            if is_other and is_stale:
                save_draft(key, source)
                flash(
                    "Saved. Nothing else was done: the draft was changed in another window. Check it, then try again.",
                    "error",
                )
                return redirect(url_for(".questions", key=key))
            position = position if is_other else open_position
        elif is_stale:
            flash("Nothing was done: the draft was changed in another window. Check it, then try again.", "error")
            return redirect(url_for(".questions", key=key))
        result = _perform(source, action, position, fields)
    except EditConflict as error:
        places = {"edit": error.position, "remove": -1, "focus": -1}
        return render_page("questions", key, source, 409, **places, typed=fields, notice=CONFLICT_MESSAGE)
    except (EditError, AuthoringError) as error:
        return _show_unsaved(key, fields, str(error))
    save_draft(key, result.source)
    flash(result.message, "status")
    anchor = f"q{result.position}" if result.edit is None else None  # a browser that jumps to an anchor focuses nothing
    at = url_for(".questions", key=key, edit=result.edit, remove=result.remove, focus=result.position, _anchor=anchor)
    return redirect(at)


def apply_question(source: bytes, fields: dict[str, str]) -> tuple[bytes, int]:
    """Return the file with the fields of the open question, and the current position of that question."""
    content = edits.read_content(source)
    position = int(fields["question"]) if POSITION.fullmatch(fields["question"]) else -1
    ids = [handle_of(entry) for entry in content.questions]
    if fields.get("stamp") != make_stamp(source) and (position >= len(ids) or ids[position] != fields.get("was")):
        if ids.count(was := fields.get("was", "")) != 1:
            raise EditError("unknown_question", "The question was changed or deleted in another window.")
        position = ids.index(was)
    now = make_part_stamp(content.question(position))
    if fields.get("own") not in (None, "", now):
        raise EditConflict(position)
    changes, renames = form_fields.question_changes(content.question(position), fields)
    return edits.set_question(source, position, changes, renames), position


def _perform(source: bytes, action: re.Match[str], position: int, fields: dict[str, str]) -> ActionResult:
    content = edits.read_content(source)
    last = len(content.questions) - 1
    if kind := action[3]:
        if kind not in (*KINDS, *LAYOUT_NAMES):
            raise Problem("malformed_request", "There is no such type of question.")
        message, place = f"{LAYOUT_NAMES.get(kind, 'Question')} added.", last + 1
        if kind in KINDS and content.questions and form_fields.type_of(content.questions[-1]) == BATTERY:
            source, place = edits.add_question(source, form_fields.make_question(content, SECTION)), place + 1
            message = "Question added, with a section above it: a question after a battery needs a heading of its own."
        return ActionResult(
            edits.add_question(source, form_fields.make_question(content, kind)), place, message, edit=place
        )
    if action[1] == "head":
        with_section = edits.add_question(source, form_fields.make_question(content, SECTION))
        return ActionResult(
            edits.move_question(with_section, last + 1, position), position, "Section added.", edit=position
        )
    if action[1] in ("up", "down", "move"):
        target = POSITION.fullmatch(fields.get("to", "").strip())
        steps = {"up": position - 1, "down": position + 1, "move": int(target[0]) - 1 if target else position}
        to = min(max(steps[action[1]], 0), last)
        return ActionResult(edits.move_question(source, position, to), to, f"Question moved to position {to + 1}.")
    if action[1] == "copy":
        return ActionResult(
            edits.copy_question(source, position), position + 1, "Question duplicated.", edit=position + 1
        )
    if action[1] == "delete":
        return ActionResult(edits.delete_question(source, position), min(position, last - 1), "Question deleted.")
    if action[1] == "remove":
        return ActionResult(source, position, "Saved.", remove=position)
    return ActionResult(source, position, "Saved.", edit=None if action[1] == "done" else position)


def _show_unsaved(key: int, fields: dict[str, str], why: str) -> ResponseReturnValue:
    """Show the input that could not be saved to the file as YAML to paste, so that nothing typed is lost."""
    values = {name: form_fields.tidy(text) for name, text in fields.items() if text and name not in FORM_INTERNALS}
    typed = "\n".join(edits.format_entry(name, text, 0, "\n") for name, text in values.items())
    return render_template("console/save_conflict.html", key=key, why=why, typed=typed), 409


# the survey itself


@blueprint.post("/console/drafts/<int:key>/duplicate")
def duplicate(key: int) -> ResponseReturnValue:
    """Create another draft like this one, under a slug of its own."""
    return save_duplicate(load_draft(key))


@blueprint.post("/console/drafts/<int:key>/ask")
def choose(key: int) -> ResponseReturnValue:
    """Set what each device answers, from any page of the draft, and redirect back to that page."""
    source, fields = load_draft(key), read_form()
    if (ask := fields.get("ask")) not in list(Ask):
        raise Problem(
            "malformed_request", "The request does not say what each person answers. Reload the page and try again."
        )
    try:
        if edits.read_content(source).data.get("ask", Ask.ALL) != ask:
            source = edits.set_survey(source, {"ask": ask})
    except (EditError, AuthoringError) as error:
        return _show_unsaved(key, fields, str(error))
    save_draft(key, source)
    flash("Saved.", "status")
    return redirect(_page_of_choice(key, fields.get("back", "")))


def _page_of_choice(key: int, target: str) -> str:
    """Return the target if it is a page of this draft that has the choice, else the page of questions."""
    page, mark, edit = target.partition("?edit=")
    is_page = page in (url_for(endpoint, key=key) for endpoint in CHOICE_PAGES)
    return target if is_page and (not mark or POSITION.fullmatch(edit)) else url_for(".questions", key=key)


@blueprint.get("/console/drafts/<int:key>/settings")
def settings(key: int) -> ResponseReturnValue:
    """Show texts, dates, limits, and the budget."""
    source = load_draft(key)
    diagnosis = check(source)
    if diagnosis.content is None:
        return redirect(url_for(".yaml", key=key))
    return render_page("settings", key, source, shown=_settings_fields(diagnosis.content.data), notice="")


@blueprint.post("/console/drafts/<int:key>/settings")
def change_settings(key: int) -> ResponseReturnValue:
    """Save texts, dates, limits, and the budget."""
    source, fields = load_draft(key), read_form()
    try:
        values = edits.read_content(source).data
        now = make_part_stamp(select_settings(values))
        notice = (
            CONFLICT_MESSAGE
            if fields.get("own") not in (None, "", now)
            else STRAY_ISSUER
            if form_fields.has_stray_start(values, fields)
            else ""
        )
        if notice:
            field_values = _settings_fields(values)
            field_values |= {name: text for name, text in fields.items() if name in field_values}
            return render_page("settings", key, source, 409, shown=field_values, notice=notice)
        source = apply_settings(source, fields)
    except (EditError, AuthoringError) as error:
        return _show_unsaved(key, fields, str(error))
    save_draft(key, source)
    flash("Saved.", "status")
    return redirect(url_for(".settings", key=key))


def apply_settings(source: bytes, fields: dict[str, str]) -> bytes:
    """Return the file with the fields of the settings form."""
    values = edits.read_content(source).data
    source = edits.set_survey(source, form_fields.survey_changes(values, fields))
    rows = group_rows.parse_rows(values, fields)
    return source if rows is None else group_rows.set_groups(source, rows)


def _settings_fields(content: dict[str, Plain]) -> form_fields.FieldValues:
    return {**form_fields.show_survey(content), **group_rows.show_groups(content)}


# the file


@blueprint.get("/console/drafts/<int:key>/yaml")
def yaml(key: int) -> ResponseReturnValue:
    """Show the file itself."""
    source = load_draft(key)
    return render_page("yaml", key, source, text=source.decode("utf-8-sig", "replace"), notice="")


@blueprint.post("/console/drafts/<int:key>/yaml")
def change_yaml(key: int) -> ResponseReturnValue:
    """Save the file as it was typed, even if it is invalid."""
    source, fields = load_draft(key), read_form()
    typed = apply_text(source, fields.get("source", ""))
    notice = ""
    if len(typed) > LARGEST_FILE:
        notice = f"Nothing was saved: a survey file may have at most {numbers.format_count(LARGEST_FILE)} bytes."
    elif fields.get("stamp") != make_stamp(source) and typed != source:
        notice = (
            "The draft was changed in another window, so this text was not saved. "
            "To overwrite the other change, save again."
        )
    if notice:
        text = typed.decode("utf-8-sig", "replace")
        return render_page("yaml", key, source, 409, text=text, notice=notice)
    save_draft(key, typed)
    flash("Saved.", "status")
    return redirect(url_for(".yaml", key=key))


def apply_text(source: bytes, typed: str) -> bytes:
    """Return the typed text with the line breaks and the byte order mark of the file.

    If the text is unchanged, return the file itself.
    """
    old = source.decode("utf-8-sig", "replace")
    new = typed.replace("\r\n", "\n").replace("\r", "\n")
    if new == old.replace("\r\n", "\n").replace("\r", "\n"):
        return source
    mark = b"\xef\xbb\xbf" if source.startswith(b"\xef\xbb\xbf") else b""
    return mark + (new.replace("\n", "\r\n") if "\r\n" in old else new).encode("utf-8", "replace")


@blueprint.get("/console/drafts/<int:key>/file.yaml")
def file(key: int) -> Response:
    """Return the file as a download, byte for byte."""
    source = load_draft(key)
    content = check(source).content
    name = content.data.get("slug") if content else None
    safe = re.sub(r"[^a-z0-9_-]", "", name) if isinstance(name, str) else ""
    return download(source, f"{safe or 'survey'}.yaml", "application/yaml; charset=utf-8")


@blueprint.post("/console/drafts/<int:key>/check")
def live(key: int) -> ResponseReturnValue:
    """Return the diagnostics of the draft with the unsaved input. Nothing is saved."""
    source, fields = load_draft(key), read_form()
    position = -1
    try:
        if "source" in fields:
            source = apply_text(source, fields["source"])[: LARGEST_FILE + 1]
        elif "question" in fields:
            source, position = apply_question(source, fields)
        elif "spoken" in fields:
            source = draft_translations.set_texts(source, fields["spoken"], fields)
        else:
            source = apply_settings(source, fields)
    except (EditConflict, EditError, AuthoringError):
        return Response(status=204)
    return render_page("_live_update", key, source, edited=position)


@blueprint.route("/console/drafts/<int:key>/delete", methods=["GET", "POST"])
def throw_away(key: int) -> ResponseReturnValue:
    """Delete the draft, after a confirmation page."""
    source = load_draft(key)
    if request.method == "POST":
        store().delete_draft(owner_key(), key)
        flash("The draft was deleted.", "status")
        return redirect(url_for("console.home"))
    return render_template("console/delete_draft.html", **template_context(key, source, check(source)))
