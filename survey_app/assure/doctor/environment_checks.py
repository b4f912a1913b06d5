"""The table of all environment variables, and checks of those that are set."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

from candor_client.address import is_local
from survey_app.assure.doctor.finding import Finding, failed, fine, warned
from survey_app.collect.rate_limit import DEFAULT_LOGIN_LIMIT, DEFAULT_RATE_LIMIT, LIMIT
from survey_app.invitations.mail.smtp import PORTS
from survey_app.store.sqlite.lock import OTHERS

PREFIX = "CANDOR_"
VARIABLES = {  # each is documented in docs/commands.md
    "CANDOR_DB": "the store, as `--db`: `sqlite:///candor.db` (the default), `sqlite:////an/absolute/path.db`, "
    "`postgresql://user@host/database`",
    "CANDOR_TICKETS": "with PostgreSQL: the file in which this one server keeps what it needs to give out tickets",
    "CANDOR_RATE_LIMIT": "reports and tickets of one address, such as `3000/minute` (the default), or `off`",
    "CANDOR_LOGIN_LIMIT": "passwords tried from one address, such as `10/minute` (the default), or `off`",
    "CANDOR_TRUSTED_PROXIES": "as `candor serve --trusted-proxies`: how many proxies in front may say who asks",
    "CANDOR_METRICS_TOKEN": "whoever has it may read `/metrics`; without it there are none",
    "CANDOR_TOKEN": "an API token, for `candor survey mail` without the database",
    "CANDOR_MAIL_FROM": "of `candor survey mail`, as `--from`",
    "CANDOR_SMTP": "as `--smtp`",
    "CANDOR_SMTP_SECURITY": "as `--security`",
    "CANDOR_SMTP_USER": "as `--user`",
    "CANDOR_SMTP_PASSWORD_FILE": "as `--password-file`",
    "CANDOR_LEDGER": "the respondent's ledger, as `--ledger` of `candor respond` and `candor ledger`",
    "CANDOR_ISSUER": "set by `candor issuer serve` for its own workers",
    "CANDOR_DB_PASSWORD": "read by the containers of `deploy/` alone, for their PostgreSQL",
}
LIMITS = {"CANDOR_RATE_LIMIT": DEFAULT_RATE_LIMIT, "CANDOR_LOGIN_LIMIT": DEFAULT_LOGIN_LIMIT}
LEAST_TOKEN = 16  # characters


def findings(environ: Mapping[str, str], *, in_a_file: bool) -> Iterator[Finding]:
    """Yield findings about the variables that are set; no finding contains the value of a secret."""
    settings = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    for name in sorted(settings.keys() - VARIABLES.keys()):
        matches = difflib.get_close_matches(name, VARIABLES, 1)
        advice = f"did you mean {matches[0]}?" if matches else "docs/commands.md has all of them"
        yield warned("environment", f"{name} is set, and nobody reads it", advice)
    yield fine("environment", f"set: {', '.join(sorted(settings.keys() & VARIABLES.keys())) or 'nothing'}")
    for name, default in LIMITS.items():
        yield _limit(name, settings.get(name, default), default)
    proxies = settings.get("CANDOR_TRUSTED_PROXIES", "0")
    if not (proxies.isascii() and proxies.isdigit()):
        yield failed("proxies", f"CANDOR_TRUSTED_PROXIES is {proxies!r}", "write a number, 0 where there is no proxy")
    if in_a_file and "CANDOR_TICKETS" in settings:
        advice = "unset it: with SQLite tickets are in a file beside the database"
        yield warned("tickets", "CANDOR_TICKETS is set, and the store is a file", advice)
    if 0 < len(settings.get("CANDOR_METRICS_TOKEN", "")) < LEAST_TOKEN:
        advice = f"take a random one of at least {LEAST_TOKEN} letters"
        yield warned("metrics", "CANDOR_METRICS_TOKEN is short enough to be guessed", advice)
    if "CANDOR_SMTP" in settings:
        yield _mail(settings)


def _limit(name: str, limit: str, default: str) -> Finding:
    requests = "reports" if name == "CANDOR_RATE_LIMIT" else "passwords"
    if limit == "off":
        return warned("limits", f"{name} is off: one address may send any number of {requests}", f"{default} is usual")
    if not LIMIT.fullmatch(limit):
        return failed("limits", f"{name} is {limit!r}, and no server starts so", f"write {default}, or off")
    return fine("limits", f"{requests} of one address: {limit}")


def _mail(ours: Mapping[str, str]) -> Finding:
    host, _, port = ours["CANDOR_SMTP"].partition(":")
    security, file = ours.get("CANDOR_SMTP_SECURITY", "starttls"), ours.get("CANDOR_SMTP_PASSWORD_FILE", "")
    if not host or (port and not (port.isascii() and port.isdigit())):
        return failed("mail", f"CANDOR_SMTP is {ours['CANDOR_SMTP']!r}", "write HOST or HOST:PORT")
    if security not in PORTS:
        return failed("mail", f"CANDOR_SMTP_SECURITY is {security!r}", f"write {' or '.join(PORTS)}")
    if security == "none" and not is_local(host):
        return warned("mail", f"mail to {host} is not encrypted", "CANDOR_SMTP_SECURITY=starttls, or tls")
    if file and not Path(file).is_file():
        return failed("mail", f"there is no file {file}", "CANDOR_SMTP_PASSWORD_FILE names the file with the password")
    if file and Path(file).stat().st_mode & OTHERS:
        return failed("mail", f"others may read the password in {file}", f"chmod 600 {file}")
    if not ours.get("CANDOR_MAIL_FROM"):
        return warned(
            "mail", f"{host} by {security}, and nobody whom it is from", "set CANDOR_MAIL_FROM, or give --from"
        )
    return fine(
        "mail", f"{host} by {security}", "candor survey mail without --send shows a message; nothing was sent now"
    )
