"""The house: who may import whom, and what the client may stand on."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# A module may import the rooms listed for it, and nothing else of this project.
LAYERS: dict[str, set[str]] = {
    "client": {"client"},
    "survey_app.problems": set(),
    "survey_app.compress": set(),
    "survey_app.variance": {"client"},
    "survey_app.authoring": {"client", "survey_app.authoring", "survey_app.variance"},
    "survey_app.openapi": {"client", "survey_app.problems"},
    "survey_app.store": {"client", "survey_app.store"},
    "survey_app.accounts": {"survey_app.store"},
    "survey_app.collect": {"client", "survey_app.problems", "survey_app.store"},
    "survey_app.columns": {"client"},
    "survey_app.estimate": {"client", "survey_app.columns", "survey_app.estimate", "survey_app.store"},
    "survey_app.study": {"client", "survey_app.estimate", "survey_app.results", "survey_app.store"},
    "survey_app.regress": {
        "client",
        "survey_app.columns",
        "survey_app.estimate",
        "survey_app.store",
        "survey_app.study",
    },
    "survey_app.results": {"client", "survey_app.estimate", "survey_app.store"},
    "survey_app.caution": {"client", "survey_app.estimate", "survey_app.variance"},
    "survey_app.methods": {
        "client",
        "survey_app.caution",
        "survey_app.estimate",
        "survey_app.odds",
        "survey_app.results",
    },
    "survey_app.front": {"client", "survey_app"},
    "survey_app.serve": {"survey_app.collect", "survey_app.store"},
    "survey_app.demo": {"survey_app.accounts", "survey_app.authoring", "survey_app.simulate", "survey_app.store"},
    "survey_app.simulate": {"client"},
    "survey_app.odds": {"client"},
    "survey_app.languages": {"survey_app.languages"},
    "survey_app.charts": {"survey_app.charts"},
    "survey_app.plan": {
        "client",
        "survey_app.authoring",
        "survey_app.estimate",
        "survey_app.plan",
        "survey_app.variance",
    },
    "survey_app.export": {"client", "survey_app.columns", "survey_app.store"},
    "survey_app.sketch": {"client", "survey_app.authoring", "survey_app.sketch"},
    "survey_app.rehearsal": {
        "client",
        "survey_app.estimate",
        "survey_app.results",
        "survey_app.simulate",
        "survey_app.store",
    },
    "survey_app.pages": {"client", "survey_app"},
    "survey_app.cli": {"client", "survey_app"},
}


def modules() -> list[tuple[str, Path]]:
    files = [*ROOT.glob("client/**/*.py"), *ROOT.glob("survey_app/**/*.py")]
    return [(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), file) for file in files]


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def within(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


@pytest.mark.parametrize(("name", "file"), modules())
def test_dependencies_point_inward(name: str, file: Path) -> None:
    room = max((room for room in LAYERS if within(name, room)), key=len, default=None)
    if name == "survey_app":
        room = "survey_app.cli"
    assert room is not None, f"{name} has no place in LAYERS"
    for imported in imports(file):
        if within(imported, "client") or within(imported, "survey_app"):
            assert any(within(imported, allowed) for allowed in LAYERS[room]), f"{name} imports {imported}"


@pytest.mark.parametrize(("name", "file"), [pair for pair in modules() if within(pair[0], "client")])
def test_the_client_stands_on_the_standard_library(name: str, file: Path) -> None:
    for imported in imports(file):
        top = imported.split(".")[0]
        assert top == "client" or top in sys.stdlib_module_names, f"{name} imports {imported}"
        assert top != "random", "the operating system's randomness only"


def test_the_client_runs_without_site_packages() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import client, client.__main__; print(client.respond)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_wheel_holds_both_packages_and_the_templates(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("candor_survey-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "client/__init__.py",
        "survey_app/cli/__init__.py",
        "survey_app/templates/base.html",
        "survey_app/examples/campus.yaml",
        "client/js/index.js",
    } <= names
    assert not {name.split("/")[0] for name in names} - {
        "client",
        "survey_app",
        wheel.name.split("-py3")[0] + ".dist-info",
    }
