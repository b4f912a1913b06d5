"""`candor survey mail` against a real SMTP server and the real API: who gets what, once; and what nobody else learns."""

import csv
import ipaddress
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from candor_client.display import translate_survey
from survey_app.accounts import hash_secret
from survey_app.authoring import build
from survey_app.cli import main
from survey_app.invitations.mail.mailing import Plan, plan_invitations, plan_reminders
from survey_app.invitations.mail.message import compose_invitation, compose_letter
from survey_app.invitations.mail.recipients import ListError, Person
from survey_app.invitations.mail.sent_log import SENDING, SentLine, SentLog
from survey_app.invitations.mail.smtp import MessageRefused, Server, SmtpConnection, SmtpError
from survey_app.store import MarkOutcome, State
from tests.browser import Site
from tests.definitions import simple
from tests.fixtures import TOKEN
from tests.golden_files import Golden
from tests.smtp_server import Postbox, run_smtp_server
from tests.ticket_surveys import invitation_survey

PEOPLE = [
    ("Ada Łovelace", "ada@example.org"),
    ("", "bob@münchen.example"),
    ("Eve, Q.", "eve@example.org"),
    ("Zoë", "zoë@example.org"),
]
SENT_TO = ["ada@example.org", "bob@xn--mnchen-3ya.example", "eve@example.org", "zoë@example.org"]
ROOT = Path(__file__).parents[3]


class Researcher:
    """A researcher: the list, a postbox that takes their mail, and the command."""

    def __init__(self, folder: Path, server: str, smtp: str, box: Postbox) -> None:
        self.folder, self.server, self.smtp, self.box = folder, server, smtp, box
        self.list_path = folder / "people.csv"
        self.write(*PEOPLE)

    def write(self, *people: tuple[str, str]) -> None:
        with self.list_path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("name", "email"), *people])

    @property
    def arguments(self) -> list[str]:
        return [
            "survey", "mail", "exam", str(self.list_path), "--server", self.server, "--from", "Prof. Ada <ada@uni.example>",
            "--smtp", self.smtp, "--security", "none",
        ]  # fmt: skip

    def run(self, *more: str, **environment: str) -> Result:
        given = {"CANDOR_TOKEN": TOKEN, **environment}
        return CliRunner().invoke(main, [*self.arguments, *more], env=given, catch_exceptions=False)

    def read_log(self) -> list[dict[str, str]]:
        with (self.folder / "people.exam.sent.csv").open(encoding="utf-8", newline="") as file:
            return [{key: cell.strip() for key, cell in row.items()} for row in csv.DictReader(file)]


@pytest.fixture
def box() -> Postbox:
    return Postbox()


@pytest.fixture
def researcher(tmp_path: Path, site: Site, box: Postbox) -> Iterator[Researcher]:
    """Yield a researcher with a survey by invitation at a real server."""
    site.invite()
    folder = tmp_path / "researcher"
    folder.mkdir()
    with run_smtp_server(box) as smtp:
        yield Researcher(folder, site.origin, smtp, box)


def codes(researcher: Researcher) -> list[str]:
    return [row["link"].partition("#code=")[2].partition("&")[0] for row in researcher.read_log()]


def take(site: Site, code: str) -> None:
    """Take a ticket, as an invited person does."""
    published = site.store.newest_version("exam")
    assert published is not None
    found = site.installation.tickets.private_key(published.survey.digest)
    assert found is not None
    assert site.installation.tickets.mark(found[0], hash_secret(code), b"x" * 32) is MarkOutcome.FIRST_MESSAGE


def counts_in(result: Result) -> list[str]:
    """Return the numbers at the beginning of the lines that a round prints."""
    return re.findall(r"^(\d+) ", result.output, re.MULTILINE)


