"""What a mechanism means to a person: a suspicion before and after, and devices out of a hundred.

Everything comes from the published integers. A chance is rounded so that it never looks better protected than it is
(docs/methods.md §13): ε multiplies the odds of any suspicion by at most e^ε, whatever the suspicion was.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

from candor_client import description
from candor_client.definition import Survey
from candor_client.mechanisms import EXACT, Mechanism
from candor_client.question import Question
from candor_client.verify import spend

SUSPICION = description.SUSPICION
EVEN = 2  # one in two: a guess between two equally likely answers
SUSPICIONS = (100, SUSPICION, EVEN)
GROUPS = (1, 2, 3, 5, 10)  # people whose answers hang together


class Chance(NamedTuple):
    """So many cases of so many; all of them means as good as certain."""

    cases: int
    of: int


def posterior(prior: float, epsilon: float) -> float:
    """What a suspicion of `prior` can become at the most, as a number to reckon with: not rounded up."""
    if not 0 <= prior <= 1:
        raise ValueError(f"a suspicion is a probability from 0 to 1, not {prior:g}")
    if prior in (0, 1):
        return float(prior)
    with localcontext(EXACT):
        return float(1 / (1 + description.against((1 - Decimal(prior)) / Decimal(prior), Decimal(epsilon))))


def believed(prior: Fraction, ratio: Fraction) -> Fraction:
    """What a suspicion is once something was seen that it makes `ratio` times as likely as its opposite: Bayes."""
    return prior * ratio / (prior * ratio + 1 - prior)


def guess(epsilon: float) -> float:
    """How often the best guess between two equally likely answers is right: e^ε/(1 + e^ε) at the most."""
    return posterior(0.5, epsilon)


def suspected(suspicion: int) -> Chance:
    """A suspicion of one in `suspicion` as it is told beside what it can become: out of a hundred, too."""
    return Chance(100 // suspicion, 100)


def raised(suspicion: int, epsilon: Decimal) -> Chance:
    """What a suspicion of one in `suspicion` can become at the most."""
    return Chance(*description.of_hundred(suspicion, epsilon))


def rounded_up(share: Fraction) -> Chance:
    """Return a chance that is known exactly, by the same rule as `raised`."""
    with localcontext(EXACT):
        return Chance(*description.round_up_chance(Decimal(share.numerator) / share.denominator))


class Share(NamedTuple):
    """Of so many `people` whose answer it is, `true` devices send it; of as many others, `other` do."""

    people: int
    true: int
    other: int


def share(p: Fraction, q: Fraction) -> Share:
    """How often a device sends the truth, of as many devices as it takes to see ten that do otherwise."""
    return Share(*description.share(p, q))


class Blind(NamedTuple):
    """Of so many `people`, `true` devices send what was said, and all others one of all cells, drawn blindly."""

    people: int
    true: int


def blind(mechanism: Mechanism) -> Blind | None:
    """How often the truth is sent, if all else is drawn blindly: never too few."""
    told = description.blind(mechanism)
    return Blind(*told) if told else None


def total(survey: Survey) -> Decimal:
    """What the whole survey can spend on one person."""
    return spend((field.mechanism.epsilon for field in survey.fields), ask=survey.ask)


def deniable(survey: Survey) -> bool:
    """Whether a suspicion of 1 in 20 stays less likely than not, so that "never proves" is no empty phrase."""
    return posterior(1 / SUSPICION, float(total(survey))) < 0.5


@dataclass(frozen=True)
class Together:
    """Questions that are shown or hidden by one another, and what all their reports say about each of them."""

    questions: tuple[Question, ...]
    epsilon: Decimal


def together(survey: Survey) -> list[Together]:
    """Every tree of questions that depend on one another.

    A hidden question answers "no answer", so its report speaks of the earlier one too; and an answer to it implies the
    earlier answer, so that the earlier report, and those of its siblings, speak of this one. With `ask` a device sends
    one of their reports, and a tree in one field is nothing but this field.
    """
    trees: dict[str, list[Question]] = {}
    of: dict[str, list[Question]] = {}
    for question in survey.questions:  # a condition looks back
        root = of[question.show_if.question] if question.show_if else trees.setdefault(question.id, [])
        root.append(question)
        of[question.id] = root
    dependent = []
    for tree in trees.values():
        if len(tree) == 1:
            continue
        ids = {question.id for question in tree}
        fields = [field for field in survey.fields if any(question.id in ids for question in field.questions)]
        if not (survey.ask and len(fields) == 1):
            dependent.append(
                Together(tuple(tree), spend((field.mechanism.epsilon for field in fields), ask=survey.ask))
            )
    return dependent


def times(epsilon: Decimal, people: int) -> Decimal:
    """What so many people give away together, if whatever is true of one is true of all."""
    with localcontext(EXACT):
        return epsilon * people
