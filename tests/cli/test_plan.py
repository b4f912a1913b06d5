"""The command `candor plan`: its words, its JSON, and the page that shows it."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from survey_app.cli import main
from tests.golden_files import Golden
from tests.published_plans import ROOT


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments], prog_name="candor")


def test_the_command_speaks_json() -> None:
    found = json.loads(run(str(ROOT / "examples" / "exam.yaml"), "--json", "--respondents", "500").stdout)
    assert [line["id"] for line in found["lines"]] == ["cheated", "help", "hours"]
    assert found["settings"]["respondents"] == 500
    assert found["lines"][0]["respondents"] == 1399
    assert [way["ask"] for way in found["ways"]] == ["all", "one", "auto"]
    assert found["ways"][0]["lines"] == found["lines"]
    assert found["choice"]["ask"] == "all"
    single = json.loads(run("--epsilon", "1", "--margin", "5%", "--json").stdout)
    assert single["outlooks"][0]["precision"] == {"respondents": 1661, "margin": 0.05}
    levels = json.loads(run("--guidance", "--json").stdout)
    assert levels[0]["epsilon"] is None
    assert len(levels) == 8


def test_a_small_population_is_all_there_is(golden: Golden) -> None:
    exam = str(ROOT / "examples" / "exam.yaml")
    document = json.loads(run(exam, "--population", "300", "--json").stdout)
    assert document["settings"]["respondents"] == 300
    assert all(line["respondents"] is None for line in document["lines"])
    golden(run(exam, "--population", "300").stdout, "file")
    golden(run("--epsilon", "1", "--margin", "0.05", "--population", "300").stdout, "question")


def test_a_hopeless_question_is_called_so(golden: Golden) -> None:
    golden(run("--epsilon", "0.01", "--margin", "0.01").stdout, "too many")
    golden(run("--epsilon", "0.1", "--respondents", "100").stdout, "too wide")
    golden(run("--epsilon", "1", "--respondents", "1000").stdout, "fine")


WRONG = [
    "",
    "--margin 0.1",
    "--epsilon 1",
    "--epsilon 1 --margin 0.1 --respondents 10",
    "--epsilon none --margin 0.1",
    "--epsilon ln1 --margin 0.1",
    "--epsilon -1 --margin 0.1",
    "--epsilon 1e9 --margin 0.1",
    "--epsilon 1 --margin 5",
    "--epsilon 1 --margin 0",
    "--epsilon 1 --margin 0.1 --confidence 1",
    "--epsilon 1 --margin 0.1 --power 1",
    "--epsilon 1 --margin 0.1 --delta 1",
    "--epsilon 1 --margin 0.1 --type choice",
    "--epsilon 1 --margin 0.1 --options 4",
    "--epsilon 1 --margin 0.1 --min 4",
    "--epsilon 1 --margin 0.1 --type number --share 0.1",
    "--epsilon 1 --margin 0.1 --type number --max 10 --step 3",
    "--epsilon 1 --margin 0.1 --type number --min 100",
    "--epsilon 1 --margin 0.1 --type number --max x",
    "--epsilon 1 --margin 0.1 --type number --mean 101",
    "--epsilon 1 --margin 0.1 --type number --sd -1",
    "--epsilon 1 --margin 0.1 --type number --bins 4 --mechanism laplace",
    "--epsilon 1 --margin 0.1 --type number --optional --mechanism laplace",
    "--epsilon 1 --margin 0.1 --against 2",
    "--epsilon 1 --margin 0.1 --cross a,b",
    "--epsilon 1 --margin 0.1 --sample --population 10",
    "--epsilon 1 --respondents 100 --population 10",
    "--guidance --epsilon 1",
    "FILE --type yes_no",
    "FILE --mean 3",
    "FILE --cross cheated,none",
    "FILE --respondents 100 --population 10",
]


@pytest.mark.parametrize("arguments", WRONG)
def test_options_that_do_not_go_together_are_explained(arguments: str, golden: Golden) -> None:
    done = run(*arguments.replace("FILE", str(ROOT / "examples" / "exam.yaml")).split())
    assert done.exit_code == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    golden(done.stderr)


def test_a_file_that_is_no_survey_is_explained(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "wrong.yaml").write_text("slug: a\ntitle: A\nquestions: [{id: a, type: yes_no, text: '?'}]\n")
    done = run(str(tmp_path / "wrong.yaml"))
    assert done.exit_code == 1
    golden(done.stderr)


def test_the_page_shows_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "planning.md").read_text()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(text)
    shown = re.findall(r"```console\n\$ candor plan ([^\n]*)\n(.*?)```", page, re.DOTALL)
    assert len(shown) >= 6
    for arguments, output in shown:
        done = run(*arguments.split())
        assert done.exit_code == 0, done.output
        assert done.stdout == output, arguments


def test_a_second_group_may_be_said_in_percent(golden: Golden) -> None:
    """As the share of the first may; the mean of a number may not."""
    one = ["plan", "--epsilon", "1", "--respondents", "1000", "--share", "20%", "--against"]
    runner = CliRunner()
    assert runner.invoke(main, [*one, "30%"]).stdout == runner.invoke(main, [*one, "0.3"]).stdout != ""
    mean = run(*["--epsilon", "1", "--respondents", "9", "--type", "number", "--against", "30%"])
    assert mean.exit_code == 2
    golden(mean.stderr)


def test_with_blocks_nothing_is_planned_about_the_respondents_alone(tmp_path: Path, golden: Golden) -> None:
    """The results would have no such intervals."""
    file = tmp_path / "s.yaml"
    asked = "slug: s\ntitle: S\nepsilon: 2\nask: {}\nquestions: [{}]"
    both = ", ".join(f"{{id: {name}, type: choice, text: '?', options: [a, b, c, d, e]}}" for name in "ab")
    file.write_text(asked.format("one", both))
    question = ["--epsilon", "4", "--questions", "9", "--ask", "one", "--respondents", "500"]
    for name, words in (("file", [str(file)]), ("question", question)):
        refused = run(*words, "--sample")
        assert refused.exit_code == 2
        golden(refused.stderr, name)
    file.write_text(asked.format("all", both))
    alone, usual = (json.loads(run(str(file), "--json", *more).stdout)["ways"] for more in (["--sample"], []))
    assert alone[1:] == usual[1:]
    assert alone[0]["lines"][0]["margin"] < usual[0]["lines"][0]["margin"]
    golden(run(str(file), "--sample").stdout, "alone")
