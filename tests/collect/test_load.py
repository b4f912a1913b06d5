"""Reports from Parquet files into a survey: each once, however often, and only where they belong."""

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.cli.exit_codes import NOT_DONE
from survey_app.collect import load as loading
from survey_app.collect.load import LoadError, load, row_id
from survey_app.results.parquet.parquet_reader import ReportFiles, find
from survey_app.store import Outcome, PublishedSurvey, State, Unavailable
from survey_app.store.sqlite import SqliteStore
from survey_app.tally import Bits
from tests.fixtures import add, make
from tests.golden_files import Golden
from tests.results.parquet.parquet_files import bits_of, mixed_survey, write_column_file, write_part_files
from tests.ticket_surveys import invitation_survey

PARSED = mixed_survey(slug="exam")


def taking(tmp_path: Path, terms: Terms = Terms()) -> tuple[SqliteStore, PublishedSurvey]:  # noqa: B008 — frozen
    """A store with an open survey that has the definition of the files."""
    store, first = make(tmp_path / "candor.db")
    return store, add(store, PARSED, terms, owner=first.owner)


def reports(tmp_path: Path, rows: Bits, most: int = 400, name: str = "bits") -> ReportFiles:
    return find([write_part_files(PARSED, rows, most, tmp_path / name)])


def taken(store: SqliteStore, published: PublishedSurvey) -> tuple[int, list[int]]:
    kept, counted = store.recount(published, lambda _: None)
    assert kept.reports == counted.reports and np.array_equal(kept.counts, counted.counts)
    return counted.reports, counted.counts.tolist()


def sums(rows: Bits) -> list[int]:
    return [int(one) for one in np.unpackbits(rows, axis=1, count=PARSED.width).sum(axis=0, dtype=np.int64)]


def unwatched(_: int) -> None:
    pass


def test_what_was_exported_is_counted_where_it_is_loaded(tmp_path: Path) -> None:
    store, published = taking(tmp_path)
    rows = bits_of(PARSED, 1000)
    done = load(store, published, reports(tmp_path, rows), unwatched)
    assert (done.stored, done.already_stored) == (1000, 0)
    assert taken(store, published) == (1000, sums(rows))
    assert store.snapshot(published).reports == 980


def test_the_same_file_again_adds_nothing_and_another_one_does(tmp_path: Path) -> None:
    store, published = taking(tmp_path)
    rows = bits_of(PARSED, 500)
    found = reports(tmp_path, rows)
    load(store, published, found, unwatched)
    again = load(store, published, found, unwatched)
    assert (again.stored, again.already_stored) == (0, 500)
    other = find([write_column_file(PARSED, rows[:100], tmp_path / "other.parquet")])
    assert load(store, published, other, unwatched).stored == 100
    assert taken(store, published)[0] == 600


def test_what_was_interrupted_is_repeated_without_counting_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "REPORTS_PER_TRANSACTION", 64)
    store, published = taking(tmp_path)
    rows, seen = bits_of(PARSED, 500), []

    def full(count: int) -> None:
        seen.append(count)
        if sum(seen) > 200:
            raise Unavailable("database or disk is full")

    found = reports(tmp_path, rows)
    with pytest.raises(Unavailable):
        load(store, published, found, full)
    assert 0 < taken(store, published)[0] < 500
    done = load(store, published, found, unwatched)
    assert done.already_stored == sum(seen) and done.stored == 500 - sum(seen)
    assert taken(store, published) == (500, sums(rows))


def test_ids_come_from_the_content_of_the_file_and_the_number_of_the_row(tmp_path: Path) -> None:
    store, published = taking(tmp_path)
    rows = bits_of(PARSED, 90)
    found = reports(tmp_path, rows, most=50)
    load(store, published, found, unwatched)
    first = hashlib.sha256(found.files[1].read_bytes()).digest()
    expected = hashlib.sha256(b"candor load\0" + first + (39).to_bytes(8, "big")).digest()[:16]
    assert row_id(first, 39) == expected
    kept = dict(store._connection.execute("select id, bits from reports"))
    assert kept[expected] == rows[89].tobytes()


