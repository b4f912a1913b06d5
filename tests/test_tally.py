"""Where the bits of each field stand, against the reference's own packing."""

from typing import Any

import pytest

from survey_app.tally import columns, columns_of
from tests import reference
from tests.answers import SMALL, all_answers
from tests.definitions import survey


@pytest.mark.parametrize("name", SMALL)
def test_the_columns_of_the_fields_fill_a_report_in_order(name: str) -> None:
    parsed = survey(SMALL[name])
    at = 0
    for place, field in zip(columns(parsed), parsed.fields, strict=True):
        if parsed.ask is not None:
            assert place.asked == at
            at += 1
        else:
            assert place.asked is None
        assert (place.field, place.part) == (field, slice(at, at + field.mechanism.width))
        at = place.stop
    assert at == parsed.width


@pytest.mark.parametrize("name", SMALL)
def test_every_possible_report_has_possible_bits_in_every_field(name: str) -> None:
    """The reference writes whole rows; cut by columns, each part is possible for its mechanism, or was not asked."""
    definition = SMALL[name]
    parsed = survey(definition)
    for row in reference.distribution(definition, all_answers(definition)[-1]):
        for place in columns(parsed):
            bits = row[place.part]
            if place.asked is not None and row[place.asked] == "0":
                assert set(bits) == {"0"}
            else:
                assert place.field.mechanism.possible(int(bits, 2))


def test_a_question_is_found_in_the_field_that_holds_it() -> None:
    definition: dict[str, Any] = SMALL["ask two"]
    parsed = survey(definition)
    for question in parsed.questions:
        place = columns_of(parsed, question.id)
        assert question in place.field.questions
        assert place in list(columns(parsed))
