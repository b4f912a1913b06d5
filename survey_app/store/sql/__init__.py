"""What both databases understand: everything but reports and tallies, in the SQL that SQLite and PostgreSQL share."""
