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
@click.option("--as", "role", type=click.Choice(list(ROLES)), help="What the account may do; reader by default.")
@click.option("--withdraw", is_flag=True, help="Stop sharing with the account.")
@click.pass_context
def share_command(ctx: click.Context, slug: str, name: str | None, role: str | None, withdraw: bool) -> None:
    """Share a survey, or a whole study, with the account NAME. Without a name, list its shares and links.

    A reader sees private results and downloads the raw data. An editor also changes terms and state, publishes new
    versions and invites people.
    """
    if withdraw and (role or not name):
        raise click.UsageError("--withdraw needs a name, and does not allow --as")
    store = open_db(ctx)
    published = find_managed(store, slug, unopened=True)[0]
    if name is None:
        if role:
            raise click.UsageError("--as needs a name: candor survey share SLUG NAME --as ROLE")
        for share in store.shares(published.name):
            click.echo(f"{share.role.label:8} {share.name}")
        for link in store.links(published.name):
            click.echo(f"link     {link.id}, created on {link.creation_date}, for {link.label}")
        return
    user = find_user(store, name)
    new_role = ROLES[role or "reader"]
    store.share(published, user, None if withdraw else new_role)
    outcome = f"no longer shared with {name}" if withdraw else f"shared with {name} as {new_role.label}"
    click.echo(f"{published.name} is {outcome}")
