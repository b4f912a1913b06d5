"""Requests that are almost right, from the operating system's randomness."""

import random
from collections import Counter
from typing import Any

import candor_client
from candor_client import Survey
from candor_client.definition import LARGEST_REPORT
from candor_client.report import to_base64url
from tests.fixtures import TOKEN, Installation, check_tally, wire

BYTES = range(256)

TOKENS = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", rb"\u0000", rb"\ud800", b"null", b"NaN", b"1e999", b"=", b"\0",
          b'"id"', b'"bits"', b'"survey"', b"\n", b" " * 100, b"-_", b"+/", b"[" * 500, "é".encode()]  # fmt: skip

METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "post", ""]

PATHS = [
    "/api/surveys/exam", "/api/surveys/exam/reports", "/api/surveys/exam/reports/batch", "/api/surveys/exam/results",
    "/api/surveys/other/reports", "/api/surveys/", "/api/surveys", "/api/", "/api", "/", "", "//", "/healthz",
    "/openapi.json", "/s/exam", "/client/js/index.js", "/client/js/../package.json", "/api/surveys/exam/reports/",
    "/api/surveys//reports", "/api/surveys/exam/../exam/reports", "/api/surveys/exam\0/reports",
]  # fmt: skip

HEADERS: dict[str, list[str]] = {
    "CONTENT_LENGTH": ["", "0", "1", "-1", "20", "64000", "64001", "99999999999999999999", "x", "1 1", "\xff"],
    "CONTENT_TYPE": ["", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded", "a;b=c;\xff"],
    "HTTP_CANDOR_INVITATION": ["", "x", "\xff\xfe", "x" * 10_000, "a\tb"],
    "HTTP_AUTHORIZATION": ["", "Bearer", f"Bearer {TOKEN}", f"Bearer {TOKEN}\xff", "Basic eDp5", "Basic \xff", "Digest x"],
    "HTTP_TRANSFER_ENCODING": ["chunked", "gzip, chunked", "identity"],
    "HTTP_CONTENT_ENCODING": ["gzip", "br"],
    "HTTP_IF_NONE_MATCH": ["*", '"x"', "W/", "\xff"],
    "HTTP_IF_MODIFIED_SINCE": ["yesterday", "Thu, 01 Jan 1970 00:00:00 GMT", "\xff"],
    "HTTP_RANGE": ["bytes=0-1", "bytes=9-1", "bytes=x", "lines=1-2"],
    "HTTP_COOKIE": ["candor_session=x", "candor_session=.eJ", "\xff=\xff", ";;;=", "remember_token=1|x"],
    "HTTP_HOST": ["", "\xff", "a b", "[::1", "evil.example:99999"],
    "HTTP_X_FORWARDED_FOR": ["1.2.3.4", "\xff", ","],
    "HTTP_ACCEPT": ["", "text/html", "q=;;,", "\xff"],
    "HTTP_ORIGIN": ["null", "https://evil.example"],
    "HTTP_EXPECT": ["100-continue"],
    "REMOTE_ADDR": ["", "::1", "not an address", "\xff"],
    "QUERY_STRING": ["digest=", "digest=%00", "digest=%ff", "digest[]=1", "&&==", "\xff", "digest=x&digest=y", "%"],
}  # fmt: skip


class Noise:
    """A source of requests that are almost right, from the system's randomness; a failure shows the whole request."""

    def __init__(self, parsed: Survey) -> None:
        self.survey, self.chance = parsed, random.SystemRandom()

    def mutate(self, body: bytes) -> bytes:
        """Return a body with a few small damages at the level of bytes."""
        damaged = bytearray(body)
        for _ in range(self.chance.choice([0, 1, 1, 1, 2, 3, 8])):
            at = self.chance.randrange(len(damaged) + 1)
            end = min(len(damaged), at + self.chance.choice([0, 1, 1, 2, 10, 1000]))
            piece = self.chance.choice(
                [
                    b"",
                    bytes(self.chance.choices(BYTES, k=self.chance.randrange(1, 5))),
                    bytes(byte ^ 1 << self.chance.randrange(len(BYTES).bit_length() - 1) for byte in damaged[at:end]),
                    damaged[at:end] * 2,
                    self.chance.choice(TOKENS),
                    bytes(damaged),
                ]
            )
            damaged[at:end] = piece
        return bytes(damaged)[: 3 * LARGEST_REPORT]

    def body(self) -> bytes:
        one, two = (candor_client.randomize(self.survey, {"cheated": True}) for _ in range(2))
        if self.chance.random() < 0.2:
            changed = {
                self.chance.choice(["survey", "id", "bits"]): to_base64url(
                    self.chance.randbytes(self.chance.randrange(4))
                )
            }
            return wire(one, **changed)
        lines = b"\n".join(report.to_json() for report in (one, two))
        return self.mutate(self.chance.choice([one.to_json(), one.to_json(), lines]))

    def path(self) -> str:
        path = self.chance.choice(PATHS)
        if self.chance.random() < 0.3:
            path = self.mutate(path.encode()).decode("latin-1")[:3000]
        return path

    def request(self) -> dict[str, Any]:
        """Return one request: mostly a report with a damaged body, else a damaged method, path or head."""
        overrides: dict[str, str] = {}
        path, method = "/api/surveys/exam/reports", "POST"
        if self.chance.random() < 0.2:
            path += "/batch"
            overrides["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
        if self.chance.random() < 0.3:
            method = self.chance.choice(METHODS)
        if self.chance.random() < 0.3:
            path = self.path()
        if self.chance.random() < 0.4:
            for name in self.chance.sample(sorted(HEADERS), k=self.chance.randrange(1, 4)):
                overrides[name] = self.chance.choice(HEADERS[name])
        return {"method": method, "data": self.body(), "environ_overrides": {"PATH_INFO": path, **overrides}}


def make_noise(installation: Installation, refused: int) -> Counter[int]:
    """Send until so many are refused; the statuses that came back. Some are right by chance, and do not count."""
    noise, sender = Noise(installation.publish().survey), installation.client
    statuses: Counter[int] = Counter()
    while sum(statuses[status] for status in statuses if status >= 400) < refused:
        request = noise.request()
        try:
            with sender.open("/", **request) as response:
                status, body = response.status_code, response.data
        except Exception as error:
            raise AssertionError(f"{request!r} ended in {error!r}") from error
        statuses[status] += 1
        assert status < 500, request
        assert b"Traceback" not in body, request
    return statuses


def check_noise(installation: Installation, refused: int) -> None:
    statuses = make_noise(installation, refused)
    published = installation.store.newest_version("exam")
    assert published is not None
    reports = check_tally(installation, published)
    assert reports >= statuses[201] > 0
    assert {201, 400, 404, 405, 409, 422} <= set(statuses)
    told = ", ".join(f"{count:,} x {status}" for status, count in sorted(statuses.items()))
    print(f"{sum(statuses.values()):,} requests: {told}; {reports:,} reports, and the tally agrees")
