"""The `import` command: make a draft from an XLSForm."""

import sys
from pathlib import Path

import click

from survey_app.authoring import build
from survey_app.authoring.drafts.xlsform import FormError, make_draft, read_form
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.cli.common import FILE
from survey_app.cli.output_files import check_free
from survey_app.cli.terminal import format_examples

SUFFIXES = (".xlsx", ".xls")


@click.command("import", epilog=format_examples("candor import household.xlsx -o household.yaml"))
@click.argument("file", type=FILE)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Write the draft to this file, not to standard output."
)
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def import_command(file: Path, output: Path | None, force: bool) -> None:
    """Convert an XLSForm, FILE.xlsx, into a draft in YAML.

    Questions with one option, with several options, or with a number between limits are converted, with simple
    conditions. Questions that cannot be asked with randomized answers, such as free text, are left out. They are
    listed with the reason, here and as comments in the draft.
    """
    if file.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"{file} is not an XLSForm; its name must end in {' or '.join(SUFFIXES)}")
    if output:
        check_free([output], force)
    try:
        result = make_draft(read_form(file), file.name)
    except FormError as error:
        raise click.ClickException(str(error)) from None
    try:
        if output:
            output.write_bytes(result.text.encode())
        else:
            click.echo(result.text.encode(), nl=False)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror or error}") from None
    click.echo(f"questions converted: {len(result.question_ids)}; left out: {len(result.omissions)}", file=sys.stderr)
    for omission in result.omissions:
        click.echo(f"left out: {omission.name}: {omission.reason}", file=sys.stderr)
    try:
        build(result.text.encode())
    except AuthoringError as error:
        click.echo(f"to fix before publishing: {error}", file=sys.stderr)
