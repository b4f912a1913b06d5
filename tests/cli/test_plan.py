"""The command `candor plan`: its words, its JSON, and the page that shows it."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from survey_app.cli import main
from tests.published_plans import ROOT


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments])


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


def test_a_small_population_is_all_there_is() -> None:
    found = run(str(ROOT / "examples" / "exam.yaml"), "--population", "300")
    assert "margins at 300 respondents" in found.stdout
    assert "more than there are" in found.stdout
    one = run("--epsilon", "1", "--margin", "0.05", "--population", "300").stdout
    assert "all 300 together: ±" in one


def test_a_hopeless_question_is_called_so() -> None:
    assert "more than any survey reaches" in run("--epsilon", "0.01", "--margin", "0.01").stdout
    assert "as wide as all that is possible" in run("--epsilon", "0.1", "--respondents", "100").stdout
    fine = run("--epsilon", "1", "--respondents", "1000").stdout
    assert "reaches" not in fine
    assert "possible" not in fine


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "Name a survey FILE"),
        ("--margin 0.1", "Name a survey FILE"),
        ("--epsilon 1", "Give --margin"),
        ("--epsilon 1 --margin 0.1 --respondents 10", "give only one"),
        ("--epsilon none --margin 0.1", "not a positive number"),
        ("--epsilon ln1 --margin 0.1", "not a positive number"),
        ("--epsilon -1 --margin 0.1", "not a positive number"),
        ("--epsilon 1e9 --margin 0.1", "nothing is protected"),
        ("--epsilon 1 --margin 5", "not a part of 1"),
        ("--epsilon 1 --margin 0", "such as 0.05 for 5 points"),
        ("--epsilon 1 --margin 0.1 --confidence 1", "between 0 and 1"),
        ("--epsilon 1 --margin 0.1 --power 1", "between 0 and 1"),
        ("--epsilon 1 --margin 0.1 --delta 1", "small probability"),
        ("--epsilon 1 --margin 0.1 --type choice", "needs --options"),
        ("--epsilon 1 --margin 0.1 --options 4", "--options is for"),
        ("--epsilon 1 --margin 0.1 --min 4", "--min is for numbers"),
        ("--epsilon 1 --margin 0.1 --type number --share 0.1", "--share is for shares"),
        ("--epsilon 1 --margin 0.1 --type number --max 10 --step 3", "divide max - min"),
        ("--epsilon 1 --margin 0.1 --type number --min 100", "must be above min"),
        ("--epsilon 1 --margin 0.1 --type number --max x", "not a decimal number"),
        ("--epsilon 1 --margin 0.1 --type number --mean 101", "outside of the range"),
        ("--epsilon 1 --margin 0.1 --type number --sd -1", "standard deviation"),
        ("--epsilon 1 --margin 0.1 --type number --bins 4 --mechanism laplace", "give only one"),
        ("--epsilon 1 --margin 0.1 --type number --optional --mechanism laplace", "everybody answers"),
        ("--epsilon 1 --margin 0.1 --ask 2", "'2' is not one of 'one', 'all'"),
        ("--epsilon 1 --margin 0.1 --against 2", "outside of the possible range"),
        ("--epsilon 1 --margin 0.1 --cross a,b", "--cross is for the questions of a FILE"),
        ("--epsilon 1 --margin 0.1 --sample --population 10", "give only one"),
        ("--epsilon 1 --respondents 100 --population 10", "more than the population"),
        ("--guidance --epsilon 1", "stands alone"),
        ("FILE --type yes_no", "--type is for one question"),
        ("FILE --mean 3", "--mean is for one question"),
        ("FILE --cross cheated,none", "there is no question 'none'"),
        ("FILE --respondents 100 --population 10", "more than the population"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_explained(arguments: str, said: str) -> None:
    done = run(*arguments.replace("FILE", str(ROOT / "examples" / "exam.yaml")).split())
    assert done.exit_code == 2
    assert said in done.stderr, done.output


def test_a_file_that_is_no_survey_is_explained(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("slug: a\ntitle: A\nquestions: [{id: a, type: yes_no, text: '?'}]\n")
    done = run(str(tmp_path / "wrong.yaml"))
    assert done.exit_code == 1
    assert "wrong.yaml: line 3, questions[0]: has no ε" in done.stderr


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


def test_a_second_group_may_be_said_in_percent() -> None:
    """As the share of the first may; the mean of a number may not."""
    one = ["plan", "--epsilon", "1", "--respondents", "1000", "--share", "20%", "--against"]
    runner = CliRunner()
    assert runner.invoke(main, [*one, "30%"]).stdout == runner.invoke(main, [*one, "0.3"]).stdout != ""
    mean = runner.invoke(main, ["plan", "--epsilon", "1", "--respondents", "9", "--type", "number", "--against", "30%"])
    assert (mean.exit_code, "a mean here, such as 30" in mean.output) == (2, True)


def test_with_blocks_nothing_is_planned_about_the_respondents_alone(tmp_path: Path) -> None:
    """The results would have no such intervals."""
    file = tmp_path / "s.yaml"
    asked = "slug: s\ntitle: S\nepsilon: 2\nask: {}\nquestions: [{}]"
    both = ", ".join(f"{{id: {name}, type: choice, text: '?', options: [a, b, c, d, e]}}" for name in "ab")
    file.write_text(asked.format("one", both))
    for words in ([str(file)], ["--epsilon", "4", "--questions", "9", "--ask", "one", "--respondents", "500"]):
        refused = run(*words, "--sample")
        assert (refused.exit_code, "where each device draws its block" in refused.output) == (2, True), words
    file.write_text(asked.format("all", both))
    alone, usual = (json.loads(run(str(file), "--json", *more).stdout)["ways"] for more in (["--sample"], []))
    assert alone[1:] == usual[1:]
    assert alone[0]["lines"][0]["margin"] < usual[0]["lines"][0]["margin"]
    assert "about these respondents alone, with blocks about a large population" in run(str(file), "--sample").stdout
