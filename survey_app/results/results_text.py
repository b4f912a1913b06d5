"""Results as plain text for a terminal: every estimate with its interval, and the devices that n counts.

Intervals without guaranteed coverage are marked as approximate. Long lists are cut; the CSV table has all lines.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.group_estimates import Range, possible
from survey_app.estimate.intervals import APPROXIMATE
from survey_app.figures import FigureKind
from survey_app.languages.number_format import Format, number_format, precision
from survey_app.languages.numbers import count, epsilon, p_value, percent
from survey_app.languages.plain_text import WIDTH, table, wrapped
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab
from survey_app.results.denominators import EVERYBODY, draws_sentence
from survey_app.results.group_document import Study
from survey_app.results.informativeness import NOTHING, SHARE, says_nothing, tells_nothing
from survey_app.results.regression_document import Regression
from survey_app.results.report_counts import in_steps
from survey_app.results.row_order import AMONG, NOT_ASKED, OF_ALL, answer_name, in_order, reached
from survey_app.results.survey_document import JointPart, Line, QuestionPart, Results

MOST_LINES = 30
INDENT = "  "
QUARTERS = {0.25: "first quartile", 0.5: "median", 0.75: "third quartile"}
LISTS = {"answered": "among those who answered", "totals": "totals", "cumulative": "cumulative"}


def results_text(survey: Survey, document: Results) -> str:
    """Format all questions of a survey, the joint fields, and how often each block was drawn."""
    lines = [
        f"{survey.title} ({survey.slug}), version {survey.digest[:12]}",
        *wrapped(f"{count(document.reports)} reports{_invited(document)}; {_intervals(document)}"),
    ]
    for question, part in zip(survey.questions, document.questions, strict=True):
        lines += ["", *_question(question, part, percent(document.confidence))]
    questions = {question.id: question for question in survey.questions}
    for joint in document.joint:
        joint_questions = [questions[name] for name in joint.questions]
        lines += ["", f"{joint.name}, together", *_indented(_joint(joint, joint_questions))]
    if document.asked:
        rows = [["block", "chance", "expected", "drawn"]]
        rows += [
            [block.name, percent(block.chance, 3), count(round(block.expected)), count(block.n)]
            for block in document.asked.blocks
        ]
        lines += ["", *table(rows, right=(1, 2, 3)), *wrapped(draws_sentence(document.asked))]
    return "\n".join(lines)


def _invited(document: Results) -> str:
    if document.invited is UNSET or document.taken is UNSET:
        return ""
    return f" of {in_steps(document.invited)} invited, {in_steps(document.taken)} with a ticket (in steps)"


def _intervals(document: Results) -> str:
    target = f"a population of {count(document.population)}" if document.population else "the population"
    scope = ", together within each question" if document.simultaneous else ""
    return (
        f"{percent(document.confidence)} intervals for {target}{scope}, coverage guaranteed unless they are called"
        " approximate."
    )


def _question(question: Question, part: QuestionPart, confidence: str) -> list[str]:
    text = [f"{question.id}: {question.text}"]
    answers = reached(part)
    if part.condition:
        text += wrapped(f"{part.condition}{f': {answers.sentence(confidence)}' if answers else ''}.", INDENT)
    text += wrapped(f"ε {epsilon(part.epsilon)}; {_n(part.estimates, part.base)}", INDENT)
    if not part.estimates:
        return text
    lists = {key: lines for key, lines in part.lists.items() if lines}
    first = ["answered"] if part.condition and part.answered else []
    for key in [*first, *(key for key in lists if key not in first)]:
        name = LISTS.get(key, OF_ALL if first else "")
        if key in first:
            name = f"{AMONG}{f', {answers.among}' if answers else ''}"
        text += [f"{INDENT}{name}"] * bool(name)
        rows = in_order([question], lists[key]) if key in ("estimates", "answered") else lists[key]
        names = [answer_name(part, line) for line in rows]
        text += _indented(_lines(rows, question, names), 2 if name else 1)
    for quantile in part.quantiles:
        text += wrapped(f"{QUARTERS[quantile.level]}: {' or '.join(quantile.options)}", INDENT)
    return text


def _joint(part: JointPart, questions: Sequence[Question]) -> list[str]:
    lines = in_order(questions, part.estimates)
    return [*wrapped(_n(lines, part.base)), *(_lines(lines) if lines else [])]


def _n(lines: Sequence[Line], base: str) -> str:
    """Describe the number of devices, and which devices they are."""
    if not lines:
        return "not enough reports"
    counts = sorted({line.n for line in lines})
    n = " to ".join(count(number) for number in (counts[0], counts[-1])[: len(counts)])
    return f"n = {n}: {base or EVERYBODY}"


def _lines(lines: Sequence[Line], question: Question | None = None, names: Sequence[str] = ()) -> list[str]:
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
        kind: form_of([line for line in lines if line.kind == kind], unit, mean=kind == FigureKind.MEAN)
        for kind in kinds
    }
    ranges = {kind: possible(question, kind) if question else SHARE for kind in kinds}
    rows = [
        [
            name,
            point(line, forms[line.kind], ranges[line.kind]),
            between(line, forms[line.kind]),
            *([f"n = {count(line.n)}"] if is_n_varying else []),
            line.coverage if line.coverage == APPROXIMATE else "",
        ]
        for name, line in rows_to_format
    ]
    note = [f"… and {count(len(lines) - len(rows_to_format))} smaller ones: --csv has all"] * (
        len(lines) > len(rows_to_format)
    )
    return [*table(rows, right=(1,)), *note]


def form_of(lines: Sequence[Line], unit: str = "", *, mean: bool = False, beside: Sequence[Line] = ()) -> Format:
    """Return the format of numbers: shares in percent, their differences in points, means in their unit.

    Differences have as many decimals as the figures in `reference_lines`.
    """
    widths = [line.high - line.low for line in beside or lines]
    if mean:
        return number_format(precision(widths, False), False, unit)
    if lines[0].kind == FigureKind.DIFFERENCE:
        points = number_format(precision(widths, True), False)
        return lambda value: points(100 * value)
    return number_format(precision(widths, True), True)


def point(line: Line, form: Format, within: Range = SHARE) -> str:
    """Format an estimate, or the text `UNINFORMATIVE` in place of an uninformative one."""
    return NOTHING if says_nothing(line, within) else form(line.estimate)


def between(line: Line, form: Format) -> str:
    """Format the interval of a line."""
    return f"{form(line.low)} to {form(line.high)}"


def _indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line for line in lines]


def study_text(survey: Survey, study: Study) -> str:
    """Format the groups with their reports, then each answer in every group, in the total and in the differences."""
    title = [f"{survey.title} ({study.study})"] if study.study else []
    text = [
        *title,
        *wrapped(
            f"{count(study.reports)} reports in {len(study.groups)} groups; {percent(study.groups[0].confidence)}"
            " intervals, differences in points."
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
        text += wrapped(study.condition(place), INDENT) if group_parts[0][1].condition else []
        if among:
            text += [f"{INDENT}{AMONG}", *_indented(_answers(among, question), 2), f"{INDENT}{OF_ALL}"]
        text += _indented(_answers(of_all, question), 2 if among else 1) or [f"{INDENT}not enough reports"]
    return "\n".join(text)


def _answers(found: Sequence[tuple[str, Line]], question: Question) -> list[str]:
    """Format a table of every answer in every group."""
    rows = [
        row
        for option in dict.fromkeys(line.option for line in in_order([question], [line for _, line in found]))
        for row in _beside([(name, line) for name, line in found if line.option == option], question)
    ]
    return table(rows, right=(2,)) if rows else []


def _groups(study: Study) -> list[str]:
    """Format a table of the reports, people and weight of each group."""
    total = study.total or None
    weights = total.weights if total else {}
    rows = [["group", "reports", "people", "weight"]]
    rows += [
        [
            group.group,
            count(group.reports),
            count(group.size) if group.size else "-",
            percent(weights[group.group], 3) if weights else "-",
        ]
        for group in study.groups
    ]
    return [*table(rows, right=(1, 2, 3)), *(wrapped(f"{total.note}.") if total and total.note else [])]


def _beside(named: Sequence[tuple[str, Line]], question: Question) -> Iterator[list[str]]:
    """Yield the rows of one answer: one for each group, then one for each difference."""
    mean = any(line.kind == FigureKind.MEAN for _, line in named)
    value_range = possible(question, FigureKind.MEAN if mean else FigureKind.SHARE)
    group_lines = [line for _, line in named if line.kind != FigureKind.DIFFERENCE]
    unanswered = any(line.kind == FigureKind.NO_ANSWER for line in group_lines)  # differences do not tell
    for is_gap in (False, True):
        lines = [(name, line) for name, line in named if (line.kind == FigureKind.DIFFERENCE) == is_gap]
        if not lines:
            continue
        form = form_of([line for _, line in lines], question.unit, mean=mean, beside=group_lines)
        for name, line in lines:
            coverage = line.coverage if line.coverage == APPROXIMATE else ""
            answer = NOT_ASKED if question.show_if and unanswered else line.option
            yield [answer, name, point(line, form, value_range), between(line, form), f"n = {count(line.n)}", coverage]


def crosstab_text(survey: Survey, document: Crosstab | EmptyCrosstab) -> str:
    """Format cells, shares within rows and differences as tables, and the test as a sentence."""
    head = f"{survey.title} ({survey.slug}): {document.rows} (rows) by {document.columns} (columns)"
    if isinstance(document, EmptyCrosstab):
        return f"{head}\nnot enough reports answer both (n = {count(document.n)})"
    text = [
        head,
        *wrapped(f"n = {count(document.n)}: {document.base}; {percent(document.confidence)} intervals."),
    ]
    headings = {
        "estimates": "cells: shares of those who were asked",
        "within_rows": "within rows: of those in a row, the share in each column",
        "differences": f"differences to “{document.row_options[0]}”, in points",
    }
    for key, lines in document.lists.items():
        if lines:
            coverage = "approximate" if any(line.coverage == APPROXIMATE for line in lines) else "guaranteed"
            text += ["", f"{headings[key]} ({coverage})", *_indented(_grid(document, lines))]
    return "\n".join([*text, "", *wrapped(independence_sentence(document))])


def independence_sentence(document: Crosstab) -> str:
    """State the result of the test of independence, or why there is none."""
    test = document.test
    if test is None and document.note:
        return f"There are {document.note} of independence."
    if test is None:
        return "Some combinations cannot occur, so the two depend on each other, and there is nothing to test."
    symbol = "statistic" if test.draws else "χ²"
    method = f" by {count(test.draws)} draws, since too few are expected somewhere for χ²" if test.draws else ""
    figures = f"{symbol} = {test.statistic:.2f}, df = {test.df}, {p_value(test.p_value)}{method}, n = {count(test.n)}"
    return f"{test.name[0].upper()}{test.name[1:]}: {figures}."


def _grid(document: Crosstab, lines: Sequence[Line]) -> list[str]:
    """Format lines as a grid of rows and columns, or as a list where the grid is too wide for the terminal."""
    form = form_of(lines, beside=document.within_rows if lines is document.differences else ())
    cells = {line.options: f"{point(line, form)} ({between(line, form)})" for line in lines}
    rows = [
        [row, *(cells.get((row, column), "-") for column in document.column_options)]
        for row in document.row_options
        if any((row, column) in cells for column in document.column_options)
    ]
    grid = table([["", *document.column_options], *rows])
    if max(map(len, grid)) <= WIDTH:
        return grid
    return table([[*line.options, point(line, form), between(line, form)] for line in lines], right=(2,))


def regression_text(document: Regression) -> str:
    """Format the coefficients of a regression: log odds ratios and odds ratios."""
    rows = [["", "log odds ratio", f"{percent(document.confidence)} interval", "odds ratio", "n"]]
    for line in document.coefficients:
        is_uninformative = tells_nothing(line)
        ratio = "-" if is_uninformative or line.odds_ratio is None else f"{line.odds_ratio:.3g}"
        estimate = NOTHING if is_uninformative else line.form(line.estimate)
        rows.append([line.name, estimate, f"{line.form(line.low)} to {line.form(line.high)}", ratio, count(line.n)])
    return "\n".join(
        [f"log odds of {document.outcome} = {document.label} (approximate)", *table(rows, right=(1, 3, 4))]
    )
