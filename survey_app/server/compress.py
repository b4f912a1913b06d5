"""gzip for what respondents load: their pages, scripts and styles; a definition stays as it is, its ETag is its digest.

None of it holds a secret, so its length tells nobody anything. Researchers' pages do, and stay as they are: text of an
attacker's choice beside a secret would show in the length.
"""

import gzip
from functools import lru_cache

from flask import Request, Response

LEVEL = 9
MOST_KEPT = 128


def squeeze(body: bytes) -> bytes:
    """The same bytes for the same body, at any time."""
    return gzip.compress(body, LEVEL, mtime=0)


kept = lru_cache(MOST_KEPT)(squeeze)


def lean(response: Response, request: Request) -> Response:
    """The response as this request accepts it; what did not change is not sent again.

    Each form has an ETag of its own, since each has bytes of its own.
    """
    response.add_etag()
    accepted = compressed(response, request, again=True)
    if accepted.content_encoding:
        accepted.set_etag(f"{response.get_etag()[0]}-gzip")
    return accepted.make_conditional(request)  # type: ignore[return-value]


def compressed(response: Response, request: Request, *, again: bool = False) -> Response:
    """The response, by gzip if the request accepts it; `again` if the same body will be asked for again."""
    response.vary.add("Accept-Encoding")
    if response.status_code == 200 and request.accept_encodings["gzip"] > 0:
        body = response.get_data()
        response.set_data(kept(body) if again else squeeze(body))
        response.content_encoding = "gzip"
    return response
