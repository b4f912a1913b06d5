"""The `form` command: write a survey's form as a file, or compare such a file with the one made by this version."""

import hashlib
from pathlib import Path

import click

from candor_client.definition import Survey
from candor_client.errors import CandorError
from candor_client.version import __version__
from survey_app.assure.form_file import FormFileError, check_file
from survey_app.cli.common import DIGEST, FILE, check_readable, find_survey, open_db
from survey_app.cli.completion import complete_slug_or_file
from survey_app.cli.output_files import check_free, write_atomically
from survey_app.cli.terminal import format_examples
from survey_app.web.form.form_page import build_file

LOCAL_SERVER = "http://127.0.0.1:8000"  # where `candor serve` and `candor demo` listen


@click.command(
    "form",
    epilog=format_examples(
        "candor form exam --server https://example.org -o exam.html", "candor form --check exam.html"
    ),
)
@click.argument("survey", metavar="SLUG|DEFINITION.json", required=False, shell_complete=complete_slug_or_file)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to write.")
@click.option(
    "--server",
    default=LOCAL_SERVER,
    show_default=True,
    help="The server that it sends to, such as https://example.org.",
)
@DIGEST
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option(
    "--check", "checked", metavar="FILE", type=FILE, help="Check whether FILE is exactly what this version makes."
)
@click.pass_context
def form_command(
    ctx: click.Context,
    survey: str | None,
    output: Path | None,
    server: str,
    digest: str | None,
    force: bool,
    checked: Path | None,
) -> None:
    """Write the form of a survey to one file that anyone can keep, host, open from disk, and compare.

    The file contains the script, the styles and the definition. It loads nothing, and sends to the server alone. The
    same version of Candor makes the same bytes from the same definition and server on every machine. So the file's
    SHA-256 can be printed on a poster, in an ethics approval or in a registration. Without a database, use the
    definition that the server publishes (GET /api/surveys/SLUG).
    """
    if checked is not None and survey is None:
        _check_form(checked)
    elif checked is None and survey is not None and output is not None:
        _write_form(ctx, survey, output, server.rstrip("/").lower(), digest, force)
    else:
        raise click.UsageError("name a survey and a file to write (-o FILE), or a file to check (--check FILE)")


def _write_form(ctx: click.Context, name: str, output: Path, server: str, digest: str | None, force: bool) -> None:
    check_free([output], force)
    if name.endswith(".json"):
        check_readable(Path(name))
    try:
        definition = Survey.from_json(Path(name).read_bytes()) if name.endswith(".json") else None
        survey = definition or find_survey(open_db(ctx), name, digest).survey
        content = build_file(survey.source, server)
        with write_atomically(output) as file:
            file.write(content)
        output.chmod(0o644)  # anybody may read it
    except (CandorError, FormFileError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror or error}") from None
    click.echo(f"wrote the form of {survey.slug} to {output}; it sends to {server}")
    _print_digests(hashlib.sha256(content).hexdigest(), survey.digest)
    if server == LOCAL_SERVER:
        click.echo(
            f"{LOCAL_SERVER} works on this machine only; for another server, use --server https://example.org", err=True
        )


def _check_form(file: Path) -> None:
    try:
        result = check_file(file.read_bytes(), lambda survey, server: build_file(survey.source, server))
    except (FormFileError, OSError) as error:
        raise click.ClickException(f"{file}: {error}") from None
    if result.difference and result.version != __version__:
        raise click.ClickException(
            f"{file} was made by Candor {result.version or 'of an unknown version'}, and this is {__version__}. Only "
            f"the same version can check it. First difference: {result.difference}"
        )
    if result.difference:
        raise click.ClickException(
            f"{file} differs from what Candor {__version__} makes. First difference: {result.difference}"
        )
    click.echo(f"{file} is exactly what Candor {__version__} makes from the definition in it, byte for byte.")
    click.echo(f"It is the form of {result.survey.title!r} ({result.survey.slug}) and sends to {result.server}")
    _print_digests(result.sha256, result.survey.digest)
    click.echo("Compare these with the ones you were given: a form of another definition passes this check too.")


def _print_digests(sha256: str, digest: str) -> None:
    click.echo(f"SHA-256 of the file        {sha256}")
    click.echo(f"SHA-256 of the definition  {digest}")
