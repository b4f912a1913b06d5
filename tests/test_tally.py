"""Where the bits of each field stand, against every row of bits that a device can send."""

from typing import Any

import pytest

from survey_app.tally import columns, columns_of
from tests.answers import SMALL, all_answers
from tests.definitions import survey
from tests.reference import distribution


@pytest.mark.parametrize("name", SMALL)
def test_the_columns_of_the_fields_fill_a_report_in_order(name: str) -> None:
    parsed = survey(SMALL[name])
    at = 0
    for place, field in zip(columns(parsed), parsed.fields, strict=True):
        if parsed.ask:
            assert place.asked == at
            at += 1
        else:
            assert place.asked is None
        assert (place.field, place.part) == (field, slice(at, at + field.mechanism.width))
        at = place.stop
    assert at == parsed.width


@pytest.mark.parametrize("name", SMALL)
def test_every_possible_report_has_possible_bits_in_every_field(name: str) -> None:
    """Cut by columns, each part of a row is possible for its mechanism, or was not asked; one is, with `ask`."""
    definition = SMALL[name]
    parsed = survey(definition)
    for row in distribution(definition, all_answers(definition)[-1]):
        asked = [row[place.asked] for place in columns(parsed) if place.asked is not None]
        assert asked.count("1") == parsed.ask
        for place in columns(parsed):
            bits = row[place.part]
            if place.asked is not None and row[place.asked] == "0":
                assert set(bits) == {"0"}
            else:
                assert place.field.mechanism.possible(int(bits, 2))


def test_a_question_is_found_in_the_field_that_holds_it() -> None:
    definition: dict[str, Any] = SMALL["ask with chances"]
    parsed = survey(definition)
    for question in parsed.questions:
        place = columns_of(parsed, question.id)
        assert question in place.field.questions
        assert place in list(columns(parsed))
