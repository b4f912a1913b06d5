"""Find the places that ask for a question's type or a field's mechanism, outside the modules that are there for it.

A place is a node of the syntax tree: a comparison with a name of a type or a mechanism, `isinstance` with a mechanism,
a dict by such names, a read of `levels` or `bins`, or one of the disguises of these (`is_scale`, `getattr`,
`len(q.labels)` as a test). Templates are read as Jinja's syntax tree, JavaScript by its tokens.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2
from jinja2 import nodes

ROOT = Path(__file__).parent.parent
TYPES = {"yes_no", "choice", "scale", "multiple", "number"}
MECHANISMS = {"flip", "subset", "drawn", "geometric"}
NAMES = TYPES | MECHANISMS
CLASSES = {"Flip", "Subset", "Drawn", "Geometric", "FlipChannel", "SubsetChannel", "DrawnChannel", "GeometricChannel"}
ENUMS = {"TypeName", "MechanismName"}
HIDDEN = {"levels", "bins"}  # attributes that only one type has
FACTS_OF_ONE = {"reads_answers"}  # facts that are true of one type or mechanism only
COUNTED = {"labels", "scores"}  # attributes whose absence tells the type
PARAMETERS = {"one", "zero", "weight", "keep", "draw", "ratio", "tails"}  # each is of some mechanisms only
ASKED_BY_NAME = HIDDEN | COUNTED | PARAMETERS | {"type", "kind"}
DISGUISE = re.compile(rf"(is|has|by|of|for)_(\w+_)?({'|'.join(sorted(NAMES))})s?(_\w+)?")
HOMES = (
    "survey_app/kinds/",
    "survey_app/channels/",
    "client/candor_client/types/",
    "client/candor_client/mechanisms/",
    "client/js/types/",
    "client/js/mechanisms/",
    "static/form/types/",
    "templates/console/types/",
)


@dataclass(frozen=True, order=True)
class Place:
    """A line of a file, and what is asked there."""

    file: str
    line: int
    asks: str


def python_places() -> list[Place]:
    """Return every place in the server and the Python client."""
    return sorted(place for path in _sources("survey_app", "client", ends=".py") for place in read_python(path))


def template_places() -> list[Place]:
    """Return every place in the templates."""
    return sorted(place for path in _sources("templates", ends=".html") for place in read_template(path))


def javascript_places() -> list[Place]:
    """Return every place in the browser's client and in the form."""
    return sorted(place for path in _sources("client/js", "static", ends=".js") for place in read_javascript(path))


def read_python(path: Path, source: str | None = None) -> Iterator[Place]:
    """Yield the places of one Python file."""
    text = path.read_text(encoding="utf-8") if source is None else source
    tree = ast.parse(text)
    tests = {id(node) for node in _tests(tree)}
    for node in ast.walk(tree):
        if asks := _asks(node, tests):
            yield Place(_name(path), node.lineno, asks)  # type: ignore[attr-defined]


def _asks(node: ast.AST, tests: set[int]) -> str | None:
    match node:
        case ast.Compare(left=left, comparators=others) if found := _find_name([left, *others]):
            return f"compares with {found}"
        case ast.Compare(left=left, comparators=others) if _compares_type([left, *others]):
            return "compares a type"
        case ast.Compare(left=left, comparators=others) if found := _class_among([left, *others]):
            return f"compares with {found}"
        case ast.Subscript(slice=key) if _is_type(key) or _find_name([key]):
            return "looks up by type"
        case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[key, *_]) if _is_type(key):
            return "looks up by type"
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, given]) if found := _classes(given):
            return f"isinstance {found}"
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=name), *_]) if (
            name in ASKED_BY_NAME
        ):
            return f"getattr {name}"
        case ast.Dict(keys=keys) if sum(bool(one and (_find_name([one]) or _classes(one))) for one in keys) > 1:
            return "a dict by name"
        case ast.MatchValue(value=value) if found := _find_name([value]):
            return f"case {found}"
        case ast.MatchClass(cls=given) if found := _classes(given):
            return f"case {found}"
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in HIDDEN | FACTS_OF_ONE:
            return f"reads {name}"
        case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Name(id=name, ctx=ast.Load()) if DISGUISE.fullmatch(name):
            return f"asks {name}"
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr=name)]) if name in COUNTED:
            return f"tests the number of {name}" if id(node) in tests else None
        case ast.Attribute(attr=name) if name in COUNTED and id(node) in tests:
            return f"tests {name}"
    return None


