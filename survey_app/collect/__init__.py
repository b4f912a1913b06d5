"""A report's one way in: `intake` holds the checks, once, for whatever carries HTTP; `writer` stores what passed them.

`batch` is the same for many reports of an owner, `rate_limit` keeps any one address from sending too many.
"""