def test_invitations_go_out_once_and_reminders_to_who_has_no_ticket(
    researcher: Researcher, site: Site, box: Postbox, golden: Golden
) -> None:
    dry = researcher.run()
    assert dry.exit_code == 0, dry.output
    assert "#code=…&sha256=" in dry.output, "no code is made before --send"
    lines = dry.output.splitlines()
    golden("\n".join([*lines[:7], lines[-1]]))  # without the letter, which its own tests show
    assert box.arrived == [] and not (researcher.folder / "people.exam.sent.csv").exists()
    published = site.store.newest_version("exam")
    assert published is not None and site.installation.tickets.count_invitations(published.survey.digest) == (0, 0)

    done = researcher.run("--send")
    assert done.exit_code == 0, done.output
    assert "4 messages sent" in done.output
    assert box.addresses == SENT_TO
    assert len(box.sessions) == 1, "one connection for all"
    assert site.installation.tickets.count_invitations(published.survey.digest) == (4, 0)
    for (address, message), row in zip(box.arrived, researcher.read_log(), strict=True):
        assert row["email"] == address
        assert message.get_content_type() == "text/plain" and not message.is_multipart()
        assert message.get_content().count(row["link"]) == 1
        assert row["link"].startswith(f"{site.origin}/s/exam#code=") and row["link"].endswith(published.survey.digest)
        assert datetime.now(UTC) - datetime.fromisoformat(row["invited"]) < timedelta(minutes=5)
        assert row["reminded"] == ""
    assert len(set(codes(researcher))) == 4
    first = box.arrived[0][1]
    assert first["To"] == "Ada Łovelace <ada@example.org>" and first["From"] == '"Prof. Ada" <ada@uni.example>'
    assert "Hello Ada Łovelace," in first.get_content() and "Hello,\r\n" in box.arrived[1][1].get_content()
    assert os.stat(researcher.folder / "people.exam.sent.csv").st_mode & 0o777 == 0o600

    again = researcher.run("--send")
    assert again.exit_code == 0 and counts_in(again) == ["4"] and len(box.arrived) == 4
    early = researcher.run("--remind", "--send")
    assert early.exit_code == 0 and counts_in(early) == ["4"] and len(box.arrived) == 4
    take(site, codes(researcher)[1])
    researcher.write(*PEOPLE[:3], ("New", "new@example.org"))
    reminded = researcher.run("--remind", "--send", "--wait-days", "0")
    assert reminded.exit_code == 0, reminded.output
    assert counts_in(reminded) == ["2", "1", "1", "2"], "to remind, with a ticket, never invited, sent"
    golden(again.output + early.output + reminded.output, "again")
    assert box.addresses[4:] == ["ada@example.org", "eve@example.org"], "and who was taken off the list hears no more"
    assert "Reminder: Exam" in box.arrived[4][1]["Subject"]
    assert box.arrived[4][1].get_content().count(researcher.read_log()[0]["link"]) == 1, "the same link"
    assert len(researcher.read_log()) == 5, "what is kept of people stays, on the list or not"
    researcher.run("--send")
    assert box.addresses[6:] == ["new@example.org"]

    everything = "\n".join(request.as_text for request in site.requests)
    assert site.requests_of(), "codes were asked for"
    for name, address in [*PEOPLE, ("New", "new@example.org")]:
        for part in filter(None, (name, address, address.partition("@")[0] + "@", "example")):
            assert part not in everything, "no name and no address reaches the survey's server"


def test_a_refused_address_is_told_and_tried_again_and_the_others_get_theirs(
    researcher: Researcher, box: Postbox
) -> None:
    box.rcpt = lambda address: "550 no such box" if address.startswith("bob") else None
    box.data = lambda number: "452 no space" if len(box.encrypted) == 2 else None
    done = researcher.run("--send")
    assert done.exit_code == 1
    assert "bob@xn--mnchen-3ya.example> did not get it: 550 no such box" in done.output
    assert "eve@example.org> did not get it: 452 no space" in done.output
    assert [bool(row["invited"]) for row in researcher.read_log()] == [True, False, False, True]
    before = codes(researcher)
    box.rcpt = lambda address: None
    assert researcher.run("--send").exit_code == 0
    assert sorted(box.addresses) == sorted(SENT_TO)
    assert codes(researcher) == before, "with the link they were to get"


