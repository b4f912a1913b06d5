"""`candor tally` and folders of `candor export`: what is counted from files is what the results are made of."""

import csv
import io
import json
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from survey_app.cli import export, main
from survey_app.cli.exit_codes import CALLED_WRONGLY, NOT_DONE
from survey_app.results.parquet.parquet_reader import find
from survey_app.store import PublishedSurvey, State
from survey_app.store.sqlite import SqliteStore
from survey_app.tally import column_names
from tests.fixtures import make, submission
from tests.golden_files import Golden
from tests.results.parquet.parquet_files import bits_of, count_bits, mixed_survey, write_part_files


@pytest.fixture
def installation(tmp_path: Path) -> tuple[SqliteStore, PublishedSurvey]:
    """A survey with 130 reports, 20 of which are pending."""
    store, published = make(tmp_path / "candor.db")
    store.write(lambda: [submission(published) for _ in range(130)])
    return store, published


def candor(tmp_path: Path, *words: str | Path) -> Result:
    return CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", *map(str, words)])


def said(tmp_path: Path, *words: str | Path) -> str:
    done = candor(tmp_path, *words)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_folder_holds_what_is_shown_and_its_tally_is_the_snapshot(
    installation: tuple[SqliteStore, PublishedSurvey], tmp_path: Path
) -> None:
    store, published = installation
    folder = tmp_path / "bits"
    done = candor(tmp_path, "export", "exam", folder, "--rows", "50")
    assert f"{folder}, " in done.stdout and re.findall(r"(?<= )[0-9]+(?= )", done.stdout) == ["110", "3"]
    assert done.stderr.startswith("exam ") and len(list(folder.iterdir())) == 3
    document = json.loads(said(tmp_path, "tally", folder, "--json"))
    snapshot = store.snapshot(published)
    assert (document["survey"], document["slug"]) == (published.survey.digest, "exam")
    assert document["reports"] == snapshot.reports == 110
    assert [bit["ones"] for bit in document["bits"]] == snapshot.counts.tolist()
    assert [bit["bit"] for bit in document["bits"]] == column_names(published.survey)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    store.set_state(published, State.CLOSED)
    said(tmp_path, "export", "exam", folder, "--rows", "200", "--force")
    assert [file.name for file in folder.iterdir()] == ["part-00000.parquet"]
    assert find([folder]).report_count == 130


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_results_from_files_are_the_results_of_the_survey(
    installation: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, form: list[str]
) -> None:
    said(tmp_path, "export", "exam", tmp_path / "bits", "--rows", "50")
    said(tmp_path, "export", "exam", tmp_path / "exam.parquet")
    expected = said(tmp_path, "results", "exam", *form)
    assert said(tmp_path, "tally", tmp_path / "bits", "--results", *form) == expected
    assert said(tmp_path, "tally", tmp_path / "exam.parquet", "--results", *form) == expected


def test_counts_are_told_to_a_person_and_to_a_spreadsheet(tmp_path: Path) -> None:
    parsed = mixed_survey()
    rows = bits_of(parsed, 1200)
    folder = write_part_files(parsed, rows, 500, tmp_path / "bits")
    tally, pairs = count_bits(parsed, rows)
    head, first, *rest = said(tmp_path, "tally", folder).splitlines()
    assert head == f"1,200 reports to {parsed.slug}, {parsed.digest}"
    assert first.split() == ["bits", str(tally.counts[0]), f"{tally.counts[0] / 1200:.4f}"]
    assert len(rest) == parsed.width - 1
    (_, *lines) = csv.reader(io.StringIO(said(tmp_path, "tally", folder, "--csv")))
    assert lines == [[name, str(ones), "1200"] for name, ones in zip(column_names(parsed), tally.counts, strict=True)]
    assert json.loads(said(tmp_path, "tally", folder, "--pairs", "--json"))["pairs"] == pairs.tolist()
    names, *lines = csv.reader(io.StringIO(said(tmp_path, "tally", folder, "--pairs", "--csv")))
    assert names == ["bit", *column_names(parsed)]
    assert [[int(cell) for cell in line[1:]] for line in lines] == pairs.tolist()


def test_of_no_reports_there_are_no_results_yet(tmp_path: Path) -> None:
    folder = write_part_files(mixed_survey(), bits_of(mixed_survey(), 0), 10, tmp_path / "bits")
    assert said(tmp_path, "tally", folder).splitlines()[1].split() == ["bits", "0"]
    document = json.loads(said(tmp_path, "tally", folder, "--results", "--json"))
    assert document["reports"] == 0


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        ("--json --csv", CALLED_WRONGLY),
        ("--pairs", CALLED_WRONGLY),
        ("--pairs --json --results", CALLED_WRONGLY),
        ("nowhere.parquet", NOT_DONE),
    ],
    ids=["two-forms", "pairs", "pairs-of-results", "no-file"],
)
def test_refusals_of_the_tally_are_clear(tmp_path: Path, words: str, exit_code: int, golden: Golden) -> None:
    folder = write_part_files(mixed_survey(), bits_of(mixed_survey(), 10), 10, tmp_path / "bits")
    done = candor(tmp_path, "tally", folder, *words.split())
    assert done.exit_code == exit_code and done.stdout == ""
    golden(done.stderr)


def test_without_the_extra_spark_is_told_how_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    for name in ("pyspark", "pyspark.errors"):
        monkeypatch.setitem(sys.modules, name, None)
    folder = write_part_files(mixed_survey(), bits_of(mixed_survey(), 10), 10, tmp_path / "bits")
    done = candor(tmp_path, "tally", folder, "--engine", "spark")
    assert done.exit_code == NOT_DONE and "pip install 'candor-survey[spark]'" in done.output
    golden(done.output)


def test_only_a_folder_of_parquet_is_replaced_and_only_by_force(
    installation: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, golden: Golden
) -> None:
    folder, file = tmp_path / "bits", tmp_path / "file"

    def refuse(name: str, place: Path, *options: str, exit_code: int = NOT_DONE) -> None:
        done = candor(tmp_path, "export", "exam", place, *options)
        assert done.exit_code == exit_code and done.stdout == ""
        golden(done.output, name)

    said(tmp_path, "export", "exam", folder, "--rows", "50")
    refuse("folder", folder, "--rows", "9")
    refuse("no rows", folder, exit_code=CALLED_WRONGLY)
    (folder / "notes.txt").write_text("mine")
    refuse("other files", folder, "--rows", "9", "--force")
    assert len([*folder.iterdir()]) == 4
    file.write_text("mine")
    refuse("file", file, "--rows", "9", "--force")
    assert file.read_text() == "mine"
    refuse("no folder", tmp_path / "no" / "bits", "--rows", "9")


def test_a_failure_on_the_way_leaves_the_old_folder_and_no_other(
    installation: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bits"
    said(tmp_path, "export", "exam", folder, "--rows", "50")

    def failing(rows: Any, progress: Any) -> Any:
        yield next(rows)
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(export, "report_progress", failing)
    done = candor(tmp_path, "export", "exam", folder, "--rows", "10", "--force")
    assert f"cannot write {folder}: No space left on device" in done.output
    assert sorted(tmp_path.rglob("*")) == before
    assert find([folder]).report_count == 110
