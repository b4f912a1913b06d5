"""What is published is what the project consists of, and no more; a build from it is the same."""

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, build

pytestmark = pytest.mark.slow

LEFT_ABOUT = (  # by a developer in a checkout
    ".candor-demo/candor.db", ".pytest_cache/README.md", ".venv/bin/python", "candor.db", "candor.db-tickets",
    "client/candor_client/__pycache__/answer.cpython-311.pyc", "dist/candor_survey-0.1.0.tar.gz", "examples/answers.db",
    "node_modules/typescript/package.json", "people.csv", "people.exam.sent.csv", "survey_app/candor.db-wal",
)  # fmt: skip


def contents(sdist: Path) -> dict[str, bytes]:
    """The files of an sdist, without the folder around them."""
    found = {}
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            opened = archive.extractfile(member)
            if opened is not None:
                found[member.name.partition("/")[2]] = opened.read()
    return found


def project(sdist: Path) -> set[str]:
    """The files of the project: what git knows, or where this is no checkout, what it was unpacked from."""
    if not (ROOT / ".git").exists():
        return contents(sdist).keys() - {"PKG-INFO"}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def test_the_wheel_holds_the_package_and_what_its_pages_need(wheel: Path) -> None:
    names, metadata = set(zipfile.ZipFile(wheel).namelist()), wheel.name.split("-py3")[0] + ".dist-info"
    assert {
        "survey_app/cli/__init__.py",
        "survey_app/client/js/index.js",
        "survey_app/examples/campus.yaml",
        "survey_app/py.typed",
        "survey_app/static/form/page.js",
        "survey_app/static/style.css",
        "survey_app/templates/base.html",
        f"{metadata}/licenses/LICENSE",
    } <= names
    assert {name.split("/")[0] for name in names} == {"survey_app", metadata}


def test_the_client_is_a_distribution_of_its_own(client_dist: tuple[Path, Path]) -> None:
    sdist, wheel = client_dist
    names, metadata = zipfile.ZipFile(wheel).namelist(), wheel.name.split("-py3")[0] + ".dist-info"
    assert {"candor_client/__init__.py", "candor_client/__main__.py", "candor_client/py.typed"} <= {*names}
    assert {name.split("/")[0] for name in names} == {"candor_client", metadata}
    assert b"Requires-Dist" not in zipfile.ZipFile(wheel).read(f"{metadata}/METADATA")
    assert {"js/index.js", "package.json", "candor_client/verify.py"} <= contents(sdist).keys()


def test_the_sdist_is_the_project_and_nothing_that_lies_about(dist: tuple[Path, Path], tmp_path: Path) -> None:
    names, dirty = project(dist[0]), tmp_path / "dirty"
    for name in names:
        (dirty / name).parent.mkdir(parents=True, exist_ok=True)
        (dirty / name).write_bytes((ROOT / name).read_bytes())
    for name in LEFT_ABOUT:
        assert name not in names
        (dirty / name).parent.mkdir(parents=True, exist_ok=True)
        (dirty / name).write_text("not for others")
    sdist, wheel = build(dirty, tmp_path / "made")
    assert contents(sdist).keys() == names | {"PKG-INFO"}
    assert wheel.read_bytes() == dist[1].read_bytes()


def test_from_the_sdist_comes_the_same_sdist_and_the_same_wheel(dist: tuple[Path, Path], tmp_path: Path) -> None:
    with tarfile.open(dist[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    sdist, wheel = build(tree, tmp_path / "made")
    assert wheel.name == dist[1].name and wheel.read_bytes() == dist[1].read_bytes()
    assert contents(sdist) == contents(dist[0])
