"""The mechanism `drawn`: the device draws some options at random and reports on them only."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from candor_client.canonical import parse_integer
from candor_client.errors import DefinitionError
from candor_client.mechanisms.mechanism import (
    BaseMechanism,
    MechanismName,
    check_keep,
    check_symbol,
    create_mechanism_error,
    find_ones,
    format_sentence,
    share,
)
from candor_client.question import NO_ANSWER
from candor_client.sampling import DENOMINATOR, RandomBytes, draw_below, flip_coin, pick
from candor_client.types import type_of

if TYPE_CHECKING:
    from candor_client.definition import Field
    from candor_client.question import Question

MOST_DRAWN = 16  # options of one report: 2^16 sets


SENTENCES = {
    "odds_drawn": "reports on {draw} of {size} options, drawn at random: in about {p} of {people} cases what was said, "
    "otherwise yes or no for each, drawn blindly",
}


@final
@dataclass(frozen=True, kw_only=True)
class Drawn(BaseMechanism):
    """A report on `draw` options that the device draws at random; the report discloses which options these are.

    The symbol is the set of selected options as a mask, option 0 least significant; `size` is the number of options.
    The selection among the drawn options is one of 2^draw sets. It is reported with probability keep/2^64, otherwise
    another set. Two bits are stored for each option: (drawn, reported 0) and (drawn, reported 1). `p` and `q` are those
    of one drawn option.
    """

    kind = MechanismName.DRAWN
    parameters = ("size", "draw", "keep")
    fits_joint = False
    size: int
    draw: int
    keep: int

    def check(self) -> None:
        if not 1 <= self.draw <= min(self.size, MOST_DRAWN):
            raise create_mechanism_error(f"needs a draw from 1 to size, and at most {MOST_DRAWN}")
        check_keep(self.keep, 1, self.sets)

    @property
    def sets(self) -> int:
        """The number of sets of the drawn options."""
        return 1 << self.draw

    @property
    def width(self) -> int:
        return 2 * self.size

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep * (self.sets - 1), DENOMINATOR - self.keep)

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, DENOMINATOR) + (self.sets // 2 - 1) * self._other_probability

    @property
    def q(self) -> Fraction:
        return self.sets // 2 * self._other_probability

    @property
    def _other_probability(self) -> Fraction:
        """The probability of each set other than the true one."""
        return Fraction(DENOMINATOR - self.keep, DENOMINATOR * (self.sets - 1))

    @staticmethod
    def fit(form: Mapping[str, Any], question: "Question", path: str) -> tuple[int, int]:
        if not type_of(question.type).has_sets:
            raise DefinitionError("bad_mechanism", path, "drawn is for a question of type multiple")
        draw = parse_integer(form.get("draw"), f"{path}.draw", 1, MOST_DRAWN)
        return len(question.labels) + question.optional, 1 << draw

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        check_symbol(symbol, 1 << self.size)
        options = sorted(pick(self.draw, list(range(self.size)), random_bytes))
        truth = sum((symbol >> option & 1) << i for i, option in enumerate(options))
        is_true = flip_coin(self.keep, random_bytes)
        other = draw_below(self.sets - 1, random_bytes)
        report = (other + (other >= truth), truth)[is_true]
        return sum(1 << (self.width - 1 - 2 * option - (report >> i & 1)) for i, option in enumerate(options))

    def is_possible(self, bits: int) -> bool:
        reported_0 = int("10" * self.size, 2)
        return bits.bit_count() == self.draw and not (bits & reported_0) >> 1 & bits

    def named_symbol(self, bits: int) -> None:
        return None

    def describe(self, field: "Field", bits: int) -> str:
        options = [*field.questions[0].labels, NO_ANSWER]
        return ", ".join(
            f"{options[place // 2]}: {'yes' if place % 2 else 'no'}" for place in find_ones(bits, self.width)
        )

    def blind_draw(self) -> tuple[int, int]:
        truth = self.p - self.q  # of one drawn option; p + q = 1, so the rest is divided equally between yes and no
        return share(truth, 1 - truth)[:2]

    def odds_sentence(self, field: "Field") -> str:
        people, truth = self.blind_draw()
        return format_sentence(SENTENCES["odds_drawn"], draw=self.draw, size=self.size, people=people, p=truth)
