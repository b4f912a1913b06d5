"""The sample survey: what METHODS promises of it, valid reports, a password for each run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from candor_client.report import unpack
from candor_client.verify import verify
from survey_app.accounts import check_password
from survey_app.assure.simulation import demo_survey
from survey_app.authoring import build, build_file
from survey_app.channels.posterior import posterior_bound
from survey_app.plan.forecast import forecast_survey
from survey_app.plan.target import Settings
from survey_app.store import State
from survey_app.store.sqlite import SqliteStore
from tests.definitions import simple, survey
from tests.fixtures import add as publish


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "candor.db")
    made.migrate()
    yield made
    made.close()


def test_a_second_run_reuses_what_is_there_with_a_new_password(store: SqliteStore) -> None:
    first, old = demo_survey.prepare(store)
    again, new = demo_survey.prepare(store)
    user = store.user_by_name(demo_survey.NAME)
    assert user is not None
    assert first == again
    assert check_password(user, new)
    assert not check_password(user, old)
    assert store.source(first) == demo_survey.example_path("campus.yaml").read_bytes()


def test_a_sample_of_before_becomes_an_older_version(store: SqliteStore) -> None:
    """It asked other questions than the people of today can answer."""
    user = store.add_user(demo_survey.NAME, "no password opens this")
    publish(store, survey(simple() | {"slug": "campus"}), owner=user.key)
    published, _ = demo_survey.prepare(store)
    assert published == store.newest_version("campus")
    assert published.state is State.OPEN
    assert sum(len(made) for made in demo_survey.simulate_submissions(published, 20)) == 20


def test_the_people_of_the_sample_send_possible_bits(store: SqliteStore) -> None:
    published, _ = demo_survey.prepare(store)
    made = [one for some in demo_survey.simulate_submissions(published, 1234) for one in some]
    assert len({one.id for one in made}) == len(made) == 1234
    for one in made:
        unpack(published.survey, one.bits)


def test_the_sample_keeps_one_in_twenty_below_28_percent() -> None:
    sample = build_file(demo_survey.example_path("campus.yaml")).survey
    assert float(verify(sample)) == pytest.approx(2)
    assert posterior_bound(1 / 20, 2) == pytest.approx(0.28, abs=0.001)


def test_the_sample_has_every_type_of_question_a_follow_up_and_one_planned_pair_in_six_blocks() -> None:
    built = build_file(demo_survey.example_path("campus.yaml"))
    questions, fields = built.survey.questions, built.survey.fields
    assert {question.type for question in questions} == {"yes_no", "choice", "scale", "multiple", "number"}
    assert [question.id for question in questions if question.show_if] == ["why"]
    assert [[question.id for question in field.questions] for field in fields] == [
        ["cheated", "stress"], ["why"], ["fair"], ["hours"], ["help"], ["used"],
    ]  # fmt: skip
    assert [round(field.chance / 1000) for field in fields] == [194, 106, 123, 103, 157, 317]
    assert (built.terms.opens, built.terms.closes, built.terms.max_reports) == (None, None, None)


def test_3000_people_give_6_points_where_a_split_budget_gives_11_to_22() -> None:
    source = demo_survey.example_path("campus.yaml").read_bytes()
    settings = Settings(respondents=3000, margin=0.05)

    def margins(source: bytes) -> list[float]:
        lines = forecast_survey(build(source).survey, settings)
        return [line.margin / line.width for line in lines if line.type != "scale" or not line.is_share]

    assert all(0.06 < margin < 0.063 for margin in margins(source))
    assert all(0.1 < margin < 0.22 for margin in margins(source.replace(b"ask: auto", b"ask: all")))
