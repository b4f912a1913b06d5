"""Whole surveys at equal ε and equal n: the mean squared error of every figure, next to other libraries.

The errors are those of the figures that a researcher reads, against the population: the share of yes, of each option,
and means scaled to their range. Each peer uses the methods it offers: multi-freq-ldpy splits ε over the attributes
(SPL), samples one attribute (SMP), or samples one and invents the others (RS+FD). It always uses k-ary randomized
response, which its own adaptive rule chooses for so few options. pure-ldp runs once for each question at its part of ε.
A set of options is one attribute for each option. A number is rounded at random to an end of its range, and is then
a yes or no.

RS+FD claims ε for a change of one attribute only. It samples one of d at ε' = ln(d(e^ε − 1) + 1), and a person whose
answers all differ loses all of ε' (2.26 at a nominal 1 with five attributes). So it is not an honest contestant, and
its row says so.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.page import Bars
from benchmarks.peers import make_installed
from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.assure.simulation.trial import population_figure, simulate_tally
from survey_app.authoring import build
from survey_app.figures import FigureKind, Floats
from survey_app.kinds.planning_assumptions import Indices
from survey_app.plan.simulated_people import draw_people
from survey_app.results.survey_document import results

PEOPLE, RUNS, QUICK_RUNS = 3_000, 300, 2
POPULATION = 1_000_000  # in which the true figures are counted: their error is a thousandth of what is compared
QUICK_POPULATION = 20_000
CANDOR = "candor, best blocks"
DISHONEST = "multi-freq-ldpy RS+FD"

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
GOALS = {("nine yes or no", 2): 1.1, ("nine yes or no", 4): 2.0}  # how many times smaller than the best honest peer

Figures = dict[tuple[str, str], float]  # by question and option, means as places from 0 to 1
Contestant = Callable[[dict[str, Indices], np.random.Generator], Figures]


@dataclass(frozen=True)
class Attribute:
    """A categorical attribute for a library that knows only categories: the symbols of all people, and its figures."""

    size: int
    symbols: Indices
    figures: Mapping[int, tuple[str, str]]  # by symbol
    mean: tuple[str, Floats] | None = None  # the question, and the places of its symbols


ShareEstimator = Callable[[Sequence[Attribute]], Sequence[Floats]]  # the shares of all symbols of each


def main(quick: bool) -> list[Bars]:
    """Print the tables and return their charts."""
    runs, people = (QUICK_RUNS, QUICK_POPULATION) if quick else (RUNS, POPULATION)
    return [_table(name, questions, epsilon, runs, people) for name, questions in SURVEYS.items() for epsilon in (2, 4)]


def _table(name: str, questions: str, epsilon: int, runs: int, population: int) -> Bars:
    print(f"\n{name}, ε = {epsilon}, {PEOPLE:,} people: mean squared error × 100,000, {runs} runs")
    best = _build_survey(questions, epsilon, "auto")
    makers = {"multi-freq-ldpy": partial(_multi_freq_ldpy, epsilon), "pure-ldp": partial(_pure_ldp, epsilon)}
    peers, absent = make_installed(makers)
    contestants: dict[str, Contestant] = {
        "candor, everything split": partial(_run_candor, _build_survey(questions, epsilon, "all")),
        "candor, one question a device": partial(_run_candor, _build_survey(questions, epsilon, "one")),
        CANDOR: partial(_run_candor, best),
    }
    for peer in peers:
        contestants |= {name_of_contestant: partial(_run_peer, best, ask) for name_of_contestant, ask in peer.items()}
    errors = _measure_errors(best, contestants, runs, population, np.random.default_rng())
    for name_of_contestant, run_errors in errors.items():
        mean, error = float(np.mean(run_errors)), float(np.std(run_errors, ddof=1)) / math.sqrt(runs)
        note = "" if name_of_contestant == CANDOR else f"{mean_ratio(run_errors, errors[CANDOR])[0]:8.2f} × {CANDOR}"
        if name_of_contestant == DISHONEST:
            note += f"; not {epsilon}-private: a person may lose ε = {total_loss(epsilon, _count_attributes(best)):.2f}"
        print(f"{name_of_contestant:32} {1e5 * mean:8.0f} ± {1e5 * error:<5.1f}{note}")
    honest = [
        run_errors
        for name_of_contestant, run_errors in errors.items()
        if not name_of_contestant.startswith("candor") and name_of_contestant != DISHONEST
    ]
    if honest:
        ratio, error = mean_ratio(min(honest, key=np.mean), errors[CANDOR])
        goal = f" (goal at least {GOALS[name, epsilon]})" if (name, epsilon) in GOALS else ""
        print(f"the best honest peer over candor: ratio {ratio:.2f} ± {error:.2f}{goal}")
    if absent:
        print("not compared:", ", ".join(absent))
    values = tuple(
        (name_of_contestant, mean_ratio(run_errors, errors[CANDOR])[0])
        for name_of_contestant, run_errors in errors.items()
    )
    slug = f"{name.replace(' ', '-')}-{epsilon}"
    return Bars(slug, f"Mean squared error, {name}, ε = {epsilon}", f"× {CANDOR}", values)


def _measure_errors(
    survey: Survey, contestants: Mapping[str, Contestant], runs: int, population: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Return the mean squared errors over all figures, for each contestant and run; a run asks all the same people."""
    true_figures = _true_figures(survey, draw_people(survey, {}, population, rng))
    errors: dict[str, list[float]] = {label: [] for label in contestants}
    for _ in range(runs):
        people = draw_people(survey, {}, PEOPLE, rng)
        for label, ask in contestants.items():
            figures = ask(people, rng)
            errors[label].append(float(np.mean([(figures[key] - true_figures[key]) ** 2 for key in true_figures])))
    return errors


