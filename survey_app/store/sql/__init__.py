"""The queries that SQLite and PostgreSQL share: all but those on reports and tallies."""
