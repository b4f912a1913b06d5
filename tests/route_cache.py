"""A cache for routes and templates, so that they are compiled once a worker and not for every installation.

Werkzeug writes two functions for each route of each app; they follow from the route and its defaults alone, and take
the app's own converters when they are called. Jinja compiles every template that an app renders; the code follows from
its source, by whose checksum it is found again.
"""

from collections.abc import Callable

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]


class Templates(BytecodeCache):
    """Compiled templates, in memory."""

    def __init__(self) -> None:
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._compiled[bucket.key] = bucket.bytecode_to_string()


TEMPLATES = Templates()


def write_routes_once() -> None:
    """Reuse the compiled functions of equal routes from now on."""
    write: Callable[[Rule, bool], Builder] = Rule._compile_builder
    written: dict[tuple[str, str, str, bool], Builder] = {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Builder:
        key = (rule.rule, repr(rule._trace), repr(rule.defaults), append_unknown)
        if key not in written:
            written[key] = write(rule, append_unknown)
        return written[key]

    Rule._compile_builder = compile_once  # type: ignore[assignment, method-assign]
