import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from tests.browser import Site
from tests.fixtures import Installation, build
from tests.javascript import QUIET_CHROMIUM, Chromium, Files, Node, find_chromium
from tests.postgres import Postgres
from tests.route_cache import write_routes_once
from tests.scripted_server import Server

settings.register_profile("patient", deadline=None)  # a busy machine is slow, and no test is about time
settings.load_profile("patient")
write_routes_once()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for a browser, by whichever fixture, is marked `browser`: `make check` leaves it out."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the ledger of whoever runs it."""
    monkeypatch.setenv("CANDOR_LEDGER", str(tmp_path / "default-ledger.json"))


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """A store, and the app upon it by the door of production."""
    built = build(tmp_path)
    yield built
    built.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL for this worker, started when it is needed first."""
    running = Postgres()
    yield running
    running.stop()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """The real app, and a record of what reaches it."""
    running = Site(tmp_path)
    yield running
    running.close()


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """The JavaScript client in node."""
    running = Node()
    yield running
    running.close()


@pytest.fixture(scope="session")
def files() -> Iterator[Files]:
    """The working tree over http."""
    running = Files()
    yield running
    running.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser; where there is none the tests are skipped, but never in CI."""
    path = find_chromium()
    if path is None:
        message = "Chromium is missing; on Debian: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=path, args=QUIET_CHROMIUM, chromium_sandbox=os.geteuid() != 0
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def chromium(browser: Browser, files: Files) -> Iterator[Chromium]:
    """The JavaScript client in Chromium."""
    page = browser.new_page()
    yield Chromium(page, files.origin)
    page.close()
