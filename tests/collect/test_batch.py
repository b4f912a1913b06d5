"""Many reports at once: what became of each line, and who may send them."""

from pathlib import Path

import pytest

from candor_client import Report, randomize
from candor_client.definition import LARGEST_REPORT
from survey_app.collect.batch import LARGEST_BATCH, LISTED_LINES, read_batch
from survey_app.collect.intake import Decoder
from survey_app.problems import Problem
from survey_app.store import State
from tests.fixtures import (
    SAID,
    TOKEN,
    Installation,
    check_refused,
    check_store,
    check_stored,
    check_tally,
    make,
    make_report,
    other_bits,
    wire,
)
from tests.request_bodies import UnreadableBody


def test_a_batch_counts_what_became_of_its_lines(installation: Installation) -> None:
    published = installation.publish()
    known, fresh = make_report(published), make_report(published)
    check_stored(installation.post(known))
    lines: list[bytes | Report] = [
        known,
        fresh,
        b"",
        fresh,
        other_bits(known),
        b"nonsense",
        b"  \t\r",
        wire(make_report(published), survey="0" * 64),
        wire(make_report(published), bits="_w"),
        make_report(published).to_json() + b"\r",
        b"{}",
        b" " + make_report(published).to_json(),
        make_report(published).to_json().replace(b",", b" " * LARGEST_REPORT + b","),
        b"",
    ]
    counts = installation.count(*lines)
    rejected = {"id_taken": 1, "malformed_report": 2, "wrong_survey": 1, "impossible_bits": 1, "too_large": 1}
    assert counts["rejected"] == rejected
    assert sorted(counts["rejected_lines"]) == [5, 6, 8, 9, 11, 13]
    assert (counts["stored"], counts["already_stored"]) == (3, 2)
    assert list(counts) == ["already_stored", "rejected", "rejected_lines", "stored"]
    assert check_tally(installation, published) == 4


def test_a_batch_sent_again_changes_nothing(installation: Installation) -> None:
    published = installation.publish()
    reports = [make_report(published) for _ in range(1000)]
    first, second = installation.count(*reports), installation.count(*reports)
    assert (first["stored"], first["already_stored"], first["rejected"]) == (1000, 0, {})
    assert (second["stored"], second["already_stored"], second["rejected"]) == (0, 1000, {})
    check_stored(installation.post(reports[500]), again=True)
    assert check_tally(installation, published) == 1000


def test_a_batch_is_stored_in_several_steps_without_a_loss(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("survey_app.collect.writer.MOST_AT_ONCE", 1)
    published = installation.publish()
    reports = [make_report(published) for _ in range(50)]
    assert installation.count(*reports, *reports)["stored"] == 50
    assert check_tally(installation, published) == 50


def test_a_batch_lists_only_the_first_rejected_lines(installation: Installation) -> None:
    installation.publish()
    counts = installation.count(*[b"x"] * (LISTED_LINES + 50))
    assert counts["rejected"] == {"malformed_report": LISTED_LINES + 50}
    assert counts["rejected_lines"] == list(range(1, LISTED_LINES + 1))


@pytest.mark.parametrize("body", [b"", b"\n", b"\n\n \r\n"])
def test_an_empty_batch_stores_nothing(installation: Installation, body: bytes) -> None:
    installation.publish()
    assert installation.count(body) == {"stored": 0, "already_stored": 0, "rejected": {}, "rejected_lines": []}


def test_a_survey_by_invitation_takes_no_batches(installation: Installation) -> None:
    published = installation.invite()
    check_refused(installation.batch(make_report(published)), "forbidden")
    assert check_tally(installation, published) == 0


def test_a_batch_to_a_survey_that_is_closed_is_rejected_line_by_line(installation: Installation) -> None:
    published = installation.publish()
    report = make_report(published)
    assert installation.count(report)["stored"] == 1
    installation.store.set_state(published, State.CLOSED)
    counts = installation.count(report, make_report(published))
    assert counts == {"stored": 0, "already_stored": 1, "rejected": {"survey_closed": 1}, "rejected_lines": [2]}


def test_a_batch_that_says_it_is_too_large_is_not_even_read(installation: Installation) -> None:
    installation.publish()
    said = {"CONTENT_LENGTH": str(LARGEST_BATCH + 1), "wsgi.input": UnreadableBody()}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    response = installation.client.post("/api/surveys/exam/reports/batch", headers=headers, environ_overrides=said)
    check_refused(response, "too_large")


def test_a_batch_with_repeats_stores_each_report_once(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    made = [randomize(published.survey, SAID) for _ in range(30)]
    body = b"\n".join(report.to_json() for report in [*made, made[3], made[7]])
    assert read_batch(store, "exam", body)["stored"] == 30
    again = read_batch(store, "exam", body)
    assert (again["stored"], again["already_stored"]) == (0, 32)
    assert check_store(store, published) == 30


SPELLINGS = [
    (b'"id":"', b'"id": "'),
    (b'"id":"', b'"id":"A'),
    (b'","bits"', b'","bits"'.upper()),
    (b'"}', b'"} '),
    (b'"}', b'","more":1}'),
    (b'{"survey"', b'{"bits":"","survey"'),
    (b'"survey":"', b'"survey":"0'),
    (b'"bits":"', b'"bits":"\xc3\xa9'),
    (b'"}', b'"}\r'),
    (b'"bits":"', b'"bits":"_'),
]


def test_lines_that_are_read_together_are_read_as_each_alone(installation: Installation) -> None:
    """Whatever is damaged in one of many lines, and in whichever digit of its id or bits: nothing else gets through."""
    published = installation.publish()
    decoder = Decoder(published.survey, published.key)
    good = [make_report(published).to_json() for _ in range(3)]
    assert decoder.decode_plain(good) == [decoder.decode(line) for line in good]
    at, bits = good[1].index(b'"id":"') + 6, good[1].index(b'"bits":"') + 8
    digits = [(place, digit) for place in (at, at + 21, bits, bits + 1) for digit in (*b'AQgwBPx09-_+/= \n\\"', 0)]
    damaged = [good[1][:place] + bytes([digit]) + good[1][place + 1 :] for place, digit in digits]
    damaged += [good[1].replace(*change) for change in SPELLINGS]
    outcomes = set()
    for line in damaged:
        together = decoder.decode_plain([good[0], line, good[2]])
        try:
            alone = decoder.decode(line)
        except Problem:
            alone = None
        assert together is None or (alone is not None and together[1] == alone), line
        outcomes.add((together is not None, alone is not None))
    assert outcomes == {(True, True), (False, False), (False, True)}
