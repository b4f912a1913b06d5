"""The languages of a draft: every text beside its translation, and what is still missing.

A form without scripts, as everywhere in the editor; what is typed goes into the author's file, text by text.
"""

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.authoring.faults import check
from survey_app.authoring.source import LARGEST_FORM, AuthoringError, Content
from survey_app.drafts import languages
from survey_app.drafts.edits import EditError
from survey_app.drafts.form import tidy
from survey_app.explain.languages import Words
from survey_app.explain.languages.names import name_of
from survey_app.pages.console.draft import CHANGED, draft_of, page, part_stamp, save, sent
from survey_app.pages.console.guard import guard
from survey_app.problems import Problem

blueprint = Blueprint("languages", __name__)
guard(blueprint)

LONGEST_TAG = 40


@blueprint.get("/console/drafts/<int:key>/languages")
def texts(key: int) -> ResponseReturnValue:
    """All languages with what they lack, one of them open; the YAML if there is nothing else to show."""
    source = draft_of(key)
    content = check(source).content
    if content is None:
        return redirect(url_for("editor.yaml", key=key))
    known = languages.tags(content)
    tag = request.args.get("language", "")
    return _page(key, source, content, tag if tag in known else "", remove=request.args.get("remove", "") in known)


@blueprint.post("/console/drafts/<int:key>/languages")
def change(key: int) -> ResponseReturnValue:
    """Add a language, save what was typed for one, or take one away."""
    request.max_form_memory_size = LARGEST_FORM
    source, fields = draft_of(key), sent()
    action, _, tag = fields.get("do", "").partition(":")
    content = check(source).content
    if content is None:
        return redirect(url_for("editor.yaml", key=key))
    try:
        if action == "add":
            tag = tidy(fields.get("tag", "")) or fields.get("known", "")
            source, told = languages.add_language(source, tag[:LONGEST_TAG]), "Language added."
        elif action == "save":
            if fields.get("own") != _stamp(content, tag):
                return _page(key, source, content, tag, typed=fields, notice=CHANGED, status=409)
            source, told = languages.set_texts(source, tag, fields), "Saved."
        elif action == "remove":
            source, told = languages.remove_language(source, tag), "The language is gone from the draft."
        else:
            raise Problem("malformed_request", "The form does not say what to do.")
    except (EditError, AuthoringError) as error:
        return _page(key, source, content, "" if action == "add" else tag, typed=fields, notice=str(error), status=409)
    save(key, source)
    flash(told, "status")
    return redirect(url_for(".texts", key=key, language=None if action == "remove" else tag))


def _stamp(content: Content, tag: str) -> str:
    """What the language was when a form was made, with the texts that it translates."""
    known = languages.translated(content, tag)
    originals = [text for part in languages.parts(content) for text in part.texts]
    return part_stamp([[text.name, text.original, known[text.name]] for text in originals])


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
    own = content.said.get("language")
    known = languages.tags(content)
    parts = languages.parts(content)
    shown = {**languages.translated(content, tag), **(typed or {})} if tag in known else {}
    return page(
        "languages",
        key,
        source,
        status,
        spoken=[(one, len(languages.missing(content, one))) for one in known],
        count=sum(not text.optional for part in parts for text in part.texts),
        original=Words(own if isinstance(own, str) and own else "en"),
        target=Words(tag) if tag in known else None,
        parts=parts,
        shown=shown,
        theirs=_stamp(content, tag),
        typed_tag=(typed or {}).get("tag", ""),
        name_of=name_of,
        notice=notice,
        remove=remove,
    )
