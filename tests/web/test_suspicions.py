"""Reports that no honest devices send: the page and the terminal say so, and are quiet otherwise."""

import re
import secrets

from click.testing import CliRunner

from candor_client import Report, randomize
from survey_app.cli import main
from survey_app.store import Submission
from tests.fixtures import Installation

TOLD = "Some of these reports cannot be honest"


def test_fakes_that_never_flip_are_told_and_honest_reports_are_not(installation: Installation) -> None:
    """False alarm below 1e-3 by the test, and below 1e-10 here: an honest share of one half is far from both ends."""
    published = installation.publish()
    honest = [randomize(published.survey, {"cheated": place % 2 == 0}) for place in range(100)]
    send(installation, published.key, honest)
    assert TOLD not in installation.client.get("/results/exam").text
    send(
        installation,
        published.key,
        [Report(published.survey.digest, secrets.token_bytes(16), b"\x80") for _ in range(900)],
    )
    page = installation.client.get("/results/exam").text
    assert TOLD in page and "“yes” (cheated) was named too often to be honest" in page and "by invitation" in page
    base = ["--db", f"sqlite:///{installation.store.path}", "results", "exam"]
    assert TOLD in CliRunner().invoke(main, base).stdout
    assert TOLD not in CliRunner().invoke(main, [*base, "--json"]).stdout


def send(installation: Installation, survey: int, reports: list[Report]) -> None:
    installation.store.write(lambda: [Submission(survey, report.id, report.bits) for report in reports])


def test_what_several_surveys_and_households_give_away_is_told_in_the_surveys_own_numbers(
    installation: Installation,
) -> None:
    installation.publish()
    page = installation.client.get("/s/exam/privacy").text.replace("\xa0", " ")
    assert re.search(r"two of them with ε = 1\.1\d* tell as much as one with ε = 2\.2", page)
    assert "ε = 8" in page and "ε = 24" in page and "of a household for example" in page
    assert "counts once for each of them who answers" in installation.client.get("/s/exam").text
