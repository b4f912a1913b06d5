"""The terms of a survey: settings in the author's file that the owner may change while respondents answer.

They are not part of the definition.
"""

from dataclasses import dataclass
from datetime import datetime

from survey_app.authoring.yaml_source import Node

KEYS = ("results", "opens", "closes", "max_reports", "deletes")


@dataclass(frozen=True)
class Terms:
    """The visibility of the results, the opening and closing times, the report limit, and the deletion date.

    None means no limit. `size` is the number of people in a group of a study, if it is known.
    """

    public: bool = False
    opens: datetime | None = None
    closes: datetime | None = None
    max_reports: int | None = None
    deletes: datetime | None = None
    size: int | None = None

    @property
    def fault(self) -> tuple[str, str] | None:
        """The term that contradicts another, with the reason; None if all terms are consistent."""
        if self.opens and self.closes and self.opens >= self.closes:
            return "closes", "must be later than opens"
        if self.deletes and (begin := self.closes or self.opens) and self.deletes <= begin:
            return "deletes", f"must be later than {'closes' if self.closes else 'opens'}"
        return None


def read_terms(top: dict[str, Node]) -> Terms:
    """Return the terms in an author's file. Raise AuthoringError if they are invalid."""
    opens, closes, deletes = (top[key].timestamp() if key in top else None for key in ("opens", "closes", "deletes"))
    terms = Terms(
        public="results" in top and top["results"].one_of("public", "private") == "public",
        opens=opens,
        closes=closes,
        max_reports=top["max_reports"].integer(1) if "max_reports" in top else None,
        deletes=deletes,
    )
    if fault := terms.fault:
        raise top[fault[0]].error("bad_order", fault[1])
    return terms
