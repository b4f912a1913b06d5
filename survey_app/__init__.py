"""The researchers' side of Candor: authoring, collecting, estimating, publishing.

`create_app` makes the server; it is looked up only when somebody wants it, so that the inner rooms stand without Flask.
"""

from typing import TYPE_CHECKING, Any

from survey_app.assure.version import __version__

if TYPE_CHECKING:
    from survey_app.server.app import create_app

__all__ = ["__version__", "create_app"]


def __getattr__(name: str) -> Any:
    if name == "create_app":
        from survey_app.server.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
