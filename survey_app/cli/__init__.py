"""The `candor` command with its list of subcommands, each imported only when it is called."""

import click

from survey_app.cli.command_group import CandorGroup, CommandEntry
from survey_app.cli.terminal import choose_colour, format_examples
from survey_app.web import DEFAULT_DB

COMMANDS = {
    "Get started": {
        "demo": CommandEntry("serve", "demo_command", "serve a sample survey with simulated respondents"),
        "example": CommandEntry("example", "example_command", "list or print the example surveys"),
        "serve": CommandEntry("serve", "serve_command", "run the server"),
        "doctor": CommandEntry("doctor", "doctor_command", "check this installation, and say how to fix problems"),
    },
    "Author and run surveys": {
        "survey": CommandEntry("survey", "survey", "add, list, set, open, pause, close, invite, mail, share, …"),
        "plan": CommandEntry(
            "plan", "plan_command", "compute how many respondents a survey needs, before it is launched"
        ),
        "simulate": CommandEntry("simulate", "simulate_command", "add simulated respondents, for testing"),
        "import": CommandEntry("drafts", "import_command", "convert an XLSForm into a draft"),
        "form": CommandEntry("form", "form_command", "write the form as one file that anyone can keep and compare"),
        "issuer": CommandEntry("issuer", "issuer", "invite people to a survey on another server"),
    },
    "Read the results": {
        "results": CommandEntry("results", "results_command", "print estimates with intervals"),
        "crosstab": CommandEntry("results", "crosstab_command", "cross-tabulate two questions"),
        "regress": CommandEntry("results", "regress_command", "fit a logistic regression to randomized answers"),
        "export": CommandEntry("export", "export_command", "write the noisy bits for other programs"),
        "tally": CommandEntry("tally", "tally_command", "count exported bits, on this machine or with Spark"),
        "codebook": CommandEntry("archive", "codebook_command", "describe every bit, for an archive"),
        "dossier": CommandEntry("archive", "dossier_command", "write a document for an ethics board"),
    },
    "Answer": {
        "respond": CommandEntry(
            "device", "respond_command", "answer a survey; this device randomizes the answers first"
        ),
        "ledger": CommandEntry("device", "ledger_command", "show or forget what this device has answered and spent"),
    },
    "Verify": {
        "audit": CommandEntry("audit", "audit_command", "test with many thousand runs whether a client keeps its ε"),
        "shuffle": CommandEntry("shuffle", "shuffle_command", "remove ids from reports and put them in random order"),
    },
    "Administer": {
        "user": CommandEntry("accounts", "user", "manage accounts of researchers"),
        "token": CommandEntry("accounts", "token", "manage API tokens"),
        "backup": CommandEntry("copy", "backup_command", "back up everything except keys to a file"),
        "restore": CommandEntry("copy", "restore_command", "restore a backup into an empty database"),
        "copy": CommandEntry("copy", "copy_command", "copy one database to another"),
        "completion": CommandEntry(
            "completion", "completion_command", "set up shell completion of commands, options and slugs"
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
    help=f"The database: sqlite:///path (default {DEFAULT_DB}) or postgresql://…",
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
