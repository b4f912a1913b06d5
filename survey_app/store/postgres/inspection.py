"""A look at a PostgreSQL database that changes nothing, and makes no tables."""

from dataclasses import dataclass

import psycopg

from survey_app.store.postgres.database import WAIT_SECONDS, check_address, first_line, place_of
from survey_app.store.postgres.schema import VERSION
from survey_app.store.postgres.server_settings import NAMES, faults
from survey_app.store.records import StoreError
from survey_app.store.sql.contents import MARK
from survey_app.store.sql.survey_rows import RUNNING


@dataclass(frozen=True)
class PostgresInspection:
    """What is there; version 0 where Candor has made no tables yet, `usable` where this Candor can work with it."""

    place: str
    server: str
    version: int
    usable: bool
    unfinished: bool
    untidy_since: str  # a day, or ""
    warnings: list[str]
    running: tuple[bytes, ...]  # the definitions of surveys that are not closed


def inspect(url: str) -> PostgresInspection:
    """Look at a database; StoreError, without its password, if it cannot be reached."""
    check_address(url)
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=int(WAIT_SECONDS)) as raw:
            raw.execute("set default_transaction_read_only = on")
            made = raw.execute("select to_regclass('settings')").fetchone()
            kept: dict[str, bytes] = (
                dict(raw.execute("select name, value from settings").fetchall()) if made and made[0] else {}
            )
            running = tuple(bytes(row[0]) for row in raw.execute(RUNNING)) if made and made[0] else ()
            said: dict[str, str] = dict(
                raw.execute("select name, setting from pg_settings where name = any(%s)", [list(NAMES)])
            )
            slots = [name for (name,) in raw.execute("select slot_name from pg_replication_slots order by 1")]
            number = raw.info.server_version
    except psycopg.Error as error:
        raise StoreError(first_line(error)) from None
    version = int(kept["version"]) if "version" in kept else 0
    since = bytes(kept.get("untidy_since", b"")).decode()[:10]
    usable = 0 < version <= VERSION or not kept
    server = f"{number // 10_000}.{number % 10_000}"
    told = faults(said, slots)
    return PostgresInspection(place_of(url), server, version, usable, MARK in kept, since, told, running)
