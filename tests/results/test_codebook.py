"""The codebook names every question, symbol, field and bit, with the numbers that an estimate needs."""

from itertools import pairwise
from pathlib import Path

from candor_client.definition import Survey
from candor_client.description import NO_ANSWER
from survey_app.authoring import build_file
from survey_app.channels.posterior import total_epsilon
from survey_app.languages.markup import Heading, Table, render_markdown
from survey_app.languages.numbers import format_epsilon
from survey_app.results.bit_meanings import field_bits, format_integers, stored_bits
from survey_app.results.codebook import SYMBOL_COLUMNS, make_codebook
from survey_app.results.denominators import describe_condition
from tests.definitions import COIN, choice, define, field, number, subset, survey, yes_no
from tests.golden_files import Golden
from tests.results.test_archive_page import everything


def cells(parsed: Survey) -> list[list[str]]:
    """The rows of all its tables."""
    return [list(row) for block in make_codebook(parsed) if isinstance(block, Table) for row in block.rows]


def test_every_bit_stands_in_it_with_p_and_q() -> None:
    for ask in (False, True):
        parsed = everything(ask)
        rows = cells(parsed)
        for bit in stored_bits(parsed):
            (row,) = (row for row in rows if row[:2] == [bit.column, bit.variable])
            assert row[2] == bit.meaning
            if bit.p is not None and bit.q is not None:
                assert row[3:] == [repr(float(bit.p)), repr(float(bit.q))]
            elif bit.score is not None:
                assert row[3:] == [repr(bit.score)]


def test_every_field_stands_in_it_with_its_integers_and_its_epsilon() -> None:
    parsed = everything(True)
    text = render_markdown(make_codebook(parsed))
    facts = [row[1] for row in cells(parsed) if len(row) == 2]
    for one in field_bits(parsed):
        assert format_integers(one.field) in facts
        assert format_epsilon(one.field.mechanism.epsilon) in facts
    assert format_epsilon(total_epsilon(parsed)) in facts
    assert parsed.digest in facts
    assert "(ones/n − q)/(p − q)" in text


def test_the_words_of_a_codebook(golden: Golden) -> None:
    golden(render_markdown(make_codebook(everything(True))))


def test_every_question_and_option_stands_in_it(golden: Golden) -> None:
    parsed = survey(
        define(
            [
                yes_no("a"),
                choice("why", show_if={"question": "a", "is": ["yes"]}),
                number("n", bins=3, unit="h"),
            ],
            [field(COIN, "a"), field(subset(4, 1), "why"), field(subset(3, 1), "n")],
            description="First.\u2029Second.",
            consent="I agree.",
        )
    )
    rows, text = cells(parsed), render_markdown(make_codebook(parsed))
    for question in parsed.questions:
        assert f"### {question.id}\n\n{question.text}\n" in text
    assert ["0", "option 0"] in rows and ["3", NO_ANSWER] in rows and ["2", "5 to 6 h"] in rows
    facts = [row[1] for row in rows if len(row) == 2]
    assert describe_condition(parsed, parsed.questions[1]) in facts
    (number_range,) = (fact for fact in facts if fact.startswith("0 ") and " 6 h" in fact)
    golden(number_range)
    assert "First.\n\nSecond." in text and "I agree." in text


def test_no_heading_skips_a_depth() -> None:
    parsed = survey(define([yes_no("a")], [field(COIN, "a")], description="d", consent="c", contact="x"))
    depths = [block.depth for block in make_codebook(parsed) if isinstance(block, Heading)]
    assert depths[0] == 1 and all(after <= before + 1 for before, after in pairwise(depths))


def test_a_thousand_levels_are_not_listed_one_by_one(golden: Golden) -> None:
    parsed = survey(define([number("n", max=999, levels=1000)], [field(subset(1000, 1), "n")]))
    (symbols,) = (
        block for block in make_codebook(parsed) if isinstance(block, Table) and block.head[0] == SYMBOL_COLUMNS[0]
    )
    assert len(symbols.rows) == 201 and str(symbols.rows[-1][1]).startswith("800 ")
    golden(symbols.rows[-1][1])


def test_sections_and_translations_stand_in_it(golden: Golden) -> None:
    parsed = build_file(Path(__file__).parents[2] / "examples" / "wellbeing.yaml").survey
    headings = [(block.depth, block.text) for block in make_codebook(parsed) if isinstance(block, Heading)]
    battery = headings.index((3, "How did you feel?"))
    assert headings[battery : battery + 5] == [
        (3, "How did you feel?"), (4, "calm"), (4, "tense"), (4, "tired"), (3, "Your habits"),
    ]  # fmt: skip
    assert headings[-1][0] == 2 and headings[-1][1].split()[-1] == "de"
    pairs = [row[1:] for row in cells(parsed) if len(row) == 3]
    assert ["Think of the last four weeks.", "Denken Sie an die letzten vier Wochen."] in pairs
    assert ["sometimes", "manchmal"] in pairs and ["hours", "Stunden"] in pairs
    *_, translated = (block for block in make_codebook(parsed) if isinstance(block, Table))
    golden("\n".join(str(row[0]) for row in translated.rows))
    assert "WB-2026" in render_markdown(make_codebook(parsed))
