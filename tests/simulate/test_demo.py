"""The sample survey: every kind of question, valid reports, a password for each run."""

from pathlib import Path

from client.report import unpack
from survey_app.accounts import check_password
from survey_app.simulate import demo
from survey_app.store.sqlite import SqliteStore


def test_a_second_run_reuses_what_is_there_with_a_new_password(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "candor.db")
    store.migrate()
    first, old = demo.prepare(store)
    again, new = demo.prepare(store)
    user = store.user_named(demo.NAME)
    assert user is not None
    assert first == again
    assert check_password(user, new)
    assert not check_password(user, old)
    assert store.source(first) == demo.sample("campus.yaml").read_bytes()


def test_the_sample_has_every_kind_of_question_and_its_people_send_possible_bits(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "candor.db")
    store.migrate()
    published, _ = demo.prepare(store)
    assert {question.type for question in published.survey.questions} == {
        "yes_no", "choice", "scale", "multiple", "number",
    }  # fmt: skip
    made = [one for some in demo.respondents(published, 1234) for one in some]
    assert len({one.id for one in made}) == len(made) == 1234
    for one in made:
        unpack(published.survey, one.bits)
