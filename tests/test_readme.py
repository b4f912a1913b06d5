"""What the README shows runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_python_in_the_readme_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102
    assert '"bits":' in capsys.readouterr().out


def test_every_key_of_an_author_is_documented() -> None:
    from survey_app.authoring import PROSE
    from survey_app.authoring.questions import AUTHORED, COMMON, DESIGNS

    page = (ROOT / "docs" / "authoring.md").read_text()
    keys = {*PROSE, *COMMON, *DESIGNS, *(key for extra in AUTHORED.values() for key in extra)}
    assert not {key for key in keys if not re.search(rf"\b{key}\b", page)}
