"""Receiving reports: whatever arrives, only possible bits are stored, each once, by checks in one order."""

import base64
import itertools
import json
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import candor_client
from candor_client import Report, Survey, randomize
from candor_client.definition import LARGEST_REPORT
from candor_client.report import to_base64url
from survey_app.collect.intake import Decoder
from survey_app.problems import Problem
from survey_app.store import State
from tests.answers import SMALL, all_answers
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    simple,
    subset,
    survey,
    worked_example,
    yes_no,
)
from tests.definitions import multiple as multiple_question
from tests.fixtures import (
    SAID,
    Installation,
    check_refused,
    check_stored,
    check_tally,
    encode_json,
    make,
    make_report,
    other_bits,
    stored_rows,
    wire,
)
from tests.request_bodies import EndlessBody, UnreadableBody
from tests.rsgi_client import CHUNK

KINDS = SMALL | {
    "worked": worked_example(),
    "many bytes": define([choice(options=100)], [field(subset(100, 50), "help")]),
}


# single reports


@pytest.mark.parametrize("name", KINDS)
def test_reports_of_every_mechanism_are_stored_once_and_tallied(installation: Installation, name: str) -> None:
    published = installation.publish(KINDS[name])
    reports = [candor_client.randomize(published.survey, one) for one in all_answers(KINDS[name])[:12]]
    for report in reports:
        check_stored(installation.post(report))
        check_stored(installation.post(report), again=True)
    assert check_tally(installation, published) == len(reports)
    assert stored_rows(installation, published) == sorted(report.bits for report in reports)


def test_other_bits_under_a_known_id_change_nothing(installation: Installation) -> None:
    published = installation.publish()
    report = make_report(published)
    check_stored(installation.post(report))
    check_refused(installation.post(other_bits(report)), "id_taken")
    assert stored_rows(installation, published) == [report.bits]
    assert check_tally(installation, published) == 1
    check_stored(installation.post(report), again=True)


def test_one_id_may_occur_in_two_surveys(installation: Installation) -> None:
    first, second = installation.publish(), installation.publish(simple() | {"slug": "second"})
    report = make_report(first)
    twin = Report(second.survey.digest, report.id, other_bits(report).bits)
    check_stored(installation.post(report))
    check_stored(installation.client.post("/api/surveys/second/reports", data=twin.to_json()))
    assert (check_tally(installation, first), check_tally(installation, second)) == (1, 1)


def test_neither_the_content_type_nor_the_order_of_keys_nor_spaces_matter(installation: Installation) -> None:
    published = installation.publish()
    report = make_report(published)
    check_stored(installation.post(report, content_type="text/plain"))
    keys = json.loads(report.to_json())
    for order in itertools.permutations(keys):
        check_stored(installation.post(json.dumps({key: keys[key] for key in order}, indent=3).encode()), again=True)


@pytest.mark.parametrize("plain", [b'"bits"', b'"id"', b'"survey"'])
def test_keys_written_with_escapes_are_refused(installation: Installation, plain: bytes) -> None:
    """The protocol has no escapes: one report has one spelling, but for white space; alone, in a batch, and in one whose
    other lines are plain."""
    published = installation.publish()
    report = make_report(published)
    escaped = report.to_json().replace(plain, plain[:1] + rb"\u%04x" % plain[1] + plain[2:])
    assert json.loads(escaped) == json.loads(report.to_json())
    check_refused(installation.post(escaped), "malformed_report")
    for others in ((), (make_report(published), make_report(published))):
        counts = installation.count(*others, escaped)
        assert (counts["stored"], counts["rejected"]) == (len(others), {"malformed_report": 1})
    check_stored(installation.post(report))


def test_a_report_is_on_disk_when_it_is_acknowledged(installation: Installation) -> None:
    published = installation.publish()
    for number_of_reports in range(1, 4):
        check_stored(installation.post(make_report(published)))
        assert check_tally(installation, published) == number_of_reports


def test_the_same_report_at_once_from_many_is_stored_once(installation: Installation) -> None:
    published = installation.publish()
    reports = [make_report(published) for _ in range(20)]

    def send(report: Report) -> int:
        try:
            return installation.post(report).status_code
        finally:
            installation.store.close()

    with ThreadPoolExecutor(8) as pool:
        statuses = Counter(pool.map(send, reports * 5))
    assert statuses == {201: 20, 200: 80}
    assert check_tally(installation, published) == 20


FAULTS = {
    "size": "too_large",
    "json": "malformed_report",
    "digest": "wrong_survey",
    "bits": "impossible_bits",
    "id": "id_taken",
    "state": "survey_closed",
}


