"""The respondent's command line: `python -m client URL`, also `candor respond URL` and `candor ledger …`.

It asks the questions, shows what each answer becomes, and sends only after a yes. The report is written to the ledger
before it is shown, so that looking at the noise is no way to have it drawn again.
"""

import argparse
import io
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from client import words
from client.answer import encode, index_of, shown, unanswered
from client.definition import Field, Survey
from client.errors import AnswerError, CandorError, LedgerError, LimitExceeded
from client.ledger import Book, Entry, Ledger
from client.mechanism import Subset, round_up
from client.question import Question, labels_of
from client.report import to_text, unpack
from client.respond import DEFAULT_LIMIT, Address, Receipt, check_invitation, fetch, submit
from client.verify import check_limit, verify

FILTER = "asked only to know what comes next; not sent"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0 if it did what it says, 1 if not, 2 if it was called wrongly."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ε still gets all the rest
    try:
        if arguments[:1] == ["ledger"]:
            return _ledger(arguments[1:])
        return _respond(arguments)
    except CandorError as error:
        print(f"candor: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\ncandor: stopped; nothing more was sent", file=sys.stderr)
        return 1


def _respond(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="candor respond", description="Answer a survey; every answer is randomized on this device first."
    )
    parser.add_argument("url", help="the survey's link, …/s/<slug>; #sha256=… pins its definition")
    parser.add_argument("--limit", default=str(DEFAULT_LIMIT), help="the most ε to spend (default %(default)s)")
    parser.add_argument("--ledger", type=Path, help="the ledger's file, if not the usual one")
    parser.add_argument("--code", help="an invitation code, if the link has none")
    parser.add_argument("--answers", type=Path, help="a JSON file of answers instead of questions")
    parser.add_argument("--yes", action="store_true", help="send without asking; for use with --answers")
    parser.add_argument("--receipt", type=Path, help="save the receipt to this file")
    given = parser.parse_args(arguments)
    try:
        check_limit(Decimal(0), given.limit)
    except (ValueError, LimitExceeded):
        parser.error(f"--limit: {given.limit!r} is not a number such as 2.5")
    if given.code:
        check_invitation(given.code)
    origin = Address.parse(given.url).origin
    survey = fetch(given.url)
    verify(survey, given.limit)
    ledger = Ledger(given.ledger)
    book = ledger.open()
    _introduce(survey, book)
    answers = dict[str, Any]()
    if survey.digest not in book.entries:
        asked = book.asked(survey)
        _promise(survey, asked, book.spent(survey.slug))
        answers = _read_answers(given.answers) if given.answers else _interview(survey, asked)
        if not (given.yes or _agree("Randomize these answers now? It spends the ε above, once and for all.")):
            print("Nothing was randomized, spent or sent.")
            return 1
    entry, made = ledger.make(survey, answers, limit=given.limit, origin=origin)
    if not made:
        print("\nThis device has already made its report to this survey; it can only send the same one again.")
    _show(survey, entry, answers if made else None)
    if not (given.yes or _agree("Send this? It cannot be withdrawn: nothing in it says that it is yours.")):
        print("Not sent. Run the same command again to send this same report.")
        return 1
    status = submit(given.url, entry.report, given.code)
    with suppress(LedgerError):  # only a mark for display
        ledger.mark_stored(survey.digest)
    receipt = Receipt(survey.digest, entry.report.id, entry.report.bits, status, entry.epsilon, repeated=not made)
    print(f"\nThe server has it ({status}). Your receipt:\n{receipt.to_json().decode()}")
    if given.receipt:
        try:
            given.receipt.write_bytes(receipt.to_json() + b"\n")
        except OSError as error:
            print(f"candor: cannot write {given.receipt}: {error.strerror}; copy it from above", file=sys.stderr)
    return 0


