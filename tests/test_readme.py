"""What the READMEs show runs, and the figures that the README repeats are the computed ones."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from survey_app.authoring.mechanism_choice import make_flip

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_python_in_the_clients_readme_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    _, snippet = re.findall(r"```python\n(.*?)```", (ROOT / "client" / "README.md").read_text(), re.DOTALL)
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102
    assert '"bits":' in capsys.readouterr().out


def test_an_answer_that_leaves_unchanged_is_told_as_often_as_it_does() -> None:
    sentence = r"at ε = 2, a yes or no that is asked alone leaves the device unchanged in (\d+) of 100 cases"
    for page in (README, (ROOT / "docs" / "guarantees.md").read_text()):
        (count,) = re.findall(sentence, page, re.IGNORECASE)
        assert int(count) == round(100 * float(make_flip(Decimal(2)).p))


def test_the_readme_takes_two_screens() -> None:
    """520 words, a picture and two tables are about two screens of a desktop."""
    assert len(README.split()) <= 520


def test_nothing_says_that_a_server_cannot_know() -> None:
    """It cannot be sure: at ε = 2 most answers arrive as they were given."""
    texts = [
        file
        for folder in ("client", "docs", "paper", "templates", "static", "survey_app", "deploy", "examples")
        for file in (ROOT / folder).rglob("*")
    ]
    texts += [ROOT / name for name in ("README.md", "CITATION.cff", "pyproject.toml")]
    wrong = re.compile(
        r"(?:server|survey)(?: \w+)? cannot know|can know (?:what you|which it)|knows who (?:said|answered) what"
        r"|(?:Server|Umfrage) .*nicht kennen|no puede conocer|ne peut (?:pas )?connaître",
        re.I,
    )
    kinds = {".md", ".cff", ".toml", ".html", ".js", ".py", ".service", ".yaml"}
    found = [file.name for file in texts if file.suffix in kinds and wrong.search(file.read_text())]
    assert found == []
