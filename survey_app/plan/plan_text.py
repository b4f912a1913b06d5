"""Plans as plain text for a terminal."""

import textwrap
from collections.abc import Sequence
from decimal import Decimal

from survey_app.authoring.ask import Ask
from survey_app.channels.posterior import EVEN_ODDS, SUSPICION, posterior_chance, prior_chance
from survey_app.kinds import kind_by_name
from survey_app.languages import numbers
from survey_app.languages.plain_text import WIDTH, format_table
from survey_app.plan.advice import FEASIBLE_RESPONDENTS
from survey_app.plan.ask_advice import format_saving
from survey_app.plan.crosstab_plan import CrosstabPlan
from survey_app.plan.epsilon_guide import PrivacyLevel
from survey_app.plan.question_plan import Prospect, SinglePlan
from survey_app.plan.study_plan import StudyPlan
from survey_app.plan.survey_plan import SurveyPlan
from survey_app.plan.target import Settings
from survey_app.plan.variants import Variant


def render_survey_plan(plan: SurveyPlan) -> str:
    """Render the plan of a survey: the variants, its questions, groups and cross-tabs, and advice."""
    settings = plan.settings
    part = numbers.format_quantity(100 * (settings.margin or 0))
    text = [
        f"{plan.slug}: {plan.title}",
        f"ε = {_format_epsilon(plan.epsilon)} in total. {_format_confidence(settings)}{_format_target_note(plan)}.",
        f"±{part}% means {part} points for a share, and {part}% of the possible range for a mean.",
        "",
        *_format_variants(plan, part),
        "",
        *_format_figures(plan, part),
    ]
    if plan.study:
        text += ["", *_format_groups(plan, plan.study, part)]
    if plan.crosses:
        text += ["", *_format_crosstabs(plan.crosses)]
    choice = [_wrap(plan.choice.title, plan.choice.why)] if plan.choice else []
    refusals = [
        _wrap("not possible", f"{refusal.name} (ask: {refusal.ask}): {refusal.reason}") for refusal in plan.refused
    ]
    if remarks := [*choice, *refusals, *(_wrap("advice", advice) for advice in plan.advice)]:
        text += ["", *remarks]
    return "\n".join(text)


def _format_variants(plan: SurveyPlan, part: str) -> list[str]:
    """Return a table of the respondents that each variant needs for all margins, and the blocks of each."""
    rows = [["respondents needed for", f"all ±{part}%", "", "if all shares are ½", "each device answers"]]
    for variant in plan.ways:
        blocks = (
            "everything"
            if len(variant.blocks) == 1 or variant.ask is Ask.ALL
            else f"one of {len(variant.blocks)} blocks"
        )
        rows.append(
            [
                f"{variant.name} (ask: {variant.ask})",
                numbers.format_respondents(variant.respondents),
                format_saving(variant, plan.ways),
                numbers.format_respondents(variant.at_half),
                blocks + (", as written" if variant.ask == plan.ask else ""),
            ]
        )
    author_variants, best_variants = (
        [variant for variant in plan.ways if variant.ask == ask] for ask in (Ask.ONE, Ask.AUTO)
    )
    variants = [
        variant
        for variant in author_variants
        if [variant.blocks] != [best_variant.blocks for best_variant in best_variants]
    ] + best_variants
    block_lines = [
        _wrap(variant.name, _format_blocks(variant))
        for variant in variants
        if any(len(block) > 1 for block in variant.blocks)
    ]
    return [*format_table(rows, right=(1, 3)), *block_lines]


def _format_blocks(variant: Variant) -> str:
    return "; ".join(" + ".join(block) for block in variant.blocks)


def _format_figures(plan: SurveyPlan, part: str) -> list[str]:
    """Return a table of all figures: ε and respondents as written, and the margin in each variant."""
    rows = [["question", "figure", "ε", f"for ±{part}%", *(variant.name for variant in plan.ways)]]
    for i, line in enumerate(plan.lines):
        margins = [variant.lines[i].margin_text() for variant in plan.ways]
        rows.append(
            [
                line.id,
                line.assumption,
                _format_epsilon(line.epsilon),
                numbers.format_respondents(line.respondents),
                *margins,
            ]
        )
    written_as = next(variant.name for variant in plan.ways if variant.ask == plan.ask)
    groups_note = "" if not plan.study else " of all groups together" if plan.study.margins else " of one group"
    respondents = f"{numbers.format_count(plan.settings.respondents or 0)} respondents{groups_note}"
    head = f"margins with {respondents}; ε and “for ±{part}%” are as written: "
    return [head + written_as, *format_table(rows, right=range(2, len(rows[0])))]


