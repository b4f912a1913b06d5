"""Warnings about server settings that keep the order of arrival, or that risk the loss of acknowledged reports.

The store can rewrite its tables, but not the other files of the server. `docs/operations.md` says what to do.
"""

from survey_app.store.postgres.database import Database

SETTING_NAMES = (
    "archive_mode", "auto_explain.log_min_duration", "fsync", "full_page_writes", "log_min_duration_sample",
    "log_min_duration_statement", "log_statement", "shared_preload_libraries", "track_commit_timestamp", "wal_level",
    "wal_recycle",
)  # fmt: skip


class ServerSettings(Database):
    """The settings of the PostgreSQL server that an operator should check before people answer."""

    def warnings(self) -> list[str]:
        """Return one sentence for each unsafe setting; settings that this account may not read are skipped."""
        settings = dict(
            self._fetch_all("select name, setting from pg_settings where name = any(?)", list(SETTING_NAMES))
        )
        slots = self._fetch_all("select slot_name from pg_replication_slots order by slot_name")
        return find_faults(settings, [name for (name,) in slots])


def find_faults(settings: dict[str, str], slots: list[str]) -> list[str]:
    """Return one sentence for each fault of these settings and replication slots."""

    def is_on(name: str) -> bool:
        return settings.get(name, "off") not in ("off", "none", "-1")

    texts = []
    if is_on("archive_mode"):
        texts.append("archive_mode is on: archived WAL keeps every report in the order of arrival")
    if slots:
        texts.append(f"there are replication slots ({', '.join(slots)}): their WAL keeps the order of arrival")
    if settings.get("wal_level") == "logical":
        texts.append(
            "wal_level is logical: its purpose is to pass on every report in the order of arrival; set it to replica"
        )
    if is_on("wal_recycle"):
        texts.append("wal_recycle is on: old WAL stays on disk, with the order of arrival, until it is overwritten")
    if is_on("track_commit_timestamp"):
        texts.append("track_commit_timestamp is on: PostgreSQL keeps the time of every commit")
    if settings.get("log_statement") in ("mod", "all"):
        texts.append(f"log_statement is {settings['log_statement']}: the log records when reports came")
    for name in ("log_min_duration_statement", "log_min_duration_sample", "auto_explain.log_min_duration"):
        if is_on(name):
            texts.append(f"{name} is {settings[name]}: the log keeps statements with their times")
    if "pg_stat_statements" in settings.get("shared_preload_libraries", ""):
        texts.append("pg_stat_statements is loaded: make sure that it keeps no values of statements")
    for name in ("fsync", "full_page_writes"):
        if settings.get(name) == "off":
            texts.append(f"{name} is off: acknowledged data may be lost if the machine fails")
    return texts
