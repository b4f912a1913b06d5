"""A real browser in front of the real app: the requests that the browser sent, and those that the server received.

`Site` serves the app on a free port and keeps every request that reaches it, also beacons that a browser sends while it
leaves a page and does not report. `Visit` is one person's device: a browser context with its own storage.
"""

import contextlib
import functools
import re
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from playwright.sync_api import Request as BrowserRequest
from werkzeug.serving import WSGIRequestHandler, make_server

from candor_client import Survey
from candor_client.report import to_base64url
from survey_app.store import PublishedSurvey
from tests.fixtures import build
from tests.rsgi_client import wrap_in_wsgi

ROOT = Path(__file__).parent.parent
CAMPUS = ROOT / "tests" / "campus.yaml"  # one question of every kind
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}}
ZOOMED: dict[str, Any] = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}  # 1280 px at 200%
DESKTOP: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PATIENCE = 60_000  # ms for whatever a page has to show: a busy machine is slow, and only what is wrong never comes
BY_LOOK = ("color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size")
LOOKS = {  # what every page has to stand: contrast hangs on the scheme and layout on the size, so two of four suffice
    "phone-light": PHONE | {"color_scheme": "light"},
    "zoomed-dark": ZOOMED | {"color_scheme": "dark"},
    "desktop-dark": DESKTOP | {"color_scheme": "dark"},
}
COLOURS = ("color-contrast", "link-in-text-block")
CORNERS: dict[str, tuple[str, ...]] = {  # both sizes in both schemes: structure once, what hangs on a look in each
    "phone-light": (),
    "desktop-dark": BY_LOOK,
    "phone-dark": COLOURS,
    "desktop-light": COLOURS,
}


@dataclass(frozen=True)
class ServerRequest:
    """A request as the server got it; `path` includes the query."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def as_text(self) -> str:
        """The whole request as one text, to search in."""
        return f"{self.method} {self.path} {self.headers} {self.body.decode('utf-8', 'replace')}"


AXE: str = Axe().axe_script
Reply = tuple[int, str, bytes]  # status, content type, body
expect.set_options(timeout=PATIENCE)


class Site:
    """The app on a free port of this machine; `intercept` may answer a request instead of it, `config` is the app's."""

    def __init__(self, folder: Path, **config: Any) -> None:
        self.installation = build(folder, **config)
        self.store, app = self.installation.store, self.installation.app
        self.requests: list[ServerRequest] = []
        self.intercept: Callable[[ServerRequest], Reply | None] = lambda request: None
        inner = wrap_in_wsgi(app)

        def record(environ: dict[str, Any], start_response: Any) -> Any:
            request = _read_request(environ)
            self.requests.append(request)
            reply = self.intercept(request)
            if reply is None:
                return inner(environ, start_response)
            status, kind, body = reply
            start_response(f"{status} -", [("Content-Type", kind), ("Content-Length", str(len(body)))])
            return [body]

        app.wsgi_app = record  # type: ignore[method-assign]
        self._sockets: set[socket.socket] = set()
        handler = type("_Tracked", (_Quiet,), {"sockets": self._sockets})
        self._http = make_server("127.0.0.1", 0, app, threaded=True, request_handler=handler)
        self.origin = f"http://127.0.0.1:{self._http.server_port}"
        serve = functools.partial(self._http.serve_forever, poll_interval=0.01)
        self._thread = threading.Thread(target=serve, daemon=True)  # a test that fails before `close` must not hang
        self._thread.start()

    def add(self, made: Survey | dict[str, Any] | Path, **options: Any) -> PublishedSurvey:
        """Publish a survey, an author's file or a definition; see `Installation.publish`."""
        return self.installation.publish(made, **options)

    def invite(self, *codes: str, **options: Any) -> PublishedSurvey:
        """Publish a survey by invitation, and invite these codes; see `Installation.invite`."""
        return self.installation.invite(*codes, **options)

    def link(self, published: PublishedSurvey, fragment: str = "") -> str:
        """Return the survey's link."""
        return f"{self.origin}/s/{published.survey.slug}{fragment}"

    def stored_reports(self, published: PublishedSurvey) -> list[dict[str, str]]:
        """Return the reports in the store, as they were sent."""
        with contextlib.closing(sqlite3.connect(self.store.path)) as connection:
            rows = connection.execute("select id, bits from reports where survey = ?", (published.key,)).fetchall()
        return [
            {"survey": published.survey.digest, "id": to_base64url(one), "bits": to_base64url(bits)}
            for one, bits in rows
        ]

    def requests_of(self, method: str = "POST") -> list[ServerRequest]:
        """Return the received requests of one method."""
        return [request for request in self.requests if request.method == method]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        for one in self._sockets.copy():  # a browser keeps what it may need again; handlers take theirs out as they end
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self.installation.close()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    sockets: ClassVar[set[socket.socket]]

    def setup(self) -> None:
        super().setup()
        self.sockets.add(self.connection)

    def finish(self) -> None:
        self.sockets.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log(self, *_: Any) -> None:
        pass


