"""Styles, scripts and the logo from `static/`, and the browser client from `client/js/`.

The script of the form is assembled from these files: one request instead of fifty, and no comments.
"""

from functools import cache
from pathlib import Path

from flask import Blueprint, Response, request
from werkzeug.security import safe_join

from survey_app import find_folder
from survey_app.assure.script_bundle import assemble
from survey_app.problems import Problem
from survey_app.web import charts
from survey_app.web.compression import compress_conditional

blueprint = Blueprint("assets", __name__)
STATIC = find_folder("static")
CLIENT = find_folder("client/js")
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PICTURE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'"  # a logo that is opened by itself may use inline styles
)


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    """Return a style or a script of the pages."""
    return _file(STATIC, name)


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """Return the logo at the path that browsers request by themselves, also for responses that are no page."""
    return _file(STATIC, "mark.svg")


@blueprint.get("/static/form/form.js")
def form_script() -> Response:
    """Return all scripts of the form as one file."""
    headers = {"Cache-Control": "no-cache"}
    return compress_conditional(
        Response(build_form_script(), content_type="text/javascript; charset=utf-8", headers=headers), request
    )


@cache
def build_form_script() -> str:
    """Return the first module of the form with all modules it needs, cached from the start of the server."""
    return assemble("/static/form/page.js", read_source)


def read_source(path: str) -> str:
    """Return the text of a module, given the path at which it is served."""
    folder = CLIENT if path.startswith("/client/js/") else STATIC
    return (folder / path.removeprefix("/client/js/").removeprefix("/static/")).read_text("utf-8")


@blueprint.get("/client/js/<name>", defaults={"folder": ""})
@blueprint.get("/client/js/types/<name>", defaults={"folder": "types"})
@blueprint.get("/client/js/mechanisms/<name>", defaults={"folder": "mechanisms"})
def script(name: str, folder: str) -> Response:
    """Return a module of the browser client."""
    return _file(CLIENT / folder, name)


@blueprint.get("/static/charts.css")
def chart_style() -> Response:
    """Return the style of plots on a page. In print, plots are always dark on light."""
    look = charts.STYLE.replace("@media (prefers", "@media screen and (prefers")
    return Response(look, content_type="text/css; charset=utf-8", headers={"Cache-Control": "no-cache"})


def _file(folder: Path, name: str) -> Response:
    path = safe_join(str(folder), name)
    kind = TYPES.get(Path(name).suffix)
    if path is None or kind is None or not Path(path).is_file():
        raise Problem("not_found")
    headers = {"Cache-Control": "no-cache"} | (
        {"Content-Security-Policy": PICTURE_POLICY} if path.endswith(".svg") else {}
    )
    return compress_conditional(
        Response(Path(path).read_bytes(), content_type=f"{kind}; charset=utf-8", headers=headers), request
    )
