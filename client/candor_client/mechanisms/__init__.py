"""The mechanisms, one module each: how a symbol becomes noisy bits, and the exact privacy loss.

The loss ε of a mechanism is ln(odds), with `odds` an exact fraction of the published integers. Every mechanism object
is valid, because the constructors refuse invalid parameters. The number of bytes that a mechanism draws depends only on
its parameters, apart from rare repetitions in `draw_below`. So it reveals neither the answer nor the outcome.

`p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not).
"""

from typing import Any, assert_never

from candor_client import canonical
from candor_client.errors import DefinitionError
from candor_client.mechanisms.drawn import MOST_DRAWN, Drawn
from candor_client.mechanisms.flip import Flip
from candor_client.mechanisms.geometric import MOST_LEVELS, Geometric
from candor_client.mechanisms.mechanism import EXACT, BaseMechanism, MechanismName, coin_odds, loss, round_up, share
from candor_client.mechanisms.subset import Subset

__all__ = [
    "EXACT",
    "MOST_DRAWN",
    "MOST_LEVELS",
    "BaseMechanism",
    "Drawn",
    "Flip",
    "Geometric",
    "Mechanism",
    "MechanismName",
    "Subset",
    "coin_odds",
    "find_class",
    "loss",
    "parse",
    "publish",
    "round_up",
    "share",
]

Mechanism = Flip | Subset | Drawn | Geometric

THRESHOLDS = ("one", "zero", "keep", "ratio")  # published as text, since they may be above 2^53


def parse(value: Any, size: int, path: str) -> Mechanism:
    """Return the mechanism of a field with `size` symbols, or options for `drawn`; raise DefinitionError."""
    mechanism = find_class(value)
    if mechanism is None:
        raise DefinitionError("bad_value", f"{path}.kind", f"must be one of {', '.join(MechanismName)}")
    names = mechanism.parameters
    canonical.check_keys(value, path, ("kind", *names))
    values = {
        name: canonical.parse_threshold(value[name], f"{path}.{name}")
        if name in THRESHOLDS
        else canonical.parse_integer(value[name], f"{path}.{name}", 0)
        for name in names
    }
    if values.get("size", 2) != size:
        raise DefinitionError("bad_mechanism", path, "its size must be the field's number of symbols")
    try:
        return mechanism(**values)
    except DefinitionError as error:
        raise DefinitionError(error.code, path, error.reason) from None


def publish(mechanism: Mechanism) -> dict[str, int | str]:
    """Return the published form of a mechanism; the inverse of `parse`."""
    form: dict[str, int | str] = {"kind": mechanism.kind.value}
    for name in mechanism.parameters:
        value: int = getattr(mechanism, name)
        form[name] = str(value) if name in THRESHOLDS else value
    return form


def find_class(value: Any) -> type[Mechanism] | None:
    """Return the class of the mechanism in a published form; None if its kind is unknown."""
    kind = value.get("kind") if isinstance(value, dict) else None
    return class_of(MechanismName(kind)) if isinstance(kind, str) and kind in list(MechanismName) else None


def class_of(name: MechanismName) -> type[Mechanism]:
    """Return the class of the mechanism with this name."""
    match name:
        case MechanismName.FLIP:
            return Flip
        case MechanismName.SUBSET:
            return Subset
        case MechanismName.DRAWN:
            return Drawn
        case MechanismName.GEOMETRIC:
            return Geometric
        case _:
            assert_never(name)
