"""Cross-tabs of two options of one multiple: both, one or neither was chosen. Options are named `question:option`.

If options are drawn, a device that was asked about both reports one of four cells. Each cell holds c = 2^(r−2) of the
2^r sets it may send. So the report is k-ary randomized response on four cells with P = p + (c−1)q and Q = cq, and each
count is binomial given that the pair was asked (docs/methods.md §15). The tally does not say which devices were asked
about both, so the stored bits are scanned. If the multiple was randomized as one choice of its 2^m sets, the tally is
enough.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from candor_client.definition import Survey
from candor_client.description import NO_ANSWER
from candor_client.question import Question
from candor_client.types import TypeName
from survey_app.channels import channel_of
from survey_app.channels.channel import AnswerPair
from survey_app.estimate.contingency import CrosstabEstimates, Names, PairError
from survey_app.estimate.intervals import Options
from survey_app.estimate.joint_field import joint_crosstab, set_crosstab
from survey_app.estimate.question_estimates import Evidence, evidence_of, field_symbols
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.kinds import kind_of
from survey_app.tally import Bits, Counts, Tally, columns_of

CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


def is_option_name(name: str) -> bool:
    """Return whether a name is that of an option; ids of questions have no colon."""
    return ":" in name


def find_option(survey: Survey, name: str) -> tuple[Question, int]:
    """Return the question and the index of an option, given its name; raise PairError if there is none."""
    id, _, label = name.partition(":")
    question = next((candidate for candidate in survey.questions if candidate.id == id), None)
    if question is None or kind_of(question).exclusive:
        multiples = (
            ", ".join(candidate.id for candidate in survey.questions if not kind_of(candidate).exclusive)
            or "there is none"
        )
        raise PairError(
            RefusalCode.UNKNOWN_QUESTION,
            f"{name!r} is not an option: write QUESTION:OPTION for a question with several answers ({multiples})",
        )
    if label not in question.labels:
        raise PairError(
            RefusalCode.UNKNOWN_OPTION, f"{id} has no option {label!r}; its options are {', '.join(question.labels)}"
        )
    return question, question.labels.index(label)


def has_pairs(survey: Survey, question: Question) -> bool:
    """Return whether some devices report two options of a question at once."""
    channel = channel_of(columns_of(survey, question.id).field.mechanism)
    reports_pairs = not channel.reads_answers or channel.answer_pair(0, 1) is not None
    return reports_pairs and not kind_of(question).exclusive


def option_crosstab(
    survey: Survey, rows: str, columns: str, tally: Tally, scan: Iterable[Bits], options: Options
) -> CrosstabEstimates:
    """Return the cross-tab of two options of one multiple; `scan` is read only if options were drawn.

    Raise PairError if the two cannot be crossed.
    """
    if not is_option_name(rows) or not is_option_name(columns):
        raise PairError(
            RefusalCode.OPTION_WITH_QUESTION,
            "an option can be crossed only with another option of its question; name two options of one question,"
            " or two questions",
        )
    (question, first), (other_question, second) = find_option(survey, rows), find_option(survey, columns)
    if other_question is not question:
        raise PairError(
            RefusalCode.OPTIONS_OF_TWO_QUESTIONS,
            f"{rows} and {columns} belong to two questions; cross the questions {question.id} and {other_question.id}",
        )
    if first == second:
        raise PairError(RefusalCode.REPEATED, "choose two different options")
    option_questions = option_question(survey, rows), option_question(survey, columns)
    names = option_questions[0].labels, option_questions[1].labels
    evidence = next(
        field_evidence for field_evidence in evidence_of(survey, tally) if question in field_evidence.field.questions
    )
    channel = channel_of(evidence.field.mechanism)
    if not channel.reads_answers:
        return _cross_symbol_sets(evidence, question, (first, second), names, options)
    pair = channel.answer_pair(first, second)
    if pair is None:
        raise PairError(
            RefusalCode.ONE_OPTION_EACH,
            f"each device was asked about only one option of {question.id}, so two options cannot be crossed; with a"
            " larger ε, or fewer options, a device can answer two or more",
        )
    counts = _count_pair_reports(survey, question, pair, scan)
    field = replace(evidence.field, questions=option_questions, mechanism=pair.mechanism)
    pair_evidence = Evidence(field, counts, int(counts.sum()), is_complete=False)
    return joint_crosstab(pair_evidence, option_questions, names, options)


def option_question(survey: Survey, name: str) -> Question:
    """Return a yes-or-no question for an option, given its name."""
    question, option = find_option(survey, name)
    label = question.labels[option]
    return Question(
        id=name, type=TypeName.YES_NO, text=f"{question.text} – {label}", labels=(f"{label}: no", f"{label}: yes")
    )


def _count_pair_reports(survey: Survey, question: Question, pair: AnswerPair, scan: Iterable[Bits]) -> Counts:
    """Return how often each cell was reported by devices that were asked about both options."""
    part = columns_of(survey, question.id).bit_slice
    counts = np.zeros(len(CELLS), dtype=np.int64)
    for packed in scan:
        bits = np.unpackbits(packed, axis=1, count=survey.width)[:, part].astype(bool)
        counts += [int((bits[:, i] & bits[:, j]).sum()) for i, j in pair.places]
    return counts


def _cross_symbol_sets(
    evidence: Evidence, question: Question, pair: tuple[int, int], names: tuple[Names, Names], options: Options
) -> CrosstabEstimates:
    """Return the cross-tab whose cells are the symbols that hold both, one or neither option.

    "No answer" has a row and a column of its own.
    """
    kind, by_symbol = kind_of(question), field_symbols(evidence.field, question)
    sets: dict[tuple[int, int], list[int]] = {cell: [] for cell in CELLS}
    for symbol, symbols in enumerate(by_symbol[: question.no_answer]):
        answers = kind.answers_in(question, symbol)
        sets[int(pair[0] in answers), int(pair[1] in answers)] += symbols
    if question.optional:
        names = (*names[0], NO_ANSWER), (*names[1], NO_ANSWER)
        sets[2, 2] = by_symbol[question.no_answer]
    return set_crosstab(evidence, sets, names, options)
