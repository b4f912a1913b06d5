"""Files for SPSS and Stata, read back with pyreadstat: bits, labels, parameters, digest."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyreadstat
import pytest
from click.testing import CliRunner

from candor_client.definition import Survey
from survey_app.cli import main
from survey_app.results import spss
from survey_app.results.bit_meanings import LONGEST_VARIABLE, field_bits, format_integers, stored_bits
from survey_app.results.export import ExportError
from survey_app.results.file_faults import FileFault
from survey_app.results.spss import write_statistics_file
from survey_app.results.survey_document import results
from survey_app.tally import Bits, column_names
from tests.definitions import COIN, choice, define, drawn, field, geometric, multiple, number, subset, survey, yes_no
from tests.fixtures import make, submission
from tests.golden_files import Golden
from tests.results.figure_kinds import FIELDS as KINDS
from tests.results.figure_kinds import make_survey
from tests.results.test_archive_page import everything, filled

KINDS_OF_FILE = [".sav", ".dta"]


def written(parsed: Survey, rows: Bits, kind: str, folder: Path) -> tuple[pandas.DataFrame, Any]:
    """A file's table and what pyreadstat knows about it."""
    path = folder / f"bits{kind}"
    with path.open("wb") as file:
        write_statistics_file(parsed, len(rows), [rows[:1000], rows[1000:]], kind, file)
    read = pyreadstat.read_sav if kind == ".sav" else pyreadstat.read_dta
    table, about = read(path)
    return table, about


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
@pytest.mark.parametrize("ask", [False, True])
def test_what_is_read_back_is_what_was_stored(kind: str, ask: bool, tmp_path: Path) -> None:
    parsed = everything(ask)
    rows, _ = filled(parsed)
    table, about = written(parsed, rows, kind, tmp_path)
    assert list(table.columns) == [bit.variable for bit in stored_bits(parsed)]
    assert np.array_equal(table.fillna(0).to_numpy().astype(np.uint8), np.unpackbits(rows, axis=1, count=parsed.width))
    assert parsed.digest in about.file_label


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_a_file_of_no_report_can_be_made(kind: str, tmp_path: Path) -> None:
    parsed = everything(False)
    table, about = written(parsed, np.zeros((0, parsed.length), dtype=np.uint8), kind, tmp_path)
    assert len(table) == 0
    assert len(about.column_names) == parsed.width


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_labels_carry_what_an_estimate_needs(kind: str, tmp_path: Path) -> None:
    parsed = everything(True)
    rows, tally = filled(parsed)
    table, about = written(parsed, rows, kind, tmp_path)
    sums = table.sum()
    page = {
        part.id: {line.option: line.unbiased for line in part.estimates} for part in results(parsed, tally).questions
    }
    scores = {
        name: float(found[1])
        for name, label in about.column_names_to_labels.items()
        if (found := re.search(r"\[score=(\S+)\]$", label))
    }
    mean = sum(score * sums[name] for name, score in scores.items()) / sums["spend_asked"]
    assert mean == pytest.approx(page["spend"]["mean"], abs=1e-12)
    for name, (n, option) in {
        "cheated": (sums["cheated_asked"], ("cheated", "yes")),
        "help_4": (sums["help_asked"], ("help", "no answer")),
        "used_2_yes": (sums["used_2_no"] + sums["used_2_yes"], ("used", "item 1")),
    }.items():
        found = re.search(r"\[p=(\S+) q=(\S+)\]$", about.column_names_to_labels[name])
        assert found
        p, q = map(float, found.groups())
        assert (sums[name] / n - q) / (p - q) == pytest.approx(page[option[0]][option[1]], abs=1e-12)


