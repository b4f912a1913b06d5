"""Golden files: the product's wording as the tests meet it, in tests/golden, one file for a module of tests.

A test gives what it got to the fixture `golden`, and asserts codes, numbers and structure itself. After a change of
words, `make golden` writes the files again and a person reads the diff. The files of a part: `make golden
GOLDEN=tests/cli`. Nothing is written in CI.
"""

import difflib
import html
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "golden"
OPTION = "--rewrite-golden"
HEAD = "=== "  # begins the line that names a section
SECTION = re.compile(rf"^{HEAD}(.*)\n", re.MULTILINE)
CHANGING = (  # what differs from run to run, and how it is written
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA256"),
    (re.compile(r'(name="csrf_token"[^>]*value=")[^"]+'), r"\1TOKEN"),
)
HIDDEN = re.compile(r"<(script|style|svg|template)\b.*?</\1>|<head\b.*?</head>|<!--.*?-->", re.DOTALL)
BLOCKS = re.compile(
    r"</?(?:p|h\d|li|ul|ol|dl|dt|dd|tr|table|caption|thead|tbody|section|article|header|footer|main|nav|div|form|"
    r"fieldset|legend|label|details|summary|figure|figcaption|option|select|pre|br|hr|aside|blockquote)\b[^>]*>"
)


def page_text(page: str, start: str = "<main", end: str = "</main>") -> str:
    """Return the words of a page, or of the part between two markers, one block a line."""
    if start in page:
        page = start + page.partition(start)[2].partition(end)[0]
    words = HIDDEN.sub("", page).replace("\n", " ")
    text = re.sub(r"<[^>]*>", "", BLOCKS.sub("\n", words))
    lines = (" ".join(html.unescape(line).split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def hide_moments(text: str) -> str:
    """Return a text without its dates and times, for pages that show when the test ran."""
    return re.sub(r"\b\d\d \w{3} \d{4}, \d\d:\d\d UTC", "MOMENT", text)


def normalize(text: str, folder: Path) -> str:
    """Return a text without what differs from run to run, and without spaces at the end of lines."""
    text = text.replace(str(folder), "TMP").replace(str(ROOT), "ROOT")
    for pattern, replacement in CHANGING:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def file_of(module: Path) -> Path:
    """Return the golden file of a module of tests: tests/cli/test_plan.py has tests/golden/cli/plan.txt."""
    inside = module.relative_to(ROOT / "tests").with_suffix(".txt")
    return FOLDER / inside.with_name(inside.name.removeprefix("test_"))


def read_sections(file: Path) -> dict[str, str]:
    """Return the texts of a golden file by the names of their sections; none if there is no file."""
    if not file.exists():
        return {}
    _, *parts = SECTION.split(file.read_text(encoding="utf-8"))
    return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}


def format_sections(sections: dict[str, str]) -> str:
    """Return the golden file of some sections, in the order of their names."""
    return "\n".join(f"{HEAD}{name}\n{text}\n" for name, text in sorted(sections.items()))


class Golden:
    """Compares what a test got with the section of the golden file that has the test's name."""

    def __init__(self, test: str, file: Path, folder: Path, got: dict[str, str], *, rewrites: bool) -> None:
        self._test, self._file, self._folder, self._got, self._rewrites = test, file, folder, got, rewrites

    def __call__(self, text: object, name: str = "") -> None:
        """Assert that the words are the ones on file; a test with several texts names each."""
        section = f"{self._test} {name}".strip()
        assert section not in self._got, f"two texts for {section}: give each a name"
        self._got[section] = got = normalize(str(text), self._folder)
        if self._rewrites:
            return
        kept = read_sections(self._file).get(section)
        assert kept is not None, f"{section} is not in {self._file}; `make golden` writes it"
        changes = "\n".join(difflib.unified_diff(kept.split("\n"), got.split("\n"), "golden", "now", lineterm=""))
        assert kept == got, f"other words than in {self._file} (`make golden` rewrites it)\n{changes}"


class Rewriting:
    """Collects the texts of a run, and writes them at its end. Tests that did not pass keep what they had."""

    def __init__(self) -> None:
        self.by_file: dict[Path, dict[str, str]] = {}
        self.unfinished: dict[Path, set[str]] = {}

    def texts(self, file: Path) -> dict[str, str]:
        """Return the sections of a file so far."""
        return self.by_file.setdefault(file, {})

    def write(self) -> None:
        """Write every file of which a test ran."""
        for file, sections in self.by_file.items():
            unfinished = self.unfinished.get(file, set())
            kept = {name: text for name, text in read_sections(file).items() if name.split(" ")[0] in unfinished}
            if sections := kept | sections:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(format_sections(sections), encoding="utf-8")
            else:
                file.unlink(missing_ok=True)


def main(arguments: Sequence[str]) -> int:
    """Run the tests that have golden files, in the folders given or everywhere, and write what they got."""
    if os.environ.get("CI"):
        print("Golden files are not rewritten in CI. Rewrite them at your desk, and read the diff.", file=sys.stderr)
        return 1
    run = ["-m", "golden", OPTION, "--numprocesses", "auto", "--dist", "loadfile", *arguments]
    return int(pytest.main(run))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
