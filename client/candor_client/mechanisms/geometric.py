"""The mechanism `geometric`: a level plus geometric noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

from candor_client.errors import DefinitionError
from candor_client.mechanisms.mechanism import (
    BaseMechanism,
    MechanismName,
    check_symbol,
    create_mechanism_error,
    describe_symbols,
    find_ones,
    format_sentence,
)
from candor_client.sampling import DENOMINATOR, RandomBytes, draw_word
from candor_client.types import type_of
from candor_client.types.number import level_value, with_unit

if TYPE_CHECKING:
    from candor_client.definition import Field
    from candor_client.question import Question

MOST_LEVELS = 64


SENTENCES = {
    "odds_noise": "random noise is added, on about every second device at least {away}; "
    "what leaves the range is cut there",
    "odds_little": "random noise is added, but on more than half of all devices it leaves the number as it is",
}


@final
@dataclass(frozen=True, kw_only=True)
class Geometric(BaseMechanism):
    """A level plus two-sided geometric noise of ratio r = ratio/2^64, clamped to the range of the levels.

    P(noise ≥ k) = r^k/(1+r), rounded up to G_k/2^64 (Ghosh, Roughgarden and Sundararajan 2009). The noise is drawn
    from one word. The bit of the noisy level is set.
    """

    kind = MechanismName.GEOMETRIC
    parameters = ("size", "ratio")
    fits_joint = False
    size: int
    ratio: int

    def check(self) -> None:
        if not 2 <= self.size <= MOST_LEVELS:
            raise create_mechanism_error(f"needs a size from 2 to {MOST_LEVELS}")
        if not 0 < self.ratio < DENOMINATOR:
            raise create_mechanism_error("needs 0 < ratio < 2^64")
        if 2 * self.tails[0] >= DENOMINATOR or any(after >= before for before, after in pairwise(self.tails)):
            raise create_mechanism_error("its noise must decrease from level to level, in whole parts of 2^64")

    @property
    def width(self) -> int:
        return self.size

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """G_1 … G_(size−1): P(noise ≥ k) in parts of 2^64."""
        over = DENOMINATOR + self.ratio
        return tuple(-(-(self.ratio**k << 128) // (over << 64 * k)) for k in range(1, self.size))

    @property
    def odds(self) -> Fraction:
        ends = Fraction(DENOMINATOR - self.tails[0], self.tails[-1])
        within = [DENOMINATOR - 2 * self.tails[0], *(before - after for before, after in pairwise(self.tails))]
        return max(ends, Fraction(max(within), min(within))) if self.size > 2 else ends

    @staticmethod
    def fit(form: Mapping[str, Any], question: "Question", path: str) -> tuple[int, int]:
        if question.optional or not type_of(question.type).has_levels(question):
            raise DefinitionError("bad_mechanism", path, "geometric is for a number with levels that is not optional")
        return question.size, question.size

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        check_symbol(symbol, self.size)
        up = draw_word(random_bytes)
        down = DENOMINATOR - 1 - up
        level = symbol + sum((up < tail) - (down < tail) for tail in self.tails)
        return 1 << (self.size - 1 - max(0, min(self.size - 1, level)))

    def is_possible(self, bits: int) -> bool:
        return bits.bit_count() == 1

    def named_symbol(self, bits: int) -> int:
        return self.size - bits.bit_length()

    def describe(self, field: "Field", bits: int) -> str:
        return describe_symbols(field, find_ones(bits, self.width))

    def blind_draw(self) -> None:
        return None

    def odds_sentence(self, field: "Field") -> str:
        if not (noise := self.median_noise(field.questions[0])):
            return format_sentence(SENTENCES["odds_little"])
        return format_sentence(SENTENCES["odds_noise"], away=with_unit(field.questions[0], noise))

    def median_noise(self, question: "Question") -> Fraction:
        """Return the noise that about every second device exceeds or equals.

        It is zero if more than half of all devices send the number unchanged.
        """
        return level_value(question, self.median_shift()) - Fraction(question.min)

    def median_shift(self) -> int:
        """Return the largest k with P(|noise| ≥ k) ≥ ½, before clamping; for display."""
        return sum(4 * tail >= DENOMINATOR for tail in self.tails)
