"""The question types: what an answer is, and which symbol it becomes. One module each."""

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


# Imported by their names, so that a type is registered by its line in the enum and nothing else. Here at the end, since
# each of them imports the enum. mypy checks each `TYPE` in its own module: that it has all data and all methods.
_TYPES: dict[TypeName, QuestionType] = {name: import_module(f"{__name__}.{name}").TYPE for name in TypeName}


def type_of(name: TypeName) -> QuestionType:
    """Return the type with this name."""
    return _TYPES[name]
