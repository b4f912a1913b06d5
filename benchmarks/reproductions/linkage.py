"""Smith's two anonymous tables, and what joining them reveals; Exercise 3.4, on the limits that ε-privacy sets."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.reproductions.figures import Section
from survey_app.channels.posterior import SUSPICION
from survey_app.languages import numbers


@dataclass(frozen=True)
class Record:
    """A row: generalized postcode and age, and the condition that was meant to stay private."""

    postcode: str
    age: str
    condition: str


def _table(groups: Sequence[tuple[str, str]]) -> tuple[Record, ...]:
    return tuple(Record("130**", age, condition) for age, conditions in groups for condition in conditions.split(", "))


FIGURE_1 = _table(
    [
        ("<30", "AIDS, Heart Disease, Viral Infection, Viral Infection"),
        ("≥40", "Cancer, Heart Disease, Viral Infection, Viral Infection"),
        ("3*", "Cancer, Cancer, Cancer, Cancer"),
    ]
)
FIGURE_2 = _table(
    [
        ("<35", "AIDS, Tuberculosis, Flu, Tuberculosis, Cancer, Cancer"),
        ("≥35", "Cancer, Cancer, Cancer, Tuberculosis, Viral Infection, Viral Infection"),
    ]
)
AGES: dict[str, Callable[[int], bool]] = {
    "<30": lambda age: age < 30,
    "3*": lambda age: 30 <= age < 40,
    "≥40": lambda age: age >= 40,
    "<35": lambda age: age < 35,
    "≥35": lambda age: age >= 35,
}


def anonymity(table: Sequence[Record]) -> int:
    """Return the k of k-anonymity: the count of the rarest combination of values that are not secret."""
    return min(Counter((record.postcode, record.age) for record in table).values())


def possible_conditions(table: Sequence[Record], postcode: str, age: int) -> set[str]:
    """Return the conditions of the records that may belong to this person."""
    return {
        record.condition
        for record in table
        if AGES[record.age](age)
        and all(character in ("*", digit) for character, digit in zip(record.postcode, postcode, strict=True))
    }


def conditions_in_both(postcode: str, age: int) -> set[str]:
    """Return the possible conditions of a person who is in both tables."""
    return possible_conditions(FIGURE_1, postcode, age) & possible_conditions(FIGURE_2, postcode, age)


def composition_attack() -> Section:
    """Return the section on the composition attack."""
    section = Section("Smith, Figures 1 and 2: two anonymous tables, joined")
    section.say(
        f"The first table is {anonymity(FIGURE_1)}-anonymous, the second {anonymity(FIGURE_2)}-anonymous, as the "
        "source says. Somebody who is known to be in both, with postcode 13012, can have only what both allow. Alice "
        "is 28:"
    )
    section.table(
        ["age", "by the first table", "by the second", "by both"],
        [
            (
                str(age),
                ", ".join(sorted(possible_conditions(FIGURE_1, "13012", age))),
                ", ".join(sorted(possible_conditions(FIGURE_2, "13012", age))),
                f"**{', '.join(sorted(conditions_in_both('13012', age)))}**",
            )
            for age in (28, 32, 37, 45)
        ],
    )
    section.say(
        "Joined, they name Alice's condition; everybody from 30 to 39 was already named by the first table alone, "
        "since its group has one condition only. Differential privacy composes instead: two releases with ε₁ and ε₂ "
        "are one release with ε₁ + ε₂, and no joining multiplies anybody's odds by more than e^(ε₁+ε₂). Two answers "
        "at ε = 0.5 each can raise a suspicion of 1 in 20 to at most "
        f"{numbers.format_largest_suspicion(SUSPICION, 1)}, "
        "whatever else is known."
    )
    return section


def reachable_range(chance: Fraction, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """Return the range of P(A(x′) in E) if P(A(x) in E) is `chance` and e^ε is `ratio`.

    The event and its complement both limit the range.
    """
    low = max(chance / ratio, 1 - ratio * (1 - chance))
    high = min(ratio * chance, 1 - (1 - chance) / ratio)
    return low, high


def largest_odds_ratio(chance: Fraction, other_chance: Fraction) -> Fraction:
    """Return the largest ratio between two coins, over both outcomes and both orders.

    It is e^ε of a mechanism with two outputs.
    """
    return max(
        chance / other_chance,
        other_chance / chance,
        (1 - chance) / (1 - other_chance),
        (1 - other_chance) / (1 - chance),
    )


def exercise_3_4() -> Section:
    """Return the section on the range of a probability, given another one."""
    section, ratio = Section("Smith, Exercise 3.4: what the definition allows"), Fraction(5, 4)
    section.say(
        "With ε = ln(5/4), P(A(x′) ≥ 14) lies between max(e^−ε P, 1 − e^ε(1 − P)) and min(e^ε P, 1 − e^−ε(1 − P)). "
        "Each end is reached: by a mechanism with two outputs, whose largest ratio of probabilities, exact, stands "
        "beside it."
    )
    rows = []
    for chance in (Fraction(1, 5), Fraction(1, 2)):
        low, high = reachable_range(chance, ratio)
        rows.append(
            (
                f"{float(chance):g}",
                f"[{float(low):g}, {float(high):g}]",
                str(largest_odds_ratio(chance, low)),
                str(largest_odds_ratio(chance, high)),
            )
        )
    section.table(["P(A(x) ≥ 14)", "P(A(x′) ≥ 14) in", "ratio at the lower end", "at the upper end"], rows)
    return section
