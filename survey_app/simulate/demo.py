"""The sample survey, answered by made-up people.

What it asks stands in examples/campus.yaml, what its people would say in examples/campus-truth.yaml.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from client.definition import Survey
from survey_app.accounts import add_user, hash_password
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.kinds.assumptions import Generator, Indices
from survey_app.plan.people import draw_people
from survey_app.simulate import devices
from survey_app.simulate.examples import folder
from survey_app.store import Member, Published, Store, Submission

NAME = "demo"
CHUNK = 1000


def prepare(store: Store) -> tuple[Published, str]:
    """The sample survey, and a new password for the account that owns it: each run has its own."""
    password = secrets.token_urlsafe(12)
    user = store.user_named(NAME)
    if user is None:
        user = add_user(store, NAME, password)
    else:
        store.set_password(user, hash_password(password, NAME), keep_tokens=True)
    file = sample("campus.yaml")
    survey = build_file(file).survey
    published = store.version(survey.slug, survey.digest)
    if published is None:  # also where an earlier Candor asked other questions: they become an older version
        member = Member(survey, Terms(public=True))
        published = store.add_surveys([member], owner=user.key, source=file.read_bytes())[0]
    return published, password


def people_of(survey: Survey, count: int, rng: Generator) -> dict[str, Indices]:
    """What so many made-up people would say."""
    truth = YAML(typ="safe", pure=True).load(sample("campus-truth.yaml").read_text())
    return draw_people(survey, truth, count, rng)


def respondents(published: Published, count: int) -> Iterator[list[Submission]]:
    """Reports of made-up people, some at a time."""
    rng = np.random.default_rng()
    people = people_of(published.survey, count, rng)
    for rows in devices.reports(published.survey, people, rng):
        made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
        yield from (made[i : i + CHUNK] for i in range(0, len(made), CHUNK))


def sample(name: str) -> Path:
    """A file of the examples, beside the package or in it."""
    return folder() / name
