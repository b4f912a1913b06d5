"""A bundler: it assembles the form's script from the same JavaScript modules that an auditor reads.

Each module becomes a function that is called once, in the order in which a browser would run the modules.
So no module sees the names of another one. An import becomes a constant taken from the other function's return value.
Comments and indentation are dropped, because the modules themselves are there to be read; everything else stays.
The same modules give the same script on every machine.
Only the few forms of import and export in Candor's modules are supported, and any other form is refused.
A bundler that guesses would be one more program to trust.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from posixpath import dirname, join, normpath

SourceReader = Callable[[str], str]  # returns the source at a path such as /client/js/index.js

TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<text> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | (?P<template> ` )
    | (?P<regex> /(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]* )
    | (?P<word> [\w$]+ )
    | (?P<space> \s+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)
TEMPLATE_TEXT = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*(?P<end>`|\$\{)", re.DOTALL)
VALUE = re.compile(r"[\w$]+|[)\]}]|.*[\"'`]", re.DOTALL)
BEFORE_A_REGEX = {"return", "typeof", "case", "in", "of", "void", "delete", "throw", "await", "yield"}

IMPORT = re.compile(r'import \{(?P<names>[\w\s,]+)\} from (?P<path>"[^"]+");')
IMPORT_ALL = re.compile(r'import \* as (?P<name>\w+) from (?P<path>"[^"]+");')
REEXPORT = re.compile(r'export \{(?P<names>[\w\s,]+)\} from (?P<path>"[^"]+");')
EXPORT = re.compile(r"export (?P<kind>const|class|function|async function) (?P<name>\w+)\b")
DYNAMIC_IMPORT = re.compile(r'import\((?P<path>"[^"]+")\)')
MODULE_PATH = re.compile(r"(/[a-z][a-z0-9_]*)+\.js")


HEAD = """\
// The modules named below in one script, without comments or indentation. To read a module, request its path.
"""


class BundleError(ValueError):
    """The modules cannot be assembled, for a reason that `code` names.

    `unsupported` stands for syntax that the bundler does not support, and `bad_path` for a path that is not a module's.
    The other codes are `entry_exports`, `cycle`, `same_name` and `name_clash`.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class Token:
    """A piece of source: comment, text, template, regex, word, space or sign.

    A template token is a part of a template literal, up to its next placeholder.
    """

    kind: str
    text: str
    at: int


