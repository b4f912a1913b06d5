"""The respondent's command line: `python -m candor_client URL`, also `candor respond URL` and `candor ledger …`.

It prints the ε spent so far, asks the questions and shows the randomized report.
It takes a ticket and sends a report only after the respondent confirms.
The report is written to the ledger before it is shown, so that a respondent who sees the noise cannot redraw it.
"""

import argparse
import io
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from candor_client import description
from candor_client.address import Address, check_invitation
from candor_client.answer import encode
from candor_client.definition import Survey
from candor_client.display import list_languages
from candor_client.errors import AnswerError, CandorError, LimitExceeded, TooEarly
from candor_client.interview import FILTER, format_farewell, interview, translate_for_terminal, wrap_paragraphs
from candor_client.ledger import Ledger
from candor_client.mechanisms import round_up
from candor_client.report import to_base64url, unpack
from candor_client.respond import SYSTEM_CLOCK, Clock, Device, Receipt, check_phase, fetch
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT, Entry, Spending, host_of, sum_charges
from candor_client.verify import check_limit, verify

STATES = {
    "begun": "begun",
    "taking": "taking a ticket",
    "ticket": "ticket taken, not yet answered",
    "made": "report made, not yet acknowledged",
    "stored": "stored",
}
MODULE = "python -m candor_client"
SOLE_RESPONDENT_NOTE = "If {} knows which report is yours.\nIts content is still randomized."
LEDGER_COPY_NOTE = (
    "A copy of this file reveals where you took part, on which days, and what it cost. Once a report is stored, it "
    "reveals neither your answers nor which report is yours.",
    "Before a report is stored, the file also contains the report, the invitation or the ticket. A thief could use "
    "them in your place, and recognise them at the server.",
)


