"""Which of the three ways to ask a survey is recommended, and why a part is not where it is not.

A part of the questions for each device saves respondents and costs combinations: answers of two blocks come from
different people. It is not worth that where the saving is small, where every ε is fixed anyway, or where a block would
be answered by a handful (docs/methods.md §15).
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from survey_app.authoring import Built
from survey_app.authoring.ask import Ask
from survey_app.authoring.saving import WORTHWHILE
from survey_app.explain import written
from survey_app.plan.settings import Settings
from survey_app.plan.variants import NAMES, Refused, Way

FEWEST = 100  # people whom a block should have


class Choice(Struct, frozen=True):
    """The `ask` that is recommended, empty if none is, and why, in a sentence or two."""

    ask: Ask | Literal[""]
    why: str

    @property
    def title(self) -> str:
        """What is recommended."""
        return f"recommended: {NAMES[self.ask]}" if self.ask else "no part is recommended yet"


def factor(way: Way, split: Way) -> float | None:
    """How many times fewer respondents it takes; None where a population is too small for one of them."""
    return split.respondents / way.respondents if split.respondents and way.respondents else None


def saving(way: Way, ways: Sequence[Way]) -> str:
    """How many times fewer respondents it takes than if ε were split, in words; empty for that itself."""
    split = next((one for one in ways if one.ask is Ask.ALL), None)
    times = None if split is None or split.ask == way.ask else factor(way, split)
    if times is None:
        return ""
    if round(times, 2) == 1:
        return "as many"
    return f"{written.quantity(max(times, 1 / times))} times {'fewer' if times > 1 else 'more'}"


def choose(built: Built, ways: Sequence[Way], refused: Sequence[Refused], settings: Settings) -> Choice | None:
    """What to recommend; None where there is nothing to choose."""
    if len(built.survey.questions) == 1:
        return None
    by_ask = {way.ask: way for way in ways}
    split, best = by_ask.get(Ask.ALL), by_ask.get(Ask.AUTO)
    if best is None:
        (why,) = (one.reason for one in refused if one.ask is Ask.AUTO)
        return Choice(Ask.ALL, f"each device cannot answer a part of them: {why}")
    if all(not item.weight for item in built.wishes.items):
        return Choice(
            Ask.ALL if split else "",
            "the ε of every question is fixed by its design, so that a part would only be answered by fewer people; "
            "and on paper nobody could draw one",
        )
    if len(best.blocks) == 1:
        saved = saving(best, ways)
        return Choice(
            Ask.AUTO,
            "here they are one block: every device answers everything, randomized together"
            f"{f', with {saved} respondents' if saved else ''}, and everything can be crossed",
        )
    wanted = _everywhere(built, settings)
    if split and _left(best, split) > WORTHWHILE:
        return Choice(Ask.ALL, _too_little(best, split, wanted))
    if settings.respondents and best.fewest * settings.respondents < FEWEST:
        return Choice("", _too_few(best, split, settings.respondents))
    return Choice(Ask.AUTO, _worth_it(best, split, saving(best, ways), wanted))


def _left(best: Way, split: Way) -> float:
    """Which part of the respondents the best blocks need, by their margins where no population would do."""
    if times := factor(best, split):
        return 1 / times
    worst, before = (max(line.margin / line.width for line in way.lines) for way in (best, split))
    return float((worst / before) ** 2)


def _everywhere(built: Built, settings: Settings) -> str:
    """Name the precision that is planned for: of a follow-up, that of a share of all people."""
    followed = any(question.show_if for question in built.survey.questions)
    exception = " (a follow-up: of all people, not of those who see it)" if followed else ""
    return f"±{written.quantity(100 * (settings.margin or 0))}% everywhere{exception}"


def _too_little(best: Way, split: Way, wanted: str) -> str:
    needed, before = (written.respondents(way.respondents) for way in (best, split))
    return (
        f"respondents for {wanted} are {needed} with the best blocks and {before} with everything "
        "split: too few are saved, since answers of two blocks cannot be combined"
    )


def _too_few(best: Way, split: Way | None, respondents: int) -> str:
    worse = ". Everything split would be less precise still" if split and _left(best, split) < 1 else ""
    return (
        f"of {written.count(respondents)} respondents only about {written.count(round(best.fewest * respondents))} "
        f"would be asked {' + '.join(best.least)}, and a block should have {FEWEST}: ask at least "
        f"{written.count(math.ceil(FEWEST / best.fewest))} people, or fewer questions{worse}"
    )


def _worth_it(best: Way, split: Way | None, times: str, wanted: str) -> str:
    instead = f", not {written.respondents(split.respondents)}" if split else ""
    saved = f"{written.respondents(best.respondents)} respondents for {wanted}{instead}"
    if best.respondents is None:
        saved = f"so small a population cannot give {wanted}, but blocks come nearer to it"
    return (
        f"{saved}{f': {times}' if times else ''}. Each device answers one of {len(best.blocks)} blocks, so that "
        "answers of two blocks can be compared, but not combined: not for a regression over everything, and not on "
        "paper"
    )
