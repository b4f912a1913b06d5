"""The faults of author's files as golden files have them: the faulty line, and what its author reads below it."""

from survey_app.authoring.yaml_source import AuthoringError

LONGEST = 120  # characters of a faulty line


def describe(source: bytes, error: AuthoringError) -> str:
    """Return the line in which an error was found, or the file's beginning, with the message below it."""
    lines = source.decode("utf-8", "backslashreplace").split("\n")
    line = lines[(error.line or 1) - 1] if (error.line or 1) <= len(lines) else ""
    return f"{ascii(line.strip()[:LONGEST])[1:-1]}\n    {error}"
