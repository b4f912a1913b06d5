"""The sample survey, answered by simulated respondents.

Its questions are in examples/campus.yaml, its respondents' assumed answers in examples/campus-truth.yaml.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from candor_client.definition import Survey
from survey_app.accounts import add_user, hash_password
from survey_app.assure.simulation import devices
from survey_app.assure.simulation.example_files import folder
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.kinds.planning_assumptions import Generator, Indices
from survey_app.plan.simulated_people import draw_people
from survey_app.store import Member, PublishedSurvey, Store, Submission

NAME = "demo"
CHUNK = 1000


def prepare(store: Store) -> tuple[PublishedSurvey, str]:
    """Return the sample survey, published if it is not yet, and a new password for the account that owns it.

    Each run has its own password.
    """
    password = secrets.token_urlsafe(12)
    user = store.user_by_name(NAME)
    if user is None:
        user = add_user(store, NAME, password)
    else:
        store.set_password(user, hash_password(password, NAME), keep_tokens=True)
    file = example_path("campus.yaml")
    survey = build_file(file).survey
    published = store.version(survey.slug, survey.digest)
    if published is None:  # also if an earlier Candor had other questions: they become an older version
        member = Member(survey, Terms(public=True))
        published = store.add_surveys([member], owner=user.key, source=file.read_bytes())[0]
    return published, password


def draw_demo_answers(survey: Survey, count: int, rng: Generator) -> dict[str, Indices]:
    """Return the answers of `count` simulated respondents, as indices for each question."""
    truth = YAML(typ="safe", pure=True).load(example_path("campus-truth.yaml").read_text())
    return draw_people(survey, truth, count, rng)


def simulate_submissions(published: PublishedSurvey, count: int) -> Iterator[list[Submission]]:
    """Yield the reports of `count` simulated respondents, in lists of at most `CHUNK`."""
    rng = np.random.default_rng()
    people = draw_demo_answers(published.survey, count, rng)
    for rows in devices.reports(published.survey, people, rng):
        submissions = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
        yield from (submissions[i : i + CHUNK] for i in range(0, len(submissions), CHUNK))


def example_path(name: str) -> Path:
    """Return the path of an example file."""
    return folder() / name