@dataclass
class Module:
    """A module as a part of the script: its code, the modules that it imports at once or later, and its exports."""

    path: str
    code: str = ""
    imports: list[str] = field(default_factory=list)
    dynamic_imports: list[str] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)
    identifiers: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the constant that holds the exports."""
        return constant_name(self.path)

    @property
    def block(self) -> str:
        """The block of this module in the script."""
        exports = ", ".join(name if name == value else f"{name}: {value}" for name, value in self.exports.items())
        return f"// {self.path}\nconst {self.name} = (() => {{\n{self.code}return {{ {exports} }};\n}})();\n"


def assemble(entry: str, read: SourceReader) -> str:
    """Return the script that is equivalent to the module at `entry`.

    Only that module may use `await` at its top level. Raise BundleError if a module is not supported.
    """
    *parts, last = load_modules(entry, read)
    if last.exports:
        raise BundleError("entry_exports", f"{entry}: the first module must not export anything")
    return "\n".join([HEAD, *(part.block for part in parts), f"// {last.path}\n{last.code}"])


def load_modules(entry: str, read: SourceReader) -> list[Module]:
    """Return all modules that the module at `entry` can need, each once, after the modules that it imports.

    Raise BundleError if modules import each other or names clash.
    """
    finished: dict[str, Module] = {}
    pending: list[str] = []
    ancestors: list[str] = []

    def visit(path: str) -> None:
        if path in ancestors:
            raise BundleError("cycle", f"modules import each other: {' → '.join([*ancestors, path])}")
        if path in finished:
            return
        module = parse(path, read(path), can_await=path == entry)
        ancestors.append(path)
        for dependency in module.imports:
            visit(dependency)
        pending.extend(module.dynamic_imports)
        if path == entry:  # modules imported later have to be in the script before the entry runs
            while pending:
                visit(pending.pop(0))
        ancestors.pop()
        finished[path] = module

    visit(entry)
    names = {module.name for module in finished.values()}
    if len(names) < len(finished):
        raise BundleError("same_name", f"two modules have the same name in the script: {', '.join(sorted(finished))}")
    for path, module in finished.items():
        if clashes := names & module.identifiers:
            raise BundleError("name_clash", f"{path}: {clashes.pop()} is the name of a module in the script; rename it")
    return list(finished.values())


def parse(path: str, source: str, *, can_await: bool = False) -> Module:
    """Return a module without its import and export statements; `can_await` allows `await` at its top level."""
    constant_name(path)
    module = Module(path)
    code = strip_comments(source)
    position = depth = 0
    for token in tokens(code):
        if token.at < position:
            continue  # part of a statement that was rewritten
        if token.kind == "sign":
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(token.text, 0)
        output = "\n" if token.kind == "space" and "\n" in token.text else token.text
        position = token.at + len(token.text)
        if token.kind == "word" and token.text in ("import", "export") and not code[: token.at].endswith("."):
            output, position = _rewrite(module, code, token.at, top=depth == 0)
            module.code += output
            continue
        elif token.text == "await" and token.kind == "word" and depth == 0 and not can_await:
            raise BundleError("unsupported", f"{path}: only the first module may use await at its top level")
        module.identifiers.add(output)
        module.code += output
    return module


def _rewrite(module: Module, code: str, at: int, *, top: bool) -> tuple[str, int]:
    """Return the replacement of an import or export in the script, and the position where the code continues."""
    if match := DYNAMIC_IMPORT.match(code, at):
        target = resolve(module.path, match["path"])
        module.dynamic_imports.append(target)
        return constant_name(target), match.end()
    if top and (match := IMPORT.match(code, at)):
        target = resolve(module.path, match["path"])
        module.imports.append(target)
        bindings = ", ".join(
            f"{name}: {local}" if local != name else name for name, local in _names(module, match["names"])
        )
        return f"const {{ {bindings} }} = {constant_name(target)};", match.end()
    if top and (match := IMPORT_ALL.match(code, at)):
        target = resolve(module.path, match["path"])
        module.imports.append(target)
        return f"const {match['name']} = {constant_name(target)};", match.end()
    if top and (match := REEXPORT.match(code, at)):
        target = resolve(module.path, match["path"])
        module.imports.append(target)
        names = _names(module, match["names"])
        if any(local != name for name, local in names):
            raise BundleError("unsupported", f"{module.path}: export {{ a as b }} from is not supported")
        module.exports.update({name: f"{constant_name(target)}.{name}" for name, _ in names})
        return "", match.end()
    if top and (match := EXPORT.match(code, at)):
        module.exports[match["name"]] = match["name"]
        return match.group().removeprefix("export "), match.end()
    line = code[at:].split("\n", 1)[0]
    raise BundleError("unsupported", f"{module.path}: {line!r} is not supported")


def _names(module: Module, text: str) -> list[tuple[str, str]]:
    """Return the names in the braces of an import, each with its local name."""
    pairs = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\w+)(?: as (\w+))?", part)
        if match is None or match[1] == "default":
            raise BundleError("unsupported", f"{module.path}: importing {part!r} is not supported")
        pairs.append((match[1], match[2] or match[1]))
    return pairs


def resolve(path: str, quoted: str) -> str:
    """Return the path of an imported module, given from the root of the site or relative to the importing module."""
    target = quoted.strip('"')
    if not target.startswith(("./", "../", "/")):
        raise BundleError("bad_path", f"{path}: imports {target!r}, which is not a path")
    return normpath(join(dirname(path), target))


def constant_name(path: str) -> str:
    """Return the name of the constant for a module: client_js_index for /client/js/index.js."""
    if not MODULE_PATH.fullmatch(path):
        raise BundleError("bad_path", f"{path}: cannot become the name of a constant; use a to z, 0 to 9 and _")
    return path.removeprefix("/").removesuffix(".js").replace("/", "_")


def tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of a source; their texts together are the source.

    A slash begins a regular expression unless a value precedes it.
    A value is a name or number (but not a keyword, as return is), a text, or a closing bracket.
    Only a regular expression right after `if (…)` or a block would be mistaken for a division.
    A test compares the tokens of every module of Candor with those of a real parser.
    """
    before = ""  # the last token that is neither space nor comment
    braces = [0]  # open braces, for each enclosing template
    at = 0
    while at < len(source):
        token = TOKEN.match(source, at)
        if token is None or token.lastgroup is None:
            raise BundleError("unsupported", f"the source has no valid token at character {at}")
        kind, text, start = token.lastgroup, token.group(), at
        if text in ("'", '"'):
            raise BundleError("unsupported", f"the string at character {at} does not end")
        if kind == "regex" and VALUE.fullmatch(before) and before not in BEFORE_A_REGEX:
            kind, text = "sign", "/"
        at += len(text)
        if kind == "sign" and text == "{":
            braces[-1] += 1
        closing = text == "}" and len(braces) > 1 and braces[-1] == 0
        if kind == "template" or closing:
            if closing:
                braces.pop()
            inside = TEMPLATE_TEXT.match(source, at)
            if inside is None:
                raise BundleError("unsupported", f"the template at character {start} does not end")
            kind, text, at = "template", text + inside.group(), inside.end()
            if inside["end"] == "${":
                braces.append(0)
        elif kind == "sign" and text == "}":
            braces[-1] -= 1
        yield Token(kind, text, start)
        if kind not in ("space", "comment"):
            before = text
    if braces != [0]:
        raise BundleError("unsupported", "braces do not match")


def strip_comments(source: str) -> str:
    """Return JavaScript without comments and the lines that they leave empty; separated tokens stay separate."""
    pieces: list[str] = []
    for blank, run in groupby(tokens(source), lambda token: token.kind in ("space", "comment")):
        texts = [token.text if token.kind != "comment" else "\n"[: token.text.count("\n")] for token in run]
        text = "".join(texts)
        if blank and "\n" in text:
            has_blank_line = any("\n\n" in part for part in texts)
            text = "\n" * (1 + has_blank_line) + text.rpartition("\n")[2]
        pieces.append(text or " ")
    return "".join(pieces).strip() + "\n"
