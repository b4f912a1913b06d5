"""One row of an XLSForm: its question with a condition, or the reason why it cannot be asked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from candor_client.types.number import MOST_STEPS, to_grid
from survey_app.authoring.drafts.xlsform.xlsform_languages import Heading, Label, Texts, make_id, to_line
from survey_app.authoring.drafts.yaml_text import format_item
from survey_app.authoring.yaml_source import Plain
from survey_app.kinds import KINDS
from survey_app.languages import LANGUAGES, Words
from survey_app.languages.plain_text import wrap_sentence


class Reason(NamedTuple):
    """Why a row cannot be imported: a stable code, and a sentence for the author."""

    code: str
    sentence: str


class Omission(NamedTuple):
    """A row that is not imported: its name, and the code and the sentence of the reason."""

    name: str
    code: str
    reason: str


PLACES = Reason("place", "a place can identify a person whatever noise is added; ask for one of several regions")
TRACES = Reason("trace", "it would record who answered or when, and Candor stores neither")
FILES = Reason("file", "a file cannot be randomized")
MOMENTS = Reason(
    "moment",
    "dates and times have no options to draw from; ask for a number, such as years ago, or offer ranges as options",
)
DEPENDENT_NOTE = Reason("dependent_note", "a note that has a condition or quotes an answer cannot introduce a question")
EMPTY_NOTE = Reason("empty_note", "it has no text")
REASONS = {  # by type
    "text": Reason(
        "free_text", "free text cannot be randomized, because no noise hides written words; ask for options or a number"
    ),
    "calculate": Reason("calculation", "nothing can be computed from answers that never leave the device"),
    "rank": Reason(
        "ranking", "a ranking has too many possible answers to be hidden well; ask only for the first choice"
    ),
    "repeat": Reason("repeat", "a repeated group has no fixed number of answers"),
    "acknowledge": Reason("consent", "a tick before the questions is part of the consent; move its text to consent"),
    "barcode": Reason("barcode", "a barcode cannot be randomized, just like free text"),
    "hidden": Reason("hidden", "respondents do not see this row, so it asks nothing"),
    **dict.fromkeys(("date", "dateTime", "time"), MOMENTS),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape", "start-geopoint"), PLACES),
    **dict.fromkeys(("photo", "audio", "video", "file", "background-audio", "osm"), FILES),
    **dict.fromkeys(
        ("start", "end", "today", "deviceid", "phonenumber", "username", "email", "audit", "simserial", "subscriberid"),
        TRACES,
    ),
}
SELECT_ONE, LIKERT, SELECT_ALL = ("choice", "options"), ("scale", "points"), ("multiple", "options")
REQUIRED = ("yes", "true", "true()", "1")
IGNORED_COLUMNS = ("hint", "guidance_hint", "media", "default")
PARTS = re.compile(r"\s+(and|or)\s+")
BOUND = re.compile(r"\.\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)")
MIRRORED = re.compile(r"(-?\d+(?:\.\d+)?)\s*(<=|>=|<|>)\s*\.")
MIRRORED_SIGNS = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
NAME, VALUE = r"\$\{\s*([\w.-]+)\s*\}", r"(?:'([^']*)'|\"([^\"]*)\"|(-?\d+))"
EQUAL = re.compile(rf"{NAME}\s*=\s*{VALUE}|selected\(\s*{NAME}\s*,\s*{VALUE}\s*\)")


@dataclass(frozen=True)
class ImportedQuestion:
    """An imported question: its id, and its label for each value of the form."""

    id: str
    labels: Mapping[str, str]


@dataclass
class FormImport:
    """The state of an import while the rows of a form are read.

    A heading waits for its first question, so that no heading is without a question. Notes wait too, because
    respondents would not find them between two questions. They introduce the next question; the last ones are the
    thanks.
    """

    form: Mapping[str, Any]
    texts: Texts
    blocks: list[str] = field(default_factory=list)
    questions: dict[str, ImportedQuestion] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    omissions: list[Omission] = field(default_factory=list)
    heading: Heading | None = None
    notes: list[Label] = field(default_factory=list)
    groups: list[Label] = field(default_factory=list)
    in_table: bool = False

    @property
    def title(self) -> Label:
        """The title of a part without its own heading: that of its group, or of the form."""
        return self.groups[-1] if self.groups else self.form.get("title")

    def use_notes_as_description(self) -> None:
        """Use the notes before everything else as the description of the survey."""
        self.texts.prose["description"], self.notes = self.notes, []

    def start_question(self) -> None:
        """Write the waiting heading, if any, before the next question."""
        if self.notes and not (self.heading or self.ids):
            self.use_notes_as_description()
        if not self.heading and (self.notes or self.in_table):  # a battery continues to the next heading
            self.heading = Heading(self.title)
        if self.heading:
            self.heading.notes += self.notes
            self.texts.sections.append(self.heading)
            section: dict[str, Plain] = {"section": self.texts.text(self.heading.title) or "…"}
            if self.heading.notes:
                section["text"] = self.texts.paragraphs(self.heading.notes)
            self.blocks.append(format_item(section, 2, "\n"))
        self.heading, self.notes, self.in_table = None, [], False

    def omit(self, name: str, kind: str, label: str, reason: Reason) -> None:
        """Record a row that cannot be imported, with the reason, and write a comment in its place."""
        self.omissions.append(Omission(name, *reason))
        described_kind = f"{kind}: {label}" if label else kind
        self.blocks += format_comment(f"Left out: {name} ({described_kind}): {reason.sentence}.", 2)


ConvertedQuestion = tuple[
    dict[str, Plain], dict[str, str], list[str]
]  # a question, its labels by the form's values, notes


def convert_question(state: FormImport, node: Mapping[str, Any], kind: str, name: str) -> ConvertedQuestion | Reason:
    """Return the question for a row, or the reason why it cannot be asked."""
    text = state.texts.text(node.get("label"))
    notes = [f"{key} of {name} is left out" for key in IGNORED_COLUMNS if node.get(key)]
    if not text:
        text = name
        notes.append(f"{name} has no label; write the question")
    if "${" in text:
        notes.append("Its text quotes an answer (${…}), which Candor forms do not fill in; rewrite it")
    identity = make_id(name, state.ids)
    if identity != name:
        notes.append(f"{name} is renamed {identity}")
    question: dict[str, Plain] = {"id": identity, "type": "", "text": text}
    labels: dict[str, str] = {}
    if kind in ("select one", "select all that apply"):
        options = _label_options(state, node)
        if isinstance(options, Reason):
            return options
        labels = _match_yes_no(options) if kind == "select one" else {}
        if labels:
            question["type"] = "yes_no"
        else:
            labels = options
            likert = "likert" in str(node.get("control", {}).get("appearance", ""))
            target, key = SELECT_ALL if kind != "select one" else LIKERT if likert else SELECT_ONE
            question |= {"type": target, key: [*labels.values()]}
            randomize = str(node.get("parameters", {}).get("randomize")).lower() == "true"
            if randomize and "shuffle" in KINDS[target].author_keys:
                question["shuffle"] = "true"
        if node.get("bind", {}).get("constraint"):
            notes.append(f"The constraint on the options of {name} is left out")
    elif kind in ("integer", "decimal", "range"):
        number_keys = _number_keys(node, kind)
        if isinstance(number_keys, Reason):
            return number_keys
        question |= {"type": "number", **number_keys}
        if kind == "decimal":
            notes.append(f"A decimal number needs a step: {number_keys['step']} was chosen; change it if you like")
    else:
        return REASONS.get(kind, Reason("unknown_type", f"Candor has no question type like {kind!r}"))
    return question, labels, notes


def list_options(state: FormImport, node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the options of a row as the form has them."""
    return list(node.get("choices") or state.form.get("choices", {}).get(node.get("itemset")) or ())


