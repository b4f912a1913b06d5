"""Formats for each kind of number: ε, shares, chances, powers, margins, counts.

A number that is a promise to a respondent is rounded up: ε, and the loss from a report, never look smaller than they
are (docs/methods.md §13). All other numbers are rounded to the nearest. Languages differ only in their marks; the
default is English.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

from candor_client.mechanisms import EXACT, round_up
from survey_app.channels.posterior import Chance, posterior_chance
from survey_app.languages import Words


@dataclass(frozen=True)
class Marks:
    """The separator of thousands, the smallest number that has one, and the decimal mark."""

    thousands: str
    decimals: str
    grouped_from: int = 1_000


ENGLISH = Marks(",", ".")
MARKS = {"en": ENGLISH, "de": Marks(".", ","), "es": Marks(".", ",", 10_000), "fr": Marks("\u202f", ",")}


def format_count(value: int, marks: Marks = ENGLISH) -> str:
    """Format an integer with separators of thousands."""
    return f"{value:,}".replace(",", marks.thousands) if abs(value) >= marks.grouped_from else str(value)


def format_respondents(value: int | None) -> str:
    """Format a required number of respondents; None means more than there are."""
    return "more than there are" if value is None else format_count(value)


def format_decimal(text: str, marks: Marks = ENGLISH) -> str:
    """Replace the marks in a plain decimal, and keep all its digits."""
    integer, _, decimals = text.removeprefix("-").partition(".")
    tail = f"{marks.decimals}{decimals}" if decimals else ""
    return f"{'-' * text.startswith('-')}{format_count(int(integer), marks)}{tail}"


def format_epsilon(value: Decimal | float, digits: int = 4, *, fixed: bool = False, marks: Marks = ENGLISH) -> str:
    """Format ε, rounded up; with `fixed` trailing zeros stay, for columns and terminals.

    A float is taken as the shortest decimal that equals it, since the digits after that are not part of ε.
    """
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    text = f"{round_up(exact, digits):f}"
    return format_decimal(text if fixed or "." not in text else text.rstrip("0").rstrip("."), marks)


def format_odds_factor(value: Decimal) -> str:
    """Format exp(ε), the factor on the odds of a suspicion, with three figures, rounded up."""
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(value.exp(EXACT)):f}"


def format_requested_epsilon(value: float) -> str:
    """Format an ε that a researcher requested, and that no respondent spends, without rounding it up."""
    return f"{value:.6g}"


def format_percent(share: float, figures: int = 6) -> str:
    """Format a share in percent; six figures suit a share that somebody chose, three a computed one."""
    return f"{100 * share:.{figures}g}%"


def format_rounded_percent(share: float) -> str:
    """Format a share in percent, rounded to an integer."""
    return f"{share:.0%}"


def format_chance(value: Chance, words: Words | None = None) -> str:
    """Format a chance as cases in a number of cases, in a respondent's language, or in English for the console."""
    is_certain = value.cases == value.of
    if words is None:
        return "certainty" if is_certain else f"{format_count(value.cases)} in {format_count(value.of)}"
    if is_certain:
        return words("privacy.certain")
    cases, of = (format_count(number, MARKS[words.language]) for number in value)
    return words("privacy.chance", cases=cases, of=of)


def format_largest_suspicion(suspicion: int, epsilon: Decimal | float | None) -> str:
    """Format the most that a suspicion of one in `suspicion` can become, by the rule of `posterior.raised`.

    For two equally likely answers it is how often the best guess is right. Without an ε there is no bound.
    """
    if epsilon is None:
        return "certainty"
    return format_chance(
        posterior_chance(suspicion, epsilon if isinstance(epsilon, Decimal) else Decimal(repr(float(epsilon))))
    )


def format_probability(value: float) -> str:
    """Format a probability of a mechanism, with four figures."""
    return f"{value:.4g}" if value >= 1e-4 else f"{value:.2e}"


def format_power(value: float) -> str:
    """Format a statistical power with two decimals; it never reads 1."""
    return f"{value:.2f}" if value < 0.995 else "above 0.99"


def format_p_value(value: float) -> str:
    """Format a p-value with two figures; it never reads less than 0.0001."""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


def format_quantity(value: float, unit: str = "") -> str:
    """Format a quantity with three figures, without powers of ten, and its unit."""
    if abs(value) >= 100:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.6f}".rstrip("0").rstrip(".")
    return f"{text} {unit}" if unit else text


def format_difference(value: float, is_share: bool, unit: str = "") -> str:
    """Format a difference: in percentage points for shares, in their unit for means."""
    if not is_share:
        return format_quantity(value, unit)
    points = format_quantity(100 * value)
    return f"{points} point{'' if points == '1' else 's'}"


def format_margin(value: float, is_share: bool, unit: str = "") -> str:
    """Format a margin of error, which is half the width of an interval."""
    return f"±{format_difference(value, is_share, unit)}"


def format_cost_factor(value: float) -> str:
    """Format a factor on a cost; a factor below 1 never reads 1."""
    return "0.99" if 0.99 < value < 1 else f"{value:.2f}"


def format_outcome(value: float, is_share: bool) -> str:
    """Format an estimate or true value of simulated people: a share to 0.1 percent, a mean to four figures."""
    return f"{100 * value:.1f}%" if is_share else f"{value:.4g}"
