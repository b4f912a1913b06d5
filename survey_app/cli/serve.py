"""Running the server: serve, demo."""

import sys
from collections.abc import Callable

import click

from survey_app.cli.called import program
from survey_app.cli.common import announce
from survey_app.server import serve
from survey_app.simulate import demo
from survey_app.store import DEFAULT_DB, STEP, open_store

DEMO_DB = "sqlite:///.candor-demo/candor.db"
LISTENING = (
    click.option("--host", default="127.0.0.1", show_default=True),
    click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535)),
    click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64)),
    click.option(
        "--trusted-proxies",
        default=0,
        show_default=True,
        type=click.IntRange(0),
        help="How many may set X-Forwarded-*.",
    ),
)


def listening(command: Callable[..., None]) -> Callable[..., None]:
    """The options of whatever runs a server."""
    for option in reversed(LISTENING):
        command = option(command)
    return command


@click.command("serve")
@listening
@click.pass_context
def serve_command(ctx: click.Context, host: str, port: int, workers: int, trusted_proxies: int) -> None:
    """Run the server."""
    announce(ctx.obj or DEFAULT_DB)
    serve.serve(ctx.obj or DEFAULT_DB, host, port, workers, trusted_proxies)


@click.command("demo")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--respondents", default=3000, show_default=True, help="How many people to simulate at the first run.")
@click.pass_context
def demo_command(ctx: click.Context, host: str, port: int, respondents: int) -> None:
    """A sample survey with simulated respondents, served."""
    serve.check_port(host, port)
    db = ctx.obj or DEMO_DB
    announce(db)
    store = open_store(db)
    store.migrate()
    published, password = demo.prepare(store)
    base, slug = f"http://{host}:{port}", published.survey.slug
    click.echo(f"form      {base}/s/{slug}")
    click.echo(f"results   {base}/results/{slug}")
    click.echo(f"console   {base}/console   name {demo.NAME}, password {password} (until the next run)")
    click.echo(f"terminal  {program()} respond {base}/s/{slug}#sha256={published.survey.digest}")
    shown = store.snapshot(published).reports
    missing = respondents - shown
    if missing >= 2 * STEP or not shown:  # fewer are there, pending
        with click.progressbar(length=missing, label="Simulating respondents", file=sys.stderr) as bar:
            for made in demo.respondents(published, missing):
                store.write(lambda: made)  # noqa: B023 — called at once
                bar.update(len(made))
    store.close()
    serve.serve(db, host, port, 1, 0)
