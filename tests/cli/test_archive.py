"""The codebook and the dossier from the command line: of a published survey, and of an author's file."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from candor_client.definition import Survey
from survey_app.cli import main
from survey_app.cli.exit_codes import CALLED_WRONGLY, NOT_DONE
from tests.fixtures import make, submission
from tests.golden_files import Golden
from tests.tree import parse

EXAM = str(Path(__file__).parents[2] / "examples" / "exam.yaml")


@pytest.fixture
def published(tmp_path: Path) -> Survey:
    store, made = make(tmp_path / "candor.db")
    store.write(lambda: [submission(made) for _ in range(45)])
    store.close()
    return made.survey


def candor(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", f"sqlite:///{folder}/candor.db", *words])


def test_the_codebook_of_a_survey_has_three_forms(published: Survey, tmp_path: Path) -> None:
    plain = candor(tmp_path, "codebook", "exam")
    assert plain.exit_code == 0, plain.output
    assert plain.stdout.startswith(f"# Codebook: {published.title}\n") and published.digest in plain.stdout
    page = candor(tmp_path, "codebook", "exam", "--html")
    assert parse(page.stdout).one("h1").text == f"Codebook: {published.title}"
    xml = candor(tmp_path, "codebook", "exam", "--ddi", "--digest", published.digest)
    root = ElementTree.fromstring(xml.stdout_bytes)  # noqa: S314 — what we have just written
    counts = [one.text for one in root.iter() if one.tag.endswith("caseQnty")]
    assert counts == ["25"]
    both = candor(tmp_path, "codebook", "exam", "--ddi", "--html")
    assert both.exit_code == 2 and "give only one" in both.output


def test_the_dossier_is_html_or_markdown_by_its_name(published: Survey, tmp_path: Path, golden: Golden) -> None:
    page, text = tmp_path / "dossier.html", tmp_path / "dossier.md"
    done = candor(tmp_path, "dossier", "exam", "-o", str(page), "--respondents", "2500")
    assert done.exit_code == 0, done.output
    assert "Planned for 2,500 respondents" in parse(page.read_text()).text
    assert candor(tmp_path, "dossier", "exam", "-o", str(text)).exit_code == 0
    assert text.read_text().startswith("# ") and published.digest in text.read_text()
    page.write_text("mine")
    again = candor(tmp_path, "dossier", "exam", "-o", str(page))
    assert again.exit_code == NOT_DONE and page.read_text() == "mine"
    golden(again.output)
    assert candor(tmp_path, "dossier", "exam", "-o", str(page), "--force").exit_code == 0
    assert page.read_text() != "mine"


def test_an_authors_file_will_do_and_makes_no_database(tmp_path: Path) -> None:
    page = tmp_path / "dossier.html"
    assert candor(tmp_path, "dossier", EXAM, "-o", str(page)).exit_code == 0
    assert "Planned for 1,000 respondents" in parse(page.read_text()).text
    said = candor(tmp_path, "codebook", EXAM, "--ddi")
    assert said.exit_code == 0 and "caseQnty" not in said.stdout
    assert not (tmp_path / "candor.db").exists()


def test_the_dossier_of_a_study_has_all_groups_before_publishing_and_after(tmp_path: Path) -> None:
    file, before, after = tmp_path / "study.yaml", tmp_path / "before.md", tmp_path / "after.md"
    groups = "groups: {north: {label: North, size: 90}, south: {label: South, size: 60}}"
    file.write_text(
        f"slug: exam\ntitle: Exam\ninvitations: true\n{groups}\n"
        "questions: [{id: a, type: yes_no, text: A?, design: coin}]\n"
    )
    (tmp_path / "password").write_text("a long enough password")
    user = ["user", "add", "ada", "--password-file", str(tmp_path / "password")]
    for words in (user, ["dossier", str(file), "-o", str(before)], ["survey", "add", str(file)]):
        assert candor(tmp_path, *words).exit_code == 0
    done = candor(tmp_path, "dossier", "exam", "-o", str(after))
    assert done.exit_code == 0 and str(after) in done.output
    digests = [
        line.split()[1]
        for line in candor(tmp_path, "survey", "show", "exam").stdout.splitlines()
        if line.startswith("digest")
    ]
    early, late = before.read_text(), after.read_text()
    assert len(digests) == 2 and all(one in late and one not in early for one in digests)
    assert "Planned for 150 respondents of all 2 groups" in early and "| South | 60 | 40% | 60 |" in late
    coded = candor(tmp_path, "codebook", str(file))
    assert "| Definition, SHA-256 | `made at publishing` |" in coded.stdout
    assert "publish" in candor(tmp_path, "codebook", str(file), "--ddi").output
    assert "has no digest before" in candor(tmp_path, "codebook", str(file), "--digest", digests[0]).output


@pytest.mark.parametrize(
    ("words", "exit_code", "named"),
    [
        (["codebook", "nowhere"], NOT_DONE, "'nowhere'"),
        (["codebook", "nowhere.yaml"], NOT_DONE, "nowhere.yaml"),
        (["codebook", EXAM, "--digest", "0" * 64], NOT_DONE, "exam.yaml"),
        (["dossier", "exam", "-o", "dossier.doc"], CALLED_WRONGLY, ".html, .htm, .md"),
        (["dossier", "exam", "-o", "nowhere/dossier.md"], NOT_DONE, "nowhere"),
    ],
    ids=["survey", "file", "digest", "format", "folder"],
)
def test_refusals_are_one_clear_sentence(
    published: Survey, tmp_path: Path, words: list[str], exit_code: int, named: str, golden: Golden
) -> None:
    done = candor(tmp_path, *words)
    assert done.exit_code == exit_code and named in done.output and done.output.count("\n") == 1
    golden(done.output)
