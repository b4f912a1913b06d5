"""Whole surveys at equal ε and equal n: the mean squared error of every figure, beside the libraries of the field.

What counts is what a researcher reads: the share of yes, of each option, and means as places in their range. Peers get
what they have: multi-freq-ldpy splits ε over the attributes (SPL), samples one attribute (SMP), or samples one and
invents the others (RS+FD); pure-ldp is run once a question at its part of ε. A set of options is one attribute an
option; a number is rounded at random to an end of its range and is then a yes or no. RS+FD claims ε for a change of
one attribute only: a person whose answers all differ loses more (2.26 at a nominal 1 with five attributes), so it is
no honest contestant, and said to be none.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.peers import installed
from client.definition import Survey
from client.question import Question
from survey_app.authoring import build
from survey_app.channel import Floats
from survey_app.plan.people import Indices, draw_people
from survey_app.results.document import results
from survey_app.simulate.trial import tally, truth

PEOPLE, RUNS, QUICK_RUNS = 3_000, 150, 2
DISHONEST = "multi-freq-ldpy RS+FD (not ε-private for a whole person)"

NINE = "".join(f"  - {{id: q{i}, type: yes_no, text: Did you?}}\n" for i in range(9))
SIX = """\
  - {id: cheated, type: yes_no, text: Did you copy?}
  - {id: why, type: choice, text: Why?, options: [time, fear, habit, other], show_if: {question: cheated, is: [yes]}}
  - {id: fair, type: scale, text: It was fair., points: [a, b, c, d, e]}
  - {id: used, type: multiple, text: Which?, options: [notes, phone, friend, none]}
  - {id: hours, type: number, text: How long?, min: 0, max: 60}
  - {id: help, type: choice, text: What helped?, options: [notes, phone, friend], optional: true}
