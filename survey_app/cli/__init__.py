"""The `candor` command with its list of subcommands, each imported only when it is called."""

import click

from candor_client.version import __version__
from survey_app.cli.command_group import Candor, Place
from survey_app.cli.terminal import colour, example
from survey_app.web import DEFAULT_DB

COMMANDS = {
    "Begin": {
        "demo": Place("serve", "demo_command", "a sample survey with made-up respondents, served"),
        "example": Place("example", "example_command", "the example surveys that come along"),
        "serve": Place("serve", "serve_command", "run the server"),
        "doctor": Place("doctor", "doctor_command", "what is wrong here, and what to do about it"),
    },
    "Author and run surveys": {
        "survey": Place("survey", "survey", "add, list, set, open, pause, close, invite, mail, share, …"),
        "plan": Place("plan", "plan_command", "how many respondents a survey needs, before it is launched"),
        "simulate": Place("simulate", "simulate_command", "add made-up respondents, for a try"),
        "import": Place("drafts", "import_command", "a draft from an XLSForm"),
        "form": Place("form", "form_command", "the form as one file that anybody can keep and compare"),
        "issuer": Place("issuer", "issuer", "invite people to a survey of another server"),
    },
    "Read the results": {
        "results": Place("results", "results_command", "estimates with intervals"),
        "crosstab": Place("results", "crosstab_command", "two questions at once"),
        "regress": Place("results", "regress_command", "logistic regression through the coins"),
        "export": Place("export", "export_command", "the noisy bits, for other programs"),
        "tally": Place("tally", "tally_command", "count exported bits, here or by Spark"),
        "codebook": Place("archive", "codebook_command", "what every bit means, for an archive"),
        "dossier": Place("archive", "dossier_command", "one document for an ethics board"),
    },
    "Answer": {
        "respond": Place("device", "respond_command", "answer a survey; this device randomizes first"),
        "ledger": Place("device", "ledger_command", "what this device has answered and spent"),
    },
    "Prove": {
        "audit": Place("audit", "audit_command", "run a client many thousand times: does it keep its ε?"),
        "shuffle": Place("shuffle", "shuffle_command", "reports without ids, in an order that nobody knows"),
    },
    "Keep": {
        "user": Place("accounts", "user", "accounts of researchers"),
        "token": Place("accounts", "token", "API tokens"),
        "backup": Place("copy", "backup_command", "keep everything but keys in a file"),
        "restore": Place("copy", "restore_command", "fill an empty store from a backup"),
        "copy": Place("copy", "copy_command", "from one store to another"),
        "completion": Place("completion", "completion_command", "let the shell complete commands, options and slugs"),
    },
}


@click.group(
    cls=Candor,
    epilog=example(
        "candor example exam > exam.yaml", "candor user add ada", "candor survey add exam.yaml", "candor serve"
    ),
)
@click.option(
    "--db",
    envvar="CANDOR_DB",
    help=f"The store: sqlite:///path (default {DEFAULT_DB}) or postgresql://…",
    metavar="URL",
)
@click.version_option(__version__, message="candor %(version)s")
@click.pass_context
def main(ctx: click.Context, db: str | None) -> None:
    """Surveys whose server cannot be sure of your answer."""
    ctx.obj, ctx.color = db, colour()


main.sections = COMMANDS