def test_where_the_connection_is_lost_over_a_message_nobody_knows_and_that_is_told(
    researcher: Researcher, box: Postbox, golden: Golden
) -> None:
    box.data = lambda number: "hang up" if number == 1 and len(box.encrypted) == 2 else None
    done = researcher.run("--send")
    assert done.exit_code == 1 and "bob@" in done.output
    assert [row["invited"] == SENDING for row in researcher.read_log()] == [False, True, False, False]
    assert len(box.arrived) == 3, "the rest went on, over a new connection"
    again = researcher.run("--send")
    assert again.exit_code == 0 and counts_in(again) == ["3", "1"] and "bob@" in again.output
    golden(again.output)
    assert len(box.arrived) == 3
    assert researcher.run("--send", "--again-unsure").exit_code == 0
    assert sorted(box.addresses) == sorted(SENT_TO)


def test_a_server_that_loses_every_connection_ends_the_round(
    researcher: Researcher, box: Postbox, golden: Golden
) -> None:
    box.data = lambda number: "hang up"
    done = researcher.run("--send")
    assert done.exit_code == 1
    assert [row["invited"] for row in researcher.read_log()] == [SENDING] * 3 + [""]
    golden(done.output.replace("Connection unexpectedly closed", "CAUSE"))  # in the words of smtplib


def test_killed_in_the_middle_it_goes_on_and_nobody_gets_it_twice(researcher: Researcher, box: Postbox) -> None:
    """SIGKILL, while the server has the third text and has not said so."""
    reached, go_on = threading.Event(), threading.Event()

    def third(number: int) -> str | None:
        if number == 2 and not reached.is_set():
            reached.set()
            go_on.wait(60)
        return None

    box.data = third
    command = [sys.executable, "-c", "from survey_app.cli import main; main()", *researcher.arguments, "--send"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "CANDOR_TOKEN": TOKEN},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert reached.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    go_on.set()
    assert [row["invited"] == SENDING for row in researcher.read_log()] == [False, False, True, False]
    again = researcher.run("--send")
    assert again.exit_code == 0 and "eve@example.org" in again.output, again.output
    assert [bool(row["invited"]) for row in researcher.read_log()] == [True] * 4
    assert len(set(box.addresses)) == len(box.addresses), "nobody twice"


def test_the_database_of_the_server_s_own_machine_does_without_a_token(
    researcher: Researcher, site: Site, box: Postbox
) -> None:
    words = [*researcher.arguments, "--send"]
    done = CliRunner().invoke(main, ["--db", f"sqlite:///{site.store.path}", *words], env={"CANDOR_TOKEN": ""})
    assert done.exit_code == 0, done.output
    assert box.addresses == SENT_TO and site.requests == []


def test_a_list_that_brings_links_uses_them_if_they_are_free(researcher: Researcher, site: Site, box: Postbox) -> None:
    made = CliRunner().invoke(
        main,
        [
            "--db",
            f"sqlite:///{site.store.path}",
            "survey",
            "invite",
            "exam",
            "--count",
            "1",
            "--server",
            researcher.server,
        ],
    )
    link = made.stdout.strip()
    researcher.list_path.write_text(f"email,link\nada@example.org,{link}\nbob@example.org,\n")
    assert researcher.run("--send").exit_code == 0
    assert researcher.read_log()[0]["link"] == link
    researcher.list_path.write_text(f"email,link\neve@example.org,{link.replace('code=', 'code=x')}\n")
    refused = researcher.run("--send")
    assert refused.exit_code == 1 and "eve@example.org" in refused.output
    assert len(box.arrived) == 2


def test_what_cannot_be_is_refused_before_a_code_is_made(
    researcher: Researcher, site: Site, box: Postbox, tmp_path: Path
) -> None:
    def refused(*more: str, **environment: str) -> str:
        done = researcher.run("--send", *more, **environment)
        assert done.exit_code in (1, 2), done.output
        return done.output

    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    template = tmp_path / "template.txt"
    for text, said in (("Dear {name}", "{link}"), ("{link} {code}", "{code}")):
        template.write_text(text)
        assert said in refused("--template", str(template))
    assert f"127.0.0.1:{port}" in refused("--smtp", f"127.0.0.1:{port}")
    assert "HOST:PORT" in refused("--smtp", "host:x")
    assert "--from 'Ada'" in refused("--from", "Ada")
    assert "--subject" in refused("--subject", "Hello\nBcc: eve@example.org")
    assert "--security" in refused("--smtp", "smtp.example.org", "--user", "ada")
    assert "STARTTLS" in refused("--security", "starttls")
    assert "(401)" in refused(CANDOR_TOKEN="x" * 43)
    assert "(404)" in refused("--server", f"{researcher.server}/elsewhere")
    assert "'http://survey.example'" in refused("--server", "http://survey.example")
    researcher.list_path.write_text("name,email\nAda,ada\n")
    assert f"{researcher.list_path}: line 2: 'ada' " in refused()
    published = site.store.newest_version("exam")
    assert published is not None
    assert site.installation.tickets.count_invitations(published.survey.digest) == (0, 0) and box.arrived == []
    site.store.set_state(published, State.CLOSED)
    researcher.write(*PEOPLE)
    assert refused().startswith("Error: exam ") and refused("--remind") == refused()


