"""Whether what came out is what the published integers say, and nothing beside it: exact tests of counts.

For a known answer, every stored bit is one with a known probability; the bits of an id are even; fields, ids and
earlier reports have nothing to do with one another. So each count, alone and together with any other, is binomial with
known parameters, and a count too far out refutes the client: a biased generator, noise used twice, an answer in the
id, in the spelling or in what follows. Every check keeps to its part of the error that the audit may make.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc
from scipy.stats import fisher_exact

from client.definition import Survey
from client.mechanism import Drawn, Flip, Geometric
from survey_app.assure.audit.bounds import Hits
from survey_app.assure.audit.inputs import Round
from survey_app.assure.audit.reading import ID_BITS, Reports
from survey_app.channel import Floats, geometric_chances
from survey_app.tally import Columns, columns

Names = Sequence[str]
Places = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]  # sums of ones are exact up to 2^24 reports

MOST_BITS = 256  # of a field: pairs of more would be too many to look at


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it is as it should be, and how unlikely the oddest of it is in an honest client."""

    name: str
    ok: bool
    p_value: float
    told: str = ""


@dataclass(frozen=True)
class Counted:
    """Counts that are binomial in an honest client: what was counted, how often, of how many, with which chance."""

    names: Names
    ones: Floats
    n: Floats
    chances: Floats


def two_sided(ones: Floats, n: Floats, chances: Floats) -> Floats:
    """p-values of binomial counts, exact: twice the smaller tail."""
    whole = n.astype(np.int64)
    below, above = bdtr(ones, whole, chances), np.where(ones > 0, bdtrc(np.maximum(ones - 1, 0), whole, chances), 1.0)
    certain = np.where(chances >= 1, np.where(ones == n, 1.0, 0.0), np.where(ones == 0, 1.0, 0.0))
    found: Floats = np.where((chances > 0) & (chances < 1), np.minimum(2 * np.minimum(below, above), 1.0), certain)
    return found


def check(name: str, counted: Sequence[Counted], error: float) -> Check:
    """The oddest of many counts, with Bonferroni's correction for their number."""
    tested = sum(one.ones.size for one in counted)
    worst, told = 1.0, ""
    for one in counted:
        if one.ones.size:
            values = two_sided(one.ones, one.n, one.chances)
            place = int(values.argmin())
            if values.flat[place] < worst:
                worst = float(values.flat[place])
                expected = float((one.n * one.chances).flat[place])
                told = f"{one.names[place]}: {one.ones.flat[place]:.0f} times where {expected:.0f} were to be expected"
    corrected = min(1.0, worst * max(tested, 1))
    return Check(name, corrected >= error, corrected, told if corrected < error else "")


def bit_chances(at: Columns, symbol: int) -> Floats:
    """P(bit = 1) for the stored bits of a field that was asked, given its symbol."""
    mechanism = at.field.mechanism
    if isinstance(mechanism, Geometric):
        found: Floats = geometric_chances(mechanism)[symbol]
        return found
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return np.array([p if symbol else q])
    if isinstance(mechanism, Drawn):
        drawn = mechanism.draw / mechanism.size
        yes = [p if symbol >> option & 1 else q for option in range(mechanism.size)]
        return np.array([drawn * chance for one in yes for chance in (1 - one, one)])
    return np.array([p if place == symbol else q for place in range(mechanism.size)])


def run_checks(survey: Survey, rounds: Sequence[Round], reports: Reports, error: float) -> list[Check]:
    """Everything that is looked at beside ε; together they err with probability `error` at the most."""
    part = error / 6
    groups = list(_groups(survey, rounds, reports))
    spelled = _spelling(reports, part)
    found = [
        check("stored bits follow the published integers", [one.alone() for one in groups], part),
        check("fields share no noise", [pair for one in groups for pair in one.across()], part),
        check("ids are even and tell nothing", [pair for one in groups for pair in one.with_ids()], part),
        check("earlier answers leave no trace", [pair for one in groups for pair in one.after()], part),
        spelled,
        Check("no id occurs twice", not reports.repeated, float(not reports.repeated), _repeats(reports)),
    ]
    if survey.ask:
        found.insert(1, check("fields are drawn with their chances", list(_drawn(survey, reports)), part))
    if reports.faults:
        found.insert(0, Check("every line is a report", False, 0.0, "; ".join(reports.faults)))
    return found


def _repeats(reports: Reports) -> str:
    return f"{reports.repeated} reports have the id of another one" if reports.repeated else ""