def _format_groups(plan: SurveyPlan, study: StudyPlan, part: str) -> list[str]:
    """Return tables of the groups, their margins, the respondents for all margins, and a difference."""
    rows = [["group", "people", "weight", "respondents"]]
    for group in study.groups:
        people = "-" if group.size is None else numbers.format_count(group.size)
        weight = "-" if group.weight is None else numbers.format_percent(group.weight, 3)
        rows.append([group.group, people, weight, numbers.format_count(group.respondents)])
    margins = [
        [
            "margins",
            "figure",
            *(["all groups"] if study.margins else []),
            *(group.group for group in study.table_groups),
        ]
    ]
    for i, line in enumerate(plan.lines):
        total = [line.margin_text(study.margins[i])] if study.margins else []
        by_group = (line.margin_text(group.margins[i]) for group in study.table_groups)
        margins.append([line.id, line.assumption, *total, *by_group])
    needs = [_wrap(f"for all ±{part}%", sentence) for sentence in study.requirements]
    right = range(2, len(margins[0]))
    return [
        *format_table(rows, right=(1, 2, 3)),
        "",
        *format_table(margins, right=right),
        *needs,
        "",
        *_format_difference(plan, study),
    ]


def _format_difference(plan: SurveyPlan, study: StudyPlan) -> list[str]:
    """Return a table of differences between two groups: each margin, and the smallest detectable difference."""
    difference = study.difference
    rows = [["difference", "figure", "margin", f"detectable with power {difference.power:g}"]]
    for line, margin, least_difference in zip(plan.lines, difference.margins, difference.told, strict=True):
        detectable = (
            "none"
            if least_difference is None
            else f"from {numbers.format_difference(least_difference, line.is_share, line.unit)}"
        )
        rows.append([line.id, line.assumption, line.margin_text(margin), detectable])
    groups = (
        f"{difference.of} - {difference.to}{', the smallest and the largest group' if len(study.groups) > 2 else ''}"
    )
    return [f"differences: {groups}", *format_table(rows, right=(2, 3))]


def _format_epsilon(value: float) -> str:
    """Format an ε with all digits, for a column."""
    return numbers.format_epsilon(value, fixed=True)


