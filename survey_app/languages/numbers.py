"""How a number is written, each kind once: ε, shares, chances, powers, margins, counts.

Rounding goes the private way wherever a number is a promise to a respondent: ε is never written smaller than it is, and
what a report can give away never looks less than it is (docs/methods.md §13). All else is rounded to the nearest.
Languages differ in their marks alone; whoever speaks none of them in particular gets the English ones.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

from candor_client.mechanisms import EXACT, round_up
from survey_app.channels.posterior import Chance, raised
from survey_app.languages import Words


@dataclass(frozen=True)
class Marks:
    """What stands between groups of three digits, from which number on, and what before the decimals."""

    thousands: str
    decimals: str
    grouped_from: int = 1_000


ENGLISH = Marks(",", ".")
MARKS = {"en": ENGLISH, "de": Marks(".", ","), "es": Marks(".", ",", 10_000), "fr": Marks("\u202f", ",")}


def count(value: int, marks: Marks = ENGLISH) -> str:
    """A whole number, in groups of three digits."""
    return f"{value:,}".replace(",", marks.thousands) if abs(value) >= marks.grouped_from else str(value)


def respondents(value: int | None) -> str:
    """How many it takes, or that there are not so many."""
    return "more than there are" if value is None else count(value)


def decimal(text: str, marks: Marks = ENGLISH) -> str:
    """A plain decimal, with all its digits."""
    whole, _, decimals = text.removeprefix("-").partition(".")
    tail = f"{marks.decimals}{decimals}" if decimals else ""
    return f"{'-' * text.startswith('-')}{count(int(whole), marks)}{tail}"


def epsilon(value: Decimal | float, digits: int = 4, *, fixed: bool = False, marks: Marks = ENGLISH) -> str:
    """ε, never less than it is; with `fixed` all its digits are written, as columns and terminals have it.

    Of a float it is the shortest decimal that is the same float: the digits after it are noise, and none of ε's.
    """
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    text = f"{round_up(exact, digits):f}"
    return decimal(text if fixed or "." not in text else text.rstrip("0").rstrip("."), marks)


def times(value: Decimal) -> str:
    """By how much ε multiplies the odds of a suspicion, with three figures, never less than it is."""
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(value.exp(EXACT)):f}"


def requested_epsilon(value: float) -> str:
    """An ε that somebody asked for and that nobody spends, as it was said."""
    return f"{value:.6g}"


def percent(share: float, figures: int = 6) -> str:
    """A share with so many figures; six write any that somebody chose, three one that was computed."""
    return f"{100 * share:.{figures}g}%"


def about(share: float) -> str:
    """A share in whole percent, the nearest."""
    return f"{share:.0%}"


def chance(value: Chance, words: Words | None = None) -> str:
    """So many cases of so many, in a respondent's language; without one, as the console tells it to researchers."""
    certain = value.cases == value.of
    if words is None:
        return "certainty" if certain else f"{count(value.cases)} in {count(value.of)}"
    if certain:
        return words("privacy.certain")
    cases, of = (count(number, MARKS[words.language]) for number in value)
    return words("privacy.chance", cases=cases, of=of)


def at_most(suspicion: int, epsilon: Decimal | float | None) -> str:
    """Write what a suspicion of one in `suspicion` can become at the most, by the one rule of `chances.raised`.

    Of two equally likely answers it is how often the best guess is right. Without an ε there is no bound.
    """
    if epsilon is None:
        return "certainty"
    return chance(raised(suspicion, epsilon if isinstance(epsilon, Decimal) else Decimal(repr(float(epsilon)))))


def probability(value: float) -> str:
    """A parameter of a mechanism, with four figures."""
    return f"{value:.4g}" if value >= 1e-4 else f"{value:.2e}"


def power(value: float) -> str:
    """A power to two digits, never quite certain."""
    return f"{value:.2f}" if value < 0.995 else "above 0.99"


def p_value(value: float) -> str:
    """How often chance alone gives as much."""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


def quantity(value: float, unit: str = "") -> str:
    """Three figures, without powers of ten, in their unit."""
    if abs(value) >= 100:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.6f}".rstrip("0").rstrip(".")
    return f"{text} {unit}" if unit else text


def size(value: float, is_share: bool, unit: str = "") -> str:
    """How far something is from something else: in points (of a hundred) for a share, in its unit for a mean."""
    if not is_share:
        return quantity(value, unit)
    points = quantity(100 * value)
    return f"{points} point{'' if points == '1' else 's'}"


def margin(value: float, is_share: bool, unit: str = "") -> str:
    """The half of an interval."""
    return f"±{size(value, is_share, unit)}"


def price(value: float) -> str:
    """How many times something is needed; below 1 never as 1."""
    return "0.99" if 0.99 < value < 1 else f"{value:.2f}"


def outcome(value: float, is_share: bool) -> str:
    """A result of made-up people, or what is true of them: a share to a tenth of a percent, a mean to four figures."""
    return f"{100 * value:.1f}%" if is_share else f"{value:.4g}"