def _tests(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every expression that decides something: whose truth is taken, or which is compared."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield test
            case ast.BoolOp(values=values):
                yield from values
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield operand
            case ast.comprehension(ifs=tests):
                yield from tests
            case ast.Compare(left=left, comparators=others, ops=ops):
                if not isinstance(ops[0], ast.In | ast.NotIn):  # a label among the labels asks for a label
                    yield from (left, *others)
            case ast.Call(func=ast.Name(id="bool"), args=[given]):
                yield given


def _compares_type(given: list[ast.expr]) -> bool:
    """Tell whether a type is compared, but for a text that names none: `request.type == "https"`."""
    texts = [one.value for one in given if isinstance(one, ast.Constant)]
    return any(_is_type(one) for one in given) and not texts


def _class_among(given: list[ast.expr]) -> str | None:
    """Return a mechanism's class that something is compared with: `type(m) is Flip`."""
    return next((one.id for one in given if isinstance(one, ast.Name) and one.id in CLASSES), None)


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "type"


def _find_name(given: Iterable[ast.AST | None]) -> str | None:
    """Return the first type or mechanism that is named by text, by its enum, or as one of several."""
    for node in given:
        match node:
            case ast.Constant(value=str(name)) if name in NAMES:
                return name
            case ast.Attribute(value=ast.Name(id=enum), attr=name) if enum in ENUMS:
                return name
            case ast.Attribute(value=ast.Name(id=name), attr="kind") if name in CLASSES:
                return name
            case ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.List(elts=parts):
                if found := _find_name(parts):
                    return found
    return None


def _classes(node: ast.AST) -> str | None:
    names = [one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in ast.walk(node)]
    return next((name for name in names if name in CLASSES or name == "Categorical"), None)


def read_template(path: Path, source: str | None = None) -> Iterator[Place]:
    """Yield the places of one template."""
    text = path.read_text(encoding="utf-8") if source is None else source
    tree = jinja2.Environment(autoescape=True, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"]).parse(text)
    for node in tree.find_all((nodes.Compare, nodes.Getattr, nodes.Getitem)):
        match node:
            case nodes.Compare(expr=left, ops=ops):
                named = [left, *(one.expr for one in ops)]
                constants = [part for one in named for part in one.find_all(nodes.Const)] + named
                found = [one.value for one in constants if isinstance(one, nodes.Const) and one.value in NAMES]
                if found:
                    yield Place(_name(path), node.lineno, f"compares with {found[0]}")
            case nodes.Getattr(attr=name) if name in HIDDEN:
                yield Place(_name(path), node.lineno, f"reads {name}")
            case nodes.Getitem(arg=nodes.Getattr(attr="type")):
                yield Place(_name(path), node.lineno, "looks up by type")


TYPEOF = re.compile(r"\btypeof [\w.?]+ [!=]== \"\w+\"")  # a type of the language
JAVASCRIPT = [
    (re.compile(r"\btype\s*[!=]==?|[!=]==?\s*[\w.?]*\.type\b"), "compares a type"),
    (re.compile(rf"\binstanceof\s+({'|'.join(sorted(CLASSES))})\b"), "instanceof"),
    (re.compile(rf"[!=]==?\s*[\"']({'|'.join(sorted(NAMES))})[\"']"), "compares with a name"),
    (re.compile(rf"\bcase\s+[\"']({'|'.join(sorted(NAMES))})[\"']"), "case"),
    (re.compile(r"\b(levels|bins)\b"), "reads levels or bins"),
    (re.compile(r"\[(?:[\w.?]*\.)?type\]|\.get\((?:[\w.?]*\.)?type\)"), "looks up by type"),
    (re.compile(rf"\b(is|has)({'|'.join(name.title().replace('_', '') for name in sorted(NAMES))})\b"), "disguise"),
    (re.compile(r"labels\.length\s*(===|!==|>|<)"), "tests the number of labels"),
]


def read_javascript(path: Path, source: str | None = None) -> Iterator[Place]:
    """Yield the places of one script; comments do not count."""
    text = path.read_text(encoding="utf-8") if source is None else source
    text = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        code = TYPEOF.sub("", re.sub(r"(^|\s)//.*", "", line))
        for pattern, asks in JAVASCRIPT:
            for _ in pattern.finditer(code):
                yield Place(_name(path), number, asks)


def _sources(*folders: str, ends: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob(f"*{ends}")):
            if not _name(path).startswith(HOMES):
                yield path


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def main() -> None:
    """Print all places, and how many there are."""
    for title, found in (
        ("Python", python_places()),
        ("templates", template_places()),
        ("JavaScript", javascript_places()),
    ):
        for place in found:
            print(f"{place.file}:{place.line}: {place.asks}")
        print(f"{title}: {len(found)} in {len({place.file for place in found})} files\n")


if __name__ == "__main__":
    main()
