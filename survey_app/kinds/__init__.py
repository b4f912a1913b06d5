"""One module a question type: what the server knows of it.

The list of types is the client's (`candor_client.types.TypeName`); each has a module here with its name, which ends in
its `KIND`. So one line registers a type on both sides, and mypy checks each kind where it is made.
"""

from importlib import import_module

from candor_client.question import TYPES, Question
from survey_app.kinds.question_kind import QuestionKind

__all__ = ["KINDS", "QuestionKind", "kind_named", "kind_of"]


def _load(name: str) -> QuestionKind:
    kind = import_module(f"{__name__}.{name}").KIND
    if not isinstance(kind, QuestionKind) or kind.name != name:
        raise TypeError(f"survey_app/kinds/{name}.py has no KIND of that name")
    return kind


KINDS = {name: _load(name) for name in TYPES}


def kind_of(question: Question) -> QuestionKind:
    """Return the kind of a question."""
    return KINDS[question.type]


def kind_named(name: str) -> QuestionKind:
    """Return the kind with the name of a type, for documents that keep the name alone."""
    return KINDS[name]
