"""The idea in eighty lines: its coins are exact, its interval holds, its file has no order, and a browser flips alike."""

import ast
import json
import re
import runpy
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser
from scipy.stats import binom
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.browser import visit
from tests.examples.studies import FOLDER, ROOT

FILE = FOLDER / "minimal.py"
TEXT = FILE.read_text()
MINIMAL: Any = runpy.run_path(str(FILE))
KEEP = 192


class _Quiet(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "minimal.db"


@pytest.fixture
def origin(path: Path) -> Iterator[str]:
    """The address of the server, on a free port."""
    server = make_server("127.0.0.1", 0, MINIMAL["create_app"](str(path)), request_handler=_Quiet)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def counts(path: Path) -> dict[int, int]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("select bit, n from bits"))


def app_client(path: Path) -> FlaskClient:
    made: FlaskClient = MINIMAL["create_app"](str(path)).test_client()
    return made


def test_it_is_at_most_eighty_lines_on_four_libraries() -> None:
    assert len(TEXT.splitlines()) <= 80
    tops = {
        (one.module if isinstance(one, ast.ImportFrom) else name.name).partition(".")[0]  # type: ignore[union-attr]
        for one in ast.walk(ast.parse(TEXT))
        if isinstance(one, ast.Import | ast.ImportFrom)
        for name in one.names
    }
    assert tops == {"secrets", "contextlib", "urllib", "flask", "jinja2", "numpy", "sqlite_utils"}


def test_the_modules_that_it_names_are_there_and_readme_and_index_name_it() -> None:
    named = re.findall(r"\b(?:client|static|survey_app|templates)/[\w/]*(?:\.py)?", TEXT)
    assert len(named) >= 12 and not [name for name in named if not (ROOT / name).exists()]
    assert "[minimal.py](minimal.py)" in (FOLDER / "README.md").read_text()
    assert "(examples/minimal.py)" in (ROOT / "README.md").read_text().partition("\n## ")[0]


def test_a_bit_leaves_unchanged_for_exactly_192_of_256_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in (True, False):
        sent = []
        for coin in range(256):
            monkeypatch.setattr(secrets, "randbelow", lambda size, coin=coin: coin if size == 256 else 1 / 0)
            sent.append(MINIMAL["randomize"](answer))
        assert sent.count(int(answer)) == KEEP and {*sent} == {0, 1}
    assert MINIMAL["P"] / MINIMAL["Q"] == 3, "which is e^ε"


def test_the_interval_holds_for_every_share_and_from_the_first_report_on() -> None:
    """Exact coverage, summed over all counts; the same sum finds the usual normal interval wanting."""
    p, q = MINIMAL["P"], MINIMAL["Q"]
    worst = {"hoeffding": 1.0, "normal": 1.0}
    for n in (1, 2, 3, 5, 10, 39, 100, 500):
        ones = np.arange(n + 1)
        all_of_them = np.array([MINIMAL["estimate"](int(count), n) for count in ones])
        seen = ones / n
        margin = 1.96 * np.sqrt(seen * (1 - seen) / n)
        ends = {
            "hoeffding": (all_of_them[:, 1], all_of_them[:, 2]),
            "normal": ((seen - margin - q) / (p - q), (seen + margin - q) / (p - q)),
        }
        for share in np.linspace(0, 1, 101):
            chance = binom.pmf(ones, n, q + share * (p - q))
            for name, (low, high) in ends.items():
                within = (low <= share + 1e-12) & (share - 1e-12 <= high)
                worst[name] = min(worst[name], float(chance[within].sum()))
    assert worst["hoeffding"] >= 0.95
    assert worst["normal"] < 0.8, "the test can fail"


def test_the_estimate_turns_the_noise_back() -> None:
    for share in (0.0, 0.2, 1.0):
        ones = round(1000 * (MINIMAL["Q"] + share * (MINIMAL["P"] - MINIMAL["Q"])))
        found, low, high = MINIMAL["estimate"](ones, 1000)
        assert found == pytest.approx(share) and 0 <= low <= found <= high <= 1


def test_answers_of_a_program_reach_the_results_as_noisy_bits(origin: str, path: Path) -> None:
    page = MINIMAL["urlopen"]
    with page(f"{origin}/results") as reply:
        assert "0 of 0" in reply.read().decode() and reply.status == 200
    for person in range(60):
        MINIMAL["respond"](origin, person % 3 == 0)
    kept = counts(path)
    assert kept[0] + kept[1] == 60
    with page(f"{origin}/results") as reply:
        shown = " ".join(reply.read().decode().split())
    share, low, high = (f"{one:.1%}" for one in MINIMAL["estimate"](kept[1], 60))
    assert f"{kept[1]} of 60 reports" in shown and f"{share}, 95% interval {low} to {high}" in shown


def test_the_file_is_the_same_whatever_came_first(tmp_path: Path) -> None:
    files = []
    for name, bits in {"one": (0, 1, 1, 0, 1), "other": (1, 1, 1, 0, 0)}.items():
        asked = app_client(tmp_path / name)
        assert [asked.post("/reports", json={"bit": bit}).status_code for bit in bits] == [201] * 5
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] and counts(tmp_path / "one") == {0: 2, 1: 3}


@pytest.mark.parametrize("body", ['{"bit": 2}', '{"bit": 0.5}', '{"bit": 1, "name": "ada"}', "[1]", "{}", "1", "{"])
def test_nothing_but_a_bit_is_stored(path: Path, body: str) -> None:
    asked = app_client(path)
    assert asked.post("/reports", data=body, content_type="application/json").status_code == 400
    assert counts(path) == {0: 0, 1: 0}


@pytest.mark.essential
@pytest.mark.parametrize(("coin", "sent"), [(KEEP - 1, 1), (KEEP, 0)], ids=["kept", "turned"])
def test_a_browser_flips_by_the_same_threshold_and_sends_one_bit(
    origin: str, path: Path, browser: Browser, coin: int, sent: int
) -> None:
    """The coin is given here: the last that leaves a yes as it is, and the first that turns it."""
    given = f"crypto.getRandomValues = (bytes) => {{ window.drawn = bytes; return bytes.fill({coin}); }};"
    with visit(browser, init=given) as device:
        page = device.open(f"{origin}/")
        page.get_by_role("button", name="Yes").click()
        page.get_by_text("Sent: yes." if sent else "Sent: no.").wait_for()
        assert page.evaluate("[drawn.constructor.name, drawn.length]") == ["Uint8Array", 1]
        assert page.locator("button:enabled").count() == 0
        (report,) = device.requests_of("POST")
        assert json.loads(report.post_data or "") == {"bit": sent}
        assert not [one for one in device.complaints if "favicon" not in one and "404" not in one]
        page.goto(f"{origin}/results")
        assert f"{sent} of 1 reports" in page.inner_text("p")
    assert counts(path) == {sent: 1, 1 - sent: 0}


def test_a_browser_flips_by_itself_and_without_scripts_sends_nothing(origin: str, path: Path, browser: Browser) -> None:
    with visit(browser) as device:
        device.open(f"{origin}/").get_by_role("button", name="No").click()
        device.page.get_by_text(re.compile("Sent: (yes|no)")).wait_for()
    assert sum(counts(path).values()) == 1
    with visit(browser, java_script_enabled=False) as device:
        device.open(f"{origin}/").get_by_role("button", name="No").click()
        assert device.requests_of("POST") == []
    assert sum(counts(path).values()) == 1
