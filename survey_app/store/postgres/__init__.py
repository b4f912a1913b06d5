"""The store for several servers: one PostgreSQL database, which they share."""

from survey_app.store.postgres.contents import PostgresContents
from survey_app.store.postgres.reports import Reports
from survey_app.store.postgres.rewrite import Rewriter
from survey_app.store.postgres.server_settings import ServerSettings
from survey_app.store.sql.account_queries import Accounts
from survey_app.store.sql.draft_queries import Drafts
from survey_app.store.sql.sharing_queries import AccessGrants


class PostgresStore(AccessGrants, Reports, PostgresContents, Rewriter, ServerSettings, Accounts, Drafts):
    """The store in a PostgreSQL database; it implements `survey_app.store.Store`."""
