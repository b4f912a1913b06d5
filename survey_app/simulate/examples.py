"""The surveys that come along: `examples/` in a checkout, inside the package where it was installed.

Whatever YAML lies there is an example, but for the files that say what made-up people would answer to one:
NAME-truth.yaml.
"""

import re
from pathlib import Path

TRUTH = "-truth"
END = ".yaml"


def folder() -> Path:
    """Where they lie."""
    package = Path(__file__).parents[1]
    return next(place for place in (package / "examples", package.parent / "examples") if place.is_dir())


def names() -> list[str]:
    """All of them, by name."""
    return sorted(file.stem for file in folder().glob(f"*{END}") if not file.stem.endswith(TRUTH))


def scripts() -> list[str]:
    """Return the file names of the programs: the idea in one file, and estimates computed again from an export."""
    return sorted(file.name for file in folder().iterdir() if file.suffix in (".R", ".py"))


def survey_file(name: str) -> Path:
    """What an example asks."""
    return folder() / f"{name}{END}"


def truth_file(name: str) -> Path | None:
    """What its made-up people say, if anybody wrote that down."""
    file = folder() / f"{name}{TRUTH}{END}"
    return file if file.exists() else None


def told(name: str) -> str:
    """An example in one line: the first sentence of the comment it opens with, else its title."""
    text = survey_file(name).read_text()
    comment = re.match(r"(?:#.*\n)+", text)
    if comment is None:
        title = re.search(r"^title: *(.+)$", text, re.MULTILINE)
        return title[1].strip() if title else ""
    prose = " ".join(line.lstrip("# ").rstrip() for line in comment[0].splitlines())
    return re.split(r"(?<=[a-zé)])\. ", f"{prose} ")[0].strip().removesuffix(".")
