"""Import of an XLSForm (xlsform.org), as ODK, KoboToolbox and SurveyCTO read it, into a draft in YAML.

pyxform reads the workbook: it knows the aliases of columns and types, languages, groups and `or_other`. This module
turns its groups, notes and tables into sections, introductions and batteries. `xlsform_row` decides which rows can have
randomized answers, and `xlsform_languages` has the languages. Other rows, above all free text, are left out, with the
reason as a comment in their place. A draft never asks a question that the form did not ask, and it is always valid.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from survey_app.authoring.ask import Ask
from survey_app.authoring.authored_question import LABELS
from survey_app.authoring.drafts.xlsform.xlsform_languages import (
    Heading,
    Label,
    Texts,
    list_languages,
    make_id,
    tag_of,
    to_line,
)
from survey_app.authoring.drafts.xlsform.xlsform_row import (
    DEPENDENT_NOTE,
    EMPTY_NOTE,
    REASONS,
    FormImport,
    ImportedQuestion,
    Omission,
    Reason,
    convert_question,
    format_comment,
    is_required,
    join_conditions,
    list_options,
    set_condition,
)
from survey_app.authoring.drafts.yaml_text import format_entry, format_item
from survey_app.authoring.yaml_source import Plain

TABLE_LABEL = "generated_table_list_label_"  # pyxform's name for the label of a table-list


class FormError(Exception):
    """The file is not an XLSForm, or none of its questions can be asked: a stable code, and the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Draft:
    """A draft, the ids of its questions, and the rows that it leaves out, with the reasons."""

    text: str
    question_ids: tuple[str, ...]
    omissions: tuple[Omission, ...]


def read_form(path: Path) -> dict[str, Any]:
    """Return pyxform's data for a workbook. Raise FormError if pyxform is missing or cannot read it."""
    try:
        from pyxform.errors import PyXFormError
        from pyxform.xls2json import workbook_to_json
        from pyxform.xls2json_backends import get_xlsform
    except ImportError:
        raise FormError(
            "no_pyxform", "XLSForms need pyxform; install it with pip install 'candor-survey[xlsform]'"
        ) from None
    try:
        workbook = get_xlsform(xlsform=str(path), file_type=path.suffix.lower())
        form: dict[str, Any] = workbook_to_json(
            workbook_dict=workbook, fallback_form_name=workbook.fallback_form_name, warnings=[]
        )
    except PyXFormError as error:
        raise FormError(
            "not_xlsform", f"{path} is not an XLSForm that pyxform can read: {' '.join(str(error).split())}"
        ) from None
    return form


def make_draft(form: Mapping[str, Any], name: str) -> Draft:
    """Convert a form into a draft; `name` is its source. Raise FormError if none of its questions can be asked."""
    form_languages = list(list_languages(form))
    default = form.get("default_language")
    language = default if default in form_languages else (form_languages[0] if form_languages else None)
    own_tag = tag_of(language) or "en"
    other_languages = {
        tag: name_of_language
        for name_of_language in form_languages
        if name_of_language != language and (tag := tag_of(name_of_language)) and tag != own_tag
    }
    state = FormImport(form, Texts(language, other_languages))
    for child in form.get("children", ()):
        _import_row(state, child, None)
    if not state.ids:
        reasons = "; ".join(f"{omission.name}: {omission.reason}" for omission in state.omissions)
        raise FormError(
            "nothing_to_ask", f"no question in {name} can be asked with randomized answers. {reasons}".strip()
        )
    title = to_line(state.texts.text(form.get("title")) or "Untitled survey")
    slug = make_id(str(form.get("id_string") or title), set()) or "survey"
    if state.notes:
        state.texts.prose["thanks"] = state.notes
    state.texts.prose = {"title": [form.get("title") or title], **state.texts.prose}
    prose = {key: state.texts.paragraphs(labels) for key, labels in state.texts.prose.items()}
    head: dict[str, Plain] = {"slug": slug, **prose, "title": title}
    if own_tag != "en":
        head["language"] = own_tag
    head |= {"results": "private", "epsilon": "2", "ask": Ask.AUTO.value}
    translations, missing = state.texts.translations()
    skipped_languages = [
        name_of_language
        for name_of_language in form_languages
        if name_of_language not in (language, *other_languages.values())
    ]
    lines = [*_list_preface_lines(name, state, skipped_languages, missing)]
    lines += [format_entry(key, value, 0, "\n") for key, value in head.items()]
    lines += ["questions:", *state.blocks]
    lines += [format_entry("translations", translations, 0, "\n")] if translations else []
    return Draft(
        "\n".join(lines) + "\n", tuple(question.id for question in state.questions.values()), tuple(state.omissions)
    )


def _list_preface_lines(
    name: str, state: FormImport, skipped_languages: list[str], missing: list[str]
) -> Iterator[str]:
    yield from format_comment(f"A draft made from the XLSForm {to_line(name)}. Review it before you publish it.")
    yield from format_comment(
        "ε is the total privacy loss of one person; candor plan shows how many respondents it takes. Questions that the"
        " form did not require are optional here. Optional questions take more respondents: remove optional where you"
        " can."
    )
    if state.omissions:
        yield from format_comment(f"Left out: {len(state.omissions)}; each is named below, with the reason.")
    if skipped_languages:
        names = ", ".join(to_line(language) for language in skipped_languages)
        yield from format_comment(
            f"The form also has texts in {names}. They are left out, because the name lacks a tag, such as de in"
            " Deutsch (de)."
        )
    if missing:
        yield from format_comment(f"Not translated yet, and in the original language until then: {', '.join(missing)}.")


