"""One answer, step by step, in docs/architecture.md: every function exists, and every sample is what it returns."""

import importlib
import inspect
import itertools
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import candor_client
from candor_client.answer import encode, symbol_of
from candor_client.mechanisms import round_up
from candor_client.report import unpack
from candor_client.sampling import RandomBytes
from candor_client.verify import verify
from survey_app import create_app
from survey_app.authoring import build_file
from survey_app.authoring.yaml_source import parse_source
from survey_app.collect.intake import Decoder
from survey_app.estimate.intervals import Options
from survey_app.estimate.question_estimates import evidence_of, question_estimates
from survey_app.store import State, Submission, open_store
from survey_app.tally import columns
from tests.fixtures import add as publish
from tests.rsgi_client import RsgiClient
from tests.tree import parse

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
ANSWERS = {"cheated": True, "help": "notes", "hours": 12}
PEOPLE, COPIED = 400, 80  # in all, and of them those who copied


class Step(NamedTuple):
    """A step of the page."""

    name: str  # module and function
    file: str
    sample: str


def steps() -> list[Step]:
    section = PAGE.read_text().split("## One answer, step by step")[1].split("\n## ")[0]
    matches = re.findall(r"^(\d+)\. (?:.*\n)+? +`([\w.]+)` in `([\w/.]+)`\n\n((?: {7,}.*\n)+)", section, re.MULTILINE)
    assert [int(number) for number, *_ in matches] == list(range(1, len(matches) + 1))
    return [Step(name, file, inspect.cleandoc(sample)) for _, name, file, sample in matches]


def function_of(name: str) -> tuple[Any, Any]:
    """The module of a dotted name, and what it names there."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        found: Any = module
        for part in parts[length:]:
            found = getattr(found, part)
        return module, found
    raise LookupError(name)


@pytest.mark.parametrize("step", steps(), ids=lambda step: step.name)
def test_every_step_is_a_function_in_its_file(step: Step) -> None:
    module, function = function_of(step.name)
    assert callable(function)
    assert Path(module.__file__) == ROOT / step.file
    assert inspect.unwrap(function).__module__ == module.__name__


def package_of(name: str) -> str:
    return name.removeprefix("survey_app.").partition(".")[0]


def test_the_steps_are_told_in_the_order_of_the_packages() -> None:
    packages = [name for name, _ in itertools.groupby(package_of(step.name) for step in steps())]
    path = ["authoring", "candor_client", "web", "collect", "store", "tally", "estimate", "results", "web"]
    assert packages == path


def stream(seed: str) -> RandomBytes:
    """Bytes that are the same whenever this page is made; a device takes its operating system's."""
    blocks = (sha256(f"{seed} {count}".encode()).digest() for count in itertools.count())
    flow = itertools.chain.from_iterable(blocks)
    return lambda count: bytes(itertools.islice(flow, count))


def others(survey: candor_client.Survey) -> Iterator[candor_client.Report]:
    for person in range(1, PEOPLE):
        answers = {"cheated": person < COPIED, "help": None, "hours": 20}
        yield candor_client.randomize(survey, answers, random_bytes=stream(f"person {person}"))


def samples(folder: Path) -> dict[str, str]:
    """What the code makes of the answer at each step."""
    file = ROOT / "examples" / "exam.yaml"
    built = build_file(file)
    survey = built.survey
    node = parse_source(file.read_bytes()).mapping(("questions",), ("slug", "title"))["questions"].items()[0]
    definition = json.loads(survey.source)
    indices = encode(survey, ANSWERS)
    field = survey.fields[0]
    report = candor_client.randomize(survey, ANSWERS, random_bytes=stream("walk"))
    wire = report.to_json()

    store = open_store(f"sqlite:///{folder / 'candor.db'}")
    app = create_app({"RATE_LIMIT": "off"}, store)
    app.test_client_class = RsgiClient
    published = publish(store, survey, owner=store.add_user("ada", "a long password").key)
    site = app.test_client()
    reply = site.post(path := "/api/surveys/exam/reports", data=wire)
    store.write(lambda: [Submission(published.key, one.id, one.bits) for one in others(survey)])
    store.set_state(published, State.CLOSED)  # which twenty would be pending is drawn
    with closing(sqlite3.connect(folder / "candor.db")) as kept:
        row = kept.execute("select survey, hex(id), hex(bits) from reports where id = ?", (report.id,)).fetchone()

    decoded = Decoder(survey, published.key).decode(wire)
    tally = store.snapshot(published)
    place = next(columns(survey))
    known = next(evidence_of(survey, tally))
    yes = question_estimates(known, survey.questions[0], Options())[1]
    line = site.get("/api/surveys/exam/results").get_json()["questions"][0]["estimates"][1]
    shown = ("option", "kind", "n", "estimate", "low", "high", "unbiased", "reported")
    rounded = {key: round(line[key], 4) if isinstance(line[key], float) else line[key] for key in shown}
    asked = {"questions": [definition["questions"][0]], "fields": [definition["fields"][0]]}
    return {
        "survey_app.authoring.yaml_source.parse_source": _line_of(file, node.line),
        "survey_app.authoring.build": json.dumps(asked, separators=(",", ":"))[1:-1].replace(',"fields"', '\n"fields"'),
        "candor_client.verify.verify": f"ε = {round_up(verify(survey, limit=4))}",
        "candor_client.answer.encode": json.dumps(indices),
        "candor_client.answer.symbol_of": str(symbol_of(field, [indices["cheated"]], stream("unused"))),
        "candor_client.mechanisms.flip.Flip.randomize": str(unpack(survey, report.bits)[0]),
        "candor_client.report.Report.to_json": wire.decode().replace(survey.digest, survey.digest[:8] + "…"),
        "survey_app.web.rsgi.RsgiAdapter.__rsgi__": f"POST {path}, {len(wire)} bytes",
        "survey_app.collect.intake.Decoder.decode": f"survey {decoded.survey}, id {decoded.id.hex()}, bits {decoded.bits.hex()}",
        "survey_app.collect.writer.Writer.submit": f"{reply.status_code} {reply.text}",
        "survey_app.store.sqlite.reports.Reports.write": " | ".join(str(part).lower() for part in row),
        "survey_app.store.sql.report_queries.ReportReader.snapshot": f"{tally.reports} reports, ones in each bit {tally.counts.tolist()}",
        "survey_app.tally.columns": f"cheated: bit {place.start} up to {place.stop}",
        "survey_app.estimate.question_estimates.evidence_of": f"{int(known.counts[0])} ones of {known.n}",
        "survey_app.estimate.question_estimates.question_estimates": f"unbiased {yes.unbiased:.4f}, from {yes.interval.low:.4f} to {yes.interval.high:.4f}, {yes.interval.coverage}",
        "survey_app.results.survey_document.results": json.dumps(rounded, separators=(",", ":")),
        "survey_app.web.results.results_page.page": _row(site.get("/results/exam").text),
    }


def _line_of(file: Path, line: int | None) -> str:
    assert line
    return file.read_text().splitlines()[line - 1].strip()


def _row(page: str) -> str:
    """The line about a yes, as it can be read on the page."""
    section = parse(page).one("section", id="q-cheated")
    return next(row.text for row in section.all("tr") if row.text.startswith("yes "))


def test_every_sample_of_the_walk_is_what_the_code_makes(tmp_path: Path) -> None:
    made = samples(tmp_path)
    assert {step.name: step.sample for step in steps()} == made
