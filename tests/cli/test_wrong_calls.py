"""Wrong calls, as people make them: each ends with one sentence that says what happened and what to do next."""

import shlex
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey_app.cli import main
from tests.test_commands import ROOT

INVITED = "slug: inv\ntitle: T\nepsilon: 2\ninvitations: true\nquestions: [{id: a, type: yes_no, text: A}]\n"
FILES = {
    "bad.yaml": b"slug: exam\n  title: [\n", "empty.yaml": b"", "bytes": b"\xff\xfe\x00\x01" * 50, "garbage.db": b"not a database" * 100,
    "people.csv": b"name,email\nBo,bo@example.org\n", "columns.csv": b"a,b\n1,2\n", "cut.parquet": b"PAR1", "x.ndjson": b"{}\n", "x.xlsx": b"PK",
    "weights.yaml": b"exam: many\n", "answers.json": b"[1]", "truth.yaml": b"cheated: [\n", "list.yaml": b"- a\n", "names": b"\n", "pw": b"a long password",
}  # fmt: skip
MAIL = "survey mail inv people.csv --from a@example.org --server"
TRIES = [  # words, exit code, what happened, what to do next
    ("survey build none.yaml", 1, "there is no file none.yaml", "look whether its name is right"),
    ("survey build campus.yaml", 1, "there is no file campus.yaml", "candor example campus > campus.yaml"),
    ("survey build folder", 1, "folder is a folder", "name a file in it"),
    ("survey build loop", 1, "there is no file loop", "look whether"),
    ("survey build bytes", 1, "not UTF-8", "byte 0"),
    ("survey build bad.yaml", 1, "bad.yaml: line 2: not YAML", ""),
    ("survey build empty.yaml", 1, "must hold one survey", ""),
    ("--db sqlite:///garbage.db survey list", 1, "file is not a database", "candor doctor"),
    ("--db sqlite:///folder survey list", 1, "Is a directory", "candor doctor"),
    ("--db sqlite:///none.db survey list", 1, "there is no database at", "--db or CANDOR_DB"),
    ("--db sqlite:///pw/x.db user add bob --password-file pw", 1, "pw is no folder", "candor doctor"),
    ("--db mysql://u:secret@h/x survey list", 1, "names no store", "write sqlite:///candor.db"),
    ("--db candor.db survey list", 1, "names no store", "write sqlite:///candor.db"),
    ("--db postgresql://u:secret@127.0.0.1:CLOSED/x survey list", 1, "Connection refused", "candor doctor"),
    ("--db 'postgresql://u:secret secret@h/x' survey list", 1, "cannot be read", "%20 for a space"),
    ("--db postgresql://u:se@cret@h/x survey list", 1, "cannot be read", "%40 for @"),
    ("surve list", 2, "There is no command 'surve'", "Did you mean survey?"),
    ("survey list --jsn", 2, "No such option", "See candor survey list --help"),
    ("survey show nobody", 1, "there is no survey 'nobody'", "candor survey list"),
    ("survey set exam", 2, "say what to change", "--closes"),
    ("survey set exam --closes soon", 2, "soon must be a date", "2026-12-01T00:00Z"),
    ("survey set exam --size a=b", 1, "there is no group 'a'", "it is no study"),
    ("results", 2, "Missing argument 'SLUG…'", "--help"),
    ("results exam exam", 2, "named twice", "name each once"),
    ("results exam --weights weights.yaml", 1, "--weights is for several surveys", "leave it out"),
    ("results exam --total x=y", 1, "--total 'x=y'", "write QUESTION=A|B"),
    ("results exam --confidence 2", 2, "not in the range", "--help"),
    ("crosstab exam cheated nothing", 1, "no question 'nothing'", "the questions are cheated, help, hours"),
    ("regress exam --outcome cheated", 2, "give either --on QUESTION", "--covariates FILE"),
    ("regress exam --outcome cheated --covariates weights.yaml", 1, "all values must be numbers", ""),
    ("regress exam --outcome cheated --covariates truth.yaml", 1, "truth.yaml: line 2: not YAML", ""),
    ("export exam x.doc", 2, "names no format", "let it end in .csv"),
    ("export exam none/x.csv", 1, "there is no directory none", "make it first"),
    ("export exam /proc/x.csv", 1, "cannot write /proc/x.csv", "No such file"),
    ("tally none", 1, "there is no file none", ""),
    ("tally cut.parquet", 1, "is no Parquet file, or was cut off", ""),
    ("tally folder", 1, "no file in folder", ".parquet"),
    ("survey load exam cut.parquet", 1, "is no Parquet file", ""),
    ("copy --from sqlite:///candor.db --to sqlite:///candor.db", 2, "name the same database", "--help"),
    ("copy --from sqlite:///none.db --to sqlite:///new.db", 1, "there is no database", "look whether"),
    ("backup none/x.db", 1, "there is no folder", "make it first"),
    ("backup pw", 1, "pw is there already", "--force"),
    ("backup folder", 1, "folder is a folder", "name a file in it"),
    ("restore garbage.db", 1, "is no backup", "what candor backup made"),
    ("simulate exam --respondents 9 --truth truth.yaml --yes", 1, "truth.yaml: line 2: not YAML", ""),
    ("simulate exam --respondents 9 --truth list.yaml --yes", 1, "list.yaml", "write a name, a colon"),
    ("simulate exam --respondents 9 --truth bytes --yes", 1, "not a text file", "save it as one"),
    ("plan", 2, "Name a survey FILE", "--epsilon"),
    ("plan --epsilon x", 2, "not a positive number", "such as 1.5, or ln3"),
    ("codebook none.yaml", 1, "there is no file none.yaml", "look whether"),
    ("dossier exam -o x.doc", 2, "names no format", ".html"),
    ("dossier exam -o none/x.html", 1, "there is no directory none", "make it first"),
    ("form none.json -o x.html", 1, "there is no file none.json", "look whether"),
    ("form exam -o x.html --server ftp://x", 1, "no address of a server", "https://example.org"),
    ("form --check pw", 1, "not a form that Candor has made", ""),
    ("import bad.yaml", 2, "is no XLSForm", ".xlsx"),
    ("import x.xlsx", 1, "is no XLSForm", ""),
    ("shuffle x.ndjson y.ndjson", 1, "x.ndjson, line 1", "survey, id and bits"),
    ("audit none.yaml", 2, "there is no file none.yaml", "look whether"),
    ("audit nobody", 2, "there is no survey 'nobody'", "candor survey list"),
    ("audit bad.yaml", 2, "bad.yaml: line 2", ""),
    ("audit exam.yaml --command /none --trials 100", 2, "/none cannot be started", ""),
    ("user add ada --password-file pw", 1, "there is an account 'ada' already", ""),
    ("user add bob --password-file bytes", 1, "not a text file", "save it as one"),
    ("user disable nobody", 1, "there is no account 'nobody'", "candor user list"),
    ("token revoke ada 12", 1, "no token '12'", "candor token list ada"),
    ("serve --port TAKEN", 1, "cannot listen on 127.0.0.1:TAKEN", "Try --port"),
    ("serve --host 192.0.2.1", 1, "cannot listen on 192.0.2.1", "--host 127.0.0.1"),
    ("CANDOR_RATE_LIMIT=lots serve", 1, "CANDOR_RATE_LIMIT is 'lots'", "write 3000/minute"),
    ("CANDOR_TRUSTED_PROXIES=x serve", 2, "--trusted-proxies", "--help"),
    ("demo --respondents -5", 2, "--respondents", "not in the range"),
    ("respond http://127.0.0.1:CLOSED/s/exam", 1, "did not answer: Connection refused", "try again later"),
    ("respond ftp://127.0.0.1/s/exam", 1, "is not the address of a survey", "https://example.org/s/exam"),
    ("respond http://example.org/s/exam", 1, "is not encrypted", "Use https"),
    ("respond http://127.0.0.1:CLOSED/s/exam --limit x", 2, "'x' is not a number", "such as 2.5"),
    ("ledger burn", 2, "invalid choice: 'burn'", "show"),
    ("ledger show --ledger folder", 1, "cannot read the ledger folder", ""),
    ("ledger show --ledger bytes", 1, "is damaged", "Restore it from a backup"),
    ("issuer key 'A B'", 1, "is no slug", "a to z"),
    ("--db sqlite:///candor.db issuer key exam", 1, "no file of tickets", "--db sqlite:///issuer.db"),
    ("--db postgresql://x issuer key exam", 1, "names no file", "write sqlite:///issuer.db"),
    ("issuer add http://127.0.0.1:CLOSED/s/exam", 1, "did not answer", "try again later"),
    ("issuer invite exam --count 3", 1, "no definition of exam", "candor issuer add URL"),
    ("survey invite exam --count 3", 1, "anybody may answer exam", "invitations: true"),
    ("survey invite inv", 2, "say how many with --count", "--names"),
    ("survey invite inv --names names", 1, "names has no names", "write one a line"),
    ("survey invite inv --count 2 --names people.csv", 0, "", ""),
    ("survey invite inv --count 3 --names people.csv", 1, "people.csv has 2 names", "leave --count out"),
    ("survey invite inv --count 2 --server nonsense", 2, "'nonsense' is no address", "https://example.org"),
    ("survey invited inv --names bytes", 1, "not a text file", "save it as one"),
    ("survey mail inv columns.csv --from a@example.org --server http://127.0.0.1:CLOSED", 1, "columns.csv: line 1", "name,email"),
    (f"{MAIL} http://127.0.0.1:CLOSED --template bytes", 1, "not a text file", "save it as one"),
    (f"{MAIL} http://127.0.0.1:CLOSED --send", 2, "say which SMTP server", "--smtp HOST"),
    (f"{MAIL} http://127.0.0.1:CLOSED --send --smtp 127.0.0.1:CLOSED", 1, "no SMTP server", "look at --smtp"),
    (f"CANDOR_TOKEN=wrong {MAIL} http://127.0.0.1:CLOSED", 1, "did not answer", "try again later"),
    (f"{MAIL} ftp://x", 2, "'ftp://x' is no address", "https://example.org"),
    ("survey share exam nobody", 1, "there is no account 'nobody'", "candor user list"),
    ("survey share exam --withdraw", 2, "--withdraw takes a name", "--help"),
    ("example nothing", 1, "there is no example 'nothing'", "campus"),
    ("completion powershell", 2, "'powershell' is not one of", "'fish'"),
]  # fmt: skip


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


@pytest.mark.parametrize(("call", "code", "happened", "then"), TRIES, ids=[one[0] for one in TRIES])
def test_a_wrong_call_is_one_sentence_with_what_to_do(
    place: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, happened: str, then: str
) -> None:
    monkeypatch.setenv("CANDOR_DB", "sqlite:///candor.db")
    if "issuer" in call or call.startswith("--db"):
        monkeypatch.delenv("CANDOR_DB")
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and nobody listens
        port, free = (str(one.getsockname()[1]) for one in (taken, closed))
        words = shlex.split(call.replace("TAKEN", port).replace("CLOSED", free))
        while "=" in words[0]:
            monkeypatch.setenv(*words.pop(0).split("="))
        done = CliRunner().invoke(main, words, prog_name="candor")
    assert done.exit_code == code, done.output
    assert not isinstance(done.exception, Exception), done.exception
    if code == 0:
        return
    told = done.stderr.strip().splitlines()[-1]
    assert told.startswith(("Error: ", "candor: ", "candor respond: ", "candor ledger: "))
    assert happened.replace("TAKEN", port) in told and then in told
    assert "secret" not in done.output and "[Errno" not in told and "Traceback" not in done.output


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
