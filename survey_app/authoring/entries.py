"""The entries in the list of questions: questions, batteries of questions, and the headings of sections.

A heading is an entry `{section: …, text: …}` before its first question, so that it moves with it. A battery is written
once and becomes several scales, each a question of its own. On the screen it is a section shown as a grid. A definition
numbers its questions differently from the author's file; `Entries.source_path_of` maps one to the other.
"""

from dataclasses import dataclass, field, replace

from candor_client.canonical import plain_text
from candor_client.errors import DefinitionError
from survey_app.authoring.authored_question import BATTERY, COMMON
from survey_app.authoring.yaml_source import AuthoringError, Node

OF_BATTERY = ("scores", *COMMON)
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
    broken: list[AuthoringError] = field(default_factory=list)
    wrong: list[AuthoringError] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)

    def written_at(self, path: str) -> str:
        """Return the path in the author's file for a path in the definition."""
        for prefix in sorted(self.places, key=len, reverse=True):
            if path.startswith(prefix) and path[len(prefix) :][:1] in ("", ".", "["):
                return self.places[prefix] + path[len(prefix) :]
        return path


@dataclass(frozen=True)
class _Heading:
    node: Node
    key: str  # the key that holds its title
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
                entries.wrong.append(heading.node.error("no question stands between this section and the next"))
            heading = _heading(entry, entries.wrong)
            continue
        if is_battery(entry):
            try:
                _battery(entry, heading, entries)
            except AuthoringError as error:
                entries.broken.append(error)
            heading, grid = None, True
            continue
        if heading:
            grid = False
            _section(entries, heading)
        elif grid:
            entries.wrong.append(
                entry.error("follows a battery, whose table runs to the next section: put a section above it")
            )
            grid = False
        heading = None
        entries.places[f"questions[{len(entries.questions)}]"] = entry.path
        entries.questions.append(entry)
    if heading:
        entries.wrong.append(heading.node.error("no question follows this section"))
    return entries


def is_section(entry: Node) -> bool:
    """Return whether an entry is a heading."""
    return isinstance(entry.value, dict) and "section" in entry.value


def is_battery(entry: Node) -> bool:
    """Return whether an entry is several statements on one scale."""
    kind = entry.value.get("type") if isinstance(entry.value, dict) else None
    return kind is not None and isinstance(kind.value, str) and kind.value.strip() == BATTERY


def _heading(entry: Node, wrong: list[AuthoringError]) -> _Heading:
    try:
        parts = entry.mapping(("section",), ("text",))
        if parts["section"].is_blank:
            raise parts["section"].error("has no heading yet; write what stands above the questions that follow")
        title = plain_text(parts["section"].text(), parts["section"].path)
        text = plain_text(parts["text"].prose(), parts["text"].path) if "text" in parts else ""
        return _Heading(entry, "section", title, text)
    except AuthoringError as error:
        wrong.append(error)
    except DefinitionError as error:
        wrong.append(AuthoringError(error.reason, error.path, entry.line_of(error.path[len(entry.path) :])))
    return _Heading(entry, "section", "stand-in", "")


def _battery(entry: Node, heading: _Heading | None, found: Entries) -> None:
    """Add a scale for every statement, and a section. Raise AuthoringError if the battery is invalid.

    Under a heading, the text of the battery ends the introduction.
    """
    parts = entry.mapping(("type", "text", "points", "statements"), OF_BATTERY)
    statements = parts["statements"]
    if not statements.value:
        raise statements.error("there are no statements yet; each has an id before it, such as calm: I am calm.")
    if not isinstance(statements.value, dict):
        raise statements.error("must be a mapping of ids to statements, such as {calm: I am calm., tense: I am tense.}")
    section = _Heading(entry, "text", parts["text"].text(), "")
    if heading:
        section = replace(heading, text=PARAGRAPH.join(part for part in (heading.text, section.title) if part))
    _section(found, section, grid=True)
    shared = {key: parts[key] for key in ("points", *OF_BATTERY) if key in parts}
    for name, statement in statements.value.items():
        path = f"questions[{len(found.questions)}]"
        found.places |= {path: statement.path, f"{path}.id": statement.path, f"{path}.text": statement.path}
        found.places |= {f"{path}.{key}": member.path for key, member in shared.items()}
        texts = {"id": name, "type": "scale"}
        fields = {key: Node(text, statement.path, statement.line) for key, text in texts.items()}
        found.questions.append(Node({**fields, "text": statement, **shared}, statement.path, statement.line))
    found.batteries.append(tuple(statements.value))


def _section(found: Entries, heading: _Heading, *, grid: bool = False) -> None:
    path = f"sections[{len(found.sections)}]"
    found.places |= {path: heading.node.path, f"{path}.title": f"{heading.node.path}.{heading.key}"}
    found.sections.append(Section(len(found.questions), heading.title, heading.text, heading.node.line, grid))