def _ledger(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="candor ledger", description="What this device has answered and spent.")
    parser.add_argument("action", choices=["show", "forget"])
    parser.add_argument("--ledger", type=Path, help="the ledger's file, if not the usual one")
    parser.add_argument("--yes", action="store_true", help="forget without asking")
    given = parser.parse_args(arguments)
    ledger = Ledger(given.ledger)
    if given.action == "show":
        book = ledger.read()
        print(ledger.path if book else f"{ledger.path}: no ledger yet, nothing spent")
        for digest, entry in book.entries.items() if book else ():
            state = "stored" if entry.stored else "made, not yet acknowledged"
            print(f"{entry.slug}  ε {round_up(entry.epsilon, 4)}  {state}  {digest}")
        if book and book.entries:
            print(f"ε {round_up(book.spent(), 4)} in all")
            print("Keep this file as private as your answers: whoever copies it can often work them out.")
        return 0
    question = f"Forget {ledger.path}? A survey answered again after that could learn more than its ε."
    if given.yes or _agree(question):
        ledger.forget()
        print("Forgotten.")
        return 0
    return 1


def _introduce(survey: Survey, book: Book) -> None:
    print(f"{survey.title}\n{'=' * len(survey.title)}")
    for text in (survey.description, survey.consent, survey.contact and f"Contact: {survey.contact}"):
        for paragraph in text.split("\u2029") if text else ():
            print(textwrap.fill(paragraph, 100))
    print(f"\ndefinition  {survey.digest}\nspends      ε = {round_up(verify(survey), 4)} at the most")
    if spent := book.spent(survey.slug):
        print(f"            on top of {round_up(spent, 4)} for earlier versions; the same answers cost nothing again,")
        print("            but a changed answer is a new draw, and that it changed may show")


def _promise(survey: Survey, asked: int | None, spent: Decimal) -> None:
    """Before the first question: which questions these are, and what becomes of the answers."""
    if asked is not None:
        print(f"\n{_chosen(survey, asked)}.")
    rolls = "Before anything leaves, this device rolls dice"
    one = survey.fields[asked or 0] if asked is not None or len(survey.fields) == 1 else None
    print(textwrap.fill(f"{rolls}: {words.explain(one)}." if one else f"{rolls}; each question tells how.", 100))
    cases, people = words.of_hundred(words.SUSPICION, verify(survey) + spent)
    after = "be as good as certain" if cases == people else f"think it at most about {cases:,} in {people:,}"
    thought = f"someone who thought the chance was {100 // words.SUSPICION} in 100 that something is true of you"
    print(textwrap.fill(f"What is sent can be a hint: {thought} could then {after}.", 100))


def _chosen(survey: Survey, asked: int) -> str:
    return f"{len(survey.fields[asked].questions)} of {len(survey.questions)} questions, chosen by this device"


def _interview(survey: Survey, asked: int | None) -> dict[str, Any]:
    needed = survey.ids if asked is None else survey.needed(asked)
    sent = survey.fields if asked is None else [survey.fields[asked]]
    untold = list(sent) if len(sent) > 1 else []  # of one field alone all was told before
    answers: dict[str, Any] = {}
    picked: dict[str, set[str]] = {}
    for question in survey.questions:
        picked[question.id] = set()
        if question.id in needed and shown(question, picked):
            field = next((field for field in sent if question in field.questions), None)
            answer = _ask(question, _note(field, untold))
            answers[question.id] = answer
            index = unanswered(question) if answer is None else index_of(question, answer)
            picked[question.id] = labels_of(question, index)
    return answers


def _note(field: Field | None, untold: list[Field]) -> str:
    """What is said beside a question: that it is a filter, or what becomes of the answer, once for each field."""
    if field is None:
        return f"{FILTER}; what is sent can hint at it, and the same dice protect it"
    if field not in untold:
        return ""
    untold.remove(field)
    together = f"together with {', '.join(question.id for question in field.questions[1:])}: " if field.joint else ""
    return together + words.explain(field)


