"""The researchers' side of Candor: authoring, collecting, estimating, publishing.

`create_app` builds the server. It is imported on first use, so that the inner packages can be imported without Flask,
and so is `__version__`, so that the list of commands is printed without loading the client.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from candor_client.version import __version__
    from survey_app.web.app import create_app

__all__ = ["__version__", "create_app"]


def find_folder(name: str) -> "Path":
    """Return the path of a folder: templates, static files, examples or the JavaScript client (`client/js`).

    A wheel has these folders inside this package, a checkout has them next to it.
    Raise FileNotFoundError if the folder is in neither place.
    """
    from pathlib import Path

    package = Path(__file__).parent
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{name} is neither in {package} nor beside it: the installation is not complete")


def __getattr__(name: str) -> Any:
    if name == "create_app":
        from survey_app.web.app import create_app

        return create_app
    if name == "__version__":
        from candor_client.version import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
