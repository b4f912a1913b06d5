"""Names that a stranger knows: one module a name, no participles or pronouns, no metaphors, partials that say so."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.module_graph import ROOT, modules

# One name for several modules: parallel implementations, and `cli/<noun>` or `web/<noun>` of a package or a noun.
TWICE = {
    # a type and a mechanism have the same name on both sides
    "choice": ("candor_client.types", "survey_app.kinds"),
    "labels": ("candor_client.types", "survey_app.kinds"),
    "multiple": ("candor_client.types", "survey_app.kinds"),
    "number": ("candor_client.types", "survey_app.kinds"),
    "scale": ("candor_client.types", "survey_app.kinds"),
    "yes_no": ("candor_client.types", "survey_app.kinds"),
    "drawn": ("candor_client.mechanisms", "survey_app.channels"),
    "flip": ("candor_client.mechanisms", "survey_app.channels"),
    "geometric": ("candor_client.mechanisms", "survey_app.channels"),
    "subset": ("candor_client.mechanisms", "survey_app.channels"),
    # one for each database, and what both share
    "contents": ("survey_app.store.postgres", "survey_app.store.sql", "survey_app.store.sqlite"),
    "database": ("survey_app.store.postgres", "survey_app.store.sqlite"),
    "inspection": ("survey_app.store.postgres", "survey_app.store.sqlite"),
    "reports": ("survey_app.store.postgres", "survey_app.store.sqlite"),
    "rewrite": ("survey_app.store.postgres", "survey_app.store.sqlite"),
    "schema": ("survey_app.store.postgres", "survey_app.store.sqlite"),
    # a noun, and its commands or its pages
    "accounts": ("survey_app", "survey_app.cli"),
    "export": ("survey_app.cli", "survey_app.results"),
    "invitations": ("survey_app.cli", "survey_app.web.console"),
    "load": ("survey_app.cli", "survey_app.collect"),
    "serve": ("survey_app.cli", "survey_app.web"),
    "sharing": ("survey_app.cli", "survey_app.web.console"),
    "tally": ("survey_app", "survey_app.cli"),
}
WORDS = {
    *(
        "told",
        "said",
        "shown",
        "found",
        "seen",
        "known",
        "given",
        "taken",
        "made",
        "kept",
        "held",
        "put",
        "left",
        "done",
    ),
    *("built", "sent", "met", "written", "drawn", "chosen", "broken", "hidden", "grown", "gone", "lost", "begun"),
    *(
        "one",
        "others",
        "other",
        "mine",
        "ours",
        "theirs",
        "whole",
        "both",
        "none",
        "same",
        "such",
        "what",
        "who",
        "whom",
    ),
    *("together", "beside", "here", "there", "instead", "away", "apart", "alone", "again"),
}
PARTICIPLE = re.compile(r"[a-z]+(ed|ing)")
NOUNS = {  # and adjectives that everybody uses as nouns
    "feed", "finding", "heading", "listing", "mapping", "missing", "need", "ping", "seed", "setting", "spending", "string",
    "warning",
}  # fmt: skip
FIXED = {"Drawn", "unanswered"}  # the name of a mechanism on the wire, and a word of the project
METAPHORS = re.compile(r"\b(whoever|of whom|the house|rooms?|seats?|desks?|a gift)\b", re.IGNORECASE)
TEMPLATE_WIDTH = 200


def is_participle_or_pronoun(name: str) -> bool:
    """Tell whether a name is one word, and that word a participle, a pronoun or an adverb."""
    word = name.strip("_")
    if word in FIXED or not re.fullmatch(r"[A-Za-z][a-z]*", word):
        return False
    return word.lower() in WORDS or (bool(PARTICIPLE.fullmatch(word.lower())) and word.lower() not in NOUNS)


def definitions(source: str) -> Iterator[str]:
    """Yield the names of all functions, methods and classes of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("__"):
            yield node.name


def test_no_two_modules_have_one_name_but_those_that_are_parallel() -> None:
    folders: dict[str, list[str]] = {}
    for name, file in modules().items():
        if file.stem not in ("__init__", "__main__"):
            folders.setdefault(file.stem, []).append(name.rpartition(".")[0])
    assert {name: tuple(sorted(found)) for name, found in folders.items() if len(found) > 1} == TWICE


def test_no_module_or_package_is_named_by_a_participle_or_a_pronoun() -> None:
    parts = {part for name in modules() for part in name.split(".")} | {
        file.stem.removeprefix("_") for file in ROOT.glob("templates/**/*.html")
    }
    scripts = {file.stem for folder in ("client/js", "static") for file in (ROOT / folder).rglob("*.js")}
    bad = {name for name in parts | scripts if is_participle_or_pronoun(name) and not name.endswith("ing")}
    assert bad == {"drawn"}, "the wire's word alone; what ends in -ing is a field of work, such as sampling"


def test_no_function_or_class_is_named_by_a_participle_or_a_pronoun() -> None:
    for name, file in modules().items():
        bad = [definition for definition in definitions(file.read_text()) if is_participle_or_pronoun(definition)]
        assert not bad, f"{name}: {bad}"


def test_a_bad_name_would_be_found() -> None:
    source = (
        "class Told:\n    def shown(self): ...\n    def is_shown(self): ...\ndef _together(): ...\ndef format(): ..."
    )
    assert [name for name in definitions(source) if is_participle_or_pronoun(name)] == ["Told", "_together", "shown"]
    assert not is_participle_or_pronoun("read_text") and not is_participle_or_pronoun("Heading")


JAVASCRIPT = re.compile(r"(?:function\*?|class) (\w+)|(?:const|let) (\w+) = (?:async )?(?:\([^()]*\)|\w+) =>")


def test_no_function_of_a_script_is_named_so() -> None:
    for folder in ("client/js", "static"):
        for file in sorted((ROOT / folder).rglob("*.js")):
            names = [first or second for first, second in JAVASCRIPT.findall(file.read_text())]
            assert not [name for name in names if is_participle_or_pronoun(name)], file


def sources() -> list[Path]:
    """Return what is written for developers and visitors: code, words, templates and docs. Changes tell what was."""
    patterns = ("survey_app/**/*.py", "survey_app/**/*.toml", "client/**/*.py", "client/**/*.js", "static/**/*.js")
    found = [file for pattern in (*patterns, "templates/**/*.html") for file in ROOT.glob(pattern)]
    return sorted(file for file in found if "node_modules" not in file.parts)


def test_nobody_is_called_whoever_and_no_package_a_room() -> None:
    found = {str(file.relative_to(ROOT)): METAPHORS.findall(file.read_text()) for file in sources()}
    assert not {file: words for file, words in found.items() if words}


def test_partial_templates_begin_with_an_underscore() -> None:
    """A partial is included or imported; whatever is rendered by itself, or extended, is not."""
    texts = {file: file.read_text() for file in ROOT.glob("templates/**/*.html")}
    partials = {
        name for text in texts.values() for name in re.findall(r"{%-? *(?:include|from|import) \"([^\"]+)\"", text)
    }
    folder = ROOT / "templates"
    underscored = {str(file.relative_to(folder)) for file in texts if file.name.startswith("_")}
    assert partials <= underscored
    rendered = {"console/_question_form.html", "console/_mail_texts.html", "console/_live_update.html"}
    assert underscored - partials <= rendered, "fragments that Python chooses or sends by themselves"


def test_lines_of_templates_can_be_read() -> None:
    long = {
        f"{file.relative_to(ROOT)}:{number}": len(line)
        for file in ROOT.glob("templates/**/*.html")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) > TEMPLATE_WIDTH
    }
    assert not long
