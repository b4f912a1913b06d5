"""The page: all sections in order, and an introduction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.reproductions import RUNS, SEED, errata, examples, linkage, noise, precision, response
from benchmarks.reproductions.figures import Section

HEAD = """\
# Reproductions

The figures, examples and exercises of the texts that this project goes back to, computed again with its own code, each
number next to its theory; then what in those texts is wrong; then how accurate other libraries are at the same task.
This page is written by `make reproductions` (`python -m benchmarks.reproductions`); do not edit it.

How to read it: a simulated number is followed by ± one Monte Carlo standard error, and the cell to its left is its
theory. The error is what theory says that such a simulation has. All simulations use numpy's default generator, seeded
with {seed} and the place of the section, so the page comes out the same, byte for byte, when it is made again,
but for two rows of the last table. `tests/benchmarks/test_reproductions.py` computes every theory again and runs the
simulations with fresh randomness. Of the {count} simulated numbers here that have a theory, the farthest from it is off
by {worst} standard errors.

The sources, by the names used below:

- **Smith**: Adam Smith, *Privacy in Statistics and Machine Learning, Lecture 4: Differential Privacy I*
- **Fu**: Preston Fu, *Gaussian Mechanism as Protection from Sensitive Input Memorization*, 2022
- **Near**: Joseph Near and Chiké Abuah, *Programming Differential Privacy*, chapter *Differential Privacy*
- **Rothgang**: Colin Rothgang, *Differential privacy – Basic notions and methods*, 2017
- **Lecture 1**: *Introduction to Differential Privacy and the Laplace Mechanism*, lecture notes, author not named

Of the figures we have the captions, not the pictures, so curves are compared with theory, not with the originals.
"""


@dataclass(frozen=True)
class Experiment:
    """A section of the page that is made from a generator and a number of runs."""

    name: str
    make: Callable[[np.random.Generator, int], Section]


EXPERIMENTS = (
    Experiment("k-anonymous tables", lambda rng, runs: linkage.composition_attack()),
    Experiment("exercise 3.4", lambda rng, runs: linkage.exercise_3_4()),
    Experiment("figure 3", noise.figure_3),
    Experiment("figure 4", noise.figure_4),
    Experiment("lemma 4.4", noise.lemma_4_4),
    Experiment("figure 5 (a)", response.figure_5a),
    Experiment("figure 5 (b)", response.figure_5b),
    Experiment("γ = ¼", response.fus_figure_2),
    Experiment("exercise 2.5", precision.exercise_2_5),
    Experiment("exercise 2.6", precision.exercise_2_6),
    Experiment("exercise 4.2", lambda rng, runs: examples.exercise_4_2()),
    Experiment("exercise 4.5", noise.exercise_4_5),
    Experiment("exercise 4.6", noise.exercise_4_6),
    Experiment("Laplace mean", examples.laplace_mean),
    Experiment("counts and histograms", examples.counts_and_histograms),
    Experiment("errata", lambda rng, runs: errata.errata()),
)


def make(place: int, runs: int = RUNS) -> Section:
    """Return one section as published, with its own seed."""
    return EXPERIMENTS[place].make(np.random.default_rng([SEED, place]), runs)


def farthest(sections: Sequence[Section]) -> tuple[int, float]:
    """Return how many numbers have a theory, and the largest distance from it in standard errors."""
    distances = [number.distance for section in sections for number in section.numbers]
    return len(distances), max(distances)


def page(sections: Sequence[Section]) -> str:
    """Return the whole page as Markdown."""
    count, worst = farthest(sections)
    head = HEAD.format(seed=SEED, count=count, worst=f"{worst:.1f}")
    return "\n\n".join([head.rstrip(), *(section.text for section in sections)]) + "\n"
