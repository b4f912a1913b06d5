"""The terminal client, typed at like a person does."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from candor_client import Clock, Ledger, Survey
from candor_client import __main__ as program
from candor_client.__main__ import STATES
from candor_client.description import explain, odds_sentence
from candor_client.interview import FILTER
from candor_client.report import to_base64url
from tests.clock import SimulatedClock, make_fast_clock
from tests.definitions import (
    COIN,
    define,
    drawn,
    encode,
    field,
    multiple,
    number,
    scale,
    subset,
    worked_example,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.golden_files import Golden
from tests.make_vectors import add_tickets
from tests.reference_issuer import KEY, Issuer
from tests.scripted_server import Server

EVERYTHING = define(
    [
        yes_no(),
        choice_question(optional=True),
        scale(),
        multiple(),
        number("hours", max=60, unit="h"),
        choice_question("why", options=2, show_if={"question": "cheated", "is": ["yes"]}),
    ],
    [
        field(COIN, "cheated"),
        field(subset(4, 2), "help"),
        field(subset(3, 1), "fair"),
        field(drawn(3, 1), "used"),
        field(subset(2, 1), "hours"),
        field(subset(3, 1), "why"),
    ],
    epsilon=10,
    description="First paragraph.\u2029Second paragraph.",
    contact="x@example.org",
)


def main(arguments: list[str], clock: Clock | None = None) -> int:
    return program.main(arguments, clock=clock or make_fast_clock())


def unwrap(text: str) -> str:
    """Return a text of the terminal in one line."""
    return " ".join(text.split())


def paragraphs(text: str) -> list[str]:
    """Return what the terminal shows by empty lines: the title, the sums, and what follows."""
    return text.strip().split("\n\n")


@pytest.fixture
def link(server: Server) -> str:
    server.define(encode(EVERYTHING))
    return f"{server.origin}/s/exam"


def test_a_person_answers_sees_consents_and_gets_a_receipt(
    server: Server, link: str, typed_lines: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    typed_lines += ["maybe", "y", "9", "", "3", "1, 3", "61", "12", "2", "y", "yes"]
    assert main([link, "--receipt", str(tmp_path / "receipt.json")]) == 0
    said = capsys.readouterr().out
    assert "'maybe' is not one of: no, yes" in said
    assert "type numbers from 1 to 3" in said
    assert "61 is not from 0 to 60" in said
    assert "Second paragraph." in said
    sent = json.loads(server.bodies[0])
    assert sent["bits"] in said
    assert json.loads((tmp_path / "receipt.json").read_bytes())["bits"] == sent["bits"]
    assert "you: yes  →  sent: " in said
    assert "you: {item 0, item 2}  →  sent: " in said
    assert "you: 12 h  →  sent: " in said
    assert "you: no answer  →  sent: " in said
    assert said.index("What will be sent") < said.index("Send this?") < said.index("Your receipt")


def test_a_terminal_waits_for_consent_and_neither_sends_nor_keeps_it(
    server: Server, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    server.define(encode(EVERYTHING | {"consent": "You take part freely."}))
    link = f"{server.origin}/s/exam"
    typed_lines.append("no")
    assert main([link]) == 1
    said = capsys.readouterr().out
    assert said.index("You take part freely.") < said.index("[y/N]") and "Did you copy?" not in said
    assert not Ledger().read().entries and not server.bodies
    golden(paragraphs(said)[-1])
    typed_lines += ["yes", "no", "1", "1", "0", "0", "y", "n"]
    assert main([link]) == 1
    typed_lines.append("y")
    assert main([link]) == 0  # what was made is sent; that was agreed to
    assert set(json.loads(server.bodies[0])) == {"survey", "id", "bits"}


def test_a_hidden_question_is_not_asked(server: Server, link: str, typed_lines: list[str]) -> None:
    typed_lines += ["no", "1", "1", "0", "0", "y", "y"]
    assert main([link]) == 0
    assert len(server.bodies) == 1


def test_nothing_is_spent_before_the_first_yes(server: Server, link: str, typed_lines: list[str]) -> None:
    typed_lines += ["no", "1", "1", "0", "0", ""]
    assert main([link]) == 1
    assert not Ledger().read().entries
    assert not server.bodies


def test_declining_after_a_look_keeps_the_same_report(
    server: Server, link: str, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    typed_lines += ["no", "1", "1", "0", "0", "y", "n"]
    assert main([link]) == 1
    assert not server.bodies
    (entry,) = Ledger().read().entries.values()
    capsys.readouterr()
    typed_lines += ["y"]
    assert main([link]) == 0
    assert json.loads(server.bodies[0])["bits"] == to_base64url(entry.bits)
    again = capsys.readouterr().out
    assert "Did you copy?\n      sent: " in again, "what was answered is not kept"
    golden(paragraphs(again)[2], "made")
    assert main([link]) == 0
    stored = capsys.readouterr().out
    (entry,) = Ledger().read().entries.values()
    assert "sent: " not in stored and entry.day in stored
    golden(paragraphs(stored)[2].replace(entry.day, "DAY"), "stored")
    assert len(server.bodies) == 1


def test_an_end_of_input_stops_quietly(link: str, typed_lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed_lines += ["yes"]
    assert main([link]) == 1
    assert "nothing more was sent" in capsys.readouterr().err


def test_answers_from_a_file(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.define(encode(worked_example()))
    answers = tmp_path / "answers.json"
    for content, problem in (
        ("nonsense", "cannot be read"),
        ("[]", "one JSON object"),
        ('{"cheated": 1}', "cheated: '1' is not one of"),
    ):
        answers.write_text(content)
        assert main([f"{server.origin}/s/exam", "--answers", str(answers), "--yes"]) == 1
        assert problem in capsys.readouterr().err
    answers.write_text('{"cheated": true, "help": null, "hours": 12}')
    assert main([f"{server.origin}/s/exam", "--answers", str(answers), "--yes"]) == 0
    assert len(server.bodies) == 1


def test_with_ask_only_the_asked_questions_appear(server: Server, typed_lines: list[str]) -> None:
    names = "abcdef"
    server.define(encode(define([yes_no(n) for n in names], [field(COIN, n) for n in names], ask=1, epsilon=3)))
    typed_lines += ["yes", "y", "y"]
    assert main([f"{server.origin}/s/exam"]) == 0


def test_a_block_is_asked_explained_and_shown_question_by_question(
    server: Server, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """The block can be drawn with a chance of 999,999 in a million; the other one in a million is a failure."""
    questions = [yes_no("a"), number("hours", max=40, unit="years"), yes_no("c"), scale("d")]
    block = field(subset(4, 1), "a", "hours", chance=999_999)
    source = encode(define(questions, [block, field(subset(6, 1), "c", "d")], ask=1, epsilon=3))
    server.define(source)
    typed_lines += ["yes", "12", "y", "y"]
    assert main([f"{server.origin}/s/exam"]) == 0
    said = capsys.readouterr().out
    shown, explanation = unwrap(said), explain(Survey.from_json(source).fields[0])
    assert "0 years or 40 years" in explanation
    assert shown.count(explanation) == 2  # before the first question, and beside what is sent
    assert shown.index(explanation) < shown.index("Did you copy?")
    protection = paragraphs(said)[2]
    assert "2 of 4 " in protection and " 45 in 100." in protection  # 15 to 19: 15/34
    assert "(a number from 0 to 40 years, in steps of 1)" in shown
    sent = re.search(r"\? you: yes → sent: (yes|no) \S.*\? you: 12 years → sent: (0|40) years \(", shown)
    assert sent and shown[sent.end() :].startswith(explanation)
    (other_block,) = re.findall(r"\n  Did you copy\? \+ It was fair\.\n      (.*)\n", said)
    assert "sent: " not in other_block
    golden(protection, "protection")
    golden(other_block, "other block")


def test_where_everything_is_asked_each_field_is_explained_once(
    server: Server, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    fields = [field(COIN, "a"), field(subset(6, 1), "b", "d"), field(subset(3, 2), "e")]
    source = encode(define([yes_no("a"), yes_no("b"), scale("d"), scale("e")], fields))
    server.define(source)
    typed_lines += ["no", "no", "1", "1", "n"]
    assert main([f"{server.origin}/s/exam", "--limit", "100"]) == 1
    said = capsys.readouterr().out
    questions = paragraphs(said)[2:6]  # and nothing before the first, as no block was drawn
    assert [text.partition("\n")[0] for text in questions] == ["Did you copy?"] * 2 + ["It was fair."] * 2
    notes = [odds_sentence(one) for one in Survey.from_json(source).fields]
    assert [unwrap(said).count(f"{note})") for note in notes] == [1, 1, 1]
    assert all(note in unwrap(questions[place]) for note, place in zip(notes, (0, 1, 3), strict=True))
    golden(questions[1])


def test_a_filter_is_asked_and_said_not_to_be_sent(
    server: Server, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """The follow-up alone can be drawn, with a chance of 999,999 in a million; the other one in a million is a pass."""
    questions = [yes_no(), choice_question("why", options=2, show_if={"question": "cheated", "is": ["yes"]})]
    fields = [field(COIN, "cheated"), field(subset(3, 1), "why", chance=999_999)]
    server.define(encode(define(questions, fields, ask=1, epsilon=3)))
    typed_lines += ["yes", "2", "y", "y"]
    assert main([f"{server.origin}/s/exam"]) == 0
    shown = capsys.readouterr().out
    protection, question, *_ = paragraphs(shown)[2:]
    assert "1 of 2 " in protection and f"({FILTER}; " in question
    review = paragraphs(shown)[6]
    assert f"  Did you copy?\n      {FILTER}\n  What helped?\n      you: option 1  →  sent: " in review
    golden(question)


def test_refusals_are_one_clear_line(
    server: Server,
    link: str,
    capsys: pytest.CaptureFixture[str],
    typed_lines: list[str],
    tmp_path: Path,
    golden: Golden,
) -> None:
    for name, arguments in (
        ("limit", [link, "--limit", "1"]),
        ("server limit", [link, "--server-limit", "1"]),
        ("address", ["http://example.org/s/exam"]),
    ):
        assert main(arguments) == 1
        refusal = capsys.readouterr().err
        assert refusal.count("\n") == 1
        golden(refusal, name)
    for option in ("--limit", "--server-limit"):
        for limit in ("much", "nan", "inf", "-1"):
            with pytest.raises(SystemExit) as leaving:
                main([link, option, limit])
            assert leaving.value.code == 2
    assert main([link, "--code", "zwölf"]) == 1
    assert not Ledger().path.exists()
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert main([link, "--answers", str(deep), "--yes"]) == 1


def test_a_receipt_that_cannot_be_saved_is_still_shown(
    server: Server, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    server.define(encode(worked_example()))
    answers = tmp_path / "answers.json"
    answers.write_text('{"cheated": true, "hours": 12}')
    arguments = ["--answers", str(answers), "--yes", "--receipt", str(tmp_path / "no" / "receipt.json")]
    assert main([f"{server.origin}/s/exam", *arguments]) == 0
    shown = capsys.readouterr()
    assert "Your receipt" in shown.out
    assert str(tmp_path / "no" / "receipt.json") in shown.err


def test_a_terminal_without_greek_letters_still_gets_the_rest() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "candor_client", "--help"],
        cwd=Path(__file__).parents[2], env={"PYTHONIOENCODING": "cp1252"}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert b"--limit" in done.stdout
    assert done.stdout.startswith(b"usage: python -m candor_client ")  # a user who has the folder alone has no candor


# what was spent


def test_both_sums_and_limits_are_told_before_the_first_question(
    server: Server, link: str, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    def find_sums(slug: str) -> list[tuple[str, str, str]]:
        said = capsys.readouterr().out
        sums = said[: said.find("Did you copy?")].partition("\nbefore")[2]
        golden("\n".join(map(unwrap, sums.splitlines()[:2])), slug)
        return re.findall(rf"ε = ([\d.]+) \D+ (\d+) \D+ ({slug}\b|127\.0\.0\.1)", sums)

    typed_lines += ["no", "1", "1", "0", "0", "y", "y"]
    main([link])
    assert find_sums("exam") == [("0.0000", "8", "exam"), ("0.0000", "24", "127.0.0.1")]
    server.define(encode(worked_example() | {"slug": "other"}), "other")
    typed_lines += ["no", "1", "0", "n"]
    main([link.replace("exam", "other"), "--limit", "5", "--server-limit", "20"])
    assert find_sums("other") == [("0.0000", "5", "other"), ("7.9780", "20", "127.0.0.1")]


def test_the_ledger_can_be_shown_and_forgotten(
    server: Server, link: str, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    assert main(["ledger", "show"]) == 0
    empty = capsys.readouterr().out
    assert "ε" not in empty
    golden(empty, "empty")
    typed_lines += ["no", "1", "1", "0", "0", "y", "y"]
    main([link])
    server.define(encode(worked_example() | {"slug": "exam-north", "study": "exam", "group": "North"}), "exam-north")
    typed_lines += ["no", "1", "0", "y", "n"]
    main([link + "-north", "--limit", "20"])
    assert "You answer as: North" in capsys.readouterr().out
    assert main(["ledger", "show"]) == 0
    rows, sums, note = paragraphs(capsys.readouterr().out)
    costs = {"exam": ("ε 7.9780", "stored"), "exam-north": ("ε 3.0987", "made")}
    assert {tuple(row.split("  ")) for row in rows.splitlines()[1:]} == {
        (entry.slug, server.origin, cost, entry.day, program.STATES[state], digest)
        for digest, entry in Ledger().read().entries.items()
        for cost, state in [costs[entry.slug]]
    }
    assert re.findall(r"ε ([\d.]+) of (\d+)", sums) == [("11.0766", "24"), ("11.0766", "8")]
    golden(f"{sums}\n\n{note}", "sums")
    typed_lines += ["n"]
    assert main(["ledger", "forget"]) == 1
    typed_lines += ["y"]
    assert main(["ledger", "forget"]) == 0
    assert not Ledger().path.exists()


def test_an_old_ledger_is_refused_and_can_be_forgotten(
    server: Server, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Ledger().path.write_bytes(b'{"ledger": {"format": "candor-ledger/1"}}')
    for arguments in ([link], ["ledger", "show"]):
        assert main(arguments) == 1
        assert "`candor ledger forget`" in capsys.readouterr().err
    assert main(["ledger", "forget", "--yes"]) == 0
    assert main(["ledger", "show"]) == 0


# by invitation


@pytest.fixture
def answers(tmp_path: Path) -> list[str]:
    file = tmp_path / "answers.json"
    file.write_text('{"cheated": true, "hours": 12}')
    return ["--answers", str(file), "--yes"]


def test_a_ticket_is_taken_only_after_a_yes(
    server: Server, typed_lines: list[str], capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    issuer = Issuer(server)
    typed_lines += ["n"]
    assert main([issuer.invite("code")]) == 1
    offer = "\n".join(unwrap(paragraph) for paragraph in paragraphs(capsys.readouterr().out)[2:])
    assert server.origin.removeprefix("http://") in offer
    assert not issuer.requests
    golden(offer, "offer")
    typed_lines += ["y", "yes", "1", "12", "y", "y"]
    assert main([issuer.invite("code")]) == 0
    said = capsys.readouterr().out
    (ticket_line,) = re.findall(r"^  ticket  .*$", said, re.MULTILINE)
    assert said.index("[y/N]") < said.index("Did you copy") < said.index(ticket_line)
    assert len(issuer.reports) == 1
    golden(re.sub(r"[\w-]{43}", "PREFIX", ticket_line), "sent")


def test_a_code_may_be_typed_beside_the_link(server: Server, answers: list[str]) -> None:
    issuer = Issuer(server)
    issuer.invite("code")
    assert main([issuer.link, "--code", "code", *answers]) == 0
    assert list(issuer.message_hashes) == ["code"]


def test_without_an_invitation_nothing_is_asked(
    server: Server, typed_lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([Issuer(server).link]) == 1
    assert "by invitation" in capsys.readouterr().err


def test_ticket_now_and_answer_later(
    server: Server, typed_lines: list[str], answers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    issuer = Issuer(server, add_tickets(KEY, worked_example(), **{"from": "2026-12-10T00:00Z"}))
    typed_lines += ["y"]
    assert main([issuer.invite("code")], SimulatedClock(datetime(2026, 12, 9, tzinfo=UTC)).clock) == 0
    said = capsys.readouterr().out
    assert "2026-12-10 00:00 UTC" in said
    assert "Did you copy" not in said
    assert main(["ledger", "show"]) == 0
    assert f"  {STATES['ticket']}  " in capsys.readouterr().out
    assert main([issuer.link, *answers], SimulatedClock(datetime(2026, 12, 11, tzinfo=UTC)).clock) == 0
    assert len(issuer.reports) == 1


def test_a_ticket_can_be_carried_to_another_device(
    server: Server,
    typed_lines: list[str],
    answers: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    issuer = Issuer(server, add_tickets(KEY, worked_example(), **{"from": "2026-12-10T00:00Z"}))
    before = SimulatedClock(datetime(2026, 12, 9, tzinfo=UTC)).clock
    assert main([issuer.invite("code"), "--ticket-link", "--yes"], before) == 0
    (link,) = re.findall(rf"^{issuer.link}#ticket=\S+$", capsys.readouterr().out, re.MULTILINE)
    other = ["--ledger", str(tmp_path / "other.json")]
    later = SimulatedClock(datetime(2026, 12, 11, tzinfo=UTC)).clock
    typed_lines.append("n")
    assert main([link, *other], later) == 1, "the person who made it would recognise the report"
    golden("\n\n".join(paragraphs(capsys.readouterr().out)[2:]))
    assert not Ledger(Path(other[1])).read().entries
    assert main([link, *other, *answers], later) == 0
    assert (len(issuer.requests), len(issuer.reports)) == (1, 1)
