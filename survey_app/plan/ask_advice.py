"""The recommendation among the three ways to ask a survey, with its reason.

Blocks save respondents and cost combinations: answers in two blocks come from different people. They are not
recommended where the saving is small, where every ε is fixed, or where few respondents would answer a block
(docs/methods.md §15).
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from survey_app.authoring import BuiltSurvey
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.savings import WORTHWHILE
from survey_app.languages import numbers
from survey_app.plan.target import Settings
from survey_app.plan.variants import VARIANT_NAMES, RefusedVariant, Variant

LEAST_BLOCK_RESPONDENTS = 100  # respondents that a block should have


class AskRecommendation(Struct, frozen=True):
    """The recommended `ask`, empty if there is none, with the reason as a code and in a sentence or two."""

    ask: Ask | Literal[""]
    code: Literal["no_blocks", "fixed_epsilon", "one_block", "small_saving", "small_blocks", "blocks"]
    why: str

    @property
    def title(self) -> str:
        """The recommendation, as a heading."""
        return f"recommended: {VARIANT_NAMES[self.ask]}" if self.ask else "no recommendation yet"


def compute_respondent_ratio(variant: Variant, split: Variant) -> float | None:
    """Return how many times fewer respondents `variant` needs than `split`; None if either needs too many."""
    return split.respondents / variant.respondents if split.respondents and variant.respondents else None


def format_saving(variant: Variant, variants: Sequence[Variant]) -> str:
    """Return in words how many times fewer respondents a variant needs than splitting ε; empty for the split itself."""
    split = next((candidate for candidate in variants if candidate.ask is Ask.ALL), None)
    ratio = None if split is None or split.ask == variant.ask else compute_respondent_ratio(variant, split)
    if ratio is None:
        return ""
    if round(ratio, 2) == 1:
        return "just as many"
    return f"{numbers.format_quantity(max(ratio, 1 / ratio))} times {'fewer' if ratio > 1 else 'more'}"


def recommend_ask(
    built: BuiltSurvey, variants: Sequence[Variant], refused: Sequence[RefusedVariant], settings: Settings
) -> AskRecommendation | None:
    """Return the recommended variant with the reason; None for a survey with one question."""
    if len(built.survey.questions) == 1:
        return None
    by_ask = {variant.ask: variant for variant in variants}
    split, best = by_ask.get(Ask.ALL), by_ask.get(Ask.AUTO)
    if best is None:
        (reason,) = (refusal.reason for refusal in refused if refusal.ask is Ask.AUTO)
        return AskRecommendation(Ask.ALL, "no_blocks", f"devices cannot answer only some of the questions: {reason}")
    if all(not item.weight for item in built.request.items):
        return AskRecommendation(
            Ask.ALL if split else "",
            "fixed_epsilon",
            "the ε of every question is fixed, so blocks would only mean fewer answers to each question. On paper,"
            " nobody could draw a block",
        )
    if len(best.blocks) == 1:
        saving_text = format_saving(best, variants)
        return AskRecommendation(
            Ask.AUTO,
            "one_block",
            "the best design is a single block: every device answers all questions, randomized together"
            f"{f', with {saving_text} respondents' if saving_text else ''}. All questions can be cross-tabulated",
        )
    target = _format_target(built, settings)
    if split and _compute_respondent_fraction(best, split) > WORTHWHILE:
        return AskRecommendation(Ask.ALL, "small_saving", _explain_small_saving(best, split, target))
    if settings.respondents and best.fewest * settings.respondents < LEAST_BLOCK_RESPONDENTS:
        return AskRecommendation("", "small_blocks", _explain_small_blocks(best, split, settings.respondents))
    return AskRecommendation(
        Ask.AUTO, "blocks", _explain_best_blocks(best, split, format_saving(best, variants), target)
    )


def _compute_respondent_fraction(best: Variant, split: Variant) -> float:
    """Return the fraction of the respondents that the best blocks need.

    If a population is too small for a variant, compare margins instead.
    """
    if ratio := compute_respondent_ratio(best, split):
        return 1 / ratio
    best_margin, split_margin = (max(line.margin / line.width for line in variant.lines) for variant in (best, split))
    return float((best_margin / split_margin) ** 2)


def _format_target(built: BuiltSurvey, settings: Settings) -> str:
    """Return the target precision in words; for a follow-up it applies to a share of all respondents."""
    has_follow_ups = any(question.show_if for question in built.survey.questions)
    exception = " (for a follow-up: of all people, not of those who see it)" if has_follow_ups else ""
    return f"±{numbers.format_quantity(100 * (settings.margin or 0))}% everywhere{exception}"


def _explain_small_saving(best: Variant, split: Variant, target: str) -> str:
    best_count, split_count = (numbers.format_respondents(variant.respondents) for variant in (best, split))
    return (
        f"the respondents needed for {target} are {best_count} with the best blocks and {split_count} with everything "
        "split. The saving is too small for blocks, because answers from two blocks cannot be combined"
    )


def _explain_small_blocks(best: Variant, split: Variant | None, respondents: int) -> str:
    comparison = (
        ". Everything split would be even less precise"
        if split and _compute_respondent_fraction(best, split) < 1
        else ""
    )
    return (
        f"of {numbers.format_count(respondents)} respondents, only about "
        f"{numbers.format_count(round(best.fewest * respondents))} would be asked "
        f"{' + '.join(best.least)}, but a block should have {LEAST_BLOCK_RESPONDENTS}. Ask at least "
        f"{numbers.format_count(math.ceil(LEAST_BLOCK_RESPONDENTS / best.fewest))} people, or ask fewer "
        f"questions{comparison}"
    )


def _explain_best_blocks(best: Variant, split: Variant | None, saving_text: str, target: str) -> str:
    alternative = f", instead of {numbers.format_respondents(split.respondents)}" if split else ""
    result = f"{numbers.format_respondents(best.respondents)} respondents for {target}{alternative}"
    if best.respondents is None:
        result = f"the population is too small for {target}, but blocks come closer to it"
    return (
        f"{result}{f': {saving_text}' if saving_text else ''}. Each device answers one of {len(best.blocks)} "
        "blocks. Answers from two blocks can be compared, but not combined. Do not use blocks for a "
        "regression over all questions, or on paper"
    )
