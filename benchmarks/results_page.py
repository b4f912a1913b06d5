"""How long the results page takes at 10^3 and at 10^7 reports: `python -m benchmarks.results_page` (half an hour).

The page reads the tally, so the number of reports should not matter.
Both surveys are in one SQLite file with all their reports. Every request has its own confidence level,
so that nothing comes from the cache of documents. Rounds alternate, and the median counts.
"""

import secrets
import statistics
import tempfile
import time
from pathlib import Path

import click
import numpy as np
from flask.testing import FlaskClient

from survey_app import create_app
from survey_app.assure.simulation import devices
from survey_app.authoring import build
from survey_app.authoring.terms import Terms
from survey_app.plan.simulated_people import draw_people
from survey_app.store import Member, PublishedSurvey, Submission
from survey_app.store.sqlite import SqliteStore

FEW, MANY, ROUNDS = 10**3, 10**7, 15
GOAL = 1.5
CAMPUS = Path(__file__).parent.parent / "examples" / "campus.yaml"


def add_survey(store: SqliteStore, owner: int, slug: str, count: int) -> PublishedSurvey:
    """Publish the campus survey under another slug, store `count` simulated reports, and return the survey."""
    survey = build(CAMPUS.read_bytes().replace(b"slug: campus", f"slug: {slug}".encode())).survey
    published = store.add_surveys([Member(survey, Terms(public=True))], owner=owner)[0]
    rng = np.random.default_rng()
    for start in range(0, count, devices.CHUNK):
        indices = draw_people(survey, {}, min(devices.CHUNK, count - start), rng)
        for rows in devices.reports(survey, indices, rng):
            store.write([Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows].copy)
    return published


def time_request(client: FlaskClient, slug: str, place: int) -> float:
    """Return the seconds of one uncached request for a results page; raise RuntimeError if it fails."""
    start = time.perf_counter()
    answer = client.get(f"/results/{slug}?confidence={0.9 + place / 1000}")
    if answer.status_code != 200:
        raise RuntimeError(f"{slug}: {answer.status}")
    return time.perf_counter() - start


@click.command()
@click.option(
    "--reports", "many", type=click.IntRange(1), default=MANY, show_default=True, help="Of the larger survey."
)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True, help="Of which the median counts.")
def main(many: int, rounds: int) -> None:
    """Print the two times and their ratio."""
    print(f"\nResults page: {FEW:,} and {many:,} reports of the sample survey, median of {rounds} alternating rounds")
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "candor.db")
        client = create_app({"RATE_LIMIT": "off"}, store).test_client()
        owner = store.add_user("ada", "no password opens this").key
        counts = {"few": FEW, "many": many}
        for slug, count in counts.items():
            add_survey(store, owner, slug, count)
            time_request(client, slug, rounds)
        times: dict[str, list[float]] = {slug: [] for slug in counts}
        for number in range(rounds):
            for slug in counts:
                times[slug].append(time_request(client, slug, number))
        store.close()
    medians = {slug: statistics.median(values) for slug, values in times.items()}
    for slug, count in counts.items():
        print(f"{count:>12,} reports {1000 * medians[slug]:8.1f} ms")
    print(f"ratio {medians['many'] / medians['few']:.2f} (goal at most {GOAL})")


if __name__ == "__main__":
    main()