def test_a_row_that_no_device_can_send_leaves_everything_as_it_was(tmp_path: Path, golden: Golden) -> None:
    store, published = taking(tmp_path)
    rows = bits_of(PARSED, 1000)
    rows[900] = 255
    with pytest.raises(LoadError) as caught:
        load(store, published, reports(tmp_path, rows), unwatched)
    assert caught.value.code == "impossible_bits" and "part-00002.parquet" in str(caught.value)
    assert taken(store, published)[0] == 0
    golden(caught.value)


def test_reports_of_another_definition_are_refused(tmp_path: Path, golden: Golden) -> None:
    store, published = taking(tmp_path)
    other = mixed_survey(slug="exam", title="Another wave")
    found = find([write_part_files(other, bits_of(other, 30), 30, tmp_path / "bits")])
    with pytest.raises(LoadError) as caught:
        load(store, published, found, unwatched)
    assert caught.value.code == "other_definition"
    assert all(digest in str(caught.value) for digest in (other.digest, published.survey.digest))
    golden(caught.value)


def test_a_survey_that_is_full_takes_as_many_as_it_wants_and_says_so(tmp_path: Path, golden: Golden) -> None:
    store, published = taking(tmp_path, Terms(max_reports=70))
    with pytest.raises(LoadError) as caught:
        load(store, published, reports(tmp_path, bits_of(PARSED, 100)), unwatched)
    assert (caught.value.code, caught.value.stored) == (Outcome.FULL, 70)
    assert taken(store, published)[0] == 70
    golden(caught.value)


# the command


def run(tmp_path: Path, *words: str | Path, answer: str = "") -> Any:
    url = f"sqlite:///{tmp_path}/candor.db"
    return CliRunner().invoke(main, ["--db", url, "survey", "load", *map(str, words)], input=answer)


def test_the_command_asks_where_there_are_reports_already(tmp_path: Path, golden: Golden) -> None:
    store, published = taking(tmp_path)
    folder = write_part_files(PARSED, bits_of(PARSED, 100), 40, tmp_path / "bits")
    done = run(tmp_path, "exam", folder)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("100 ")
    asked = run(tmp_path, "exam", folder, answer="n\n")
    assert asked.exit_code == NOT_DONE and "[y/N]" in asked.output and " 80 " in asked.output
    again = run(tmp_path, "exam", folder, "--yes")
    assert again.exit_code == 0 and re.findall(r"\d+", again.stdout) == ["0", "100"]
    golden("\n".join(part.stdout.splitlines()[0] for part in (done, asked, again)))
    assert taken(store, published)[0] == 100


def test_a_survey_by_invitation_takes_none(tmp_path: Path, golden: Golden) -> None:
    store, first = make(tmp_path / "candor.db")
    made = invitation_survey()
    published = add(store, made, owner=first.owner)
    found = find([write_part_files(made, bits_of(made, 30), 40, tmp_path / "bits")])
    with pytest.raises(LoadError) as caught:
        load(store, published, found, unwatched)
    assert caught.value.code == "by_invitation" and taken(store, published)[0] == 0
    golden(caught.value)


def test_a_closed_survey_takes_none_and_a_path_that_leads_nowhere_is_told(tmp_path: Path, golden: Golden) -> None:
    store, published = taking(tmp_path)
    folder = write_part_files(PARSED, bits_of(PARSED, 30), 40, tmp_path / "bits")
    store.set_state(published, State.CLOSED)
    for name, path in (("closed", folder), ("nowhere", tmp_path / "nowhere")):
        refused = run(tmp_path, "exam", path)
        assert refused.exit_code == NOT_DONE and refused.stdout == ""
        golden(refused.stderr, name)
    assert taken(store, published)[0] == 0
