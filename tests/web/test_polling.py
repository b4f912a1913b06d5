"""A reader who polls every address of the server never sees two states that differ by fewer than twenty reports."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from candor_client import Report
from survey_app.store import PublishedSurvey, State, opened_version, tally_row
from tests.answers import all_answers
from tests.definitions import worked_example
from tests.fixtures import TOKEN, Installation
from tests.polling import History, TooClose, Watch
from tests.sign_in import signed_in
from tests.store.test_polling import all_at_once

EVENTS = 12
Seen = tuple[int, Any]  # how many reports, and which figures


def of_json(key: str) -> Callable[[str], Seen]:
    def read(text: str) -> Seen:
        found = json.loads(text)
        return found[key], None if key == "count" else found

    return read


def of_count(text: str) -> Seen:
    return json.loads(text)["reports"], None  # beside it stands the state, which may change


def of_table(text: str) -> Seen:
    lines = list(csv.DictReader(io.StringIO(text)))
    return max([0, *(int(line["n"]) for line in lines if line["n"])]), lines


def of_bits(text: str) -> Seen:
    return len(text.splitlines()) - 1, text


def of_page(text: str) -> Seen:
    found = re.search(r'data-reports="(\d+)"', text)
    assert found is not None
    text = re.sub(r"fewer than [\d,]+", "0", text)  # how many follows from the state
    return int(found[1]), re.findall(r"<td.*?</td>|<data.*?</data>|<svg.*?</svg>", text, re.DOTALL)


NONE = ("fewer than ", "no")  # is shown
NUMBER = r"[\d,]+|fewer than [\d,]+|no"
SHOWN = rf"data-shown[^>]*>({NUMBER})</"


def of_words(pattern: str) -> Callable[[str], Seen]:
    def read(text: str) -> Seen:
        found = re.search(pattern, text, re.DOTALL)
        assert found is not None, text
        return 0 if found[1].startswith(NONE) else int(found[1].replace(",", "")), None

    return read


ADDRESSES: dict[str, Callable[[str], Seen]] = {
    "/api/surveys/{slug}/results?digest={digest}": of_json("reports"),
    "/api/surveys/{slug}/crosstab?rows=cheated&columns=help&digest={digest}": of_json("n"),
    "/results/{slug}?digest={digest}": of_page,
    "/results/{slug}?rows=cheated&columns=help&digest={digest}": of_page,
    "/results/{slug}.csv?digest={digest}": of_table,
    "/results/{slug}/count?digest={digest}": of_count,
    "/results/{slug}/reports.csv?digest={digest}": of_bits,
    "/results/{slug}/reports.ndjson?digest={digest}": of_bits,
    "/console/{slug}?digest={digest}": of_words(SHOWN),
}
OF_A_NAME: dict[str, Callable[[str, str], Seen]] = {  # of a survey or of a study, in the version that collects
    "/console": lambda text, name: of_words(rf'href="/console/{name}">.*?{SHOWN}')(text),
    "/account": lambda text, name: of_words(rf'href="/console/{name}">.*?{SHOWN}')(text),
    "/console/{slug}/close": lambda text, _: of_words(SHOWN)(text),
    "/console/{slug}/delete": lambda text, _: of_words(SHOWN)(text),
    "/results/{name}": lambda text, _: of_page(text),
    "/results/{name}/count": lambda text, _: of_count(text),
}
OF_A_STUDY: dict[str, Callable[[str, str], Seen]] = {
    **OF_A_NAME,
    "/api/surveys/{name}/results": lambda text, _: (
        sum(group["reports"] for group in json.loads(text)["groups"]), json.loads(text)
    ),
    "/console/{name}": lambda text, _: ADDRESSES["/console/{slug}?digest={digest}"](text),
}  # fmt: skip


class Polled(History):
    """A history whose reports come by HTTP, one by one."""

    installation: Installation

    def send(self, published: PublishedSurvey, made: list[Report]) -> Sequence[str]:
        path = f"/api/surveys/{published.survey.slug}/reports"
        replies = [self.installation.client.post(path, data=report.to_json()).get_json() for report in made]
        return [reply.get("status") if isinstance(reply["status"], str) else reply["code"] for reply in replies]


def look(installation: Installation, owner: FlaskClient, watch: Watch, known: Sequence[PublishedSurvey]) -> None:
    """All addresses, as the owner sees them; results that are public look the same to everybody."""
    assert installation.client.get("/healthz").json == {"status": "ok"}
    installation.app.config["METRICS_TOKEN"] = TOKEN
    metrics = installation.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    for one in known:
        published = installation.store.version(one.survey.slug, one.survey.digest)
        if published is None or published.state is State.READY:
            continue
        if published == installation.store.newest_version(one.survey.slug):
            pattern = rf'candor_reports_shown{{survey="{one.survey.slug}"}} (\d+)'
            watch.see(one.key, "/metrics", *of_words(pattern)(metrics))
        for address, read in ADDRESSES.items():
            path = address.format(slug=one.survey.slug, digest=one.survey.digest)
            reply = owner.get(path)
            assert reply.status_code in (200, 400), path  # 400 is a page that says why there is no cross-tab yet
            watch.see(one.key, address, *read(reply.text))
            if published.terms.public and address.startswith(("/api", "/results")) and "reports." not in address:
                watch.see(one.key, address, *read(installation.client.get(path).text))
    for name in {one.survey.study or one.survey.slug for one in known}:
        groups = installation.store.study(name)
        newest = groups or [one for one in [opened_version(installation.store, name)] if one]
        if not newest or newest[0].state is State.READY:
            continue
        for address, tell in (OF_A_STUDY if groups else OF_A_NAME).items():
            reply = owner.get(address.format(name=name, slug=newest[0].survey.slug))
            assert reply.status_code == 200
            watch.see(tuple(one.key for one in newest), address, *tell(reply.text, name))


def pass_over(installation: Installation, events: int) -> Watch:
    watch, owner = Watch(), signed_in(installation.app)
    definition = worked_example()
    history = Polled(
        installation.store,
        installation.owner.key,
        lambda passed: look(installation, owner, watch, passed.published[-4:]),
        definition,
        all_answers(definition),
    )
    history.installation = installation
    history.run(events)
    return watch


@pytest.mark.slow
def test_no_address_shows_fewer_than_twenty_newcomers(installation: Installation) -> None:
    watch = pass_over(installation, EVENTS)
    assert any(len(counts) > 1 for counts in watch.counts.values())


@pytest.mark.slow
def test_the_rule_of_before_is_caught_by_http_too(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A history begins with 45 reports and closes all it has at its end; that no survey then shows 1 to 19 more has a
    chance below a tenth, in four histories below 1e-4."""
    monkeypatch.setattr(tally_row, "choose_pending", all_at_once)
    with pytest.raises(TooClose):
        for _ in range(4):
            pass_over(installation, 4)