@pytest.mark.parametrize(
    "faults", [pair for count in (1, 2, 6) for pair in itertools.combinations(FAULTS, count)], ids=" and ".join
)
def test_of_several_faults_the_first_in_the_order_of_checks_is_reported(
    installation: Installation, faults: tuple[str, ...]
) -> None:
    published = installation.publish()
    stored, report = make_report(published), make_report(published)
    check_stored(installation.post(stored))
    if "id" in faults:
        report = other_bits(stored)
    keys = {"survey": report.survey, "id": to_base64url(report.id), "bits": to_base64url(report.bits)}
    if "digest" in faults:
        keys["survey"] = "0" * 64
    if "bits" in faults:
        keys["bits"] = to_base64url(bytes([report.bits[0] | 1]))
    if "json" in faults:
        keys["more"] = ""
    body = encode_json(**keys) + (b" " * LARGEST_REPORT if "size" in faults else b"")
    if "state" in faults:
        installation.store.set_state(published, State.CLOSED)
    check_refused(installation.post(body), FAULTS[next(fault for fault in FAULTS if fault in faults)])
    assert stored_rows(installation, published) == [stored.bits]
    assert check_tally(installation, published) == 1


DASHES = Report("", b"\xfb\xff\xbf" * 5 + b"\xfb", b"")

DEEP = b"[" * (LARGEST_REPORT - 1000)

ODD_VALUES: list[Any] = [None, True, 0, 1.5, [], {}, ["x"], {"x": "y"}]


def respelled(report: Report, digits: bytes) -> str:
    return base64.b64encode(report.id, digits).decode().rstrip("=")


def loose_end(text: str) -> str:
    """Another spelling of the same bytes: the unused bits of the last letter are not zero."""
    assert text[-1] in "AQgw"
    return text[:-1] + chr(ord(text[-1]) + 1)


MALFORMED: dict[str, Callable[[Report], bytes]] = {
    "nothing": lambda report: b"",
    "bytes that are no UTF-8": lambda report: report.to_json().replace(b'"id":"', b'"id":"\xff'),
    "a space": lambda report: b" ",
    "a truncated object": lambda report: report.to_json()[:-1],
    "a list": lambda report: b"[" + report.to_json() + b"]",
    "a text": lambda report: json.dumps(report.to_json().decode()).encode(),
    "a number": lambda report: b"7",
    "null": lambda report: b"null",
    "two objects": lambda report: report.to_json() * 2,
    "two lines": lambda report: report.to_json() + b"\n" + report.to_json(),
    "something after the end": lambda report: report.to_json() + b"x",
    "a zero byte after the end": lambda report: report.to_json() + b"\0",
    "a trailing comma": lambda report: report.to_json()[:-1] + b",}",
    "a comment": lambda report: report.to_json()[:-1] + b"/**/}",
    "single quotes": lambda report: report.to_json().replace(b'"', b"'"),
    "a form": lambda report: b"survey=" + report.survey.encode(),
    "UTF-16": lambda report: report.to_json().decode().encode("utf-16"),
    "a byte order mark": lambda report: b"\xef\xbb\xbf" + report.to_json(),
    "NaN": lambda report: wire(report, id=float("nan")),
    "Infinity": lambda report: wire(report, bits=float("inf")),
    "a huge number": lambda report: wire(report, bits=10**400),
    "a lone surrogate": lambda report: wire(report, id="\ud800" + "A" * 21),
    "a lone surrogate as a key": lambda report: wire(report, **{"\udfff": ""}),
    "a letter beyond ASCII": lambda report: wire(report, id="é" + "A" * 21),
    "a digit beyond ASCII": lambda report: wire(report, id="٣" * 22),
    "a control character": lambda report: report.to_json().replace(b'"id":"', b'"id":"\n'),
    "an escaped quotation mark": lambda report: wire(report, id='"' * 22),
    "a zero byte in the id": lambda report: wire(report, id="\0" * 22),
    "deep nesting": lambda report: DEEP,
    "deep nesting as a value": lambda report: b'{"id":' + DEEP,
    "deep nesting under an unknown key": lambda report: b'{"x":' + DEEP,
    "deep and complete nesting": lambda report: b'{"x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "the id twice": lambda report: report.to_json()[:-1] + b',"id":"' + to_base64url(report.id).encode() + b'"}',
    "two ids": lambda report: b'{"id":"' + b"A" * 22 + b'",' + report.to_json()[1:],
    "the bits twice": lambda report: report.to_json()[:-1] + b',"bits":"' + to_base64url(report.bits).encode() + b'"}',
    "the survey twice, once escaped": lambda report: rb'{"\u0073urvey":"",' + report.to_json()[1:],
    "an unknown key": lambda report: wire(report, time="now"),
    "an unknown key without a name": lambda report: wire(report, **{"": ""}),
    "a key in capitals": lambda report: report.to_json().replace(b'"id"', b'"ID"'),
    "padding after the id": lambda report: wire(report, id=to_base64url(report.id) + "=="),
    "padding after the bits": lambda report: wire(report, bits=to_base64url(report.bits) + "=="),
    "plus and slash": lambda report: wire(report, id=respelled(DASHES, b"+/")),
    "a loose end of the id": lambda report: wire(report, id=loose_end(to_base64url(report.id))),
    "a loose end of the bits": lambda report: wire(report, bits=loose_end(to_base64url(report.bits))),
    "a space around the id": lambda report: wire(report, id=to_base64url(report.id) + " "),
    "a line break in the id": lambda report: wire(
        report, id=to_base64url(report.id)[:11] + "\n" + to_base64url(report.id)[11:]
    ),
    "an impossible number of letters": lambda report: wire(report, bits="AAAAA"),
    "an empty id": lambda report: wire(report, id=""),
    "an id of 15 bytes": lambda report: wire(report, id=to_base64url(bytes(15))),
    "an id of 17 bytes": lambda report: wire(report, id=to_base64url(bytes(17))),
    "an id in hexadecimal": lambda report: wire(report, id=report.id.hex()),
    **{
        f"no {key}": lambda report, key=key: encode_json(  # type: ignore[misc]
            **{name: value for name, value in json.loads(report.to_json()).items() if name != key}
        )
        for key in ("survey", "id", "bits")
    },
    **{
        f"{json.dumps(value)} as {key}": lambda report, key=key, value=value: wire(report, **{key: value})  # type: ignore[misc]
        for key in ("survey", "id", "bits")
        for value in ODD_VALUES
    },
}


