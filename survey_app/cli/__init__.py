"""The `candor` command with its list of subcommands, each imported only when it is called."""

import click

from survey_app.cli.command_group import CandorGroup, CommandEntry
from survey_app.cli.terminal import choose_colour, format_examples
from survey_app.web import DEFAULT_DB

COMMANDS = {
    "Begin": {
        "demo": CommandEntry("serve", "demo_command", "a sample survey with made-up respondents, served"),
        "example": CommandEntry("example", "example_command", "the example surveys that come along"),
        "serve": CommandEntry("serve", "serve_command", "run the server"),
        "doctor": CommandEntry("doctor", "doctor_command", "what is wrong here, and what to do about it"),
    },
    "Author and run surveys": {
        "survey": CommandEntry("survey", "survey", "add, list, set, open, pause, close, invite, mail, share, …"),
        "plan": CommandEntry("plan", "plan_command", "how many respondents a survey needs, before it is launched"),
        "simulate": CommandEntry("simulate", "simulate_command", "add made-up respondents, for a try"),
        "import": CommandEntry("drafts", "import_command", "a draft from an XLSForm"),
        "form": CommandEntry("form", "form_command", "the form as one file that anybody can keep and compare"),
        "issuer": CommandEntry("issuer", "issuer", "invite people to a survey of another server"),
    },
    "Read the results": {
        "results": CommandEntry("results", "results_command", "estimates with intervals"),
        "crosstab": CommandEntry("results", "crosstab_command", "two questions at once"),
        "regress": CommandEntry("results", "regress_command", "logistic regression through the coins"),
        "export": CommandEntry("export", "export_command", "the noisy bits, for other programs"),
        "tally": CommandEntry("tally", "tally_command", "count exported bits, here or by Spark"),
        "codebook": CommandEntry("archive", "codebook_command", "what every bit means, for an archive"),
        "dossier": CommandEntry("archive", "dossier_command", "one document for an ethics board"),
    },
    "Answer": {
        "respond": CommandEntry("device", "respond_command", "answer a survey; this device randomizes first"),
        "ledger": CommandEntry("device", "ledger_command", "what this device has answered and spent"),
    },
    "Prove": {
        "audit": CommandEntry("audit", "audit_command", "run a client many thousand times: does it keep its ε?"),
        "shuffle": CommandEntry("shuffle", "shuffle_command", "reports without ids, in an order that nobody knows"),
    },
    "Keep": {
        "user": CommandEntry("accounts", "user", "accounts of researchers"),
        "token": CommandEntry("accounts", "token", "API tokens"),
        "backup": CommandEntry("copy", "backup_command", "keep everything but keys in a file"),
        "restore": CommandEntry("copy", "restore_command", "fill an empty store from a backup"),
        "copy": CommandEntry("copy", "copy_command", "from one store to another"),
        "completion": CommandEntry(
            "completion", "completion_command", "let the shell complete commands, options and slugs"
        ),
    },
}


def print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print the version and exit, if `--version` is given."""
    if value and not ctx.resilient_parsing:
        import survey_app  # its version loads the client, which takes longer than the rest of this command

        click.echo(f"candor {survey_app.__version__}")
        ctx.exit()


@click.group(
    cls=CandorGroup,
    epilog=format_examples(
        "candor example exam > exam.yaml", "candor user add ada", "candor survey add exam.yaml", "candor serve"
    ),
)
@click.option(
    "--db",
    envvar="CANDOR_DB",
    help=f"The store: sqlite:///path (default {DEFAULT_DB}) or postgresql://…",
    metavar="URL",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=print_version,
    help="Show the version and exit.",
)
@click.pass_context
def main(ctx: click.Context, db: str | None) -> None:
    """Surveys whose server cannot be sure of your answer."""
    ctx.obj, ctx.color = db, choose_colour()


main.sections = COMMANDS
