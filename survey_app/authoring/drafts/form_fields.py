"""The fields of the editor's forms: their text for a file, and the changes to the file when a form is sent.

A field shows a key's value as text: options one per line, a condition as a question and its labels. The sent text is
compared with the text before, and only differences become changes. A value that no field can show (a mapping instead of
text) has no field, so a form never changes it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import candor_client.types
from candor_client.types import QuestionType, TypeName
from survey_app.authoring.authored_question import BATTERY, COMMON_KEYS, DESIGNS, LABELS
from survey_app.authoring.diagnostics import ids_of
from survey_app.authoring.drafts import sections
from survey_app.authoring.yaml_source import Content, Plain
from survey_app.kinds import KINDS
from survey_app.kinds.question_kind import AuthorValue

FieldValues = dict[str, str]  # the text of each field
Changes = dict[str, Plain | None]

PARAMETERS = {"warner": ("p",), "gamma": ("g",), "forced": ("truth", "yes")}
SURVEY_TEXTS = (
    "slug",
    "title",
    "description",
    "consent",
    "contact",
    "language",
    "thanks",
    "completion",
    "results",
    "max_reports",
    "epsilon",
)
SURVEY_REQUIRED = ("slug", "title")
MOMENTS = ("opens", "closes", "deletes")
SWITCHES = ("optional", "accept_weak_privacy")
DESIGN = ("design", "design_p", "design_yes")
CONDITION = ("show_if", "show_if_is", "show_if_of")
TRUE = ("true", "yes")
OWN_KEYS = {key: value for kind in KINDS.values() for key, value in kind.author_keys.items()}
LISTS = tuple(key for key, value in OWN_KEYS.items() if value is AuthorValue.LIST)


def keys_of(kind: str) -> tuple[str, ...]:
    """Return the keys that an author may write in a question of this type, or in another entry among the questions."""
    if kind in sections.KEYS:
        return sections.KEYS[kind]
    return ("id", "type", "text", *KINDS[kind].author_keys, *COMMON_KEYS)


def _known_keys(kind: str) -> set[str]:
    """Return the keys of a question of this type, including the keys that only a definition has."""
    published = _client_type(kind)
    return {*published.required_keys, *published.optional_keys, *keys_of(kind)}


def _client_type(kind: str) -> QuestionType:
    return candor_client.types.type_of(TypeName(kind))


def make_question(content: Content, kind: str) -> dict[str, Plain]:
    """Return a new question of this type, or a new battery or section, without any content."""
    if kind in sections.KEYS:
        return sections.make_entry(kind)
    ids = {name for question in content.questions for name in ids_of(question)}
    number = next(i for i in range(1, len(ids) + 2) if f"q{i}" not in ids)
    return {"id": f"q{number}", "type": kind, "text": "", **KINDS[kind].starter}


def type_of(question: Plain) -> str | None:
    """Return the type of a question, or the kind of another entry. Return None if it is unknown."""
    kind = question.get("type") if isinstance(question, dict) else None
    if isinstance(question, dict) and sections.SECTION in question:
        return sections.SECTION
    return kind if isinstance(kind, str) and kind in (*KINDS, BATTERY) else None


def show_question(question: Mapping[str, Plain]) -> FieldValues:
    """Return the fields of a question's form. Without a known type, they are those of the first type."""
    kind = type_of({**question}) or next(iter(KINDS))
    fields: FieldValues = {}
    for key in keys_of(kind):
        fields |= FIELDS.get(key, _show_text)(key, question.get(key))
    return {**fields, "type": kind}


def show_survey(data: Mapping[str, Plain]) -> FieldValues:
    """Return the fields of the survey's own form."""
    fields: FieldValues = {}
    for key in (*SURVEY_TEXTS, *MOMENTS, "accept_weak_privacy", "joint", "invitations"):
        fields |= FIELDS.get(key, _show_text)(key, data.get(key))
    return fields


def _show_text(key: str, value: Plain | None) -> FieldValues:
    return {key: tidy(value)} if isinstance(value, str) else {} if value is not None else {key: ""}


def _show_switch(key: str, value: Plain | None) -> FieldValues:
    text = value.strip().lower() if isinstance(value, str) else value
    return {key: "true" if text in TRUE else ""} if not isinstance(text, list | dict) else {}


def _show_lines(key: str, value: Plain | None) -> FieldValues:
    lines = words_of([] if value is None or value == "" else value)
    return {} if lines is None else {key: "\n".join(lines)}


def _show_moment(key: str, value: Plain | None) -> FieldValues:
    """Return a date and time as browsers show it, in UTC. Return other text unchanged."""
    fields = _show_text(key, value)
    if fields.get(key) and (moment := _parse_minute(fields[key])):
        fields[key] = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    return fields


