"""What a curious administrator is shown of a store: reports that are not pending, and the bytes of one in the file."""

from pathlib import Path

import pytest

from survey_app.store import STEP
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.cell import encode_cell
from tests.definitions import survey, worked_example
from tests.fixtures import add as publish
from tests.fixtures import add_worked_example, make, submission
from tests.golden_files import Golden
from tests.store.conftest import Place


def test_pending_reports_are_left_out_and_so_are_those_of_other_surveys(place: Place) -> None:
    store = place.open()
    published = add_worked_example(store)
    other = publish(store, survey(worked_example() | {"slug": "other"}), owner=published.owner)
    store.write([submission(other) for _ in range(3 * STEP)].copy)
    made = [submission(published) for _ in range(2 * STEP - 1)]
    store.write(made.copy)
    assert store.visible_reports(published, b"", 100) == [], "nothing is shown before the fortieth"
    made.append(submission(published))
    store.write(made[-1:].copy)
    seen = store.visible_reports(published, b"", 100)
    assert len(seen) == store.snapshot(published).reports == STEP
    assert set(seen) < {(one.id, one.bits) for one in made} and seen == sorted(seen)
    assert store.visible_reports(published, seen[4][0], 3) == seen[5:8]
    where, table = store.table_of(published)
    assert "bits" in table and (where.endswith("candor.db") or where == "PostgreSQL")
    store.delete_survey("exam")
    assert store.visible_reports(published, b"", 100) == []
    store.close()


def test_the_cell_of_a_report_is_its_length_its_types_its_id_and_its_bits(tmp_path: Path, golden: Golden) -> None:
    store, published = make(tmp_path / "candor.db")
    one = submission(published)
    parts = store.cell_of(published, one.id, one.bits)
    golden("\n".join(f"{name}: {len(data)}" for name, data in parts))
    whole = b"".join(data for _, data in parts)
    assert whole == bytes([len(whole) - 1, 4, 9, 12 + 2 * 16, 12 + 2]) + one.id + one.bits
    store.close()


@pytest.mark.parametrize(
    ("survey", "size"), [(0, 1), (1, 1), (2, 57), (127, 58), (128, 100), (40_000, 300), (2**40, 1)]
)
def test_it_lies_in_the_file_as_a_whole_whatever_the_survey_and_its_size(
    tmp_path: Path, survey: int, size: int
) -> None:
    store = SqliteStore(tmp_path / "candor.db")
    store.migrate()
    id, bits = bytes(range(16)), bytes(i % 251 for i in range(size))
    with store._transaction() as connection:
        connection.execute("insert into reports values (?, ?, ?)", (survey, id, bits))
    store.tidy(now=True)
    parts = encode_cell(survey, id, bits)
    assert store.path.read_bytes().count(b"".join(data for _, data in parts)) == 1
    assert dict(parts)["bits"] == bits
    store.close()
