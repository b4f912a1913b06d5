"""The study by invitation for real: two people who are invited to their groups answer, once each."""

from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner

import candor_client
from candor_client import CandorError, Ledger
from survey_app import accounts
from survey_app.cli import main
from tests.clock import make_fast_clock
from tests.examples.studies import Study
from tests.server_process import Server

STUDY = Study("harassment")
HARMED: dict[str, Any] = {
    "harassed": True,
    "told": False,
    "who": "a superior",
    "heard": "not at all",
    "safe": "rather not",
    "aid": "fully",
}
SPARED: dict[str, Any] = {
    "harassed": False,
    "told": None,
    "who": None,
    "heard": "rather",
    "safe": "rather",
    "aid": "rather",
}


@pytest.mark.slow
def test_two_people_with_invitations_answer_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    path = tmp_path / "candor.db"

    def candor(*words: str) -> str:
        done = CliRunner().invoke(main, ["--db", f"sqlite:///{path}", *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    (tmp_path / "password").write_text("a long password")
    candor("user", "add", "ada", "--password-file", str(tmp_path / "password"))
    candor("survey", "add", str(STUDY.file))
    made_up = ["--db", f"sqlite:///{path}", "simulate", "harassment", "--respondents", "40", "--yes"]
    refused = CliRunner().invoke(main, made_up)
    assert refused.exit_code == 1 and "invitation" in refused.output, "nobody invites those who are made up"
    server = Server(path, workers=1)
    server.start()
    try:
        for group, answers in {"wards": HARMED, "offices": SPARED}.items():
            slug = f"harassment-{group}"
            origin = f"http://127.0.0.1:{server.port}"
            (link,) = candor("survey", "invite", slug, "--count", "1", "--server", origin).splitlines()
            asked = candor_client.fetch(link)
            assert asked.study == "harassment" and asked.tickets is not None
            ledger = Ledger(tmp_path / f"{group}.json")
            assert candor_client.respond(link, answers, ledger=ledger, clock=make_fast_clock()).status == "stored"
            assert (
                candor_client.respond(link, answers, ledger=ledger, clock=make_fast_clock()).status == "already_stored"
            )
            with pytest.raises(CandorError, match="invitation"):  # somebody else with the same link
                candor_client.respond(link, answers, ledger=Ledger(tmp_path / "another.json"), clock=make_fast_clock())
            assert "1 invited, 1 has taken a ticket" in candor("survey", "invited", slug)
            assert '"reports":1' in candor("survey", "check", slug, "--json").replace(" ", "")
    finally:
        server.stop()
