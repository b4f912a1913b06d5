"""The fields of the editor's forms: what they show of a file, and what changes when they are sent.

A field shows a key's value as text: options one a line, a condition as a question and its labels. What is sent is
compared with what was shown, and only what differs becomes a change. A value that no field can show (a mapping where
text belongs) has no field, so a form never touches it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import candor_client.types
from candor_client.types import QuestionType, TypeName
from survey_app.authoring.authored_question import BATTERY, COMMON, DESIGNS, LABELS
from survey_app.authoring.diagnostics import ids_of
from survey_app.authoring.drafts import sections
from survey_app.authoring.yaml_source import Content, Plain
from survey_app.kinds import KINDS
from survey_app.kinds.question_kind import AuthorValue

Shown = dict[str, str]  # for each field its text
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
    return ("id", "type", "text", *KINDS[kind].author_keys, *COMMON)


def _known_keys(kind: str) -> set[str]:
    """Return the same for a type, with the keys that only a definition has."""
    published = _client_type(kind)
    return {*published.required, *published.possible, *keys_of(kind)}


def _client_type(kind: str) -> QuestionType:
    return candor_client.types.type_of(TypeName(kind))


def new_question(content: Content, kind: str) -> dict[str, Plain]:
    """A question of this type to begin with, a battery or a section: it says nothing that nobody has written."""
    if kind in sections.KEYS:
        return sections.new_entry(kind)
    taken = {name for one in content.questions for name in ids_of(one)}
    number = next(i for i in range(1, len(taken) + 2) if f"q{i}" not in taken)
    return {"id": f"q{number}", "type": kind, "text": "", **KINDS[kind].starter}


def type_of(question: Plain) -> str | None:
    """The type of a question, or what else an entry is, if it is one that we know."""
    kind = question.get("type") if isinstance(question, dict) else None
    if isinstance(question, dict) and sections.SECTION in question:
        return sections.SECTION
    return kind if isinstance(kind, str) and kind in (*KINDS, BATTERY) else None


def show_question(question: Mapping[str, Plain]) -> Shown:
    """The fields of a question's form; without a known type, those of the first."""
    kind = type_of({**question}) or next(iter(KINDS))
    shown: Shown = {}
    for key in keys_of(kind):
        shown |= FIELDS.get(key, _show_text)(key, question.get(key))
    return {**shown, "type": kind}


def show_survey(said: Mapping[str, Plain]) -> Shown:
    """The fields of the survey's own form."""
    shown: Shown = {}
    for key in (*SURVEY_TEXTS, *MOMENTS, "accept_weak_privacy", "joint", "invitations"):
        shown |= FIELDS.get(key, _show_text)(key, said.get(key))
    return shown


def _show_text(key: str, value: Plain | None) -> Shown:
    return {key: tidy(value)} if isinstance(value, str) else {} if value is not None else {key: ""}


def _show_switch(key: str, value: Plain | None) -> Shown:
    said = value.strip().lower() if isinstance(value, str) else value
    return {key: "true" if said in TRUE else ""} if not isinstance(said, list | dict) else {}


def _show_lines(key: str, value: Plain | None) -> Shown:
    lines = words_of([] if value is None or value == "" else value)
    return {} if lines is None else {key: "\n".join(lines)}


def _show_moment(key: str, value: Plain | None) -> Shown:
    """A moment as browsers pick it, in UTC; as it is if it is none."""
    shown = _show_text(key, value)
    if shown.get(key) and (moment := _moment(shown[key])):
        shown[key] = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    return shown


def _show_design(key: str, value: Plain | None) -> Shown:
    if value is None or (isinstance(value, str) and value in ("", *DESIGNS)):
        return {"design": value or "", "design_p": "", "design_yes": ""}
    if isinstance(value, dict) and len(value) == 1:
        ((name, given),) = value.items()
        if name in ("warner", "gamma") and isinstance(given, str):
            return {"design": name, "design_p": given, "design_yes": ""}
        if name == "forced" and isinstance(given, dict) and set(given) <= {"truth", "yes"}:
            truth, yes = (given.get(part, "") for part in ("truth", "yes"))
            if isinstance(truth, str) and isinstance(yes, str):
                return {"design": name, "design_p": truth, "design_yes": yes}
    return {}


