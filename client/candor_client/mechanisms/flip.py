"""The mechanism `flip`: one bit for two symbols."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

from candor_client.mechanisms.mechanism import (
    BaseMechanism,
    MechanismName,
    blind_sentence,
    blind_share,
    check_symbol,
    coin_odds,
    create_mechanism_error,
    format_sentence,
    share,
)
from candor_client.sampling import DENOMINATOR, RandomBytes, flip_coin

if TYPE_CHECKING:
    from candor_client.definition import Field
    from candor_client.question import Question


SENTENCES = {
    "odds_flip": "of {people} people with {yes}, about {p} devices send {yes}; of {people} with {no}, about {q} do",
}


@final
@dataclass(frozen=True, kw_only=True)
class Flip(BaseMechanism):
    """One bit for yes or no: Warner's randomized response (1965) and its variants."""

    kind = MechanismName.FLIP
    parameters = ("one", "zero")
    fits_joint = True
    size: ClassVar[int] = 2
    width: ClassVar[int] = 1
    one: int
    zero: int

    def check(self) -> None:
        if not 0 < self.zero < self.one < DENOMINATOR:
            raise create_mechanism_error("needs 0 < zero < one < 2^64")

    @property
    def odds(self) -> Fraction:
        return coin_odds(self.p, self.q)

    @property
    def p(self) -> Fraction:
        return Fraction(self.one, DENOMINATOR)

    @property
    def q(self) -> Fraction:
        return Fraction(self.zero, DENOMINATOR)

    @staticmethod
    def fit(form: Mapping[str, Any], question: "Question", path: str) -> tuple[int, int]:
        return question.size, question.size

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        check_symbol(symbol, 2)
        return int(flip_coin(self.one if symbol else self.zero, random_bytes))

    def is_possible(self, bits: int) -> bool:
        return True

    def named_symbol(self, bits: int) -> int:
        return bits

    def describe(self, field: "Field", bits: int) -> str:
        return field.label(bits)

    def blind_draw(self) -> tuple[int, int] | None:
        return blind_share(self.p, self.q, 1)

    def odds_sentence(self, field: "Field") -> str:
        if draw := self.blind_draw():
            return blind_sentence(field, *draw)
        people, p, q = share(self.p, self.q)
        return format_sentence(SENTENCES["odds_flip"], people=people, p=p, q=q, no=field.label(0), yes=field.label(1))
