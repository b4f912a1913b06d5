"""The recommendation among the three ways to ask a survey, with its reason.

Blocks save respondents and cost combinations: answers in two blocks come from different people. They are not
recommended where the saving is small, where every ε is fixed, or where few respondents would answer a block
(docs/methods.md §15).
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from survey_app.authoring import Built
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.savings import WORTHWHILE
from survey_app.languages import numbers
from survey_app.plan.target import Settings
from survey_app.plan.variants import NAMES, Refused, Way

FEWEST = 100  # respondents that a block should have


class Choice(Struct, frozen=True):
    """The recommended `ask`, empty if there is none, and the reason in a sentence or two."""

    ask: Ask | Literal[""]
    why: str

    @property
    def title(self) -> str:
        """The recommendation, as a heading."""
        return f"recommended: {NAMES[self.ask]}" if self.ask else "no part is recommended yet"


def factor(way: Way, split: Way) -> float | None:
    """Return how many times fewer respondents `variant` needs than `split`; None if either needs too many."""
    return split.respondents / way.respondents if split.respondents and way.respondents else None


def saving(way: Way, ways: Sequence[Way]) -> str:
    """Return in words how many times fewer respondents a variant needs than splitting ε; empty for the split itself."""
    split = next((candidate for candidate in ways if candidate.ask is Ask.ALL), None)
    ratio = None if split is None or split.ask == way.ask else factor(way, split)
    if ratio is None:
        return ""
    if round(ratio, 2) == 1:
        return "as many"
    return f"{numbers.quantity(max(ratio, 1 / ratio))} times {'fewer' if ratio > 1 else 'more'}"


def choose(built: Built, ways: Sequence[Way], refused: Sequence[Refused], settings: Settings) -> Choice | None:
    """Return the recommended variant with the reason; None for a survey with one question."""
    if len(built.survey.questions) == 1:
        return None
    by_ask = {variant.ask: variant for variant in ways}
    split, best = by_ask.get(Ask.ALL), by_ask.get(Ask.AUTO)
    if best is None:
        (reason,) = (refusal.reason for refusal in refused if refusal.ask is Ask.AUTO)
        return Choice(Ask.ALL, f"each device cannot answer a part of them: {reason}")
    if all(not item.weight for item in built.wishes.items):
        return Choice(
            Ask.ALL if split else "",
            "the ε of every question is fixed by its design, so that a part would only be answered by fewer people; "
            "and on paper nobody could draw one",
        )
    if len(best.blocks) == 1:
        saving_text = saving(best, ways)
        return Choice(
            Ask.AUTO,
            "here they are one block: every device answers everything, randomized together"
            f"{f', with {saving_text} respondents' if saving_text else ''}, and everything can be crossed",
        )
    target = _everywhere(built, settings)
    if split and _left(best, split) > WORTHWHILE:
        return Choice(Ask.ALL, _too_little(best, split, target))
    if settings.respondents and best.fewest * settings.respondents < FEWEST:
        return Choice("", _too_few(best, split, settings.respondents))
    return Choice(Ask.AUTO, _worth_it(best, split, saving(best, ways), target))


def _left(best: Way, split: Way) -> float:
    """Return the fraction of the respondents that the best blocks need.

    If a population is too small for a variant, compare margins instead.
    """
    if ratio := factor(best, split):
        return 1 / ratio
    best_margin, split_margin = (max(line.margin / line.width for line in variant.lines) for variant in (best, split))
    return float((best_margin / split_margin) ** 2)


def _everywhere(built: Built, settings: Settings) -> str:
    """Return the target precision in words; for a follow-up it applies to a share of all respondents."""
    has_follow_ups = any(question.show_if for question in built.survey.questions)
    exception = " (a follow-up: of all people, not of those who see it)" if has_follow_ups else ""
    return f"±{numbers.quantity(100 * (settings.margin or 0))}% everywhere{exception}"


def _too_little(best: Way, split: Way, wanted: str) -> str:
    best_count, split_count = (numbers.respondents(variant.respondents) for variant in (best, split))
    return (
        f"respondents for {wanted} are {best_count} with the best blocks and {split_count} with everything "
        "split: too few are saved, since answers of two blocks cannot be combined"
    )


def _too_few(best: Way, split: Way | None, respondents: int) -> str:
    comparison = ". Everything split would be less precise still" if split and _left(best, split) < 1 else ""
    return (
        f"of {numbers.count(respondents)} respondents only about {numbers.count(round(best.fewest * respondents))} "
        f"would be asked {' + '.join(best.least)}, and a block should have {FEWEST}: ask at least "
        f"{numbers.count(math.ceil(FEWEST / best.fewest))} people, or fewer questions{comparison}"
    )


def _worth_it(best: Way, split: Way | None, times: str, wanted: str) -> str:
    alternative = f", not {numbers.respondents(split.respondents)}" if split else ""
    result = f"{numbers.respondents(best.respondents)} respondents for {wanted}{alternative}"
    if best.respondents is None:
        result = f"so small a population cannot give {wanted}, but blocks come nearer to it"
    return (
        f"{result}{f': {times}' if times else ''}. Each device answers one of {len(best.blocks)} blocks, so that "
        "answers of two blocks can be compared, but not combined: not for a regression over everything, and not on "
        "paper"
    )
