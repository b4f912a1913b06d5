"""The configuration of a server. Only `Config.from_environment` reads it from environment variables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from survey_app.collect.rate_limit import DEFAULT_LOGIN_LIMIT, DEFAULT_RATE_LIMIT, LIMIT
from survey_app.web import DEFAULT_DB

LIMITS = (("CANDOR_RATE_LIMIT", DEFAULT_RATE_LIMIT), ("CANDOR_LOGIN_LIMIT", DEFAULT_LOGIN_LIMIT))


class ConfigError(ValueError):
    """An environment variable has a value that cannot be used; the message names the variable."""


@dataclass(frozen=True)
class Config:
    """What an operator decides about a server.

    `demo` is the slug and the digest of the survey of `candor demo`; no environment variable sets it.
    """

    db: str = DEFAULT_DB
    rate_limit: str = DEFAULT_RATE_LIMIT
    login_limit: str = DEFAULT_LOGIN_LIMIT
    metrics_token: str | None = None
    trusted_proxies: int = 0
    demo: tuple[str, str] | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Config":
        """Return the configuration in these environment variables. Raise ConfigError if one of them is wrong."""
        rate_limit, login_limit = (_read_limit(environment, name, default) for name, default in LIMITS)
        proxies = environment.get("CANDOR_TRUSTED_PROXIES", "0")
        if not (proxies.isascii() and proxies.isdigit()):
            raise ConfigError(f"CANDOR_TRUSTED_PROXIES is {proxies!r}; set it to a number, 0 without a proxy")
        return cls(
            db=environment.get("CANDOR_DB", DEFAULT_DB),
            rate_limit=rate_limit,
            login_limit=login_limit,
            metrics_token=environment.get("CANDOR_METRICS_TOKEN"),
            trusted_proxies=int(proxies),
        )

    def flask_settings(self) -> dict[str, Any]:
        """Return the configuration under the names that `app.config` has for it: in capitals."""
        return {name.upper(): value for name, value in asdict(self).items()}


def _read_limit(environment: Mapping[str, str], name: str, default: str) -> str:
    limit = environment.get(name, default)
    if limit != "off" and not LIMIT.fullmatch(limit):
        raise ConfigError(f"{name} is {limit!r}; set it to a limit such as {default}, or to off")
    return limit
