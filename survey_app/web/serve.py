"""Run the server: migrate first, then start the workers, so that no two of them set up one file."""

import errno
import importlib
import socket
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from survey_app.assure.doctor import definition_checks
from survey_app.collect.rate_limit import Counts
from survey_app.invitations.key_disposal import destroy_closed_keys
from survey_app.store import State, open_store, open_tickets
from survey_app.web.config import Config, ConfigError
from survey_app.web.server_log import configure_logging


def read_config(environment: Mapping[str, str]) -> Config:
    """Return the configuration in environment variables. Raise ClickException if one of them is wrong."""
    try:
        return Config.from_environment(environment)
    except ConfigError as error:
        raise click.ClickException(str(error)) from None


def require_posix() -> None:
    """Raise ClickException on Windows, where no server runs."""
    if sys.platform == "win32":
        raise click.ClickException(
            "a server needs Linux or macOS. On Windows, run this command in WSL or in a Docker container"
        )


def serve(config: Config, host: str, port: int, workers: int) -> None:
    """Serve until Ctrl-C. A worker that dies is restarted, and the log says so."""
    configure_logging()
    store = open_store(config.db)
    store.migrate()
    store.check_complete()
    store.tidy(now=True)  # an earlier version may have left it untidy without recording that
    destroy_closed_keys(open_tickets(store), store)
    for line in store.warnings():
        click.echo(f"warning: {line}", err=True)
    for published in store.surveys():
        if published.state is not State.CLOSED and (
            why := definition_checks.describe_objection(published.survey.source)
        ):
            click.echo(f"warning: {why}; {definition_checks.ADVICE}", err=True)
    store.close()
    make = partial(_load_application, "survey_app.web.rsgi", config=config.flask_settings())
    _run(make, "Candor is running", host, port, workers)
    store.tidy(now=True)
    store.close()


def serve_issuer(file: Path, config: Config, host: str, port: int, workers: int) -> None:
    """Serve a server that only issues tickets, until Ctrl-C."""
    configure_logging()
    make = partial(
        _load_application,
        "survey_app.web.issuer_app",
        file=file,
        limit=config.rate_limit,
        proxies=config.trusted_proxies,
    )
    _run(make, "Candor is issuing tickets", host, port, workers)


def _run(make: Callable[..., object], title: str, host: str, port: int, workers: int) -> None:
    check_port(host, port)
    click.echo(f"{title} on http://{host}:{port} with {workers} worker{'s' * (workers > 1)}; Ctrl-C stops it", err=True)
    from survey_app.web.workers import Workers  # needs fork, which Windows does not have

    Workers(partial(make, Counts()), host, port, workers).run()


def _load_application(module: str, counts: Counts, **options: object) -> object:
    """Return the application of `module`.

    Each worker imports it itself, so that the parent process does not load it.
    """
    return importlib.import_module(module).create(counts, **options)


def check_port(host: str, port: int, option: str = "--port {}") -> None:
    """Raise ClickException with one clear sentence if the port is taken, before anything else happens.

    `option` is the text that shows how to choose another port.
    """
    try:
        family = socket.getaddrinfo(host, port)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        hint = f" Is another server running? Try {option.format(port + 1)}."
        if error.errno != errno.EADDRINUSE:
            hint = " Use an address of this machine: --host 127.0.0.1, or 0.0.0.0 for all addresses."
        raise click.ClickException(f"cannot listen on {host}:{port}: {error.strerror}.{hint}") from None
