"""The independent party's tool: every report once, nothing that marks one, an order that nobody knows."""

import io
import json
import secrets
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import chi2

from candor_client import Survey, randomize
from candor_client.report import Report
from survey_app.assure.shuffling import ShufflingError, permutation, shuffle
from survey_app.cli import main
from tests.definitions import encode, simple
from tests.golden_files import Golden

CHEATED = encode(simple())
SURVEY = Survey.from_json(CHEATED)
REPORTS = [randomize(SURVEY, {"cheated": place % 3 == 0}) for place in range(60)]
LINES = b"".join(report.to_json() + b"\n" for report in REPORTS)

FORGED = Report(SURVEY.digest, REPORTS[0].id, bytes([REPORTS[0].bits[0] ^ 0x80])).to_json()


def shuffled(lines: bytes, survey: Survey | None = None, *, renumber: bool = False) -> list[bytes]:
    target = io.BytesIO()
    shuffle(io.BytesIO(lines), target, survey, renumber=renumber)
    return target.getvalue().splitlines()


def test_every_report_comes_out_once_without_its_id_and_spelled_alike() -> None:
    spaced = b"\n".join(json.dumps(json.loads(line), indent=None).encode() for line in LINES.splitlines())
    for lines in (LINES, spaced, LINES + LINES[: LINES.index(b"\n") + 1]):  # the last: a report that was sent twice
        out = [json.loads(line) for line in shuffled(lines)]
        assert Counter(one["bits"] for one in out) == Counter(json.loads(one)["bits"] for one in LINES.splitlines())
        assert all(one.keys() == {"survey", "bits"} for one in out)
    head, *rest = shuffled(LINES, SURVEY)
    assert json.loads(head) == {"definition": json.loads(CHEATED), "digest": SURVEY.digest, "reports": 60}
    assert {frozenset(json.loads(line)) for line in rest} == {frozenset({"bits"})}
    assert len(shuffled(b"\n".join([head, *rest]))) == 61, "what came out can be shuffled again"


def test_new_ids_are_new() -> None:
    out = [json.loads(line) for line in shuffled(LINES, renumber=True)]
    old = {json.loads(line)["id"] for line in LINES.splitlines()}
    assert len({one["id"] for one in out} - old) == 60


def test_all_orders_are_equally_likely() -> None:
    """False alarm 1e-6: a chi-square over the 24 orders of four reports. It fails for a shuffle that has a bias."""

    def odd(orders: list[tuple[int, ...]]) -> bool:
        seen = Counter(orders)
        statistic = sum((seen[order] - 100) ** 2 / 100 for order in seen) + 100 * (24 - len(seen))
        return bool(chi2.sf(statistic, 23) < 1e-6)

    assert not odd([tuple(int(one) for one in permutation(4)) for _ in range(2400)])
    assert odd(
        [
            tuple(int(one) for one in permutation(4, lambda n: secrets.token_bytes(n - 16) + bytes(16)))
            for _ in range(2400)
        ]
    )


OTHER = b'{"survey":"' + b"0" * 64 + b'","id":"AAAAAAAAAAAAAAAAAAAAAA","bits":"gA"}\n'
FAULTS: dict[str, tuple[bytes, str, int | None]] = {
    "empty": (b"", "no_reports", None),
    "array": (b"[1]\n", "not_a_report", 1),
    "broken": (LINES + b"{\n", "not_json", 61),
    "no bits": (b'{"survey":"x"}\n', "not_a_report", 1),
    "number": (b'{"id":5,"bits":"gA"}\n', "not_a_report", 1),
    "null": (b'{"survey":null,"bits":"gA"}\n', "not_a_report", 1),
    "bad digest": (b'{"survey":"x\\",\\"who\\":\\"bob","bits":"gA"}\n', "bad_digest", 1),
    "no digest": (b'{"bits":"gA"}\n', "no_definition", 1),
    "other survey": (LINES + OTHER, "several_definitions", 61),
    "reused id": (LINES + FORGED, "reused_id", 61),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_no_report_is_named_by_its_line(name: str, golden: Golden) -> None:
    lines, code, line = FAULTS[name]
    with pytest.raises(ShufflingError) as caught:
        shuffle(io.BytesIO(lines), io.BytesIO())
    assert (caught.value.code, caught.value.line) == (code, line)
    golden(caught.value)


def test_bits_that_no_device_sends_are_refused() -> None:
    with pytest.raises(ShufflingError) as caught:
        shuffle(io.BytesIO(LINES + b'{"bits":"_w"}'), io.BytesIO(), SURVEY)
    assert (caught.value.code, caught.value.line) == ("impossible_bits", 61)


def test_the_command_writes_all_or_nothing_and_says_what_it_is_worth(tmp_path: Path, golden: Golden) -> None:
    source, target, definition = (tmp_path / name for name in ("in.ndjson", "out.ndjson", "definition.json"))
    source.write_bytes(LINES)
    definition.write_bytes(CHEATED)
    done = CliRunner().invoke(main, ["shuffle", str(source), str(target), "--definition", str(definition)])
    assert done.exit_code == 0, done.output
    golden(done.output)
    assert len(target.read_bytes().splitlines()) == 61
    again = CliRunner().invoke(main, ["shuffle", str(source), str(target)])
    assert again.exit_code == 1 and len(target.read_bytes().splitlines()) == 61
    source.write_bytes(LINES + b"rubbish")
    other = tmp_path / "other.ndjson"
    bad = CliRunner().invoke(main, ["shuffle", str(source), str(other)])
    assert bad.exit_code == 1 and not other.exists()
    golden(bad.output, "not a report")