def _show_condition(key: str, value: Plain | None) -> Shown:
    if value is None:
        return {"show_if": "", "show_if_is": "", "show_if_of": ""}
    if isinstance(value, dict) and set(value) <= {"question", "is"}:
        parent, labels = value.get("question", ""), words_of(value.get("is", []))
        if isinstance(parent, str) and labels is not None:
            return {"show_if": parent, "show_if_is": "\n".join(labels), "show_if_of": parent}
    return {}


def parents_of(content: Content, place: int) -> dict[str, str]:
    """The earlier questions that a condition can be about, by their ids: those with answers to choose from."""
    earlier = [one for one in content.questions[:place] if isinstance(one, dict) and _can_be_named(type_of(one))]
    return {name: text for one in earlier for name, text in sections.texts_of(one).items()}


def _can_be_named(kind: str | None) -> bool:
    """Tell whether a condition can name answers to what an entry asks."""
    return kind is not None and (kind in sections.KEYS or _client_type(kind).has_labels)


def _show_invitations(key: str, value: Plain | None) -> Shown:
    """Nobody, all at once, or in two phases; another issuer is written in the file."""
    nothing = {"invitations": "", "invitations_from": ""}
    if isinstance(value, dict) and isinstance(begin := value.get("from", ""), str) and set(value) <= {"from"}:
        shown = _show_moment("invitations_from", begin)
        return nothing | shown | {"invitations": "phases" if begin else "own"}
    if value is None or isinstance(value, str):
        return nothing | {"invitations": "own" if value and value.strip().lower() in TRUE else ""}
    return {}


def _show_joint(key: str, value: Plain | None) -> Shown:
    groups = [words_of(group) for group in value] if isinstance(value, list) else []
    if value is not None and (not isinstance(value, list) or None in groups):
        return {}
    return {"joint": "\n".join(", ".join(group or ()) for group in groups)}


Show = Callable[[str, Plain | None], Shown]
SHOW_VALUE: dict[AuthorValue, Show] = {
    AuthorValue.TEXT: _show_text,
    AuthorValue.LIST: _show_lines,
    AuthorValue.SWITCH: _show_switch,
    AuthorValue.DESIGN: _show_design,
}
FIELDS: dict[str, Show] = {
    **{key: SHOW_VALUE[value] for key, value in OWN_KEYS.items()},
    **dict.fromkeys(SWITCHES, _show_switch),
    **dict.fromkeys(MOMENTS, _show_moment),
    "show_if": _show_condition,
    "joint": _show_joint,
    "invitations": _show_invitations,
    "statements": sections.show_statements,
}


def answers_of(content: Content, parent: str) -> list[str]:
    """What can be answered to a question, as the author labelled it."""
    question = next((one for one in content.questions if isinstance(one, dict) and parent in ids_of(one)), {})
    kind = KINDS.get(type_of(question) or "")
    if kind and kind.preset_labels:
        return [*kind.preset_labels]
    return words_of(next((question[key] for key in LABELS if key in question), [])) or []


def survey_changes(said: Mapping[str, Plain], sent: Mapping[str, str]) -> Changes:
    """What a survey's form changes."""
    shown = show_survey(said)
    if tag := tidy(sent.get("language_tag", "")):  # one that the list does not have
        sent = {**sent, "language": tag}
    changes: Changes = {}
    for key in (*SURVEY_TEXTS, *MOMENTS, "accept_weak_privacy", "joint"):
        if key not in sent or key not in shown or (new := tidy(sent[key])) == shown[key]:
            continue
        if not new:
            changes[key] = "" if key in SURVEY_REQUIRED else None
        elif key in MOMENTS:
            changes[key] = _picked(new)
        elif key == "joint":
            changes[key] = [re.split(r"[,\s]+", line.strip(", ")) for line in new.split("\n") if line.strip(", ")]
        else:
            changes[key] = new
    invited = {key: tidy(sent.get(key, shown[key])) for key in ("invitations", "invitations_from") if key in shown}
    if any(invited[key] != shown[key] for key in invited):
        changes["invitations"] = _invitations(**invited)
    return changes


