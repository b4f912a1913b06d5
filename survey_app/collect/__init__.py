"""Accepting reports: `intake` checks them, for every HTTP server, and `writer` stores the valid ones.

`batch` accepts many reports from a survey's owner, `load` reads reports from Parquet. `rate_limit` limits the requests
of one address.
"""
