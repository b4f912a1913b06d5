"""The server's side of the question types, with one module for each type.

The list of types is in the client (`candor_client.types.TypeName`). Each type has a module here with its name, which
defines `KIND`. So one line registers a type on both sides, and mypy checks each kind where it is defined.
"""

from importlib import import_module

from candor_client.question import TYPES, Question
from survey_app.kinds.question_kind import QuestionKind

__all__ = ["KINDS", "QuestionKind", "kind_by_name", "kind_of"]


def _load(name: str) -> QuestionKind:
    kind = import_module(f"{__name__}.{name}").KIND
    if not isinstance(kind, QuestionKind) or kind.name != name:
        raise TypeError(f"survey_app/kinds/{name}.py has no KIND of that name")
    return kind


KINDS = {name: _load(name) for name in TYPES}


def kind_of(question: Question) -> QuestionKind:
    """Return the kind of a question."""
    return KINDS[question.type]


def kind_by_name(name: str) -> QuestionKind:
    """Return the kind with the name of a type, for documents that store only the name."""
    return KINDS[name]
