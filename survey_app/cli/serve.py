"""The commands that run a server: serve, demo."""

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from survey_app.assure.simulation import demo_survey
from survey_app.cli.common import announce_new_database
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.store import STEP, open_store
from survey_app.web import DEFAULT_DB, serve

DEMO_DB = "sqlite:///.candor-demo/candor.db"
SERVER_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    click.option(
        "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="The port to listen on."
    ),
    click.option(
        "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="The number of worker processes."
    ),
    click.option(
        "--trusted-proxies",
        envvar="CANDOR_TRUSTED_PROXIES",
        default=0,
        show_default=True,
        type=click.IntRange(0),
        help="The number of proxies whose X-Forwarded-* headers are trusted.",
    ),
)


def add_server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a server to a command: host, port, workers, trusted proxies."""
    for option in reversed(SERVER_OPTIONS):
        command = option(command)
    return command


@click.command("serve", epilog=format_examples("candor serve --workers 2 --trusted-proxies 1"))
@add_server_options
@click.pass_context
def serve_command(ctx: click.Context, host: str, port: int, workers: int, trusted_proxies: int) -> None:
    """Run the server."""
    serve.require_posix()
    config = replace(serve.read_config(os.environ), db=ctx.obj or DEFAULT_DB, trusted_proxies=trusted_proxies)
    announce_new_database(config.db)
    serve.serve(config, host, port, workers)


@click.command("demo", epilog=format_examples("candor demo --port 8080"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="The port to listen on.")
@click.option(
    "--respondents",
    default=3000,
    show_default=True,
    type=click.IntRange(1, 10_000_000),
    help="The number of people to simulate at the first run.",
)
@click.pass_context
def demo_command(ctx: click.Context, host: str, port: int, respondents: int) -> None:
    """Serve a sample survey with simulated respondents, from .candor-demo/ in this folder, or from --db.

    The demo never writes to CANDOR_DB, which may name the database of a real server.
    """
    serve.require_posix()
    db = _choose_demo_database(ctx)
    by_make = "MAKELEVEL" in os.environ  # make passes no options on
    serve.check_port(host, port, 'make demo DEMO="--port {}"' if by_make else "--port {}")
    announce_new_database(db)
    store = open_store(db)
    store.migrate()
    published, password = demo_survey.prepare(store)
    base, slug = f"http://{host}:{port}", published.survey.slug
    click.echo(f"start     {base}/demo   the three roles: answer, watch, attack")
    click.echo(f"form      {base}/s/{slug}")
    click.echo(f"results   {base}/results/{slug}")
    click.echo(f"console   {base}/console   name {demo_survey.NAME}, password {password} (until the next run)")
    click.echo(f"terminal  {_program_name(ctx)} respond {base}/s/{slug}#sha256={published.survey.digest}")
    if query := _format_disk_query(store.table_of(published)[0], published.key):
        click.echo(f"disk      {query}")
    report_count = store.snapshot(published).reports
    missing = respondents - report_count
    if missing >= 2 * STEP or not report_count:  # a smaller difference may be reports not yet shown
        with show_progress("Simulating respondents", missing) as progress:
            for batch in demo_survey.simulate_submissions(published, missing):
                store.write(lambda: batch)  # noqa: B023 — called at once
                progress(len(batch))
    store.close()
    demo = (slug, published.survey.digest)
    serve.serve(replace(serve.read_config(os.environ), db=db, trusted_proxies=0, demo=demo), host, port, 1)


def _choose_demo_database(ctx: click.Context) -> str:
    """Return the database for the demo's made-up people: that of --db, else DEMO_DB.

    Raise ClickException if --db names the same database as CANDOR_DB.
    """
    root, server_db = ctx.find_root(), os.environ.get("CANDOR_DB")
    if root.get_parameter_source("db") is not ParameterSource.COMMANDLINE:
        if server_db:
            click.echo(f"CANDOR_DB is not used; the demo's database is {DEMO_DB}", err=True)
        return DEMO_DB
    if ctx.obj == server_db:
        raise click.ClickException(
            "CANDOR_DB names this database, and the demo adds simulated people. Use another --db."
        )
    return str(ctx.obj)


def _format_disk_query(file: str, survey: int) -> str:
    """Return a command that prints some reports as stored on disk; empty if it cannot run here."""
    tool = Path(sys.executable).with_name("sqlite-utils")
    if not Path(file).exists() or not tool.exists():
        return ""
    query = f"select hex(id) id, hex(bits) bits from reports where survey = {survey}"  # noqa: S608  a key of ours
    return shlex.join([str(tool), "query", str(Path(file).absolute()), query, "--table"])


def _program_name(ctx: click.Context) -> str:
    """Return the program name to type: with uvx, only the name of the package works."""
    return "candor-survey" if ctx.find_root().info_name == "candor-survey" else "candor"
