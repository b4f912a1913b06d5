"""Instructions for coins and dice: what to throw, what each throw means, and how a throw picks a question."""

from collections.abc import Sequence

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.channels import posterior
from survey_app.languages import paper
from survey_app.languages.paper import Recipe, Sheet, Throws, Tool
from survey_app.web.form.phrases import Phrases


class PaperInstructions(Phrases):
    """The instructions for a survey on paper, in its language."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(survey)
        self.sheet: Sheet = paper.make_sheet(survey)

    def instruction(self, recipe: Recipe) -> str:
        """Return the sentence that says what to throw, and how often."""
        return self._describe_throws(recipe.tool, recipe.throws)

    def rules(self, recipe: Recipe) -> list[tuple[list[str], str]]:
        """Return the meaning of each throw: the throws in words, and the box to tick."""
        ticks = {"truth": "paper.truth", "yes": "privacy.yes", "no": "privacy.no"}
        return [
            (self._spell_throws(recipe.tool, recipe.throws, lines), self.say(ticks[verdict]))
            for verdict, lines in recipe.rules
        ]

    def ticks(self, recipe: Recipe) -> str:
        """Return the sentence with the odds of a ticked box."""
        counts = posterior.count_devices(recipe.p, recipe.q)
        return self.say("paper.ticks", **self.yes_and_no(counts), epsilon=self.epsilon(recipe.epsilon))

    @property
    def recipes(self) -> list[tuple[Recipe, list[Question]]]:
        """Each recipe with the questions that use it."""
        takers: dict[Recipe, list[Question]] = {}
        for field, recipe in zip(self.survey.fields, self.sheet.recipes, strict=True):
            if recipe:
                takers.setdefault(recipe, []).extend(field.questions)
        return list(takers.items())

    @property
    def picks(self) -> tuple[str, list[tuple[list[str], str]]]:
        """The throw that picks the question, with the meaning of each result; empty where no question is picked."""
        pick = self.sheet.pick
        if not self.sheet.needs_pick or pick is None:
            return "", []
        rules = [
            (self._spell_throws("die", pick.throws, lines), str(place) if place else self.say("paper.pick_again"))
            for place, lines in pick.rules
        ]
        return self._describe_throws("die", pick.throws), rules

    def _describe_throws(self, tool: Tool, throws: int) -> str:
        once = tool == "die" and throws == 1
        return self.say("paper.die_once") if once else self.say(f"paper.{tool}", throws=throws)

    def _spell_throws(self, tool: Tool, throws: int, lines: Sequence[Throws]) -> list[str]:
        def face(low: int, high: int) -> str:
            if tool == "coin":
                return self.say("paper.heads" if low == 1 else "paper.tails")
            return str(low) if low == high else f"{low}–{high}"

        texts = []
        for line in lines:
            faces = [face(side, side) for side in line.first] + [face(line.low, line.high)]
            faces += [self.say("paper.any")] * (throws - len(faces))
            texts.append("\u00a0·\u00a0".join(faces))
        return texts
