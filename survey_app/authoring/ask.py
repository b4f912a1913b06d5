"""The key `ask` of an author's file: the questions that each device answers."""

from enum import StrEnum


class Ask(StrEnum):
    """The number of questions per device: all at a part of ε each, or one block at the whole ε."""

    AUTO = "auto"  # one block, of the blocks that need the fewest respondents
    ONE = "one"  # one question, or one joint group
    ALL = "all"  # everything; ε is split
