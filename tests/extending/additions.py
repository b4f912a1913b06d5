"""What is added to a copy of the project: files, and lines in lists."""

from tests.extending.project import Project

TYPE_FILES = (
    "client/candor_client/types/rating.py",
    "client/js/types/rating.js",
    "static/form/types/rating.js",
    "survey_app/kinds/rating.py",
    "templates/console/types/rating.html",
)
TYPE_LINES = (  # the list, the line, and the line before it
    ("client/candor_client/types/__init__.py", '    RATING = "rating"', '    NUMBER = "number"'),
    ("client/js/types/index.js", 'export { rating } from "./rating.js";', "export { number }"),
    ("static/form/types/index.js", 'export { rating } from "./rating.js";', "export { number }"),
)
MECHANISM_FILES = (
    "client/candor_client/mechanisms/unary.py",
    "client/js/mechanisms/unary.js",
    "survey_app/channels/unary.py",
)
FORM_WORDS = "survey_app/languages/form.toml"
EACH = "Each answer is named or not by a coin of its own: of {people} who gave it {p}, of {people} others {q}."


def add_type(project: Project) -> None:
    """Add the rating."""
    for name in TYPE_FILES:
        project.add_file(name)
    for name, line, after in TYPE_LINES:
        project.add_line(name, line, after=after)


def add_mechanism(project: Project) -> None:
    """Add unary encoding, and its words on the form."""
    for name in MECHANISM_FILES:
        project.add_file(name)
    project.add_line(
        "client/candor_client/mechanisms/mechanism.py", '    UNARY = "unary"', after='    GEOMETRIC = "geometric"'
    )
    listed = "client/candor_client/mechanisms/__init__.py"
    project.add_line(
        listed, "from candor_client.mechanisms.unary import Unary", after="from candor_client.mechanisms.subset"
    )
    project.replace(listed, '    "Subset",\n', '    "Subset",\n    "Unary",\n')
    project.replace(listed, "Flip | Subset | Drawn | Geometric", "Flip | Subset | Drawn | Geometric | Unary")
    case = "        case MechanismName.UNARY:\n            return Unary\n"
    project.replace(listed, "        case _:\n", f"{case}        case _:\n")
    scripts = "client/js/mechanisms/index.js"
    project.add_line(scripts, 'import { Unary } from "./unary.js";', after="import { Subset }")
    project.replace(scripts, "geometric: Geometric }", "geometric: Geometric, unary: Unary }")
    channels = "survey_app/channels/__init__.py"
    project.replace(channels, "Mechanism, Subset\n", "Mechanism, Subset, Unary\n")
    project.add_line(
        channels, "from survey_app.channels.unary import UnaryChannel", after="from survey_app.channels.subset"
    )
    case = "        case Unary():\n            return UnaryChannel(mechanism)\n"
    project.replace(channels, "        case _:\n", f"{case}        case _:\n")
    words = "".join(f'{language} = "{EACH}"\n' for language in ("en", "de", "es", "fr"))
    project.append(FORM_WORDS, f"\n[odds_each]\n{words}")
