"""Where the bits of each field stand, against every row of bits that a device can send; and that counting counts."""

from typing import Any

import numpy as np
import pytest

from survey_app.tally import ADDER_ROWS, HISTOGRAM_REPORTS, add_bits, add_pairs, columns, columns_of
from tests.answers import SMALL, all_answers
from tests.definitions import survey
from tests.reference import distribution


@pytest.mark.parametrize("name", SMALL)
def test_the_columns_of_the_fields_fill_a_report_in_order(name: str) -> None:
    parsed = survey(SMALL[name])
    at = 0
    for place, field in zip(columns(parsed), parsed.fields, strict=True):
        if parsed.ask:
            assert place.asked_column == at
            at += 1
        else:
            assert place.asked_column is None
        assert (place.field, place.bit_slice) == (field, slice(at, at + field.mechanism.width))
        at = place.stop
    assert at == parsed.width


@pytest.mark.parametrize("name", SMALL)
def test_every_possible_report_has_possible_bits_in_every_field(name: str) -> None:
    """Cut by columns, each part of a row is possible for its mechanism, or was not asked; one is, with `ask`."""
    definition = SMALL[name]
    parsed = survey(definition)
    for row in distribution(definition, all_answers(definition)[-1]):
        asked = [row[place.asked_column] for place in columns(parsed) if place.asked_column is not None]
        assert asked.count("1") == parsed.ask
        for place in columns(parsed):
            bits = row[place.bit_slice]
            if place.asked_column is not None and row[place.asked_column] == "0":
                assert set(bits) == {"0"}
            else:
                assert place.field.mechanism.is_possible(int(bits, 2))


def test_a_question_is_found_in_the_field_that_holds_it() -> None:
    definition: dict[str, Any] = SMALL["ask with chances"]
    parsed = survey(definition)
    for question in parsed.questions:
        place = columns_of(parsed, question.id)
        assert question in place.field.questions
        assert place in list(columns(parsed))


ONCE = 8 * 21 * ADDER_ROWS  # reports of three bytes that are added up at once, if a part has 512 bytes


@pytest.mark.parametrize(
    "reports",
    [
        0,
        1,
        HISTOGRAM_REPORTS - 1,
        HISTOGRAM_REPORTS,
        8 * ADDER_ROWS - 1,
        8 * ADDER_ROWS,
        ONCE,
        2 * ONCE + 8 * ADDER_ROWS + 1,
    ],
)
def test_however_many_reports_are_added_every_bit_is_counted(reports: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacked, by histograms, and by adders with a rest: counts on top of what is there, and padding left out."""
    monkeypatch.setattr("survey_app.tally.PART_BYTES", 512)
    rows = np.random.default_rng().integers(0, 256, (reports, 3), dtype=np.uint8)
    bits = np.unpackbits(rows, axis=1, count=21).astype(np.int64)
    counts, pairs = np.full(21, 7, dtype=np.int64), np.full((21, 21), 7, dtype=np.int64)
    add_bits(counts, rows)
    assert (counts - 7).tolist() == bits.sum(axis=0).tolist()
    add_bits(counts, np.asfortranarray(rows))
    assert (counts - 7).tolist() == (2 * bits.sum(axis=0)).tolist()
    add_pairs(pairs, rows)
    assert (pairs - 7).tolist() == (bits.T @ bits).tolist()


@pytest.mark.parametrize("length", [1, 8, 33, 5000])
def test_however_long_reports_are_every_bit_is_counted(length: int) -> None:
    rows = np.random.default_rng().integers(0, 256, (2000, length), dtype=np.uint8)
    counts = np.zeros(8 * length, dtype=np.int64)
    add_bits(counts, rows)
    assert np.array_equal(counts, np.unpackbits(rows, axis=1).sum(axis=0, dtype=np.int64))
