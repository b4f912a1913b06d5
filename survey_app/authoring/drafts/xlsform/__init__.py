"""An XLSForm (xlsform.org), as ODK, KoboToolbox and SurveyCTO read it, becomes a draft in YAML.

pyxform reads the workbook: it knows the aliases of columns and types, languages, groups and `or_other`. Here its
groups, notes and tables become sections, introductions and batteries; `rows` decides what can be asked with randomized
answers, and `words` holds the languages. What cannot be asked, free text before all else, is left out with the reason
as a comment in its place; a draft never asks something that the form did not ask, and it builds.
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
    identifier,
    languages,
    line,
    tag_of,
)
from survey_app.authoring.drafts.xlsform.xlsform_row import (
    REASONS,
    Import,
    Known,
    both,
    comment,
    condition,
    listed,
    question_of,
    required,
)
from survey_app.authoring.drafts.yaml_text import entry, item
from survey_app.authoring.yaml_source import Plain

TABLE_LABEL = "generated_table_list_label_"  # pyxform's name for the label of a table-list


class FormError(Exception):
    """This is no XLSForm, or nothing of it can be asked; the message says why."""


@dataclass(frozen=True)
class Draft:
    """A draft, the ids of the questions in it, and what of the form is not in it, with the reasons."""

    text: str
    taken: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def read_form(path: Path) -> dict[str, Any]:
    """What pyxform makes of a workbook."""
    try:
        from pyxform.errors import PyXFormError
        from pyxform.xls2json import workbook_to_json
        from pyxform.xls2json_backends import get_xlsform
    except ImportError:
        raise FormError("XLSForms need pyxform: pip install 'candor-survey[xlsform]'") from None
    try:
        book = get_xlsform(xlsform=str(path), file_type=path.suffix.lower())
        form: dict[str, Any] = workbook_to_json(
            workbook_dict=book, fallback_form_name=book.fallback_form_name, warnings=[]
        )
    except PyXFormError as error:
        raise FormError(f"{path} is no XLSForm that pyxform reads: {' '.join(str(error).split())}") from None
    return form


def draft(form: Mapping[str, Any], name: str) -> Draft:
    """A form as a draft; `name` is where it came from."""
    spoken = list(languages(form))
    default = form.get("default_language")
    language = default if default in spoken else (spoken[0] if spoken else None)
    own = tag_of(language) or "en"
    others = {tag: one for one in spoken if one != language and (tag := tag_of(one)) and tag != own}
    made = Import(form, Texts(language, others))
    for child in form.get("children", ()):
        _take(made, child, None)
    if not made.ids:
        reasons = "; ".join(f"{what}: {why}" for what, why in made.left_out)
        raise FormError(f"nothing in {name} can be asked with randomized answers. {reasons}".strip())
    title = line(made.texts.text(form.get("title")) or "Untitled survey")
    slug = identifier(str(form.get("id_string") or title), set()) or "survey"
    if made.notes:
        made.texts.prose["thanks"] = made.notes
    made.texts.prose = {"title": [form.get("title") or title], **made.texts.prose}
    prose = {key: made.texts.paragraphs(labels) for key, labels in made.texts.prose.items()}
    head: dict[str, Plain] = {"slug": slug, **prose, "title": title}
    if own != "en":
        head["language"] = own
    head |= {"results": "private", "epsilon": "2", "ask": Ask.AUTO.value}
    translations, missing = made.texts.translations()
    untaken = [one for one in spoken if one not in (language, *others.values())]
    lines = [*_preface(name, made, untaken, missing)]
    lines += [entry(key, value, 0, "\n") for key, value in head.items()]
    lines += ["questions:", *made.blocks]
    lines += [entry("translations", translations, 0, "\n")] if translations else []
    return Draft("\n".join(lines) + "\n", tuple(known.id for known in made.known.values()), tuple(made.left_out))


def _preface(name: str, made: Import, untaken: list[str], missing: list[str]) -> Iterator[str]:
    yield from comment(f"A draft from {line(name)}, an XLSForm. Read it through before you publish it.")
    yield from comment(
        "ε is what one person gives away in all; candor plan says how many respondents that takes. A question that the"
        " form did not require is optional here, and that costs respondents: take it out where you can."
    )
    if made.left_out:
        yield from comment(f"Not taken: {len(made.left_out)}; each is named below, with the reason.")
    if untaken:
        told = ", ".join(line(one) for one in untaken)
        yield from comment(
            f"The form also speaks {told}, which is not taken: its name has no tag, such as Deutsch (de) has."
        )
    if missing:
        yield from comment(f"Still to be translated, in the original's words until then: {', '.join(missing)}.")


def _take(made: Import, node: Mapping[str, Any], shown: str | None) -> None:
    """One row of the form, or a group of them under one condition."""
    kind, name = str(node.get("type", "")), str(node.get("name", ""))
    if kind == "group":
        if not node.get("control", {}).get("bodyless"):  # pyxform's own
            _take_group(made, node, both(shown, node.get("bind", {}).get("relevant")))
        return
    label = made.texts.text(node.get("label"))
    if kind == "note":
        reason = "a text with a condition, or that quotes an answer, cannot stand above a question"
        if not label or "${" in label or node.get("bind", {}).get("relevant"):
            made.leave_out(name, kind, label, reason if label else "it has no text")
        else:
            made.notes.append(node.get("label"))
        return
    taken = question_of(made, node, kind, name)
    if isinstance(taken, str):
        made.leave_out(name, kind, label, taken)
        return
    question, labels, notes = taken
    notes += condition(made, question, node, shown)
    made.begin()
    _know(made, name, question, labels, node)
    for note in notes:
        made.blocks += comment(note, 2)
    made.blocks.append(item(question, 2, "\n"))


def _know(
    made: Import, name: str, question: Mapping[str, Plain], labels: dict[str, str], node: Mapping[str, Any]
) -> None:
    """Remember a question that is taken: conditions name it, and so do translations."""
    identity = str(question["id"])
    made.ids.add(identity)
    made.known[name] = Known(identity, labels)
    key = next((key for key in LABELS if key in question), "")
    options = [one.get("label") or one["name"] for one in listed(made, node)] if key else []
    made.texts.questions[identity] = (node.get("label") or name, key, options)


def _take_group(made: Import, node: Mapping[str, Any], shown: str | None) -> None:
    """A group with a label is a section, and a table of one list of options a battery."""
    rows, label = list(node.get("children", ())), node.get("label")
    if rows and str(rows[0].get("name")).startswith(TABLE_LABEL):
        label, rows = rows[0].get("label"), rows[1:]
    rows = [row for row in rows if _appearance(row) != "label"]  # the head of a table, which pyxform makes a question
    if made.notes and not (made.heading or made.ids):
        made.describe()
    if _take_table(made, rows, label, shown):
        return
    outer = made.heading
    if made.texts.text(label):
        made.groups.append(label)
        made.heading = Heading(outer.title, [*outer.notes, label]) if outer else Heading(label)
    own = made.heading
    for row in rows:
        _take(made, row, shown)
    if made.texts.text(label):
        made.groups.pop()
    if made.heading is own:  # nothing of it was taken
        made.heading = outer


def _take_table(made: Import, rows: list[Mapping[str, Any]], label: Label, shown: str | None) -> bool:
    """Statements that share a list of options, as a battery; False if these rows are none."""
    lists = {str(row.get("itemset")) for row in rows}
    table = all(_appearance(row) == "list-nolabel" and row.get("type") == "select one" for row in rows)
    if len(rows) < 2 or len(lists) > 1 or not table or any(row.get("bind", {}).get("relevant") for row in rows):
        return False
    found = [question_of(made, row, "select one", str(row["name"])) for row in rows]
    asked = [one for one in found if not isinstance(one, str) and "options" in one[0]]
    if len(asked) < len(rows):
        return False
    title = label if made.texts.text(label) else made.title
    battery: dict[str, Plain] = {"type": "battery", "text": made.texts.text(title) or "…"}
    battery["points"], battery["statements"] = asked[0][0]["options"], (statements := dict[str, Plain]())
    if made.heading or made.notes:  # what the table asks then ends the introduction
        made.begin()
        made.texts.sections[-1].notes.append(title)
    else:
        made.texts.sections.append(Heading(title))
    for row, (question, labels, _) in zip(rows, asked, strict=True):
        name = str(row["name"])
        question["id"] = identifier(name, made.ids)
        statements[str(question["id"])] = question["text"]
        _know(made, name, {"id": question["id"], "points": battery["points"]}, labels, row)
    every = {"bind": {"required": "yes" if all(required(row) for row in rows) else ""}}
    notes = [note for _, _, more in asked for note in more] + condition(made, battery, every, shown)
    for note in [*notes, "A table of the form, as a battery: its points count 1, 2, 3, … unless you write scores"]:
        made.blocks += comment(note, 2)
    made.blocks.append(item(battery, 2, "\n"))
    made.in_table = True
    return True


def _appearance(node: Mapping[str, Any]) -> str:
    return str(node.get("control", {}).get("appearance", ""))


__all__ = ["REASONS", "Draft", "FormError", "draft", "read_form"]
