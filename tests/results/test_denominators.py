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
from survey_app.estimate.contingency import PairError
from survey_app.estimate.intervals import Options
from survey_app.plan.simulated_people import draw_people
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.denominators import describe_draws
from survey_app.results.export import write_csv_chunks, write_ndjson_chunks
from survey_app.results.survey_document import Results, results
from survey_app.tally import Bits, Tally
from tests.block_survey import blocks
from tests.definitions import COIN, choice, define, field, multiple, scale, subset, survey, yes_no
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


def test_without_reports_there_are_blocks_and_no_test(made: Survey) -> None:
    document = results(made, Tally.empty(made))
    assert document.asked is not None and document.asked.test is None
    assert describe_draws(document.asked) == "Nobody has drawn a block yet."
    assert msgspec.json.decode(msgspec.json.encode(document), type=Results) == document


def test_every_question_says_whom_its_n_counts(made: Survey, tally: Tally) -> None:
    parts = {part.id: part for part in results(made, tally).questions}
    drew = "devices that drew this block (24.4% expected)"
    assert parts["cheated"].base == parts["stress"].base == drew
    assert (parts["cheated"].condition, parts["hours"].condition) == ("", "")
    assert parts["why"].base == f"{drew}, also those to whom it was not put"
    assert parts["why"].condition == "Asked if “Did you copy from somebody?” is “yes”"
    assert parts["who"].base == "devices that drew this block (6.8% expected), also those to whom it was not put"
    assert parts["used"].base.endswith("; for each option those asked about it (3 of 4, drawn at random)")
    (joint,) = results(made, tally).joint
    assert joint.base == f"{drew}, also those to whom some of it was not put"


def test_the_chance_of_a_block_is_not_called_the_share_that_drew_it() -> None:
    """40 of 50 devices are 80%, whatever their chances were."""
    made = survey(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")], ask=1))
    told = results(made, Tally(50, np.array([40, 20, 10, 5]))).questions[0].base
    assert told == "devices that drew this block (50% expected)"


def test_a_condition_is_told_in_the_words_of_its_question() -> None:
    shown = {"question": "used", "is": ["item 0", "item 2"]}
    made = survey(
        define([multiple(), choice(show_if=shown)], [field(subset(8, 1), "used"), field(subset(4, 1), "help")])
    )
    part = results(made, Tally(100, np.full(12, 20))).questions[1]
    assert part.condition == "Asked if “Which?” includes “item 0” or “item 2”"
    assert part.base == "all respondents, also those to whom it was not put"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([500, 310, 190], "Devices drew the blocks as often as their chances say (χ² = 0.83, df = 2, p = 0.66, n = 1,000)."),
        ([500, 325, 170], "roughly as often as their chances say (χ² = 6.59, df = 2, p = 0.037, n = 995): chance alone strays so far in 3.7% of"),
        ([500, 300, 100], "q2 came too seldom most of all (100 of about 180 expected). Either people broke off"),
        ([500, 345, 165], "or reports were made up, or it is chance, which strays so far in about 1 of 560 surveys."),
        ([500, 300, 400], "or it is chance, which strays so far in fewer than 1 of 10,000 surveys."),
        ([500, 300, 400], "q2 came too often most of all (400 of about 240 expected). Either people broke off"),
    ],
)  # fmt: skip
def test_a_sentence_says_what_a_small_p_means(counts: list[int], said: str) -> None:
    chances = (5, 3, 2)
    fields = [field(COIN, f"q{i}", chance=chance) for i, chance in enumerate(chances)]
    made = survey(define([yes_no(f"q{i}") for i in range(3)], fields, ask=1))
    bits = np.zeros(made.width, dtype=np.int64)
    bits[0::2] = counts
    asked = results(made, Tally(sum(counts), bits)).asked
    assert asked is not None
    assert said in describe_draws(asked)


@pytest.mark.parametrize(
    ("pair", "base"),
    [
        (("cheated", "stress"), "devices that drew this block (24.4% expected)"),
        (("stress", "why"), "devices that drew this block (24.4% expected), also those to whom some of it was not put"),
        (("used:notes", "used:phone"), "devices asked about both options"),
    ],
)
def test_a_crosstab_says_whom_its_n_counts(
    made: Survey, tally: Tally, rows: Bits, pair: tuple[str, str], base: str
) -> None:
    found = make_crosstab(made, tally, [rows], *pair, Options())
    assert isinstance(found, Crosstab)
    assert found.base == base
    assert {line.coverage for line in found.estimates} == {"guaranteed"}


def test_questions_of_different_blocks_are_refused_with_what_to_write_and_its_price(made: Survey, tally: Tally) -> None:
    with pytest.raises(PairError) as refused:
        make_crosstab(made, tally, [], "fair", "cheated", Options())
    assert str(refused.value) == (
        "no device answered both fair and cheated, since each answers one block of this survey only; to see how they go"
        " together next time, write joint: [[cheated, fair]]: together they need 0.865 times the respondents that they"
        " need apart, which saves some"
    )
    with pytest.raises(PairError, match=r"joint: \[\[fair, used\]\]: together they need 5.33 times the respondents"):
        make_crosstab(made, tally, [], "fair", "used", Options())


def test_too_many_combinations_have_no_price() -> None:
    made = survey(define([choice(options=40), choice("town", options=50)],
                         [field(subset(40, 1), "help"), field(subset(50, 1), "town")], ask=1))  # fmt: skip
    with pytest.raises(PairError, match="cells are too many"):
        make_crosstab(made, Tally.empty(made), [], "help", "town", Options())
    made = survey(define([choice(options=33), choice("town", options=31)],
                         [field(subset(33, 1), "help"), field(subset(31, 1), "town")], ask=1))  # fmt: skip
    with pytest.raises(PairError, match="with fewer options: they have too many combinations"):
        make_crosstab(made, Tally.empty(made), [], "help", "town", Options())


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