"""
SURVEYS = {"nine yes or no": NINE, "six mixed questions": SIX}

Figures = dict[tuple[str, str], float]  # by question and option, means as places from 0 to 1


@dataclass(frozen=True)
class Attribute:
    """What a library that knows only categories is asked: the symbols of every person, and what they are figures of."""

    size: int
    symbols: Indices
    figures: Mapping[int, tuple[str, str]]  # by symbol
    mean: tuple[str, Floats] | None = None  # the question, and the places of its symbols


def main(quick: bool) -> None:
    """Print the tables."""
    for name, questions in SURVEYS.items():
        for epsilon in (2, 4):
            _table(name, questions, epsilon, QUICK_RUNS if quick else RUNS)


def _table(name: str, questions: str, epsilon: int, runs: int) -> None:
    print(f"\n{name}, ε = {epsilon}, {PEOPLE:,} people: mean squared error × 100,000, {runs} runs")
    best = _survey(questions, epsilon, "auto")
    makers = {"multi-freq-ldpy": partial(_multi_freq_ldpy, epsilon), "pure-ldp": partial(_pure_ldp, epsilon)}
    peers, absent = installed(makers)
    contestants: dict[str, Callable[[dict[str, Indices], np.random.Generator], Figures]] = {
        "candor, everything split": partial(_candor, _survey(questions, epsilon, "all")),
        "candor, one question a device": partial(_candor, _survey(questions, epsilon, "one")),
        "candor, best blocks": partial(_candor, best),
    }
    for peer in peers:
        contestants |= {one: partial(_asked, best, ask) for one, ask in peer.items()}
    rng = np.random.default_rng()
    errors: dict[str, list[float]] = {one: [] for one in contestants}
    for _ in range(runs):
        people = draw_people(best, {}, PEOPLE, rng)
        true = _true(best, people)
        for one, ask in contestants.items():
            said = ask(people, rng)
            errors[one].append(float(np.mean([(said[key] - true[key]) ** 2 for key in true])))
    mine = float(np.mean(errors["candor, best blocks"]))
    for one, found in errors.items():
        mean, error = float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(runs)
        ratio = "" if one == "candor, best blocks" else f"{mean / mine:8.2f} × the best blocks"
        print(f"{one:58} {1e5 * mean:8.0f} ± {1e5 * error:<5.0f}{ratio}")
    honest = (
        min(np.mean(found) for one, found in errors.items() if not one.startswith("candor") and one != DISHONEST)
        if peers
        else math.nan
    )
    print(f"the best honest peer over candor: ratio {honest / mine:.2f}")
    if absent:
        print("not compared:", ", ".join(absent))


def _survey(questions: str, epsilon: int, ask: str) -> Survey:
    return build(f"slug: s\ntitle: S\nepsilon: {epsilon}\nask: {ask}\nquestions:\n{questions}".encode()).survey


def _place(question: Question, value: float) -> float:
    low, high = (1.0, float(len(question.labels))) if question.labels else (float(question.min), float(question.max))
    return (value - low) / (high - low)


def _candor(survey: Survey, people: dict[str, Indices], rng: np.random.Generator) -> Figures:
    told = results(survey, tally(survey, people, PEOPLE, rng))
    figures: Figures = {}
    for question, part in zip(survey.questions, told.questions, strict=True):
        for line in part.estimates:
            value = _place(question, line.estimate) if line.kind == "mean" else line.estimate
            figures[question.id, line.option] = value
    return figures


def _true(survey: Survey, people: dict[str, Indices]) -> Figures:
    """The figures of these people: what a survey without randomization would tell."""
    figures: Figures = {}
    for question in survey.questions:
        said = people[question.id]
        if question.levels or question.type == "scale":
            figures[question.id, "mean"] = _place(question, truth(question, "mean", "mean", said))
        if question.type == "yes_no":
            figures[question.id, "yes"] = truth(question, "yes", "share", said)
        elif question.labels and question.type != "scale":
            figures |= {(question.id, label): truth(question, label, "share", said) for label in question.labels}
    return figures


def _attributes(survey: Survey, people: dict[str, Indices], rng: np.random.Generator) -> list[Attribute]:
    made: list[Attribute] = []
    for question in survey.questions:
        said = people[question.id]
        if question.levels:
            high = (rng.random(len(said)) < said / question.steps).astype(np.int64)
            made.append(Attribute(2, high, {}, (question.id, np.array([0.0, 1.0]))))
        elif question.type == "multiple":
            for i, label in enumerate(question.labels):
                made.append(Attribute(2, said >> i & 1, {1: (question.id, label)}))
        elif question.type == "scale":
            places = np.linspace(0, 1, len(question.labels))
            made.append(Attribute(question.size, said, {}, (question.id, places)))
        else:
            named = {i: (question.id, label) for i, label in enumerate(question.labels)}
            made.append(Attribute(question.size, said, named))
    return made


Asked = Callable[[Sequence[Attribute]], Sequence[Floats]]


def _asked(survey: Survey, ask: Asked, people: dict[str, Indices], rng: np.random.Generator) -> Figures:
    attributes = _attributes(survey, people, rng)
    figures: Figures = {}
    for attribute, shares in zip(attributes, ask(attributes), strict=True):
        figures |= {key: float(shares[symbol]) for symbol, key in attribute.figures.items()}
        if attribute.mean:
            question, places = attribute.mean
            figures[question, "mean"] = float(places @ shares)
    return figures


def _multi_freq_ldpy(epsilon: int) -> dict[str, Asked]:
    from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution, SPL_solution

    def run(client: Callable[..., object], aggregate: Callable[..., Sequence[Floats]]) -> Asked:
        def ask(attributes: Sequence[Attribute]) -> Sequence[Floats]:
            sizes = [attribute.size for attribute in attributes]
            rows = np.stack([attribute.symbols for attribute in attributes], axis=1)
            sent = [client(row, sizes, len(sizes), epsilon) for row in rows]
            with warnings.catch_warnings(action="ignore"):
                return aggregate(sent, sizes, len(sizes), epsilon)

        return ask

    return {
        "multi-freq-ldpy SPL (GRR)": run(SPL_solution.SPL_GRR_Client, SPL_solution.SPL_GRR_Aggregator_MI),
        "multi-freq-ldpy SMP (GRR)": run(SMP_solution.SMP_GRR_Client, SMP_solution.SMP_GRR_Aggregator_MI),
        DISHONEST: run(RSpFD_solution.RSpFD_GRR_Client, RSpFD_solution.RSpFD_GRR_Aggregator_MI),
    }


def _pure_ldp(epsilon: int) -> dict[str, Asked]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer

    def ask(attributes: Sequence[Attribute]) -> Sequence[Floats]:
        shares = []
        for attribute in attributes:
            part = epsilon / len(attributes)
            client, server = DEClient(part, attribute.size), DEServer(part, attribute.size)
            for symbol in attribute.symbols:
                server.aggregate(client.privatise(int(symbol) + 1))
            counts = server.estimate_all(range(1, attribute.size + 1), suppress_warnings=True)
            shares.append(np.asarray(counts, dtype=float) / len(attribute.symbols))
        return shares

    return {"pure-ldp, once a question (DE)": ask}
