"""Whatever a document names in this repository is there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.tree import parse

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
PARTS = ("benchmarks", "client", "docs", "examples", "static", "survey_app", "templates", "tests")
FILE = re.compile(r"[\w*.-]+\.(cff|css|html|js|json|md|mjs|py|svg|toml|txt|yaml)")
MADE_UP = {"health.yaml", "shift.yaml", "survey.yaml", "truth.yaml"}  # files of a reader


def named(page: Path) -> list[str]:
    """What stands in backticks, outside of blocks of code."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))


def is_path(text: str) -> bool:
    top = text.partition("/")[0]
    return (top in PARTS and "/" in text and "<" not in text) or (bool(FILE.fullmatch(text)) and text not in MADE_UP)


def is_there(path: str) -> bool:
    """Below the root; a bare name may lie anywhere."""
    return any(ROOT.glob(path.rstrip("/"))) or ("/" not in path and any(_somewhere(path)))


def _somewhere(name: str) -> list[Path]:
    return [file for part in PARTS for file in (ROOT / part).rglob(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_document_names_exists(page: Path) -> None:
    assert not [name for name in named(page) if is_path(name) and not is_there(name)]


def test_a_path_that_is_not_there_would_be_found() -> None:
    assert is_path("survey_app/collect.py") and not is_there("survey_app/collect.py")
    assert is_path("collect_all.py") and not is_there("collect_all.py")
    assert is_path("client/js/*.js") and is_there("client/js/*.js")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_of_the_code_in_a_document_can_be_imported(page: Path) -> None:
    for name in named(page):
        if re.fullmatch(r"(survey_app|candor_client)(\.\w+)+", name):
            assert _names_something(name), f"{page.name}: {name}"


def _names_something(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_every_limit_on_uploads_stands_where_the_table_says() -> None:
    limits = re.findall(r"`([A-Z_]+)` in `([\w/.]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert limits
    for name, file in limits:
        assert re.search(rf"^{name} = ", (ROOT / file).read_text(), re.MULTILINE), f"{name} is not in {file}"


def test_the_packages_of_the_architecture_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    packages = {
        path.removesuffix("/") for path in re.findall(r"^\| `((?:survey_app/|client)[\w/.]*)` \|", page, re.MULTILINE)
    }
    folders = {f"survey_app/{file.parent.name}" for file in ROOT.glob("survey_app/*/__init__.py")}
    loose = {f"survey_app/{file.name}" for file in ROOT.glob("survey_app/*.py")} - {"survey_app/__init__.py"}
    assert packages == {"client", *folders, *loose}


def test_the_picture_can_be_read_aloud_and_in_the_dark() -> None:
    picture = (ROOT / "docs" / "architecture.svg").read_text()
    drawn = parse(picture).one("svg")
    assert drawn.one("title").text and drawn.one("desc").text
    assert 'role="img"' in picture and "prefers-color-scheme: dark" in picture
    assert not re.search(r"<script|href=|@import|url\((?!#)", picture)