def test_a_text_of_one_s_own_has_its_blanks_filled_and_nothing_else(
    researcher: Researcher, box: Postbox, tmp_path: Path
) -> None:
    template = tmp_path / "template.txt"
    template.write_text("Dear {name}, {{ about {title}:\n{link}\n", encoding="utf-8")
    researcher.write(("{link} %s", "ada@example.org"))
    assert researcher.run("--send", "--template", str(template), "--subject", "About {title} — hört!").exit_code == 0
    _, message = box.arrived[0]
    assert message["Subject"] == "About Exam honesty — hört!"
    assert message.get_content().splitlines() == [
        "Dear {link} %s, {{ about Exam honesty:",
        researcher.read_log()[0]["link"],
    ]


@pytest.mark.parametrize(
    ("language", "hello"),
    [("en", "Hello Ada"), ("de", "Guten Tag Ada"), ("es", "Hola, Ada"), ("fr", "Bonjour Ada"), ("ja", "Hello Ada")],
)
def test_our_own_words_are_short_and_in_the_survey_s_language(language: str, hello: str) -> None:
    made = invitation_survey(
        from_="2999-01-01T00:00Z", definition=simple() | ({"language": language} if language != "en" else {})
    )
    for remind in (False, True):
        message = compose_letter(made, "a@b.example", remind=remind).compose_for(
            Person("Ada", "ada@example.org", "https://x.example/s/exam#code=y")
        )
        text = message.get_content().replace("\r\n", "\n")
        assert text.startswith(hello) and "2999-01-01T00:00Z" in text and "{" not in text
        assert len(text) < 1900 and "https://x.example/s/exam#code=y\n" in text


def test_what_is_sent_by_hand_is_in_the_words_of_a_translation_and_of_tickets_only_where_there_are_any() -> None:
    example = (Path(__file__).parents[3] / "examples" / "wellbeing.yaml").read_bytes()
    survey = build(example).survey
    text = compose_invitation(survey, "de", "https://x.example/s/w")
    assert text.startswith("Guten Tag,\n\nSie sind eingeladen") and translate_survey(survey, "de").title in text
    assert "\nhttps://x.example/s/w\n" in text and "Ticket" not in text and "{" not in text
    assert "Ticket" in compose_invitation(invitation_survey(definition=simple() | {"language": "de"}), "de", "x")


