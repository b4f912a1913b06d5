"""The store for several servers: one PostgreSQL database, which they share."""

from survey_app.store.postgres.contents import PostgresContents
from survey_app.store.postgres.reports import Reports
from survey_app.store.postgres.surroundings import Surroundings
from survey_app.store.postgres.tidying import Tidying
from survey_app.store.sql.accounts import Accounts
from survey_app.store.sql.drafts import Drafts
from survey_app.store.sql.people import People


class PostgresStore(People, Reports, PostgresContents, Tidying, Surroundings, Accounts, Drafts):
    """See `survey_app.store.Store`."""
