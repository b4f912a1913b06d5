"""Shell completion: the script that a shell loads, and the completion of slugs.

Slugs are read from the SQLite file that the command would use, without changing it.
"""

import os

import click
from click.shell_completion import CompletionItem, get_completion_class

from survey_app.cli.terminal import format_examples
from survey_app.store.location import file_of
from survey_app.store.sqlite.inspection import list_slugs
from survey_app.web import DEFAULT_DB

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", epilog=format_examples("candor completion bash >> ~/.bash_completion"))
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print a script that lets a shell complete commands, options, files and slugs.

    The script is for the program name that you use now, candor or candor-survey. To load it in every new shell, add it
    to this file:

    \b
      bash  ~/.bash_completion
      zsh   ~/.zfunc/_candor, with fpath+=~/.zfunc before compinit in ~/.zshrc
      fish  ~/.config/fish/completions/candor.fish

    Slugs are read from the SQLite file of --db or CANDOR_DB. With PostgreSQL, slugs are not completed.
    """
    completion = get_completion_class(shell)
    name = ctx.find_root().info_name or "candor"
    if completion is None or " " in name:
        raise click.ClickException(f"the shell cannot complete this program name; run candor completion {shell}")
    variable = f"_{name}_COMPLETE".replace("-", "_").upper()
    click.echo(completion(ctx.find_root().command, {}, name, variable).source())


def complete_slug(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the matching slugs in the database that the command would use; empty if it is not a file."""
    path = file_of(ctx.find_root().params.get("db") or os.environ.get("CANDOR_DB") or DEFAULT_DB)
    return [CompletionItem(slug) for slug in (list_slugs(path) if path else ()) if slug.startswith(incomplete)]


def complete_slug_or_file(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the matching slugs, and let the shell complete files as well."""
    return [*complete_slug(ctx, parameter, incomplete), CompletionItem(incomplete, type="file")]