def _show_design(key: str, value: Plain | None) -> FieldValues:
    if value is None or (isinstance(value, str) and value in ("", *DESIGNS)):
        return {"design": value or "", "design_p": "", "design_yes": ""}
    if isinstance(value, dict) and len(value) == 1:
        ((name, parameter),) = value.items()
        if name in ("warner", "gamma") and isinstance(parameter, str):
            return {"design": name, "design_p": parameter, "design_yes": ""}
        if name == "forced" and isinstance(parameter, dict) and set(parameter) <= {"truth", "yes"}:
            truth, yes = (parameter.get(part, "") for part in ("truth", "yes"))
            if isinstance(truth, str) and isinstance(yes, str):
                return {"design": name, "design_p": truth, "design_yes": yes}
    return {}


def _show_condition(key: str, value: Plain | None) -> FieldValues:
    if value is None:
        return {"show_if": "", "show_if_is": "", "show_if_of": ""}
    if isinstance(value, dict) and set(value) <= {"question", "is"}:
        parent, labels = value.get("question", ""), words_of(value.get("is", []))
        if isinstance(parent, str) and labels is not None:
            return {"show_if": parent, "show_if_is": "\n".join(labels), "show_if_of": parent}
    return {}


def parents_of(content: Content, place: int) -> dict[str, str]:
    """Return the earlier questions that a condition can refer to, by their ids: those with a list of answers."""
    entries = [
        entry for entry in content.questions[:place] if isinstance(entry, dict) and _has_answers_to_name(type_of(entry))
    ]
    return {name: text for entry in entries for name, text in sections.texts_of(entry).items()}


def _has_answers_to_name(kind: str | None) -> bool:
    """Return whether a condition can name answers to an entry of this type."""
    return kind is not None and (kind in sections.KEYS or _client_type(kind).has_labels)


def _show_invitations(key: str, value: Plain | None) -> FieldValues:
    """Return the fields for invitations: none, all at once, or in two phases.

    Return no fields if the file names another issuer.
    """
    empty_fields = {"invitations": "", "invitations_from": ""}
    if isinstance(value, dict) and isinstance(start := value.get("from", ""), str) and set(value) <= {"from"}:
        start_fields = _show_moment("invitations_from", start)
        return empty_fields | start_fields | {"invitations": "phases" if start else "own"}
    if value is None or isinstance(value, str):
        return empty_fields | {"invitations": "own" if value and value.strip().lower() in TRUE else ""}
    return {}


def _show_joint(key: str, value: Plain | None) -> FieldValues:
    groups = [words_of(group) for group in value] if isinstance(value, list) else []
    if value is not None and (not isinstance(value, list) or None in groups):
        return {}
    return {"joint": "\n".join(", ".join(group or ()) for group in groups)}


ShowField = Callable[[str, Plain | None], FieldValues]
SHOW_VALUE: dict[AuthorValue, ShowField] = {
    AuthorValue.TEXT: _show_text,
    AuthorValue.LIST: _show_lines,
    AuthorValue.SWITCH: _show_switch,
    AuthorValue.DESIGN: _show_design,
}
FIELDS: dict[str, ShowField] = {
    **{key: SHOW_VALUE[value] for key, value in OWN_KEYS.items()},
    **dict.fromkeys(SWITCHES, _show_switch),
    **dict.fromkeys(MOMENTS, _show_moment),
    "show_if": _show_condition,
    "joint": _show_joint,
    "invitations": _show_invitations,
    "statements": sections.show_statements,
}


def answers_of(content: Content, parent: str) -> list[str]:
    """Return the labels of the answers to a question, as the author wrote them."""
    question = next((entry for entry in content.questions if isinstance(entry, dict) and parent in ids_of(entry)), {})
    kind = KINDS.get(type_of(question) or "")
    if kind and kind.preset_labels:
        return [*kind.preset_labels]
    return words_of(next((question[key] for key in LABELS if key in question), [])) or []


def survey_changes(data: Mapping[str, Plain], form: Mapping[str, str]) -> Changes:
    """Return the changes that a survey's form makes."""
    fields = show_survey(data)
    if tag := tidy(form.get("language_tag", "")):  # one that the list does not have
        form = {**form, "language": tag}
    changes: Changes = {}
    for key in (*SURVEY_TEXTS, *MOMENTS, "accept_weak_privacy", "joint"):
        if key not in form or key not in fields or (new := tidy(form[key])) == fields[key]:
            continue
        if not new:
            changes[key] = "" if key in SURVEY_REQUIRED else None
        elif key in MOMENTS:
            changes[key] = _to_utc(new)
        elif key == "joint":
            changes[key] = [re.split(r"[,\s]+", line.strip(", ")) for line in new.split("\n") if line.strip(", ")]
        else:
            changes[key] = new
    invitation_fields = {
        key: tidy(form.get(key, fields[key])) for key in ("invitations", "invitations_from") if key in fields
    }
    if any(invitation_fields[key] != fields[key] for key in invitation_fields):
        changes["invitations"] = _make_invitations(**invitation_fields)
    return changes


