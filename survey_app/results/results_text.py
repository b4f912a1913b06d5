"""Results as plain text for a terminal: every estimate with its interval, and whom n counts.

An interval whose coverage is not proved says so; what is too long to look at is cut, and the CSV table has all of it.
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
    """All questions of a survey, what was randomized together, and how often each block was drawn."""
    lines = [
        f"{survey.title} ({survey.slug}), version {survey.digest[:12]}",
        *wrapped(f"{count(document.reports)} reports{_invited(document)}; {_intervals(document)}"),
    ]
    for question, part in zip(survey.questions, document.questions, strict=True):
        lines += ["", *_question(question, part, percent(document.confidence))]
    questions = {question.id: question for question in survey.questions}
    for joint in document.joint:
        together = [questions[name] for name in joint.questions]
        lines += ["", f"{joint.name}, together", *_indented(_joint(joint, together))]
    if document.asked:
        rows = [["block", "chance", "expected", "drawn"]]
        rows += [
            [one.name, percent(one.chance, 3), count(round(one.expected)), count(one.n)]
            for one in document.asked.blocks
        ]
        lines += ["", *table(rows, right=(1, 2, 3)), *wrapped(draws_sentence(document.asked))]
    return "\n".join(lines)


def _invited(document: Results) -> str:
    if document.invited is UNSET or document.taken is UNSET:
        return ""
    return f" of {in_steps(document.invited)} invited, {in_steps(document.taken)} with a ticket (in steps)"


def _intervals(document: Results) -> str:
    whom = f"a population of {count(document.population)}" if document.population else "the population"
    together = ", together within each question" if document.simultaneous else ""
    return (
        f"{percent(document.confidence)} intervals for {whom}{together}, coverage guaranteed unless they are called"
        " approximate."
    )


def _question(question: Question, part: QuestionPart, confidence: str) -> list[str]:
    found = [f"{question.id}: {question.text}"]
    some = reached(part)
    if part.condition:
        found += wrapped(f"{part.condition}{f': {some.sentence(confidence)}' if some else ''}.", INDENT)
    found += wrapped(f"ε {epsilon(part.epsilon)}; {_n(part.estimates, part.base)}", INDENT)
    if not part.estimates:
        return found
    lists = {key: lines for key, lines in part.lists.items() if lines}
    first = ["answered"] if part.condition and part.answered else []
    for key in [*first, *(key for key in lists if key not in first)]:
        name = LISTS.get(key, OF_ALL if first else "")
        if key in first:
            name = f"{AMONG}{f', {some.among}' if some else ''}"
        found += [f"{INDENT}{name}"] * bool(name)
        read = in_order([question], lists[key]) if key in ("estimates", "answered") else lists[key]
        names = [answer_name(part, line) for line in read]
        found += _indented(_lines(read, question, names), 2 if name else 1)
    for one in part.quantiles:
        found += wrapped(f"{QUARTERS[one.level]}: {' or '.join(one.options)}", INDENT)
    return found


def _joint(part: JointPart, questions: Sequence[Question]) -> list[str]:
    read = in_order(questions, part.estimates)
    return [*wrapped(_n(read, part.base)), *(_lines(read) if read else [])]


def _n(lines: Sequence[Line], base: str) -> str:
    """How many devices, and which."""
    if not lines:
        return "not enough reports"
    counts = sorted({line.n for line in lines})
    n = " to ".join(count(one) for one in (counts[0], counts[-1])[: len(counts)])
    return f"n = {n}: {base or EVERYBODY}"


def _lines(lines: Sequence[Line], question: Question | None = None, names: Sequence[str] = ()) -> list[str]:
    """A row for each line, under its own name or another; the largest where there are very many. Only those of a
    question may be means.
    """
    shown = list(zip(names or [line.name for line in lines], lines, strict=True))
    if len(lines) > MOST_LINES:
        largest = sorted(range(len(lines)), key=lambda i: -lines[i].estimate)[:MOST_LINES]
        shown = [shown[i] for i in sorted(largest)]
    several = len({line.n for line in lines}) > 1
    kinds = {one.kind for one in lines}
    unit = question.unit if question else ""
    forms = {
        kind: form_of([line for line in lines if line.kind == kind], unit, mean=kind == FigureKind.MEAN)
        for kind in kinds
    }
    within = {kind: possible(question, kind) if question else SHARE for kind in kinds}
    rows = [
        [
            name,
            point(line, forms[line.kind], within[line.kind]),
            between(line, forms[line.kind]),
            *([f"n = {count(line.n)}"] if several else []),
            line.coverage if line.coverage == APPROXIMATE else "",
        ]
        for name, line in shown
    ]
    more = [f"… and {count(len(lines) - len(shown))} smaller ones: --csv has all"] * (len(lines) > len(shown))
    return [*table(rows, right=(1,)), *more]


def form_of(lines: Sequence[Line], unit: str = "", *, mean: bool = False, beside: Sequence[Line] = ()) -> Format:
    """How numbers are written: shares in percent, their differences in points, means in their unit.

    Differences have as many decimals as the figures `beside` them.
    """
    widths = [line.high - line.low for line in beside or lines]
    if mean:
        return number_format(precision(widths, False), False, unit)
    if lines[0].kind == FigureKind.DIFFERENCE:
        points = number_format(precision(widths, True), False)
        return lambda value: points(100 * value)
    return number_format(precision(widths, True), True)


def point(line: Line, form: Format, within: Range = SHARE) -> str:
    """An estimate; of one that says nothing, that it does."""
    return NOTHING if says_nothing(line, within) else form(line.estimate)


def between(line: Line, form: Format) -> str:
    """An interval."""
    return f"{form(line.low)} to {form(line.high)}"


def _indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line for line in lines]


def study_text(survey: Survey, study: Study) -> str:
    """The groups with their reports, then each answer in every group, in their total and in their differences."""
    named = [f"{survey.title} ({study.study})"] if study.study else []
    text = [
        *named,
        *wrapped(
            f"{count(study.reports)} reports in {len(study.groups)} groups; {percent(study.groups[0].confidence)}"
            " intervals, differences in points."
        ),
        "",
        *_groups(study),
    ]
    by_name = [(name, {part.name: part for part in parts}) for name, parts in study.named_parts]
    for place, question in enumerate(survey.questions):
        own = [(group.group, group.questions[place]) for group in study.groups]
        of_all = [(name, line) for name, parts in by_name for line in parts[question.id].lists["estimates"]]
        among = [(name, line) for name, part in own if part.condition for line in part.answered]
        text += ["", f"{question.id}: {question.text}"]
        text += wrapped(study.condition(place), INDENT) if own[0][1].condition else []
        if among:
            text += [f"{INDENT}{AMONG}", *_indented(_answers(among, question), 2), f"{INDENT}{OF_ALL}"]
        text += _indented(_answers(of_all, question), 2 if among else 1) or [f"{INDENT}not enough reports"]
    return "\n".join(text)


def _answers(found: Sequence[tuple[str, Line]], question: Question) -> list[str]:
    """A table of every answer in every group."""
    rows = [
        row
        for option in dict.fromkeys(line.option for line in in_order([question], [line for _, line in found]))
        for row in _beside([(name, line) for name, line in found if line.option == option], question)
    ]
    return table(rows, right=(2,)) if rows else []


def _groups(study: Study) -> list[str]:
    """How many reports and people each group has, and what it weighs."""
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
    """One answer: a row for each group, then for each difference."""
    mean = any(line.kind == FigureKind.MEAN for _, line in named)
    within = possible(question, FigureKind.MEAN if mean else FigureKind.SHARE)
    own = [line for _, line in named if line.kind != FigureKind.DIFFERENCE]
    unanswered = any(line.kind == FigureKind.NO_ANSWER for line in own)  # a difference does not say of what it is one
    for is_gap in (False, True):
        lines = [(name, line) for name, line in named if (line.kind == FigureKind.DIFFERENCE) == is_gap]
        if not lines:
            continue
        form = form_of([line for _, line in lines], question.unit, mean=mean, beside=own)
        for name, line in lines:
            rough = line.coverage if line.coverage == APPROXIMATE else ""
            answer = NOT_ASKED if question.show_if and unanswered else line.option
            yield [answer, name, point(line, form, within), between(line, form), f"n = {count(line.n)}", rough]


def crosstab_text(survey: Survey, document: Crosstab | EmptyCrosstab) -> str:
    """Cells, shares within rows and differences, each as a table; the test in a sentence."""
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
            rough = "approximate" if any(line.coverage == APPROXIMATE for line in lines) else "guaranteed"
            text += ["", f"{headings[key]} ({rough})", *_indented(_grid(document, lines))]
    return "\n".join([*text, "", *wrapped(independence_sentence(document))])


def independence_sentence(document: Crosstab) -> str:
    """What the test of independence says."""
    test = document.test
    if test is None and document.note:
        return f"There are {document.note} of independence."
    if test is None:
        return "Some combinations cannot occur, so the two depend on each other, and there is nothing to test."
    called = "statistic" if test.draws else "χ²"
    how = f" by {count(test.draws)} draws, since too few are expected somewhere for χ²" if test.draws else ""
    said = f"{called} = {test.statistic:.2f}, df = {test.df}, {p_value(test.p_value)}{how}, n = {count(test.n)}"
    return f"{test.name[0].upper()}{test.name[1:]}: {said}."


def _grid(document: Crosstab, lines: Sequence[Line]) -> list[str]:
    """By row and column; row below row where the columns are too many for a line."""
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
    """The coefficients: log odds ratios, and what they multiply the odds by."""
    rows = [["", "log odds ratio", f"{percent(document.confidence)} interval", "odds ratio", "n"]]
    for one in document.coefficients:
        silent = tells_nothing(one)
        ratio = "-" if silent or one.odds_ratio is None else f"{one.odds_ratio:.3g}"
        point = NOTHING if silent else one.form(one.estimate)
        rows.append([one.name, point, f"{one.form(one.low)} to {one.form(one.high)}", ratio, count(one.n)])
    return "\n".join(
        [f"log odds of {document.outcome} = {document.label} (approximate)", *table(rows, right=(1, 3, 4))]
    )