def _ask(question: Question, note: str) -> Any:
    print(f"\n{textwrap.fill(question.text, 100)}")
    if note:
        print(textwrap.fill(f"({note})", 100, initial_indent="  ", subsequent_indent="   "))
    if question.type == "number":
        ends = f"from {question.min:f} to {question.max:f} {question.unit}".rstrip()
        hint = f"a number {ends}, in steps of {question.step:f}"
    elif question.type == "yes_no":
        hint = "yes or no"
    else:
        for i, label in enumerate(question.labels, 1):
            print(f"  {i}. {label}")
        hint = "numbers, separated by spaces; 0 for none" if question.type == "multiple" else "a number"
    hint += "; just Enter for no answer" if question.optional else ""
    while True:
        said = input(f"  ({hint}) > ").strip()
        if not said and question.optional:
            return None
        try:
            answer = _understand(question, said)
            index_of(question, answer)
            return answer
        except AnswerError as error:
            print(f"  {error}")


def _understand(question: Question, said: str) -> Any:
    """What was typed, as an answer: positions become labels."""
    if question.type == "yes_no":
        return {"y": "yes", "n": "no"}.get(said.lower(), said.lower())
    if question.type == "number":
        return said
    try:
        places = [int(word) for word in said.replace(",", " ").split()]
        labels = [question.labels[place - 1] for place in places if place > 0]
    except (ValueError, IndexError):
        raise AnswerError(question.id, f"type numbers from 1 to {len(question.labels)}") from None
    if question.type == "multiple" and places:
        return labels
    if len(places) != 1 or not labels:
        raise AnswerError(question.id, f"type one number from 1 to {len(question.labels)}")
    return labels[0]


def _show(survey: Survey, entry: Entry, answers: Mapping[str, Any] | None) -> None:
    """What the bits say, beside what the person said, if that is known; the ledger does not know it."""
    sent = unpack(survey, entry.report.bits)
    asked = next(position for position, bits in enumerate(sent) if bits is not None) if survey.ask else None
    indices = None if answers is None else encode(survey, answers, asked)
    print("\nWhat will be sent, and nothing else:")
    if asked is not None:
        print(f"  {_chosen(survey, asked)}")
    for field, bits in zip(survey.fields, sent, strict=True):
        if bits is None:
            filters = asked is not None and {question.id for question in field.questions} & survey.needed(asked)
            told = FILTER if filters else "not asked on this device"
            print(f"  {' + '.join(question.id for question in field.questions)}: {told}")
            continue
        for part, told in _apart(field, bits):
            names = " + ".join(question.id for question in part.questions)
            said = "" if indices is None else f"you: {words.said(part, indices)}  →  "
            print(f"  {names}\n      {said}sent: {told}")
        print(textwrap.fill(f"({words.explain(field)})", 100, initial_indent=" " * 6, subsequent_indent=" " * 7))
    print(f"  id    {to_text(entry.report.id)}  (random)\n  bits  {to_text(entry.report.bits)}")
    print(f"  this costs ε = {round_up(entry.epsilon, 4)}")


def _apart(field: Field, bits: int) -> list[tuple[Field, str]]:
    """What is sent, question by question where it is one combination of answers, else in one piece."""
    mechanism = field.mechanism
    if not (field.joint and isinstance(mechanism, Subset) and mechanism.weight == 1):
        return [(field, words.describe(field, bits))]
    digits = field.cells[mechanism.width - bits.bit_length()]
    pairs = zip(field.questions, digits, strict=True)
    return [(replace(field, questions=(one,)), words.digit_label(one, digit)) for one, digit in pairs]


def _read_answers(path: Path) -> dict[str, Any]:
    try:
        answers = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise AnswerError(str(path), f"cannot be read: {error}") from None
    if not isinstance(answers, dict):
        raise AnswerError(str(path), "must be one JSON object: question ids and answers")
    return answers


def _agree(question: str) -> bool:
    return input(f"\n{question} [y/N] ").strip().lower() in ("y", "yes")


if __name__ == "__main__":
    sys.exit(main())
