"""The format of a timestamp: a date and time with its zone, to the minute."""

from datetime import UTC, datetime


def parse_timestamp(text: str) -> datetime:
    """Parse a date and time with its zone. Raise ValueError with the reason if it is invalid."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a date and time such as 2026-12-01T00:00Z") from None
    if value.tzinfo is None:
        raise ValueError("needs a zone: end it with Z for UTC, or with +01:00")
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside of the years 1 to 9999, in UTC") from None
    return value


def format_timestamp(moment: datetime) -> str:
    """Return a timestamp as authors write it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
