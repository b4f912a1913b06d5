"""The questions that each device answers: the key `ask` of an author's file."""

from enum import StrEnum


class Ask(StrEnum):
    """All questions at a part of ε each, or one block of questions at the whole ε."""

    AUTO = "auto"  # one block, of the blocks that need the fewest respondents
    ONE = "one"  # one question, or one joint group
    ALL = "all"  # everything; ε is split