def _label_options(state: FormImport, node: Mapping[str, Any]) -> dict[str, str] | Reason:
    """Return the label of every option by its value, or the reason why there are none."""
    if node.get("choice_filter"):
        return Reason(
            "filtered_options", "its options depend on another answer; write a question for each case, with show_if"
        )
    rows = list_options(state, node)
    if not rows:
        return Reason("no_options", "its options are not in the workbook")
    labels = {str(row["name"]): to_line(state.texts.text(row.get("label")) or str(row["name"])) for row in rows}
    if len(labels) < 2:
        return Reason("one_option", "it has only one option; ask a yes or no question")
    if len(set(labels.values())) < len(labels):
        return Reason("same_label", "two of its options have the same label")
    return labels


def _match_yes_no(labels: Mapping[str, str]) -> dict[str, str]:
    """Return "yes" or "no" for each value if the labels mean that in one of our languages; else an empty mapping."""
    for language in LANGUAGES:
        words = {Words(language)(f"privacy.{answer}").casefold(): answer for answer in ("yes", "no")}
        answers = {value: words.get(label.casefold(), "") for value, label in labels.items()}
        if sorted(answers.values()) == ["no", "yes"]:
            return answers
    return {}


def _number_keys(node: Mapping[str, Any], kind: str) -> dict[str, Plain] | Reason:
    """Return the ends and the step of a number, or the reason why it has none."""
    if kind == "range":
        parameters = {"start": 1, "end": 10, "step": 1, **node.get("parameters", {})}
        try:
            low, high, step = (Decimal(str(parameters[key])) for key in ("start", "end", "step"))
        except InvalidOperation:
            return Reason("bad_range", "its limits are not plain numbers")
    else:
        bounds = _parse_bounds(str(node.get("bind", {}).get("constraint", "")), integers_only=kind == "integer")
        if bounds is None:
            return Reason(
                "no_range",
                "a number needs a smallest and a largest value, because one answer could stand out otherwise; add a"
                " constraint such as . >= 0 and . <= 60",
            )
        low, high = bounds
        digits = max(len(f"{end:f}".partition(".")[2].rstrip("0")) for end in bounds)
        step = Decimal(1) if kind == "integer" else Decimal(1).scaleb(-max(digits, 1))
    if low > high:
        low, high = high, low
    least, most, width, _ = to_grid(low, high, abs(step) or Decimal(1))
    if least == most or (most - least) % width or (most - least) // width > MOST_STEPS:
        return Reason("bad_steps", "its step does not divide its range into a valid number of whole steps")
    return {"min": f"{low:f}", "max": f"{high:f}", "step": f"{abs(step):f}"}


