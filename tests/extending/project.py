"""A copy of the project to which files and lines are added, and commands that run in it."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEW = Path(__file__).parent / "new"
COPIED = ("client", "examples", "static", "survey_app", "templates", "tests", "pyproject.toml", "tsconfig.json")
LEFT_OUT = ("__pycache__", "node_modules")
PATIENCE = 600


@dataclass(frozen=True)
class Project:
    """A copy of the project in a folder of its own."""

    folder: Path

    def add_file(self, name: str) -> None:
        """Add a file of tests/extending/new: it has the name that it gets, and .txt behind it."""
        (self.folder / name).write_text(new_source(name), encoding="utf-8")

    def add_line(self, name: str, line: str, *, after: str) -> None:
        """Add a line to a list, after the only line that begins so; other lines stay as they are."""
        path = self.folder / name
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (place,) = (i for i, one in enumerate(lines) if one.startswith(after))
        path.write_text("".join([*lines[: place + 1], f"{line}\n", *lines[place + 1 :]]), encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{name} has {old!r} {text.count(old)} times")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def append(self, name: str, text: str) -> None:
        """Add a text to the end of a file."""
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy, which it imports instead of this project."""
        path = os.pathsep.join([str(self.folder), str(self.folder / "client")])
        environment = {**os.environ, "PYTHONPATH": path}
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )


def new_source(name: str) -> str:
    """Return the text of a file that is to be added."""
    return (NEW / f"{name}.txt").read_text(encoding="utf-8")


def copy_project(folder: Path) -> Project:
    """Copy what is part of the project; folders of tools are linked."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *COPIED],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return Project(folder)


def omissions(source: str) -> Iterator[tuple[str, str]]:
    """Yield what can be left out of a module, each with the module without it: methods, class data, call arguments."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                match part:
                    case ast.FunctionDef(name=name, lineno=first):
                        start = min([first, *(one.lineno for one in part.decorator_list)])
                        yield name, _without(lines, start, part.end_lineno or first)
                    case ast.Assign(targets=[ast.Name(id=name)], lineno=first):
                        yield name, _without(lines, first, part.end_lineno or first)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node in tree.body:
            for keyword in node.value.keywords:
                yield keyword.arg or "", _without(lines, keyword.lineno, keyword.end_lineno or keyword.lineno)


def _without(lines: list[str], first: int, last: int) -> str:
    return "".join([*lines[: first - 1], *lines[last:]])