def test_the_integers_are_in_the_notes_of_sav_and_in_an_unused_label_of_dta(tmp_path: Path) -> None:
    parsed = everything(True)
    rows, _ = filled(parsed, 50)
    _, sav = written(parsed, rows, ".sav", tmp_path)
    _, dta = written(parsed, rows, ".dta", tmp_path)
    notes = " ".join(line.strip() for line in sav.notes)
    assert parsed.digest in sav.notes
    for one in field_bits(parsed):
        said = format_integers(one.field)
        assert f"{one.name}: {said}" in notes
        for bit in one.all_bits:
            assert dta.variable_value_labels[bit.variable][2] == f"(published integers: {said})"
            assert set(sav.variable_value_labels[bit.variable]) == {0, 1}
            assert dta.variable_value_labels[bit.variable][1] == ("sent" if bit.parameters else "yes")


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_field_has_a_name_and_parameters_for_each_bit(name: str) -> None:
    for ask in (False, True):
        parsed = make_survey([name, "coin"], ask=ask)
        bits = stored_bits(parsed)
        assert [bit.column for bit in bits] == column_names(parsed)
        assert len({bit.variable.casefold() for bit in bits}) == parsed.width
        for bit in bits:
            assert re.fullmatch(r"[a-z][a-z0-9_]{0,30}", bit.variable)
            if bit.p is not None and bit.q is not None:
                assert (bit.p, bit.q) == (bit.field.mechanism.p, bit.field.mechanism.q)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_names_that_these_programs_refuse_or_cut_stay_apart(kind: str, tmp_path: Path) -> None:
    long = "a" * 60
    ids = ["all", "str20", "1st", "x-y", "x_y", f"{long}1", f"{long}2"]
    questions = [yes_no(name) for name in ids]
    parsed = survey(define(questions, [field(COIN, name) for name in ids]))
    bits = stored_bits(parsed)
    names = [bit.variable for bit in bits]
    assert names[:5] == ["all_", "str20_", "q1st", "x_y", "x_y_v2"]
    assert len(set(names)) == len(ids) and max(map(len, names)) == LONGEST_VARIABLE
    rows, _ = filled(parsed, 20)
    table, _ = written(parsed, rows, kind, tmp_path)
    assert list(table.columns) == names


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_long_words_are_cut_and_numbers_never(kind: str, tmp_path: Path) -> None:
    options = [f"{'ü' * 200} {i}" for i in range(3)]
    parsed = survey(define([choice("q") | {"options": options, "text": "ß" * 500}], [field(subset(3, 1), "q")]))
    rows, _ = filled(parsed, 20)
    _, about = written(parsed, rows, kind, tmp_path)
    for bit in stored_bits(parsed):
        label = about.column_names_to_labels[bit.variable]
        assert label.endswith(f"… [{bit.parameters}]")
        assert (len(label) if kind == ".dta" else len(label.encode())) <= spss.LONGEST_LABEL[kind]


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(
    kind: str, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(spss, "MOST_CELLS", 100)
    parsed = survey(define([choice("q", 4)], [field(subset(4, 1), "q")]))
    with pytest.raises(ExportError) as caught:
        write_statistics_file(parsed, 30, iter(()), kind, sys.stdout.buffer)
    assert caught.value.code is FileFault.TOO_MANY_CELLS
    golden(caught.value)


def test_more_variables_than_stata_holds_are_refused(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(spss, "MOST_VARIABLES", 3)
    parsed = survey(define([number("n", levels=7)], [field(geometric(7), "n")]))
    with pytest.raises(ExportError) as caught:
        write_statistics_file(parsed, 2, iter(()), ".dta", sys.stdout.buffer)
    assert caught.value.code is FileFault.TOO_MANY_BITS
    golden(caught.value)


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_without_pyreadstat_one_sentence_tells_what_to_install(
    kind: str, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    parsed = survey(define([multiple("m")], [field(drawn(3, 1), "m")]))
    with pytest.raises(ExportError) as caught:
        write_statistics_file(parsed, 0, iter(()), kind, sys.stdout.buffer)
    assert caught.value.code is FileFault.MISSING_PACKAGE and "candor-survey[spss]" in caught.value.message
    golden(caught.value)


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
def test_the_command_writes_the_file_and_the_definition_beside(kind: str, tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    store.write(lambda: [submission(published) for _ in range(45)])
    file = tmp_path / f"exam{kind}"
    done = CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", "export", "exam", str(file)])
    assert done.exit_code == 0, done.output
    read = pyreadstat.read_sav if kind == ".sav" else pyreadstat.read_dta
    table, about = read(file)
    assert table.sum().astype(int).tolist() == store.snapshot(published).counts.tolist()
    assert published.survey.digest in str(about.file_label)
    assert (tmp_path / f"exam{kind}.definition.json").read_bytes() == published.survey.source
    store.close()
