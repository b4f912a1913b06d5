"""Each question type and each mechanism lives in one module: what asks for one elsewhere is listed here, with its reason."""

from collections import Counter
from pathlib import Path

import pytest

from tests.branches import (
    javascript_places,
    python_places,
    read_javascript,
    read_python,
    read_template,
    template_places,
)

MOST_PYTHON, MOST_JAVASCRIPT = 30, 6
READS = "reads reads_answers"
REASONS: dict[tuple[str, str], tuple[int, str]] = {  # file and question: how often, and why
    ("survey_app/assure/audit/inputs.py", READS): (1, "sets are tried option by option, and not all of them"),
    ("survey_app/estimate/possible_pairs.py", READS): (1, "an option alone leaves open what else was chosen"),
    ("survey_app/estimate/crosstab.py", READS): (1, "options are crossed where sets have no bits of their own"),
    ("survey_app/estimate/option_pairs.py", READS): (2, "two options are in no cell of the tally, but in the reports"),
    ("survey_app/estimate/question_estimates.py", READS): (2, "a figure is lifted to what its channel takes in"),
    ("survey_app/plan/estimands.py", READS): (1, "a share of an option is one stored bit"),
    ("survey_app/results/bit_meanings.py", READS): (1, "what questions add to the estimator is about symbols"),
    ("survey_app/results/caution.py", READS): (1, "answers are counted by symbols where there are symbols"),
    ("survey_app/results/crosstab_document.py", READS): (
        1,
        "who counts as choosing neither differs where options are drawn",
    ),
    ("survey_app/results/formulas.py", READS): (2, "the formula of a share names the devices asked about an option"),
    ("survey_app/results/regression_document.py", READS): (1, "a likelihood needs a symbol for every answer"),
    ("client/js/definition.js", "tests the number of labels"): (1, "a limit of the wire, for every type"),
    ("client/js/question.js", "looks up by type"): (1, "the one lookup of the client"),
    ("static/form/controls.js", "looks up by type"): (1, "the one lookup of the form"),
}


def test_every_place_has_a_reason() -> None:
    python, javascript = python_places(), javascript_places()
    found = Counter((place.file, place.asks) for place in (*python, *javascript, *template_places()))
    assert found == {key: count for key, (count, _) in REASONS.items()}
    assert len(python) <= MOST_PYTHON
    assert len(javascript) <= MOST_JAVASCRIPT


PYTHON = {
    "a comparison": 'if question.type == "scale": pass',
    "the other way round": 'if "scale" != question.type: pass',
    "one of several": 'if question.type in ("choice", "scale"): pass',
    "by its enum": "if question.type is TypeName.SCALE: pass",
    "two types": "if question.type == other.type: pass",
    "by the kind's name": 'if kind_of(question).name == "number": pass',
    "a match": 'match question.type:\n    case "scale": pass',
    "a match by enum": "match name:\n    case TypeName.SCALE: pass",
    "a property": "if question.is_scale: pass",
    "a method": "if kind.is_number(question): pass",
    "a function": "if has_multiple(questions): pass",
    "getattr": 'if getattr(question, "levels", 0): pass',
    "hasattr": 'if hasattr(mechanism, "weight"): pass',
    "a dict by name": 'NAMES = {"scale": "a scale", "choice": "a choice"}',
    "a dict by enum": "NAMES = {TypeName.SCALE: 1, TypeName.CHOICE: 2}",
    "a dict by class": "NAMES = {Flip: 1, Subset: 2}",
    "a lookup": "name = NAMES[question.type]",
    "a lookup with a default": "name = NAMES.get(question.type, 0)",
    "the number of labels": "if len(question.labels) == 2: pass",
    "whether there are labels": "if not question.labels: pass",
    "whether there are scores": "mean = 1 if question.scores else 0",
    "levels": "if question.levels: pass",
    "bins": "count = question.bins or 1",
    "a mechanism": "if isinstance(mechanism, Flip | Drawn): pass",
    "a mechanism's class": "if type(mechanism) is Flip: pass",
    "a mechanism's name": "if mechanism.kind == MechanismName.FLIP: pass",
    "a mechanism's name as text": 'if mechanism.kind == "flip": pass',
    "a match of mechanisms": "match mechanism:\n    case Subset(): pass",
    "a channel": "if isinstance(channel, SubsetChannel): pass",
    "a fact of one mechanism": "if channel.reads_answers: pass",
}
INNOCENT = {
    "another type": 'if request.type == "https": pass',
    "a label among labels": "if label in question.labels: pass",
    "a fact": "if kind_of(question).exclusive: pass",
    "a count": "share = 1 / len(question.labels)",
}


@pytest.mark.parametrize("source", PYTHON.values(), ids=PYTHON.keys())
def test_python_in_any_disguise_is_found(source: str) -> None:
    assert len([*read_python(Path("planted.py"), source)]) >= 1


@pytest.mark.parametrize("source", INNOCENT.values(), ids=INNOCENT.keys())
def test_what_asks_for_something_else_is_not(source: str) -> None:
    assert not [*read_python(Path("planted.py"), source)]


@pytest.mark.parametrize(
    "source",
    [
        '{% if question.type == "scale" %}{% endif %}',
        '{% if kind in ("choice", "multiple") %}{% endif %}',
        "{{ names[question.type] }}",
        "{% if question.levels %}{% endif %}",
    ],
)
def test_templates_are_read(source: str) -> None:
    assert len([*read_template(Path("planted.html"), source)]) == 1


@pytest.mark.parametrize(
    "source",
    [
        'if (question.type === "scale") {}',
        "if (mechanism instanceof Flip) {}",
        'switch (type) { case "scale": }',
        "if (question.levels) {}",
        "const name = NAMES[question.type];",
        "if (isScale(question)) {}",
        "if (labels.length === 2) {}",
    ],
)
def test_javascript_is_read(source: str) -> None:
    assert [*read_javascript(Path("planted.js"), source)]
    assert not [*read_javascript(Path("planted.js"), f"// {source}")]