def main(argv: Sequence[str] | None = None, *, clock: Clock = SYSTEM_CLOCK) -> int:
    """Run one command and return its exit status.

    0 means success, 1 failure, 2 wrong arguments, 130 Ctrl-C, and 141 that the reader of the output closed the pipe.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ε still prints the rest
    try:
        name = MODULE if argv is None else "candor"
        ledger = arguments[:1] == ["ledger"]
        status = _ledger(arguments[1:], name) if ledger else _respond(arguments, clock, name)
        sys.stdout.flush()
        return status
    except CandorError as error:
        print(f"candor: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError) as end:
        print("\ncandor: stopped; nothing more was sent", file=sys.stderr)
        return 130 if isinstance(end, KeyboardInterrupt) else 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise Python prints an error at exit
        return 141


def respond_parser(program: str = "candor") -> argparse.ArgumentParser:
    """Return the parser for the arguments of `candor respond`, or of the module run by itself."""
    name = program if program == MODULE else f"{program} respond"
    parser = _parser(
        name,
        "Answer a survey; every answer is randomized on this device first.",
        f"{name} https://example.org/s/exam --limit 2",
    )
    parser.add_argument("url", help="the survey's link, …/s/<slug>; #sha256=… pins its definition")
    parser.add_argument(
        "--limit", default=str(SURVEY_LIMIT), help="the maximum ε for all versions of a survey (default %(default)s)"
    )
    parser.add_argument(
        "--server-limit",
        default=str(SERVER_LIMIT),
        help="the maximum ε for all surveys of a server (default %(default)s)",
    )
    parser.add_argument("--ledger", type=Path, help="the ledger file, if not the default one")
    parser.add_argument("--code", help="an invitation code, if the link has none")
    parser.add_argument(
        "--ticket-link", action="store_true", help="print a link that moves the ticket to another device"
    )
    parser.add_argument(
        "--language", help="the language of the questions, if the survey has it; the choice is not sent"
    )
    parser.add_argument("--answers", type=Path, help="a JSON file with the answers; no questions are asked")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="take a ticket and send the report without confirmation; for use with --answers",
    )
    parser.add_argument("--receipt", type=Path, help="save the receipt to this file")
    return parser


def _arguments(arguments: list[str], program: str) -> argparse.Namespace:
    parser = respond_parser(program)
    options = parser.parse_args(arguments)
    for name, limit in (("--limit", options.limit), ("--server-limit", options.server_limit)):
        try:
            check_limit(Decimal(0), limit)
        except (ValueError, LimitExceeded):
            parser.error(f"{name}: {limit!r} is not a number such as 2.5")
    return options


def _respond(arguments: list[str], clock: Clock, program: str) -> int:
    options = _arguments(arguments, program)
    address = Address.parse(options.url)
    if options.code:
        address = replace(address, invitation=check_invitation(options.code))
    survey = fetch(options.url)
    verify(survey)
    translated = translate_for_terminal(survey, options.language, os.environ)
    device = Device(Ledger(options.ledger), options.limit, options.server_limit, clock=clock)
    spending = device.ledger.read()
    entry = device.entry(address, survey, spending)
    _print_introduction(translated, list_languages(survey), spending, address.server, device)
    if entry.stored:
        print(
            f"\nThis device answered this survey on {entry.day}. Nothing is sent a second time."
            f"{format_farewell(translated)}"
        )
        return 0
    answers = dict[str, Any]()
    if entry.state != "made":
        spending.charge(survey, address.server, options.limit, options.server_limit)
        if survey.consent and not (
            options.yes or _confirm("Do you agree to the above? Your agreement is neither sent nor stored.")
        ):
            print("Nothing was asked, and nothing was sent.")
            return 1
        if survey.tickets and not _ensure_ticket(device, address, survey, options):
            return 1
        try:
            check_phase(survey, clock)
        except TooEarly as early:
            print(f"\n{early}")
            return 0
        field_index = device.ledger.begin(survey, address.server).asked
        _print_protection(survey, field_index, spending.spent_on_survey(survey, address.server))
        answers = _read_answers(options.answers) if options.answers else interview(survey, field_index, translated)
        if not (options.yes or _confirm("Randomize these answers now? This spends the ε above, once and for all.")):
            print("Nothing was randomized, spent or sent.")
            return 1
    start = clock.monotonic()
    entry, is_new = device.make(address, survey, answers)
    if not is_new:
        print("\nThis device has already made its report to this survey. It can only send the same report again.")
    _print_report(survey, translated, entry, answers if is_new else None)
    if not (options.yes or _confirm("Send this? It cannot be withdrawn: nothing in it says that it is yours.")):
        print("Not sent. Run the same command again to send this same report.")
        return 1
    status = device.send(address, survey, entry, start)
    receipt = Receipt(survey.digest, entry.bits, status, entry.epsilon, repeated=not is_new)
    print(f"\nThe server has your report ({status}). Your receipt:\n{receipt.to_json().decode()}")
    if options.receipt:
        try:
            options.receipt.write_bytes(receipt.to_json() + b"\n")
        except OSError as error:
            print(
                f"candor: cannot write {options.receipt}: {error.strerror}; copy the receipt from above",
                file=sys.stderr,
            )
    print(format_farewell(translated), end="")
    return 0


def _print_paragraphs(*paragraphs: str) -> None:
    for paragraph in paragraphs:
        print(f"\n{textwrap.fill(paragraph, 100)}")


def _ensure_ticket(device: Device, address: Address, survey: Survey, options: argparse.Namespace) -> bool:
    """Take a ticket if this device has none and the respondent agrees; return whether there is one now."""
    if device.awaits_issuer(address, survey):
        issuer = urlsplit(address.issuer(survey)).netloc
        _print_paragraphs(
            f"This survey is by invitation. {issuer} exchanges your invitation for a ticket, which it signs without "
            "seeing it. Your report contains the ticket, never the invitation.",
            "A server that logs times and addresses can still guess which report followed which ticket. You may take "
            "the ticket now and answer at another time, in another place.",
        )
        if not (options.yes or _confirm("Take the ticket now?")):
            print("No ticket was taken, and nothing was sent.")
            return False
    elif device.link_ticket(address, survey):
        _print_paragraphs(
            "This link contains a ticket. Use it only if you took the ticket yourself, on another device. The person "
            "who took it recognises your report by it, and can find out by trial and error what was sent. The content "
            "of the report is still randomized.",
            "If somebody sent you this link, ask them for your invitation instead. Your own device then creates the "
            "ticket, and nobody else knows it.",
        )
        if not (options.yes or _confirm("Did you take the ticket yourself, and do you want to use it?")):
            print("The ticket was not used, and nothing was sent.")
            return False
    ticket = device.ticket(address, survey)
    print("\nThe ticket for this survey is in the ledger of this device.")
    if options.ticket_link:
        print("Anyone with this link can answer in your place, once. To answer on another device instead of this one:")
        print(address.ticket_link(ticket))
    return True


def ledger_parser(program: str = "candor") -> argparse.ArgumentParser:
    """Return the parser for the arguments of `candor ledger`."""
    name = f"{program} ledger"
    parser = _parser(name, "Show or forget what this device has answered and spent.", f"{name} show")
    parser.add_argument("action", choices=["show", "forget"])
    parser.add_argument("--ledger", type=Path, help="the ledger file, if not the default one")
    parser.add_argument("--yes", action="store_true", help="forget without confirmation")
    return parser


def _parser(name: str, summary: str, example: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=name,
        description=summary,
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _ledger(arguments: list[str], program: str) -> int:
    options = ledger_parser(program).parse_args(arguments)
    ledger = Ledger(options.ledger)
    if options.action == "show":
        _print_ledger(ledger)
        return 0
    question = f"Forget {ledger.path}? A survey that you then answer again could learn more than its ε."
    if options.yes or _confirm(question):
        ledger.forget()
        print("Forgotten.")
        return 0
    return 1


def _print_ledger(ledger: Ledger) -> None:
    """Print every entry, the sums with their limits, and a note on what a copy of the file would reveal."""
    spending = ledger.read()
    if not spending.entries:
        print(f"{ledger.path}: nothing answered, nothing spent")
        return
    print(ledger.path)
    for digest, entry in sorted(spending.entries.items(), key=lambda item: (item[1].host, item[1].name, item[1].day)):
        spent = f"ε {round_up(entry.epsilon, 4)}  {entry.day}" if entry.day else "nothing spent"
        print(f"{entry.slug}  {entry.server}  {spent}  {STATES[entry.state]}  {digest}")
    print("\nε spent, and the default limits:")
    for host in sorted({entry.host for entry in spending.entries.values()}):
        on_host = [entry for entry in spending.entries.values() if entry.host == host]
        print(f"{host}  ε {_format_total(on_host)} of {SERVER_LIMIT} for all surveys of this server")
        for name in sorted({entry.name for entry in on_host}):
            print(f"  {name}  ε {_format_total(entry for entry in on_host if entry.name == name)} of {SURVEY_LIMIT}")
    print()
    for paragraph in LEDGER_COPY_NOTE:
        print(textwrap.fill(paragraph, 100))


def _format_total(entries: Iterable[Entry]) -> Decimal:
    return round_up(sum_charges(entries), 4)


def _print_introduction(survey: Survey, tags: list[str], spending: Spending, server: str, device: Device) -> None:
    print(f"{survey.title}\n{'=' * len(survey.title)}")
    if survey.group:
        print(f"You answer as: {survey.group}")
    if survey.tickets:
        print(SOLE_RESPONDENT_NOTE.format("this survey or your group is for you alone, the inviter"))
    elif survey.group:
        print(SOLE_RESPONDENT_NOTE.format("nobody else has your link, its sender"))
    for text in (survey.description, survey.consent, survey.contact and f"Contact: {survey.contact}"):
        if text:
            print(wrap_paragraphs(text))
    if alternatives := [language for language in tags if language != survey.language]:
        print(f"Other languages: --language {' or '.join(alternatives)}. Nobody learns which language you read.")
    name, host = survey.study or survey.slug, host_of(server)
    on_survey, on_server = spending.spent_on_survey(survey, server), spending.spent_on_server(server)
    print(f"\ndefinition  {survey.digest}\nspends      ε = {round_up(verify(survey), 4)} at most, once")
    for label, spent, limit, scope in (
        ("before", on_survey, device.limit, f"{name}, all its versions and groups"),
        ("", on_server, device.server_limit, f"all surveys of {host}"),
    ):
        print(f"{label:12}ε = {round_up(spent, 4)} of your limit of {limit} for {scope}")
    print("            (one operator can have several names)")
    print("            For a fact about a whole household, the ε of every member who answers adds up.")


def _print_protection(survey: Survey, field_index: int | None, spent: Decimal) -> None:
    """Print which questions will be asked and how their answers are randomized."""
    if field_index is not None:
        print(f"\n{_format_draw(survey, field_index)}.")
    rolls = "Before anything is sent, this device randomizes your answers"
    field = survey.fields[field_index or 0] if field_index is not None or len(survey.fields) == 1 else None
    print(
        textwrap.fill(f"{rolls}: {description.explain(field)}." if field else f"{rolls}; each question says how.", 100)
    )
    cases, people = description.posterior_in_hundred(description.SUSPICION, verify(survey) + spent)
    after = "be almost certain of it" if cases == people else f"think it is at most about {cases:,} in {people:,}"
    before = f"Someone may think the chance is {100 // description.SUSPICION} in 100 that something is true of you."
    print(textwrap.fill(f"What is sent can be a hint. {before} After that, they could {after}.", 100))


def _format_draw(survey: Survey, field_index: int) -> str:
    return f"{len(survey.fields[field_index].questions)} of {len(survey.questions)} questions, chosen by this device"


def _print_report(survey: Survey, translated: Survey, entry: Entry, answers: Mapping[str, Any] | None) -> None:
    """Print what the bits say, next to the respondent's answers.

    `answers` is None if they are not known: the ledger does not store them.
    """
    fields = unpack(survey, entry.bits)
    field_index = next(position for position, bits in enumerate(fields) if bits is not None) if survey.ask else None
    indices = None if answers is None else encode(survey, answers, field_index)
    print("\nWhat will be sent, and nothing else:")
    if field_index is not None:
        print(f"  {_format_draw(survey, field_index)}")
    for field, bits in zip(translated.fields, fields, strict=True):
        if bits is None:
            filters = field_index is not None and {
                question.id for question in field.questions
            } & survey.question_ids_for(field_index)
            text = FILTER if filters else "not asked on this device"
            print(f"  {' + '.join(question.text for question in field.questions)}\n      {text}")
            continue
        for part, text in description.split_by_question(field, bits):
            names = " + ".join(question.text for question in part.questions)
            answer = "" if indices is None else f"you: {description.format_answers(part, indices)}  →  "
            print(f"  {names}\n      {answer}sent: {text}")
        print(textwrap.fill(f"({description.explain(field)})", 100, initial_indent=" " * 6, subsequent_indent=" " * 7))
    origin = "from the ticket" if entry.ticket else "random"
    print(f"  survey  {survey.digest}  (SHA-256 of the definition)")
    print(f"  id      {to_base64url(entry.id)}  ({origin})\n  bits    {to_base64url(entry.bits)}  (the lines above)")
    if entry.ticket:
        print(
            f"  ticket  {to_base64url(entry.ticket.prefix)} and its signature; the issuer signed it without seeing it"
        )
    print(f"  this costs ε = {round_up(entry.epsilon, 4)}")


def _read_answers(path: Path) -> dict[str, Any]:
    try:
        answers = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise AnswerError(str(path), f"cannot be read: {why}") from None
    if not isinstance(answers, dict):
        raise AnswerError(str(path), "must be one JSON object that maps question ids to answers")
    return answers


def _confirm(question: str) -> bool:
    return input(f"\n{question} [y/N] ").strip().lower() in ("y", "yes")


if __name__ == "__main__":
    sys.exit(main())
