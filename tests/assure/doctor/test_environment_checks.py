"""The doctor and what is set: the environment, the machine, PostgreSQL; and that no secret is told."""

import json
import os
import re
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from survey_app.assure.doctor import examine, machine_checks
from survey_app.assure.doctor.environment_checks import findings
from survey_app.assure.doctor.finding import Finding, State
from survey_app.cli import main
from survey_app.store import open_store
from tests.golden_files import Golden
from tests.postgres import Postgres
from tests.test_commands import ROOT

SMTP = {"CANDOR_SMTP": "mail.example.org:587", "CANDOR_MAIL_FROM": "ada@example.org"}


def find_problems(environ: dict[str, str], *, in_a_file: bool = True) -> list[Finding]:
    return [finding for finding in findings(environ, is_file_store=in_a_file) if finding.state is not State.OK]


def worst(environ: dict[str, str]) -> list[tuple[str, str, State]]:
    return [(problem.check, problem.code, problem.state) for problem in find_problems(environ)]


@pytest.mark.parametrize(
    ("environ", "check", "code", "state"),
    [
        ({"CANDOR_RATE_LIMIT": "lots"}, "limits", "bad_limit", State.FAILURE),
        ({"CANDOR_RATE_LIMIT": "off"}, "limits", "off", State.WARNING),
        ({"CANDOR_LOGIN_LIMIT": "10 a minute"}, "limits", "bad_limit", State.FAILURE),
        ({"CANDOR_TRUSTED_PROXIES": "one"}, "proxies", "bad_number", State.FAILURE),
        ({"CANDOR_RATELIMIT": "5/minute"}, "environment", "unknown_variable", State.WARNING),
        ({"CANDOR_TICKETS": "/tickets.db"}, "tickets", "unused_file", State.WARNING),
        ({"CANDOR_METRICS_TOKEN": "guess"}, "metrics", "short_token", State.WARNING),
        ({"CANDOR_SMTP": "host:port"}, "mail", "bad_server", State.FAILURE),
        ({**SMTP, "CANDOR_SMTP_SECURITY": "ssl"}, "mail", "bad_security", State.FAILURE),
        ({**SMTP, "CANDOR_SMTP_SECURITY": "none"}, "mail", "not_encrypted", State.WARNING),
        ({**SMTP, "CANDOR_SMTP_PASSWORD_FILE": "/nowhere"}, "mail", "no_password_file", State.FAILURE),
        ({"CANDOR_SMTP": "localhost"}, "mail", "no_sender", State.WARNING),
    ],
)
def test_a_setting_that_cannot_be_right(
    environ: dict[str, str], check: str, code: str, state: State, golden: Golden
) -> None:
    assert worst(environ) == [(check, code, state)]
    (problem,) = find_problems(environ)
    golden(f"{problem.found}\n{problem.next}")


