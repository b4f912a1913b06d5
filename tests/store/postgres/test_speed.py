"""A batch costs at most twice what COPY costs alone, for the same rows and the same key, measured in turns in one run.

The disk is left out (`fsync` off, as for all tests): it would cost both sides the same. A busy machine disturbs single
turns, so the quickest of each side are compared.
"""

import secrets
import time

import psycopg
import pytest

from survey_app.store import Outcome, Submission
from survey_app.store.postgres.database import Session
from survey_app.store.postgres.reports import copy_in
from survey_app.tally import rows_of
from tests.house import begin
from tests.postgres import Postgres
from tests.store.conftest import PostgresPlace

ROWS, TURNS = 8192, 12


@pytest.mark.slow
def test_batches_reach_half_the_speed_of_a_bare_copy(postgres: Postgres) -> None:
    place = PostgresPlace(postgres)
    store = place.open()
    published = begin(store)
    bare: list[float] = []
    stored: list[float] = []
    with psycopg.connect(place.url, autocommit=True) as raw:
        raw.execute("create table reports_0 (id bytea primary key, bits bytea not null)")
        for _ in range(TURNS):
            made = [Submission(published.key, secrets.token_bytes(16), secrets.token_bytes(1)) for _ in range(ROWS)]
            start = time.perf_counter()
            with raw.transaction():
                copy_in(Session(raw), 0, rows_of([one.id + one.bits for one in made]))
            bare.append(time.perf_counter() - start)
            start = time.perf_counter()
            outcomes = store.write(made.copy)
            stored.append(time.perf_counter() - start)
            assert outcomes == [Outcome.STORED] * ROWS
        raw.execute("drop table reports_0")
    store.close()
    ratio = min(bare) / min(stored)
    assert ratio >= 0.5, f"{ratio:.2f} of a bare COPY"