def test_what_is_not_a_report_is_malformed(installation: Installation) -> None:
    published = installation.publish()
    for name, spell in MALFORMED.items():
        response = installation.post(spell(make_report(published)))
        assert json.loads(response.data)["code"] == "malformed_report", name
        check_refused(response, "malformed_report")
    assert check_tally(installation, published) == 0
    check_stored(installation.post(wire(make_report(published), id=respelled(DASHES, b"-_"))))


@pytest.mark.parametrize("digest", ["", "0" * 64, "x", "~", "{}"])
def test_a_digest_other_than_the_current_one_is_the_wrong_survey(installation: Installation, digest: str) -> None:
    published = installation.publish()
    report = make_report(published)
    check_refused(installation.post(wire(report, survey=digest)), "wrong_survey")
    check_refused(installation.post(wire(report, survey=report.survey.upper())), "wrong_survey")
    assert published.survey.digest.encode() in installation.post(wire(report, survey=digest)).data


ASKED = define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(subset(2, 1), "b")], ask=1)

PICKED = define([multiple_question()], [field(drawn(3, 2), "used")])

IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    (simple(), ""),
    (simple(), "00000001"),
    (simple(), "10000001"),
    (simple(), "11000000"),
    (simple(), "0000000000000000"),
    (define([choice()], [field(subset(3, 1), "help")]), "00000000"),
    (define([choice()], [field(subset(3, 1), "help")]), "11000000"),
    (define([choice(options=5)], [field(subset(5, 2), "help")]), "10000000"),
    (define([choice(options=5)], [field(subset(5, 2), "help")]), "11100000"),
    (PICKED, "00000000"),
    (PICKED, "10000000"),
    (PICKED, "11000000"),
    (PICKED, "11100000"),
    (PICKED, "10101000"),
    (ASKED, "00000000"),  # asks nothing
    (ASKED, "10110000"),  # asks both
    (ASKED, "01110000"),  # a bit in a field that is not asked
    (ASKED, "10010000"),
    (ASKED, "00100000"),  # asks the second, which has exactly one of two
    (ASKED, "00111000"),
    (worked_example(), "00000000"),
    (worked_example(), "01111010"),
    (worked_example(), "01000000"),
    (worked_example(), "01000110"),
    (worked_example(), "01000101"),
]


