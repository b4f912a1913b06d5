"""What a survey spends, recomputed from its integers, against what it claims and what the person allows.

The budget adds up over fields (basic composition); with `ask` a device answers one of them, so the largest counts.
Nothing here trusts the server's own figure.
"""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation, localcontext

from candor_client.definition import Survey
from candor_client.errors import ClaimExceeded, LimitExceeded
from candor_client.mechanisms import EXACT, round_up

SLACK = Decimal("1e-9")


def verify(survey: Survey, limit: float | str | Decimal | None = None) -> Decimal:
    """The survey's exact ε; raises ClaimExceeded or LimitExceeded."""
    epsilon = spend((field.mechanism.epsilon for field in survey.fields), ask=survey.ask)
    if epsilon > survey.epsilon + SLACK:
        raise ClaimExceeded(
            f"this survey claims ε = {survey.epsilon}, but its integers spend {round_up(epsilon)}; do not answer it"
        )
    check_limit(epsilon, limit)
    return epsilon


def spend(losses: Iterable[Decimal], *, ask: bool) -> Decimal:
    """The sum of the losses of all fields, or the largest, if a device answers one of them."""
    with localcontext(EXACT):
        return max(losses, default=Decimal(0)) if ask else sum(losses, Decimal(0))


def check_limit(
    epsilon: Decimal, limit: float | str | Decimal | None, spent: Decimal = Decimal(0), host: str = ""
) -> None:
    """Raise LimitExceeded if ε, on top of what was spent already, is more than the person allows.

    The limit is that of a survey, or of a server if a host is named.
    """
    if limit is None:
        return
    try:
        most = Decimal(str(limit))
    except InvalidOperation:
        most = Decimal("NaN")
    if not most.is_finite():
        raise ValueError(f"a limit is a number such as 2.5, not {limit!r}")
    if spent + epsilon > most + SLACK:
        total, before = round_up(spent + epsilon, 4), round_up(spent, 4)
        if host:
            earlier = f", {before} of it for other surveys there" if spent else ""
            raise LimitExceeded(
                f"answering would bring {host} to ε = {total}{earlier}; your limit for one server is {limit}",
                "above_server_limit",
            )
        earlier = f", {before} of it for earlier versions or other groups" if spent else ""
        raise LimitExceeded(f"answering would bring this survey to ε = {total}{earlier}; your limit is {limit}")
