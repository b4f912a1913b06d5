"""The PIN example of the source paper: the rank of the true PIN among 10,000 for the best attacker."""

import math

import numpy as np
from scipy.stats import rankdata

import candor_client
from benchmarks.reproductions.figures import Number, Section, format_figure
from candor_client import Survey
from candor_client.mechanisms import Subset
from survey_app.authoring import build

OPTIONS = 10_000
EPSILONS = (1, 2, 4, 8)


def survey_of(epsilon: float, options: int = OPTIONS) -> Survey:
    """Return a survey that asks for a PIN: a number with a bin for each PIN."""
    weak = "accept_weak_privacy: true\n" if epsilon > 8 else ""
    text = f"slug: pin\ntitle: PIN\nepsilon: {epsilon}\n{weak}questions:\n  - {{id: pin, type: number, text: Which?, min: 0, max: {options - 1}, bins: {options}}}\n"
    return build(text.encode()).survey


def expected_rank(mechanism: Subset) -> tuple[float, float]:
    """Return mean and standard deviation of the true PIN's rank: the reported set comes first, in random order."""
    k, w, p = mechanism.size, mechanism.weight, float(mechanism.p)
    inside, outside = (w + 1) / 2, w + (k - w + 1) / 2
    mean = p * inside + (1 - p) * outside
    squares = p * ((w**2 - 1) / 12 + inside**2) + (1 - p) * (((k - w) ** 2 - 1) / 12 + outside**2)
    return mean, math.sqrt(squares - mean**2)


def first_guess_chance(mechanism: Subset) -> float:
    """Return how often the first guess is right."""
    return float(mechanism.p) / mechanism.weight


def ranks(survey: Survey, people: int) -> np.ndarray:
    """Return the rank of the true PIN for each of `people` with random PINs."""
    rng = np.random.default_rng()
    options = survey.fields[0].mechanism.width
    found = []
    for pin in rng.integers(options, size=people):
        bits = np.unpackbits(np.frombuffer(candor_client.randomize(survey, {"pin": int(pin)}).bits, dtype=np.uint8))
        order = rankdata(-(bits[:options] + rng.random(options) / 2))
        found.append(order[pin])
    return np.array(found)


def pins_section(people: int) -> Section:
    """Return the section on PINs."""
    section = Section("A PIN among ten thousand")
    section.say(
        "The paper that this project goes back to hides one PIN in the training data of a language model and looks where"
        " it stands among all 10,000 when the model is asked: first without differential privacy, 3,050th with it (Fu,"
        " §5). The same question to this system: a number of which each of 10,000 is a bin of its own. Without randomization the server knows the"
        " PIN, rank 1. With it, the best attacker tries those in the reported set first, in any order, then the rest;"
        f" {people} people with random PINs each:"
    )
    rows: list[list[str | Number]] = []
    for epsilon in EPSILONS:
        made = survey_of(epsilon)
        mechanism = made.fields[0].mechanism
        if not isinstance(mechanism, Subset):
            raise AssertionError("bins are a subset")
        mean, spread = expected_rank(mechanism)
        seen = ranks(made, people)
        rows.append(
            [
                f"{epsilon}",
                f"{mechanism.weight:,}",
                Number(mean, float(seen.mean()), spread / math.sqrt(people)),
                format_figure(first_guess_chance(mechanism), 2),
            ]
        )
    section.table(["ε", "size of the set", "mean rank, in theory", "seen", "first guess right"], rows)
    section.say(
        "By guessing alone the mean rank is 5,000.5 and the first guess is right in 0.0001. A large ε protects a PIN badly"
        " even among so many; that is what the advice above ε = 4 is about."
    )
    return section