def mean_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> tuple[float, float]:
    """Return the ratio of two means over the same runs, and its standard error."""
    ratio = float(np.mean(numerators) / np.mean(denominators))
    residuals = np.array(numerators) - ratio * np.array(denominators)
    return ratio, float(np.std(residuals, ddof=1) / np.mean(denominators)) / math.sqrt(len(numerators))


def total_loss(epsilon: float, attributes: int) -> float:
    """Return the privacy loss that RS+FD permits for a person whose answers all differ."""
    return math.log(attributes * math.expm1(epsilon) + 1)


def _build_survey(questions: str, epsilon: int, ask: str) -> Survey:
    return build(f"slug: s\ntitle: S\nepsilon: {epsilon}\nask: {ask}\nquestions:\n{questions}".encode()).survey


def _scale_value(question: Question, value: float) -> float:
    low, high = (1.0, float(len(question.labels))) if question.labels else (float(question.min), float(question.max))
    return (value - low) / (high - low)


def _run_candor(survey: Survey, people: dict[str, Indices], rng: np.random.Generator) -> Figures:
    document = results(survey, simulate_tally(survey, people, PEOPLE, rng))
    figures: Figures = {}
    for question, part in zip(survey.questions, document.questions, strict=True):
        for line in part.estimates:
            value = _scale_value(question, line.estimate) if line.kind == "mean" else line.estimate
            figures[question.id, line.option] = value
    return figures


def _true_figures(survey: Survey, people: dict[str, Indices]) -> Figures:
    """Return the true figures of a population."""
    figures: Figures = {}
    for question in survey.questions:
        answers = people[question.id]
        if question.levels or question.type == "scale":
            figures[question.id, "mean"] = _scale_value(
                question, population_figure(question, "mean", FigureKind.MEAN, answers)
            )
        if question.type == "yes_no":
            figures[question.id, "yes"] = population_figure(question, "yes", FigureKind.SHARE, answers)
        elif question.labels and question.type != "scale":
            figures |= {
                (question.id, label): population_figure(question, label, FigureKind.SHARE, answers)
                for label in question.labels
            }
    return figures


def _count_attributes(survey: Survey) -> int:
    """Return the number of attributes that a survey has in a library that knows only categories."""
    return sum(len(question.labels) if question.type == "multiple" else 1 for question in survey.questions)


def _make_attributes(survey: Survey, people: dict[str, Indices], rng: np.random.Generator) -> list[Attribute]:
    attributes: list[Attribute] = []
    for question in survey.questions:
        answers = people[question.id]
        if question.levels:
            high = (rng.random(len(answers)) < answers / question.steps).astype(np.int64)
            attributes.append(Attribute(2, high, {}, (question.id, np.array([0.0, 1.0]))))
        elif question.type == "multiple":
            for i, label in enumerate(question.labels):
                attributes.append(Attribute(2, answers >> i & 1, {1: (question.id, label)}))
        elif question.type == "scale":
            places = np.linspace(0, 1, len(question.labels))
            attributes.append(Attribute(question.size, answers, {}, (question.id, places)))
        else:
            figures = {i: (question.id, label) for i, label in enumerate(question.labels)}
            attributes.append(Attribute(question.size, answers, figures))
    return attributes


def _run_peer(survey: Survey, ask: ShareEstimator, people: dict[str, Indices], rng: np.random.Generator) -> Figures:
    attributes = _make_attributes(survey, people, rng)
    figures: Figures = {}
    for attribute, shares in zip(attributes, ask(attributes), strict=True):
        figures |= {key: float(shares[symbol]) for symbol, key in attribute.figures.items()}
        if attribute.mean:
            question, places = attribute.mean
            figures[question, "mean"] = float(places @ shares)
    return figures


def _multi_freq_ldpy(epsilon: int) -> dict[str, ShareEstimator]:
    from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution, SPL_solution

    def run(client: Callable[..., object], aggregate: Callable[..., Sequence[Floats]]) -> ShareEstimator:
        def ask(attributes: Sequence[Attribute]) -> Sequence[Floats]:
            sizes = [attribute.size for attribute in attributes]
            rows = np.stack([attribute.symbols for attribute in attributes], axis=1)
            reports = [client(row, sizes, len(sizes), epsilon) for row in rows]
            with warnings.catch_warnings(action="ignore"):
                return aggregate(reports, sizes, len(sizes), epsilon)

        return ask

    return {
        "multi-freq-ldpy SPL (GRR)": run(SPL_solution.SPL_GRR_Client, SPL_solution.SPL_GRR_Aggregator_MI),
        "multi-freq-ldpy SMP (GRR)": run(SMP_solution.SMP_GRR_Client, SMP_solution.SMP_GRR_Aggregator_MI),
        DISHONEST: run(RSpFD_solution.RSpFD_GRR_Client, RSpFD_solution.RSpFD_GRR_Aggregator_MI),
    }


def _pure_ldp(epsilon: int) -> dict[str, ShareEstimator]:
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
