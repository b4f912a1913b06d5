"""The default store: one SQLite file."""

from survey_app.store.sqlite.accounts import Accounts
from survey_app.store.sqlite.drafts import Drafts
from survey_app.store.sqlite.people import People
from survey_app.store.sqlite.reports import Reports


class SqliteStore(People, Reports, Accounts, Drafts):
    """See `survey_app.store.Store`."""
