"""How the pages that explain speak: our own strings in a survey's language, with its numbers in them."""

from decimal import Decimal
from typing import Any

from client.definition import Survey
from survey_app.explain import chances, written
from survey_app.explain.chances import SUSPICION, Share
from survey_app.explain.languages import Words


class Speech:
    """The language of one survey."""

    def __init__(self, survey: Survey) -> None:
        self.survey, self.words = survey, Words(survey.language)
        self.marks = written.MARKS[self.words.language]

    def say(self, key: str, **values: object) -> str:
        """One of our own strings; whole numbers are written as the language writes them, and ε stays on one line."""
        told = {name: self.whole(value) if type(value) is int else value for name, value in values.items()}
        return self.words(key, **told).replace("ε = ", "ε\u00a0=\u00a0")

    def whole(self, number: int) -> str:
        """A whole number as the language writes it."""
        return written.count(number, self.marks)

    def decimal(self, text: str) -> str:
        """A decimal as the language writes it, with all its digits."""
        return written.decimal(text, self.marks)

    def epsilon(self, epsilon: Decimal) -> str:
        """ε to two digits, never less than the truth."""
        return written.epsilon(epsilon, 2, marks=self.marks)

    def suspicion(self, people: int = SUSPICION) -> str:
        """A suspicion of one in so many, before anything was sent."""
        return written.chance(chances.suspected(people), self.words)

    def raised(self, epsilon: Decimal, suspicion: int = SUSPICION) -> str:
        """What a suspicion can become."""
        return written.chance(chances.raised(suspicion, epsilon), self.words)

    def yes_and_no(self, counts: Share) -> dict[str, Any]:
        """What a sentence about people who say yes or no has to be given."""
        return {**counts._asdict(), "yes": self.say("privacy.yes"), "no": self.say("privacy.no")}
