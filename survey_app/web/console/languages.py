"""The languages of a draft: every text next to its translation, and the missing translations.

The form works without scripts, as everywhere in the editor. Translations are saved in the author's file, text by text.
"""

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.authoring.diagnostics import check
from survey_app.authoring.drafts import draft_translations
from survey_app.authoring.drafts.edits import EditError
from survey_app.authoring.drafts.form_fields import tidy
from survey_app.authoring.yaml_source import LARGEST_FORM, AuthoringError, Content
from survey_app.languages import Words
from survey_app.languages.language_names import get_name
from survey_app.problems import Problem
from survey_app.web.console.draft_page import (
    CONFLICT_MESSAGE,
    load_draft,
    make_part_stamp,
    read_form,
    render_page,
    save_draft,
)
from survey_app.web.console.guard import guard

blueprint = Blueprint("languages", __name__)
guard(blueprint)

LONGEST_TAG = 40


@blueprint.get("/console/drafts/<int:key>/languages")
def texts(key: int) -> ResponseReturnValue:
    """Show all languages with their missing texts, one of them open.

    Redirect to the YAML if there is nothing else to show.
    """
    source = load_draft(key)
    content = check(source).content
    if content is None:
        return redirect(url_for("editor.yaml", key=key))
    tags = draft_translations.list_tags(content)
    tag = request.args.get("language", "")
    return _page(key, source, content, tag if tag in tags else "", remove=request.args.get("remove", "") in tags)


@blueprint.post("/console/drafts/<int:key>/languages")
def change(key: int) -> ResponseReturnValue:
    """Add a language, save the texts of a language, or remove a language."""
    request.max_form_memory_size = LARGEST_FORM
    source, fields = load_draft(key), read_form()
    action, _, tag = fields.get("do", "").partition(":")
    content = check(source).content
    if content is None:
        return redirect(url_for("editor.yaml", key=key))
    try:
        if action == "add":
            tag = tidy(fields.get("tag", "")) or fields.get("known", "")
            source, message = draft_translations.add_language(source, tag[:LONGEST_TAG]), "Language added."
        elif action == "save":
            if fields.get("own") != _stamp(content, tag):
                return _page(key, source, content, tag, typed=fields, notice=CONFLICT_MESSAGE, status=409)
            source, message = draft_translations.set_texts(source, tag, fields), "Saved."
        elif action == "remove":
            source, message = (
                draft_translations.remove_language(source, tag),
                "The language was removed from the draft.",
            )
        else:
            raise Problem("malformed_request", "The request names no action. Reload the page and try again.")
    except (EditError, AuthoringError) as error:
        return _page(key, source, content, "" if action == "add" else tag, typed=fields, notice=str(error), status=409)
    save_draft(key, source)
    flash(message, "status")
    return redirect(url_for(".texts", key=key, language=None if action == "remove" else tag))


def _stamp(content: Content, tag: str) -> str:
    """Return the stamp of a language and of the texts that it translates."""
    translations = draft_translations.read_translated_texts(content, tag)
    originals = [text for part in draft_translations.list_text_groups(content) for text in part.texts]
    return make_part_stamp([[text.name, text.original, translations[text.name]] for text in originals])


def _page(
    key: int,
    source: bytes,
    content: Content,
    tag: str,
    *,
    typed: dict[str, str] | None = None,
    notice: str = "",
    remove: bool = False,
    status: int = 200,
) -> ResponseReturnValue:
    own = content.data.get("language")
    tags = draft_translations.list_tags(content)
    parts = draft_translations.list_text_groups(content)
    values = {**draft_translations.read_translated_texts(content, tag), **(typed or {})} if tag in tags else {}
    return render_page(
        "languages",
        key,
        source,
        status,
        spoken=[(language, len(draft_translations.list_missing_texts(content, language))) for language in tags],
        count=sum(not text.optional for part in parts for text in part.texts),
        original=Words(own if isinstance(own, str) and own else "en"),
        target=Words(tag) if tag in tags else None,
        parts=parts,
        shown=values,
        theirs=_stamp(content, tag),
        typed_tag=(typed or {}).get("tag", ""),
        name_of=get_name,
        notice=notice,
        remove=remove,
    )
