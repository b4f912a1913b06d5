"""docs/tutorial.md can be followed: its files are saved, its commands typed in order, and what it shows is what is printed.

Where chance decides, as in results, the numbers on the page stand for any others and the words have to be the same.
"""

import re
import shlex
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.module_graph import ROOT
from tests.typed_commands import answer_prompts, candor, run_server

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = "http://127.0.0.1:8000"
BY_CHANCE = {"results", "crosstab", "regress"}
PASSWORD = "a long password\n"  # noqa: S105


def shape(line: str) -> str:
    """A line with any numbers in it."""
    return " ".join(re.sub(r"−?\d[\d,]*(\.\d+)?", "#", line).split())


def shows(shown: str, printed: str, *, by_chance: bool) -> bool:
    """Whether a page shows what was printed; … on a line of its own leaves any lines out."""
    parts = [part.strip("\n") for part in re.split(r"^…$", shown, flags=re.MULTILINE)]
    lines = printed.rstrip("\n").split("\n")
    wanted = [part.split("\n") for part in parts if part]
    if by_chance:
        lines, wanted = [shape(line) for line in lines], [[shape(line) for line in part] for part in wanted]
    begin = 0
    for number, part in enumerate(wanted):
        found = [at for at in range(begin, len(lines)) if lines[at : at + len(part)] == part]
        if not found or (number == 0 and parts[0] and found[0] != 0):
            return False
        begin = found[0] + len(part)
    return not parts[-1] or begin == len(lines)


def test_a_page_that_shows_something_else_would_be_found() -> None:
    printed = "one\ntwo  12.5%\nthree\nfour\n"
    assert shows("one\n…\nfour\n", printed, by_chance=False) and shows("one\ntwo 3%\n…\n", printed, by_chance=True)
    for wrong in ("two  12.5%\n…\n", "one\n…\nfive\n", "one\ntwo  12.6%\n…\n", "one\n…\nthree\n", "…\nfour\n…\none\n"):
        assert not shows(wrong, printed, by_chance=False), wrong


def commands(block: str) -> Iterator[list[str]]:
    for line in block.splitlines():
        name, *words = shlex.split(line)
        assert name == "candor", line
        yield words


def test_the_tutorial_can_be_followed_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CANDOR_DB", raising=False)
    place, last, printed, run = "", [""], "", set[str]()
    with ExitStack() as server:
        for kind, block in FENCE.findall(PAGE):
            if kind == "yaml":
                name = re.match(r"# (\S+)\n", block)
                assert name, "a file has its name in its first line"
                Path(name[1]).write_text(block)
            elif kind == "sh":
                for last in commands(block):
                    if last == ["serve"]:
                        place = f"http://127.0.0.1:{server.enter_context(run_server(last))}"
                        _visit(place, "/", "/s/shift-day")
                        continue
                    printed = _type([word.replace(PLACE, place) for word in last])
                    run |= {*last}
                    if last[:2] == ["survey", "close"]:
                        _visit(place, "/results/shift", text="Methods paragraph")
            elif "2 of 3 questions" not in printed:  # the device has drawn the other block
                assert kind == "text" and shows(block, printed, by_chance=bool(BY_CHANCE & {*last})), printed
    assert {"plan", "dossier", "simulate", "respond", "ledger", "regress", "export", "codebook", "delete"} <= run
    made = {file.name for file in tmp_path.iterdir()}
    assert {"dossier.html", "night.csv", "night.csv.definition.json", "candor.db", "trial.db"} <= made


def _type(words: list[str]) -> str:
    if words[0] != "respond":
        return candor(*words, typed=PASSWORD * 2)
    printed = answer_prompts(words, yes="y\n", scale="2\n")
    assert "(stored)" in printed
    return printed


def _visit(place: str, *paths: str, text: str = "") -> None:
    """The pages that it tells to open are there."""
    for path in paths:
        assert f"<{PLACE}{path}>" in PAGE
        with urllib.request.urlopen(place + path) as reply:  # noqa: S310
            assert reply.status == 200 and text in reply.read().decode()
