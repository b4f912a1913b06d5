"""Plans as plain text for a terminal."""

import textwrap
from collections.abc import Sequence

from survey_app.plan.advice import TOO_MANY
from survey_app.plan.cross import Cross
from survey_app.plan.guidance import SUSPICION, Level
from survey_app.plan.question import Outlook, SinglePlan
from survey_app.plan.settings import Settings
from survey_app.plan.survey import SurveyPlan
from survey_app.plan.words import at_most, chance, line_size, loss, number, people, percent, size, what

WIDTH = 110
NAMES = {
    "yes_no": "yes or no",
    "scale": "a scale",
    "choice": "a choice",
    "multiple": "a multiple",
    "number": "a number",
}


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows in columns as wide as they need to be; those in `right` are set to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def survey_page(plan: SurveyPlan) -> str:
    """The table of a survey, what would change it, and advice."""
    settings = plan.settings
    answers = f"{plan.ask} of {plan.fields} fields" if plan.ask else f"all {plan.fields} fields"
    if plan.fields == 1:
        answers = "its one field"
    part = number(100 * (settings.margin or 0))
    others = [f"with ask: {other.ask}" if other.ask else "without ask" for other in plan.alternatives]
    rows = [["question", "figure", "ε", f"margin at {settings.respondents:,}", f"for ±{part}%", *others]]
    for i, line in enumerate(plan.lines):
        changed = [line_size(other.lines[i]) for other in plan.alternatives]
        shown = [loss(line.epsilon), line_size(line), people(line.respondents), *changed]
        rows.append([line.id, what(line.figure, line.planned, line.unit), *shown])
    said = [
        f"{plan.slug}: {plan.title}",
        f"ε = {loss(plan.epsilon)} in total; each device answers {answers}. {_sure(settings)}.",
        f"±{part}% are {part} points of a share, and {part}% of the possible range of a mean.",
        "",
        *table(rows, right=range(2, len(rows[0]))),
    ]
    if plan.crosses:
        said += ["", *_crosses(plan.crosses)]
    if plan.notes or plan.advice:
        said += ["", *(_wrapped("note", one) for one in plan.notes), *(_wrapped("advice", one) for one in plan.advice)]
    return "\n".join(said)


def _wrapped(label: str, said: str) -> str:
    return textwrap.fill(f"{label}: {said}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _crosses(crosses: Sequence[Cross]) -> list[str]:
    """For each cross-tab a row for one way of randomizing, and one for the other; the survey's own is marked."""
    rows = [["together or apart", "cells", "a cell at", "margin", "each question alone"]]
    for cross in crosses:
        for name, way, own in (
            ("together", cross.joint, cross.is_joint),
            ("apart", cross.separate, not cross.is_joint),
        ):
            unseen = "-" if cross.joint.cell is None else "never seen"
            cell = unseen if way.cell is None else size(way.cell, is_share=True)
            alone = ", ".join(f"{line.id} {line_size(line)}" for line in way.lines)
            mark = " (as written)" if own else ""
            names = " + ".join(cross.questions)
            rows.append([f"{names}, {name}{mark}", f"{cross.cells:,}", percent(cross.share), cell, alone])
    return table(rows, right=(1, 2, 3))


def _sure(settings: Settings) -> str:
    return f"{100 * settings.confidence:g}% confidence, {_about(settings.target.size, settings.target.sample)}"


def _about(population: int | None, sample: bool) -> str:
    if sample:
        return "about these respondents alone"
    return f"about a population of {population:,}" if population else "about a large population"


def single_page(plan: SinglePlan) -> str:
    """One question: the figures asked for, the alternatives, and what a report gives away."""
    several = f", one of {plan.questions} like it" if plan.questions > 1 else ""
    asked = f"; each device answers {plan.ask}" if plan.ask else ""
    said = [
        f"{NAMES[plan.type]}{several}, ε = {loss(plan.field_epsilon)}{asked}; {100 * plan.confidence:g}% confidence, "
        f"{_about(plan.population, plan.sample)}"
    ]
    for outlook in plan.outlooks:
        said += ["", *_outlook(outlook, plan)]
    whole = "" if abs(plan.epsilon - plan.field_epsilon) < 1e-9 else f" (ε = {loss(plan.epsilon)} for all answers)"
    said += [
        "",
        *textwrap.wrap(
            f"A report{whole} moves a suspicion of {percent(SUSPICION)} to at most {at_most(plan.suspicion)}; a guess "
            f"between two equally likely answers is right at most {at_most(plan.guess)} of the time.",
            WIDTH,
        ),
    ]
    return "\n".join(said)


def _outlook(outlook: Outlook, plan: SinglePlan) -> list[str]:
    is_share = not outlook.figure.startswith("mean")
    rows = [
        [name, people(found.respondents), size(found.margin, is_share)]
        for name, found in {"with Candor": outlook.precision, **outlook.instead}.items()
    ]
    head = ["", "respondents", "margin"]
    said = [what(outlook.figure, outlook.planned), *(f"  {row}" for row in table([head, *rows], right=(1, 2)))]
    if outlook.census is not None and outlook.precision.respondents is None:
        said.append(f"  all {plan.population:,} together: {size(outlook.census, is_share)}")
    if (outlook.precision.respondents or 0) > TOO_MANY:
        said.append(
            "  that is more than any survey reaches: allow a wider margin or a larger ε, or ask fewer questions"
        )
    if outlook.precision.margin >= (outlook.high - outlook.low) / 2:
        said.append("  that can be as wide as all that is possible: it takes more respondents or a larger ε")
    if outlook.above_zero is not None:
        exactly = "" if outlook.above_zero_is_exact else ", approximately"
        said.append(f"  shown to be above zero, with power {plan.power:g}: {outlook.above_zero:,} respondents{exactly}")
        if outlook.above_zero_power is not None:
            said[-1] += f"; {people(outlook.precision.respondents)} have power {chance(outlook.above_zero_power)}"
    if outlook.precision.respondents is not None:
        least = outlook.smallest_difference
        found = "none is large enough" if least is None else size(least, is_share).removeprefix("±")
        said.append(
            f"  smallest difference between two groups of {outlook.precision.respondents:,} each, with power "
            f"{plan.power:g}: {found}"
        )
    if groups := outlook.groups:
        other = percent(groups.share) if is_share else number(groups.share)
        said.append(f"  two groups, the other at {other}: {people(groups.respondents)} respondents in each")
        if groups.power is not None:
            said[-1] += f"; {people(outlook.precision.respondents)} have power {chance(groups.power)}"
    return said


def guidance_page(levels: Sequence[Level]) -> str:
    """What a level of privacy costs, and what it means for a person."""

    def row(name: str, cells: Sequence[str]) -> list[str]:
        return [name, *cells]

    def count(value: int | None) -> str:
        return "-" if value is None else f"{value:,}"

    rows = [
        row("respondents (yes or no, 95%)", [one.name if one.epsilon is None else f"ε = {one.name}" for one in levels]),
        row("5% ± 2.5 points", [count(one.rare) for one in levels]),
        row("20% ± 5 points", [count(one.usual) for one in levels]),
        row("5%: shown > 0, power 0.8", [count(one.shown) for one in levels]),
        row("  the same, exactly", [count(one.shown_exactly) for one in levels]),
        row("a report moves a 5% suspicion to about", [f"{one.suspicion:.0%}" for one in levels]),
        row("a 50:50 guess is right", [f"{one.guess:.0%}" for one in levels]),
    ]
    return "\n".join(table(rows, right=range(1, len(rows[0]))))
