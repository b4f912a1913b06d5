"""Inspecting a PostgreSQL database without changing it or creating tables."""

from dataclasses import dataclass

import psycopg

from survey_app.store.postgres.database import WAIT_SECONDS, check_address, first_line, place_of
from survey_app.store.postgres.schema import VERSION
from survey_app.store.postgres.server_settings import SETTING_NAMES, find_faults
from survey_app.store.records import StoreError
from survey_app.store.sql.contents import COPY_SETTING
from survey_app.store.sql.survey_rows import SELECT_RUNNING


@dataclass(frozen=True)
class PostgresInspection:
    """The state of a database.

    `version` is 0 if Candor has created no tables yet. `is_usable` means that this Candor can work with it.
    """

    place: str
    server: str
    version: int
    is_usable: bool
    is_unfinished_copy: bool
    rewrite_failing_since: str  # a day, or ""
    warnings: list[str]
    running_definitions: tuple[bytes, ...]  # the definitions of surveys that are not closed


def inspect(url: str) -> PostgresInspection:
    """Inspect the database at a URL. Raise StoreError, without its password, if it cannot be reached."""
    check_address(url)
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=int(WAIT_SECONDS)) as raw:
            raw.execute("set default_transaction_read_only = on")
            table = raw.execute("select to_regclass('settings')").fetchone()
            settings: dict[str, bytes] = (
                dict(raw.execute("select name, value from settings").fetchall()) if table and table[0] else {}
            )
            running = tuple(bytes(row[0]) for row in raw.execute(SELECT_RUNNING)) if table and table[0] else ()
            server_settings: dict[str, str] = dict(
                raw.execute("select name, setting from pg_settings where name = any(%s)", [list(SETTING_NAMES)])
            )
            slots = [name for (name,) in raw.execute("select slot_name from pg_replication_slots order by 1")]
            number = raw.info.server_version
    except psycopg.Error as error:
        raise StoreError(first_line(error)) from None
    version = int(settings["version"]) if "version" in settings else 0
    since = bytes(settings.get("untidy_since", b"")).decode()[:10]
    usable = 0 < version <= VERSION or not settings
    server = f"{number // 10_000}.{number % 10_000}"
    warnings = find_faults(server_settings, slots)
    return PostgresInspection(
        place_of(url), server, version, usable, COPY_SETTING in settings, since, warnings, running
    )
