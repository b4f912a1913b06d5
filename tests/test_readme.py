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
