"""Whom figures are about: the blocks that devices drew, whom n counts, and who saw a question at all."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from candor_client import Survey
from survey_app.assure.simulation.devices import reports
from survey_app.estimate.block_draws import count_draws, run_draw_test
from survey_app.estimate.contingency import PairError, SeparateBlocksError
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.plan.simulated_people import draw_people
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.denominators import (
    EVERYBODY,
    Base,
    DrawVerdict,
    describe_base,
    describe_condition,
    describe_draws,
    find_base,
)
from survey_app.results.export import write_csv_chunks, write_ndjson_chunks
from survey_app.results.survey_document import Results, results
from survey_app.tally import Bits, Tally
from tests.block_survey import blocks
from tests.definitions import COIN, choice, define, field, multiple, scale, subset, survey, yes_no
from tests.golden_files import Golden
from tests.results.figure_kinds import make_survey


@pytest.fixture(scope="module")
def made() -> Survey:
    return blocks()


@pytest.fixture(scope="module")
def rows(made: Survey) -> Bits:
    rng = np.random.default_rng()
    return np.concatenate(list(reports(made, draw_people(made, {}, 2000, rng), rng)))


@pytest.fixture(scope="module")
def tally(made: Survey, rows: Bits) -> Tally:
    return Tally(len(rows), np.unpackbits(rows, axis=1, count=made.width).sum(axis=0, dtype=np.int64))


def plain(document: msgspec.Struct) -> Any:
    return json.loads(msgspec.json.encode(document))


def test_the_document_tells_how_often_each_block_was_drawn(made: Survey, tally: Tally) -> None:
    found = plain(results(made, tally))
    assert list(found)[-1] == "asked"
    asked = found["asked"]
    assert [one["questions"] for one in asked["blocks"]] == [
        ["cheated", "why", "stress"], ["who"], ["fair"], ["used"], ["hours"], ["spend"],
    ]  # fmt: skip
    assert sum(one["n"] for one in asked["blocks"]) == asked["test"]["n"] == found["reports"] == 2000
    assert sum(one["chance"] for one in asked["blocks"]) == pytest.approx(1)
    for one in asked["blocks"]:
        assert one["expected"] == pytest.approx(2000 * one["chance"])
    test = run_draw_test(count_draws(made, tally))
    assert test is not None and asked["test"]["p_value"] == test.p_value
    by_id = {question["id"]: question for question in found["questions"]}
    for block in asked["blocks"]:
        for name in block["questions"]:
            assert name == "used" or {line["n"] for line in by_id[name]["estimates"]} == {block["n"]}


def test_where_everybody_answers_everything_nothing_is_said_of_blocks() -> None:
    found = plain(results(make_survey(["coin", "joint"]), Tally(100, np.full(10, 20))))
    assert "asked" not in found
    assert all("base" not in part for part in [*found["questions"], *found["joint"]])


def test_without_reports_there_are_blocks_and_no_test(made: Survey, golden: Golden) -> None:
    document = results(made, Tally.empty(made))
    assert document.asked is not None and document.asked.test is None
    assert document.asked.verdict is DrawVerdict.NONE
    golden(describe_draws(document.asked))
    assert msgspec.json.decode(msgspec.json.encode(document), type=Results) == document


def near(chance: float) -> Any:
    """Return what equals a chance that is shown with three decimals."""
    return pytest.approx(chance, abs=5e-4)


def test_every_question_says_whom_its_n_counts(made: Survey, tally: Tally, golden: Golden) -> None:
    document = results(made, tally)
    of_field = {question.id: (one, question) for one in made.fields for question in one.questions}
    bases = {name: find_base(made, *place) for name, place in of_field.items()}
    assert bases["cheated"] == bases["stress"] == Base(near(0.244), None, False)
    assert bases["why"] == Base(bases["cheated"].block_chance, None, True)
    assert bases["who"] == Base(near(0.068), None, True)
    assert (bases["used"].options, bases["used"].has_unasked) == ((3, 4), False)
    for part in document.questions:
        place, question = of_field[part.id]
        assert part.base == describe_base(made, place, question)
        assert part.condition == describe_condition(made, question)
        assert bool(part.condition) == (part.id in ("why", "who")) == find_base(made, place, question).has_unasked
    (joint,) = document.joint
    members = next(one for one in made.fields if one.joint)
    assert joint.base == describe_base(made, members, *members.questions)
    assert find_base(made, members, *members.questions) == bases["why"]
    golden("\n".join(f"{part.name}: {part.base}. {part.condition}" for part in document.questions), "questions")
    golden(joint.base, "joint")


def test_the_chance_of_a_block_is_not_called_the_share_that_drew_it() -> None:
    """40 of 50 devices are 80%, whatever their chances were."""
    made = survey(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")], ask=1))
    base = results(made, Tally(50, np.array([40, 20, 10, 5]))).questions[0].base
    assert find_base(made, made.fields[0], made.questions[0]).block_chance == 0.5
    assert "50%" in base and "80%" not in base


def test_a_condition_is_told_in_the_words_of_its_question(golden: Golden) -> None:
    shown = {"question": "used", "is": ["item 0", "item 2"]}
    made = survey(
        define([multiple(), choice(show_if=shown)], [field(subset(8, 1), "used"), field(subset(4, 1), "help")])
    )
    part = results(made, Tally(100, np.full(12, 20))).questions[1]
    assert all(f"“{word}”" in part.condition for word in ("Which?", "item 0", "item 2"))
    assert "item 1" not in part.condition
    assert find_base(made, made.fields[1], made.questions[1]) == Base(None, None, True)
    golden(f"{part.condition}; {part.base}")


@pytest.mark.parametrize(
    ("counts", "verdict", "outlier", "numbers"),
    [
        ([500, 310, 190], DrawVerdict.EXPECTED, "", ["0.83", "0.66", "1,000"]),
        ([500, 325, 170], DrawVerdict.UNLIKELY, "", ["6.59", "0.037", "995", "3.7%"]),
        ([500, 300, 100], DrawVerdict.SUSPICIOUS, "q2", ["100", "180"]),
        ([500, 345, 165], DrawVerdict.SUSPICIOUS, "q2", ["560"]),
        ([500, 300, 400], DrawVerdict.SUSPICIOUS, "q2", ["400", "240", "10,000"]),
    ],
    ids=["expected", "unlikely", "too-few", "suspicious", "too-many"],
)
def test_a_sentence_says_what_a_small_p_means(
    counts: list[int], verdict: DrawVerdict, outlier: str, numbers: list[str], golden: Golden
) -> None:
    chances = (5, 3, 2)
    fields = [field(COIN, f"q{i}", chance=chance) for i, chance in enumerate(chances)]
    made = survey(define([yes_no(f"q{i}") for i in range(3)], fields, ask=1))
    bits = np.zeros(made.width, dtype=np.int64)
    bits[0::2] = counts
    asked = results(made, Tally(sum(counts), bits)).asked
    assert asked is not None
    assert asked.verdict is verdict
    assert not outlier or asked.outlier.name == outlier
    sentence = describe_draws(asked)
    assert all(number in sentence for number in [*numbers, outlier])
    golden(sentence)


@pytest.mark.parametrize("pair", [("cheated", "stress"), ("stress", "why"), ("used:notes", "used:phone")], ids="-".join)
def test_a_crosstab_says_whom_its_n_counts(
    made: Survey, tally: Tally, rows: Bits, pair: tuple[str, str], golden: Golden
) -> None:
    found = make_crosstab(made, tally, [rows], *pair, Options())
    assert isinstance(found, Crosstab)
    if ":" not in pair[0]:
        members = next(one for one in made.fields if any(question.id == pair[0] for question in one.questions))
        questions = [question for question in members.questions if question.id in pair]
        assert found.base == describe_base(made, members, *questions)
        assert found.n == int(tally.counts[0])
    else:
        assert found.base != EVERYBODY and 0 < found.n < tally.reports
    assert {line.coverage for line in found.estimates} == {"guaranteed"}
    golden(found.base)


@pytest.mark.parametrize(
    ("pair", "joint", "price"),
    [(("fair", "cheated"), "cheated, fair", "0.865"), (("fair", "used"), "fair, used", "5.33")],
    ids=["saves", "costs"],
)
def test_questions_of_different_blocks_are_refused_with_what_to_write_and_its_price(
    made: Survey, tally: Tally, pair: tuple[str, str], joint: str, price: str, golden: Golden
) -> None:
    with pytest.raises(SeparateBlocksError) as refused:
        make_crosstab(made, tally, [], *pair, Options())
    assert f"joint: [[{joint}]]" in str(refused.value) and f" {price} " in str(refused.value)
    golden(refused.value)


def test_too_many_combinations_have_no_price(golden: Golden) -> None:
    made = survey(define([choice(options=40), choice("town", options=50)],
                         [field(subset(40, 1), "help"), field(subset(50, 1), "town")], ask=1))  # fmt: skip
    with pytest.raises(PairError) as refused:
        make_crosstab(made, Tally.empty(made), [], "help", "town", Options())
    assert refused.value.code is RefusalCode.TOO_MANY_CELLS
    golden(refused.value, "cells")
    made = survey(define([choice(options=33), choice("town", options=31)],
                         [field(subset(33, 1), "help"), field(subset(31, 1), "town")], ask=1))  # fmt: skip
    with pytest.raises(SeparateBlocksError) as refused_pair:
        make_crosstab(made, Tally.empty(made), [], "help", "town", Options())
    assert not re.search(r"\d", refused_pair.value.message), "no price"
    golden(refused_pair.value, "no price")


def test_the_sample_of_the_documents_is_what_the_results_say() -> None:
    after = {"question": "cheated", "is": ["yes"]}
    fields = [field(subset(4, 1), "cheated", "help"), field(subset(3, 1), "fair")]
    made = survey(define([yes_no(), choice(options=2, show_if=after), scale()], fields, ask=1))
    found = plain(results(made, Tally(150, np.array([78, 40, 20, 10, 8, 72, 40, 20, 12]))))["asked"]
    found["test"] |= {"statistic": round(found["test"]["statistic"], 4), "p_value": round(found["test"]["p_value"], 4)}
    page = re.sub(r"\s+", "", (Path(__file__).parents[2] / "docs" / "api.md").read_text())
    assert re.sub(r"\s+", "", '"asked":' + json.dumps(found)) in page


def test_an_export_carries_what_the_draws_need(made: Survey, rows: Bits, tally: Tally) -> None:
    """From the files alone: the asked columns give n, the definition beside them each chance."""
    head, *lines = b"".join(write_csv_chunks(made, [rows])).decode().splitlines()
    names = next(csv.reader([head]))
    bits = np.array([[int(bit or 0) for bit in line.split(",")] for line in lines])
    definition = json.loads(next(write_ndjson_chunks(made, len(rows), [])))["definition"]
    chances = [one["chance"] for one in definition["fields"]]
    asked = results(made, tally).asked
    assert asked is not None
    for block, chance in zip(asked.blocks, chances, strict=True):
        assert bits[:, names.index(f"{'+'.join(block.questions)}:asked")].sum() == block.n
        assert chance / sum(chances) == pytest.approx(block.chance)
