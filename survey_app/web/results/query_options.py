"""What a reader of results chose in the address: which intervals, for whom, what to compare, what to explain."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isclose, isfinite
from typing import NamedTuple
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from survey_app.estimate.intervals import LEAST_CONFIDENCE, Options
from survey_app.languages import numbers as written
from survey_app.problems import Problem

LEVELS = (0.8, 0.9, 0.95, 0.99)
STEP, MOST_CONFIDENCE = 0.001, 0.999  # levels move in steps, so that what was computed for one reader serves others
LARGEST_POPULATION = 2**53
MOST_GROUPS = 12
WEIGHT, KNOWN = "weight-", "known-"  # before the slug of the survey that a number is of


class Unfit(NamedTuple):
    """A choice that cannot be: why, and what a page shows instead; whatever has no place for both is refused."""

    reason: str
    instead: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.instead}."


def refusal(messages: Sequence[Unfit]) -> Problem:
    """The same for a document or a file."""
    return Problem("malformed_request", " ".join(f"{message.reason}." for message in messages))


@dataclass(frozen=True)
class Choices:
    """Valid choices, and messages about those that were not."""

    options: Options = field(default_factory=Options)
    sample: bool = False  # intervals for these respondents
    tables: bool = False  # all tables open
    zoomed: bool = False  # every plot on a scale of its own
    rows: str = ""
    columns: str = ""
    others: tuple[str, ...] = ()  # surveys to stand beside this one
    outcome: str = ""  # of a regression: QUESTION=ANSWER
    on: tuple[str, ...] = ()  # the questions that shall explain it
    typed: tuple[tuple[str, str], ...] = ()  # weights of surveys, by slug, as they were typed
    known: tuple[tuple[str, str], ...] = ()  # what is known of each group and shall explain an answer, likewise
    digest: str = ""
    messages: tuple[Unfit, ...] = field(default=(), compare=False)

    @property
    def confidences(self) -> list[float]:
        """The confidence levels to offer."""
        return sorted({*LEVELS, self.options.confidence})

    @property
    def asked(self) -> list[tuple[str, str]]:
        """What the API is asked for: the version and the intervals."""
        options = self.options
        wanted = {
            "digest": self.digest,
            "confidence": "" if options.confidence == Options.confidence else repr(options.confidence),
            "simultaneous": "1" if options.simultaneous else "",
            "narrow": "1" if options.narrow else "",
            "population": str(options.population or ""),
        }
        return [(key, value) for key, value in wanted.items() if value]

    @property
    def weighed(self) -> list[tuple[str, str]]:
        """The weights, as an address says them."""
        return [(f"{WEIGHT}{slug}", text) for slug, text in self.typed]

    @property
    def explained(self) -> list[tuple[str, str]]:
        """The regression, as an address says it."""
        numbers = ((f"{KNOWN}{slug}", text) for slug, text in self.known)
        return [("outcome", self.outcome), *(("on", name) for name in self.on), *numbers]

    @property
    def compared(self) -> list[tuple[str, str]]:
        """What is crossed, what stands beside with what weight, and what is explained."""
        pairs = [("rows", self.rows), ("columns", self.columns), *(("with", other) for other in self.others)]
        pairs += [*self.weighed, *self.explained]
        return [(key, value) for key, value in pairs if value]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """How it is shown."""
        wanted = [("target", "sample")] * self.sample + [("view", "table")] * self.tables
        return wanted + [("scale", "own")] * self.zoomed

    @property
    def usual(self) -> bool:
        """Whether intervals, target and look are as everybody gets them."""
        return self.options == Options() and not self.shown

    def besides(self, *names: str) -> list[tuple[str, str]]:
        """Everything but what a form of the page chooses itself."""
        return [(key, value) for key, value in self.all if not key.startswith(names)]

    @property
    def all(self) -> list[tuple[str, str]]:
        """Everything, as an address says it."""
        return [*self.asked, *self.shown, *self.compared]


def query(*parts: Sequence[tuple[str, str]]) -> str:
    """The end of an address, with its question mark; nothing for nothing."""
    pairs = [pair for part in parts for pair in part]
    return f"?{urlencode(pairs)}" if pairs else ""


def read_options(args: MultiDict[str, str], reports: int) -> tuple[Options, list[Unfit]]:
    """What intervals a query asks for, and messages about what it may not ask for; an empty field is no choice."""
    messages: list[Unfit] = []
    confidence = _confidence(args.get("confidence", "").strip(), messages)
    population = _population(args.get("population", "").strip(), reports, messages)
    options = Options(confidence, args.get("simultaneous") == "1", args.get("narrow") == "1", population)
    return options, messages


def read(args: MultiDict[str, str], reports: int) -> Choices:
    """The choices of a query."""
    options, messages = read_options(args, reports)
    target, view, scale = (args.get(name, "") for name in ("target", "view", "scale"))
    if target not in ("", "population", "sample"):
        messages.append(Unfit("The target is “population” or “sample”", "these intervals are for the population"))
    if view not in ("", "table", "plot"):
        messages.append(Unfit("The view is “plot” or “table”", "this is the plot"))
    if scale not in ("", "common", "own"):
        messages.append(Unfit("The scale is “common” or “own”", "all shares are on a common one"))
    return Choices(
        options=options,
        sample=target == "sample",
        tables=view == "table",
        zoomed=scale == "own",
        rows=args.get("rows", "").strip(),
        columns=args.get("columns", "").strip(),
        others=_several(args, "with"),
        outcome=args.get("outcome", "").strip(),
        on=_several(args, "on"),
        typed=_by_slug(args, WEIGHT),
        known=_by_slug(args, KNOWN),
        digest=args.get("digest", ""),
        messages=tuple(messages),
    )


def _several(args: MultiDict[str, str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for value in args.getlist(name) if (text := value.strip())))


def _by_slug(args: MultiDict[str, str], prefix: str) -> tuple[tuple[str, str], ...]:
    found = ((key.removeprefix(prefix), value.strip()) for key, value in args.items() if key.startswith(prefix))
    return tuple((slug, text) for slug, text in found if text)


def _confidence(text: str, messages: list[Unfit]) -> float:
    usual = Options.confidence
    try:
        level = float(text) if text else usual
    except ValueError:
        level = 0.0
    stepped = round(level, 3) if isfinite(level) else 0.0
    if LEAST_CONFIDENCE <= stepped <= MOST_CONFIDENCE and isclose(level, stepped):
        return stepped
    whole = f"from {LEAST_CONFIDENCE} to {MOST_CONFIDENCE}, in steps of {STEP}"
    reason = f"A confidence level is a number {whole}, such as 0.9"
    messages.append(Unfit(reason, f"these intervals are of {usual}"))
    return usual


def _population(text: str, reports: int, messages: list[Unfit]) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 17 and 0 < int(text) <= LARGEST_POPULATION):
        reason = "A population is a number of people, such as 5000"
        messages.append(Unfit(reason, "these intervals are for a very large one"))
        return None
    if int(text) < reports:
        reason = f"{written.count(reports)} reports cannot come from {written.count(int(text))} people"
        messages.append(Unfit(reason, "these intervals are for very many people"))
        return None
    return int(text)
