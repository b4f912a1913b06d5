"""The default store: one SQLite file."""

from survey_app.store.sql.account_queries import Accounts
from survey_app.store.sql.draft_queries import Drafts
from survey_app.store.sql.sharing_queries import AccessGrants
from survey_app.store.sqlite.contents import SqliteContents
from survey_app.store.sqlite.reports import Reports


class SqliteStore(AccessGrants, Reports, SqliteContents, Accounts, Drafts):
    """The store in one SQLite file; it implements `survey_app.store.Store`."""
