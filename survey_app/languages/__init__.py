"""What respondents read, in their language.

Every string stands once, in all languages side by side, in the TOML file of its section: `[send] en = "Send" …`. A page
calls `words("form.send")`; a script gets its whole section as data. `{name}` in a string is filled in by name.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "de", "es", "fr")
RIGHT_TO_LEFT = ("ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi")


@dataclass(frozen=True)
class Words:
    """The strings of one language; `tag` is the survey's own, which may be a language we have no strings for."""

    tag: str

    @property
    def language(self) -> str:
        """The language of our own strings."""
        main = self.tag.split("-")[0]
        return main if main in LANGUAGES else LANGUAGES[0]

    @property
    def direction(self) -> str:
        """The direction of the survey's own texts."""
        return "rtl" if self.tag.split("-")[0] in RIGHT_TO_LEFT else "ltr"

    @property
    def foreign(self) -> bool:
        """Whether our strings are in another language than the survey's texts."""
        return self.tag.split("-")[0] != self.language

    def __call__(self, key: str, **values: object) -> str:
        section, _, name = key.partition(".")
        return sections()[section][name][self.language].format(**values)

    def section(self, name: str) -> dict[str, str]:
        """All strings of a section, as they are: a script fills them in."""
        return {key: texts[self.language] for key, texts in sections()[name].items()}


@cache
def sections() -> dict[str, dict[str, dict[str, str]]]:
    """Section → key → language → string."""
    return {file.stem: tomllib.loads(file.read_text("utf-8")) for file in Path(__file__).parent.glob("*.toml")}
