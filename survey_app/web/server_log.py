"""Logging of the commands that serve: one format, on standard error, for our own messages and granian's.

The format has no time and no address, so that a line of the log tells nobody when a report came, or from where. Where
Candor is imported as a library, nothing is configured.
"""

import logging.config
from typing import Any

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "loggers": {
        name: {"handlers": ["stderr"], "level": level, "propagate": False}
        for name, level in (("survey_app", "INFO"), ("candor_client", "INFO"), ("_granian", "WARNING"))
    },
}


def configure_logging() -> None:
    """Set up logging for this process, and for the workers that are forked from it."""
    logging.config.dictConfig(LOGGING)
