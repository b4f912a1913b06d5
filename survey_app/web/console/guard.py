"""The guard of all console pages: they require sign-in, and a refusal leads back to the console."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from survey_app.problems import PROBLEMS, Problem
from survey_app.store import StoreError, Unavailable
from survey_app.web.sessions import redirect_to_sign_in


def show_console_refusal(error: Problem | Unavailable | StoreError | CSRFError) -> ResponseReturnValue:
    """Show a page that explains the refusal and leads back to the console."""
    if isinstance(error, CSRFError):
        message = "You signed out or in again after this page was loaded. Nothing was changed. Reload the page."
        return render_template("console/problem.html", title="This page is out of date.", detail=message), 400
    if isinstance(error, StoreError):
        return render_template("console/problem.html", title="The request was refused.", detail=f"{error}."), 409
    code = "unavailable" if isinstance(error, Unavailable) else error.code
    status, title = PROBLEMS[code]
    detail = (
        error.detail
        if isinstance(error, Problem)
        else "The database cannot write now. Nothing was changed. Retry later."
    )
    return render_template("console/problem.html", title=title, detail=detail), status


def guard(pages: Blueprint) -> None:
    """Require sign-in for a blueprint of the console, and register its error pages."""
    pages.before_request(redirect_to_sign_in)
    for kind in (Problem, Unavailable, StoreError, CSRFError):
        pages.register_error_handler(kind, show_console_refusal)