def _parse_bounds(constraint: str, *, integers_only: bool) -> tuple[Decimal, Decimal] | None:
    """Return the smallest and the largest value that a constraint allows, or None if it is not such a range."""
    parts = PARTS.split(constraint.replace("(", " ").replace(")", " ").strip())
    if "or" in parts[1::2]:
        return None
    ends: dict[str, Decimal] = {}
    for part in parts[::2]:
        if match := BOUND.fullmatch(part.strip()):
            sign, value = match[1], Decimal(match[2])
        elif mirrored := MIRRORED.fullmatch(part.strip()):
            sign, value = MIRRORED_SIGNS[mirrored[2]], Decimal(mirrored[1])
        else:
            return None
        if integers_only and sign in ("<", ">"):
            value += 1 if sign == ">" else -1
        ends["low" if sign.startswith(">") else "high"] = value
    return (ends["low"], ends["high"]) if len(ends) == 2 else None


def set_condition(
    state: FormImport, question: dict[str, Plain], node: Mapping[str, Any], outer_condition: str | None
) -> list[str]:
    """Give a question its `show_if`, or make it optional if it is not required.

    Return a note if the condition of the form was lost.
    """
    bind = node.get("bind", {})
    relevant = join_conditions(outer_condition, bind.get("relevant"))
    if not relevant:
        if not is_required(node):
            question["optional"] = "true"
        return []
    if equality := _parse_equality(state, relevant):
        question["show_if"] = {"question": equality[0], "is": list(equality[1])}
        return []
    question["optional"] = "true"
    return [
        f"The form asked this only where {to_line(relevant)}. This condition is not a simple equality with an earlier"
        " question of this draft, so everybody is asked and may skip it. Write a show_if if you can"
    ]


def join_conditions(outer: str | None, inner: str | None) -> str | None:
    """Return a condition that joins two, or the only one of them, or None."""
    return f"({outer}) and ({inner})" if outer and inner else inner or outer


def _parse_equality(state: FormImport, relevant: str) -> tuple[str, list[str]] | None:
    """Return the earlier question and its labels in a condition, or None if it is more complicated.

    The condition must be one equality, or several about one question that are joined by `or`.
    """
    parts = PARTS.split(relevant.strip())
    if "and" in parts[1::2]:
        return None
    ids: set[str] = set()
    labels: list[str] = []
    for part in parts[::2]:
        text = part.strip()
        match = EQUAL.fullmatch(text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text)
        if match is None:
            return None
        name, *values = match.groups()[:4] if match[1] else match.groups()[4:]
        value = next(group for group in values if group is not None)
        question = state.questions.get(name)
        if question is None or value not in question.labels:
            return None
        ids.add(question.id)
        labels.append(question.labels[value])
    return (ids.pop(), list(dict.fromkeys(labels))) if len(ids) == 1 else None


def is_required(node: Mapping[str, Any]) -> bool:
    return str(node.get("bind", {}).get("required", "")).lower() in REQUIRED


def format_comment(text: str, indent: int = 0) -> list[str]:
    """Return a note as lines of comment."""
    visible = "".join(sign if sign.isprintable() else "\ufffd" for sign in to_line(text))
    return wrap_sentence(visible, f"{' ' * indent}# ")
