"""Plans as plain text for a terminal."""

import textwrap
from collections.abc import Sequence
from decimal import Decimal

from survey_app.authoring.ask import Ask
from survey_app.explain import written
from survey_app.explain.chances import EVEN, SUSPICION, raised, suspected
from survey_app.explain.terminal import WIDTH, table
from survey_app.kinds import kind_named
from survey_app.plan.advice import TOO_MANY
from survey_app.plan.choice import saving
from survey_app.plan.cross import Cross
from survey_app.plan.groups import StudyPlan
from survey_app.plan.guidance import Level
from survey_app.plan.question import Prospect, SinglePlan
from survey_app.plan.settings import Settings
from survey_app.plan.survey import SurveyPlan
from survey_app.plan.variants import Way


def survey_page(plan: SurveyPlan) -> str:
    """The three ways to ask a survey, the table of its questions, what would change them, and advice."""
    settings = plan.settings
    part = written.quantity(100 * (settings.margin or 0))
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
    refused = [_wrapped("not possible", f"{one.name} (ask: {one.ask}): {one.reason}") for one in plan.refused]
    if said := [*choice, *refused, *(_wrapped("advice", advice) for advice in plan.advice)]:
        text += ["", *said]
    return "\n".join(text)


def _ways(plan: SurveyPlan, part: str) -> list[str]:
    """How many it takes for all margins each way, and what a device answers in the last of them."""
    rows = [["respondents for", f"all ±{part}%", "", "at shares of ½", "each device answers"]]
    for way in plan.ways:
        several = "everything" if len(way.blocks) == 1 or way.ask is Ask.ALL else f"one of {len(way.blocks)} blocks"
        rows.append(
            [
                f"{way.name} (ask: {way.ask})",
                written.respondents(way.respondents),
                saving(way, plan.ways),
                written.respondents(way.at_half),
                several + (", as written" if way.ask == plan.ask else ""),
            ]
        )
    own, best = ([way for way in plan.ways if way.ask == ask] for ask in (Ask.ONE, Ask.AUTO))
    told = [way for way in own if [way.blocks] != [other.blocks for other in best]] + best
    named = [_wrapped(way.name, _blocks(way)) for way in told if any(len(block) > 1 for block in way.blocks)]
    return [*table(rows, right=(1, 3)), *named]


def _blocks(way: Way) -> str:
    return "; ".join(" + ".join(block) for block in way.blocks)


def _questions(plan: SurveyPlan, part: str) -> list[str]:
    """Every figure: its ε and the respondents it takes as the file is, and its margin each way."""
    rows = [["question", "figure", "ε", f"for ±{part}%", *(way.name for way in plan.ways)]]
    for i, line in enumerate(plan.lines):
        margins = [way.lines[i].margin_text() for way in plan.ways]
        rows.append([line.id, line.assumption, _epsilon(line.epsilon), written.respondents(line.respondents), *margins])
    written_as = next(way.name for way in plan.ways if way.ask == plan.ask)
    whose = "" if not plan.study else " of all groups together" if plan.study.margins else " of one group"
    respondents = f"{written.count(plan.settings.respondents or 0)} respondents{whose}"
    head = f"margins at {respondents}; ε and for ±{part}% as written: "
    return [head + written_as, *table(rows, right=range(2, len(rows[0])))]


def _groups(plan: SurveyPlan, study: StudyPlan, part: str) -> list[str]:
    """How the respondents fall into groups, what that makes of every margin, and how many all margins take."""
    rows = [["group", "people", "weight", "respondents"]]
    for group in study.groups:
        people = "-" if group.size is None else written.count(group.size)
        weight = "-" if group.weight is None else written.percent(group.weight, 3)
        rows.append([group.group, people, weight, written.count(group.respondents)])
    margins = [["margins", "figure", *(["all groups"] if study.margins else []), *(one.group for one in study.shown)]]
    for i, line in enumerate(plan.lines):
        total = [line.margin_text(study.margins[i])] if study.margins else []
        each = (line.margin_text(group.margins[i]) for group in study.shown)
        margins.append([line.id, line.assumption, *total, *each])
    needs = [_wrapped(f"for all ±{part}%", sentence) for sentence in study.needs]
    right = range(2, len(margins[0]))
    return [*table(rows, right=(1, 2, 3)), "", *table(margins, right=right), *needs, "", *_difference(plan, study)]


