import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from tests.browser import Site
from tests.fixtures import Installation, build
from tests.golden_files import OPTION, Golden, Rewriting, file_of
from tests.javascript import QUIET_CHROMIUM, Chromium, Files, Node, find_chromium
from tests.postgres import Postgres
from tests.route_cache import write_routes_once
from tests.scripted_server import Server

settings.register_profile("patient", deadline=None)  # a busy machine is slow, and no test is about time
settings.load_profile("patient")
write_routes_once()


REWRITING = pytest.StashKey[Rewriting]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which `python -m tests.golden_files` runs."""
    parser.addoption(OPTION, action="store_true", help="write tests/golden instead of comparing with it")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to write golden files in CI: there they are compared."""
    if config.getoption(OPTION) and os.environ.get("CI"):
        raise pytest.UsageError(f"{OPTION} is refused in CI")
    config.stash[REWRITING] = Rewriting()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures: `browser` and `golden`. A test in a browser is slow, unless it is essential."""
    for item in items:
        for fixture in ("browser", "golden"):
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(fixture)
        if item.get_closest_marker("browser") and not item.get_closest_marker("essential"):
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember which tests did not pass: their golden sections stay as they are."""
    report = yield
    if not report.passed:
        unfinished = item.config.stash[REWRITING].unfinished
        unfinished.setdefault(file_of(item.path), set()).add(item.name.split(" ")[0])
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the golden files where that was asked for; each worker has whole modules."""
    if session.config.getoption(OPTION):
        session.config.stash[REWRITING].write()


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Golden:
    """Return the comparison with the golden file of this module of tests, in the section of this test."""
    file, rewrites = file_of(request.path), bool(request.config.getoption(OPTION))
    texts = request.config.stash[REWRITING].texts(file)
    return Golden(request.node.name, file, tmp_path, texts, rewrites=rewrites)


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
