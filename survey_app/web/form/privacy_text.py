"""The text of the explaining pages: the numbers of `posterior` and `paper`, in the language of the survey."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from candor_client import description
from candor_client.answer import unanswered
from candor_client.definition import Field
from candor_client.display import Section
from candor_client.mechanisms import Mechanism, publish
from candor_client.question import Question
from candor_client.report import ID_BYTES, Report, draw_bits, to_base64url, unpack
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT
from survey_app.authoring import is_weak
from survey_app.channels import channel_of, posterior
from survey_app.channels.posterior import SUSPICION
from survey_app.channels.sentences import Sentence, SymbolWords
from survey_app.kinds import kind_of
from survey_app.languages import numbers
from survey_app.languages.paper import Recipe
from survey_app.web.form.paper_instructions import PaperInstructions

MOST_BITS = 40  # the most bits of a field that are shown
DOTS_A_ROW = 20
DOTS = 100
ENTRY_PREFIXES = ("enter_", "error_")  # strings of the interviewer's page


@dataclass(frozen=True)
class Dots:
    """A picture of a hundred devices, some of which send an answer."""

    caption: str
    alternative: str
    filled: str
    empty: str
    legend: str


@dataclass(frozen=True)
class FieldExplanation:
    """One field: its place, its questions, its explanation, and its recipe for coins or dice, if there is one."""

    place: int
    questions: tuple[Question, ...]
    mechanism: Mechanism
    recipe: Recipe | None
    text: str
    text_alone: str
    pictures: list[Dots]

    @property
    def optional(self) -> bool:
        """Whether respondents may skip it."""
        return all(question.optional for question in self.questions)

    def outcomes(self, picked: bool) -> list[tuple[str, str]]:
        """Return the outcomes that an interviewer may enter for it: a value, and the key of its phrase."""
        choices = [("1", "privacy.yes"), ("0", "privacy.no")] if self.recipe else [("skipped", "paper.enter_picked")]
        return choices + ([("unpicked", "paper.enter_unpicked")] if picked else [])

    @property
    def public_integers(self) -> dict[str, int | str]:
        """The published integers of its mechanism."""
        return publish(self.mechanism)


class Explanation(PaperInstructions):
    """All text that the pages show about one survey, in its language."""

    @cached_property
    def total(self) -> Decimal:
        """The ε that the whole survey spends."""
        return posterior.total_epsilon(self.survey)

    @property
    def claim(self) -> str:
        """The ε that the definition claims to spend."""
        return numbers.format_epsilon(self.survey.epsilon, 12, marks=self.marks)

    @property
    def is_weak(self) -> bool:
        """Whether the survey spends more than authors are advised to."""
        return is_weak(self.total)

    @property
    def beliefs(self) -> list[tuple[str, str, tuple[float, float]]]:
        """Suspicions before and after a whole report, in words and as shares of one."""
        rows = []
        for suspicion in posterior.SUSPICIONS:
            after = posterior.posterior_chance(suspicion, self.total)
            shares = (1 / suspicion, after.cases / after.of)
            rows.append((self.suspicion(suspicion), numbers.format_chance(after, self.words), shares))
        return rows

    @property
    def limits(self) -> dict[str, str]:
        """The cost of one survey like this and of two, and the limits of a device.

        A device stops at its limits unless its respondent decides otherwise.
        """
        twice = self.epsilon(posterior.group_epsilon(self.total, 2))
        ends = {"limit": self.format_whole(SURVEY_LIMIT), "server_limit": self.format_whole(SERVER_LIMIT)}
        return {"epsilon": self.epsilon(self.total), "twice": twice, **ends}

    @property
    def groups(self) -> list[tuple[str, str, str]]:
        """For several numbers of people: their total ε, and the highest chance of a suspicion."""
        totals = [(people, posterior.group_epsilon(self.total, people)) for people in posterior.GROUP_SIZES]
        return [
            (self.format_whole(people), self.epsilon(epsilon), self.format_raised_chance(epsilon))
            for people, epsilon in totals
        ]

    @property
    def dependent_questions(self) -> list[tuple[tuple[Question, ...], str, str]]:
        """Groups of questions that depend on one another."""
        trees = posterior.find_dependent_questions(self.survey)
        return [(tree.questions, self.epsilon(tree.epsilon), self.format_raised_chance(tree.epsilon)) for tree in trees]

    @cached_property
    def parts(self) -> list[FieldExplanation]:
        """The fields, in their order."""
        parts = []
        for place, (field, recipe) in enumerate(zip(self.survey.fields, self.sheet.recipes, strict=True), 1):
            text, pictures = " ".join(self._describe_field(field)), list(self._draw_pictures(field))
            alone = self._describe_alone(field.mechanism.epsilon)
            parts.append(FieldExplanation(place, field.questions, field.mechanism, recipe, text, alone, pictures))
        return parts

    @property
    def on_paper(self) -> list[FieldExplanation]:
        """The fields that have a recipe for coins or dice."""
        return [part for part in self.parts if part.recipe]

    @property
    def under_headings(self) -> Iterator[tuple[Section | None, FieldExplanation]]:
        """The fields on paper, each with the section that begins with it, if there is one."""
        sections = {section.first: section for section in self.survey.sections}
        section_of: dict[str, Section | None] = {}
        section: Section | None = None
        for question in self.survey.questions:
            section_of[question.id] = section = sections.get(question.id, section)
        last: Section | None = None
        for part in self.on_paper:
            section = section_of[part.questions[0].id]
            yield (None if section is last else section), part
            last = section

    @property
    def off_paper(self) -> list[tuple[FieldExplanation, list[str]]]:
        """The fields without a recipe for coins or dice, with the reasons."""
        reasons = []
        for part in self.parts:
            if part.recipe is None:
                forced = channel_of(part.mechanism).forced_response() and kind_of(part.questions[0]).can_force_answer
                reason = ["block" if len(part.questions) > 1 else "odds" if forced else "type"]
                reason += ["skipped"] if part.optional else ["needed"]
                reason += ["skipped_pick"] if part.optional and self.sheet.needs_pick else []
                reasons.append((part, [self.say(f"paper.reason_{name}") for name in reason]))
        return reasons

    @property
    def entry(self) -> dict[str, Any]:
        """The data for the interviewer's script."""
        strings = {name: text for name, text in self.words.section("paper").items() if name.startswith(ENTRY_PREFIXES)}
        strings |= {name: self.say(f"privacy.{name}") for name in ("yes", "no")}
        paper = [part.place - 1 for part in self.on_paper]
        return {"digest": self.survey.digest, "paper": paper, "strings": strings}

    @cached_property
    def example(self) -> Report:
        """A report with invented answers.

        It belongs to nobody, and has no ticket because nobody was invited.
        """
        answers = {
            question.id: None if question.optional else kind_of(question).example(question, 0)
            for question in self.survey.questions
        }
        bits = draw_bits(self.survey, answers, random_bytes=secrets.token_bytes)
        return Report(self.survey.digest, secrets.token_bytes(ID_BYTES), bits)

    @property
    def example_row(self) -> tuple[str, str, str]:
        """The survey, id and bits of the example, as they would be stored."""
        row = self.example
        return row.survey, to_base64url(row.id), "".join(f"{byte:08b}" for byte in row.bits)

    @property
    def example_bits(self) -> list[tuple[FieldExplanation, str]]:
        """The bits of the example, by field."""
        rows = []
        for part, bits in zip(self.parts, unpack(self.survey, self.example.bits), strict=True):
            text = self.say("privacy.not_asked") if bits is None else _shorten(f"{bits:0{part.mechanism.width}b}")
            rows.append((part, text))
        return rows

    def _describe_field(self, field: Field) -> Iterator[str]:
        channel = channel_of(field.mechanism)
        if self.survey.ask and len({block.chance for block in self.survey.fields}) > 1:
            yield self.say(
                "privacy.ask_chance", percent=self.decimal(f"{100 * float(self.survey.answer_probability(field)):.3g}")
            )
        if field.joint:
            yield self.say("privacy.joint")
        for question in field.questions:
            exact = unanswered(question) == question.no_answer
            symbols = kind_of(question).symbol_sentence(question)
            if symbols and channel.needs_symbol_explanation(exact=exact):
                yield self._sentence(symbols, question)
        first = field.questions[0]
        for sentence in channel.odds_sentences(
            first, SymbolWords(self._describe_symbols(field), self._symbol_names(field))
        ):
            yield self._sentence(sentence, first)
        if any(question.optional for question in field.questions):
            yield self.say("privacy.optional")

    def _sentence(self, sentence: Sentence, question: Question) -> str:
        """Return a sentence, with the quantities of a question in its unit."""
        quantities = {name: value for name, value in sentence.values.items() if isinstance(value, Fraction)}
        texts = {name: self._format_quantity(question, value) for name, value in quantities.items()}
        return self.say(sentence.key, **{**sentence.values, **texts})

    def _symbol_names(self, field: Field) -> dict[str, str]:
        """Return the words for no and yes, where these are the symbols of a field.

        No author has named these symbols.
        """
        keys = kind_of(field.questions[0]).answer_name_keys
        return dict(zip(("no", "yes"), map(self.say, keys), strict=True)) if len(keys) == field.size else {}

    def _describe_symbols(self, field: Field) -> str:
        """Describe the set that a blind answer is drawn from. A yes or no is described by its names."""
        if names := self._symbol_names(field):
            return self.say("privacy.blind_two", **names)
        several = field.joint or not kind_of(field.questions[0]).exclusive
        return self.say("privacy.blind_cells" if several else "privacy.blind_answers", size=field.size)

    def _describe_alone(self, epsilon: Decimal) -> str:
        after = posterior.posterior_chance(SUSPICION, epsilon)
        values = {"epsilon": self.epsilon(epsilon), "before": self.suspicion()}
        if after.cases == after.of:
            return self.say("privacy.alone_certain", **values)
        return self.say("privacy.alone", **values, after=numbers.format_chance(after, self.words))

    def _draw_pictures(self, field: Field) -> Iterator[Dots]:
        if counts := posterior.uniform_mixture(field.mechanism):
            caption = self.say("privacy.picture_blind", **counts._asdict())
            yield from self._dots([(caption, Fraction(counts.true, counts.people))], "privacy.picture_legend")
        elif coin := channel_of(field.mechanism).coin:
            captions = [self.say("privacy.picture_true"), self.say("privacy.picture_other")]
            if names := self._symbol_names(field):
                captions = [self.say("privacy.picture_is", label=names[label]) for label in ("yes", "no")]
            yield from self._dots(list(zip(captions, coin, strict=True)), "privacy.picture_legend_named")

    def _dots(self, shares: list[tuple[str, Fraction]], legend: str) -> Iterator[Dots]:
        """Yield pictures of some shares; none where one of them would be less than a dot."""
        if DOTS * min(min(share, 1 - share) for _, share in shares) < 1:
            return
        for caption, share in shares:
            filled = round(DOTS * share)
            alternative = self.say("privacy.picture_filled", filled=filled, people=DOTS)
            yield Dots(caption, alternative, _dots_path(0, filled), _dots_path(filled, DOTS), self.say(legend))

    def _format_quantity(self, question: Question, value: Fraction) -> str:
        return f"{self.decimal(description.spell(question, value))} {question.unit}".strip()


def _dots_path(first: int, stop: int) -> str:
    """Return the path of dots number `first` to `stop` − 1, row by row, as lines without length."""
    return "".join(f"M{i % DOTS_A_ROW}.5 {i // DOTS_A_ROW}.5h0" for i in range(first, stop))


def _shorten(bits: str) -> str:
    return bits if len(bits) <= MOST_BITS else f"{bits[:MOST_BITS]}…"
