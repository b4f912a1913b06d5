"""Coins and dice in words: what to throw, which throws mean what, and which pick a question."""

from collections.abc import Sequence

from client.definition import Survey
from client.question import Question
from survey_app.explain import chances, paper
from survey_app.explain.paper import Recipe, Sheet, Throws, Tool
from survey_app.pages.form.speech import Speech


class Thrown(Speech):
    """A survey on paper, in its language."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(survey)
        self.sheet: Sheet = paper.sheet(survey)

    def instruction(self, recipe: Recipe) -> str:
        """What to throw, and how often."""
        return self._times(recipe.tool, recipe.throws)

    def rules(self, recipe: Recipe) -> list[tuple[list[str], str]]:
        """Which throws mean what: the throws in words, and what to tick."""
        ticks = {"truth": "paper.truth", "yes": "privacy.yes", "no": "privacy.no"}
        return [
            (self._throws(recipe.tool, recipe.throws, lines), self.say(ticks[verdict]))
            for verdict, lines in recipe.rules
        ]

    def ticks(self, recipe: Recipe) -> str:
        """The odds of a ticked box."""
        counts = chances.share(recipe.p, recipe.q)
        return self.say("paper.ticks", **self.yes_and_no(counts), epsilon=self.epsilon(recipe.epsilon))

    @property
    def recipes(self) -> list[tuple[Recipe, list[Question]]]:
        """Each recipe with the questions that take it."""
        takers: dict[Recipe, list[Question]] = {}
        for field, recipe in zip(self.survey.fields, self.sheet.recipes, strict=True):
            if recipe:
                takers.setdefault(recipe, []).extend(field.questions)
        return list(takers.items())

    @property
    def picks(self) -> tuple[str, list[tuple[list[str], str]]]:
        """What to throw to find the question, and which throws mean which; nothing where none is picked."""
        pick = self.sheet.pick
        if not self.sheet.picked or pick is None:
            return "", []
        rules = [
            (self._throws("die", pick.throws, lines), str(place) if place else self.say("paper.pick_again"))
            for place, lines in pick.rules
        ]
        return self._times("die", pick.throws), rules

    def _times(self, tool: Tool, throws: int) -> str:
        once = tool == "die" and throws == 1
        return self.say("paper.die_once") if once else self.say(f"paper.{tool}", throws=throws)

    def _throws(self, tool: Tool, throws: int, lines: Sequence[Throws]) -> list[str]:
        def face(low: int, high: int) -> str:
            if tool == "coin":
                return self.say("paper.heads" if low == 1 else "paper.tails")
            return str(low) if low == high else f"{low}–{high}"

        spelled = []
        for line in lines:
            faces = [face(thrown, thrown) for thrown in line.first] + [face(line.low, line.high)]
            faces += [self.say("paper.any")] * (throws - len(faces))
            spelled.append("\u00a0·\u00a0".join(faces))
        return spelled
