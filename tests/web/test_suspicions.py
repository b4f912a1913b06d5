"""Reports that no honest devices send: the page and the terminal say so, and are quiet otherwise."""

import json
import secrets

from click.testing import CliRunner

from candor_client import Report, randomize
from survey_app.assure.manipulation import describe_manipulation
from survey_app.cli import main
from survey_app.store import Submission
from tests.fixtures import Installation
from tests.golden_files import Golden, page_text
from tests.paper_surveys import read_page
from tests.words import word

NOTICE = '<section class="notice" aria-labelledby="suspicions-title">'


def test_fakes_that_never_flip_are_told_and_honest_reports_are_not(installation: Installation, golden: Golden) -> None:
    """False alarm below 1e-3 by the test, and below 1e-10 here: an honest share of one half is far from both ends."""
    published = installation.publish()
    honest = [randomize(published.survey, {"cheated": place % 2 == 0}) for place in range(100)]
    send(installation, published.key, honest)
    assert NOTICE not in installation.client.get("/results/exam").text
    send(
        installation,
        published.key,
        [Report(published.survey.digest, secrets.token_bytes(16), b"\x80") for _ in range(900)],
    )
    (finding,) = describe_manipulation(published.survey, installation.store.snapshot(published))
    told = page_text(installation.client.get("/results/exam").text, NOTICE, "</section>")
    assert finding in told
    golden(told.replace(finding, "FINDING"), "page")
    base = ["--db", f"sqlite:///{installation.store.path}", "results", "exam"]
    paragraph = " ".join(CliRunner().invoke(main, base).stdout.rpartition("\n\n")[2].split())
    assert paragraph.endswith(finding)
    golden(paragraph.removesuffix(finding), "terminal")
    assert json.loads(CliRunner().invoke(main, [*base, "--json"]).stdout).keys() >= {"reports", "questions"}


def send(installation: Installation, survey: int, reports: list[Report]) -> None:
    installation.store.write(lambda: [Submission(survey, report.id, report.bits) for report in reports])


def test_what_several_surveys_and_households_give_away_is_told_in_the_surveys_own_numbers(
    installation: Installation,
) -> None:
    installation.publish()
    page = read_page(installation.client, "privacy")
    assert word("privacy.surveys", epsilon="1.1", twice="2.2", limit="8", server_limit="24") in page
    assert word("privacy.groups") in page
    data = installation.client.get("/s/exam").text.partition('id="words">')[2].partition("</script>")[0]
    assert json.loads(data)["strings"]["en"]["household"] == word("form.household")
