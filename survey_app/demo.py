"""A sample survey with simulated respondents: each answers like a person and is randomized by the real client."""

import secrets
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from client.definition import Question, Survey
from client.report import randomize
from survey_app.accounts import add_user
from survey_app.authoring import build_file
from survey_app.store import Published, State, Store, Submission

NAME = "demo"
CHUNK = 200


def prepare(store: Store) -> tuple[Published, str | None]:
    """The sample survey, and a new password if the demo's account was made just now."""
    user, password = store.user_named(NAME), None
    if user is None:
        password = secrets.token_urlsafe(12)
        user = add_user(store, NAME, password)
    draft = build_file(_sample())
    draft = replace(draft, opens=None, closes=None)
    published = store.newest(draft.survey.slug)
    if published is None:
        published = store.add_survey(
            draft.survey, owner=user.key, state=State.OPEN, public=True,
            opens=None, closes=None, max_reports=None, invited=False,
        )  # fmt: skip
    return published, password


def respondents(published: Published, count: int) -> Iterable[list[Submission]]:
    """Reports of made-up people, some at a time."""
    made: list[Submission] = []
    for _ in range(count):
        report = randomize(published.survey, person(published.survey))
        made.append(Submission(published.key, report.id, report.bits))
        if len(made) == CHUNK:
            yield made
            made = []
    if made:
        yield made


def person(survey: Survey) -> dict[str, Any]:
    """Answers of one made-up person: earlier options are likelier than later ones."""
    return {question.id: _answer(question) for question in survey.questions}


def _answer(question: Question) -> Any:
    dice = secrets.SystemRandom()
    if question.optional and dice.random() < 0.1:
        return None
    if question.type == "yes_no":
        return dice.random() < 0.2
    if question.type == "multiple":
        return [label for label in question.labels if dice.random() < 0.3]
    if question.type == "number":
        steps = min(int(dice.betavariate(2, 4) * (question.steps + 1)), question.steps)
        return question.min + steps * question.step
    return dice.choices(question.labels, [1 / (i + 1) for i in range(len(question.labels))])[0]


def _sample() -> Path:
    package = Path(__file__).parent
    places = (package / "examples" / "campus.yaml", package.parent / "examples" / "campus.yaml")
    return next(path for path in places if path.exists())
