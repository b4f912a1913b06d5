"""Reasons why a file of reports cannot be written, read or counted, as codes for programs."""

from enum import StrEnum


class FileFault(StrEnum):
    """The reasons why a file of reports cannot be written, read or counted."""

    MISSING_PACKAGE = "missing_package"
    MISSING_JAVA = "missing_java"
    MISSING_FILE = "missing_file"
    REPEATED_FILE = "repeated_file"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"
    MISSING_DEFINITION = "missing_definition"
    CHANGED_DEFINITION = "changed_definition"
    INVALID_DEFINITION = "invalid_definition"
    OTHER_DEFINITION = "other_definition"
    OTHER_COLUMNS = "other_columns"
    WRONG_LENGTH = "wrong_length"
    MISSING_BIT = "missing_bit"
    TOO_MANY_BITS = "too_many_bits"
    TOO_MANY_CELLS = "too_many_cells"
    ENGINE_FAILURE = "engine_failure"


class FileError(Exception):
    """A file of reports cannot be written, read or counted: `code` is the reason, and the message says what to do."""

    def __init__(self, code: FileFault, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return self.message