def test_encryption_is_real_and_a_wrong_password_is_told(
    researcher: Researcher, site: Site, box: Postbox, tmp_path: Path
) -> None:
    context, authority = certificate(tmp_path)
    password = tmp_path / "password"
    password.write_text("right\n")
    with run_smtp_server(box, context=context, password=password.read_text().strip()) as smtp:
        words = ("--smtp", smtp, "--security", "starttls", "--user", "ada", "--password-file", str(password), "--send")
        unknown = researcher.run(*words)
        assert unknown.exit_code == 1 and "CERTIFICATE_VERIFY_FAILED" in unknown.output
        done = researcher.run(*words, SSL_CERT_FILE=str(authority))
        assert done.exit_code == 0, done.output
        assert box.encrypted == [True] * 4
        password.write_text("wrong\n")
        researcher.write(*PEOPLE, ("New", "new@example.org"))
        wrong = researcher.run(*words, SSL_CERT_FILE=str(authority))
        assert wrong.exit_code == 1 and f"{smtp} " in wrong.output and " ada: 5.7.8 " in wrong.output
    published = site.store.newest_version("exam")
    assert published is not None and site.installation.tickets.count_invitations(published.survey.digest) == (4, 0)


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    start = datetime.now(UTC) - timedelta(hours=1)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(start).not_valid_after(start + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    public, private = folder / "cert.pem", folder / "key.pem"
    public.write_bytes(made.public_bytes(Encoding.PEM))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, public


def test_the_table_survives_a_spreadsheet_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "people.exam.sent.csv"
    kept = SentLog(path)
    lines = [
        SentLine(Person("=1+1", "ada@example.org", "https://x/s/exam#code=a")),
        SentLine(Person('B "b", c', "+bob@example.org")),
    ]
    kept.write(lines)
    kept.mark(lines[1], "invited", SENDING)
    kept.mark(lines[0], "invited", "2026-11-17T19:31:00Z")
    kept.mark(lines[0], "reminded", "2026-11-19T19:31:00Z")
    again = SentLog(path)
    assert [*again.lines.values()] == lines and lines[0].last == datetime(2026, 11, 19, 19, 31, tzinfo=UTC)
    assert lines[1].is_unsure and lines[1].last is None
    assert b"\n=" not in path.read_bytes()
    path.write_text(path.read_text().replace("2026-11-17T", "17.11.2026 "))
    with pytest.raises(ListError, match=r"line 2: '17\.11\.2026 "):
        SentLog(path)
    path.write_text("name,email\n")
    with pytest.raises(ListError, match="name,email,link,invited,reminded"):
        SentLog(path)


def test_who_gets_what() -> None:
    ago = (datetime.now(UTC) - timedelta(days=3)).strftime("%Y-%m-%dT%H:%M:%SZ")
    lately = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    states = [("", ""), (SENDING, ""), (ago, ""), (ago, SENDING), (ago, lately), (ago, ago)]
    lines = [
        SentLine(Person("", f"{n}@example.org", f"https://x/s/exam#code=c{n}"), *state)
        for n, state in enumerate(states)
    ]
    absent = {hash_secret(f"c{n}").hex() for n in range(5)}

    def sizes(plan: Plan) -> tuple[list[int], list[int], int, int, int, int]:
        of, unsure = ([lines.index(line) for line in found] for found in (plan.recipients, plan.unsure))
        return of, unsure, plan.already_sent, plan.taken, plan.too_soon, plan.never

    assert sizes(plan_invitations(lines, again=False)) == ([0], [1], 4, 0, 0, 0)
    assert sizes(plan_invitations(lines, again=True)) == ([0, 1], [], 4, 0, 0, 0)
    two = timedelta(days=2)
    assert sizes(plan_reminders(lines, absent, two, again=False)) == ([2], [1, 3], 0, 1, 1, 1)
    assert sizes(plan_reminders(lines, absent, two, again=True)) == ([1, 2, 3], [], 0, 1, 1, 1)


def test_two_rounds_of_one_list_do_not_run_at_once(researcher: Researcher, box: Postbox, golden: Golden) -> None:
    second: list[Result] = []

    def meanwhile(number: int) -> None:
        if not number:
            second.append(researcher.run("--send"))

    box.data = meanwhile
    assert researcher.run("--send").exit_code == 0
    assert second[0].exit_code == 1
    assert len(box.arrived) == 4
    golden(second[0].output)


def test_a_sender_that_is_refused_ends_the_round_and_an_old_server_takes_no_such_address(box: Postbox) -> None:
    made = compose_letter(invitation_survey(), "a@b.example", remind=False)
    with run_smtp_server(box) as smtp:
        host, _, port = smtp.partition(":")
        post = SmtpConnection(Server(host, int(port), "none"), "a@b.example")
        box.unwanted.add("a@b.example")
        with pytest.raises(SmtpError, match=r"a@b\.example: 550 "):
            post.deliver(made.compose_for(Person("", "a@b.example", "x")), "a@b.example", lambda: None)
        connected = post.connect()
        del connected.esmtp_features["smtputf8"]
        with pytest.raises(MessageRefused, match="ASCII"):
            post.deliver(made.compose_for(Person("", "ä@b.example", "x")), "ä@b.example", lambda: None)
        post.close()
