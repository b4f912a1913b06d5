"""The example surveys: in `examples/` of a checkout, or inside the installed package.

Every YAML file there is an example, except NAME-truth.yaml, which has the answers of simulated respondents to NAME.
"""

import re
from pathlib import Path

from survey_app import find_folder

TRUTH = "-truth"
END = ".yaml"


def folder() -> Path:
    """Return the folder of the examples."""
    return find_folder("examples")


def names() -> list[str]:
    """Return the names of all examples, sorted."""
    return sorted(file.stem for file in folder().glob(f"*{END}") if not file.stem.endswith(TRUTH))


def scripts() -> list[str]:
    """Return the file names of the example programs: the idea in one file, and estimates recomputed from an export."""
    return sorted(file.name for file in folder().iterdir() if file.suffix in (".R", ".py"))


def survey_file(name: str) -> Path:
    """Return the path of the survey file of an example."""
    return folder() / f"{name}{END}"


def truth_file(name: str) -> Path | None:
    """Return the path of the file with an example's simulated answers; None if there is none."""
    file = folder() / f"{name}{TRUTH}{END}"
    return file if file.exists() else None


def summarize(name: str) -> str:
    """Return an example in one line: the first sentence of its opening comment, or its title if it has none."""
    text = survey_file(name).read_text()
    comment = re.match(r"(?:#.*\n)+", text)
    if comment is None:
        title = re.search(r"^title: *(.+)$", text, re.MULTILINE)
        return title[1].strip() if title else ""
    prose = " ".join(line.lstrip("# ").rstrip() for line in comment[0].splitlines())
    return re.split(r"(?<=[a-zé)])\. ", f"{prose} ")[0].strip().removesuffix(".")
