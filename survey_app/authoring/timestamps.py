"""The format of a timestamp: a date and time with its zone, to the minute."""

from datetime import UTC, datetime

from survey_app.authoring.fault_codes import FaultCode


class TimestampError(ValueError):
    """A text is not a date and time with its zone."""

    def __init__(self, code: FaultCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def parse_timestamp(text: str) -> datetime:
    """Parse a date and time with its zone. Raise TimestampError if it is invalid."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise TimestampError("not_a_timestamp", "must be a date and time such as 2026-12-01T00:00Z") from None
    if value.tzinfo is None:
        raise TimestampError(
            "no_time_zone", "needs a time zone; end it with Z for UTC, or with an offset such as +01:00"
        )
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise TimestampError("out_of_range", "is outside the years 1 to 9999 in UTC") from None
    return value


def format_timestamp(moment: datetime) -> str:
    """Return a timestamp as authors write it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
