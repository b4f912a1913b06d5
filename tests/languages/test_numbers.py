"""How numbers are written: ε never looks smaller than it is, a person never better protected, and nobody else does it."""

import ast
import math
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey_app.channels.posterior import EVEN_ODDS, SUSPICION, SUSPICIONS, Chance, posterior_bound, posterior_chance
from survey_app.languages import LANGUAGES, Words, numbers
from tests.module_graph import ROOT, modules

LOSSES = st.decimals(min_value=Decimal("1e-15"), max_value=2000, allow_nan=False, allow_infinity=False)
PLAIN = re.compile(r"(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
ROUND_UP = {
    "survey_app.languages.numbers": "makes text of it",
    "survey_app.assure.audit": "puts the claim of a field to the test",
    "survey_app.authoring": "makes the claim of a definition",
    "survey_app.authoring.yaml_source": "cuts what an author asks for, downwards",
    "survey_app.plan.advice": "proposes an ε",
}


def value(text: str) -> Decimal:
    assert PLAIN.fullmatch(text), text
    return Decimal(text.replace(",", ""))


@given(LOSSES, st.sampled_from([2, 4, 12]), st.booleans())
def test_epsilon_never_looks_smaller_than_it_is_and_hardly_larger(loss: Decimal, digits: int, fixed: bool) -> None:
    told = value(numbers.format_epsilon(loss, digits, fixed=fixed))
    assert loss <= told < loss + Decimal(1).scaleb(-digits)


@given(st.floats(min_value=1e-12, max_value=2000), st.sampled_from([2, 4]))
def test_nor_does_one_that_was_reckoned_in_floats(loss: float, digits: int) -> None:
    assert float(value(numbers.format_epsilon(loss, digits))) >= loss


def test_the_noise_of_floats_is_not_rounded_up() -> None:
    for tenths in range(1, 100):
        exact = numbers.format_epsilon(Decimal(tenths) / 10, fixed=True)[:-3]
        assert numbers.format_epsilon(tenths / 10, 1, fixed=True) == exact


def test_epsilon_has_as_many_digits_as_its_place_needs() -> None:
    ln3 = Decimal(3).ln()
    assert [numbers.format_epsilon(ln3, digits) for digits in (2, 4, 12)] == ["1.1", "1.0987", "1.098612288669"]
    assert numbers.format_epsilon(Decimal(7)) == "7"
    assert numbers.format_epsilon(Decimal(7), fixed=True) == "7.0000"
    assert numbers.format_epsilon(Decimal("1e-9"), 2) == "0.01"
    assert numbers.format_epsilon(Decimal("1234.5"), 2, marks=numbers.MARKS["de"]) == "1.234,5"


@given(st.sampled_from(SUSPICIONS), LOSSES)
def test_a_chance_never_looks_better_protected_than_it_is(suspicion: int, loss: Decimal) -> None:
    text = numbers.format_chance(posterior_chance(suspicion, loss))
    cases, of = (1, 1) if text == "certainty" else (int(part.replace(",", "")) for part in text.split(" in "))
    assert cases / of >= posterior_bound(1 / suspicion, float(loss)) - 1e-12


def test_three_quarters_are_not_rounded_up_and_what_is_above_is() -> None:
    assert (
        numbers.format_largest_suspicion(EVEN_ODDS, math.log(3))
        == numbers.format_largest_suspicion(EVEN_ODDS, Decimal(3).ln())
        == "75 in 100"
    )
    assert numbers.format_largest_suspicion(EVEN_ODDS, math.log(3) + 1e-9) == "76 in 100"
    assert posterior_bound(1 / SUSPICION, 2) == pytest.approx(0.280005, abs=5e-7)
    assert numbers.format_largest_suspicion(SUSPICION, 2) == "29 in 100"
    assert numbers.format_largest_suspicion(SUSPICION, None) == "certainty"


def test_a_chance_is_told_in_the_language_of_who_reads_it() -> None:
    most, sure = Chance(999_999, 1_000_000), Chance(1, 1)
    assert [numbers.format_chance(most), numbers.format_chance(sure)] == ["999,999 in 1,000,000", "certainty"]
    told = [numbers.format_chance(most, Words(language)) for language in LANGUAGES]
    assert told == [
        "999,999 in 1,000,000",
        "999.999 von 1.000.000",
        "999.999 de cada 1.000.000",
        "999\u202f999 sur 1\u202f000\u202f000",
    ]
    assert numbers.format_chance(sure, Words("de")) == "so gut wie sicher"


def test_every_language_has_its_marks() -> None:
    assert set(numbers.MARKS) == set(LANGUAGES)
    assert [numbers.format_count(1234, marks) for marks in numbers.MARKS.values()] == [
        "1,234",
        "1.234",
        "1234",
        "1\u202f234",
    ]
    assert numbers.format_count(12_345, numbers.MARKS["es"]) == "12.345"
    assert numbers.format_decimal("-1234.50", numbers.MARKS["de"]) == "-1.234,50"
    assert numbers.format_decimal("-0.5") == "-0.5"


def test_counts_and_respondents() -> None:
    assert [numbers.format_count(number) for number in (0, 999, 1000, -1000, 1_234_567)] == [
        "0", "999", "1,000", "-1,000", "1,234,567",
    ]  # fmt: skip
    assert [numbers.format_respondents(number) for number in (1661, None)] == ["1,661", "more than there are"]


def test_shares_powers_and_probabilities() -> None:
    assert [numbers.format_percent(share) for share in (0.95, 0.999, 1 / 3)] == ["95%", "99.9%", "33.3333%"]
    assert numbers.format_percent(1 / 3, 3) == "33.3%"
    assert [numbers.format_rounded_percent(share) for share in (0.125161, 0.284, 1.0)] == ["13%", "28%", "100%"]
    assert [numbers.format_power(power) for power in (0.8, 0.9949, 0.995, 1.0)] == [
        "0.80",
        "0.99",
        "above 0.99",
        "above 0.99",
    ]
    assert [numbers.format_probability(p) for p in (0.75, 1 / 3, 0.00001234)] == ["0.75", "0.3333", "1.23e-05"]


def test_odds_are_never_told_smaller_than_they_are() -> None:
    told = [numbers.format_odds_factor(Decimal(value)) for value in ("0.5", "1", "2", "4", "8")]
    assert told == ["1.65", "2.72", "7.39", "54.6", "2990"]
    assert numbers.format_odds_factor(Decimal("1.0986122886681098")) == "3.01"  # a little above ln 3


def test_margins_are_in_points_or_in_a_unit() -> None:
    assert [numbers.format_margin(share, True) for share in (0.01, 0.0591, 0.000001)] == [
        "±1 point", "±5.91 points", "±0.0001 points",
    ]  # fmt: skip
    assert [numbers.format_margin(mean, False, "h") for mean in (6.4789, 1587.2)] == ["±6.48 h", "±1,587 h"]
    assert numbers.format_difference(0.05, True) == "5 points"
    assert [numbers.format_outcome(0.12345, share) for share in (True, False)] == ["12.3%", "0.1235"]


# Nobody else does


def specifications(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What is formatted in f-strings, and how."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            yield ast.unparse(node.value), ast.unparse(node.format_spec)


def test_epsilon_is_rounded_up_in_one_place_besides_claims() -> None:
    ours = {name: file.read_text() for name, file in modules().items() if name.startswith("survey_app")}
    assert {name for name, text in ours.items() if re.search(r"\bround_up\b|\.quantize\(", text)} == set(ROUND_UP)


def test_no_other_module_writes_counts_or_epsilon() -> None:
    writers = ("survey_app.languages.numbers", "survey_app.languages.number_format", "survey_app.web.charts.")
    others = {name for name in modules() if name.startswith("survey_app") and not name.startswith(writers)}
    assert len(others) > 200
    for name in others:
        for what, how in specifications(ast.parse(modules()[name].read_text())):
            assert "," not in how, f"{name} groups the digits of {what}: use numbers.format_count"
            assert not re.search("epsilon|loss|spent", what), f"{name} formats {what}: use numbers.format_epsilon"


def test_what_should_be_found_would_be() -> None:
    wrong = 'f"{reports:,} at {field.epsilon:.2f} {name:>8}"'
    assert [what for what, _ in specifications(ast.parse(wrong))] == ["reports", "field.epsilon", "name"]


def test_templates_leave_it_to_the_filters() -> None:
    for file in (ROOT / "templates").glob("**/*.html"):
        text = file.read_text()
        assert '"{:' not in text, file
        assert not re.search(r"\|format\([^)]*epsilon", text), file
