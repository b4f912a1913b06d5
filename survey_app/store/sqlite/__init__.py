"""The default store: one SQLite file."""

from survey_app.store.sql.accounts import Accounts
from survey_app.store.sql.drafts import Drafts
from survey_app.store.sql.people import People
from survey_app.store.sqlite.contents import SqliteContents
from survey_app.store.sqlite.reports import Reports


class SqliteStore(People, Reports, SqliteContents, Accounts, Drafts):
    """See `survey_app.store.Store`."""
