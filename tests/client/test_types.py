"""The question types: each is registered, and what it says of itself agrees with what it does."""

import secrets
from typing import Any

import pytest

from candor_client.answer import index_of, unanswered
from candor_client.errors import AnswerError
from candor_client.mechanisms import MechanismName, find_class, parse
from candor_client.question import NO_ANSWER, Question, parse_questions
from candor_client.types import TypeName, type_of
from tests.definitions import COIN, choice, drawn, geometric, multiple, number, scale, subset, yes_no
from tests.golden_files import Golden

ANSWERS: dict[TypeName, list[tuple[dict[str, Any], list[Any]]]] = {
    TypeName.YES_NO: [(yes_no(), ["no", "yes"])],
    TypeName.CHOICE: [(choice(), ["option 0", "option 1", "option 2"])],
    TypeName.SCALE: [(scale(), ["Disagree", "Neutral", "Agree"])],
    TypeName.MULTIPLE: [(multiple(options=2), [[], ["item 0"], ["item 1"], ["item 0", "item 1"]])],
    TypeName.NUMBER: [
        (number(max=2, levels=3, unit="h"), ["0", "1", "2"]),  # every number is a level: rounding changes none
        (number(max=5, bins=3), ["0", "2", "4"]),
    ],
}
CASES = [(source, answers) for name in TypeName for source, answers in ANSWERS[name]]


def question(source: dict[str, Any], **more: Any) -> Question:
    return parse_questions([source | more])[0]


def test_every_name_has_its_type_in_the_order_of_the_error_message() -> None:
    assert [type_of(name).name for name in TypeName] == list(TypeName)
    assert list(TypeName) == ["yes_no", "choice", "scale", "multiple", "number"]


@pytest.mark.parametrize("name", TypeName)
def test_what_a_type_says_of_its_labels_agrees(name: TypeName) -> None:
    kind = type_of(name)
    assert kind.labels_key is None or kind.labels_key in kind.required_keys
    assert kind.has_labels or not (kind.has_sets or kind.fits_grid or kind.lists_labels or kind.labels_key)
    for source, _ in ANSWERS[name]:
        assert bool(question(source).labels) == kind.has_labels
        assert set(source) - {"id", "type", "text"} <= {*kind.required_keys, *kind.optional_keys}


@pytest.mark.parametrize(("source", "answers"), CASES, ids=str)
def test_answers_become_all_symbols_and_read_as_they_were_given(source: dict[str, Any], answers: list[Any]) -> None:
    asked = question(source)
    kind = type_of(asked.type)
    indices = [index_of(asked, answer) for answer in answers]
    symbols = [kind.symbol_of(asked, index, secrets.token_bytes) for index in indices]
    assert symbols == list(range(kind.symbols(asked)))
    assert [kind.answer_label(asked, index) for index in indices] == [asked.label(symbol) for symbol in symbols]
    assert len({asked.label(symbol) for symbol in symbols}) == len(symbols)
    for answer, index in zip(answers, indices, strict=True):
        given = set(answer) if kind.has_sets else {answer}
        assert kind.labels_of(asked, index) == (given if kind.has_labels else set())


@pytest.mark.parametrize(("source", "answers"), CASES, ids=str)
def test_no_answer_is_a_symbol_of_its_own(source: dict[str, Any], answers: list[Any]) -> None:
    asked = question(source, optional=True)
    kind = type_of(asked.type)
    assert unanswered(asked) not in [index_of(asked, answer) for answer in answers]
    assert kind.symbol_of(asked, unanswered(asked), secrets.token_bytes) == asked.no_answer == asked.size - 1
    assert asked.label(asked.no_answer) == NO_ANSWER
    assert not (kind.labels_of(asked, unanswered(asked)))


@pytest.mark.parametrize(
    ("source", "typed", "answer"),
    [
        (yes_no(), "Y", "yes"),
        (yes_no(), "No", "no"),
        (choice(), "1", "option 2"),
        (scale(), " 3,", "Disagree"),
        (multiple(), "0", []),
        (multiple(), "1, 3", ["item 2", "item 0"]),
        (number(), "3", "3"),
    ],
    ids=str,
)
def test_what_is_typed_is_read_in_the_order_on_the_screen(source: dict[str, Any], typed: str, answer: Any) -> None:
    asked = question(source)
    assert type_of(asked.type).parse_input(asked, asked.labels[::-1], typed) == answer


@pytest.mark.parametrize(
    ("source", "typed"),
    [
        (choice(), ""),
        (choice(), "0"),
        (choice(), "1 2"),
        (choice(), "4"),
        (scale(), "Agree"),
        (multiple(), ""),
        (multiple(), "1 4"),
    ],
    ids=["no-option", "zero", "two-options", "no-such-option", "word", "no-item", "no-such-item"],
)
def test_what_names_no_label_is_refused(source: dict[str, Any], typed: str, golden: Golden) -> None:
    asked = question(source)
    with pytest.raises(AnswerError) as caught:
        type_of(asked.type).parse_input(asked, asked.labels, typed)
    assert caught.value.path == asked.id and " 1 to 3" in str(caught.value)
    golden(caught.value)


@pytest.mark.parametrize(
    ("form", "size", "bits", "symbol"),
    [
        (COIN, 2, 1, 1),
        (subset(4, 1), 4, 0b0100, 1),
        (subset(4, 2), 4, 0b0110, None),
        (drawn(2, 1), 2, 0b0100, None),
        (geometric(4), 4, 0b0001, 3),
    ],
    ids=str,
)
def test_the_symbol_that_bits_name(form: dict[str, Any], size: int, bits: int, symbol: int | None) -> None:
    assert parse(form, size, "").named_symbol(bits) == symbol


def test_a_form_that_names_no_mechanism_has_no_class() -> None:
    assert [found.kind for name in MechanismName if (found := find_class({"kind": name.value}))] == list(MechanismName)
    forms: tuple[Any, ...] = (None, [], {}, {"kind": 1}, {"kind": ["flip"]}, {"kind": "FLIP"})
    assert not [form for form in forms if find_class(form)]
