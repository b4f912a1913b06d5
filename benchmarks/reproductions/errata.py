"""Errors in the sources, each with the computation that shows it."""

import math

from benchmarks.reproductions.figures import Section, format_figure
from survey_app.channels.posterior import posterior_bound
from survey_app.plan.central_model import gaussian_delta

DELTA = 1e-5


def classic_gaussian_scale(epsilon: float, delta: float) -> float:
    """Return σ of the textbooks: √(2 ln(1.25/δ))/ε, which is larger than needed, and proved for ε < 1 only."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def fus_gaussian_scale(epsilon: float, delta: float) -> float:
    """Return σ of Fu's Definition 4.10: √(2 ln(1.25/δ²))/ε."""
    return math.sqrt(2 * math.log(1.25 / delta**2)) / epsilon


def errata() -> Section:
    """Return the section on errors in the sources."""
    section = Section("What in the sources is wrong, or is easily read wrongly")
    section.say(
        "**Rothgang: “the probability to identify [a] participant … is 3-times as big”.** Not the probability: its "
        "*odds* grow by a factor of at most 3. With the coin design, a report of yes turns these suspicions into:"
    )
    section.table(
        ["suspicion before", "after a yes", "times 3 would be"],
        [
            (f"{prior:.0%}", f"{posterior_bound(prior, math.log(3)):.1%}", f"{3 * prior:.0%}")
            for prior in (0.05, 0.2, 0.5, 0.8)
        ],
    )
    section.say(
        "**Fu, Definition 4.10 and Theorem 4.11: the Gaussian mechanism.** The variance has ln(1.25/δ²) where the "
        "classic result has ln(1.25/δ), which costs about √2 times the noise for nothing at small ε. And the classic "
        "proof needs ε < 1, which the theorem does not say: above some ε neither noise keeps its promise. For "
        f"sensitivity 1 and a promised δ of {DELTA:g}, the exact δ (Balle and Wang 2018):"
    )
    rows = []
    for epsilon in (0.5, 1.0, 5.0, 10.0, 20.0, 50.0):
        textbook, fus_sigma = classic_gaussian_scale(epsilon, DELTA), fus_gaussian_scale(epsilon, DELTA)
        rows.append(
            (
                f"{epsilon:g}",
                format_figure(textbook),
                _verdict(gaussian_delta(textbook, epsilon)),
                format_figure(fus_sigma),
                _verdict(gaussian_delta(fus_sigma, epsilon)),
            )
        )
    section.table(["ε", "σ, ln(1.25/δ)", "its exact δ", "σ, ln(1.25/δ²)", "its exact δ"], rows)
    section.say(
        "\n".join(
            [
                "**Smaller things.**",
                "",
                "- *Fu, Lemma 4.4*: σ√2 is the root mean square of Laplace noise, not its expected size, which is σ "
                "(table above).",
                "- *Fu, Example 4.9*: if m people change their colour, the histogram moves by up to 2m; the number "
                "of colours is no bound (table above). The example also counts a changed record, while Definitions "
                "2.2 and 2.4 make neighbours of data sets of which one has a record more: for those the sensitivity "
                "of a histogram is 1, and a changed record is a distance of 2, not 1.",
                "- *Fu, Example 4.6*: Var[p̃] = Var[Y] holds for the share among these very people. For the share in "
                "the population it is p(1−p)/n more, and that part soon dominates (Figure 5 (a): no privacy and "
                "Laplace meet).",
                "- *Fu, §3, local privacy*: the displayed condition runs over databases. The local model has no "
                "database: each person's randomizer must satisfy the bound for every two *answers* of that one "
                "person.",
                "- *Fu, §6, “one's participation in a survey can never be disclosed”*: not so here. A report "
                "arrives, so a network observer sees that somebody took part; what is protected is the answer.",
                "- *Smith, Algorithm 2*: with probability 1/(e^ε+1) the output is 1 − φ(x_i). The printed φ(1 − x_i) "
                "is undefined unless records are bits, and need not be the other bit even then.",
                "- *Lecture 1, §5*: M/n as the sensitivity of a mean supposes that n is public (see above).",
                "- *Near*: the count of people over forty is 14,237 in the output and 14,235 in the text.",
                "- *Smith, Lemma 4.4 (1c)* is stated as a bound and is an equality; *Exercise 2.5* holds with c = 2; "
                "*Proposition 2.3* holds with equality. None of these is wrong.",
            ]
        )
    )
    return section


def _verdict(delta: float) -> str:
    return f"{delta:.1e}" + (" (broken)" if delta > DELTA else "")
