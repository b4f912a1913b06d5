"""Find the literals of tests that repeat the product's prose; `python -m tests.prose [FOLDER]` lists them.

Words belong in golden files. A literal repeats prose if it shares 24 characters, with words among them, with a message
of the server or the client, the help of a command, a template, or a catalogue.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LENGTH = 24
CODE = re.compile(r"<[^>]*>|\{[{%#].*?[}%#]\}", re.DOTALL)
JAVASCRIPT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
WORDS = re.compile(r"[A-Za-z]{2,} [a-z(]")
STATEMENT = re.compile(r"\s*(select|insert|update|delete|create|alter|drop|pragma|with) ")  # SQL is no prose


def is_prose(text: str) -> bool:
    """Return whether a text has words that follow one another."""
    return len(WORDS.findall(text)) >= 2


def shorten(text: str) -> str:
    """Return a text with one space where there was white space."""
    return re.sub(r"\s+", " ", text)


def literals(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every literal of a Python file, docstrings aside."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, shorten(node.value)


def values(table: Any) -> Iterator[str]:
    """Yield every text of a catalogue."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, dict | list):
        for value in table.values() if isinstance(table, dict) else table:
            yield from values(value)


def product_prose() -> Iterator[str]:
    """Yield every text of the product that a person may read."""
    for folder in (ROOT / "survey_app", ROOT / "client" / "candor_client"):
        for file in folder.rglob("*.py"):
            yield from (text for _, text in literals(file))
    for file in (ROOT / "survey_app" / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield ast.get_docstring(node) or ""
    for file in (ROOT / "survey_app").rglob("*.toml"):
        yield from values(tomllib.loads(file.read_text(encoding="utf-8")))
    for file in (ROOT / "templates").rglob("*.html"):
        yield from CODE.sub("\n\n", file.read_text(encoding="utf-8")).split("\n\n")
    for folder in (ROOT / "client" / "js", ROOT / "static"):
        for file in folder.rglob("*.js"):
            yield from (quoted or built for quoted, built in JAVASCRIPT.findall(file.read_text(encoding="utf-8")))


def parts(text: str) -> Iterator[str]:
    """Yield every run of LENGTH characters of a text."""
    return (text[start : start + LENGTH] for start in range(len(text) - LENGTH + 1))


@cache
def product_parts() -> frozenset[str]:
    """Return every run of LENGTH characters of the product's prose."""
    return frozenset(
        part
        for text in map(shorten, product_prose())
        if is_prose(text) and not STATEMENT.match(text)
        for part in parts(text)
    )


def repeats_prose(text: str) -> bool:
    """Return whether a literal repeats the product's prose."""
    return not STATEMENT.match(text) and any(part in product_parts() and is_prose(part) for part in parts(text))


def repetitions(folder: Path) -> list[tuple[Path, int, str]]:
    """Return the literals below a folder of tests that repeat the product's prose, with file and line."""
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]
    return [(file, line, text) for file in files for line, text in literals(file) if repeats_prose(text)]


def main(arguments: Sequence[str]) -> None:
    """List them, for the folders given or for all tests."""
    hits = [hit for name in arguments or ("tests",) for hit in repetitions(ROOT / name)]
    for file, line, text in hits:
        print(f"{file.relative_to(ROOT)}:{line}: {text[:160]}")
    print(len(hits))


if __name__ == "__main__":
    main(sys.argv[1:])
