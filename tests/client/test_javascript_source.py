"""The browser's client as source: small, whole, with types, alone, and the twin of Python's."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

from candor_client.errors import CandorError
from survey_app.assure.script_bundle import strip_comments
from tests import make_vectors
from tests.javascript import HARNESS, ROOT, Node

FOLDER = ROOT / "client" / "js"
REPORTS: list[dict[str, Any]] = json.loads((make_vectors.FOLDER / "reports.json").read_text())


def test_it_is_small_enough_to_read() -> None:
    """The folder, gzipped; types and explanations are comments, and nobody shall save on those.

    13,000 bytes held everything but tickets and locks. Blind signatures, with SHA-384 by hand, and the states that a
    ticket goes through until a report is acknowledged need some three thousand more; refusing invisible characters and
    plain http, and keeping charges alone where other files can read, another eight hundred. That each type and each
    mechanism is a module of its own costs seven hundred: a dozen files more, which import and export. Sessions, for apps
    that ask the questions themselves, cost nine hundred, which the form does not load.
    """
    code = "".join(strip_comments(path.read_text()) for path in sorted(FOLDER.rglob("*.js"))).replace("\n\n", "\n")
    assert len(gzip.compress(code.encode(), mtime=0)) <= 19_100


def test_blind_signatures_are_loaded_only_where_there_are_tickets() -> None:
    statically = re.compile(r'^(?:import|export)\b[^;]*? from "(\.[a-z0-9_/.]+\.js)";', re.MULTILINE)
    loaded, pending = set(), [FOLDER / "index.js"]
    while pending:
        path = pending.pop()
        loaded.add(path)
        found = [(path.parent / other).resolve() for other in statically.findall(strip_comments(path.read_text()))]
        pending += [other for other in found if other not in loaded]
    assert {path.stem for path in {*FOLDER.rglob("*.js")} - loaded} == {"ticket", "sha384", "description"}


def test_what_is_weighed_is_the_whole_code(tmp_path: Path) -> None:
    """Without its comments it still does the same, so that no code was taken for one."""
    for path in (*FOLDER.rglob("*.js"), ROOT / HARNESS, ROOT / "package.json"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text()
        copy.write_text(strip_comments(text) if path.suffix == ".js" else text)
    bare = Node(tmp_path)
    for vector in REPORTS:
        for case in vector["cases"][:3]:
            request = {"source": vector["source"].encode().hex(), "answers": case["answers"], "tape": case["tape"]}
            assert bare.ask("randomize", **request)["bits"] == case["bits"]
    bare.close()


def test_its_tools_are_for_development_only_and_come_from_no_particular_place() -> None:
    package = json.loads((ROOT / "package.json").read_text())
    assert package["private"] is True
    assert not {"dependencies", "peerDependencies", "optionalDependencies", "bundleDependencies"} & set(package)
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
    assert all("integrity" in entry for name, entry in lock["packages"].items() if name)


def test_types_are_strict_and_no_file_is_left_out() -> None:
    settings = json.loads((ROOT / "tsconfig.json").read_text())
    assert settings["compilerOptions"]["strict"] is True
    assert settings["include"] == ["client/js", "static"]
    sources = "".join(path.read_text() for folder in settings["include"] for path in (ROOT / folder).rglob("*.js"))
    assert "@ts-nocheck" not in sources
    assert "@ts-ignore" not in sources


def test_it_has_python_s_modules_and_no_others() -> None:
    """But for what a terminal needs; and `respond` holds the network too: files weigh more than what is in them."""
    package = FOLDER.parent / "candor_client"
    alone = {"__init__", "__main__", "address", "interview", "transport", "version"}
    python = {path.stem for path in package.glob("*.py")} - alone
    assert {path.stem for path in FOLDER.glob("*.js")} == python | {"index", "sha256", "sha384"}
    for folder in ("types", "mechanisms"):
        python = {path.stem for path in (package / folder).glob("*.py")} - {"__init__"}
        shared = {"question_type"} if folder == "types" else set()  # nothing but the interface, which is a comment here
        assert {path.stem for path in (FOLDER / folder).glob("*.js")} == python - shared | {"index"}


def test_it_imports_nothing_and_has_no_weak_randomness() -> None:
    for path in FOLDER.rglob("*.js"):
        source = path.read_text()
        assert "Math.random" not in source
        assert not re.search(r"\beval\b|new Function|innerHTML|XMLHttpRequest|sendBeacon|document\b", source)
        for target in re.findall(r'from "([^"]+)"', source):
            assert (path.parent / target).exists(), f"{path.name} imports {target}"
        assert "globalThis.fetch" not in source or path.name == "respond.js"


def test_every_code_of_python_s_errors_is_one_of_javascript_s() -> None:
    """The codes are one vocabulary; only the terminal's other_server and plain transport are Python's alone."""
    sources = "".join(path.read_text() for path in FOLDER.rglob("*.js"))
    pending, codes = [CandorError], set()
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        codes.add(cls.code)
    named = {code for code in codes if f'"{code}"' in sources}
    assert codes - named <= {"error", "other_server", "transport"}
