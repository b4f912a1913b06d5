"""gzip for the pages, scripts and styles that respondents load. A definition is not compressed: its ETag is its digest.

None of these responses holds a secret, so their length reveals nothing. Researchers' pages do hold secrets and are not
compressed: text that an attacker chooses, next to a secret, would show in the length.
"""

import gzip
from functools import lru_cache

from flask import Request, Response

LEVEL = 9
CACHE_SIZE = 128


def gzip_bytes(body: bytes) -> bytes:
    """Return the compressed body. The same body always gives the same bytes."""
    return gzip.compress(body, LEVEL, mtime=0)


cached_gzip = lru_cache(CACHE_SIZE)(gzip_bytes)


def compress_conditional(response: Response, request: Request) -> Response:
    """Return the response in the encoding that the request accepts, or 304 if the client has it already.

    Each encoding has an ETag of its own, because its bytes differ.
    """
    response.add_etag()
    variant = compress(response, request, reuse=True)
    if variant.content_encoding:
        variant.set_etag(f"{response.get_etag()[0]}-gzip")
    return variant.make_conditional(request)  # type: ignore[return-value]


def compress(response: Response, request: Request, *, reuse: bool = False) -> Response:
    """Return the response, compressed if the request accepts gzip. Set `reuse` to cache the compressed body."""
    response.vary.add("Accept-Encoding")
    if response.status_code == 200 and request.accept_encodings["gzip"] > 0:
        body = response.get_data()
        response.set_data(cached_gzip(body) if reuse else gzip_bytes(body))
        response.content_encoding = "gzip"
    return response
