"""The check of a survey's privacy budget: recomputed from its integers, and compared with its claim and the limits.

The budget adds up over fields (basic composition). With `ask` a device answers only one field, so the largest counts.
The server's own figure is not trusted.
"""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation, localcontext

from candor_client.definition import Survey
from candor_client.errors import ClaimExceeded, LimitExceeded
from candor_client.mechanisms import EXACT, round_up

SLACK = Decimal("1e-9")


def verify(survey: Survey, limit: float | str | Decimal | None = None) -> Decimal:
    """Return the exact ε of a survey; raise ClaimExceeded or LimitExceeded if it is above the claim or the limit."""
    epsilon = compose_losses((field.mechanism.epsilon for field in survey.fields), ask=survey.ask)
    if epsilon > survey.epsilon + SLACK:
        raise ClaimExceeded(
            f"this survey claims ε = {survey.epsilon}, but its published integers spend {round_up(epsilon)}; "
            "do not answer it"
        )
    check_limit(epsilon, limit)
    return epsilon


def compose_losses(losses: Iterable[Decimal], *, ask: bool) -> Decimal:
    """Return the sum of the fields' losses, or the largest loss if a device answers only one field (`ask`)."""
    with localcontext(EXACT):
        return max(losses, default=Decimal(0)) if ask else sum(losses, Decimal(0))


def check_limit(
    epsilon: Decimal, limit: float | str | Decimal | None, spent: Decimal = Decimal(0), host: str = ""
) -> None:
    """Raise LimitExceeded if ε, added to the ε already spent, is above the respondent's limit.

    The limit is that of a server if `host` is given, otherwise that of a survey; None allows any ε.
    Raise ValueError if the limit is not a finite number.
    """
    if limit is None:
        return
    try:
        most = Decimal(str(limit))
    except InvalidOperation:
        most = Decimal("NaN")
    if not most.is_finite():
        raise ValueError(f"a limit must be a number such as 2.5, not {limit!r}")
    if spent + epsilon > most + SLACK:
        total, before = round_up(spent + epsilon, 4), round_up(spent, 4)
        if host:
            earlier = f", {before} of it for other surveys there" if spent else ""
            raise LimitExceeded(
                f"answering would bring the total of {host} to ε = {total}{earlier}; your limit for one server is "
                f"{limit}",
                "above_server_limit",
            )
        earlier = f", {before} of it for earlier versions or other groups" if spent else ""
        raise LimitExceeded(
            f"answering would bring the total of this survey to ε = {total}{earlier}; your limit is {limit}"
        )
