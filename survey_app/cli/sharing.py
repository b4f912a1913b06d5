"""The `survey share` command for the operator; owners share their surveys in the console."""

import click

from survey_app.cli.common import SLUG, find_managed, find_user, open_db
from survey_app.cli.terminal import format_examples
from survey_app.store import Role

ROLES: dict[str, Role] = {role.label: role for role in (Role.READER, Role.EDITOR)}


@click.command(
    "share",
    short_help="Share a survey with another account.",
    epilog=format_examples("candor survey share exam bob --as editor"),
)
@SLUG
@click.argument("name", required=False)
@click.option("--as", "role", type=click.Choice(list(ROLES)), help="What the account may do; reader unless said.")
@click.option("--withdraw", is_flag=True, help="Share no longer with the account.")
@click.pass_context
def share_command(ctx: click.Context, slug: str, name: str | None, role: str | None, withdraw: bool) -> None:
    """Share a survey, or a whole study, with the account NAME; without a name, show with whom, and its links.

    A reader sees private results and takes the raw data; an editor also changes terms and state, publishes new
    versions and invites.
    """
    if withdraw and (role or not name):
        raise click.UsageError("--withdraw takes a name, and no --as")
    store = open_db(ctx)
    published = find_managed(store, slug, unopened=True)[0]
    if name is None:
        if role:
            raise click.UsageError("say with whom: candor survey share SLUG NAME --as ROLE")
        for share in store.shares(published.name):
            click.echo(f"{share.role.label:8} {share.name}")
        for link in store.links(published.name):
            click.echo(f"link     {link.id}, made on {link.creation_date}, for {link.label}")
        return
    user = find_user(store, name)
    new_role = ROLES[role or "reader"]
    store.share(published, user, None if withdraw else new_role)
    outcome = f"no longer shared with {name}" if withdraw else f"shared with {name} as {new_role.label}"
    click.echo(f"{published.name} is {outcome}")
