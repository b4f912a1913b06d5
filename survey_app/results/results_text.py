"""Results as plain text for a terminal: every estimate with its interval, and the devices that n counts.

Intervals without guaranteed coverage are marked as approximate. Long lists are cut; the CSV table has all lines.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.group_estimates import Range, possible_range
from survey_app.estimate.intervals import APPROXIMATE
from survey_app.figures import FigureKind
from survey_app.languages.number_format import Format, choose_decimals, make_format
from survey_app.languages.numbers import format_count, format_epsilon, format_p_value, format_percent
from survey_app.languages.plain_text import WIDTH, format_table, wrap_sentence
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab
from survey_app.results.denominators import EVERYBODY, describe_draws
from survey_app.results.group_document import Study
from survey_app.results.informativeness import (
    SHARE_RANGE,
    UNINFORMATIVE,
    is_uninformative,
    is_uninformative_coefficient,
)
from survey_app.results.regression_document import Regression
from survey_app.results.report_counts import format_rounded_count
from survey_app.results.row_order import (
    AMONG_ANSWERED,
    NOT_ASKED,
    OF_ALL,
    answer_name,
    estimate_answer_count,
    sort_lines,
)
from survey_app.results.survey_document import JointPart, Line, QuestionPart, Results

MOST_LINES = 30
INDENT = "  "
QUARTERS = {0.25: "first quartile", 0.5: "median", 0.75: "third quartile"}
LIST_HEADINGS = {"answered": "among those who answered", "totals": "totals", "cumulative": "cumulative"}


def format_results(survey: Survey, document: Results) -> str:
    """Format all questions of a survey, the joint fields, and how often each block was drawn."""
    lines = [
        f"{survey.title} ({survey.slug}), version {survey.digest[:12]}",
        *wrap_sentence(
            f"{format_count(document.reports)} reports{_format_invitations(document)}; {_intervals(document)}"
        ),
    ]
    for question, part in zip(survey.questions, document.questions, strict=True):
        lines += ["", *_question(question, part, format_percent(document.confidence))]
    questions = {question.id: question for question in survey.questions}
    for joint in document.joint:
        joint_questions = [questions[name] for name in joint.questions]
        lines += ["", f"{joint.name}, together", *_indent(_joint(joint, joint_questions))]
    if document.asked:
        rows = [["block", "chance", "expected", "drawn"]]
        rows += [
            [block.name, format_percent(block.chance, 3), format_count(round(block.expected)), format_count(block.n)]
            for block in document.asked.blocks
        ]
        lines += ["", *format_table(rows, right=(1, 2, 3)), *wrap_sentence(describe_draws(document.asked))]
    return "\n".join(lines)


def _format_invitations(document: Results) -> str:
    if document.invited is UNSET or document.taken is UNSET:
        return ""
    return (
        f" of {format_rounded_count(document.invited)} invited, {format_rounded_count(document.taken)} with a "
        "ticket (these two counts advance in steps)"
    )


def _intervals(document: Results) -> str:
    target = f"a population of {format_count(document.population)}" if document.population else "the population"
    scope = ", simultaneous within each question" if document.simultaneous else ""
    return (
        f"{format_percent(document.confidence)} intervals for {target}{scope}; coverage is guaranteed except where"
        " marked approximate."
    )


def _question(question: Question, part: QuestionPart, confidence: str) -> list[str]:
    text = [f"{question.id}: {question.text}"]
    answers = estimate_answer_count(part)
    if part.condition:
        text += wrap_sentence(f"{part.condition}{f': {answers.describe(confidence)}' if answers else ''}.", INDENT)
    text += wrap_sentence(f"ε {format_epsilon(part.epsilon)}; {_describe_n(part.estimates, part.base)}", INDENT)
    if not part.estimates:
        return text
    lists = {key: lines for key, lines in part.lists.items() if lines}
    first = ["answered"] if part.condition and part.answered else []
    for key in [*first, *(key for key in lists if key not in first)]:
        name = LIST_HEADINGS.get(key, OF_ALL if first else "")
        if key in first:
            name = f"{AMONG_ANSWERED}{f', {answers.fraction}' if answers else ''}"
        text += [f"{INDENT}{name}"] * bool(name)
        rows = sort_lines([question], lists[key]) if key in ("estimates", "answered") else lists[key]
        names = [answer_name(part, line) for line in rows]
        text += _indent(_format_lines(rows, question, names), 2 if name else 1)
    for quantile in part.quantiles:
        text += wrap_sentence(f"{QUARTERS[quantile.level]}: {' or '.join(quantile.options)}", INDENT)
    return text


def _joint(part: JointPart, questions: Sequence[Question]) -> list[str]:
    lines = sort_lines(questions, part.estimates)
    return [*wrap_sentence(_describe_n(lines, part.base)), *(_format_lines(lines) if lines else [])]


def _describe_n(lines: Sequence[Line], base: str) -> str:
    """Describe the number of devices, and which devices they are."""
    if not lines:
        return "not enough reports"
    counts = sorted({line.n for line in lines})
    n = " to ".join(format_count(number) for number in (counts[0], counts[-1])[: len(counts)])
    return f"n = {n}: {base or EVERYBODY}"


def _format_lines(lines: Sequence[Line], question: Question | None = None, names: Sequence[str] = ()) -> list[str]:
    """Format a row for each line, under its own name or the given one; only the largest where there are very many.

    Lines may be means only if a question is given.
    """
    rows_to_format = list(zip(names or [line.name for line in lines], lines, strict=True))
    if len(lines) > MOST_LINES:
        largest = sorted(range(len(lines)), key=lambda i: -lines[i].estimate)[:MOST_LINES]
        rows_to_format = [rows_to_format[i] for i in sorted(largest)]
    is_n_varying = len({line.n for line in lines}) > 1
    kinds = {line.kind for line in lines}
    unit = question.unit if question else ""
    forms = {
        kind: choose_format([line for line in lines if line.kind == kind], unit, mean=kind == FigureKind.MEAN)
        for kind in kinds
    }
    ranges = {kind: possible_range(question, kind) if question else SHARE_RANGE for kind in kinds}
    rows = [
        [
            name,
            format_point(line, forms[line.kind], ranges[line.kind]),
            format_interval(line, forms[line.kind]),
            *([f"n = {format_count(line.n)}"] if is_n_varying else []),
            line.coverage if line.coverage == APPROXIMATE else "",
        ]
        for name, line in rows_to_format
    ]
    note = [f"… and {format_count(len(lines) - len(rows_to_format))} smaller ones; --csv lists all"] * (
        len(lines) > len(rows_to_format)
    )
    return [*format_table(rows, right=(1,)), *note]


def choose_format(
    lines: Sequence[Line], unit: str = "", *, mean: bool = False, reference_lines: Sequence[Line] = ()
) -> Format:
    """Return the format of numbers: shares in percent, their differences in points, means in their unit.

    Differences have as many decimals as the figures in `reference_lines`.
    """
    widths = [line.high - line.low for line in reference_lines or lines]
    if mean:
        return make_format(choose_decimals(widths, False), False, unit)
    if lines[0].kind == FigureKind.DIFFERENCE:
        points = make_format(choose_decimals(widths, True), False)
        return lambda value: points(100 * value)
    return make_format(choose_decimals(widths, True), True)


def format_point(line: Line, form: Format, value_range: Range = SHARE_RANGE) -> str:
    """Format an estimate, or the text `UNINFORMATIVE` in place of an uninformative one."""
    return UNINFORMATIVE if is_uninformative(line, value_range) else form(line.estimate)


def format_interval(line: Line, form: Format) -> str:
    """Format the interval of a line."""
    return f"{form(line.low)} to {form(line.high)}"


def _indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line for line in lines]


def format_study(survey: Survey, study: Study) -> str:
    """Format the groups with their reports, then each answer in every group, in the total and in the differences."""
    title = [f"{survey.title} ({study.study})"] if study.study else []
    text = [
        *title,
        *wrap_sentence(
            f"{format_count(study.reports)} reports in {len(study.groups)} groups; "
            f"{format_percent(study.groups[0].confidence)}"
            " intervals; differences of shares in percentage points."
        ),
        "",
        *_groups(study),
    ]
    by_name = [(name, {part.name: part for part in parts}) for name, parts in study.named_parts]
    for place, question in enumerate(survey.questions):
        group_parts = [(group.group, group.questions[place]) for group in study.groups]
        of_all = [(name, line) for name, parts in by_name for line in parts[question.id].lists["estimates"]]
        among = [(name, line) for name, part in group_parts if part.condition for line in part.answered]
        text += ["", f"{question.id}: {question.text}"]
        text += wrap_sentence(study.describe_condition(place), INDENT) if group_parts[0][1].condition else []
        if among:
            text += [f"{INDENT}{AMONG_ANSWERED}", *_indent(_answers(among, question), 2), f"{INDENT}{OF_ALL}"]
        text += _indent(_answers(of_all, question), 2 if among else 1) or [f"{INDENT}not enough reports"]
    return "\n".join(text)


def _answers(named_lines: Sequence[tuple[str, Line]], question: Question) -> list[str]:
    """Format a table of every answer in every group."""
    rows = [
        row
        for option in dict.fromkeys(line.option for line in sort_lines([question], [line for _, line in named_lines]))
        for row in _compare_groups([(name, line) for name, line in named_lines if line.option == option], question)
    ]
    return format_table(rows, right=(2,)) if rows else []


def _groups(study: Study) -> list[str]:
    """Format a table of the reports, people and weight of each group."""
    total = study.total or None
    weights = total.weights if total else {}
    rows = [["group", "reports", "people", "weight"]]
    rows += [
        [
            group.group,
            format_count(group.reports),
            format_count(group.size) if group.size else "-",
            format_percent(weights[group.group], 3) if weights else "-",
        ]
        for group in study.groups
    ]
    return [*format_table(rows, right=(1, 2, 3)), *(wrap_sentence(f"{total.note}.") if total and total.note else [])]


def _compare_groups(named_lines: Sequence[tuple[str, Line]], question: Question) -> Iterator[list[str]]:
    """Yield the rows of one answer: one for each group, then one for each difference."""
    mean = any(line.kind == FigureKind.MEAN for _, line in named_lines)
    value_range = possible_range(question, FigureKind.MEAN if mean else FigureKind.SHARE)
    group_lines = [line for _, line in named_lines if line.kind != FigureKind.DIFFERENCE]
    unanswered = any(line.kind == FigureKind.NO_ANSWER for line in group_lines)  # differences do not tell
    for is_gap in (False, True):
        lines = [(name, line) for name, line in named_lines if (line.kind == FigureKind.DIFFERENCE) == is_gap]
        if not lines:
            continue
        form = choose_format([line for _, line in lines], question.unit, mean=mean, reference_lines=group_lines)
        for name, line in lines:
            coverage = line.coverage if line.coverage == APPROXIMATE else ""
            answer = NOT_ASKED if question.show_if and unanswered else line.option
            yield [
                answer,
                name,
                format_point(line, form, value_range),
                format_interval(line, form),
                f"n = {format_count(line.n)}",
                coverage,
            ]


def format_crosstab(survey: Survey, document: Crosstab | EmptyCrosstab) -> str:
    """Format cells, shares within rows and differences as tables, and the test as a sentence."""
    head = f"{survey.title} ({survey.slug}): {document.rows} (rows) by {document.columns} (columns)"
    if isinstance(document, EmptyCrosstab):
        return f"{head}\nnot enough reports answer both (n = {format_count(document.n)})"
    text = [
        head,
        *wrap_sentence(
            f"n = {format_count(document.n)}: {document.base}; {format_percent(document.confidence)} intervals."
        ),
    ]
    headings = {
        "estimates": "cells: shares among those who were asked",
        "within_rows": "within rows: share of each column among those in the row",
        "differences": f"differences from “{document.row_options[0]}”, in percentage points",
    }
    for key, lines in document.lists.items():
        if lines:
            coverage = "approximate" if any(line.coverage == APPROXIMATE for line in lines) else "guaranteed"
            text += ["", f"{headings[key]} ({coverage})", *_indent(_format_grid(document, lines))]
    return "\n".join([*text, "", *wrap_sentence(describe_independence_test(document))])


def describe_independence_test(document: Crosstab) -> str:
    """State the result of the test of independence, or why there is none."""
    test = document.test
    if test is None and document.note:
        return f"There are {document.note} of independence."
    if test is None:
        return "Some combinations cannot occur, so the two depend on each other. There is nothing to test."
    symbol = "statistic" if test.draws else "χ²"
    method = ""
    if test.draws:
        method = f" (from {format_count(test.draws)} simulated draws, because an expected count is too small for χ²)"
    figures = (
        f"{symbol} = {test.statistic:.2f}, df = {test.df}, {format_p_value(test.p_value)}{method}, n = "
        f"{format_count(test.n)}"
    )
    return f"{test.name[0].upper()}{test.name[1:]}: {figures}."


def _format_grid(document: Crosstab, lines: Sequence[Line]) -> list[str]:
    """Format lines as a grid of rows and columns, or as a list where the grid is too wide for the terminal."""
    form = choose_format(lines, reference_lines=document.within_rows if lines is document.differences else ())
    cells = {line.options: f"{format_point(line, form)} ({format_interval(line, form)})" for line in lines}
    rows = [
        [row, *(cells.get((row, column), "-") for column in document.column_options)]
        for row in document.row_options
        if any((row, column) in cells for column in document.column_options)
    ]
    grid = format_table([["", *document.column_options], *rows])
    if max(map(len, grid)) <= WIDTH:
        return grid
    return format_table(
        [[*line.options, format_point(line, form), format_interval(line, form)] for line in lines], right=(2,)
    )


def format_regression(document: Regression) -> str:
    """Format the coefficients of a regression: log odds ratios and odds ratios."""
    rows = [["", "log odds ratio", f"{format_percent(document.confidence)} interval", "odds ratio", "n"]]
    for line in document.coefficients:
        is_uninformative = is_uninformative_coefficient(line)
        ratio = "-" if is_uninformative or line.odds_ratio is None else f"{line.odds_ratio:.3g}"
        estimate = UNINFORMATIVE if is_uninformative else line.form(line.estimate)
        rows.append(
            [line.name, estimate, f"{line.form(line.low)} to {line.form(line.high)}", ratio, format_count(line.n)]
        )
    return "\n".join(
        [f"log odds of {document.outcome} = {document.label} (approximate)", *format_table(rows, right=(1, 3, 4))]
    )
