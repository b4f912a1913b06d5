"""Capture what Candor writes, to compare two commits: `python -m tests.capture OUT`, then `--compare A B`.

A restructuring moves and renames code, and OUT must stay the same. Captured are 300 random author's files
(tests/author_files.py), 200 random definitions (tests/random_definitions.py) and the examples, with 0, 1, 2, 39 and 2,000 reports, some
of them extreme; and of each every page, file, plan, codebook, dossier and export, and what commands print. Also the help
of every command, and OpenAPI.

OUT is a tree of text files, the same whenever it is written by the same commit. Numbers have 12 significant digits
(tests/capture_text.py). The clock stands still and keys of tickets are made up (tests/product.py). Randomness is a tape
that begins anew with each request and command; the version, the folder, the port and CSRF tokens are masked
(tests/capture_case.py).
"""

import argparse
import hashlib
import io
import itertools
import json
import logging
import multiprocessing
import os
import random
import re
import shutil
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import quote

import openpyxl
import pyarrow
import pyarrow.parquet
from werkzeug.serving import WSGIRequestHandler, make_server

from tests import author_files, product, random_definitions, reference, tree
from tests.capture_case import TAPE, Case, Definition, list_crashes, make_random, set_clock, start_case
from tests.capture_text import (
    choose_examples,
    compare,
    describe,
    format_json,
    format_page,
    format_statistics,
    list_files,
    round_numbers,
    summarize,
)
from tests.definitions import encode

# ---- Reports ---------------------------------------------------------------------------------------------------------

SIZES = (0, 1, 2, 39, 2000)
KINDS = ("mixed", "same", "first", "two")  # any answers; one report repeated; only first answers; two reports repeated


def draw_answers(chance: random.Random, definition: Definition, *, first: bool) -> dict[str, Any]:
    """Return the answers of a person: any, or the first of everything."""
    answers: dict[str, Any] = {}
    for question in definition["questions"]:
        name = question["id"]
        if question["type"] == "number":
            low, high, step = (Fraction(question[key]) for key in ("min", "max", "step"))
            value = low + step * (0 if first else chance.randint(0, int((high - low) / step)))
            decimal = f"{float(value):f}".rstrip("0").rstrip(".")
            answers[name] = int(value) if value.denominator == 1 else decimal
        elif question["type"] == "multiple":
            options = question["options"]
            answers[name] = options[:1] if first else [option for option in options if chance.random() < 0.4]
        else:
            labels = question.get("options") or question.get("points") or [True, False]
            answers[name] = labels[0] if first else chance.choice(labels)
        if not first and reference.is_optional(question) and chance.random() < 0.3:
            answers[name] = None
    return answers


def draw_reports(chance: random.Random, definition: Definition, count: int, kind: str) -> list[bytes]:
    """Return the bits of so many reports, by the reference that shares no code with the product."""

    def draw_bits() -> bytes:
        answers = draw_answers(chance, definition, first=kind == "first")
        return reference.pack(reference.report(definition, answers, chance.randbytes(4096))[0])

    distinct = min(count, {"same": 1, "two": 2}.get(kind, count))
    rows = [draw_bits() for _ in range(distinct)]
    return rows if distinct == count else [chance.choice(rows) for _ in range(count)]


def write_parquet(path: Path, definition: bytes, rows: Sequence[bytes]) -> None:
    """Write reports as `candor export` does, for `candor tally` and `candor survey load`."""
    parsed = json.loads(definition)
    widths = [reference.width(part["mechanism"]) + ("ask" in parsed) for part in parsed["fields"]]
    bits = pyarrow.binary(len(reference.pack("0" * sum(widths))))
    metadata = {"candor.definition": definition, "candor.digest": hashlib.sha256(definition).hexdigest()}
    schema = pyarrow.schema([pyarrow.field("bits", bits, nullable=False)], metadata=metadata)
    pyarrow.parquet.write_table(pyarrow.table([pyarrow.array(rows, bits)], schema=schema), path)


# ---- An author's file ------------------------------------------------------------------------------------------------

ENTRIES = ("yes_no", "choice", "scale", "multiple", "number", "battery", "section")


