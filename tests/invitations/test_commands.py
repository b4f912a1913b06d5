"""Inviting by command: for one's own survey, and for one that another server collects."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner, Result

import candor_client
from candor_client import Ledger, Survey
from candor_client.address import Address
from survey_app import accounts
from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.store import Member, TicketFile
from tests.clock import make_fast_clock
from tests.fixtures import make
from tests.golden_files import Golden
from tests.scripted_server import Server as Impostor
from tests.server_process import Server
from tests.sign_in import read_all_files
from tests.ticket_surveys import invitation_survey

YAML = """slug: exam
title: Exam honesty
results: public
epsilon: 2
invitations: {said}
questions:
  - {{id: cheated, type: yes_no, text: Did you copy?}}
"""

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def runner(path: Path) -> Run:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{path}", *arguments])

    return invoke


def well(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def fault(result: Result, code: int = 1) -> str:
    assert result.exit_code == code and "Traceback" not in result.output
    return result.output


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command, on a store with an administrator."""
    invoke = runner(tmp_path / "candor.db")
    (tmp_path / "password").write_text("a long password\n")
    well(invoke("user", "add", "ada", "--password-file", str(tmp_path / "password")))
    return invoke


def write(folder: Path, said: str) -> str:
    (folder / "survey.yaml").write_text(YAML.format(said=said))
    return str(folder / "survey.yaml")


