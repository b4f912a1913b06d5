"""Werkzeug writes two functions for each route of each app, 85 routes in every house: here each is written once a worker.

What it writes follows from the route and its defaults alone, and takes the app's own converters when it is called.
"""

from collections.abc import Callable

from werkzeug.routing import Rule

Builder = Callable[..., tuple[str, str]]


def write_once() -> None:
    """From now on, the functions of a route that was written before are taken as they are."""
    write: Callable[[Rule, bool], Builder] = Rule._compile_builder
    written: dict[tuple[str, str, str, bool], Builder] = {}

    def taken(rule: Rule, append_unknown: bool = True) -> Builder:
        key = (rule.rule, repr(rule._trace), repr(rule.defaults), append_unknown)
        if key not in written:
            written[key] = write(rule, append_unknown)
        return written[key]

    Rule._compile_builder = taken  # type: ignore[assignment, method-assign]