def capture_file(out: Path, number: int) -> None:
    """Capture a random author's file, from the editor to the last export."""
    chance = make_random(f"file {number}")
    text = author_files.write_file(chance)
    size, kind = SIZES[number % len(SIZES)], KINDS[number // len(SIZES) % len(KINDS)]
    with start_case(out) as case:
        capture_draft(case, text, ENTRIES[number % len(ENTRIES)])
        capture_study(case, text, chance, size, kind)


def capture_draft(case: Case, text: str, kind: str) -> None:
    """Capture the editor's pages of a file: each question open and saved, and an entry of some kind added."""
    upload = (io.BytesIO(text.encode()), "survey.yaml")
    case.post("editor/upload", "/console", start="upload", file=upload)
    drafts = re.findall(r'href="(/console/drafts/\d+)"', case.owner.get("/console").text)
    if not drafts:
        return
    draft = drafts[0]
    pages = ("", "settings", "languages", "yaml", "preview", "publish", "try", "file.yaml", "dossier.html", "delete")
    for name in pages:
        case.ask(f"editor/{name or 'draft'}", f"{draft}/{name}".rstrip("/"))
    for place in re.findall(rf'"({draft}/s/[\w-]+)', case.owner.get(f"{draft}/preview").text)[:1]:
        case.ask("editor/form", place)
        case.ask("editor/form-privacy", f"{place}/privacy")
    count = len(re.findall(r'id="q\d+"', case.owner.get(draft).text))
    for place in range(count):
        page = case.ask(f"editor/open-{place}", f"{draft}?edit={place}").decode()
        case.post(f"editor/check-{place}", f"{draft}/check", **read_form(page))
    if count:
        page = case.owner.get(f"{draft}?edit={count - 1}").text
        case.post("editor/added", draft, **read_form(page), do=f"add:{kind}")
        case.ask("editor/added.yaml", f"{draft}/file.yaml")
        case.ask(f"editor/added-{kind}", f"{draft}?edit={count}")


def read_form(page: str) -> dict[str, list[str]]:
    """Return what a browser would send from the form of an open question, but for its token and its buttons."""
    fields: dict[str, list[str]] = {}
    for control in tree.parse(page).one("form", id="open").all("input", "select", "textarea", name=None):
        attributes = control.attributes
        if control.tag == "textarea":
            values = ["".join(child for child in control.children if isinstance(child, str)).removeprefix("\n")]
        elif control.tag == "select":
            options = control.all("option", selected=None) or control.all("option")[: "multiple" not in attributes]
            values = [option.attributes.get("value", option.text) for option in options]
        else:
            unticked = attributes.get("type") in ("checkbox", "radio") and "checked" not in attributes
            values = [] if unticked else [attributes.get("value", "on")]
        fields[attributes["name"]] = fields.get(attributes["name"], []) + values
    return {name: values for name, values in fields.items() if name not in ("csrf_token", "do")}


def capture_study(case: Case, text: str, chance: random.Random, size: int, kind: str) -> None:
    """Capture an author's file with so many reports to each of its surveys; where it is refused, how."""
    case.write("survey.yaml", text)
    (case.folder / "survey.yaml").write_text(text, encoding="utf-8")
    case.run("command/build", "survey", "build", "survey.yaml", formatted=format_json)
    case.run("command/plan", "plan", "survey.yaml", "--respondents", "1200")
    if not case.run("command/add", "survey", "add", "survey.yaml", "--owner", "ada"):
        body = {"data": text.encode(), "content_type": "application/yaml", "headers": product.BEARER}
        case.ask("refused.json", "/api/surveys", "POST", by=case.visitor, **body)
        return
    for option, suffix in (("--ddi", "xml"), ("--html", "html")):
        case.run(f"command/codebook-{suffix}", "codebook", "survey.yaml", option, formatted=format_page)
    case.run("command/codebook-md", "codebook", "survey.yaml")
    case.run("command/plan-json", "plan", "survey.yaml", "--margin", "0.04", "--json", formatted=format_json)
    case.run("command/dossier", "dossier", "survey.yaml", "--respondents", "900", "-o", "dossier.md")
    case.write_file("dossier.md", lambda path: round_numbers(path.read_text(encoding="utf-8")))
    (whole,) = json.loads(case.ask("surveys.json", "/api/surveys", headers=product.BEARER))["surveys"]
    slugs = [survey["slug"] for survey in whole["surveys"]]
    some = slugs[:2]
    case.ask("published.html", f"/s/{slugs[0]}", by=case.visitor)
    invited = "tickets" in case.definition(slugs[0])
    if invited:
        case.run("command/invite", "survey", "invite", slugs[0], "--count", "3")
        case.run("command/invited", "survey", "invited", slugs[0])
    set_clock(author_files.ANSWERED)
    for slug in some:
        capture_survey(case, slug)
    for slug in slugs:
        product.store_reports(case.server, slug, draw_reports(chance, case.definition(slug), size, kind))
    case.ask("open/results.html", f"/results/{slugs[0]}")
    case.ask("open/count.json", f"/results/{slugs[0]}/count")
    case.run("command/close", "survey", "close", whole["slug"], "--yes")
    if invited:
        case.ask("withheld/results.html", f"/results/{slugs[0]}")
        case.ask("withheld/results.json", f"/api/surveys/{slugs[0]}/results")
        case.ask("withheld/reports.csv.txt", f"/results/{slugs[0]}/reports.csv")
        set_clock(author_files.OVER)
    for slug in some:
        capture_results(case, slug, chance)
    if whole["slug"] not in slugs:
        capture_groups(case, whole["slug"], slugs)
    case.run("command/list", "survey", "list")
    case.run("command/show", "survey", "show", whole["slug"])
    if "\ndeletes:" in text:
        set_clock(author_files.DELETED)
        case.ask("deleted.html", f"/results/{slugs[0]}")


def capture_survey(case: Case, slug: str) -> None:
    """Capture what respondents and the owner see of an open survey."""
    case.ask(f"{slug}/definition.json", f"/api/surveys/{slug}", by=case.visitor)
    for name in ("", "enter", "privacy", "paper", "form.html"):
        case.ask(f"{slug}/form/{name or 'form'}", f"/s/{slug}/{name}".rstrip("/"), by=case.visitor)
    for name in ("", "close", "delete", "invitations", "invited.json", "definition.json", "source.yaml", "qr.svg"):
        case.ask(f"{slug}/console/{name or 'survey'}", f"/console/{slug}/{name}".rstrip("/"))
    case.ask(f"{slug}/invitations.json", f"/api/surveys/{slug}/invitations", headers=product.BEARER)
    case.ask(f"{slug}/link.html", f"/results/{slug}/link", by=case.visitor)


OPTIONS = "confidence=0.9&simultaneous=1&view=table"


def capture_results(case: Case, slug: str, chance: random.Random) -> None:
    """Capture what can be read of a closed survey: pages, tables, plots, files, and what commands print."""
    page = case.ask(f"{slug}/results/page.html", f"/results/{slug}").decode()
    case.ask(f"{slug}/results/visitor.html", f"/results/{slug}", by=case.visitor)
    case.ask(f"{slug}/results/options.html", f"/results/{slug}?{OPTIONS}")
    case.ask(f"{slug}/results/sample.html", f"/results/{slug}?target=sample&narrow=1&population=50000")
    case.ask(f"{slug}/results.json", f"/api/surveys/{slug}/results")
    case.ask(f"{slug}/results.csv", f"/results/{slug}.csv")
    case.ask(f"{slug}/count.json", f"/results/{slug}/count")
    for kind in ("csv", "ndjson", "parquet"):
        case.ask(f"{slug}/reports.{kind}.txt", f"/results/{slug}/reports.{kind}")
    for kind in ("html", "md", "xml"):
        case.ask(f"{slug}/codebook.{kind}", f"/results/{slug}/codebook.{kind}")
    for name in sorted({*re.findall(rf"/results/{slug}/plots/([^\"?]+)\.svg", page)})[:4]:
        case.ask(f"{slug}/plots/{name}.svg", f"/results/{slug}/plots/{name}.svg")
    definition = case.definition(slug)
    for number, (rows, columns) in enumerate(choose_pairs(chance, definition), start=1):
        capture_crosstab(case, f"{slug}/cross/{number}", slug, rows, columns)
    if pair := choose_outcome(definition):
        capture_regression(case, slug, *pair)
    case.ask(f"{slug}/console/closed.html", f"/console/{slug}")
    case.run(f"{slug}/command/results", "results", slug)
    case.run(f"{slug}/command/results-json", "results", slug, "--json", "--narrow", formatted=format_json)
    case.run(f"{slug}/command/results-csv", "results", slug, "--csv", "--simultaneous", "--confidence", "0.9")
    for suffix in ("sav", "dta"):
        case.run(f"{slug}/command/export-{suffix}", "export", slug, f"{slug}.{suffix}")
        case.write_file(f"{slug}.{suffix}", format_statistics)


def choose_pairs(chance: random.Random, definition: Definition) -> list[tuple[str, str]]:
    """Return some questions to cross: those of a joint field, any two, two options of one; numbers come last."""
    ids = [question["id"] for question in sorted(definition["questions"], key=lambda question: "levels" in question)]
    pairs = [*itertools.combinations(ids, 2)]
    joint = [tuple(part["questions"][:2]) for part in definition["fields"] if len(part["questions"]) > 1]
    multiple = [question for question in definition["questions"] if question["type"] == "multiple"]
    options = [tuple(f"{question['id']}:{label}" for label in question["options"][:2]) for question in multiple]
    return [*dict.fromkeys((*joint[:1], *pairs[:1], *chance.sample(pairs, min(1, len(pairs))), *options[:1]))]


def capture_crosstab(case: Case, name: str, slug: str, rows: str, columns: str) -> None:
    """Capture two questions, crossed."""
    query = f"rows={quote(rows)}&columns={quote(columns)}"
    case.ask(f"{name}.html", f"/results/{slug}?{query}")
    case.ask(f"{name}.json", f"/api/surveys/{slug}/crosstab?{query}")
    case.ask(f"{name}.csv", f"/results/{slug}/crosstab.csv?{query}")
    case.run(f"{name}-command", "crosstab", slug, rows, columns)


def choose_outcome(definition: Definition) -> tuple[str, str] | None:
    """Return the outcome and the predictor of a regression: questions with labels, in fields of their own if there are."""
    alone = {part["questions"][0] for part in definition["fields"] if len(part["questions"]) == 1}
    with_labels = [
        question for question in definition["questions"] if question["type"] in ("yes_no", "choice", "scale")
    ]
    best = sorted(with_labels, key=lambda question: question["id"] not in alone)
    if len(best) < 2:
        return None
    labels = best[0].get("options") or best[0].get("points")
    return f"{best[0]['id']}={labels[-1]}" if labels else best[0]["id"], best[1]["id"]


def capture_regression(case: Case, slug: str, outcome: str, predictor: str) -> None:
    """Capture a regression of one answer on another question."""
    query = f"outcome={quote(outcome)}&on={quote(predictor)}"
    case.ask(f"{slug}/regression/page.html", f"/results/{slug}?{query}")
    case.ask(f"{slug}/regression/regression.json", f"/api/surveys/{slug}/regression?{query}")
    case.run(f"{slug}/regression/command", "regress", slug, "--outcome", outcome, "--on", predictor)


def capture_groups(case: Case, study: str, slugs: Sequence[str]) -> None:
    """Capture what can be read of all groups of a study, and a regression on what is known of them."""
    case.ask("study/results.html", f"/results/{study}")
    case.ask("study/options.html", f"/results/{study}?{OPTIONS}")
    case.ask("study/results.json", f"/api/surveys/{study}/results")
    case.ask("study/results.csv", f"/results/{study}.csv")
    case.ask("study/console.html", f"/console/{study}")
    case.run("study/command", "results", study)
    case.run("study/command-json", "results", study, "--json", formatted=format_json)
    covariates = {slug: {"place": place} for place, slug in enumerate(slugs)}
    (case.folder / "covariates.json").write_text(json.dumps(covariates), encoding="utf-8")
    if pair := choose_outcome(case.definition(slugs[0])):
        words = ("--outcome", pair[0], "--covariates", "covariates.json")
        case.run("study/regression", "regress", *slugs, *words)


LABELS: tuple[dict[str, Any], ...] = (
    {"type": "yes_no"},
    {"type": "choice", "options": ["red", "green", "blue"]},
    {"type": "scale", "points": ["never", "sometimes", "often"]},
)


def capture_regressions(out: Path, number: int) -> None:
    """Capture a survey at a large ε with three groups, so that regressions on answers and on groups have a solution."""
    predictor, outcome = LABELS[number // len(LABELS) % len(LABELS)], LABELS[number % len(LABELS)]
    content = {
        "slug": "related", "title": "Related answers", "epsilon": 7, "results": "public",
        "questions": [{"id": "first", "text": "And?", **outcome}, {"id": "second", "text": "Why?", **predictor}],
        "groups": {name: {"size": 1000} for name in ("north", "south", "east")},
    }  # fmt: skip
    with start_case(out) as case:
        capture_study(case, author_files.spell(content), make_random(f"regression {number}"), 2000, "mixed")


# ---- Definitions, examples, and what belongs to no survey ------------------------------------------------------------


def capture_definition(out: Path, number: int) -> None:
    """Capture a random definition: what a device makes of it, its estimates at every size, and its pages at one."""
    chance = make_random(f"wild {number}")
    parsed = random_definitions.definition(chance)
    definition, slug = encode(parsed), parsed["slug"]
    with start_case(out) as case:
        answers = random_definitions.answers(chance, parsed)
        device = product.randomize(definition, answers, chance.randbytes(4096))
        case.write("device.json", format_json(json.dumps({"answers": answers, **device})))
        for place, size in enumerate(SIZES):
            kind = KINDS[(number + place) % len(KINDS)]
            path, name = case.folder / f"{size}.parquet", f"tally/{size}-{kind}"
            write_parquet(path, definition, rows := draw_reports(chance, parsed, size, kind))
            case.run(name, "tally", path.name, "--results")
            case.run(f"{name}-json", "tally", path.name, "--results", "--json", formatted=format_json)
            case.run(f"{name}-csv", "tally", path.name, "--csv")
        product.publish(case.server, definition)
        capture_survey(case, slug)
        report = {"data": json.dumps(device["report"]), "content_type": "application/json"}
        case.ask("device/stored.json", f"/api/surveys/{slug}/reports", "POST", by=case.visitor, **report)
        product.store_reports(case.server, slug, rows[1 : SIZES[3 + number // len(KINDS) % 2]])
        case.run("command/close", "survey", "close", slug, "--yes")
        capture_results(case, slug, chance)


def capture_example(out: Path, stem: str, count: int) -> None:
    """Capture an example, and what so many made-up people answer to it."""
    path = EXAMPLES / f"{stem}.yaml"
    with start_case(out / "file") as case:
        capture_draft(case, path.read_text(encoding="utf-8"), "choice")
        capture_study(case, path.read_text(encoding="utf-8"), make_random(stem), 39, "mixed")
    with start_case(out / "people") as case:
        shutil.copy(path, case.folder / "survey.yaml")
        shutil.copy(EXAMPLES / f"{stem}-truth.yaml", case.folder / "truth.yaml")
        case.run("add", "survey", "add", "survey.yaml", "--owner", "ada")
        case.run("simulate", "simulate", stem, "--respondents", str(count), "--truth", "truth.yaml", "--yes")
        case.run("close", "survey", "close", stem, "--yes")
        set_clock(author_files.OVER)
        case.run("results", "results", stem)
        case.run("results-json", "results", stem, "--json", formatted=format_json)
        case.ask("results.html", f"/results/{stem}")


def capture_help(out: Path) -> None:
    """Capture the help of every command."""
    with start_case(out) as case:
        for words in product.list_commands():
            case.run("-".join(("candor", *words)), *words, "--help")
        for shell in ("bash", "zsh", "fish"):
            case.run(f"completion-{shell}", "completion", shell)


PAGES = "/ /login /account /console /openapi.json /healthz /metrics /demo /nothing /s/nothing /results/nothing"


def capture_pages(out: Path) -> None:
    """Capture the pages and commands that belong to no survey, refusals, and the demo."""
    with start_case(out) as case:
        for path in PAGES.split():
            case.ask(f"pages/{path.strip('/').replace('/', '-') or 'front'}", path)
        case.ask("pages/visitor", "/console", by=case.visitor)
        case.ask("pages/refused", "/api/surveys/nothing/reports", "POST", by=case.visitor, data=b"{")
        case.ask("pages/not-allowed", "/console/nothing/close", "DELETE")
        case.run("user-list", "user", "list")
        case.run("user-add", "user", "add", "bob", typed="a long password\na long password\n")
        case.run("token-add", "token", "add", "bob")
        case.run("token-list", "token", "list", "bob")
        case.run("user-disable", "user", "disable", "bob")
        case.run("user-enable", "user", "enable", "bob")
        case.run("example", "example")
        case.run("guidance", "plan", "--guidance")
        for kind in ENTRIES[:5]:
            options = ["--options", "4"] if kind in ("choice", "scale", "multiple") else []
            case.run(f"plan-{kind}", "plan", "--epsilon", "1.5", "--margin", "0.03", "--type", kind, *options)
        capture_import(case)
        capture_device(case)
    with start_case(out / "demo") as prepared:
        config = product.publish_demo(prepared.server)
    with start_case(out / "demo", **config) as case:
        product.publish_demo(case.server)
        case.ask("demo", "/demo")
        case.ask("administrator", "/demo/administrator")


XLSFORM = {
    "survey": (
        ("type", "name", "label", "required", "relevant", "constraint"),
        ("begin_group", "habits", "Habits"),
        ("select_one yn", "smokes", "Do you smoke?", "yes"),
        ("select_one kinds", "kind", "What?", "", "${smokes} = 'y'"),
        ("select_multiple kinds", "tried", "Which have you tried?"),
        ("end_group",),
        ("integer", "hours", "Hours of sleep?", "yes", "", ". >= 0 and . <= 24"),
        ("text", "why", "Why?"),
    ),
    "choices": (
        ("list_name", "name", "label"),
        ("yn", "y", "Yes"), ("yn", "n", "No"),
        ("kinds", "a", "Cigars"), ("kinds", "b", "Pipes"), ("kinds", "c", "Others"),
    ),
    "settings": (("form_title", "form_id"), ("Smoke", "smoke")),
}  # fmt: skip


def capture_import(case: Case) -> None:
    """Capture what becomes of an XLSForm."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    for name, rows in XLSFORM.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(case.folder / "smoke.xlsx")
    case.run("import", "import", "smoke.xlsx")


class _Quiet(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        pass


def capture_device(case: Case) -> None:
    """Capture a respondent at the command line, with a server on a free port; and what becomes of exported reports."""
    (case.folder / "exam.yaml").write_text(case.run("exam/example", "example", "exam"), encoding="utf-8")
    case.run("exam/add", "survey", "add", "exam.yaml", "--owner", "ada")
    definition = case.ask("exam/definition.json", "/api/surveys/exam")
    (case.folder / "exam.json").write_bytes(definition)
    answers = draw_answers(make_random("exam"), json.loads(definition), first=True)
    (case.folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    server = make_server("127.0.0.1", 0, case.server.app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        case.masks[f":{server.server_port}"] = ":<port>"
        link = f"http://127.0.0.1:{server.server_port}/s/exam"
        for name in ("respond", "respond-again"):
            case.run(f"exam/{name}", "respond", link, "--answers", "answers.json", "--yes")
        case.run("exam/ledger", "ledger", "show")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    rows = draw_reports(make_random("exam rows"), json.loads(definition), 39, "mixed")
    write_parquet(case.folder / "rows.parquet", definition, rows)
    case.run("exam/load", "survey", "load", "exam", "rows.parquet", "--yes")
    case.run("exam/tally", "tally", "rows.parquet", "--pairs", "--json", formatted=format_json)
    case.run("exam/share", "survey", "share", "exam", "eve", "--as", "editor")
    for words in (("set", "exam", "--results", "private"), ("pause", "exam"), ("open", "exam"), ("check", "exam")):
        case.run(f"exam/{words[0]}", "survey", *words)
    case.run("exam/close", "survey", "close", "exam", "--yes")
    case.run("exam/export", "export", "exam", "exam.ndjson")
    case.run("exam/shuffle", "shuffle", "exam.ndjson", "shuffled.ndjson")
    case.run("exam/form", "form", "exam.json", "--server", "https://example.org", "-o", "form.html")
    case.write_file("form.html", lambda path: format_page(path.read_text(encoding="utf-8")))
    case.run("exam/delete", "survey", "delete", "exam", "--yes")


# ---- Sizes, workers, the command -------------------------------------------------------------------------------------


EXAMPLES = Path(__file__).parent.parent / "examples"
STEMS = tuple(sorted(path.stem.removesuffix("-truth") for path in EXAMPLES.glob("*-truth.yaml")))


class Size(NamedTuple):
    """Which author's files, definitions, regressions and examples; how many made-up people answer an example."""

    files: Sequence[int]
    definitions: Sequence[int]
    regressions: Sequence[int]
    examples: Sequence[str]
    people: int


SIZE = {
    "full": Size(range(300), range(200), range(9), STEMS, 2000),
    "small": Size(range(10), range(5), range(1), STEMS[:1], 100),
    "tiny": Size((194,), (44, 9), (3,), ("pin",), 50),  # 194 is by invitation, 44 has one question and 9 has six
}


class Task(NamedTuple):
    """A capture to be done by any worker."""

    capture: Callable[..., None]
    out: Path
    arguments: tuple[Any, ...] = ()


def list_tasks(out: Path, size: Size) -> list[Task]:
    """Return what is to be captured, the longest first."""
    return [
        *(Task(capture_example, out / "examples" / stem, (stem, size.people)) for stem in size.examples),
        Task(capture_help, out / "help"),
        Task(capture_pages, out / "once"),
        *(Task(capture_regressions, out / "regressions" / f"{number:03}", (number,)) for number in size.regressions),
        *(Task(capture_file, out / "files" / f"{number:03}", (number,)) for number in size.files),
        *(Task(capture_definition, out / "wild" / f"{number:03}", (number,)) for number in size.definitions),
    ]


def perform(task: Task) -> str:
    """Capture one task without variables of Candor's, in 80 columns, without colours; return an error, or nothing."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
    with patch.dict(os.environ, usual | {"COLUMNS": "80", "NO_COLOR": "1"}, clear=True), TAPE.play():
        logging.disable()  # a page that replies 500 is named at the end
        try:
            task.capture(task.out, *task.arguments)
        except Exception:
            return f"{task.out}: {traceback.format_exc()}"
        finally:
            logging.disable(logging.NOTSET)
    return ""


def capture(tasks: Sequence[Task], workers: int) -> list[str]:
    """Capture all tasks; return the errors."""
    with (
        patch.dict(os.environ, {"OPENBLAS_NUM_THREADS": "1"}),
        multiprocessing.get_context("spawn").Pool(workers) as pool,
    ):
        errors = []
        for count, error in enumerate(pool.imap_unordered(perform, tasks), start=1):
            errors += [error] if error else []
            if sys.stderr.isatty():
                print(f"\r{count} of {len(tasks)}", end="", file=sys.stderr)
        return errors


def main() -> int:
    """Run the command: 0 if the capture is whole, or the trees are the same; else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.capture", description="Capture what Candor writes, or compare."
    )
    parser.add_argument("out", type=Path, nargs="?", help="an empty folder, or one that does not exist")
    parser.add_argument("--size", choices=SIZE, default="full", help="how much is captured; default: full")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes; default: one for each core"
    )
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="two captured folders")
    parser.add_argument("--ignore", metavar="PATTERN", default="", help="what may differ, as a regular expression")
    arguments = parser.parse_args()
    if arguments.compare:
        before, after = arguments.compare
        if not (list_files(before) and list_files(after)):
            parser.error("name two folders in which something was captured")
        names = compare(before, after, arguments.ignore)
        for name in choose_examples(names):
            print(describe(before, after, name, arguments.ignore))
        print(f"{len(names)} files differ: {summarize(names)}" if names else "no difference")
        return 1 if names else 0
    out = arguments.out and arguments.out.absolute()
    if out is None or (out.exists() and any(out.iterdir())):
        parser.error("name an empty folder, or one that does not exist")
    tasks = list_tasks(out, SIZE[arguments.size])
    errors = capture(tasks, arguments.workers)
    for line in (*errors, *(f"{name} has a crash" for name in list_crashes(out))):
        print(line)
    print(f"{len(tasks)} cases, {len(list_files(out))} files in {out}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
