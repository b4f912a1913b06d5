"""The `example` command: print the surveys in this package, `candor example exam > exam.yaml`."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from survey_app.assure.simulation import example_files
from survey_app.cli.terminal import format_examples
from survey_app.languages.plain_text import wrap_sentence


def _complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in example_files.names() if name.startswith(incomplete)]


@click.command("example", epilog=format_examples("candor example exam > exam.yaml"))
@click.argument("name", required=False, shell_complete=_complete)
@click.option("--truth", is_flag=True, help="Print the answers of its simulated people, for candor simulate --truth.")
def example_command(name: str | None, truth: bool) -> None:
    """List the example surveys, or print the file of NAME: a survey, or a script such as reanalysis.R."""
    examples = example_files.names()
    if name is None:
        if truth:
            raise click.UsageError("--truth needs the name of an example.")
        width = max(map(len, examples)) + 2
        for example_name in examples:
            first, *lines = wrap_sentence(example_files.summarize(example_name), " " * width)
            click.echo("\n".join((example_name.ljust(width) + first.lstrip(), *lines)))
        return
    if name in example_files.scripts() and not truth:
        click.echo((example_files.folder() / name).read_bytes(), nl=False)
        return
    if name not in examples:
        raise click.ClickException(
            f"there is no example {name!r}; the examples are {', '.join([*examples, *example_files.scripts()])}"
        )
    file: Path | None = example_files.truth_file(name) if truth else example_files.survey_file(name)
    if file is None:
        raise click.ClickException(f"{name} has no file of simulated people; run candor simulate without --truth")
    click.echo(file.read_bytes(), nl=False)