def _difference(plan: SurveyPlan, study: StudyPlan) -> list[str]:
    """How well two groups can be compared: the margin of each difference, and the smallest that is told."""
    apart = study.difference
    rows = [["difference", "figure", "margin", f"told with power {apart.power:g}"]]
    for line, margin, told in zip(plan.lines, apart.margins, apart.told, strict=True):
        least = "none" if told is None else f"from {written.size(told, line.is_share, line.unit)}"
        rows.append([line.id, line.assumption, line.margin_text(margin), least])
    whose = f"{apart.of} - {apart.to}{', the smallest and the largest group' if len(study.groups) > 2 else ''}"
    return [f"differences: {whose}", *table(rows, right=(2, 3))]


def _epsilon(value: float) -> str:
    """With all digits, since it stands in columns."""
    return written.epsilon(value, fixed=True)


def _wrapped(label: str, sentence: str) -> str:
    return textwrap.fill(f"{label}: {sentence}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _crosses(crosses: Sequence[Cross]) -> list[str]:
    """For each cross-tab a row for one way of randomizing, and one for the other; the survey's own is marked."""
    rows = [["together or apart", "cells", "a cell at", "margin", "each question alone"]]
    for cross in crosses:
        for name, way, own in (
            ("together", cross.joint, cross.is_joint),
            ("apart", cross.separate, not cross.is_joint),
        ):
            unseen = "-" if cross.joint.cell is None else "never seen"
            cell = unseen if way.cell is None else written.margin(way.cell, is_share=True)
            alone = ", ".join(f"{line.id} {line.margin_text()}" for line in way.lines)
            mark = " (as written)" if own else ""
            rows.append(
                [
                    f"{cross.name}, {name}{mark}",
                    written.count(cross.cells),
                    written.percent(cross.share, 3),
                    cell,
                    alone,
                ]
            )
    return [*table(rows, right=(1, 2, 3)), *_prices(crosses)]


def _prices(crosses: Sequence[Cross]) -> list[str]:
    """What it costs to see questions together: a sentence for each wish, one line for what might be wished."""
    wished = [_wrapped("price", f"{cross.name} together: {cross.price_text}") for cross in crosses if cross.wished]
    others = [
        f"{cross.name} {written.price(cross.price)}{', a gift' if cross.price < 1 else ''}"
        for cross in crosses
        if cross.price is not None and not cross.wished
    ]
    told = "respondents together, in parts of those apart, where a device answers one block"
    return [*wished, *([_wrapped("price", f"{told}: {'; '.join(others)}")] if others else [])]


def _sure(settings: Settings) -> str:
    return f"{written.percent(settings.confidence)} confidence, {_about(settings.target.size, settings.target.sample)}"


def _but(plan: SurveyPlan) -> str:
    """Ways that are not about what the others are."""
    blocks = plan.settings.target.sample and any(way.ask is not Ask.ALL for way in plan.ways)
    return ", with blocks about a large population" if blocks else ""


def _about(population: int | None, sample: bool) -> str:
    if sample:
        return "about these respondents alone"
    return f"about a population of {written.count(population)}" if population else "about a large population"


def single_page(plan: SinglePlan) -> str:
    """One question: the figures asked for, the alternatives, and what a report gives away."""
    several = f", one of {plan.questions} like it" if plan.questions > 1 else ""
    asked = "; each device answers one" if plan.ask is Ask.ONE and plan.questions > 1 else ""
    text = [
        f"{kind_named(plan.type).plan_name}{several}, ε = {_epsilon(plan.field_epsilon)}{asked}; "
        f"{written.percent(plan.confidence)} confidence, {_about(plan.population, plan.sample)}"
    ]
    for prospect in plan.outlooks:
        text += ["", *_prospect(prospect, plan)]
    whole = "" if abs(plan.epsilon - plan.field_epsilon) < 1e-9 else f" (ε = {_epsilon(plan.epsilon)} for all answers)"
    text += [
        "",
        *textwrap.wrap(
            f"A report{whole} moves a suspicion of {written.chance(suspected(SUSPICION))} to at most "
            f"{written.at_most(SUSPICION, plan.epsilon)}; a guess between two equally likely answers is right with "
            f"a chance of at most {written.at_most(EVEN, plan.epsilon)}.",
            WIDTH,
        ),
    ]
    return "\n".join(text)


def _prospect(prospect: Prospect, plan: SinglePlan) -> list[str]:
    planned, is_share = prospect.precision.respondents, prospect.is_share
    rows = [
        [name, written.respondents(reached.respondents), written.margin(reached.margin, is_share)]
        for name, reached in {"with Candor": prospect.precision, **prospect.instead}.items()
    ]
    head = ["", "respondents", "margin"]
    text = [prospect.assumption(plan.type), *(f"  {row}" for row in table([head, *rows], right=(1, 2)))]
    if prospect.census is not None and planned is None:
        text.append(
            f"  all {written.count(plan.population or 0)} together: {written.margin(prospect.census, is_share)}"
        )
    if (planned or 0) > TOO_MANY:
        text.append(
            "  that is more than any survey reaches: allow a wider margin or a larger ε, or ask fewer questions"
        )
    if prospect.precision.margin >= (prospect.high - prospect.low) / 2:
        text.append("  that can be as wide as all that is possible: it takes more respondents or a larger ε")
    if prospect.above_zero is not None:
        exactly = "" if prospect.above_zero_is_exact else ", approximately"
        enough = f"{written.count(prospect.above_zero)} respondents{exactly}"
        text.append(
            f"  shown to be above zero, with power {plan.power:g}: {enough}{_have(prospect.above_zero_power, planned)}"
        )
    if planned is not None:
        least = prospect.smallest_difference
        text.append(
            f"  smallest difference between two groups of {written.count(planned)} each, with power {plan.power:g}: "
            f"{'none is large enough' if least is None else written.size(least, is_share)}"
        )
    if groups := prospect.groups:
        other = written.percent(groups.share, 3) if is_share else written.quantity(groups.share)
        enough = f"{written.respondents(groups.respondents)} respondents in each"
        text.append(f"  two groups, the other at {other}: {enough}{_have(groups.power, planned)}")
    return text


def _have(power: float | None, respondents: int | None) -> str:
    """The power of those who are planned, where there is one."""
    return "" if power is None else f"; {written.respondents(respondents)} have power {written.power(power)}"


def guidance_page(levels: Sequence[Level]) -> str:
    """What a level of privacy costs, and what it means for a person."""

    def needed(respondents: int | None) -> str:
        return "-" if respondents is None else written.count(respondents)

    def cases(suspicion: int, level: Level) -> str:
        return "100" if level.epsilon is None else str(raised(suspicion, Decimal(repr(level.epsilon))).cases)

    names = [level.name if level.epsilon is None else f"ε = {level.name}" for level in levels]
    rows = [
        ["respondents (yes or no, 95%)", *names],
        ["5% ± 2.5 points", *(needed(level.rare) for level in levels)],
        ["20% ± 5 points", *(needed(level.usual) for level in levels)],
        ["5%: shown > 0, power 0.8", *(needed(level.shown) for level in levels)],
        ["  the same, exactly", *(needed(level.shown_exactly) for level in levels)],
        ["a suspicion of 5 becomes at most, of 100", *(cases(SUSPICION, level) for level in levels)],
        ["a 50:50 guess is right at most, of 100", *(cases(EVEN, level) for level in levels)],
    ]
    return "\n".join(table(rows, right=range(1, len(rows[0]))))
