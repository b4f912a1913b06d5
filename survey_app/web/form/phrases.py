"""Phrases for the explaining pages: our own strings in a survey's language, with formatted numbers."""

from decimal import Decimal
from typing import Any

from candor_client.definition import Survey
from survey_app.channels import posterior
from survey_app.channels.posterior import SUSPICION, DeviceCounts
from survey_app.languages import Words, numbers


class Phrases:
    """The phrases and number formats of one survey's language."""

    def __init__(self, survey: Survey) -> None:
        self.survey, self.words = survey, Words(survey.language)
        self.marks = numbers.MARKS[self.words.language]

    def say(self, key: str, **values: object) -> str:
        """Return one of our own strings.

        Whole numbers are formatted for the language, and ε stays on one line with its value.
        """
        texts = {name: self.format_whole(value) if type(value) is int else value for name, value in values.items()}
        return self.words(key, **texts).replace("ε = ", "ε\u00a0=\u00a0")

    def format_whole(self, number: int) -> str:
        """Format a whole number for the language."""
        return numbers.format_count(number, self.marks)

    def decimal(self, text: str) -> str:
        """Format a decimal for the language, with all its digits."""
        return numbers.format_decimal(text, self.marks)

    def epsilon(self, epsilon: Decimal) -> str:
        """Format ε with two digits, rounded up."""
        return numbers.format_epsilon(epsilon, 2, marks=self.marks)

    def suspicion(self, people: int = SUSPICION) -> str:
        """Format a suspicion of one in `people`, before any report was sent."""
        return numbers.format_chance(posterior.prior_chance(people), self.words)

    def format_raised_chance(self, epsilon: Decimal, suspicion: int = SUSPICION) -> str:
        """Format the highest chance that a suspicion can be raised to."""
        return numbers.format_chance(posterior.posterior_chance(suspicion, epsilon), self.words)

    def yes_and_no(self, counts: DeviceCounts) -> dict[str, Any]:
        """Return the values for a sentence about people who say yes or no."""
        return {**counts._asdict(), "yes": self.say("privacy.yes"), "no": self.say("privacy.no")}
