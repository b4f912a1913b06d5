"""Exact tests of counts: the reports follow the published integers and carry nothing else.

For a known answer, every stored bit is 1 with a known probability.
The joint probability of two bits of a field, or of all its bits, is known too.
The bits of an id are fair. Fields, ids and earlier reports are independent of each other.
So each count, alone or joint with any other, is binomial with known parameters. An extreme count refutes the client.
This finds a biased generator, correlated noise, and an answer leaked in the id, the spelling or later reports.
Every check keeps to its part of the error that the audit may make.
Reused noise is tested separately (`repeats`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import fisher_exact

from candor_client.definition import Survey
from survey_app.assure.answer_mixtures import Mixture, average_over_mixture
from survey_app.assure.audit.binomial_counts import (
    BinomialCounts,
    Check,
    CheckCode,
    LazyNames,
    Names,
    Singles,
    check_counts,
    count_pairs,
)
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.audit.repeats import Oddity, check_repeated_noise, check_shared_noise, recurrence
from survey_app.assure.audit.report_reader import ID_BITS, LAGS, Reports
from survey_app.channels import Channel, channel_of
from survey_app.channels.channel import Hits, Indices, Matrix
from survey_app.figures import Floats
from survey_app.tally import Columns, columns

MOST_BITS = 256  # of all fields, or of one: more would give too many pairs to test
MOST_OUTCOMES = 1_024  # possible rows of bits of a field, if each is counted separately
MOST_PAIRED = 64  # bits of a field that are tested in pairs


def run_checks(survey: Survey, inputs: Inputs, reports: Reports, error: float) -> list[Check]:
    """Return all checks other than the bounds of ε; together they err with probability `error` at most."""
    fault_checks = [Check(CheckCode.FORMAT, False, 0.0, "; ".join(reports.faults))] if reports.faults else []
    return fault_checks + _run_all(survey, inputs, reports, error / 10) if len(reports.inputs) else fault_checks


def _run_all(survey: Survey, inputs: Inputs, reports: Reports, part: float) -> list[Check]:
    groups = list(_groups(survey, inputs, reports))
    checks = [
        check_counts(CheckCode.BITS, [group.count_bits() for group in groups], part),
        check_counts(
            CheckCode.BITS_OF_FIELD, [counts for group in groups for counts in group.count_within_fields()], part
        ),
        check_counts(CheckCode.FIELD_PAIRS, [pair for group in groups for pair in group.count_across_fields()], part),
        check_counts(
            CheckCode.IDS,
            [*_count_id_bits(reports), *(pair for group in groups for pair in group.count_with_ids())],
            part,
        ),
        check_counts(
            CheckCode.EARLIER_ANSWERS,
            [
                *_count_id_bits_by_earlier_input(reports),
                *(counts for group in groups for counts in group.count_by_earlier_input()),
            ],
            part,
        ),
        _check_oddity(CheckCode.REPEATED_NOISE, check_repeated_noise(survey, inputs, reports, part), part),
        _check_spelling(reports, part),
        Check(CheckCode.REPEATED_IDS, not reports.repeated, float(not reports.repeated), _describe_repeats(reports)),
    ]
    if survey.ask:
        checks.insert(1, check_counts(CheckCode.FIELDS_ASKED, list(_count_asked_fields(survey, reports)), part))
    else:
        checks.insert(3, _check_oddity(CheckCode.FIELD_SETS, check_shared_noise(survey, inputs, reports), part))
        checks.insert(-1, _check_oddity(CheckCode.ID_RECURRENCE, recurrence(reports), part))
    return checks


def _check_oddity(code: CheckCode, oddity: Oddity, error: float) -> Check:
    ok = oddity.p_value >= error
    return Check(code, ok, oddity.p_value, "" if ok else oddity.detail)


def _describe_repeats(reports: Reports) -> str:
    return f"{reports.repeated} reports have the id of an earlier report" if reports.repeated else ""


@dataclass(frozen=True)
class _FieldReports:
    """The tested bits of one field in some reports, their places in the field, and their chances."""

    at: Columns
    name: str
    rows: Matrix
    places: Indices
    mixture: Mixture

    @property
    def bits(self) -> Singles:
        return self.rows[:, self.places].astype(np.float32)

    @property
    def channel(self) -> Channel:
        return channel_of(self.at.field.mechanism)

    @property
    def chances(self) -> Floats:
        return average_over_mixture(self.mixture, self.channel.bit_chances)[self.places]

    def count_jointly(self) -> BinomialCounts | None:
        """Return the counts of every outcome of the field, or of every pair of bits if there are too many outcomes.

        Return None if there are too many outcomes and fewer than two bits are tested.
        """
        possible = self.channel.outcomes(MOST_OUTCOMES)
        if possible is not None:
            chances = average_over_mixture(self.mixture, lambda symbol: self.channel.outcome_chances(possible, symbol))
            ones = _count_rows(self.rows, possible)
            names: Names = [f"{self.name}, {_format_row(row)}" for row in possible]
        elif len(self.places) > 1:
            places = self.places[:MOST_PAIRED]
            first, second = (places[indices] for indices in np.triu_indices(len(places), 1))
            chances = average_over_mixture(
                self.mixture, lambda symbol: self.channel.pair_chances(symbol, first, second)
            )
            bits = self.rows[:, places].astype(np.float32)
            ones = (bits.T @ bits)[np.triu_indices(len(places), 1)].astype(float)
            names = LazyNames(lambda at: f"{self.name}, bits {first[at]} and {second[at]} together", len(ones))
        else:
            return None
        return BinomialCounts(names, ones, np.full(len(ones), float(len(self.rows))), chances)


@dataclass(frozen=True)
class _ReportGroup:
    """Reports to one input from devices that were asked the same fields, with bits of known chances."""

    parts: list[_FieldReports]
    ids: Singles
    same_input: list[Hits]  # for each lag, whether the earlier report had the same input
    different_input: list[Hits]

    def count_bits(self) -> BinomialCounts:
        """Return the counts of every single bit."""
        names = [f"{part.name}, bit {place}" for part in self.parts for place in part.places]
        ones = np.concatenate([part.rows[:, part.places].sum(axis=0, dtype=float) for part in self.parts])
        chances = np.concatenate([part.chances for part in self.parts])
        return BinomialCounts(names, ones, np.full(len(ones), float(len(self.ids))), chances)

    def count_within_fields(self) -> Iterator[BinomialCounts]:
        """Yield the joint counts of the bits within each field."""
        yield from filter(None, (part.count_jointly() for part in self.parts))

    def count_across_fields(self) -> Iterator[BinomialCounts]:
        """Yield the joint counts of every bit of a field with every bit of another field."""
        for place, part in enumerate(self.parts):
            for earlier in self.parts[:place]:
                yield count_pairs(
                    f"{part.name} with {earlier.name}", part.bits, part.chances, earlier.bits, earlier.chances
                )

    def count_with_ids(self) -> Iterator[BinomialCounts]:
        """Yield the joint counts of every stored bit with every bit of the id."""
        for part in self.parts:
            yield count_pairs(f"{part.name} with the id", part.bits, part.chances, self.ids, np.full(ID_BITS, 0.5))

    def count_by_earlier_input(self) -> Iterator[BinomialCounts]:
        """Yield the counts of every bit, split by whether an earlier report had the same answers."""
        for lag, same, other in zip(LAGS, self.same_input, self.different_input, strict=True):
            for label, rows in (("the same", same), ("other", other)):
                n = float(rows.sum())
                for part in self.parts:
                    ones = part.rows[rows][:, part.places].sum(axis=0, dtype=float)
                    names = [f"{part.name}, bit {place}, {label} answers at lag {lag}" for place in part.places]
                    yield BinomialCounts(names, ones, np.full(len(ones), n), part.chances)


def _count_rows(rows: Matrix, possible: Matrix) -> Floats:
    """Return how often each possible row occurs; a report has no other rows."""
    keys, possible_keys = np.packbits(rows, axis=1), np.packbits(possible, axis=1)
    distinct, counts = np.unique(keys, axis=0, return_counts=True)
    count_by_row = {row.tobytes(): float(number) for row, number in zip(distinct, counts, strict=True)}
    return np.array([count_by_row.get(row.tobytes(), 0.0) for row in possible_keys])


def _format_row(row: Matrix) -> str:
    return "".join(str(bit) for bit in row)


def _groups(survey: Survey, inputs: Inputs, reports: Reports) -> Iterator[_ReportGroup]:
    """Yield the reports to each input as one group, or with `ask` as one group for each field that was asked."""
    field_columns = list(enumerate(columns(survey)))
    places = _select_places(survey)
    for number, mixtures in enumerate(inputs.mixtures):
        is_input = reports.inputs == number
        for group in [[entry] for entry in field_columns] if survey.ask else [field_columns]:
            rows = is_input & (reports.bits[:, group[0][1].asked_column] == 1) if survey.ask else is_input
            if not rows.any():
                continue
            yield _ReportGroup(
                [
                    _FieldReports(at, _name(at), reports.bits[rows, at.bit_slice], places[index], mixtures[index])
                    for index, at in group
                    if len(places[index])
                ],
                reports.ids[rows].astype(np.float32),
                [(before == reports.inputs)[rows] for before in reports.earlier_inputs],
                [((before != reports.inputs) & (before >= 0))[rows] for before in reports.earlier_inputs],
            )


def _select_places(survey: Survey) -> list[Indices]:
    """Return the bits of each field that are tested: all, or a random sample if there are very many."""
    rng = np.random.default_rng()
    widths = [field.mechanism.width for field in survey.fields]
    if survey.ask:
        return [_sample_places(rng, width, MOST_BITS) for width in widths]
    tested = _sample_places(rng, sum(widths), MOST_BITS)
    starts = np.cumsum([0, *widths])
    return [tested[(tested >= start) & (tested < end)] - start for start, end in pairwise(starts)]


def _sample_places(rng: np.random.Generator, width: int, most: int) -> Indices:
    return np.arange(width) if width <= most else np.sort(rng.choice(width, most, replace=False))


def _count_id_bits(reports: Reports) -> Iterator[BinomialCounts]:
    """Yield the counts of every bit and every pair of bits of the id, split by input."""
    for number in np.unique(reports.inputs):
        yield from _count_fair_bits(reports.ids[reports.inputs == number], "")


def _count_id_bits_by_earlier_input(reports: Reports) -> Iterator[BinomialCounts]:
    """Yield the counts of every bit and every pair of bits of the id, split by the previous input."""
    for number in np.unique(reports.earlier_inputs[0]):
        yield from _count_fair_bits(
            reports.ids[reports.earlier_inputs[0] == number], f", after set {number} of answers"
        )


def _count_fair_bits(ids: Matrix, where: str) -> Iterator[BinomialCounts]:
    n, singles = float(len(ids)), ids.astype(np.float32)
    names = [f"bit {place} of the id{where}" for place in range(ID_BITS)]
    yield BinomialCounts(names, singles.sum(axis=0, dtype=float), np.full(ID_BITS, n), np.full(ID_BITS, 0.5))
    rows, columns = np.triu_indices(ID_BITS, 1)
    joint = (singles.T @ singles)[rows, columns].astype(float)
    names_of_pairs = LazyNames(
        lambda place: f"bits {rows[place]} and {columns[place]} of the id together{where}", len(joint)
    )
    yield BinomialCounts(names_of_pairs, joint, np.full(len(joint), n), np.full(len(joint), 0.25))


def _count_asked_fields(survey: Survey, reports: Reports) -> Iterator[BinomialCounts]:
    """Yield the counts of the fields that were asked, split by input."""
    for number in np.unique(reports.inputs):
        rows = reports.bits[reports.inputs == number]
        fields = list(columns(survey))
        ones = np.array([rows[:, field.asked_column].sum() for field in fields], dtype=float)
        chances = np.array([float(survey.answer_probability(field.field)) for field in fields])
        yield BinomialCounts(
            [f"{_name(field)} asked" for field in fields], ones, np.full(len(fields), float(len(rows))), chances
        )


def _check_spelling(reports: Reports, error: float) -> Check:
    """Check that the spelling of a report does not depend on the answers: Fisher's exact test of each spelling."""
    count, worst, detail = 0, 1.0, ""
    inputs = np.unique(reports.inputs)
    for shape, name in enumerate(reports.shape_names):
        has_shape = reports.shapes == shape
        for number in inputs[:-1]:
            is_input, is_later = reports.inputs == number, reports.inputs > number
            table = np.array([[(has_shape & rows).sum(), (~has_shape & rows).sum()] for rows in (is_input, is_later)])
            count += 1
            p = float(fisher_exact(table).pvalue)
            if p < worst:
                worst, detail = p, f"{name[:80]}: {table[0, 0]} and {table[1, 0]} times, for two sets of answers"
    corrected = min(1.0, worst * max(count, 1))
    ok = corrected >= error or math.isclose(worst, 1.0)
    return Check(CheckCode.SPELLING, ok, corrected, "" if ok else detail)


def _name(at: Columns) -> str:
    return "+".join(question.id for question in at.field.questions)
