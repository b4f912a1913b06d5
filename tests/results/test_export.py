"""Exports: what is read back is what was stored, with its definition, and a file is whole or not there."""

import csv
import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from candor_client import Survey, canonical
from candor_client.report import from_base64url, unpack
from survey_app.assure.simulation.devices import reports
from survey_app.cli import export, main
from survey_app.plan.simulated_people import draw_people
from survey_app.results.csv_columns import escape_formula
from survey_app.results.export import (
    ExportError,
    write_csv_chunks,
    write_ndjson_chunks,
    write_parquet,
)
from survey_app.results.file_faults import FileFault
from survey_app.store import PublishedSurvey, State, Submission
from survey_app.store.sqlite import SqliteStore
from survey_app.tally import Bits, column_names
from tests.definitions import (
    COIN,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    survey,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.fixtures import add as publish
from tests.fixtures import make, submission
from tests.golden_files import Golden

FORMATS = ["csv", "ndjson", "parquet"]

EVERYTHING = define(
    [
        yes_no("cheated"),
        choice_question("help", optional=True),
        scale("fair"),
        scale("calm"),
        multiple("used", optional=True),
        number("spend", levels=7, max=12, unit="€"),
        choice_question("many", options=5),
        yes_no("again"),
        choice_question("why", options=2, show_if={"question": "again", "is": ["yes"]}),
    ],
    [
        field(COIN, "cheated"),
        field(subset(4, 1), "help"),
        field(subset(9, 2), "fair", "calm"),
        field(drawn(4, 2), "used"),
        field(geometric(7), "spend"),
        field(subset(5, 2), "many"),
        field(subset(4, 1), "again", "why"),
    ],
)


def bits_of(parsed: Survey, count: int) -> Bits:
    rng = np.random.default_rng()
    empty = np.zeros((0, parsed.length), dtype=np.uint8)
    return np.concatenate([empty, *reports(parsed, draw_people(parsed, {}, count, rng), rng)]) if count else empty


def in_pieces(rows: Bits, size: int) -> Iterator[Bits]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def spelled(kind: str, parsed: Survey, rows: Bits, size: int = 1000) -> bytes:
    """An export as bytes, from pieces of this size."""
    pieces = in_pieces(rows, size)
    if kind == "csv":
        return b"".join(write_csv_chunks(parsed, pieces))
    if kind == "ndjson":
        return b"".join(write_ndjson_chunks(parsed, len(rows), pieces))
    file = io.BytesIO()
    write_parquet(parsed, pieces, file)
    return file.getvalue()


def read_back(kind: str, content: bytes, parsed: Survey) -> tuple[list[str], Bits]:
    """Names and bits, by other people's readers."""
    if kind == "csv":
        names, *lines = csv.reader(io.StringIO(content.decode(), newline=""))
        cells = [[cell or "0" for cell in line] for line in lines]  # empty where a device was not asked
        return names, np.array(cells, dtype=np.uint8).reshape(len(lines), len(names))
    if kind == "ndjson":
        head, *rest = content.splitlines()
        assert json.loads(head)["reports"] == len(rest)
        packed = np.array([list(from_base64url(json.loads(line)["bits"])) for line in rest], dtype=np.uint8)
        return column_names(parsed), np.unpackbits(packed.reshape(len(rest), parsed.length), axis=1)[:, : parsed.width]
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    rows = np.array([column.fill_null(False).to_numpy() for column in table.columns], dtype=np.uint8).T
    return table.column_names, rows.reshape(table.num_rows, len(table.column_names))


# what is in a file


def test_every_stored_bit_has_a_name() -> None:
    assert column_names(survey(EVERYTHING)) == [
        "cheated",
        *(f"help:{said}" for said in ("option 0", "option 1", "option 2", "no answer")),
        *(f"fair+calm:{a} + {b}" for a in ("Disagree", "Neutral", "Agree") for b in ("Disagree", "Neutral", "Agree")),
        *(f"used:{o}:{said}" for o in ("item 0", "item 1", "item 2", "no answer") for said in ("no", "yes")),
        *(f"spend:{value} €" for value in (0, 2, 4, 6, 8, 10, 12)),
        *(f"many:option {i}" for i in range(5)),
        *(f"again+why:{cell}" for cell in ("no + no answer", "yes + option 0", "yes + option 1", "yes + no answer")),
    ]


def test_asked_bits_stand_before_their_field() -> None:
    parsed = survey(define([yes_no("a"), scale("b")], [field(COIN, "a"), field(subset(3, 1), "b")], ask=1))
    assert column_names(parsed) == ["a:asked", "a", "b:asked", "b:Disagree", "b:Neutral", "b:Agree"]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["no answer", "x"], ["q:no answer", "q:x", "q:no answer (2)"]),
        (["Yes", "yes"], ["q:Yes", "q:yes (2)", "q:no answer"]),
        (["no answer", "no answer (2)"], ["q:no answer", "q:no answer (2)", "q:no answer (3)"]),
    ],
)
def test_no_two_columns_have_one_name(labels: list[str], names: list[str]) -> None:
    """Not even where a reader takes capitals and small letters for the same."""
    parsed = survey(define([choice_question("q") | {"options": labels, "optional": True}], [field(subset(3, 1), "q")]))
    assert column_names(parsed) == names


