"""The studies of examples/: their files, what is said at their top, and what their made-up people would say."""

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
    """An author's file and the truth beside it."""

    name: str

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.yaml"

    @property
    def truth_file(self) -> Path:
        return FOLDER / f"{self.name}-truth.yaml"

    @property
    def truth(self) -> dict[str, Any]:
        """What the people of a simulation say."""
        read: dict[str, Any] = YAML(typ="safe", pure=True).load(self.truth_file.read_text())
        return read

    @property
    def uninvited(self) -> bytes:
        """The same study for anybody who has the link, which made-up people can answer."""
        return re.sub(rb"^invitations: true\n", b"", self.file.read_bytes(), flags=re.MULTILINE)

    @property
    def built(self) -> BuiltSurvey:
        return build(self.uninvited)

    @property
    def told(self) -> list[str]:
        """The comment before the first key, line by line."""
        return re.findall(r"^# ?(.*)$", self.file.read_text().partition("\nslug:")[0], re.MULTILINE)

    @property
    def commands(self) -> list[str]:
        """What the comment tells to run."""
        return [line.strip() for line in self.told if line.startswith("    candor ")]

    @property
    def promises(self) -> list[tuple[str, str]]:
        """What it says that a plan says: the words, and the command."""
        found = (re.fullmatch(r"\W*(.*): candor (plan .*)", line) for line in self.told)
        return [(match[1], match[2]) for match in found if match]


STUDIES = [Study(file.stem) for file in sorted(FOLDER.glob("*.yaml")) if not file.stem.endswith("-truth")]
