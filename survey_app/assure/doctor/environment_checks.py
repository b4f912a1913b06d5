"""The table of all environment variables, and checks of those that are set."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

from candor_client.address import is_local
from survey_app.assure.doctor.finding import Finding, failure, healthy, warning
from survey_app.collect.rate_limit import DEFAULT_LOGIN_LIMIT, DEFAULT_RATE_LIMIT, LIMIT
from survey_app.invitations.mail.smtp import PORTS
from survey_app.store.sqlite.lock import NON_OWNER_BITS

PREFIX = "CANDOR_"
VARIABLES = {  # each is documented in docs/commands.md
    "CANDOR_DB": "the store, as `--db`: `sqlite:///candor.db` (the default), `sqlite:////an/absolute/path.db`, "
    "`postgresql://user@host/database`",
    "CANDOR_TICKETS": "with PostgreSQL: the file in which this one server keeps what it needs to give out tickets",
    "CANDOR_RATE_LIMIT": "reports and tickets of one address, such as `3000/minute` (the default), or `off`",
    "CANDOR_LOGIN_LIMIT": "passwords tried from one address, such as `10/minute` (the default), or `off`",
    "CANDOR_TRUSTED_PROXIES": "as `candor serve --trusted-proxies`: how many proxies in front may say who asks",
    "CANDOR_METRICS_TOKEN": "grants access to `/metrics`; without it there are none",
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
MIN_TOKEN_LENGTH = 16  # characters


def findings(environ: Mapping[str, str], *, is_file_store: bool) -> Iterator[Finding]:
    """Yield findings about the variables that are set; no finding contains the value of a secret."""
    settings = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    for name in sorted(settings.keys() - VARIABLES.keys()):
        matches = difflib.get_close_matches(name, VARIABLES, 1)
        advice = f"did you mean {matches[0]}?" if matches else "docs/commands.md has all of them"
        yield warning("environment", f"{name} is set, and nobody reads it", advice)
    yield healthy("environment", f"set: {', '.join(sorted(settings.keys() & VARIABLES.keys())) or 'nothing'}")
    for name, default in LIMITS.items():
        yield _check_limit(name, settings.get(name, default), default)
    proxies = settings.get("CANDOR_TRUSTED_PROXIES", "0")
    if not (proxies.isascii() and proxies.isdigit()):
        yield failure("proxies", f"CANDOR_TRUSTED_PROXIES is {proxies!r}", "write a number, 0 where there is no proxy")
    if is_file_store and "CANDOR_TICKETS" in settings:
        advice = "unset it: with SQLite tickets are in a file beside the database"
        yield warning("tickets", "CANDOR_TICKETS is set, and the store is a file", advice)
    if 0 < len(settings.get("CANDOR_METRICS_TOKEN", "")) < MIN_TOKEN_LENGTH:
        advice = f"take a random one of at least {MIN_TOKEN_LENGTH} letters"
        yield warning("metrics", "CANDOR_METRICS_TOKEN is short enough to be guessed", advice)
    if "CANDOR_SMTP" in settings:
        yield _check_mail(settings)


def _check_limit(name: str, limit: str, default: str) -> Finding:
    requests = "reports" if name == "CANDOR_RATE_LIMIT" else "passwords"
    if limit == "off":
        return warning("limits", f"{name} is off: one address may send any number of {requests}", f"{default} is usual")
    if not LIMIT.fullmatch(limit):
        return failure("limits", f"{name} is {limit!r}, and no server starts so", f"write {default}, or off")
    return healthy("limits", f"{requests} of one address: {limit}")


def _check_mail(settings: Mapping[str, str]) -> Finding:
    host, _, port = settings["CANDOR_SMTP"].partition(":")
    security, file = settings.get("CANDOR_SMTP_SECURITY", "starttls"), settings.get("CANDOR_SMTP_PASSWORD_FILE", "")
    if not host or (port and not (port.isascii() and port.isdigit())):
        return failure("mail", f"CANDOR_SMTP is {settings['CANDOR_SMTP']!r}", "write HOST or HOST:PORT")
    if security not in PORTS:
        return failure("mail", f"CANDOR_SMTP_SECURITY is {security!r}", f"write {' or '.join(PORTS)}")
    if security == "none" and not is_local(host):
        return warning("mail", f"mail to {host} is not encrypted", "CANDOR_SMTP_SECURITY=starttls, or tls")
    if file and not Path(file).is_file():
        return failure("mail", f"there is no file {file}", "CANDOR_SMTP_PASSWORD_FILE names the file with the password")
    if file and Path(file).stat().st_mode & NON_OWNER_BITS:
        return failure("mail", f"others may read the password in {file}", f"chmod 600 {file}")
    if not settings.get("CANDOR_MAIL_FROM"):
        return warning(
            "mail", f"{host} by {security}, and nobody whom it is from", "set CANDOR_MAIL_FROM, or give --from"
        )
    return healthy(
        "mail", f"{host} by {security}", "candor survey mail without --send shows a message; nothing was sent now"
    )
