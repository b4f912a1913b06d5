"""Wrong calls, as people make them: each ends with one sentence that says what happened and what to do next."""

import re
import shlex
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from survey_app.cli import main
from survey_app.cli.exit_codes import CALLED_WRONGLY, DONE, NOT_DONE
from tests.golden_files import Golden
from tests.test_commands import ROOT

INVITED = "slug: inv\ntitle: T\nepsilon: 2\ninvitations: true\nquestions: [{id: a, type: yes_no, text: A}]\n"
FILES = {
    "bad.yaml": b"slug: exam\n  title: [\n", "empty.yaml": b"", "bytes": b"\xff\xfe\x00\x01" * 50, "garbage.db": b"not a database" * 100,
    "people.csv": b"name,email\nBo,bo@example.org\n", "columns.csv": b"a,b\n1,2\n", "cut.parquet": b"PAR1", "x.ndjson": b"{}\n", "x.xlsx": b"PK",
    "weights.yaml": b"exam: many\n", "answers.json": b"[1]", "truth.yaml": b"cheated: [\n", "list.yaml": b"- a\n", "names": b"\n", "pw": b"a long password",
}  # fmt: skip
MAIL = "survey mail inv people.csv --from a@example.org --server"
REFUSED = [  # the call is right, and cannot be done as things are
    "survey build none.yaml",
    "survey build campus.yaml",
    "survey build folder",
    "survey build loop",
    "survey build bytes",
    "survey build bad.yaml",
    "survey build empty.yaml",
    "--db sqlite:///garbage.db survey list",
    "--db sqlite:///folder survey list",
    "--db sqlite:///none.db survey list",
    "--db sqlite:///pw/x.db user add bob --password-file pw",
    "--db mysql://u:secret@h/x survey list",
    "--db candor.db survey list",
    "--db 'postgresql://u:secret secret@h/x' survey list",
    "--db postgresql://u:se@cret@h/x survey list",
    "survey show nobody",
    "survey set exam --size a=b",
    "results exam --weights weights.yaml",
    "results exam --total x=y",
    "crosstab exam cheated nothing",
    "regress exam --outcome cheated --covariates weights.yaml",
    "regress exam --outcome cheated --covariates truth.yaml",
    "export exam none/x.csv",
    "export exam /proc/x.csv",
    "tally none",
    "tally folder",
    "copy --from sqlite:///none.db --to sqlite:///new.db",
    "backup none/x.db",
    "backup pw",
    "backup folder",
    "restore garbage.db",
    "simulate exam --respondents 9 --truth truth.yaml --yes",
    "simulate exam --respondents 9 --truth list.yaml --yes",
    "simulate exam --respondents 9 --truth bytes --yes",
    "codebook none.yaml",
    "dossier exam -o none/x.html",
    "form none.json -o x.html",
    "form exam -o x.html --server ftp://x",
    "form --check pw",
    "shuffle x.ndjson y.ndjson",
    "user add ada --password-file pw",
    "user add bob --password-file bytes",
    "user disable nobody",
    "token revoke ada 12",
    "serve --port TAKEN",
    "serve --host 192.0.2.1",
    "CANDOR_RATE_LIMIT=lots serve",
    "respond http://127.0.0.1:CLOSED/s/exam",
    "respond ftp://127.0.0.1/s/exam",
    "respond http://example.org/s/exam",
    "ledger show --ledger folder",
    "ledger show --ledger bytes",
    "issuer key 'A B'",
    "--db sqlite:///candor.db issuer key exam",
    "--db postgresql://x issuer key exam",
    "issuer add http://127.0.0.1:CLOSED/s/exam",
    "issuer invite exam --count 3",
    "survey invite exam --count 3",
    "survey invite inv --names names",
    "survey invite inv --count 3 --names people.csv",
    "survey invited inv --names bytes",
    "survey mail inv columns.csv --from a@example.org --server http://127.0.0.1:CLOSED",
    f"{MAIL} http://127.0.0.1:CLOSED --template bytes",
    f"{MAIL} http://127.0.0.1:CLOSED --send --smtp 127.0.0.1:CLOSED",
    f"CANDOR_TOKEN=wrong {MAIL} http://127.0.0.1:CLOSED",
    "survey share exam nobody",
    "example nothing",
]
MISUSED = [  # the call itself is wrong
    "surve list",
    "survey set exam",
    "survey set exam --closes soon",
    "results exam exam",
    "regress exam --outcome cheated",
    "export exam x.doc",
    "copy --from sqlite:///candor.db --to sqlite:///candor.db",
    "plan",
    "plan --epsilon x",
    "dossier exam -o x.doc",
    "import bad.yaml",
    "audit none.yaml",
    "audit nobody",
    "audit bad.yaml",
    "audit exam.yaml --command /none --trials 100",
    "respond http://127.0.0.1:CLOSED/s/exam --limit x",
    "survey invite inv",
    "survey invite inv --count 2 --server nonsense",
    f"{MAIL} http://127.0.0.1:CLOSED --send",
    f"{MAIL} ftp://x",
    "survey share exam --withdraw",
]
LIBRARIES = {  # cannot be done, and the reason is in the words of a library: with what they are about
    "--db postgresql://u:secret@127.0.0.1:CLOSED/x survey list": "127.0.0.1",
    "import x.xlsx": "x.xlsx",
    "survey load exam cut.parquet": "cut.parquet",
    "tally cut.parquet": "cut.parquet",
}
PARSED = {  # the call is wrong, and the parsers, which are not ours, say so: with the word that they name
    "survey list --jsn": "--jsn",
    "results": "SLUG",
    "results exam --confidence 2": "--confidence",
    "CANDOR_TRUSTED_PROXIES=x serve": "--trusted-proxies",
    "demo --respondents -5": "--respondents",
    "completion powershell": "powershell",
    "ledger burn": "burn",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an account, two surveys, and files of all kinds that are wrong."""
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "inv.yaml").write_text(INVITED)
    shutil.copy(ROOT / "examples" / "exam.yaml", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("CANDOR_DB", raising=False)
        for words in ("user add ada --password-file pw", "survey add exam.yaml", "survey add inv.yaml"):
            assert CliRunner().invoke(main, words.split()).exit_code == 0
        yield folder


def invoke(place: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> tuple[Result, str]:
    """Return what a call does, and its words without the folder and the ports of this run."""
    monkeypatch.setenv("CANDOR_DB", "sqlite:///candor.db")
    if "issuer" in call or call.startswith("--db"):
        monkeypatch.delenv("CANDOR_DB")
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and nobody listens
        port, free = (one.getsockname()[1] for one in (taken, closed))
        words = shlex.split(call.replace("TAKEN", str(port)).replace("CLOSED", str(free)))
        while "=" in words[0]:
            monkeypatch.setenv(*words.pop(0).split("="))
        done = CliRunner().invoke(main, words, prog_name="candor")
    text = re.sub(r"(--port|DEMO=\"--port) \d+", r"\1 PORT", done.output.replace(str(place), "TMP"))
    return done, text


def check_error(done: Result, code: int) -> None:
    """Assert that a call ended with one line that begins as errors do, without what only a programmer can read."""
    assert done.exit_code == code, done.output
    assert not isinstance(done.exception, Exception), done.exception
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith(("Error: ", "candor: ", "candor respond: ", "candor ledger: "))
    assert "secret" not in done.output and "[Errno" not in line and "Traceback" not in done.output


@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_done_is_one_sentence(
    place: Path, monkeypatch: pytest.MonkeyPatch, call: str, golden: Golden
) -> None:
    done, text = invoke(place, monkeypatch, call)
    check_error(done, NOT_DONE)
    golden(text)


@pytest.mark.parametrize("call", MISUSED)
def test_a_wrong_call_is_one_sentence(place: Path, monkeypatch: pytest.MonkeyPatch, call: str, golden: Golden) -> None:
    done, text = invoke(place, monkeypatch, call)
    check_error(done, CALLED_WRONGLY)
    golden(text.splitlines()[-1])  # argparse prints the usage before


@pytest.mark.parametrize(("call", "named"), LIBRARIES.items())
def test_what_a_library_refuses_names_the_file(
    place: Path, monkeypatch: pytest.MonkeyPatch, call: str, named: str
) -> None:
    done, _ = invoke(place, monkeypatch, call)
    check_error(done, NOT_DONE)
    assert named in done.stderr


@pytest.mark.parametrize(("call", "named"), PARSED.items())
def test_what_the_parsers_refuse_names_the_word_and_the_help(
    place: Path, monkeypatch: pytest.MonkeyPatch, call: str, named: str
) -> None:
    done, _ = invoke(place, monkeypatch, call)
    check_error(done, CALLED_WRONGLY)
    assert named in done.stderr and ("--help" in done.stderr or "ledger" in call)


def test_a_count_may_repeat_the_number_of_names(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = invoke(place, monkeypatch, "survey invite inv --count 2 --names people.csv")
    assert done.exit_code == DONE and len(done.stdout.splitlines()) == 1 + 2


EXTRAS = [
    ("export exam x.parquet", "pyarrow", "candor-survey[parquet]"),
    ("export exam x.sav", "pyreadstat", "candor-survey[spss]"),
    ("import x.xlsx", "pyxform", "candor-survey[xlsform]"),
    ("tally cut.parquet", "pyarrow", "candor-survey[parquet]"),
    ("--db postgresql://h/x survey list", "psycopg", "candor-survey[postgres]"),
]


@pytest.mark.parametrize(("call", "package", "extra"), EXTRAS)
def test_what_needs_an_extra_says_which(
    place: Path, monkeypatch: pytest.MonkeyPatch, call: str, package: str, extra: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package or "store.postgres" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setenv("CANDOR_DB", "sqlite:///candor.db")
    done = CliRunner().invoke(main, shlex.split(call), prog_name="candor")
    assert done.exit_code == 1 and f"pip install '{extra}'" in done.stderr, done.output
