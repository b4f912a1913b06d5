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
    "CANDOR_TICKETS": "with PostgreSQL: the file for tickets, on the one server that issues them",
    "CANDOR_RATE_LIMIT": "the limit of reports and tickets per address, such as `3000/minute` (the default), or `off`",
    "CANDOR_LOGIN_LIMIT": "the limit of sign-in attempts per address, such as `10/minute` (the default), or `off`",
    "CANDOR_TRUSTED_PROXIES": "as `candor serve --trusted-proxies`: the number of proxies in front of the server",
    "CANDOR_METRICS_TOKEN": "grants access to `/metrics`; without it there are no metrics",
    "CANDOR_TOKEN": "an API token, for `candor survey mail` without the database",
    "CANDOR_MAIL_FROM": "as `--from` of `candor survey mail`",
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
        advice = f"did you mean {matches[0]}?" if matches else "docs/commands.md lists all variables"
        yield warning("environment", "unknown_variable", f"{name} is set, and Candor does not use it", advice)
    yield healthy("environment", f"set: {', '.join(sorted(settings.keys() & VARIABLES.keys())) or 'nothing'}")
    for name, default in LIMITS.items():
        yield _check_limit(name, settings.get(name, default), default)
    proxies = settings.get("CANDOR_TRUSTED_PROXIES", "0")
    if not (proxies.isascii() and proxies.isdigit()):
        problem = f"CANDOR_TRUSTED_PROXIES is {proxies!r}, which is not a number"
        yield failure("proxies", "bad_number", problem, "set it to the number of proxies, 0 for none")
    if is_file_store and "CANDOR_TICKETS" in settings:
        advice = "unset it: SQLite keeps tickets in a file next to the database"
        yield warning(
            "tickets", "unused_file", "CANDOR_TICKETS is set, but the store is SQLite and does not use it", advice
        )
    if 0 < len(settings.get("CANDOR_METRICS_TOKEN", "")) < MIN_TOKEN_LENGTH:
        advice = f"use a random token of at least {MIN_TOKEN_LENGTH} characters"
        yield warning("metrics", "short_token", "CANDOR_METRICS_TOKEN is short enough to be guessed", advice)
    if "CANDOR_SMTP" in settings:
        yield _check_mail(settings)


def _check_limit(name: str, limit: str, default: str) -> Finding:
    requests = "reports" if name == "CANDOR_RATE_LIMIT" else "passwords"
    if limit == "off":
        problem = f"{name} is off: one address may send any number of {requests}"
        return warning("limits", "off", problem, f"the default is {default}")
    if not LIMIT.fullmatch(limit):
        problem = f"{name} is {limit!r}, which is not a limit: the server does not start"
        return failure("limits", "bad_limit", problem, f"use a limit such as {default}, or off")
    return healthy("limits", f"{requests} from one address: {limit}")


def _check_mail(settings: Mapping[str, str]) -> Finding:
    host, _, port = settings["CANDOR_SMTP"].partition(":")
    security, file = settings.get("CANDOR_SMTP_SECURITY", "starttls"), settings.get("CANDOR_SMTP_PASSWORD_FILE", "")
    if not host or (port and not (port.isascii() and port.isdigit())):
        problem = f"CANDOR_SMTP is {settings['CANDOR_SMTP']!r}, which is not a server"
        return failure("mail", "bad_server", problem, "use HOST or HOST:PORT")
    if security not in PORTS:
        problem = f"CANDOR_SMTP_SECURITY is {security!r}, which is not supported"
        return failure("mail", "bad_security", problem, f"use one of {', '.join(PORTS)}")
    if security == "none" and not is_local(host):
        advice = "set CANDOR_SMTP_SECURITY=starttls, or tls"
        return warning("mail", "not_encrypted", f"mail to {host} is not encrypted", advice)
    if file and not Path(file).is_file():
        advice = "name the file with the password in CANDOR_SMTP_PASSWORD_FILE"
        return failure("mail", "no_password_file", f"there is no file {file}", advice)
    if file and Path(file).stat().st_mode & NON_OWNER_BITS:
        return failure(
            "mail", "open_password_file", f"other users can read the password in {file}", f"chmod 600 {file}"
        )
    if not settings.get("CANDOR_MAIL_FROM"):
        problem = f"{host} ({security}) has no sender address"
        return warning("mail", "no_sender", problem, "set CANDOR_MAIL_FROM, or use --from")
    return healthy(
        "mail", f"{host} ({security})", "no mail was sent; candor survey mail without --send shows a message"
    )
