"""What each device answers: the key `ask` of an author's file."""

from enum import StrEnum


class Ask(StrEnum):
    """All questions at a part of ε each, or one block of them at the whole ε."""

    AUTO = "auto"  # one block, in the blocks that need the fewest respondents
    ONE = "one"  # one question, or one joint group
    ALL = "all"  # everything; ε is split
