"""The studies of examples/: their files, the comment at their top, and the truth of their simulated people."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from survey_app.authoring import BuiltSurvey, build

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"


@dataclass(frozen=True)
class Study:
    """An author's file, and the truth file that belongs to it."""

    name: str

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.yaml"

    @property
    def truth_file(self) -> Path:
        return FOLDER / f"{self.name}-truth.yaml"

    @property
    def truth(self) -> dict[str, Any]:
        """The true answers of the simulated people."""
        read: dict[str, Any] = YAML(typ="safe", pure=True).load(self.truth_file.read_text())
        return read

    @property
    def public_source(self) -> bytes:
        """The same study for everybody who has the link, so that simulated people can answer it."""
        return re.sub(rb"^invitations: true\n", b"", self.file.read_bytes(), flags=re.MULTILINE)

    @property
    def built_survey(self) -> BuiltSurvey:
        return build(self.public_source)

    @property
    def comment(self) -> list[str]:
        """The comment before the first key, line by line."""
        return re.findall(r"^# ?(.*)$", self.file.read_text().partition("\nslug:")[0], re.MULTILINE)

    @property
    def commands(self) -> list[str]:
        """The commands that the comment tells the reader to run."""
        return [line.strip() for line in self.comment if line.startswith("    candor ")]

    @property
    def promises(self) -> list[tuple[str, str]]:
        """The results of `candor plan` that the comment promises: the words, and the command."""
        found = (re.fullmatch(r"\W*(.*): candor (plan .*)", line) for line in self.comment)
        return [(match[1], match[2]) for match in found if match]


STUDIES = [Study(file.stem) for file in sorted(FOLDER.glob("*.yaml")) if not file.stem.endswith("-truth")]
