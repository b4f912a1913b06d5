"""The choices of a reader of results, parsed from the query of the URL: intervals, comparisons and regressions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isclose, isfinite
from typing import NamedTuple
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from survey_app.estimate.intervals import LEAST_CONFIDENCE, Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.languages import numbers as written
from survey_app.problems import Problem

LEVELS = (0.8, 0.9, 0.95, 0.99)
LEVEL_STEP, MOST_LEVEL = 0.001, 0.999  # levels have steps, so that readers share cached results
LARGEST_POPULATION = 2**53
MOST_GROUPS = 12
WEIGHT_PREFIX, NUMBER_PREFIX = "weight-", "known-"  # prefixes of parameters; the slug of a survey follows


class Notice(NamedTuple):
    """A message of the page about a figure that cannot be computed; `code` is the reason."""

    code: RefusalCode
    text: str

    def __str__(self) -> str:
        return self.text


class ChoiceCode(StrEnum):
    """The reasons why a choice is invalid."""

    CONFIDENCE = "confidence"
    POPULATION = "population"
    SMALL_POPULATION = "small_population"
    STUDY_POPULATION = "study_population"
    TARGET = "target"
    VIEW = "view"
    SCALE = "scale"


class InvalidChoice(NamedTuple):
    """An invalid choice: the reason, and what the page shows instead. Downloads and the API refuse the request."""

    code: ChoiceCode
    reason: str
    fallback_text: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.fallback_text}."


def problem_of_choices(messages: Sequence[InvalidChoice]) -> Problem:
    """Return the Problem that refuses a document or a file because of invalid choices."""
    return Problem("malformed_request", " ".join(f"{message.reason}." for message in messages))


@dataclass(frozen=True)
class Choices:
    """The valid choices of a reader, and messages about invalid ones."""

    options: Options = field(default_factory=Options)
    sample: bool = False  # target=sample: intervals for these respondents
    tables: bool = False  # view=table: all tables open
    zoomed: bool = False  # scale=own: every plot on a scale of its own
    rows: str = ""
    columns: str = ""
    other_slugs: tuple[str, ...] = ()  # slugs of surveys to compare with this one
    outcome: str = ""  # of a regression: QUESTION=ANSWER
    on: tuple[str, ...] = ()  # the predictors of that regression
    typed_weights: tuple[tuple[str, str], ...] = ()  # weights of surveys, by slug, as they were typed
    typed_numbers: tuple[tuple[str, str], ...] = ()  # numbers that may explain an answer, by slug of a group
    digest: str = ""
    messages: tuple[InvalidChoice, ...] = field(default=(), compare=False)

    @property
    def confidences(self) -> list[float]:
        """The confidence levels to offer."""
        return sorted({*LEVELS, self.options.confidence})

    @property
    def api_parameters(self) -> list[tuple[str, str]]:
        """The parameters of the API: the version and the intervals."""
        options = self.options
        values = {
            "digest": self.digest,
            "confidence": "" if options.confidence == Options.confidence else repr(options.confidence),
            "simultaneous": "1" if options.simultaneous else "",
            "narrow": "1" if options.narrow else "",
            "population": str(options.population or ""),
        }
        return [(key, value) for key, value in values.items() if value]

    @property
    def weight_parameters(self) -> list[tuple[str, str]]:
        """The parameters of the weights."""
        return [(f"{WEIGHT_PREFIX}{slug}", text) for slug, text in self.typed_weights]

    @property
    def regression_parameters(self) -> list[tuple[str, str]]:
        """The parameters of the regression."""
        numbers = ((f"{NUMBER_PREFIX}{slug}", text) for slug, text in self.typed_numbers)
        return [("outcome", self.outcome), *(("on", name) for name in self.on), *numbers]

    @property
    def comparison_parameters(self) -> list[tuple[str, str]]:
        """The parameters of all comparisons: cross-tab, other surveys with their weights, and regression."""
        pairs = [("rows", self.rows), ("columns", self.columns), *(("with", slug) for slug in self.other_slugs)]
        pairs += [*self.weight_parameters, *self.regression_parameters]
        return [(key, value) for key, value in pairs if value]

    @property
    def view_parameters(self) -> list[tuple[str, str]]:
        """The parameters of the view: target, tables and scale."""
        pairs = [("target", "sample")] * self.sample + [("view", "table")] * self.tables
        return pairs + [("scale", "own")] * self.zoomed

    @property
    def is_default(self) -> bool:
        """Whether intervals, target and view are the default."""
        return self.options == Options() and not self.view_parameters

    def parameters_except(self, *prefixes: str) -> list[tuple[str, str]]:
        """Return all parameters except those whose names begin with one of the prefixes, which a form sets itself."""
        return [(key, value) for key, value in self.all_parameters if not key.startswith(prefixes)]

    @property
    def all_parameters(self) -> list[tuple[str, str]]:
        """All parameters of the query."""
        return [*self.api_parameters, *self.view_parameters, *self.comparison_parameters]


def format_query(*parts: Sequence[tuple[str, str]]) -> str:
    """Return the query string of a URL, with its question mark; empty without parameters."""
    pairs = [pair for part in parts for pair in part]
    return f"?{urlencode(pairs)}" if pairs else ""


def parse_options(args: MultiDict[str, str], reports: int) -> tuple[Options, list[InvalidChoice]]:
    """Parse the options of the intervals from a query. Return them with messages about invalid values.

    An empty value counts as missing.
    """
    messages: list[InvalidChoice] = []
    confidence = _parse_confidence(args.get("confidence", "").strip(), messages)
    population = _parse_population(args.get("population", "").strip(), reports, messages)
    options = Options(confidence, args.get("simultaneous") == "1", args.get("narrow") == "1", population)
    return options, messages


def parse_choices(args: MultiDict[str, str], reports: int) -> Choices:
    """Parse all choices of a query, given the number of reports."""
    options, messages = parse_options(args, reports)
    target, view, scale = (args.get(name, "") for name in ("target", "view", "scale"))
    if target not in ("", "population", "sample"):
        messages.append(
            InvalidChoice(
                ChoiceCode.TARGET,
                "The target must be “population” or “sample”",
                "these intervals are for the population",
            )
        )
    if view not in ("", "table", "plot"):
        messages.append(InvalidChoice(ChoiceCode.VIEW, "The view must be “plot” or “table”", "this is the plot"))
    if scale not in ("", "common", "own"):
        messages.append(
            InvalidChoice(ChoiceCode.SCALE, "The scale must be “common” or “own”", "all shares are on a common scale")
        )
    return Choices(
        options=options,
        sample=target == "sample",
        tables=view == "table",
        zoomed=scale == "own",
        rows=args.get("rows", "").strip(),
        columns=args.get("columns", "").strip(),
        other_slugs=_parse_several(args, "with"),
        outcome=args.get("outcome", "").strip(),
        on=_parse_several(args, "on"),
        typed_weights=_parse_by_slug(args, WEIGHT_PREFIX),
        typed_numbers=_parse_by_slug(args, NUMBER_PREFIX),
        digest=args.get("digest", ""),
        messages=tuple(messages),
    )


def _parse_several(args: MultiDict[str, str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for value in args.getlist(name) if (text := value.strip())))


def _parse_by_slug(args: MultiDict[str, str], prefix: str) -> tuple[tuple[str, str], ...]:
    pairs = ((key.removeprefix(prefix), value.strip()) for key, value in args.items() if key.startswith(prefix))
    return tuple((slug, text) for slug, text in pairs if text)


def _parse_confidence(text: str, messages: list[InvalidChoice]) -> float:
    default = Options.confidence
    try:
        level = float(text) if text else default
    except ValueError:
        level = 0.0
    stepped = round(level, 3) if isfinite(level) else 0.0
    if LEAST_CONFIDENCE <= stepped <= MOST_LEVEL and isclose(level, stepped):
        return stepped
    limits = f"from {LEAST_CONFIDENCE} to {MOST_LEVEL}, in steps of {LEVEL_STEP}"
    reason = f"The confidence level must be a number {limits}, such as 0.9"
    messages.append(InvalidChoice(ChoiceCode.CONFIDENCE, reason, f"the level of these intervals is {default}"))
    return default


def _parse_population(text: str, reports: int, messages: list[InvalidChoice]) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 17 and 0 < int(text) <= LARGEST_POPULATION):
        reason = "The population must be a number of people, such as 5000"
        messages.append(InvalidChoice(ChoiceCode.POPULATION, reason, "these intervals are for a very large population"))
        return None
    if int(text) < reports:
        people = written.format_count(int(text))
        reason = f"{written.format_count(reports)} reports cannot come from a population of {people}"
        messages.append(
            InvalidChoice(ChoiceCode.SMALL_POPULATION, reason, "these intervals are for a very large population")
        )
        return None
    return int(text)
