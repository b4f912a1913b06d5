"""The protection of a respondent in plain numbers: a suspicion before and after a report, and devices out of a hundred.

Everything follows from the published integers. A chance is rounded so that an answer never looks better protected than
it is (docs/methods.md §13). A report multiplies the odds of any suspicion by at most e^ε.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

from candor_client import description
from candor_client.definition import Survey
from candor_client.mechanisms import EXACT, Mechanism
from candor_client.question import Question
from candor_client.verify import compose_losses

SUSPICION = description.SUSPICION
EVEN_ODDS = 2  # one in two: a guess between two equally likely answers
SUSPICIONS = (100, SUSPICION, EVEN_ODDS)
GROUP_SIZES = (1, 2, 3, 5, 10)  # numbers of people whose answers depend on each other


class Chance(NamedTuple):
    """A chance of `cases` in `of`; equal numbers mean practically certain."""

    cases: int
    of: int


def posterior_bound(prior: float, epsilon: float) -> float:
    """Return the highest posterior probability of a suspicion with this prior, for calculations: not rounded up.

    Raise ValueError if `prior` is not between 0 and 1.
    """
    if not 0 <= prior <= 1:
        raise ValueError(f"a suspicion is a probability from 0 to 1, not {prior:g}")
    if prior in (0, 1):
        return float(prior)
    with localcontext(EXACT):
        return float(1 / (1 + description.least_odds_against((1 - Decimal(prior)) / Decimal(prior), Decimal(epsilon))))


def update_odds(prior: Fraction, ratio: Fraction) -> Fraction:
    """Return the posterior probability by Bayes' rule, for an observation with this likelihood ratio."""
    return prior * ratio / (prior * ratio + 1 - prior)


def best_guess_chance(epsilon: float) -> float:
    """Return the highest success rate of a guess between two equally likely answers: e^ε/(1 + e^ε)."""
    return posterior_bound(0.5, epsilon)


def prior_chance(suspicion: int) -> Chance:
    """Return a prior suspicion of one in `suspicion` out of a hundred, to be shown with its posterior."""
    return Chance(100 // suspicion, 100)


def posterior_chance(suspicion: int, epsilon: Decimal) -> Chance:
    """Return the highest posterior chance, rounded up, of a suspicion of one in `suspicion`."""
    return Chance(*description.posterior_in_hundred(suspicion, epsilon))


def round_up_fraction(share: Fraction) -> Chance:
    """Return an exact probability as a chance, rounded up by the same rule as in `posterior_chance`."""
    with localcontext(EXACT):
        return Chance(*description.round_up_chance(Decimal(share.numerator) / share.denominator))


class DeviceCounts(NamedTuple):
    """Devices that send an answer: `true` of `people` whose answer it is, and `other` of as many other people."""

    people: int
    true: int
    other: int


def count_devices(p: Fraction, q: Fraction) -> DeviceCounts:
    """Return how many devices send an answer, out of enough devices that about ten send something else."""
    return DeviceCounts(*description.share(p, q))


class UniformMixture(NamedTuple):
    """A mixture: `true` of `people` devices send the truth, and the others a cell drawn uniformly from all cells."""

    people: int
    true: int


def uniform_mixture(mechanism: Mechanism) -> UniformMixture | None:
    """Return the mechanism as a mixture of the truth and uniform draws; None if it is not such a mixture.

    The number of true devices is never rounded down.
    """
    mixture = description.blind_draw(mechanism)
    return UniformMixture(*mixture) if mixture else None


def total_epsilon(survey: Survey) -> Decimal:
    """Return the largest ε that the whole survey can spend on one person."""
    return compose_losses((field.mechanism.epsilon for field in survey.fields), ask=survey.ask)


def is_deniable(survey: Survey) -> bool:
    """Return whether a suspicion of 1 in 20 stays below one half, so that the claim "never proves" is meaningful."""
    return posterior_bound(1 / SUSPICION, float(total_epsilon(survey))) < 0.5


@dataclass(frozen=True)
class DependentQuestions:
    """Questions that are shown or hidden by one another, and the ε that their reports spend on each of them."""

    questions: tuple[Question, ...]
    epsilon: Decimal


def find_dependent_questions(survey: Survey) -> list[DependentQuestions]:
    """Return every tree of questions that depend on one another, with its ε.

    The report of a hidden question is "no answer", so it also reveals something about its parent. An answer to it
    implies the parent's answer, so the reports of the parent and of its other children also reveal something about it.
    With `ask` a tree within one field is left out, because a device sends only one report about it.
    """
    trees: dict[str, list[Question]] = {}
    tree_of: dict[str, list[Question]] = {}
    for question in survey.questions:  # a condition looks back
        root = tree_of[question.show_if.question] if question.show_if else trees.setdefault(question.id, [])
        root.append(question)
        tree_of[question.id] = root
    dependent = []
    for tree in trees.values():
        if len(tree) == 1:
            continue
        ids = {question.id for question in tree}
        fields = [field for field in survey.fields if any(question.id in ids for question in field.questions)]
        if not (survey.ask and len(fields) == 1):
            dependent.append(
                DependentQuestions(
                    tuple(tree), compose_losses((field.mechanism.epsilon for field in fields), ask=survey.ask)
                )
            )
    return dependent


def group_epsilon(epsilon: Decimal, people: int) -> Decimal:
    """Return the ε that a group of people spends together if all of them have the same answer."""
    with localcontext(EXACT):
        return epsilon * people