def _import_row(state: FormImport, node: Mapping[str, Any], outer_condition: str | None) -> None:
    """Import one row of the form, or a group of rows under one condition."""
    kind, name = str(node.get("type", "")), str(node.get("name", ""))
    if kind == "group":
        if not node.get("control", {}).get("bodyless"):  # pyxform's own
            _import_group(state, node, join_conditions(outer_condition, node.get("bind", {}).get("relevant")))
        return
    label = state.texts.text(node.get("label"))
    if kind == "note":
        if not label or "${" in label or node.get("bind", {}).get("relevant"):
            state.omit(name, kind, label, DEPENDENT_NOTE if label else EMPTY_NOTE)
        else:
            state.notes.append(node.get("label"))
        return
    result = convert_question(state, node, kind, name)
    if isinstance(result, Reason):
        state.omit(name, kind, label, result)
        return
    question, labels, notes = result
    notes += set_condition(state, question, node, outer_condition)
    state.start_question()
    _register_question(state, name, question, labels, node)
    for note in notes:
        state.blocks += format_comment(note, 2)
    state.blocks.append(format_item(question, 2, "\n"))


def _register_question(
    state: FormImport, name: str, question: Mapping[str, Plain], labels: dict[str, str], node: Mapping[str, Any]
) -> None:
    """Record an imported question, since conditions and translations refer to it."""
    identity = str(question["id"])
    state.ids.add(identity)
    state.questions[name] = ImportedQuestion(identity, labels)
    key = next((key for key in LABELS if key in question), "")
    options = [option.get("label") or option["name"] for option in list_options(state, node)] if key else []
    state.texts.questions[identity] = (node.get("label") or name, key, options)


def _import_group(state: FormImport, node: Mapping[str, Any], outer_condition: str | None) -> None:
    """Import a group: one with a label is a section, and a table with one list of options is a battery."""
    rows, label = list(node.get("children", ())), node.get("label")
    if rows and str(rows[0].get("name")).startswith(TABLE_LABEL):
        label, rows = rows[0].get("label"), rows[1:]
    rows = [row for row in rows if _appearance(row) != "label"]  # the head of a table, a question for pyxform
    if state.notes and not (state.heading or state.ids):
        state.use_notes_as_description()
    if _import_table(state, rows, label, outer_condition):
        return
    outer_heading = state.heading
    if state.texts.text(label):
        state.groups.append(label)
        state.heading = Heading(outer_heading.title, [*outer_heading.notes, label]) if outer_heading else Heading(label)
    own_heading = state.heading
    for row in rows:
        _import_row(state, row, outer_condition)
    if state.texts.text(label):
        state.groups.pop()
    if state.heading is own_heading:  # no row of it was imported
        state.heading = outer_heading


def _import_table(state: FormImport, rows: list[Mapping[str, Any]], label: Label, outer_condition: str | None) -> bool:
    """Import statements that share a list of options as a battery. Return False if these rows are not a table."""
    lists = {str(row.get("itemset")) for row in rows}
    table = all(_appearance(row) == "list-nolabel" and row.get("type") == "select one" for row in rows)
    if len(rows) < 2 or len(lists) > 1 or not table or any(row.get("bind", {}).get("relevant") for row in rows):
        return False
    results = [convert_question(state, row, "select one", str(row["name"])) for row in rows]
    questions = [result for result in results if not isinstance(result, Reason) and "options" in result[0]]
    if len(questions) < len(rows):
        return False
    title = label if state.texts.text(label) else state.title
    battery: dict[str, Plain] = {"type": "battery", "text": state.texts.text(title) or "…"}
    battery["points"], battery["statements"] = questions[0][0]["options"], (statements := dict[str, Plain]())
    if state.heading or state.notes:  # the question of the table then ends the introduction
        state.start_question()
        state.texts.sections[-1].notes.append(title)
    else:
        state.texts.sections.append(Heading(title))
    for row, (question, labels, _) in zip(rows, questions, strict=True):
        name = str(row["name"])
        question["id"] = make_id(name, state.ids)
        statements[str(question["id"])] = question["text"]
        _register_question(state, name, {"id": question["id"], "points": battery["points"]}, labels, row)
    joint_row = {"bind": {"required": "yes" if all(is_required(row) for row in rows) else ""}}
    notes = [note for _, _, row_notes in questions for note in row_notes] + set_condition(
        state, battery, joint_row, outer_condition
    )
    for note in [
        *notes,
        "A table of the form, imported as a battery: its points score 1, 2, 3, … unless you write scores",
    ]:
        state.blocks += format_comment(note, 2)
    state.blocks.append(format_item(battery, 2, "\n"))
    state.in_table = True
    return True


def _appearance(node: Mapping[str, Any]) -> str:
    return str(node.get("control", {}).get("appearance", ""))


__all__ = ["REASONS", "Draft", "FormError", "make_draft", "read_form"]