def _wrap(label: str, sentence: str) -> str:
    return textwrap.fill(f"{label}: {sentence}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _format_crosstabs(crosses: Sequence[CrosstabPlan]) -> list[str]:
    """Return a table with two rows for each cross-tab, joint and separate; the survey's own design is marked."""
    rows = [["together or apart", "cells", "a cell at", "margin", "each question alone"]]
    for cross in crosses:
        for name, design, is_own in (
            ("together", cross.joint, cross.is_joint),
            ("apart", cross.separate, not cross.is_joint),
        ):
            no_cell = "-" if cross.joint.cell is None else "not observed"
            cell = no_cell if design.cell is None else numbers.format_margin(design.cell, is_share=True)
            margins = ", ".join(f"{line.id} {line.margin_text()}" for line in design.lines)
            mark = " (as written)" if is_own else ""
            rows.append(
                [
                    f"{cross.name}, {name}{mark}",
                    numbers.format_count(cross.cells),
                    numbers.format_percent(cross.share, 3),
                    cell,
                    margins,
                ]
            )
    return [*format_table(rows, right=(1, 2, 3)), *_format_prices(crosses)]


def _format_prices(crosses: Sequence[CrosstabPlan]) -> list[str]:
    """Return the prices of joint fields: a line for each one that the author requests, one line for the rest."""
    requested = [_wrap("price", f"{cross.name} together: {cross.price_text}") for cross in crosses if cross.wished]
    rest = [
        f"{cross.name} {numbers.format_cost_factor(cross.price)}{' (free)' if cross.price < 1 else ''}"
        for cross in crosses
        if cross.price is not None and not cross.wished
    ]
    explanation = "respondents together, as a multiple of those apart, if each device answers one block"
    return [*requested, *([_wrap("price", f"{explanation}: {'; '.join(rest)}")] if rest else [])]


def _format_confidence(settings: Settings) -> str:
    return (
        f"{numbers.format_percent(settings.confidence)} confidence, "
        f"{_format_population(settings.target.size, settings.target.sample)}"
    )


def _format_target_note(plan: SurveyPlan) -> str:
    """Return a note on the variants whose target population differs from the plan's; empty if there are none."""
    blocks = plan.settings.target.sample and any(variant.ask is not Ask.ALL for variant in plan.ways)
    return "; with blocks, for a large population" if blocks else ""


def _format_population(population: int | None, sample: bool) -> str:
    if sample:
        return "for these respondents alone"
    return f"for a population of {numbers.format_count(population)}" if population else "for a large population"


def render_question_plan(plan: SinglePlan) -> str:
    """Render the plan of one question: its figures, the alternatives, and the information in a report."""
    count = f", one of {plan.questions} like it" if plan.questions > 1 else ""
    blocks = "; each device answers one" if plan.ask is Ask.ONE and plan.questions > 1 else ""
    text = [
        f"{kind_by_name(plan.type).plan_name}{count}, ε = {_format_epsilon(plan.field_epsilon)}{blocks}; "
        f"{numbers.format_percent(plan.confidence)} confidence, {_format_population(plan.population, plan.sample)}"
    ]
    for prospect in plan.outlooks:
        text += ["", *_format_prospect(prospect, plan)]
    total = (
        ""
        if abs(plan.epsilon - plan.field_epsilon) < 1e-9
        else f" (ε = {_format_epsilon(plan.epsilon)} for all answers)"
    )
    text += [
        "",
        *textwrap.wrap(
            f"A report{total} raises a suspicion of {numbers.format_chance(prior_chance(SUSPICION))} to at most "
            f"{numbers.format_largest_suspicion(SUSPICION, plan.epsilon)}. A guess between two equally likely "
            "answers is right with "
            f"a chance of at most {numbers.format_largest_suspicion(EVEN_ODDS, plan.epsilon)}.",
            WIDTH,
        ),
    ]
    return "\n".join(text)


def _format_prospect(prospect: Prospect, plan: SinglePlan) -> list[str]:
    planned, is_share = prospect.precision.respondents, prospect.is_share
    rows = [
        [name, numbers.format_respondents(precision.respondents), numbers.format_margin(precision.margin, is_share)]
        for name, precision in {"with Candor": prospect.precision, **prospect.instead}.items()
    ]
    head = ["", "respondents", "margin"]
    text = [prospect.assumption(plan.type), *(f"  {row}" for row in format_table([head, *rows], right=(1, 2)))]
    if prospect.census is not None and planned is None:
        text.append(
            f"  all {numbers.format_count(plan.population or 0)} people: "
            f"{numbers.format_margin(prospect.census, is_share)}"
        )
    if (planned or 0) > FEASIBLE_RESPONDENTS:
        text.append(
            "  no survey reaches so many respondents: allow a wider margin or a larger ε, or ask fewer questions"
        )
    if prospect.precision.margin >= (prospect.high - prospect.low) / 2:
        text.append("  the interval can be as wide as the possible range: it takes more respondents or a larger ε")
    if prospect.above_zero is not None:
        approximate = "" if prospect.above_zero_is_exact else ", approximately"
        need = f"{numbers.format_count(prospect.above_zero)} respondents{approximate}"
        text.append(
            f"  shown to be above zero, with power {plan.power:g}: "
            f"{need}{_format_power(prospect.above_zero_power, planned)}"
        )
    if planned is not None:
        difference = prospect.smallest_difference
        text.append(
            f"  smallest detectable difference between two groups of {numbers.format_count(planned)} each, with power "
            f"{plan.power:g}: "
            f"{'none is large enough' if difference is None else numbers.format_difference(difference, is_share)}"
        )
    if groups := prospect.groups:
        value = numbers.format_percent(groups.share, 3) if is_share else numbers.format_quantity(groups.share)
        need = f"{numbers.format_respondents(groups.respondents)} respondents in each"
        text.append(f"  two groups, the second at {value}: {need}{_format_power(groups.power, planned)}")
    return text


def _format_power(power: float | None, respondents: int | None) -> str:
    """Return the power of the planned respondents in words; empty if there is none."""
    return (
        "" if power is None else f"; {numbers.format_respondents(respondents)} have power {numbers.format_power(power)}"
    )


def render_guidance(levels: Sequence[PrivacyLevel]) -> str:
    """Render a table of privacy levels: the respondents each needs, and its meaning for a respondent."""

    def format_count(respondents: int | None) -> str:
        return "-" if respondents is None else numbers.format_count(respondents)

    def cases(suspicion: int, level: PrivacyLevel) -> str:
        return "100" if level.epsilon is None else str(posterior_chance(suspicion, Decimal(repr(level.epsilon))).cases)

    names = [level.name if level.epsilon is None else f"ε = {level.name}" for level in levels]
    rows = [
        ["respondents (yes or no, 95%)", *names],
        ["5% ± 2.5 points", *(format_count(level.rare) for level in levels)],
        ["20% ± 5 points", *(format_count(level.usual) for level in levels)],
        ["5%: shown > 0, power 0.8", *(format_count(level.shown) for level in levels)],
        ["  the same, exactly", *(format_count(level.shown_exactly) for level in levels)],
        ["a suspicion of 5 becomes at most, in 100", *(cases(SUSPICION, level) for level in levels)],
        ["a 50:50 guess is right at most, in 100", *(cases(EVEN_ODDS, level) for level in levels)],
    ]
    return "\n".join(format_table(rows, right=range(1, len(rows[0]))))
