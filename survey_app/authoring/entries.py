"""The entries in the list of questions: questions, batteries of questions, and the headings of sections.

A heading is an entry `{section: …, text: …}` before its first question, so that it moves with it. A battery is written
once and becomes several scales, each a separate question. On the screen it is a section shown as a grid. A definition
numbers its questions differently from the author's file; `Entries.source_path_of` maps one to the other.
"""

from dataclasses import dataclass, field, replace

from candor_client.canonical import parse_text
from candor_client.errors import DefinitionError
from survey_app.authoring.authored_question import BATTERY, COMMON_KEYS
from survey_app.authoring.yaml_source import AuthoringError, Node

OPTIONAL_BATTERY_KEYS = ("scores", *COMMON_KEYS)
PARAGRAPH = "\u2029"


@dataclass(frozen=True)
class Section:
    """A heading: the position of its first question among all questions, and its line in the file."""

    first: int
    title: str
    text: str
    line: int | None
    grid: bool


@dataclass
class Entries:
    """The single questions, the sections, and their paths in the author's file.

    `battery_errors` are the errors in entries of type `battery`. `section_errors` concern only the sections.
    """

    questions: list[Node] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    batteries: list[tuple[str, ...]] = field(default_factory=list)  # the ids of the statements of each
    battery_errors: list[AuthoringError] = field(default_factory=list)
    section_errors: list[AuthoringError] = field(default_factory=list)
    source_paths: dict[str, str] = field(default_factory=dict)

    def source_path_of(self, path: str) -> str:
        """Return the path in the author's file for a path in the definition."""
        for prefix in sorted(self.source_paths, key=len, reverse=True):
            if path.startswith(prefix) and path[len(prefix) :][:1] in ("", ".", "["):
                return self.source_paths[prefix] + path[len(prefix) :]
        return path


@dataclass(frozen=True)
class _Heading:
    node: Node
    key: str  # the key that contains its title
    title: str
    text: str


def read_entries(node: Node) -> Entries:
    """Return the entries of a list, with all errors in its sections and batteries."""
    entries = Entries()
    heading: _Heading | None = None
    grid = False  # whether the last entry was a battery; its table continues to the next section
    for entry in node.items():
        if is_section(entry):
            if heading:
                entries.section_errors.append(
                    heading.node.error(
                        "empty_section", "has no question before the next section; add one, or delete this section"
                    )
                )
            heading = _read_heading(entry, entries.section_errors)
            continue
        if is_battery(entry):
            try:
                _add_battery(entry, heading, entries)
            except AuthoringError as error:
                entries.battery_errors.append(error)
            heading, grid = None, True
            continue
        if heading:
            grid = False
            _add_section(entries, heading)
        elif grid:
            entries.section_errors.append(
                entry.error(
                    "no_section",
                    "follows a battery, and the battery's table continues to the next section; put a section above it",
                )
            )
            grid = False
        heading = None
        entries.source_paths[f"questions[{len(entries.questions)}]"] = entry.path
        entries.questions.append(entry)
    if heading:
        entries.section_errors.append(
            heading.node.error("empty_section", "has no question after it; add one, or delete this section")
        )
    return entries


def is_section(entry: Node) -> bool:
    """Return whether an entry is a heading."""
    return isinstance(entry.value, dict) and "section" in entry.value


def is_battery(entry: Node) -> bool:
    """Return whether an entry is several statements on one scale."""
    kind = entry.value.get("type") if isinstance(entry.value, dict) else None
    return kind is not None and isinstance(kind.value, str) and kind.value.strip() == BATTERY


def _read_heading(entry: Node, errors: list[AuthoringError]) -> _Heading:
    try:
        parts = entry.mapping(("section",), ("text",))
        if parts["section"].is_blank:
            raise parts["section"].error("empty", "has no heading yet; write the heading of the questions below it")
        title = parse_text(parts["section"].text(), parts["section"].path)
        text = parse_text(parts["text"].prose(), parts["text"].path) if "text" in parts else ""
        return _Heading(entry, "section", title, text)
    except AuthoringError as error:
        errors.append(error)
    except DefinitionError as error:
        errors.append(
            AuthoringError(error.code, error.reason, error.path, entry.line_of(error.path[len(entry.path) :]))
        )
    return _Heading(entry, "section", "stand-in", "")


def _add_battery(entry: Node, heading: _Heading | None, entries: Entries) -> None:
    """Add a scale for every statement, and a section. Raise AuthoringError if the battery is invalid.

    Under a heading, the text of the battery ends the introduction.
    """
    parts = entry.mapping(("type", "text", "points", "statements"), OPTIONAL_BATTERY_KEYS)
    statements = parts["statements"]
    if not statements.value:
        raise statements.error(
            "empty", "has no statements yet; write each with its id in front, such as calm: I am calm."
        )
    if not isinstance(statements.value, dict):
        raise statements.error(
            "not_a_mapping", "must be a mapping of ids to statements, such as {calm: I am calm., tense: I am tense.}"
        )
    section = _Heading(entry, "text", parts["text"].text(), "")
    if heading:
        section = replace(heading, text=PARAGRAPH.join(part for part in (heading.text, section.title) if part))
    _add_section(entries, section, grid=True)
    shared = {key: parts[key] for key in ("points", *OPTIONAL_BATTERY_KEYS) if key in parts}
    for name, statement in statements.value.items():
        path = f"questions[{len(entries.questions)}]"
        entries.source_paths |= {path: statement.path, f"{path}.id": statement.path, f"{path}.text": statement.path}
        entries.source_paths |= {f"{path}.{key}": member.path for key, member in shared.items()}
        texts = {"id": name, "type": "scale"}
        fields = {key: Node(text, statement.path, statement.line) for key, text in texts.items()}
        entries.questions.append(Node({**fields, "text": statement, **shared}, statement.path, statement.line))
    entries.batteries.append(tuple(statements.value))


def _add_section(entries: Entries, heading: _Heading, *, grid: bool = False) -> None:
    path = f"sections[{len(entries.sections)}]"
    entries.source_paths |= {path: heading.node.path, f"{path}.title": f"{heading.node.path}.{heading.key}"}
    entries.sections.append(Section(len(entries.questions), heading.title, heading.text, heading.node.line, grid))
