"""The examples that come along can be had without a checkout."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from survey_app.assure.simulation import example_files
from survey_app.authoring import build
from survey_app.cli import main
from tests.golden_files import Golden
from tests.test_commands import ROOT


def test_every_example_is_listed_with_a_line(run: Any) -> None:
    listed = run("example").stdout.splitlines()
    first = [line.split()[0] for line in listed if not line.startswith(" ")]
    assert first == example_files.names() and {"campus", "exam", "wellbeing"} <= set(first)
    assert not [line for line in listed if len(line) > 110 or not line.strip()]


@pytest.mark.parametrize("name", example_files.names())
def test_an_example_is_printed_as_it_is(name: str) -> None:
    done = CliRunner().invoke(main, ["example", name])
    assert done.stdout_bytes == (ROOT / "examples" / f"{name}.yaml").read_bytes()
    assert build(done.stdout_bytes).surveys
    assert example_files.summarize(name)


@pytest.mark.parametrize("name", ["minimal.py", "reanalysis.R", "results_in_pandas.py"])
def test_a_script_is_printed_as_it_is(name: str) -> None:
    done = CliRunner().invoke(main, ["example", name])
    assert done.stdout_bytes == (ROOT / "examples" / name).read_bytes()


def test_truth_is_printed_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    assert (
        CliRunner().invoke(main, ["example", "campus", "--truth"]).stdout_bytes
        == (ROOT / "examples" / "campus-truth.yaml").read_bytes()
    )
    (tmp_path / "mood.yaml").write_text("slug: mood\ntitle: Mood\n")
    monkeypatch.setattr(example_files, "folder", lambda: tmp_path)
    assert CliRunner().invoke(main, ["example"]).stdout == "mood  Mood\n"
    done = CliRunner().invoke(main, ["example", "mood", "--truth"])
    assert (done.exit_code, done.stdout) == (1, "")
    golden(done.stderr)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# One line.\nslug: a\n", "One line"),
        ("# Two lines, ε = 2 at 0.5 of\n# them. And more.\nslug: a\n", "Two lines, ε = 2 at 0.5 of them"),
        ("slug: a\ntitle: Mood\n", "Mood"),
    ],
)
def test_an_example_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    monkeypatch.setattr(example_files, "folder", lambda: tmp_path)
    assert example_files.summarize("a") == told
