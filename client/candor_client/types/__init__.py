"""The question types, one module each: which answers a question takes, and the symbol of each answer."""

from enum import StrEnum
from importlib import import_module

from candor_client.types.question_type import QuestionType

__all__ = ["QuestionType", "TypeName", "type_of"]


class TypeName(StrEnum):
    """The `type` of a question in a definition; its module here has the same name."""

    YES_NO = "yes_no"
    CHOICE = "choice"
    SCALE = "scale"
    MULTIPLE = "multiple"
    NUMBER = "number"


# Imported by name, so that the line in the enum is enough to register a type. The import comes after the enum, because
# each module imports the enum. mypy checks in each module that its `TYPE` has all data and all methods.
_TYPES: dict[TypeName, QuestionType] = {name: import_module(f"{__name__}.{name}").TYPE for name in TypeName}


def type_of(name: TypeName) -> QuestionType:
    """Return the question type with this name."""
    return _TYPES[name]
