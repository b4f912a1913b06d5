"""Many modules, one script: what the form loads is assembled from the modules that an auditor reads.

Each module becomes a function of its own that is called once, in the order in which a browser would run them, so no
name of one is seen by another; an import becomes a constant taken from what the other one returned. Comments and
indentation are dropped, as the modules are there to be read; all else stays, and the same modules give the same script
on every machine. Only the few ways of importing and exporting that our modules use are understood, and any other is
refused: a bundler that guesses would be one more thing to trust.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from posixpath import dirname, join, normpath

Read = Callable[[str], str]  # the source at a path such as /client/js/index.js

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
PASSED_ON = re.compile(r'export \{(?P<names>[\w\s,]+)\} from (?P<path>"[^"]+");')
DECLARED = re.compile(r"export (?P<kind>const|class|function|async function) (?P<name>\w+)\b")
LATER = re.compile(r'import\((?P<path>"[^"]+")\)')
PLACE = re.compile(r"(/[a-z][a-z0-9_]*)+\.js")


HEAD = """\
// The modules that are named below, in one piece, without comments or indentation; to read one, ask for its path.
"""


class Unreadable(ValueError):
    """A module is written in a way that the assembler does not understand."""


@dataclass(frozen=True)
class Token:
    """A piece of source: comment, text, template (a part of one, up to a blank in it), regex, word, space or sign."""

    kind: str
    text: str
    at: int


@dataclass
class Module:
    """A module as a part of the script: its code, what it needs before it runs and later, what it gives."""

    path: str
    code: str = ""
    needs: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    gives: dict[str, str] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The constant that holds what it gives."""
        return name_of(self.path)

    @property
    def block(self) -> str:
        """Its part of the script."""
        given = ", ".join(name if name == what else f"{name}: {what}" for name, what in self.gives.items())
        return f"// {self.path}\nconst {self.name} = (() => {{\n{self.code}return {{ {given} }};\n}})();\n"


def assemble(entry: str, read: Read) -> str:
    """The script that does what the module at `entry` does; it may wait at its top level, the others may not."""
    *parts, last = modules(entry, read)
    if last.gives:
        raise Unreadable(f"{entry}: nobody could take what the first module gives")
    return "\n".join([HEAD, *(part.block for part in parts), f"// {last.path}\n{last.code}"])


def modules(entry: str, read: Read) -> list[Module]:
    """All modules that the one at `entry` can need, each once, after those that it needs before it runs."""
    done: dict[str, Module] = {}
    pending: list[str] = []
    above: list[str] = []

    def visit(path: str) -> None:
        if path in above:
            raise Unreadable(f"modules that need each other: {' → '.join([*above, path])}")
        if path in done:
            return
        module = parse(path, read(path), waits=path == entry)
        above.append(path)
        for needed in module.needs:
            visit(needed)
        pending.extend(module.later)
        if path == entry:  # what is needed later has to be there before anything happens
            while pending:
                visit(pending.pop(0))
        above.pop()
        done[path] = module

    visit(entry)
    names = {module.name for module in done.values()}
    if len(names) < len(done):
        raise Unreadable(f"two modules of one name in the script: {', '.join(sorted(done))}")
    for path, module in done.items():
        if taken := names & module.words:
            raise Unreadable(f"{path}: {taken.pop()} is the name of a module in the script")
    return list(done.values())


def parse(path: str, source: str, *, waits: bool = False) -> Module:
    """One module without its imports and exports; `waits` if it may wait at its top level."""
    name_of(path)
    module = Module(path)
    code = without_comments(source)
    at = depth = 0
    for token in tokens(code):
        if token.at < at:
            continue  # part of a statement that was rewritten
        if token.kind == "sign":
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(token.text, 0)
        kept = "\n" if token.kind == "space" and "\n" in token.text else token.text
        at = token.at + len(token.text)
        if token.kind == "word" and token.text in ("import", "export") and not code[: token.at].endswith("."):
            kept, at = _rewrite(module, code, token.at, top=depth == 0)
            module.code += kept
            continue
        elif token.text == "await" and token.kind == "word" and depth == 0 and not waits:
            raise Unreadable(f"{path}: only the first module may wait at its top level")
        module.words.add(kept)
        module.code += kept
    return module