@dataclass(frozen=True)
class _Group:
    """Reports of one input whose devices were asked the same fields: of those, bits with known chances."""

    parts: list[tuple[str, Singles, Floats]]  # for each field: its name, its bits, their chances
    ids: Singles
    same: Hits  # whether the report before had the same input
    first: Hits

    def alone(self) -> Counted:
        """Every bit by itself."""
        names = [f"{name}, bit {place}" for name, bits, _ in self.parts for place in range(bits.shape[1])]
        ones = np.concatenate([bits.sum(axis=0, dtype=float) for _, bits, _ in self.parts])
        chances = np.concatenate([chances for *_, chances in self.parts])
        return Counted(names, ones, np.full(len(ones), float(len(self.ids))), chances)

    def across(self) -> Iterator[Counted]:
        """Every bit of a field together with every bit of another."""
        for place, (name, bits, chances) in enumerate(self.parts):
            for other, others, more in self.parts[:place]:
                yield self._pairs(f"{name} with {other}", bits, chances, others, more)

    def with_ids(self) -> Iterator[Counted]:
        """Every bit of an id by itself, with every other one, and with every stored bit."""
        even = np.full(ID_BITS, 0.5)
        n = float(len(self.ids))
        yield Counted(
            [f"bit {place} of the id" for place in range(ID_BITS)],
            self.ids.sum(axis=0, dtype=float),
            np.full(ID_BITS, n),
            even,
        )
        rows, others = np.triu_indices(ID_BITS, 1)
        both = (self.ids.T @ self.ids)[rows, others].astype(float)
        names = _Lazy(lambda place: f"bits {rows[place]} and {others[place]} of the id together", len(both))
        yield Counted(names, both, np.full(len(both), n), np.full(len(both), 0.25))
        for name, bits, chances in self.parts:
            yield self._pairs(f"{name} with the id", bits, chances, self.ids, even)

    def after(self) -> Iterator[Counted]:
        """Every bit again, apart by whether the report before was of the same answers."""
        for told, rows in (("the same", self.same), ("other", ~self.same & ~self.first)):
            n = float(rows.sum())
            for name, bits, chances in self.parts:
                ones = bits[rows].sum(axis=0, dtype=float)
                names = [f"{name}, bit {place}, after {told} answers" for place in range(len(ones))]
                yield Counted(names, ones, np.full(len(ones), n), chances)

    def _pairs(self, name: str, bits: Singles, chances: Floats, others: Singles, more: Floats) -> Counted:
        both = (bits.T @ others).ravel().astype(float)
        width = others.shape[1]
        names = _Lazy(lambda place: f"{name}, bits {place // width} and {place % width} together", len(both))
        return Counted(names, both, np.full(len(both), float(len(bits))), np.outer(chances, more).ravel())


class _Lazy(Sequence[str]):
    """Names that are made only when one is told: there are thousands."""

    def __init__(self, make: Callable[[int], str], size: int) -> None:
        self._make, self._size = make, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        return self._make(place)


def _groups(survey: Survey, rounds: Sequence[Round], reports: Reports) -> Iterator[_Group]:
    """For each input: with `ask` the devices asked a field, one field after the other; else all of them."""
    all_at = list(columns(survey))
    for number, one in enumerate(rounds):
        for side in (0, 1):
            mine = reports.inputs == 2 * number + side
            if not mine.any():
                continue
            tried = [(index, all_at[index]) for index in one.symbols]
            together = [[pair] for pair in tried] if survey.ask else [tried]
            for group in together:
                rows = mine
                if survey.ask:
                    rows = mine & (reports.bits[:, group[0][1].asked] == 1)
                parts = []
                for index, at in group:
                    places = _places(at, one.symbols[index])
                    bits = reports.bits[np.ix_(rows, at.start + places)].astype(np.float32)
                    parts.append((_name(at), bits, bit_chances(at, one.symbols[index][side])[places]))
                yield _Group(
                    parts,
                    reports.ids[rows].astype(np.float32),
                    (reports.before == reports.inputs)[rows],
                    (reports.before < 0)[rows],
                )


def _places(at: Columns, symbols: tuple[int, int]) -> Places:
    """Which bits of a field are looked at: all, or of very many those of its two answers and some that chance picks."""
    width = at.stop - at.start
    if width <= MOST_BITS:
        return np.arange(width)
    named = [symbol for symbol in symbols if symbol < width]
    return np.unique([*named, *np.random.default_rng().choice(width, MOST_BITS, replace=False)])


def _drawn(survey: Survey, reports: Reports) -> Iterator[Counted]:
    """Which field was asked, apart by input."""
    for given in np.unique(reports.inputs):
        rows = reports.bits[reports.inputs == given]
        at = list(columns(survey))
        ones = np.array([rows[:, one.asked].sum() for one in at], dtype=float)
        chances = np.array([float(survey.part(one.field)) for one in at])
        yield Counted([f"{_name(one)} asked" for one in at], ones, np.full(len(at), float(len(rows))), chances)


def _spelling(reports: Reports, error: float) -> Check:
    """Whether a report is spelled alike whatever was answered: Fisher's exact test of each way to spell it."""
    tested, worst, told = 0, 1.0, ""
    inputs = np.unique(reports.inputs)
    for shape, name in enumerate(reports.shape_names):
        spelled = reports.shapes == shape
        for given in inputs[:-1]:
            one, rest = reports.inputs == given, reports.inputs > given
            table = np.array([[(spelled & rows).sum(), (~spelled & rows).sum()] for rows in (one, rest)])
            tested += 1
            p = float(fisher_exact(table).pvalue)
            if p < worst:
                worst, told = p, f"{name[:80]}: {table[0, 0]} and {table[1, 0]} times, by what was answered"
    corrected = min(1.0, worst * max(tested, 1))
    ok = corrected >= error or math.isclose(worst, 1.0)
    return Check("every report is spelled alike", ok, corrected, "" if ok else told)


def _name(at: Columns) -> str:
    return "+".join(question.id for question in at.field.questions)
