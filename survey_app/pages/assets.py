"""Styles and scripts, as they lie in `static/`, and the browser's client, as it lies in `client/js/`."""

from pathlib import Path

from flask import Blueprint, Response, request
from werkzeug.security import safe_join

import client
from survey_app import charts
from survey_app.problems import Problem
from survey_app.server.compress import lean

blueprint = Blueprint("assets", __name__)
PACKAGE = Path(__file__).parents[1]
STATIC = next(folder for folder in (PACKAGE / "static", PACKAGE.parent / "static") if folder.is_dir())
CLIENT = Path(client.__file__).parent / "js"
TYPES = {".css": "text/css", ".js": "text/javascript"}


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    """A style or a script of the pages."""
    return _file(STATIC, name)


@blueprint.get("/client/js/<name>")
def script(name: str) -> Response:
    """The browser's client."""
    return _file(CLIENT, name)


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
    headers = {"Cache-Control": "no-cache"}
    return lean(Response(Path(path).read_bytes(), content_type=f"{kind}; charset=utf-8", headers=headers), request)
