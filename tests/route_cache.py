"""What every installation of the tests would have written anew, and what is written once a worker instead: routes and templates.

Werkzeug writes two functions for each route of each app; they follow from the route and its defaults alone, and take
the app's own converters when they are called. Jinja compiles every template that an app shows; the code follows from
its source, by whose checksum it is found again.
"""

from collections.abc import Callable

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]


class Templates(BytecodeCache):
    """Templates that were compiled, in memory."""

    def __init__(self) -> None:
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._compiled[bucket.key] = bucket.bytecode_to_string()


TEMPLATES = Templates()


def write_routes_once() -> None:
    """From now on, the functions of a route that was written before are taken as they are."""
    write: Callable[[Rule, bool], Builder] = Rule._compile_builder
    written: dict[tuple[str, str, str, bool], Builder] = {}

    def taken(rule: Rule, append_unknown: bool = True) -> Builder:
        key = (rule.rule, repr(rule._trace), repr(rule.defaults), append_unknown)
        if key not in written:
            written[key] = write(rule, append_unknown)
        return written[key]

    Rule._compile_builder = taken  # type: ignore[assignment, method-assign]
