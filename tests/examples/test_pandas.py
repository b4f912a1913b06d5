"""The script for pandas, run as it stands against a real server: its tables are the results, its fit is the server's."""

import contextlib
import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candor_client.definition import Survey
from survey_app.assure.simulation import devices
from survey_app.authoring.terms import Terms
from survey_app.results.export import write_csv_chunks
from survey_app.store import Submission
from survey_app.tally import Bits
from tests.examples.studies import FOLDER, Study
from tests.fixtures import TOKEN, build
from tests.server_process import Server

SCRIPT = FOLDER / "results_in_pandas.py"
STUDY = Study("honesty")
PEOPLE = (
    20_000  # then no cell of the turned-back table comes out negative: the smallest is 17 standard errors from zero
)


def students(survey: Survey) -> Bits:
    """Reports of a class in which the unprepared copy more often: by a log odds ratio of ln 3."""
    rng = np.random.default_rng()
    unprepared = (rng.random(PEOPLE) < 0.4).astype(np.int64)
    copied = (rng.random(PEOPLE) < np.where(unprepared, 0.5, 0.25)).astype(np.int64)
    return np.concatenate(list(devices.reports(survey, {"copied": copied, "unprepared": unprepared}, rng)))


@pytest.mark.slow
def test_the_script_shows_the_results_and_fits_by_hand_what_the_server_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installation = build(tmp_path)
    published = installation.publish(STUDY.built_survey.survey, **vars(Terms(public=False)))
    rows = students(published.survey)
    installation.store.write(
        lambda: [Submission(published.key, at.to_bytes(16), row.tobytes()) for at, row in enumerate(rows)]
    )
    installation.close()
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "bits.csv").write_bytes(b"".join(write_csv_chunks(published.survey, [rows])))
    server = Server(tmp_path / "candor.db", workers=1)
    server.start()
    try:
        words = [f"http://127.0.0.1:{server.port}", "honesty", "--outcome", "copied", "--on", "unprepared"]
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *words, "--token-file", str(tmp_path / "token")])
        script = runpy.run_path(str(SCRIPT), run_name="__main__")
        results = fetched(server, "results")
        fitted = fetched(server, "regression?outcome=copied&on=unprepared")
    finally:
        server.stop()
    said = capsys.readouterr().out
    for part in results["questions"]:
        for line in part["estimates"]:
            shown = [f"{line[key]:.3f}" for key in ("estimate", "low", "high")]
            assert re.search(rf"{line['option']} +{line['n']} +{' +'.join(shown)} +guaranteed", said)
    (apart,) = re.findall(r"^largest difference: (.*)$", said, re.MULTILINE)
    assert float(apart) < 1e-5, "of maximum likelihood and of a table turned back"

    again = script["by_hand"](
        json.loads(published.survey.source), script["pd"].read_csv(tmp_path / "bits.csv"), "copied", "unprepared"
    )
    slope, server_slope = again.loc["unprepared: yes"], fitted["coefficients"][1]
    assert slope["n"] > server_slope["n"] >= PEOPLE - 20, "the server shows its reports in steps"
    assert abs(slope["estimate"] - np.log(3)) < 6 * slope["standard_error"], "one of 10^8 suites would miss the truth"
    assert slope["low"] > 0, "and see no slope"


def fetched(server: Server, path: str) -> Any:
    with contextlib.closing(server.connect()) as connection:
        connection.request("GET", f"/api/surveys/honesty/{path}", headers={"Authorization": f"Bearer {TOKEN}"})
        reply = connection.getresponse()
        assert reply.status == 200
        return json.loads(reply.read())
