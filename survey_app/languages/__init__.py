"""The strings that respondents read, in their language.

Every string is in the TOML file of its section, once, with all its languages: `[send] en = "Send" …`. A page calls
`words("form.send")`; a script gets its whole section as data. `{name}` in a string is a placeholder.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "de", "es", "fr")
RIGHT_TO_LEFT = ("ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi")


@dataclass(frozen=True)
class Words:
    """The strings of one language; `tag` is the language of the survey, which may be one without strings here."""

    tag: str

    @property
    def language(self) -> str:
        """The language of the strings: that of the survey if there are strings in it, else English."""
        main = self.tag.split("-")[0]
        return main if main in LANGUAGES else LANGUAGES[0]

    @property
    def direction(self) -> str:
        """The writing direction of the survey's own texts."""
        return "rtl" if self.tag.split("-")[0] in RIGHT_TO_LEFT else "ltr"

    @property
    def is_foreign(self) -> bool:
        """Whether the strings are in another language than the survey's own texts."""
        return self.tag.split("-")[0] != self.language

    def __call__(self, key: str, **values: object) -> str:
        section, _, name = key.partition(".")
        return load_strings()[section][name][self.language].format(**values)

    def section(self, name: str) -> dict[str, str]:
        """Return all strings of a section by key, with their placeholders, which a script fills in."""
        return {key: texts[self.language] for key, texts in load_strings()[name].items()}


@cache
def load_strings() -> dict[str, dict[str, dict[str, str]]]:
    """Read all strings, as section → key → language → string."""
    return {file.stem: tomllib.loads(file.read_text("utf-8")) for file in Path(__file__).parent.glob("*.toml")}
