"""The mechanism `subset`: a random set of symbols."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from candor_client.mechanisms.mechanism import (
    BaseMechanism,
    MechanismName,
    blind_sentence,
    blind_share,
    check_keep,
    check_symbol,
    create_mechanism_error,
    describe_symbols,
    find_ones,
    format_sentence,
    share,
)
from candor_client.sampling import DENOMINATOR, RandomBytes, flip_coin, pick

if TYPE_CHECKING:
    from candor_client.definition import Field
    from candor_client.question import Question


SENTENCES = {
    "odds_several": "names {weight} of {size} possible answers; of {people} people who gave an answer, about {p} "
    "devices name it; of {people} who gave another, about {q} do",
}


@final
@dataclass(frozen=True, kw_only=True)
class Subset(BaseMechanism):
    """A random set of `weight` symbols that holds the true one with probability keep/2^64 (Ye and Barg 2018).

    Weight 1 is k-ary randomized response.
    """

    kind = MechanismName.SUBSET
    parameters = ("size", "weight", "keep")
    fits_joint = True
    size: int
    weight: int
    keep: int

    def check(self) -> None:
        if not 1 <= self.weight <= self.size - 1:
            raise create_mechanism_error("needs a weight from 1 to size - 1")
        check_keep(self.keep, self.weight, self.size)

    @property
    def width(self) -> int:
        return self.size

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep * (self.size - self.weight), (DENOMINATOR - self.keep) * self.weight)

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, DENOMINATOR)

    @property
    def q(self) -> Fraction:
        return (self.weight - self.p) / (self.size - 1)

    @staticmethod
    def fit(form: Mapping[str, Any], question: "Question", path: str) -> tuple[int, int]:
        return question.size, question.size

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        check_symbol(symbol, self.size)
        is_true = flip_coin(self.keep, random_bytes)
        picked = pick(self.weight, [*range(symbol), *range(symbol + 1, self.size)], random_bytes)
        picked[-1] = (picked[-1], symbol)[is_true]
        return sum(1 << (self.size - 1 - position) for position in picked)

    def is_possible(self, bits: int) -> bool:
        return bits.bit_count() == self.weight

    def named_symbol(self, bits: int) -> int | None:
        return self.size - bits.bit_length() if self.weight == 1 else None

    def describe(self, field: "Field", bits: int) -> str:
        return describe_symbols(field, find_ones(bits, self.width))

    def blind_draw(self) -> tuple[int, int] | None:
        return blind_share(self.p, self.q, self.size - 1)

    def odds_sentence(self, field: "Field") -> str:
        if draw := self.blind_draw():
            return blind_sentence(field, *draw)
        people, p, q = share(self.p, self.q)
        return format_sentence(SENTENCES["odds_several"], weight=self.weight, size=self.size, people=people, p=p, q=q)
