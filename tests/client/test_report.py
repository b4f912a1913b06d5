"""The wire form: packing, unpacking, and what no device could have sent."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candor_client import Report, randomize
from candor_client.errors import AnswerError, ReportError
from candor_client.report import from_base64url, to_base64url, unpack
from tests import reference
from tests.answers import SMALL, all_answers
from tests.definitions import COIN, define, drawn, field, multiple, simple, subset, survey, worked_example, yes_no
from tests.definitions import choice as choice_question

ASK = define(
    [yes_no("a"), choice_question("b"), multiple("c")],
    [field(COIN, "a"), field(subset(3, 1), "b", chance=3), field(drawn(3, 2), "c")],
    ask=1,
)


def test_the_wire_form_is_three_keys_and_nothing_else() -> None:
    report = Report("ab" * 32, bytes(16), b"\xff\x80")
    assert report.to_json() == b'{"survey":"' + b"ab" * 32 + b'","id":"AAAAAAAAAAAAAAAAAAAAAA","bits":"_4A"}'
    assert list(json.loads(report.to_json())) == ["survey", "id", "bits"]


@given(st.binary(max_size=50))
def test_base64url_round_trips(data: bytes) -> None:
    assert from_base64url(to_base64url(data)) == data


@pytest.mark.parametrize("text", ["A", "AB", "AA==", "A A", "+/+/", "AAB", "ÄÖ", "AA\n", "\ud800"])
def test_other_spellings_of_base64_are_refused(text: str) -> None:
    with pytest.raises(ReportError) as refusal:
        from_base64url(text)
    assert refusal.value.code == "malformed_report"


@pytest.mark.parametrize("name", SMALL)
def test_every_possible_output_unpacks_and_every_report_has_one_size(name: str) -> None:
    definition = SMALL[name]
    parsed = survey(definition)
    for answers in all_answers(definition):
        for row in reference.distribution(definition, answers):
            assert len(row) == parsed.width
            assert len(reference.pack(row)) == parsed.length
            unpack(parsed, reference.pack(row))


@pytest.mark.parametrize("name", [name for name in SMALL if survey(SMALL[name]).width <= 8])
def test_exactly_the_possible_outputs_unpack(name: str) -> None:
    definition = SMALL[name]
    parsed = survey(definition)
    possible = {
        reference.pack(row)
        for answers in all_answers(definition)
        for row in reference.distribution(definition, answers)
    }
    for value in range(256):
        try:
            unpack(parsed, bytes([value]))
            accepted = True
        except ReportError as error:
            assert error.code == "impossible_bits"
            accepted = False
        assert accepted == (bytes([value]) in possible)


@pytest.mark.parametrize("bits", [b"", b"\x80\x00", b"\x01", b"\xc0"])
def test_wrong_lengths_and_padding_are_refused(bits: bytes) -> None:
    with pytest.raises(ReportError):
        unpack(survey(simple()), bits)


def test_an_unasked_field_is_none_and_must_be_empty() -> None:
    parsed = survey(ASK)
    # not asked a: 0|0, not asked b: 0|000, asked c: 1|100100
    assert unpack(parsed, reference.pack("00" + "0000" + "1100100")) == [None, None, 0b100100]
    for impossible in ("00" + "0100" + "1100100", "11" + "0000" + "1100100", "01" + "0000" + "1100100", "0" * 13):
        with pytest.raises(ReportError):
            unpack(parsed, reference.pack(impossible))


@pytest.mark.parametrize("asked", [0, 1, 2])
def test_a_draw_made_before_is_not_made_again(asked: int) -> None:
    """A device that knows its field needs no other answer, and draws four bytes fewer."""
    answers: dict[str, Any] = {"a": True, "b": "option 1", "c": ["item 0"]}
    mine = {"abc"[asked]: answers["abc"[asked]]}
    source = bytes([0, 0, 0, 0]) + bytes(range(200))
    draw = reference.ByteDraw(source[4:])
    report = randomize(survey(ASK), mine, asked=asked, random_bytes=draw.take)
    assert [bits is not None for bits in unpack(survey(ASK), report.bits)] == [i == asked for i in range(3)]
    if asked == 0:
        whole = reference.ByteDraw(source)
        assert randomize(survey(ASK), answers, random_bytes=whole.take).bits == report.bits
        assert whole.used == draw.used + 4


@pytest.mark.parametrize(("definition", "asked"), [(ASK, 3), (ASK, -1), (simple(), 0)])
def test_only_a_field_that_can_be_drawn_is_asked(definition: dict[str, Any], asked: int) -> None:
    with pytest.raises(ValueError, match="a device may draw"):
        randomize(survey(definition), {}, asked=asked)


def test_without_a_draw_every_answer_is_needed() -> None:
    """Otherwise a missing answer would be noticed or not by chance, and asked for again: a second draw."""
    with pytest.raises(AnswerError):
        randomize(survey(ASK), {"a": True})


def test_reports_differ_in_their_ids() -> None:
    parsed = survey(simple())
    assert len({randomize(parsed, {"cheated": True}).id for _ in range(100)}) == 100


def test_no_more_bytes_are_drawn_than_used_and_the_id_comes_last() -> None:
    source = bytes(range(256)) * 4
    bits, identity, used = reference.report(worked_example(), {"cheated": True, "help": "notes", "hours": 12}, source)
    draw = reference.ByteDraw(source)
    report = randomize(
        survey(worked_example()), {"cheated": True, "help": "notes", "hours": 12}, random_bytes=draw.take
    )
    assert (report.bits, report.id, draw.used) == (reference.pack(bits), identity, used)


def test_a_short_id_is_an_error() -> None:
    with pytest.raises(ValueError, match="returned 15"):
        randomize(survey(simple()), {"cheated": True}, random_bytes=lambda n: bytes(15 if n == 16 else n))


@settings(max_examples=100)
@given(st.sampled_from(sorted(SMALL)), st.randoms(use_true_random=False), st.integers(0, 10**6))
def test_any_byte_stream_gives_the_bits_of_the_reference(name: str, random: Any, place: int) -> None:
    definition = SMALL[name]
    answers = all_answers(definition)
    said = answers[place % len(answers)]
    source = random.randbytes(2000)
    bits, identity, used = reference.report(definition, said, source)
    draw = reference.ByteDraw(source)
    report = randomize(survey(definition), said, random_bytes=draw.take)
    assert (report.bits, report.id, draw.used) == (reference.pack(bits), identity, used)
