"""The golden files: each belongs to a test, a change of words shows as a diff, and nothing is written in CI."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden_files
from tests.golden_files import FOLDER, Golden, file_of, format_sections, normalize, page_text, read_sections

TESTS = Path(__file__).parent


def golden_tests() -> dict[Path, set[str]]:
    """Return the names of the tests that use the fixture, by their golden file."""
    tests: dict[Path, set[str]] = {}
    for module in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and "golden" in {argument.arg for argument in node.args.args}:
                tests.setdefault(file_of(module), set()).add(node.name)
    return tests


def test_every_file_and_section_is_reached_by_a_test() -> None:
    tests = golden_tests()
    files = {file for file in FOLDER.rglob("*") if file.is_file()}
    assert files == {file for file, names in tests.items() if any(name.startswith("test_") for name in names)}
    for file in files:
        stale = {name for name in read_sections(file) if re.split(r"[\[ ]", name)[0] not in tests[file]}
        assert not stale, f"{file}: no test has these sections"


def test_a_change_of_words_is_found(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text(format_sections({"test_it": "The survey is closed."}))
    Golden("test_it", file, tmp_path, {}, rewrites=False)("The survey is closed.")
    for got in ("The survey is open.", "The survey is closed.\nReally."):
        with pytest.raises(AssertionError):
            Golden("test_it", file, golden_files.ROOT, {}, rewrites=False)(got)
    with pytest.raises(AssertionError):
        Golden("test_other", file, golden_files.ROOT, {}, rewrites=False)("The survey is closed.")


def test_sections_are_read_as_they_were_written(tmp_path: Path) -> None:
    sections = {"test_a": "one\n\ntwo", "test_b[x-1] second": "", "test_c": "== no head"}
    (tmp_path / "all.txt").write_text(format_sections(sections))
    assert read_sections(tmp_path / "all.txt") == sections


def test_what_changes_from_run_to_run_is_left_out(tmp_path: Path) -> None:
    text = f"{tmp_path}/a.db at http://127.0.0.1:8123/  \n" + "0f" * 32
    assert normalize(text, tmp_path) == "TMP/a.db at http://127.0.0.1:PORT/\nSHA256"


def test_a_page_is_its_words() -> None:
    page = "<head><title>T</title></head><main><h1>Two\n words</h1><p>a <b>bold</b> &amp; one<script>x</script></main>"
    assert page_text(page) == "Two words\na bold & one"


def test_nothing_is_rewritten_in_ci(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CI", "true")
    assert golden_files.main([]) == 1
    command = [sys.executable, "-m", "pytest", golden_files.OPTION, "--collect-only", "tests/test_golden.py"]
    assert subprocess.run(command, cwd=golden_files.ROOT, capture_output=True).returncode == pytest.ExitCode.USAGE_ERROR
