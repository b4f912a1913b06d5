"""Styles, scripts and the mark as they lie in `static/`, and the browser's client as it lies in `client/js/`.

The form's script is assembled from those: one request instead of fifty, and no comments.
"""

from functools import cache
from pathlib import Path

from flask import Blueprint, Response, request
from werkzeug.security import safe_join

import client
from survey_app import charts
from survey_app.assure.script import assemble
from survey_app.problems import Problem
from survey_app.server.compress import lean

blueprint = Blueprint("assets", __name__)
PACKAGE = Path(__file__).parents[1]
STATIC = next(folder for folder in (PACKAGE / "static", PACKAGE.parent / "static") if folder.is_dir())
CLIENT = Path(client.__file__).parent / "js"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PICTURE = "default-src 'none'; style-src 'unsafe-inline'"  # a mark that is looked at by itself may colour itself


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    """A style or a script of the pages."""
    return _file(STATIC, name)


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """The mark for whoever asks where browsers ask by themselves, as they do for what is no page."""
    return _file(STATIC, "mark.svg")


@blueprint.get("/static/form/form.js")
def form_script() -> Response:
    """All that the form runs, in one piece."""
    headers = {"Cache-Control": "no-cache"}
    return lean(Response(script_of_the_form(), content_type="text/javascript; charset=utf-8", headers=headers), request)


@cache
def script_of_the_form() -> str:
    """The modules that the form's first one needs; a server keeps them as they were when it was started."""
    return assemble("/static/form/page.js", source)


def source(path: str) -> str:
    """A module, by the path at which it is served."""
    folder = CLIENT if path.startswith("/client/js/") else STATIC
    return (folder / path.removeprefix("/client/js/").removeprefix("/static/")).read_text("utf-8")


@blueprint.get("/client/js/<name>")
@blueprint.get("/client/js/types/<name>", defaults={"folder": "types"})
@blueprint.get("/client/js/mechanisms/<name>", defaults={"folder": "mechanisms"})
def script(name: str, folder: str = "") -> Response:
    """The browser's client."""
    return _file(CLIENT / folder, name)


@blueprint.get("/static/charts.css")
def chart_style() -> Response:
    """The look of plots on a page; on paper they are always dark on light."""
    look = charts.STYLE.replace("@media (prefers", "@media screen and (prefers")
    return Response(look, content_type="text/css; charset=utf-8", headers={"Cache-Control": "no-cache"})


def _file(folder: Path, name: str) -> Response:
    path = safe_join(str(folder), name)
    kind = TYPES.get(Path(name).suffix)
    if path is None or kind is None or not Path(path).is_file():
        raise Problem("not_found")
    headers = {"Cache-Control": "no-cache"} | ({"Content-Security-Policy": PICTURE} if path.endswith(".svg") else {})
    return lean(Response(Path(path).read_bytes(), content_type=f"{kind}; charset=utf-8", headers=headers), request)
