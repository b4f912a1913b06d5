"""The wheel, outside the checkout, in an environment that was empty: who installs Candor gets what the docs promise.

Once with the versions that we use, on every Python that is here; once with the oldest that pyproject.toml allows.
"""

import json
import re
import sys
import urllib.request
import zipfile
from email import message_from_bytes
from pathlib import Path
from urllib.error import HTTPError

import openpyxl
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from candor_client.respond import fetch
from tests.packaging.environment import PATIENCE, ROOT, Environment, interpreters
from tests.postgres import Postgres

pytestmark = pytest.mark.slow

SERVED = {
    "survey_app/static/": "/static/",
    "survey_app/client/js/": "/client/js/",
}  # where in the wheel, and at which address
INVITED = """slug: invited
title: By invitation
epsilon: 2
invitations: true
questions:
  - {id: cheated, type: yes_no, text: Did you copy?}
"""


def status(address: str) -> int:
    try:
        reply = urllib.request.urlopen(address, timeout=PATIENCE)  # noqa: S310 — ours
    except HTTPError as refused:
        reply = refused
    with reply:
        return int(reply.status)


def visit(here: Environment, name: str, wheel: Path, *invitations: str) -> None:
    """The demo under this name has every page that it prints, and every file of the pages; it is answered."""
    store = ("--db", "sqlite:///candor.db") if invitations else ()
    with here.run_server(name, *store, "demo", "--respondents", "50") as (origin, said):
        pages = re.findall(rf"{origin}/\S+", said)
        assert {f"{origin}/s/campus", f"{origin}/results/campus", f"{origin}/console"} <= {*pages}
        files = [
            origin + address + path.removeprefix(folder)
            for path in zipfile.ZipFile(wheel).namelist()
            for folder, address in SERVED.items()
            if path.startswith(folder)
        ]
        assert len(files) > 40 and [address for address in (*pages, *files) if status(address) != 200] == []
        (link,) = re.findall(rf"^terminal  {name} respond (\S+)$", said, re.MULTILINE)
        for survey in (link, *(origin + path for path in invitations)):
            file = answered(survey, here.work / "answers.json")
            assert '"status":"stored"' in here.run("python", "-m", "candor_client", survey, "--yes", "--answers", file)
    assert "campus" in here.run(name, "ledger", "show")
    assert sorted(path.name for path in here.folder.joinpath("home").iterdir()) == [".local"]  # the ledger


def answered(link: str, file: Path) -> Path:
    """The least of everything, to whatever is always asked."""
    least = {"yes_no": False, "multiple": []}
    said = {
        one.id: str(one.min) if one.type == "number" else least.get(one.type, one.labels[:1])
        for one in fetch(link).questions
        if not one.show_if
    }
    file.write_text(json.dumps({name: value[0] if isinstance(value, tuple) else value for name, value in said.items()}))
    return file


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: Path(path).name)
def test_the_demo_serves_where_nothing_else_is_installed(
    python: str, wheel: Path, client_wheel: Path, tmp_path: Path
) -> None:
    """It is run in a folder that has folders called client and survey_app, as many projects have."""
    options = ("--constraint", ROOT / "constraints.txt", "candor-survey")
    here = Environment.create(tmp_path, python, (client_wheel, wheel), *options)
    for name in ("client", "survey_app"):
        (here.work / name).mkdir()
        (here.work / name / "__init__.py").write_text("raise SystemExit('a package of another project was imported')\n")
    found = here.run(
        "python", "-c", "import importlib.util as i, sys; print(i.find_spec('survey_app').origin, *sys.path)"
    )
    assert found.startswith(str(tmp_path)) and str(ROOT) not in found.replace(str(tmp_path), "")
    visit(here, "candor", wheel)


def test_the_client_answers_where_nothing_but_python_is(wheel: Path, client_wheel: Path, tmp_path: Path) -> None:
    alone = Environment.create(tmp_path / "alone", sys.executable, (client_wheel,))
    listed = alone.run("python", "-c", "import importlib.metadata as m; print(*{d.name for d in m.distributions()})")
    assert listed.split() == ["candor-client"]
    server = Environment.create(
        tmp_path / "server",
        sys.executable,
        (client_wheel, wheel),
        "--constraint",
        ROOT / "constraints.txt",
        "candor-survey",
    )
    with server.run_server("candor", "demo", "--respondents", "50") as (_, said):
        (link,) = re.findall(r"^terminal  candor respond (\S+)$", said, re.MULTILINE)
        file = answered(link, alone.work / "answers.json")
        sent = alone.run("python", "-m", "candor_client", link, "--yes", "--answers", file)
        assert '"status":"stored"' in sent


def test_the_oldest_versions_that_are_allowed_suffice(
    wheel: Path, client_wheel: Path, tmp_path: Path, postgres: Postgres
) -> None:
    """Publishing, inviting, answering, estimating, every extra that writes or reads something, and the demo."""
    metadata = message_from_bytes(zipfile.ZipFile(wheel).read(f"{wheel.name.split('-py3')[0]}.dist-info/METADATA"))
    requires = [text for text in metadata.get_all("Requires-Dist", []) if not text.startswith("candor-client")]
    wanted = [text for text in requires if not re.search(r"'(test|bench|spark)'", text)]
    direct = {canonicalize_name(Requirement(text).name) for text in wanted}
    exact = (ROOT / "constraints.txt").read_text().splitlines()
    oldest, others = tmp_path / "oldest.txt", tmp_path / "others.txt"
    oldest.write_text("\n".join(text.partition("; extra")[0] for text in wanted))
    others.write_text("\n".join(line for line in exact if canonicalize_name(line.partition("==")[0]) not in direct))
    here = Environment.create(
        tmp_path, sys.executable, (client_wheel, wheel),
        "--resolution", "lowest-direct", "--requirement", oldest, "--constraint", others, warnings="",
    )  # fmt: skip
    work = here.work
    (work / "password").write_text("a long password")
    (work / "invited.yaml").write_text(INVITED)
    (work / "exam.yaml").write_text((ROOT / "examples" / "exam.yaml").read_text())
    workbook = openpyxl.Workbook()
    assert workbook.active is not None
    workbook.active.title = "survey"
    for row in (("type", "name", "label", "constraint"), ("integer", "hours", "Hours?", ". >= 0 and . <= 60")):
        workbook.active.append(row)
    workbook.save(work / "form.xlsx")
    said = here.run("python", "-c", COMMANDS, given=LINES.format(postgres=postgres.schema()))
    assert len(re.findall(r"^(?:1[4-9]\d|200) reports; 95% intervals", said, re.MULTILINE)) == 3
    assert (work / "form.yaml").read_text().count("type: number") == 1
    assert here.run("candor-survey", "--help").startswith("Usage: candor-survey ")
    (link,) = re.findall(r"^/s/invited#\S+$", said, re.MULTILINE)
    visit(here, "candor-survey", wheel, link)


COMMANDS = (
    "import shlex, sys; from survey_app.cli import main\n"
    "for line in sys.stdin: print('$', line, flush=True), main(shlex.split(line), standalone_mode=False)"
)
LINES = """user add ada --password-file password
survey add exam.yaml
survey add invited.yaml
survey invite invited --count 1
simulate exam --respondents 200 --yes
results exam
crosstab exam cheated help
export exam exam.sav
export exam exam.parquet
tally exam.parquet --results
plan exam.yaml
import form.xlsx -o form.yaml
audit exam.yaml --client js --trials 100
--db {postgres} user add ada --password-file password
--db {postgres} survey add exam.yaml
--db {postgres} simulate exam --respondents 200 --yes
--db {postgres} results exam
"""
