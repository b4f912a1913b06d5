"""Variances beyond a single symbol: options that may be chosen together, means of numbers, and pairs of questions.

Candor's variances come from the integers that authoring publishes, those of other mechanisms from their formulas.
One option or question for each device means randomized response on it. The mechanisms for the mean of numbers are:
one bit (Duchi et al. 2018), piecewise and hybrid (Wang et al. 2019), and Laplace noise, all at the worst true value.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import product

from candor_client.mechanisms import Drawn, Geometric, Subset
from survey_app.authoring import mechanism_choice
from survey_app.authoring.fields import choose_single
from survey_app.authoring.mechanism_choice import bit_variance
from survey_app.channels import channel_of
from survey_app.channels.channel import AssumedShares
from survey_app.channels.design_variance import event_moments, k_ary_variance, level_variance, uniform_draw_odds
from survey_app.channels.geometric import GeometricChannel
from survey_app.plan.question_plan import make_question

EPSILONS = ("0.5", "1", "2", "3", "4", "6")
OPTIONS = (2, 3, 5, 10)
SHARE = 0.3
FINEST = 64  # levels, the most that geometric noise may have


def chosen_option(options: int, epsilon: Decimal) -> tuple[str, float]:
    """Return the mechanism that authoring chooses for several options, in words, and n·Var of one option."""
    mechanism, _ = choose_single(make_question("multiple", options=options), 1.0, epsilon)
    label = f"{mechanism.draw} of {mechanism.size} drawn" if isinstance(mechanism, Drawn) else "all sets"
    channel = channel_of(mechanism)
    return label, channel.variance(AssumedShares.event(SHARE, 1 / 2)) / channel.informative_share


def option_row(options: int, epsilon: Decimal) -> list[str]:
    """Return a row of the table: n·Var of one option, and the costs of other mechanisms as ratios to it."""
    way, candor_variance = chosen_option(options, epsilon)
    single = options * bit_variance(mechanism_choice.make_flip(epsilon), SHARE)
    split = bit_variance(mechanism_choice.make_flip(epsilon / options), SHARE)
    sets = k_ary_variance(event_moments(SHARE, 1 / 2), uniform_draw_odds(2**options, math.exp(epsilon)))
    return [
        f"{options}",
        f"{epsilon}",
        way,
        f"{candor_variance:.3g}",
        *(f"{variance / candor_variance:,.2f}" for variance in (single, split, sets)),
    ]


def means(epsilon: float) -> dict[str, float]:
    """Return n·Var of a mean on [−1, 1] at the worst true value, for each of the other mechanisms."""
    e, root = math.exp(epsilon), math.exp(epsilon / 2)
    bit = ((e + 1) / (e - 1)) ** 2
    piecewise = 1 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    hybrid = bit
    if epsilon > 0.61:
        hybrid = max(
            (1 - 1 / root) * (t * t / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)) + (bit - t * t) / root
            for t in (0.0, 1.0)
        )
    return {"one bit": bit, "piecewise": piecewise, "hybrid": hybrid, "Laplace": 8 / epsilon**2}


def mean_row(epsilon: Decimal) -> list[str]:
    """Return a row of the table: Candor's choice, then geometric noise and the other mechanisms as ratios to it.

    Raise TypeError if authoring does not choose levels.
    """
    field = mechanism_choice.choose([make_question("number")], epsilon)
    if not isinstance(field.mechanism, Subset):
        raise TypeError(f"levels by {field.mechanism.kind}")
    levels = field.questions[0].levels
    candor_variance = level_variance(float(field.mechanism.p), float(field.mechanism.q), levels)
    noise: Geometric = mechanism_choice.make_geometric(FINEST, epsilon)
    variances = [GeometricChannel(noise).worst_variance(rounded=True), *means(float(epsilon)).values()]
    return [
        f"{epsilon}",
        f"{levels} levels",
        f"{candor_variance:.3g}",
        *(f"{variance / candor_variance:.2f}" for variance in variances),
    ]


def pair_row(rows: int, columns: int, epsilon: Decimal) -> list[str]:
    """Return a row of the table: n·Var of a share of the first of two questions, and of a cell.

    It compares one block, two blocks of chance ½, and ε split between the questions. All shares are equal.
    Two blocks give no estimate of a cell; with ε split a cell is the product of two unbiased scores.
    """
    odds = math.exp(epsilon)
    block = uniform_draw_odds(rows * columns, odds)
    margin, cell = (event_moments(part, part) for part in (1 / rows, 1 / rows / columns))
    joint = k_ary_variance(margin, block)
    apart = 2 * k_ary_variance(margin, uniform_draw_odds(rows, odds))
    half = math.exp(epsilon / 2)
    split = k_ary_variance(margin, uniform_draw_odds(rows, half))
    return [
        f"{rows} × {columns}", f"{epsilon}", f"{joint:.3g}", f"{apart / joint:.2f}", f"{split / joint:.2f}",
        f"{k_ary_variance(cell, block):.3g}", f"{_product(rows, columns, half) / k_ary_variance(cell, block):.2f}",
    ]  # fmt: skip


def _product(rows: int, columns: int, odds: float) -> float:
    """Return n·Var of u v at equal shares, E(u²) E(v²) − P², where u and v are the unbiased scores of two answers."""
    second = 1.0
    for size in (rows, columns):
        second *= k_ary_variance(event_moments(1 / size, 1 / size), uniform_draw_odds(size, odds)) + 1 / size**2
    return second - 1 / (rows * columns) ** 2


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def sections() -> list[str]:
    """Return the lines of the page."""
    options = [option_row(count, Decimal(e)) for count, e in product(OPTIONS, EPSILONS)]
    pairs = [pair_row(*sizes, Decimal(e)) for sizes, e in product(((2, 2), (2, 5), (5, 5)), ("1", "2", "4", "6"))]
    return [
        "",
        "## Options that may be chosen together",
        "",
        f"n·Var of one option at {SHARE:.0%}, sampling included: what authoring takes, and the others in parts of it.",
        "",
        *_table(["options", "ε", "chosen", "n·Var", "one option a device", "ε split", "all sets"], options),
        "",
        "## Means of numbers",
        "",
        "n·Var of a mean on a range from −1 to 1 at the worst true value, from the coins alone: what authoring takes,",
        f"and the others in parts of it; geometric noise has {FINEST} levels, and is taken where the author wants it.",
        "",
        *_table(["ε", "chosen", "n·Var", "geometric", "one bit", "piecewise", "hybrid", "Laplace"], [
            mean_row(Decimal(e)) for e in EPSILONS
        ]),
        "",
        "## Two questions",
        "",
        "n·Var for each respondent, at even shares, sampling included: a share of the first question in one block of",
        "both, and in parts of it with two blocks of chance ½, and with both asked and ε split; then a cell in the",
        "block, and with ε split. Two blocks never see a cell.",
        "",
        *_table(["cells", "ε", "share, one block", "two blocks", "ε split", "cell, one block", "ε split"], pairs),
    ]  # fmt: skip
