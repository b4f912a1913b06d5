"""Plans as plain text for a terminal."""

import textwrap
from collections.abc import Sequence
from decimal import Decimal

from survey_app.authoring.ask import Ask
from survey_app.channels.posterior import EVEN, SUSPICION, raised, suspected
from survey_app.kinds import kind_named
from survey_app.languages import numbers
from survey_app.languages.plain_text import WIDTH, table
from survey_app.plan.advice import TOO_MANY
from survey_app.plan.ask_advice import saving
from survey_app.plan.crosstab_plan import Cross
from survey_app.plan.epsilon_guide import Level
from survey_app.plan.question_plan import Prospect, SinglePlan
from survey_app.plan.study_plan import StudyPlan
from survey_app.plan.survey_plan import SurveyPlan
from survey_app.plan.target import Settings
from survey_app.plan.variants import Way


def survey_page(plan: SurveyPlan) -> str:
    """Render the plan of a survey: the variants, its questions, groups and cross-tabs, and advice."""
    settings = plan.settings
    part = numbers.quantity(100 * (settings.margin or 0))
    text = [
        f"{plan.slug}: {plan.title}",
        f"ε = {_epsilon(plan.epsilon)} in total. {_sure(settings)}{_but(plan)}.",
        f"±{part}% are {part} points of a share, and {part}% of the possible range of a mean.",
        "",
        *_ways(plan, part),
        "",
        *_questions(plan, part),
    ]
    if plan.study:
        text += ["", *_groups(plan, plan.study, part)]
    if plan.crosses:
        text += ["", *_crosses(plan.crosses)]
    choice = [_wrapped(plan.choice.title, plan.choice.why)] if plan.choice else []
    refusals = [
        _wrapped("not possible", f"{refusal.name} (ask: {refusal.ask}): {refusal.reason}") for refusal in plan.refused
    ]
    if remarks := [*choice, *refusals, *(_wrapped("advice", advice) for advice in plan.advice)]:
        text += ["", *remarks]
    return "\n".join(text)