def has_stray_start(data: Mapping[str, Plain], form: Mapping[str, str]) -> bool:
    """Return whether a form has a start for a second phase, but no second phase."""
    start = tidy(form.get("invitations_from", ""))
    return start not in ("", show_survey(data).get("invitations_from")) and form.get("invitations") != "phases"


def _make_invitations(invitations: str, invitations_from: str) -> Plain | None:
    if invitations == "phases":
        return {"from": _to_utc(invitations_from)}
    return "true" if invitations else None


def _to_utc(moment: str) -> str:
    """Return a date and time from a browser as a timestamp in UTC. Return other text unchanged."""
    return f"{moment}Z" if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?", moment) else moment


def question_changes(question: Mapping[str, Plain], form: Mapping[str, str]) -> tuple[Changes, dict[str, str]]:
    """Return the changes that a question's form makes, and the keys to rename before that."""
    fields = show_question(question)
    form_values = {
        key: _tidy_lines(text) if key in (*LISTS, "show_if_is") else tidy(text) for key, text in form.items()
    }
    differences = {key: new for key, new in form_values.items() if key in fields and new != fields[key]}
    required = sections.REQUIRED_KEYS.get(fields["type"]) or {"id", "text", *KINDS[fields["type"]].starter}
    changes: Changes = {}
    for key, new in differences.items():
        if key in LISTS:
            lines: list[Plain] = [*new.split("\n")] if new else []
            changes[key] = lines if lines or key in required else None
        elif key == "statements":
            changes[key] = sections.parse_statements(new.split("\n"))
        elif key not in ("type", *DESIGN, *CONDITION):
            changes[key] = new or ("" if key in required and key in question else None)
    for parts, make in ((DESIGN, _make_design), (CONDITION, _make_condition)):
        if any(part in differences for part in parts):
            changes[parts[0]] = make([form_values.get(part, fields[part]) for part in parts])
    kind = differences.get("type", fields["type"])
    if kind not in KINDS or (kind == fields["type"] and type_of({**question})):
        return changes, {}
    return _change_type(question, kind, changes)


def _change_type(question: Mapping[str, Plain], kind: str, changes: Changes) -> tuple[Changes, dict[str, str]]:
    """Change the type of a question, and return the changes with the keys to rename.

    The labels stay, under the key of the new type. Keys that the new type does not have are removed.
    """
    old_key, new_key = next((key for key in LABELS if key in question), None), _client_type(kind).labels_key
    renames = {old_key: new_key} if old_key and new_key and new_key not in question else {}
    changes = {renames.get(key, key): value for key, value in changes.items()} | {"type": kind}
    present_keys = {renames.get(key, key) for key in question}
    foreign_keys = {key for other_kind in KINDS for key in _known_keys(other_kind)} - _known_keys(kind)
    changes |= {key: None for key in (present_keys | set(changes)) & foreign_keys}
    starter = KINDS[kind].starter
    changes |= {key: value for key, value in starter.items() if key not in present_keys and changes.get(key) is None}
    return {key: value for key, value in changes.items() if value is not None or key in present_keys}, renames


def _make_design(parts: Sequence[str]) -> Plain | None:
    name, first, second = parts
    if name == "forced":
        return {"forced": {"truth": first, "yes": second}}
    return {name: first} if name in PARAMETERS else name or None


def _make_condition(parts: Sequence[str]) -> Plain | None:
    """Return a condition, or None if no question was chosen.

    Labels that were chosen for another question are dropped.
    """
    parent, labels, of = parts
    labels = labels if of in ("", parent) else ""
    return {"question": parent, "is": [*labels.split("\n")] if labels else []} if parent else None


def tidy(text: str) -> str:
    """Return text without space around its lines or empty lines at its ends, with a line feed as line break."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text)]
    return "\n".join(lines).strip("\n")


def _tidy_lines(text: str) -> str:
    return "\n".join(line for line in tidy(text).split("\n") if line)


def words_of(value: Plain) -> list[str] | None:
    """Return the items of a list of texts, each on one line, or None if the value is not a list of texts."""
    if not isinstance(value, list):
        return None
    words = [" ".join(tidy(item).split("\n")) for item in value if isinstance(item, str)]
    return words if len(words) == len(value) else None


def _parse_minute(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo and not moment.second else None
