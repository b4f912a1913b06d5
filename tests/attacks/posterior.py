"""How much one report, or two, can change an attacker's belief: never by more than e^ε, and ε adds up."""

import math
from functools import cache
from itertools import product

import numpy as np

import candor_client
from benchmarks.reproductions.figures import Section, format_figure, share_of
from survey_app.channels.posterior import posterior_bound, prior_chance
from survey_app.languages import numbers
from tests import reference
from tests.definitions import simple, survey, worked_example

SUSPICIONS = (100, 20, 5, 2)  # one in so many
EPSILONS = (0.5, 1.0, math.log(3), 2.0, 4.0)
POLICY = 100_000
ANSWERS = ((True, False), ("none", "notes", "phone", None), (0, 60))  # a number between is a mixture of the two ends


@cache
def largest_odds() -> tuple[float, float]:
    """Return the largest change of odds over all answers and reports of the worked example, and e^ε."""
    definition = worked_example()
    said = [{"cheated": cheated, "help": help_, "hours": hours} for cheated, help_, hours in product(*ANSWERS)]
    chances = [reference.distribution(definition, one) for one in said]
    largest = max(max(one[bits] / other[bits] for bits in one) for one, other in product(chances, chances))
    return float(largest), math.exp(float(survey(definition).epsilon))


def join_reports(people: int, prior: float = 0.05) -> tuple[float, np.ndarray]:
    """Return how many of the people with two yes reports mean it: by Bayes, and as simulated."""
    made = survey(simple())
    rng = np.random.default_rng()
    truths = rng.random(people) < prior
    both = []
    for truth in truths:
        if all(candor_client.randomize(made, {"cheated": bool(truth)}).bits[0] >> 7 for _ in range(2)):
            both.append(truth)
    return posterior_bound(prior, 2 * math.log(3)), np.array(both)


def belief_section(people: int) -> Section:
    """Return the section on beliefs."""
    section = Section("What a report changes in what somebody believes")
    section.say(
        "Somebody thinks that you did it with some probability. However they use your report, it can rise to at most:"
    )
    section.table(
        ["they thought", *(f"ε = {'ln 3' if one == math.log(3) else f'{one:g}'}" for one in EPSILONS)],
        (
            [
                numbers.format_chance(prior_chance(one)),
                *(numbers.format_largest_suspicion(one, epsilon) for epsilon in EPSILONS),
            ]
            for one in SUSPICIONS
        ),
    )
    seen, bound = largest_odds()
    section.say(
        "Not a promise but an enumeration: for the worked example of the wire, over every pair of answers (of the number"
        " its ends, between which all others are mixtures) and every report that can come of them, with exact fractions,"
        f" the odds change by a factor of at most {format_figure(seen, 6)};"
        f" e^ε is {format_figure(bound, 6)}."
    )
    rows = []
    for epsilon in (0.01, *EPSILONS):
        chance = posterior_bound(0.02, epsilon)
        name = "ln 3" if epsilon == math.log(3) else f"{epsilon:g}"
        rows.append([name, f"{chance:.2%}", f"{POLICY * chance:,.0f}"])
    section.say(
        "*The insurance example* (Fu, example 2.5): Alice holds a policy of 100,000. Her insurer, who knows what a study"
        " found about people like her, puts her risk at 2% and asks a premium of 2,000, whether she took part or not."
        " What if it got hold of her own report to a question whose true answer would tell everything? At the worst:"
    )
    section.table(["ε of the report", "risk, at most", "premium, at most"], rows)
    section.say(
        "The paper's bound for ε = 0.01 is 2,020; the exact one is a little smaller. A survey of today's usual ε is no"
        " 0.01: at ε = 2 her premium could rise sixfold. What protects her then is that nothing says whose report it is."
    )
    theory, both = join_reports(people)
    section.say(
        "*Joining two surveys.* ε adds over everything that one person answers. 5% of people did it, and two surveys ask"
        f" with two coins each. Of those whose reports both say yes, so many did ({people:,} simulated people):"
    )
    section.table(["by Bayes, ε = 2 ln 3", "seen"], [[share_of(both, theory)]])
    return section