def _read_request(environ: dict[str, Any]) -> ServerRequest:
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length)
    environ["wsgi.input"] = _RereadableBody(body)
    query = environ.get("QUERY_STRING")
    headers = {key[5:].replace("_", "-").lower(): value for key, value in environ.items() if key.startswith("HTTP_")}
    path = environ["PATH_INFO"] + (f"?{query}" if query else "")
    return ServerRequest(environ["REQUEST_METHOD"], path, headers, body)


class _RereadableBody:
    """A request body that was read once and can be read again."""

    def __init__(self, body: bytes) -> None:
        self._left = body

    def read(self, size: int = -1) -> bytes:
        end = len(self._left) if size < 0 else size
        taken, self._left = self._left[:end], self._left[end:]
        return taken


@dataclass
class Visit:
    """One device: a page, all its requests, and all its error messages."""

    page: Page
    requests: list[BrowserRequest] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, url: str) -> Page:
        """Go to an address and wait until everything is there: its scripts have run when it is loaded."""
        self.page.goto(url)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until the page is loaded, and if it is the form, until its script has shown the questions."""
        self.page.wait_for_load_state()
        if self.page.locator("#form").count():
            self.page.wait_for_selector("#form[aria-busy=false]", state="attached")

    def text(self) -> str:
        """Return the text that can be read on the page."""
        return re.sub(r"\s+", " ", self.page.inner_text("body"))

    def requests_of(self, method: str = "POST") -> list[BrowserRequest]:
        """Return the requests of one method, as the browser reports them."""
        return [request for request in self.requests if request.method == method]


USED_AGAIN: dict[Browser, BrowserContext | None] = {}  # the context that the next visit takes; None while it has one
VIEW, ANCHOR = "viewport", "http://127.0.0.1/"


@contextlib.contextmanager
def visit(browser: Browser, *, init: str = "", **options: Any) -> Iterator[Visit]:
    """Yield a new device; `init` runs before every script of its pages.

    A context of its own costs a second of processor time, most of it for a renderer that starts. So a device that
    differs only in size reuses the context of the last one, emptied, with a page that keeps the renderer alive.
    """
    plain = not init and not options.keys() - {VIEW}
    context = USED_AGAIN.get(browser) if plain else None
    if context is None:
        context = browser.new_context(reduced_motion="reduce", **options)
        if plain:
            anchor = context.new_page()
            anchor.route(ANCHOR, lambda route: route.fulfill(body=""))
            anchor.goto(ANCHOR)
    if plain:
        USED_AGAIN[browser] = None
    context.set_default_timeout(PATIENCE)
    made = Visit(context.new_page())
    kept = False

    def complain(message: ConsoleMessage) -> None:
        made.complaints.append(message.text)

    def note(request: BrowserRequest) -> None:
        made.requests.append(request)

    try:
        if init:
            context.add_init_script(init)
        if plain:
            made.page.set_viewport_size(options.get(VIEW, {"width": 1280, "height": 720}))
        context.on("request", note)
        context.on("console", complain)
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        yield made
        kept = plain and USED_AGAIN[browser] is None and _clear_device(context, made)
    finally:
        context.remove_listener("request", note)
        context.remove_listener("console", complain)
        if kept:
            USED_AGAIN[browser] = context
        else:
            context.close()


def _clear_device(context: BrowserContext, made: Visit) -> bool:
    """Remove pages, cookies, storage and cache; return False where the device has a fake clock."""
    if made.page.is_closed() or not made.page.evaluate("String(setTimeout).includes('[native code]')"):
        return False
    origins = {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, {one.url for one in made.requests})}
    session = context.new_cdp_session(made.page)
    session.send("Network.clearBrowserCache")
    made.page.goto("about:blank")  # what writes when it leaves has written
    for origin in origins:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    for page in context.pages[1:]:
        page.close()
    context.unroute_all()
    context.set_offline(False)
    context.clear_cookies()
    return True


def stop_the_clock(page: Page) -> None:
    """Stop the page's timers from the next address on: they run when a test says so, however slow a machine is."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def apply_look(page: Page, look: str) -> None:
    """Put a look on a page that is open."""
    size, _, scheme = look.partition("-")
    page.set_viewport_size({"phone": PHONE, "zoomed": ZOOMED, "desktop": DESKTOP}[size]["viewport"])
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")


def violations(page: Page, *rules: str, within: str = "body") -> list[str]:
    """Return what axe finds on a page by all rules, or by some, each with its place; BY_LOOK has the rules for looks.

    The script goes to a page once. It loads no style sheets of its own: only rules that we do not run need them.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    some = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    options = {"resultTypes": ["violations"], "preload": False, **some}
    where = {"include": [within]} if within != "body" else None
    script = "([where, options]) => axe.run(where ?? document, options).then((all) => all.violations)"
    found = page.evaluate(script, [where, options])
    return [f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"]]


def overflows(page: Page) -> list[str]:
    """Return the elements that reach beyond the side of the window; none should, on a phone or elsewhere."""
    script = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
            || e.getBoundingClientRect().left < -1).map((e) => e.outerHTML.slice(0, 120))"""
    found: list[str] = page.evaluate(script)
    return found