def _ways(plan: SurveyPlan, part: str) -> list[str]:
    """Return a table of the respondents that each variant needs for all margins, and the blocks of each."""
    rows = [["respondents for", f"all ±{part}%", "", "at shares of ½", "each device answers"]]
    for variant in plan.ways:
        blocks = (
            "everything"
            if len(variant.blocks) == 1 or variant.ask is Ask.ALL
            else f"one of {len(variant.blocks)} blocks"
        )
        rows.append(
            [
                f"{variant.name} (ask: {variant.ask})",
                numbers.respondents(variant.respondents),
                saving(variant, plan.ways),
                numbers.respondents(variant.at_half),
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
        _wrapped(variant.name, _blocks(variant))
        for variant in variants
        if any(len(block) > 1 for block in variant.blocks)
    ]
    return [*table(rows, right=(1, 3)), *block_lines]


def _blocks(way: Way) -> str:
    return "; ".join(" + ".join(block) for block in way.blocks)


def _questions(plan: SurveyPlan, part: str) -> list[str]:
    """Return a table of all figures: ε and respondents as written, and the margin in each variant."""
    rows = [["question", "figure", "ε", f"for ±{part}%", *(variant.name for variant in plan.ways)]]
    for i, line in enumerate(plan.lines):
        margins = [variant.lines[i].margin_text() for variant in plan.ways]
        rows.append([line.id, line.assumption, _epsilon(line.epsilon), numbers.respondents(line.respondents), *margins])
    written_as = next(variant.name for variant in plan.ways if variant.ask == plan.ask)
    groups_note = "" if not plan.study else " of all groups together" if plan.study.margins else " of one group"
    respondents = f"{numbers.count(plan.settings.respondents or 0)} respondents{groups_note}"
    head = f"margins at {respondents}; ε and for ±{part}% as written: "
    return [head + written_as, *table(rows, right=range(2, len(rows[0])))]


def _groups(plan: SurveyPlan, study: StudyPlan, part: str) -> list[str]:
    """Return tables of the groups, their margins, the respondents for all margins, and a difference."""
    rows = [["group", "people", "weight", "respondents"]]
    for group in study.groups:
        people = "-" if group.size is None else numbers.count(group.size)
        weight = "-" if group.weight is None else numbers.percent(group.weight, 3)
        rows.append([group.group, people, weight, numbers.count(group.respondents)])
    margins = [
        ["margins", "figure", *(["all groups"] if study.margins else []), *(group.group for group in study.shown)]
    ]
    for i, line in enumerate(plan.lines):
        total = [line.margin_text(study.margins[i])] if study.margins else []
        by_group = (line.margin_text(group.margins[i]) for group in study.shown)
        margins.append([line.id, line.assumption, *total, *by_group])
    needs = [_wrapped(f"for all ±{part}%", sentence) for sentence in study.needs]
    right = range(2, len(margins[0]))
    return [*table(rows, right=(1, 2, 3)), "", *table(margins, right=right), *needs, "", *_difference(plan, study)]


def _difference(plan: SurveyPlan, study: StudyPlan) -> list[str]:
    """Return a table of differences between two groups: each margin, and the smallest detectable difference."""
    difference = study.difference
    rows = [["difference", "figure", "margin", f"told with power {difference.power:g}"]]
    for line, margin, least_difference in zip(plan.lines, difference.margins, difference.told, strict=True):
        detectable = (
            "none" if least_difference is None else f"from {numbers.size(least_difference, line.is_share, line.unit)}"
        )
        rows.append([line.id, line.assumption, line.margin_text(margin), detectable])
    groups = (
        f"{difference.of} - {difference.to}{', the smallest and the largest group' if len(study.groups) > 2 else ''}"
    )
    return [f"differences: {groups}", *table(rows, right=(2, 3))]


def _epsilon(value: float) -> str:
    """Format an ε with all digits, for a column."""
    return numbers.epsilon(value, fixed=True)


def _wrapped(label: str, sentence: str) -> str:
    return textwrap.fill(f"{label}: {sentence}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _crosses(crosses: Sequence[Cross]) -> list[str]:
    """Return a table with two rows for each cross-tab, joint and separate; the survey's own design is marked."""
    rows = [["together or apart", "cells", "a cell at", "margin", "each question alone"]]
    for cross in crosses:
        for name, design, is_own in (
            ("together", cross.joint, cross.is_joint),
            ("apart", cross.separate, not cross.is_joint),
        ):
            no_cell = "-" if cross.joint.cell is None else "never seen"
            cell = no_cell if design.cell is None else numbers.margin(design.cell, is_share=True)
            margins = ", ".join(f"{line.id} {line.margin_text()}" for line in design.lines)
            mark = " (as written)" if is_own else ""
            rows.append(
                [
                    f"{cross.name}, {name}{mark}",
                    numbers.count(cross.cells),
                    numbers.percent(cross.share, 3),
                    cell,
                    margins,
                ]
            )
    return [*table(rows, right=(1, 2, 3)), *_prices(crosses)]


def _prices(crosses: Sequence[Cross]) -> list[str]:
    """Return the prices of joint fields: a line for each one that the author requests, one line for the rest."""
    requested = [_wrapped("price", f"{cross.name} together: {cross.price_text}") for cross in crosses if cross.wished]
    rest = [
        f"{cross.name} {numbers.price(cross.price)}{', a gift' if cross.price < 1 else ''}"
        for cross in crosses
        if cross.price is not None and not cross.wished
    ]
    explanation = "respondents together, in parts of those apart, where a device answers one block"
    return [*requested, *([_wrapped("price", f"{explanation}: {'; '.join(rest)}")] if rest else [])]


def _sure(settings: Settings) -> str:
    return f"{numbers.percent(settings.confidence)} confidence, {_about(settings.target.size, settings.target.sample)}"


def _but(plan: SurveyPlan) -> str:
    """Return a note on the variants whose target population differs from the plan's; empty if there are none."""
    blocks = plan.settings.target.sample and any(variant.ask is not Ask.ALL for variant in plan.ways)
    return ", with blocks about a large population" if blocks else ""


def _about(population: int | None, sample: bool) -> str:
    if sample:
        return "about these respondents alone"
    return f"about a population of {numbers.count(population)}" if population else "about a large population"


def single_page(plan: SinglePlan) -> str:
    """Render the plan of one question: its figures, the alternatives, and the information in a report."""
    count = f", one of {plan.questions} like it" if plan.questions > 1 else ""
    blocks = "; each device answers one" if plan.ask is Ask.ONE and plan.questions > 1 else ""
    text = [
        f"{kind_named(plan.type).plan_name}{count}, ε = {_epsilon(plan.field_epsilon)}{blocks}; "
        f"{numbers.percent(plan.confidence)} confidence, {_about(plan.population, plan.sample)}"
    ]
    for prospect in plan.outlooks:
        text += ["", *_prospect(prospect, plan)]
    total = "" if abs(plan.epsilon - plan.field_epsilon) < 1e-9 else f" (ε = {_epsilon(plan.epsilon)} for all answers)"
    text += [
        "",
        *textwrap.wrap(
            f"A report{total} moves a suspicion of {numbers.chance(suspected(SUSPICION))} to at most "
            f"{numbers.at_most(SUSPICION, plan.epsilon)}; a guess between two equally likely answers is right with "
            f"a chance of at most {numbers.at_most(EVEN, plan.epsilon)}.",
            WIDTH,
        ),
    ]
    return "\n".join(text)


def _prospect(prospect: Prospect, plan: SinglePlan) -> list[str]:
    planned, is_share = prospect.precision.respondents, prospect.is_share
    rows = [
        [name, numbers.respondents(precision.respondents), numbers.margin(precision.margin, is_share)]
        for name, precision in {"with Candor": prospect.precision, **prospect.instead}.items()
    ]
    head = ["", "respondents", "margin"]
    text = [prospect.assumption(plan.type), *(f"  {row}" for row in table([head, *rows], right=(1, 2)))]
    if prospect.census is not None and planned is None:
        text.append(
            f"  all {numbers.count(plan.population or 0)} together: {numbers.margin(prospect.census, is_share)}"
        )
    if (planned or 0) > TOO_MANY:
        text.append(
            "  that is more than any survey reaches: allow a wider margin or a larger ε, or ask fewer questions"
        )
    if prospect.precision.margin >= (prospect.high - prospect.low) / 2:
        text.append("  that can be as wide as all that is possible: it takes more respondents or a larger ε")
    if prospect.above_zero is not None:
        approximate = "" if prospect.above_zero_is_exact else ", approximately"
        need = f"{numbers.count(prospect.above_zero)} respondents{approximate}"
        text.append(
            f"  shown to be above zero, with power {plan.power:g}: {need}{_have(prospect.above_zero_power, planned)}"
        )
    if planned is not None:
        difference = prospect.smallest_difference
        text.append(
            f"  smallest difference between two groups of {numbers.count(planned)} each, with power {plan.power:g}: "
            f"{'none is large enough' if difference is None else numbers.size(difference, is_share)}"
        )
    if groups := prospect.groups:
        value = numbers.percent(groups.share, 3) if is_share else numbers.quantity(groups.share)
        need = f"{numbers.respondents(groups.respondents)} respondents in each"
        text.append(f"  two groups, the other at {value}: {need}{_have(groups.power, planned)}")
    return text


def _have(power: float | None, respondents: int | None) -> str:
    """Return the power of the planned respondents in words; empty if there is none."""
    return "" if power is None else f"; {numbers.respondents(respondents)} have power {numbers.power(power)}"


def guidance_page(levels: Sequence[Level]) -> str:
    """Render a table of privacy levels: the respondents each needs, and its meaning for a respondent."""

    def format_count(respondents: int | None) -> str:
        return "-" if respondents is None else numbers.count(respondents)

    def cases(suspicion: int, level: Level) -> str:
        return "100" if level.epsilon is None else str(raised(suspicion, Decimal(repr(level.epsilon))).cases)

    names = [level.name if level.epsilon is None else f"ε = {level.name}" for level in levels]
    rows = [
        ["respondents (yes or no, 95%)", *names],
        ["5% ± 2.5 points", *(format_count(level.rare) for level in levels)],
        ["20% ± 5 points", *(format_count(level.usual) for level in levels)],
        ["5%: shown > 0, power 0.8", *(format_count(level.shown) for level in levels)],
        ["  the same, exactly", *(format_count(level.shown_exactly) for level in levels)],
        ["a suspicion of 5 becomes at most, of 100", *(cases(SUSPICION, level) for level in levels)],
        ["a 50:50 guess is right at most, of 100", *(cases(EVEN, level) for level in levels)],
    ]
    return "\n".join(table(rows, right=range(1, len(rows[0]))))
