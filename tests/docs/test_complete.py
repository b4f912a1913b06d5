"""Whatever somebody can ask for or set is documented: routes, refusals, environment variables.

What there is is read off the running program, never off a list kept here, so that what is new fails until it is told.
"""

import re
from collections.abc import Iterable

from candor_client.canonical import NAME
from survey_app.invitations.issuing import TICKETS
from survey_app.problems import PROBLEMS
from survey_app.web.openapi import openapi_document
from tests.fixtures import Installation
from tests.module_graph import ROOT

API, CONSOLE = ((ROOT / "docs" / f"{name}.md").read_text() for name in ("api", "console"))
TOLD_ELSEWHERE = {"405", "500"}  # of every route, in a sentence


def told_routes(page: str) -> dict[str, str]:
    """What a page's tables have to say of each method and path."""
    rows = re.findall(r"^\| `([A-Z]+ /\S*)` \| (.*) \|$", page, re.MULTILINE)
    return {route: rest for route, rest in rows}


def undocumented_operations(page: str) -> list[str]:
    """Operations of the API of which a page lacks the route, a parameter or a status."""
    missing, told = [], told_routes(page)
    shared = page.partition("### For readers of results")[2].partition("| route")[0]
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            route = f"{method.upper()} {path.replace('{slug}', '<slug>')}"
            said = told.get(route, "")
            names = {one["name"] for one in operation.get("parameters", [])} - {"slug"}
            statuses = {*operation["responses"]} - TOLD_ELSEWHERE
            within = shared if "confidence" in names else ""
            lacks = [name for name in sorted(names) if f"`{name}" not in said + within]
            lacks += sorted(statuses ^ {*re.findall(r"\b[2-5]\d\d\b", re.sub("`.*?`", "", said.rpartition(" | ")[2]))})
            missing += [f"{route}: {', '.join(lacks)}"] * bool(lacks or not said)
    return missing


def test_every_operation_of_the_api_is_told_with_what_it_takes_and_replies() -> None:
    assert not undocumented_operations(API)


def paths_of(installation: Installation) -> set[str]:
    """Every address that the program knows, as a page writes it."""
    rules = {rule.rule for rule in installation.app.url_map.iter_rules()}
    return {re.sub(r"<(?:int|path):(\w+)>", r"<\1>", rule).replace("<key>", "<n>") for rule in rules}


def untold(paths: Iterable[str], *pages: str) -> list[str]:
    said = {*re.findall(r"`(?:[A-Z]+ )?(/[^\s`?]*)", "\n".join(pages))}
    return sorted({path.replace("/static/<name>", "/static/<path>") for path in paths} - said)


def test_every_address_is_told(installation: Installation) -> None:
    assert not untold(paths_of(installation), API, CONSOLE)


def test_no_address_is_told_that_is_not_there(installation: Installation) -> None:
    known = {path.replace("/static/<name>", "/static/<path>") for path in paths_of(installation)}
    pages = "\n".join([API.partition("## Reports and tokens")[0], CONSOLE.partition("## Addresses")[2]])
    told = {*re.findall(r"`(?:[A-Z]+ )?(/(?:api|s|results|console|account|static|client|login)[^\s`?#…]*)`", pages)}
    assert told and not told - known


def test_an_address_that_is_not_told_would_be_found() -> None:
    assert untold(["/api/surveys/<slug>/secret", "/console"], API, CONSOLE) == ["/api/surveys/<slug>/secret"]
    without = re.sub(r"^\| `GET /metrics`.*\n", "", API, flags=re.MULTILINE)
    assert [line.partition(":")[0] for line in undocumented_operations(without)] == ["GET /metrics"]
    spoiled = API.replace("304; 404, 429, 503", "404, 429, 503").replace("`state`: `open`", "`open`")
    assert sorted(undocumented_operations(spoiled)) == ["GET /api/surveys/<slug>: 304", "POST /api/surveys: state"]


def test_the_routes_of_the_issuer_are_told() -> None:
    source = (ROOT / "survey_app" / "web" / "issuer_app.py").read_text()
    served = {*re.findall(r'scope\.path == "(/\w+)"', source), TICKETS.pattern.replace(f"({NAME.pattern})", "<slug>")}
    (sentence,) = re.findall(r"^A server that only issues tickets.*$", API, re.MULTILINE)
    assert served == {*re.findall(r"`(?:GET|POST) (/\S+)`", sentence)}


def told_problems(page: str) -> dict[str, int]:
    table = page.partition("## Problems")[2]
    return {code: int(status) for code, status in re.findall(r"^\| `(\w+)` \| (\d+) \| \S.* \|$", table, re.MULTILINE)}


def test_every_refusal_is_told_with_its_status_and_what_it_means() -> None:
    statuses = {code: status for code, (status, _) in PROBLEMS.items()}
    assert told_problems(API) == statuses
    assert told_problems(API.replace("| `id_taken` | 409 |", "| `id_taken` | 400 |")) != statuses


def variables(*folders: str) -> set[str]:
    """The environment variables of ours that the program reads, or tells others to set."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = [file.read_text(errors="replace") for file in files if file.suffix not in (".pyc", ".png")]
    return {name for text in texts for name in re.findall(r"\bCANDOR_[A-Z_]+\b", text)}


def test_every_environment_variable_is_told() -> None:
    told = {name for page in ROOT.glob("docs/*.md") for name in re.findall(r"`(CANDOR_[A-Z_]+)\b", page.read_text())}
    assert "CANDOR_DB" in told and "CANDOR_LEDGER" in variables("client")
    assert not variables("client", "survey_app", "deploy") - told - {"CANDOR_ISSUER"}, "its own server sets that one"


def test_the_proxies_for_one_server_and_for_two_say_the_same_of_everything_else() -> None:
    page, two = (ROOT / "docs" / "operations.md").read_text(), (ROOT / "deploy" / "nginx.conf").read_text()
    one = re.search(r"^```nginx\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert one and "`deploy/nginx.conf`" in page
    elsewhere = {" ".join(line.split()) for line in two.splitlines()}
    own = [line for line in (" ".join(one.split()) for one in one[1].splitlines()) if line not in elsewhere]
    assert [line.split()[0] for line in own] == [
        "server", "listen", "listen", "ssl_certificate", "ssl_certificate_key", "location"
    ]  # fmt: skip