def _rewrite(module: Module, code: str, at: int, *, top: bool) -> tuple[str, int]:
    """An import or export as it stands in the script, and where the code goes on."""
    if found := LATER.match(code, at):
        target = resolve(module.path, found["path"])
        module.later.append(target)
        return name_of(target), found.end()
    if top and (found := IMPORT.match(code, at)):
        target = resolve(module.path, found["path"])
        module.needs.append(target)
        taken = ", ".join(f"{name}: {own}" if own != name else name for name, own in _names(module, found["names"]))
        return f"const {{ {taken} }} = {name_of(target)};", found.end()
    if top and (found := IMPORT_ALL.match(code, at)):
        target = resolve(module.path, found["path"])
        module.needs.append(target)
        return f"const {found['name']} = {name_of(target)};", found.end()
    if top and (found := PASSED_ON.match(code, at)):
        target = resolve(module.path, found["path"])
        module.needs.append(target)
        names = _names(module, found["names"])
        if any(own != name for name, own in names):
            raise Unreadable(f"{module.path}: passes on under another name")
        module.gives.update({name: f"{name_of(target)}.{name}" for name, _ in names})
        return "", found.end()
    if top and (found := DECLARED.match(code, at)):
        module.gives[found["name"]] = found["name"]
        return found.group().removeprefix("export "), found.end()
    line = code[at:].split("\n", 1)[0]
    raise Unreadable(f"{module.path}: cannot assemble {line!r}")


def _names(module: Module, text: str) -> list[tuple[str, str]]:
    """The names in the braces of an import, each with the one it gets here."""
    pairs = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = re.fullmatch(r"(\w+)(?: as (\w+))?", part)
        if found is None or found[1] == "default":
            raise Unreadable(f"{module.path}: cannot import {part!r}")
        pairs.append((found[1], found[2] or found[1]))
    return pairs


def resolve(path: str, quoted: str) -> str:
    """The path that a module means: from the root of the site, or from its own folder."""
    target = quoted.strip('"')
    if not target.startswith(("./", "../", "/")):
        raise Unreadable(f"{path}: imports {target!r}, which is no path")
    return normpath(join(dirname(path), target))


def name_of(path: str) -> str:
    """The constant for a module: client_js_index for /client/js/index.js."""
    if not PLACE.fullmatch(path):
        raise Unreadable(f"{path}: not a path that can become a name")
    return path.removeprefix("/").removesuffix(".js").replace("/", "_")


def tokens(source: str) -> Iterator[Token]:
    """The pieces of a source, which together are the source.

    A slash begins a regular expression unless a value stands before it: a name or number (but not a keyword such as
    return), a text, or a closing bracket. Only a regular expression right after `if (…)` or a block would be taken for
    a division; a test compares every module of ours with what a real parser sees.
    """
    before = ""  # the last token that is neither space nor comment
    braces = [0]  # open braces, for each template we are in
    at = 0
    while at < len(source):
        token = TOKEN.match(source, at)
        if token is None or token.lastgroup is None:
            raise Unreadable(f"no token at {at}")
        kind, text, start = token.lastgroup, token.group(), at
        if text in ("'", '"'):
            raise Unreadable(f"a text that does not end, at {at}")
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
                raise Unreadable(f"a template that does not end, at {start}")
            kind, text, at = "template", text + inside.group(), inside.end()
            if inside["end"] == "${":
                braces.append(0)
        elif kind == "sign" and text == "}":
            braces[-1] -= 1
        yield Token(kind, text, start)
        if kind not in ("space", "comment"):
            before = text
    if braces != [0]:
        raise Unreadable("braces that do not match")


def without_comments(source: str) -> str:
    """JavaScript without its comments and the lines that they leave empty; what they kept apart stays apart."""
    kept: list[str] = []
    for blank, run in groupby(tokens(source), lambda token: token.kind in ("space", "comment")):
        texts = [token.text if token.kind != "comment" else "\n"[: token.text.count("\n")] for token in run]
        text = "".join(texts)
        if blank and "\n" in text:
            apart = any("\n\n" in one for one in texts)
            text = "\n" * (1 + apart) + text.rpartition("\n")[2]
        kept.append(text or " ")
    return "".join(kept).strip() + "\n"