def test_joint_labels_that_run_together_are_kept_apart() -> None:
    questions = [
        choice_question("a") | {"options": ["x", "x + y"]},
        choice_question("b") | {"options": ["y + z", "z"]},
    ]
    names = column_names(survey(define(questions, [field(subset(4, 1), "a", "b")])))
    assert names == ["a+b:x + y + z", "a+b:x + z", "a+b:x + y + y + z", "a+b:x + y + z (2)"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("count", [0, 1, 2, 999, 1000, 1001, 2500])
def test_what_is_read_back_is_what_was_stored(kind: str, count: int) -> None:
    parsed = survey(EVERYTHING)
    rows = bits_of(parsed, count)
    names, bits = read_back(kind, spelled(kind, parsed, rows), parsed)
    assert names == column_names(parsed)
    assert np.array_equal(bits, np.unpackbits(rows, axis=1, count=parsed.width))


@pytest.mark.parametrize("kind", FORMATS)
def test_pieces_leave_no_trace(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = survey(EVERYTHING)
    rows = bits_of(parsed, 3000)
    expected = read_back(kind, spelled(kind, parsed, rows, 3000), parsed)[1]
    monkeypatch.setattr("survey_app.results.export.CELLS", 100 * parsed.width)
    monkeypatch.setattr("survey_app.results.parquet.parquet_writer.GROUP_ROWS", 700)
    for size in (1, 99, 100, 101, 3000):
        assert np.array_equal(read_back(kind, spelled(kind, parsed, rows, size), parsed)[1], expected)


def test_parquet_is_written_in_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("survey_app.results.parquet.parquet_writer.GROUP_ROWS", 700)
    parsed = survey(EVERYTHING)
    file = pyarrow.parquet.ParquetFile(io.BytesIO(spelled("parquet", parsed, bits_of(parsed, 1500), 400)))
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [700, 700, 100]


@pytest.mark.parametrize("ask", [None, 1])
def test_the_definition_comes_along_and_keeps_its_digest(ask: int | None) -> None:
    questions = [yes_no("a") | {"text": 'Ünïcode, "quoted"\u2028, <b>'}, scale("b"), yes_no("c")]
    more = {"ask": ask} if ask else {}
    parsed = survey(define(questions, [field(COIN, "a"), field(subset(3, 1), "b"), field(COIN, "c")], **more))
    head = spelled("ndjson", parsed, bits_of(parsed, 3)).split(b"\n")[0]
    said = json.loads(head)
    assert said["digest"] == parsed.digest
    assert Survey.from_json(canonical.dumps(said["definition"])).digest == parsed.digest
    metadata = pyarrow.parquet.read_schema(io.BytesIO(spelled("parquet", parsed, bits_of(parsed, 3)))).metadata
    assert metadata[b"candor.digest"].decode() == parsed.digest
    assert Survey.from_json(metadata[b"candor.definition"]) == parsed


def test_lines_of_ndjson_are_bits_that_a_device_can_send() -> None:
    parsed = survey(EVERYTHING)
    for line in spelled("ndjson", parsed, bits_of(parsed, 50)).splitlines()[1:]:
        unpack(parsed, from_base64url(json.loads(line)["bits"]))


def test_the_noisy_level_is_the_name_of_its_column() -> None:
    parsed = survey(define([number("spend", levels=7)], [field(geometric(7), "spend")]))
    levels = [0, 1, 5, 6]
    rows = np.array([[128 >> level] for level in levels], dtype=np.uint8)
    names, bits = read_back("csv", spelled("csv", parsed, rows), parsed)
    worth = np.array([int(name.removeprefix("spend:")) for name in names])
    assert (bits @ worth).tolist() == levels


def test_no_cell_of_the_head_becomes_a_formula() -> None:
    evil = ["=1+1", "+1", "-1", "@a", "＝1", 'a"b', "a,b", "a;=1"]
    parsed = survey(define([choice_question("q") | {"options": evil}], [field(subset(8, 1), "q")]))
    names, _ = read_back("csv", spelled("csv", parsed, bits_of(parsed, 2)), parsed)
    assert names == [f"q:{label}" for label in evil]
    assert [escape_formula(name) for name in names] == names
    assert all(escape_formula(label).startswith("'") for label in evil[:5])


class Nowhere(io.RawIOBase):
    """A file that keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


NARROW = define([yes_no()], [field(COIN, "cheated")])
WIDE = define([choice_question(options=1000)], [field(subset(1000, 1), "help")])


def peak(kind: str, repeats: int, definition: dict[str, Any] = EVERYTHING) -> int:
    """The most memory that an export of so many blocks takes."""
    parsed = survey(definition)
    chunk = bits_of(parsed, 5000)
    tracemalloc.start()
    rows = (chunk.copy() for _ in range(repeats))
    if kind == "parquet":
        write_parquet(parsed, rows, Nowhere())  # type: ignore[arg-type]
    else:
        for _ in write_csv_chunks(parsed, rows) if kind == "csv" else write_ndjson_chunks(parsed, 0, rows):
            pass
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_memory_does_not_grow_with_the_reports(kind: str) -> None:
    """Five times as many reports, the same peak: both are several blocks. In a process where no other thread allocates."""
    script = (
        "from survey_app.results.parquet import parquet_writer; from survey_app.results import export; from tests.results.test_export import peak, pyarrow\n"
        "export.CELLS, parquet_writer.GROUP_ROWS = 2**18, 2**13\n"
        f"peak({kind!r}, 10)  # what is loaded at the first use is no one's growth\n"
        f"print(peak({kind!r}, 50), peak({kind!r}, 10), pyarrow.total_allocated_bytes())"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    many, few, arrow = map(int, done.stdout.split())
    assert many < 1.2 * few
    assert arrow < 2**26


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_takes_little_memory_however_narrow_or_wide_a_report_is(kind: str) -> None:
    """A million reports of one bit, a hundred thousand of a thousand, with the sizes that a server uses."""
    script = (
        "from tests.results.test_export import NARROW, WIDE, peak, pyarrow\n"
        f"peak({kind!r}, 1)\n"
        f"print(peak({kind!r}, 200, NARROW), peak({kind!r}, 20, WIDE), pyarrow.default_memory_pool().max_memory())"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    narrow, wide, arrow = map(int, done.stdout.split())
    assert max(narrow, wide) + arrow < 30_000_000


def test_without_pyarrow_one_sentence_tells_what_to_install(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError) as caught:
        spelled("parquet", survey(EVERYTHING), bits_of(survey(EVERYTHING), 1))
    assert caught.value.code is FileFault.MISSING_PACKAGE
    golden(caught.value)


def test_a_step_while_an_export_is_read_is_not_in_it(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    add(store, published, 50)
    with store.open_snapshot(published) as (tally, rows):
        add(store, published, 45)
        assert tally.reports == sum(map(len, rows)) == 30
    assert store.snapshot(published).reports == 75
    store.close()


# the command


def add(store: SqliteStore, published: PublishedSurvey, count: int) -> None:
    store.write(lambda: [submission(published) for _ in range(count)])


def files_in(folder: Path) -> list[Path]:
    """All but the database, and what lies beside it."""
    return sorted(one for one in folder.iterdir() if not one.name.startswith("candor.db"))


@pytest.fixture
def filled(tmp_path: Path) -> tuple[SqliteStore, PublishedSurvey]:
    store, published = make(tmp_path / "candor.db")
    add(store, published, 65)
    store.write(lambda: [submission(published) for _ in range(3)])
    return store, published


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", "export", *arguments])

    return invoke


@pytest.mark.parametrize("kind", FORMATS)
def test_the_sums_of_an_exported_file_are_the_tally(
    kind: str, run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, golden: Golden
) -> None:
    store, published = filled
    file = tmp_path / f"exam.{kind}"
    done = run("exam", str(file))
    assert done.exit_code == 0, done.output
    assert "45" in done.stdout and str(file) in done.stdout
    golden(done.output)
    tally = store.snapshot(published)
    _, bits = read_back(kind, file.read_bytes(), published.survey)
    assert len(bits) == tally.reports == 45
    assert bits.sum(axis=0, dtype=np.int64).tolist() == tally.counts.tolist()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.set_state(published, State.CLOSED)
    assert run("exam", str(file), "--force").exit_code == 0
    assert len(read_back(kind, file.read_bytes(), published.survey)[1]) == 68


def test_beside_csv_lies_the_definition_byte_for_byte(
    run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path
) -> None:
    assert run("exam", str(tmp_path / "exam.csv")).exit_code == 0
    definition = (tmp_path / "exam.csv.definition.json").read_bytes()
    assert hashlib.sha256(definition).hexdigest() == filled[1].survey.digest
    assert Survey.from_json(definition) == filled[1].survey


@pytest.mark.parametrize("kind", FORMATS)
def test_no_id_is_in_any_file(kind: str, run: Any, tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    made = [Submission(published.key, b"identity-%07d" % i, submission(published).bits) for i in range(60)]
    store.write(made.copy)
    assert run("exam", str(tmp_path / f"exam.{kind}")).exit_code == 0
    for file in tmp_path.glob("exam.*"):
        assert b"identity" not in file.read_bytes()
        assert b"aWRlbnRpdHk" not in file.read_bytes()  # the same in base64


def test_an_older_version_is_exported_by_its_digest(
    run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path
) -> None:
    store, old = filled
    newer = survey(json.loads(old.survey.source) | {"title": "Second wave"})
    publish(store, newer, owner=old.owner)
    for name, arguments, expected in (
        ("new", [], (newer, 0)),
        ("old", ["--digest", old.survey.digest], (old.survey, 68)),
    ):
        file = tmp_path / f"{name}.ndjson"
        assert run("exam", str(file), *arguments).exit_code == 0
        head = json.loads(file.read_bytes().splitlines()[0])
        assert (head["digest"], head["reports"]) == (expected[0].digest, expected[1])
    absent = run("exam", str(tmp_path / "x.csv"), "--digest", "0" * 64)
    assert absent.exit_code == 1 and not (tmp_path / "x.csv").exists()


def test_a_file_is_replaced_only_by_force(
    run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, golden: Golden
) -> None:
    file, beside = tmp_path / "exam.csv", tmp_path / "exam.csv.definition.json"
    beside.write_text("mine")
    refused = run("exam", str(file))
    assert refused.exit_code == 1
    assert str(beside) in refused.output
    golden(refused.output)
    assert not file.exists()
    assert beside.read_text() == "mine"
    assert run("exam", str(file), "--force").exit_code == 0
    kept = file.read_bytes()
    again = run("exam", str(file))
    assert again.exit_code == 1 and str(file) in again.output
    assert file.read_bytes() == kept


@pytest.mark.parametrize(
    ("slug", "name", "exit_code"),
    [
        ("exam", "exam.xlsx", 2),
        ("exam", "exam", 2),
        ("exam", "nowhere/exam.csv", 1),
        ("exam", "candor.db/exam.csv", 1),
        ("exam", "folder.csv", 1),
        ("exma", "exam.csv", 1),
    ],
    ids=["unknown-format", "no-format", "no-folder", "file-as-folder", "folder", "unknown-survey"],
)
def test_refusals_are_one_clear_sentence(
    run: Any,
    filled: tuple[SqliteStore, PublishedSurvey],
    tmp_path: Path,
    slug: str,
    name: str,
    exit_code: int,
    golden: Golden,
) -> None:
    (tmp_path / "folder.csv").mkdir()
    before = files_in(tmp_path)
    done = run(slug, str(tmp_path / name))
    assert done.exit_code == exit_code
    assert done.output.count("\n") == 1
    golden(done.output)
    assert files_in(tmp_path) == before


def test_a_suffix_may_be_in_capitals(run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path) -> None:
    assert run("exam", str(tmp_path / "EXAM.CSV")).exit_code == 0


def test_a_directory_that_cannot_be_written_is_named(
    run: Any,
    filled: tuple[SqliteStore, PublishedSurvey],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
) -> None:
    def refuse(**_: Any) -> Any:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr("survey_app.cli.output_files.tempfile.mkstemp", refuse)
    done = run("exam", str(tmp_path / "exam.csv"))
    assert done.exit_code == 1
    assert str(tmp_path / "exam.csv") in done.output and os.strerror(13) in done.output
    golden(done.output)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("fault", [OSError(28, os.strerror(28)), KeyboardInterrupt()])
def test_a_failure_on_the_way_leaves_the_old_file_and_no_other(
    run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, fault: BaseException
) -> None:  # fmt: skip
    old = {tmp_path / f"exam.{kind}": "old", tmp_path / "exam.csv.definition.json": "old definition"}
    for path, text in old.items():
        path.write_text(text)
    before = files_in(tmp_path)

    def failing(rows: Iterator[Bits], progress: Any) -> Iterator[Bits]:
        yield next(rows)
        raise fault

    monkeypatch.setattr(export, "report_progress", failing)
    done = run("exam", str(tmp_path / f"exam.{kind}"), "--force")
    assert done.exit_code == (130 if isinstance(fault, KeyboardInterrupt) else 1)
    if isinstance(fault, OSError):
        assert str(tmp_path / f"exam.{kind}") in done.output and os.strerror(28) in done.output
    assert files_in(tmp_path) == before
    assert {path: path.read_text() for path in old} == old
    add(*filled, 1)  # nothing is held
    assert filled[0].tidy(now=True)


def test_without_pyarrow_nothing_is_left(
    run: Any, filled: tuple[SqliteStore, PublishedSurvey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    before = files_in(tmp_path)
    done = run("exam", str(tmp_path / "exam.parquet"))
    assert done.exit_code == 1
    assert "candor-survey[parquet]" in done.output
    assert files_in(tmp_path) == before