def is_stray(said: Mapping[str, Plain], sent: Mapping[str, str]) -> bool:
    """Whether a form gives a moment for a second phase, and asks for none."""
    begin = tidy(sent.get("invitations_from", ""))
    return begin not in ("", show_survey(said).get("invitations_from")) and sent.get("invitations") != "phases"


def _invitations(invitations: str, invitations_from: str) -> Plain | None:
    if invitations == "phases":
        return {"from": _picked(invitations_from)}
    return "true" if invitations else None


def _picked(moment: str) -> str:
    """What a browser picked, in UTC; anything else as it was typed."""
    return f"{moment}Z" if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?", moment) else moment


def question_changes(question: Mapping[str, Plain], sent: Mapping[str, str]) -> tuple[Changes, dict[str, str]]:
    """What a question's form changes, and which keys get another name first."""
    shown = show_question(question)
    given = {key: _lines(text) if key in (*LISTS, "show_if_is") else tidy(text) for key, text in sent.items()}
    differs = {key: new for key, new in given.items() if key in shown and new != shown[key]}
    required = sections.NEEDED.get(shown["type"]) or {"id", "text", *KINDS[shown["type"]].starter}
    changes: Changes = {}
    for key, new in differs.items():
        if key in LISTS:
            lines: list[Plain] = [*new.split("\n")] if new else []
            changes[key] = lines if lines or key in required else None
        elif key == "statements":
            changes[key] = sections.statements_of(new.split("\n"))
        elif key not in ("type", *DESIGN, *CONDITION):
            changes[key] = new or ("" if key in required and key in question else None)
    for parts, make in ((DESIGN, _design), (CONDITION, _condition)):
        if any(part in differs for part in parts):
            changes[parts[0]] = make([given.get(part, shown[part]) for part in parts])
    kind = differs.get("type", shown["type"])
    if kind not in KINDS or (kind == shown["type"] and type_of({**question})):
        return changes, {}
    return _another_type(question, kind, changes)


def _another_type(question: Mapping[str, Plain], kind: str, changes: Changes) -> tuple[Changes, dict[str, str]]:
    """The labels stay, under the name that the new type has for them; what it does not know goes."""
    old, new = next((key for key in LABELS if key in question), None), _client_type(kind).labels_key
    renames = {old: new} if old and new and new not in question else {}
    changes = {renames.get(key, key): value for key, value in changes.items()} | {"type": kind}
    there = {renames.get(key, key) for key in question}
    foreign = {key for other in KINDS for key in _known_keys(other)} - _known_keys(kind)
    changes |= {key: None for key in (there | set(changes)) & foreign}
    starter = KINDS[kind].starter
    changes |= {key: value for key, value in starter.items() if key not in there and changes.get(key) is None}
    return {key: value for key, value in changes.items() if value is not None or key in there}, renames


def _design(parts: Sequence[str]) -> Plain | None:
    name, first, second = parts
    if name == "forced":
        return {"forced": {"truth": first, "yes": second}}
    return {name: first} if name in PARAMETERS else name or None


def _condition(parts: Sequence[str]) -> Plain | None:
    """Labels that were ticked in the list of another question say nothing about this one."""
    parent, labels, of = parts
    labels = labels if of in ("", parent) else ""
    return {"question": parent, "is": [*labels.split("\n")] if labels else []} if parent else None


def tidy(text: str) -> str:
    """Text as forms and files agree on it: no space around lines, no empty lines at the ends, \\n between them."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text)]
    return "\n".join(lines).strip("\n")


def _lines(text: str) -> str:
    return "\n".join(line for line in tidy(text).split("\n") if line)


def words_of(value: Plain) -> list[str] | None:
    """The items of a list of texts, each on one line; None if it is none."""
    if not isinstance(value, list):
        return None
    words = [" ".join(tidy(item).split("\n")) for item in value if isinstance(item, str)]
    return words if len(words) == len(value) else None


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo and not found.second else None
