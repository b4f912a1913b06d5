"""Run the server: migrate first, then start the workers, so that no two of them set up one file."""

import errno
import importlib
import os
import socket
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from survey_app.assure.doctor import definition_checks
from survey_app.collect.rate_limit import DEFAULT_LOGIN_LIMIT, DEFAULT_RATE_LIMIT, Counts, Limiter
from survey_app.invitations.key_disposal import destroy_closed_keys
from survey_app.store import State, open_store, open_tickets
from survey_app.web import issuer_app
from survey_app.web.workers import Workers


def serve(
    db: str, host: str, port: int, workers: int, trusted_proxies: int, config: Mapping[str, Any] | None = None
) -> None:
    """Serve until Ctrl-C. A worker that dies is restarted, and the log says so.

    `config` is passed to `create_app`.
    """
    _check_limits()
    store = open_store(db)
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
    os.environ["CANDOR_DB"] = db
    make = partial(_load_application, "survey_app.web.rsgi", config=config)
    _run(make, "Candor serves", host, port, workers, trusted_proxies)
    store.tidy(now=True)
    store.close()


def serve_issuer(file: Path, host: str, port: int, workers: int, trusted_proxies: int) -> None:
    """Serve a server that only issues tickets, until Ctrl-C."""
    _check_limits()
    os.environ[issuer_app.FILE_VARIABLE] = str(file)
    make = partial(_load_application, "survey_app.web.issuer_app")
    _run(make, "Candor gives out tickets", host, port, workers, trusted_proxies)


def _check_limits() -> None:
    for name, default in (("CANDOR_RATE_LIMIT", DEFAULT_RATE_LIMIT), ("CANDOR_LOGIN_LIMIT", DEFAULT_LOGIN_LIMIT)):
        limit = os.environ.get(name, default)
        try:
            Limiter(limit)
        except ValueError:
            raise click.ClickException(f"{name} is {limit!r}; write {default}, or off") from None


def _run(make: Callable[..., object], title: str, host: str, port: int, workers: int, trusted_proxies: int) -> None:
    os.environ["CANDOR_TRUSTED_PROXIES"] = str(trusted_proxies)
    check_port(host, port)
    click.echo(f"{title} on http://{host}:{port} with {workers} worker{'s' * (workers > 1)}; Ctrl-C ends it", err=True)
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
            hint = " Name an address of this machine: --host 127.0.0.1, or 0.0.0.0 for all."
        raise click.ClickException(f"cannot listen on {host}:{port}: {error.strerror}.{hint}") from None
