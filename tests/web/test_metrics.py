"""Figures for the operator of the server: with its token only, and nothing that tells of a single report."""

import re
import secrets
from itertools import pairwise

import pytest

from survey_app.store import State
from survey_app.store.steps import STEP
from tests.definitions import simple
from tests.fixtures import TOKEN, Installation, check_refused, check_stored, make_report

SECRET = secrets.token_urlsafe(20)
MINE = {"Authorization": f"Bearer {SECRET}"}


@pytest.fixture
def watched(installation: Installation) -> Installation:
    installation.app.config["METRICS_TOKEN"] = SECRET
    return installation


def read(installation: Installation) -> str:
    """What is told, but for the memory, which moves by itself."""
    response = installation.client.get("/metrics", headers=MINE)
    assert (response.status_code, response.content_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert response.headers["Cache-Control"] == "no-store"
    text, count = re.subn(r"^candor_worker_memory_bytes \d+$", "", response.text, flags=re.MULTILINE)
    assert count == 1
    return text


def shown(text: str, slug: str = "exam") -> int:
    return int(re.search(rf'^candor_reports_shown{{survey="{slug}"}} (\d+)$', text, re.MULTILINE)[1])  # type: ignore[index]


def test_without_a_token_of_the_server_there_are_none(installation: Installation) -> None:
    for headers in ({}, MINE, {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}):
        check_refused(installation.client.get("/metrics", headers=headers), "not_found")


def test_only_that_token_opens_them(watched: Installation) -> None:
    for said in ("", SECRET, f"Basic {SECRET}", f"Bearer {SECRET}x", f"Bearer {TOKEN}", "Bearer ünï"):
        check_refused(watched.client.get("/metrics", headers={"Authorization": said}), "unauthorized")
    assert shown(read(watched) if watched.publish() else "") == 0


def test_they_can_be_read_by_prometheus_and_name_surveys_by_slug_alone(watched: Installation) -> None:
    for slug, state in (("exam", State.OPEN), ("later", State.READY), ("over", State.CLOSED)):
        watched.publish(simple() | {"slug": slug}, state=state)
    text = read(watched)
    line = r'# (HELP|TYPE) candor_\w+ .+|candor_\w+(\{\w+="[^"\\\n]*"\})? \d+|'
    assert all(re.fullmatch(line, one) for one in text.split("\n"))
    for told in (
        'candor_surveys{state="ready"} 1',
        'candor_surveys{state="paused"} 0',
        'candor_surveys{state="closed"} 1',
    ):
        assert told in text
    assert "later" not in text and (shown(text), shown(text, "over")) == (0, 0)
    kinds = set(re.findall(r"^(candor_\w+)", text, re.MULTILINE))
    assert kinds == {"candor_info", "candor_surveys", "candor_reports_shown", "candor_worker_start_seconds"}


def test_polled_after_every_report_nothing_in_them_moves_but_in_steps(watched: Installation) -> None:
    published = watched.publish()
    states = [read(watched)]
    for _ in range(4 * STEP):
        check_stored(watched.post(make_report(published)))
        if (state := read(watched)) != states[-1]:
            states.append(state)
    counts = [shown(state) for state in states]
    assert counts[0] == 0 and len(counts) > 2
    assert all(later - earlier >= STEP for earlier, later in pairwise(counts))
