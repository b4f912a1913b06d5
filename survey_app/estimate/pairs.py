"""Two options of one multiple: how many chose both, one, or neither. An option is named `question:option`.

Where options are drawn, a device that was asked about both reports one of four cells: of the 2^r sets it may send, each
cell holds c = 2^(r−2), so it is k-ary randomized response on the four with P = p + (c−1)q and Q = cq, and every count
is binomial given that the pair was asked (docs/methods.md §15). Which devices were asked about both is in the stored
bits, not in the tally, so they are scanned. Where the multiple was randomized as one choice of its 2^m sets, the tally
is enough.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from client.definition import Survey
from client.mechanisms import Drawn, Subset
from client.question import Question
from client.sampling import WHOLE
from client.types import TypeName
from client.words import NO_ANSWER
from survey_app.estimate.intervals import Options
from survey_app.estimate.joint import crossed_sets, joint_crosstab
from survey_app.estimate.question import Evidence, evidence_of, members
from survey_app.estimate.tables import Crosstab, Names, PairError
from survey_app.tally import Bits, Counts, Tally, columns_of

CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))
YES_NO = ("no", "yes")


def names_option(name: str) -> bool:
    """Whether this is the name of an option; ids of questions have no colon."""
    return ":" in name


def option_of(survey: Survey, name: str) -> tuple[Question, int]:
    """The multiple and the place of an option that is named."""
    id, _, label = name.partition(":")
    question = next((one for one in survey.questions if one.id == id), None)
    if question is None or question.type != "multiple":
        several = ", ".join(one.id for one in survey.questions if one.type == "multiple") or "there is none"
        raise PairError(f"{name!r} is no option: write QUESTION:OPTION, of a question with several answers ({several})")
    if label not in question.labels:
        raise PairError(f"{id} has no option {label!r}; its options are {', '.join(question.labels)}")
    return question, question.labels.index(label)


def has_pairs(survey: Survey, question: Question) -> bool:
    """Whether some devices tell about two options of a question at once."""
    mechanism = columns_of(survey, question.id).field.mechanism
    return question.type == "multiple" and not (isinstance(mechanism, Drawn) and mechanism.draw < 2)


def option_crosstab(
    survey: Survey, rows: str, columns: str, tally: Tally, scan: Iterable[Bits], options: Options
) -> Crosstab:
    """Two options of one multiple; `scan` is read only if options were drawn."""
    if not names_option(rows) or not names_option(columns):
        raise PairError("an option is crossed with another option of its question; or name both questions as a whole")
    (question, first), (other, second) = option_of(survey, rows), option_of(survey, columns)
    if other is not question:
        raise PairError(f"{rows} and {columns} are of two questions; cross {question.id} with {other.id} as a whole")
    if first == second:
        raise PairError("choose two different options")
    names = _names(question, first), _names(question, second)
    mechanism = columns_of(survey, question.id).field.mechanism
    evidence = next(one for one in evidence_of(survey, tally) if question in one.field.questions)
    if isinstance(mechanism, Subset):
        return _of_sets(evidence, question, (first, second), names, options)
    if not isinstance(mechanism, Drawn) or mechanism.draw < 2:
        raise PairError(
            f"each device was asked about one option of {question.id} only, so nothing tells how two go together; a"
            " larger ε, or fewer options, lets a device answer two or more"
        )
    counts = _asked_together(survey, question, (first, second), scan)
    both = tuple(Question(id=name, type=TypeName.YES_NO, text=name, labels=YES_NO) for name in (rows, columns))
    field = replace(evidence.field, questions=both, mechanism=_of_four(mechanism))
    asked = Evidence(field, counts, int(counts.sum()), complete=False)
    return joint_crosstab(asked, (both[0], both[1]), names, options)


def _names(question: Question, option: int) -> Names:
    return f"{question.labels[option]}: no", f"{question.labels[option]}: yes"


def _of_four(mechanism: Drawn) -> Subset:
    """What the sets of r options are to two of them: the same truth, and as much noise on four cells."""
    each = mechanism.sets // 4
    other = Fraction(WHOLE - mechanism.keep, mechanism.sets - 1)
    return Subset(size=4, weight=1, keep=round(mechanism.keep + (each - 1) * other))


def _asked_together(survey: Survey, question: Question, pair: tuple[int, int], scan: Iterable[Bits]) -> Counts:
    """How often each cell was reported by those asked about both."""
    start = columns_of(survey, question.id).start
    counts = np.zeros(len(CELLS), dtype=np.int64)
    for packed in scan:
        bits = np.unpackbits(packed, axis=1, count=survey.width).astype(bool)
        of = [bits[:, start + 2 * option : start + 2 * option + 2] for option in pair]
        counts += [int((of[0][:, i] & of[1][:, j]).sum()) for i, j in CELLS]
    return counts


def _of_sets(
    evidence: Evidence, question: Question, pair: tuple[int, int], names: tuple[Names, Names], options: Options
) -> Crosstab:
    """Each cell is a union of the 2^m sets; who gave no answer is in a cell apart."""
    by_mask = members(evidence.field, question)
    sets: dict[tuple[int, int], list[int]] = {cell: [] for cell in CELLS}
    for mask, symbols in enumerate(by_mask[: question.no_answer]):
        sets[mask >> pair[0] & 1, mask >> pair[1] & 1] += symbols
    if question.optional:
        names = (*names[0], NO_ANSWER), (*names[1], NO_ANSWER)
        sets[2, 2] = by_mask[question.no_answer]
    return crossed_sets(evidence, sets, names, options)
