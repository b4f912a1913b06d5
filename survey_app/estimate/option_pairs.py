"""Two options of one multiple: how many chose both, one, or neither. An option is named `question:option`.

Where options are drawn, a device that was asked about both reports one of four cells: of the 2^r sets it may send, each
cell holds c = 2^(r−2), so it is k-ary randomized response on the four with P = p + (c−1)q and Q = cq, and every count
is binomial given that the pair was asked (docs/methods.md §15). Which devices were asked about both is in the stored
bits, not in the tally, so they are scanned. Where the multiple was randomized as one choice of its 2^m sets, the tally
is enough.
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
from survey_app.estimate.joint_field import crossed_sets, joint_crosstab
from survey_app.estimate.question_estimates import Evidence, evidence_of, members
from survey_app.kinds import kind_of
from survey_app.tally import Bits, Counts, Tally, columns_of

CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


def names_option(name: str) -> bool:
    """Whether this is the name of an option; ids of questions have no colon."""
    return ":" in name


def option_of(survey: Survey, name: str) -> tuple[Question, int]:
    """The multiple and the place of an option that is named."""
    id, _, label = name.partition(":")
    question = next((one for one in survey.questions if one.id == id), None)
    if question is None or kind_of(question).exclusive:
        several = ", ".join(one.id for one in survey.questions if not kind_of(one).exclusive) or "there is none"
        raise PairError(f"{name!r} is no option: write QUESTION:OPTION, of a question with several answers ({several})")
    if label not in question.labels:
        raise PairError(f"{id} has no option {label!r}; its options are {', '.join(question.labels)}")
    return question, question.labels.index(label)


def has_pairs(survey: Survey, question: Question) -> bool:
    """Whether some devices tell about two options of a question at once."""
    channel = channel_of(columns_of(survey, question.id).field.mechanism)
    together = not channel.reads_answers or channel.answer_pair(0, 1) is not None
    return together and not kind_of(question).exclusive


def option_crosstab(
    survey: Survey, rows: str, columns: str, tally: Tally, scan: Iterable[Bits], options: Options
) -> CrosstabEstimates:
    """Two options of one multiple; `scan` is read only if options were drawn."""
    if not names_option(rows) or not names_option(columns):
        raise PairError("an option is crossed with another option of its question; or name both questions as a whole")
    (question, first), (other, second) = option_of(survey, rows), option_of(survey, columns)
    if other is not question:
        raise PairError(f"{rows} and {columns} are of two questions; cross {question.id} with {other.id} as a whole")
    if first == second:
        raise PairError("choose two different options")
    both = option_question(survey, rows), option_question(survey, columns)
    names = both[0].labels, both[1].labels
    evidence = next(one for one in evidence_of(survey, tally) if question in one.field.questions)
    channel = channel_of(evidence.field.mechanism)
    if not channel.reads_answers:
        return _of_sets(evidence, question, (first, second), names, options)
    pair = channel.answer_pair(first, second)
    if pair is None:
        raise PairError(
            f"each device was asked about one option of {question.id} only, so nothing tells how two go together; a"
            " larger ε, or fewer options, lets a device answer two or more"
        )
    counts = _asked_together(survey, question, pair, scan)
    field = replace(evidence.field, questions=both, mechanism=pair.mechanism)
    asked = Evidence(field, counts, int(counts.sum()), complete=False)
    return joint_crosstab(asked, both, names, options)


def option_question(survey: Survey, name: str) -> Question:
    """Return an option that is named, as a yes or no of its own."""
    question, option = option_of(survey, name)
    label = question.labels[option]
    return Question(
        id=name, type=TypeName.YES_NO, text=f"{question.text} – {label}", labels=(f"{label}: no", f"{label}: yes")
    )


def _asked_together(survey: Survey, question: Question, pair: AnswerPair, scan: Iterable[Bits]) -> Counts:
    """How often each cell was reported by those asked about both."""
    part = columns_of(survey, question.id).part
    counts = np.zeros(len(CELLS), dtype=np.int64)
    for packed in scan:
        bits = np.unpackbits(packed, axis=1, count=survey.width)[:, part].astype(bool)
        counts += [int((bits[:, i] & bits[:, j]).sum()) for i, j in pair.places]
    return counts


def _of_sets(
    evidence: Evidence, question: Question, pair: tuple[int, int], names: tuple[Names, Names], options: Options
) -> CrosstabEstimates:
    """Each cell is a union of symbols, by which of the two they hold; who gave no answer is in a cell apart."""
    kind, by_symbol = kind_of(question), members(evidence.field, question)
    sets: dict[tuple[int, int], list[int]] = {cell: [] for cell in CELLS}
    for symbol, symbols in enumerate(by_symbol[: question.no_answer]):
        held = kind.holds(question, symbol)
        sets[int(pair[0] in held), int(pair[1] in held)] += symbols
    if question.optional:
        names = (*names[0], NO_ANSWER), (*names[1], NO_ANSWER)
        sets[2, 2] = by_symbol[question.no_answer]
    return crossed_sets(evidence, sets, names, options)
