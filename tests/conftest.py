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
    """Mark every test that uses a browser, by any fixture, as `browser`: `make check` leaves it out."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the ledger of the person who runs it."""
    monkeypatch.setenv("CANDOR_LEDGER", str(tmp_path / "default-ledger.json"))


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield a store and its app, reached through the RSGI adapter as in production."""
    built = build(tmp_path)
    yield built
    built.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Yield a PostgreSQL for this worker, started at its first use."""
    running = Postgres()
    yield running
    running.stop()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Yield the real app with a record of the requests that reach it."""
    running = Site(tmp_path)
    yield running
    running.close()


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """Yield the JavaScript client in node."""
    running = Node()
    yield running
    running.close()


@pytest.fixture(scope="session")
def files() -> Iterator[Files]:
    """Yield the working tree over http."""
    running = Files()
    yield running
    running.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a real browser; where there is none, skip the test, but never in CI."""
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
    """Yield the JavaScript client in Chromium."""
    page = browser.new_page()
    yield Chromium(page, files.origin)
    page.close()
