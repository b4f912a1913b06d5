"""How many requests one address may send, without keeping the address."""

import hmac
import secrets
import time

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from survey_app.problems import Problem

DEFAULT_RATE_LIMIT = "3000/minute"  # a lecture hall shares one address
AUTHOR_LIMIT = "60/minute"  # changes by one account's scripts: to read a large file takes seconds


class Limiter:
    """So many requests a minute from one address, which is kept only as a hash with a salt that changes every hour."""

    def __init__(self, limit: str) -> None:
        self._limit: RateLimitItem | None = None if limit == "off" else parse(limit)
        self._window = FixedWindowRateLimiter(MemoryStorage())
        self._salt, self._hour = b"", -1

    def check(self, address: str) -> None:
        """Raise a Problem if the address has had enough."""
        if self._limit is None:
            return
        hour = int(time.monotonic() // 3600)
        if hour != self._hour:
            self._salt, self._hour = secrets.token_bytes(16), hour
        key = hmac.digest(self._salt, address.encode(), "sha256")[:16].hex()
        if not self._window.hit(self._limit, key):
            raise Problem("too_many_requests")
