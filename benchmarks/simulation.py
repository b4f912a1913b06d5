"""Measure reports of simulated people by the million (`survey_app/assure/simulation/`) beside the real client.

Both begin with answers to the worked example and end with noisy bits. The client draws from the generator of the
operating system, the simulation from numpy's, so no real device may use it. Rounds alternate; the best counts.
"""

import time
from pathlib import Path

import numpy as np

from benchmarks.page import Bars
from candor_client import randomize
from survey_app.assure.simulation import devices
from survey_app.authoring import build_file
from survey_app.plan.simulated_people import draw_people

PEOPLE, ONE_BY_ONE, ROUNDS = 10**6, 5_000, 3
QUICK, QUICK_ONE_BY_ONE = 2_000, 50
SAMPLE = Path(__file__).parent.parent / "examples" / "exam.yaml"
ANSWERS = {"cheated": True, "help": "notes", "hours": 12}


def main(quick: bool) -> list[Bars]:
    """Print the table and return its chart."""
    people, client_reports = (QUICK, QUICK_ONE_BY_ONE) if quick else (PEOPLE, ONE_BY_ONE)
    survey = build_file(SAMPLE).survey
    rng = np.random.default_rng()
    print(f"\nSimulation: {people:,} devices of the worked example, best of {ROUNDS} alternating rounds")
    rates = {"the real client": 0.0, "simulated devices": 0.0, "made-up people and their devices": 0.0}
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(client_reports):
            randomize(survey, ANSWERS)
        ends = [time.perf_counter()]
        answers = draw_people(survey, {}, people, rng)
        ends.append(time.perf_counter())
        report_count = sum(len(rows) for rows in devices.reports(survey, answers, rng))
        ends.append(time.perf_counter())
        round_rates = (
            client_reports / (ends[0] - start),
            report_count / (ends[2] - ends[1]),
            report_count / (ends[2] - ends[0]),
        )
        rates = {name: max(best, rate) for (name, best), rate in zip(rates.items(), round_rates, strict=True)}
    client = rates["the real client"]
    for name, rate in rates.items():
        print(f"{name:34} {rate:12,.0f} reports/s {rate / client:8.1f} × the client's")
    values = tuple((name, rate / client) for name, rate in rates.items())
    return [Bars("simulation", "Reports a second, simulated", "× the client's", values)]