@pytest.mark.parametrize(("definition", "bits"), IMPOSSIBLE)
def test_bits_that_no_device_could_have_sent_are_refused(
    installation: Installation, definition: dict[str, Any], bits: str
) -> None:
    published = installation.publish(definition)
    packed = int(bits or "0", 2).to_bytes(len(bits) // 8, "big")
    report = Report(published.survey.digest, secrets.token_bytes(16), packed)
    check_refused(installation.post(report), "impossible_bits")
    assert check_tally(installation, published) == 0


@pytest.mark.parametrize("name", [name for name in KINDS if survey(KINDS[name]).length == 1])
def test_a_byte_is_stored_if_and_only_if_some_device_could_have_sent_it(installation: Installation, name: str) -> None:
    published = installation.publish(KINDS[name])
    rows = {bytes([byte]): secrets.token_bytes(16) for byte in range(256)}
    counts = installation.count(*(Report(published.survey.digest, identity, bits) for bits, identity in rows.items()))
    possible = set(possible_rows(published.survey))
    assert counts["stored"] == len(possible)
    assert counts["rejected"] == ({"impossible_bits": 256 - len(possible)} if len(possible) < 256 else {})
    assert set(stored_rows(installation, published)) == possible
    check_tally(installation, published)


def possible_rows(parsed: Survey) -> Iterator[bytes]:
    """Every row that keeps the rules of the wire, written out from its words."""
    for byte in range(256):
        row, padding = f"{byte:08b}"[: parsed.width], f"{byte:08b}"[parsed.width :]
        asked, fine = 0, "1" not in padding
        for one in parsed.fields:
            bit, row = (row[0], row[1:]) if parsed.ask else ("1", row)
            part, row = row[: one.mechanism.width], row[one.mechanism.width :]
            asked += bit == "1"
            fine = fine and (follows_the_rules(one.mechanism, part) if bit == "1" else "1" not in part)
        if fine and asked == (1 if parsed.ask else len(parsed.fields)):
            yield bytes([byte])


def follows_the_rules(mechanism: Any, part: str) -> bool:
    kind = type(mechanism).__name__
    if kind == "Subset":
        return bool(part.count("1") == mechanism.weight)
    if kind == "Drawn":
        pairs = re.findall("..", part)
        return "11" not in pairs and len(pairs) - pairs.count("00") == mechanism.draw
    return kind == "Flip" or part.count("1") == 1


@pytest.mark.parametrize("length", [LARGEST_REPORT + 1, 10**9, 10**18])
def test_a_body_that_says_it_is_too_large_is_not_even_read(installation: Installation, length: int) -> None:
    installation.publish()
    said = {"CONTENT_LENGTH": str(length), "wsgi.input": UnreadableBody()}
    check_refused(installation.post(b"", environ_overrides=said), "too_large")


def test_a_body_of_unknown_length_is_read_only_as_far_as_a_report_can_go(installation: Installation) -> None:
    published = installation.publish()
    chunked = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    check_stored(installation.post(make_report(published), environ_overrides=chunked))
    endless = EndlessBody()
    check_refused(installation.post(b"", environ_overrides=chunked | {"wsgi.input": endless}), "too_large")
    assert endless.bytes_read <= LARGEST_REPORT + CHUNK


def test_the_largest_body_is_still_read(installation: Installation) -> None:
    report = make_report(installation.publish())
    check_stored(installation.post(report.to_json().ljust(LARGEST_REPORT)))
    check_refused(installation.post(report.to_json().ljust(LARGEST_REPORT + 1)), "too_large")


@pytest.mark.parametrize("length", ["many", "1e3", "0x10", "5, 5", "5 5", "9" * 5000, "½", "-5", "+5", "1_0", "٣"])
def test_a_length_that_is_no_number_is_a_malformed_request(installation: Installation, length: str) -> None:
    report = make_report(installation.publish())
    said = {"CONTENT_LENGTH": length, "wsgi.input": UnreadableBody()}
    check_refused(installation.post(report, environ_overrides=said), "malformed_request")


def test_a_length_that_is_too_short_cuts_the_report_off(installation: Installation) -> None:
    report = make_report(installation.publish())
    check_refused(installation.post(report, environ_overrides={"CONTENT_LENGTH": "20"}), "malformed_report")
    check_refused(installation.post(report, environ_overrides={"CONTENT_LENGTH": "0"}), "malformed_report")


@pytest.mark.parametrize("slug", ["nothing", "x" * 63, "EXAM", "x" * 64, "..", "%00", "exam%0a", "%ff"])
def test_a_report_to_no_survey_finds_nothing(installation: Installation, slug: str) -> None:
    report = make_report(installation.publish())
    check_refused(installation.client.post(f"/api/surveys/{slug}/reports", data=report.to_json()), "not_found")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_reports_can_only_be_posted(installation: Installation, method: str) -> None:
    report = make_report(installation.publish())
    response = installation.client.open("/api/surveys/exam/reports", method=method, data=report.to_json())
    assert response.status_code == 405
    if method != "HEAD":
        check_refused(response, "method_not_allowed")


def test_the_decoder_remembers_only_what_it_has_validated(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    decoder = Decoder(published.survey, published.key)
    report = randomize(published.survey, SAID)
    wire = json.loads(report.to_json())
    for _ in range(2):
        assert decoder.decode(report.to_json()).bits == report.bits
        with pytest.raises(Problem) as problem:
            decoder.decode(json.dumps(wire | {"survey": "0" * 64}).encode())
        assert problem.value.code == "wrong_survey"
    store.close()