def test_settings_that_can(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("secret")
    password.chmod(0o600)
    usual = {"PATH": "/bin", "CANDOR_RATE_LIMIT": "100/second", "CANDOR_TRUSTED_PROXIES": "1"}
    mailing = {**SMTP, "CANDOR_SMTP_PASSWORD_FILE": str(password), "CANDOR_METRICS_TOKEN": "s" * 32}
    assert worst({**usual, **mailing}) == []
    password.chmod(0o644)
    assert worst({**usual, **mailing}) == [("mail", "open_password_file", State.FAILURE)]
    (similar,) = find_problems({"CANDOR_RATELIMIT": ""})
    assert "CANDOR_RATE_LIMIT" in similar.next


def test_the_clock() -> None:
    now = 1_800_000_000.0  # 2027
    seen = [
        machine_checks.check_clock(now, 5.0, 5.1),
        machine_checks.check_clock(now, 5.0, 3605.0),
        machine_checks.check_clock(0.0, 5.0, 5.0),
    ]
    assert [(finding.code, finding.state) for finding in seen] == [
        ("ok", State.OK), ("was_set", State.WARNING), ("wrong_year", State.FAILURE),
    ]  # fmt: skip


def test_the_machine_is_well_and_its_extras_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {one.check: one for one in machine_checks.findings()}
    assert {one.state for one in said.values()} == {State.OK}
    assert "parquet" in said["extras"].found.partition(";")[0] and "flask" in said["packages"].found
    monkeypatch.setattr(machine_checks, "PACKAGE", "no-such-package")
    assert machine_checks._check_packages().code == "not_installed"
    monkeypatch.setattr(machine_checks, "requires", lambda _: ["nothing-like-this>=1"])
    missing = machine_checks._check_packages()
    assert missing.code == "missing" and missing.found.endswith(": nothing-like-this")


def test_the_command_tells_everything_and_nothing_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CANDOR_")]:
        monkeypatch.delenv(name)
    for name in ("CANDOR_METRICS_TOKEN", "CANDOR_TOKEN"):
        monkeypatch.setenv(name, "a-secret-of-many-letters")
    done = CliRunner().invoke(main, ["doctor", "--json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["ok"]) == (0, True)
    checks = [one["check"] for one in told["findings"]]
    assert checks[:5] == ["candor", "packages", "extras", "SQLite", "database"] and "clock" in checks
    assert all(list(one) == ["check", "code", "state", "found", "next"] for one in told["findings"])
    assert "secret" not in done.stdout and not [*tmp_path.iterdir()]
    for url in ("postgresql://u:secret@127.0.0.1:1/x", "postgresql://u:sec ret@h/x", "mysql://u:secret@h/x"):
        monkeypatch.setenv("CANDOR_DB", url)
        done = CliRunner().invoke(main, ["doctor"])
        assert done.exit_code == 1 and "CANDOR_DB" in done.stdout
        assert "secret" not in done.stdout and "sec ret" not in done.stdout


def of_postgres(url: str, environ: dict[str, str]) -> dict[str, list[Finding]]:
    said: dict[str, list[Finding]] = {}
    for one in examine(url, "--db", None, environ):
        said.setdefault(one.check, []).append(one)
    return said


def test_a_postgresql_is_looked_at_without_being_touched(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.schema()
    assert of_postgres(url, {})["database"][0].code == "empty"
    with postgres.connect(url) as connection:
        assert connection.execute("select to_regclass('settings')").fetchone() == (None,)
    store = open_store(url)
    store.migrate()
    store.close()
    said = of_postgres(url, {"CANDOR_TICKETS": str(tmp_path / "none" / "tickets.db")})
    assert said["database"][0].state is State.OK
    assert [one.found for one in said["surroundings"]] == store.warnings()  # fsync is off here
    assert (said["tickets"][0].code, said["tickets"][0].state) == ("no_folder", State.FAILURE)
    change(postgres, url, "insert into settings values ('copying', ''), ('untidy_since', '2026-12-01T00:00:00+00:00')")
    said = of_postgres(url, {})
    assert (said["integrity"][0].code, said["tidiness"][0].code) == ("unfinished_copy", "rewrite_fails")
    assert "2026-12-01" in said["tidiness"][0].found
    change(postgres, url, "update settings set value = '99' where name = 'version'")
    newer = of_postgres(url, {})["database"][0]
    assert newer.code == "newer" and "99" in newer.found
    store.close()


def change(postgres: Postgres, url: str, query: Any) -> None:
    with postgres.connect(url) as connection:
        connection.execute(query)


def test_a_finding_is_a_record() -> None:
    assert astuple(Finding("clock", "ok", State.OK, "fine")) == ("clock", "ok", State.OK, "fine", "")


def test_the_pages_that_are_named_have_what_they_are_named_for() -> None:
    code = "".join(file.read_text() for file in ROOT.glob("survey_app/assure/doctor/*.py"))
    named = re.findall(r"docs/([\w.]+)(?:, ([A-Z][\w ]+))?", code)
    assert ("operations.md", "When the disk is full") in named
    for page, heading in named:
        text = (ROOT / "docs" / page).read_text()
        assert not heading or re.search(rf"^##+ {heading}$", text, re.MULTILINE), heading
