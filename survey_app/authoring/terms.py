"""What an owner may change while people answer: it stands in the author's file, but not in the definition."""

from dataclasses import dataclass
from datetime import datetime

from survey_app.authoring.source import Node

KEYS = ("results", "opens", "closes", "max_reports")


@dataclass(frozen=True)
class Terms:
    """Who sees the results, from when to when reports are taken, and how many; nothing means no limit."""

    public: bool = False
    opens: datetime | None = None
    closes: datetime | None = None
    max_reports: int | None = None


def read_terms(top: dict[str, Node]) -> Terms:
    """The terms in an author's file."""
    opens, closes = (top[key].moment() if key in top else None for key in ("opens", "closes"))
    if opens and closes and opens >= closes:
        raise top["closes"].error("must be later than opens")
    return Terms(
        public="results" in top and top["results"].one_of("public", "private") == "public",
        opens=opens,
        closes=closes,
        max_reports=top["max_reports"].integer(1) if "max_reports" in top else None,
    )