def invited(run: Run, *more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(well(run("survey", "invited", "exam", "--json", *more)))
    return found


def test_a_key_is_made_when_a_survey_is_published_and_not_before(run: Run, tmp_path: Path, golden: Golden) -> None:
    file = write(tmp_path, "true")
    golden(fault(run("survey", "build", file)))
    said = well(run("survey", "add", file))
    assert "by invitation" in said and "candor survey invite" in said and "/s/exam" not in said
    digest = next(line.split()[1] for line in well(run("survey", "show", "exam")).splitlines() if "digest" in line)
    assert digest in fault(run("survey", "add", file)), "the same questions, but for a new key"
    kept = run("survey", "show", "exam").output
    assert digest in kept


def test_invitations_are_links_and_only_their_hashes_are_kept(run: Run, tmp_path: Path) -> None:
    well(run("survey", "add", write(tmp_path, "true")))
    links = well(run("survey", "invite", "exam", "--count", "3", "--server", "https://example.org/")).splitlines()
    codes = [Address.parse(link).invitation for link in links]
    assert len(set(codes)) == 3 and all(link.startswith("https://example.org/s/exam#code=") for link in links)
    assert well(run("survey", "invite", "exam", "--count", "1")).startswith("/s/exam#code=")
    kept = read_all_files(tmp_path / "candor.db")
    assert not [code for code in codes if code and code.encode() in kept]
    found = invited(run)
    assert (found["invited"], found["taken"], len(found["not_taken"])) == (4, 0, 4)
    assert well(run("survey", "invited", "exam")).splitlines()[0] == "4 invited, 0 have taken a ticket"


def test_names_stay_with_the_inviting_researcher(run: Run, tmp_path: Path) -> None:
    well(run("survey", "add", write(tmp_path, "true")))
    people = tmp_path / "people.txt"
    people.write_text("Ada Lovelace\nDoe, John\n\nFrançoise\n", encoding="utf-8")
    listed = well(run("survey", "invite", "exam", "--names", str(people)))
    rows = list(csv.DictReader(io.StringIO(listed)))
    assert [row["name"] for row in rows] == ["Ada Lovelace", "Doe, John", "Françoise"]
    kept = b"".join(
        (tmp_path / name).read_bytes()
        for name in ("candor.db", "candor.db-tickets", "candor.db-wal")
        if (tmp_path / name).exists()
    )
    assert not [name for name in ("Lovelace", "Doe", "Fran") if name.encode() in kept]
    table = tmp_path / "links.csv"
    table.write_text(listed, encoding="utf-8")
    code = Address.parse(f"https://localhost{rows[1]['link']}").invitation
    file = TicketFile(tmp_path / "candor.db-tickets")
    found = file.active_keys("exam")[0]
    file.mark(found.key, accounts.hash_secret(code or ""), b"1" * 32)
    file.close()
    assert invited(run, "--names", str(table))["names"] == ["Ada Lovelace", "Françoise"]
    assert well(run("survey", "invited", "exam", "--names", str(table))).splitlines()[1:] == [
        "Ada Lovelace",
        "Françoise",
    ]
    assert "--count" in fault(run("survey", "invite", "exam", "--count", "2", "--names", str(people)))
    assert "--count" in fault(run("survey", "invite", "exam"), code=2)
    assert "name,link" in fault(run("survey", "invited", "exam", "--names", str(people)))
    table.write_text("name,link\nEve,/s/exam#code=wrong\n")
    assert " Eve " in fault(run("survey", "invited", "exam", "--names", str(table)))
    table.write_text("name,link\nEve,/s/exam\n")
    assert ": /s/exam " in fault(run("survey", "invited", "exam", "--names", str(table)))


def test_invitations_to_a_study_are_told_by_group_and_in_all(run: Run, tmp_path: Path, golden: Golden) -> None:
    file = Path(write(tmp_path, "true"))
    file.write_text(f"{file.read_text()}\ngroups: {{north: {{label: North}}, south: {{label: South}}}}\n")
    well(run("survey", "add", str(file)))
    for slug, count in (("exam-north", 1), ("exam-south", 2)):
        well(run("survey", "invite", slug, "--count", str(count)))
    assert well(run("survey", "invited", "exam")).splitlines() == [
        "exam-north: 1 invited, 0 have taken a ticket",
        "exam-south: 2 invited, 0 have taken a ticket",
        "all groups: 3 invited, 0 have taken a ticket",
    ]
    assert invited(run)["groups"]["exam-south"] == {"invited": 2, "taken": 0}
    said = well(run("survey", "invited", "exam-north")).splitlines()
    assert len(said) == 3 and len(bytes.fromhex(said[2])) == 32
    golden("\n".join(said))
    assert "exam-north, exam-south" in fault(run("survey", "invited", "exam", "--names", str(file)), code=2)


def test_what_does_not_go_with_invitations_is_one_sentence(run: Run, tmp_path: Path, golden: Golden) -> None:
    well(run("survey", "add", write(tmp_path, "true")))
    simulated = fault(run("simulate", "exam", "--respondents", "5", "--yes"))
    well(run("survey", "close", "exam", "--yes"))
    closed = fault(run("survey", "invite", "exam", "--count", "1"))
    (tmp_path / "plain.yaml").write_text(YAML.format(said="false").replace("slug: exam", "slug: plain"))
    well(run("survey", "add", str(tmp_path / "plain.yaml")))
    plain = fault(run("survey", "invited", "plain"))
    assert fault(run("survey", "invite", "plain", "--count", "1")) == plain
    golden(simulated + closed + plain)


# another issuer


@pytest.fixture
def office(tmp_path: Path) -> Run:
    return runner(tmp_path / "issuer.db")


@pytest.mark.slow
def test_somebody_else_invites_and_the_collector_never_sees_an_invitation(
    run: Run, office: Run, tmp_path: Path
) -> None:
    issuer = Server(tmp_path / "issuer.db", 1, serves=("issuer", "serve"))
    key = well(office("issuer", "key", "exam")).strip()
    issuer.start()
    said = f"{{issuer: 'http://127.0.0.1:{issuer.port}', key: {key}}}"
    assert key in well(run("survey", "build", write(tmp_path, said))), "nothing has to be made first"
    well(run("survey", "add", write(tmp_path, said)))
    assert "issuer invite" in fault(run("survey", "invite", "exam", "--count", "1"))
    collector = Server(tmp_path / "candor.db", 1)
    collector.start()
    url = f"http://127.0.0.1:{collector.port}/s/exam"
    assert "signed for" in well(office("issuer", "add", url))
    assert "signed for" in well(office("issuer", "add", url)), "again is no harm"
    links = well(office("issuer", "invite", "exam", "--count", "2")).splitlines()
    assert all(link.startswith(f"{url}#code=") for link in links)
    for number, link in enumerate(links):
        ledger = Ledger(tmp_path / f"{number}.json")
        assert candor_client.respond(link, {"cheated": True}, ledger=ledger, clock=make_fast_clock()).status == "stored"
    found = well(office("issuer", "invited", "exam", "--json"))
    assert json.loads(found) == {"invited": 2, "taken": 2, "not_taken": []}
    with pytest.raises(candor_client.CandorError, match="refused"):
        candor_client.transport.post(
            f"{url.replace('/s/', '/api/surveys/')}/tickets", b"{}", lambda _: None, attempts=1, pause=lambda _: None
        )
    well(office("issuer", "close", "exam"))
    assert "no definition of exam" in fault(office("issuer", "invite", "exam", "--count", "1"))
    collector.kill()
    issuer.kill()


def test_an_issuer_registers_what_its_own_key_is_for_and_nothing_else(
    office: Run, tmp_path: Path, server: Impostor, golden: Golden
) -> None:
    url = f"{server.origin}/s/exam"
    server.define(invitation_survey(issuer="http://127.0.0.1:1").source, "exam")
    not_ours = fault(office("issuer", "add", url))
    assert "candor issuer key exam" in not_ours
    server.define(invitation_survey().source, "exam")
    no_issuer = fault(office("issuer", "add", url))
    assert "issuer: https://…" in no_issuer
    golden(not_ours + no_issuer, "not for it")
    key = well(office("issuer", "key", "exam")).strip()
    definition = json.loads(invitation_survey(issuer="http://127.0.0.1:1").source)
    definition["tickets"]["key"] = key
    first = candor_client.canonical.dumps(definition)
    server.define(first, "exam")
    assert "no definition of exam" in fault(office("issuer", "invite", "exam", "--count", "1"))
    well(office("issuer", "add", url))
    server.define(candor_client.canonical.dumps(definition | {"title": "Another"}), "exam")
    golden(fault(office("issuer", "add", url)))
    file = TicketFile(tmp_path / "issuer.db")
    assert [key.digest for key in file.active_keys("exam")] == [Survey.from_json(first).digest]
    file.close()
    assert "'Not A Slug'" in fault(office("issuer", "key", "Not A Slug"))


def test_an_issuers_file_is_no_store_and_a_store_no_issuers_file(run: Run, office: Run, tmp_path: Path) -> None:
    well(office("issuer", "key", "exam"))
    assert f"{tmp_path / 'candor.db'} " in fault(run("issuer", "key", "exam"))
    before = (tmp_path / "issuer.db").read_bytes()
    assert office("survey", "list").exit_code == 1
    assert (tmp_path / "issuer.db").read_bytes() == before
    assert "'postgresql://x/y'" in fault(
        CliRunner().invoke(main, ["--db", "postgresql://x/y", "issuer", "key", "exam"])
    )


def test_nobody_is_invited_when_answering_has_begun(tmp_path: Path) -> None:
    installation = make(tmp_path / "late.db")[0]
    installation.add_surveys(
        [Member(invitation_survey(from_="2026-01-01T00:00Z"), Terms())], owner=installation.users()[0].key
    )
    invoke = runner(tmp_path / "late.db")
    assert "2026-01-01 00:00 UTC" in fault(invoke("survey", "invite", "exam", "--count", "1"))


def test_a_name_is_no_formula_and_comes_back_as_it_was(run: Run, tmp_path: Path) -> None:
    well(run("survey", "add", write(tmp_path, "true")))
    (tmp_path / "names").write_text("=1+1\n@bo\nKim\n")
    told = run("survey", "invite", "exam", "--names", str(tmp_path / "names"))
    assert "the links lack the host" in told.stderr
    assert [line.partition(",")[0] for line in well(told).splitlines()] == ["name", " =1+1", " @bo", "Kim"]
    (tmp_path / "list.csv").write_text(well(told), encoding="utf-8-sig")
    assert invited(run, "--names", str(tmp_path / "list.csv"))["names"] == ["=1+1", "@bo", "Kim"]


def test_commands_say_what_is_withheld_and_the_same_file_keeps_its_date(
    run: Run, tmp_path: Path, golden: Golden
) -> None:
    file = write(tmp_path, "true")
    date = re.search(r"^closes   (\S+)$", well(run("survey", "add", file)), re.MULTILINE)
    assert date is not None and date[1] != "never"
    moment = date[1].replace("T", " ").removesuffix("Z")
    again = fault(run("survey", "add", file))
    assert again.startswith("Error: ") and "candor survey set" not in again, "no date in the file moves none"
    for command in (["results", "exam"], ["results", "exam", "--json"], ["export", "exam", str(tmp_path / "a.csv")]):
        done = run(*command)
        assert done.exit_code == 0 and done.stderr.startswith("exam: ") and moment in done.stderr
    assert json.loads(run("results", "exam", "--json").stdout)["reports"] == 0
    assert "not shown yet" in well(run("survey", "list"))
    assert "only be moved later" in fault(run("survey", "set", "exam", "--closes", "never"))
    closed = well(run("survey", "close", "exam", "--yes"))
    assert moment in closed
    golden(f"{done.stderr}{closed}".replace(moment, "MOMENT"))
    assert "private" in well(run("survey", "set", "exam", "--results", "private"))
    assert "only results, deletes, size" in fault(run("survey", "set", "exam", "--closes", "2099-01-01T00:00Z"))
