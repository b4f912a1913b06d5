"""Metrics for the operator, in the text format of Prometheus. There are few, because a changing number reveals a time.

The count of reports is the count that results show, which moves in steps of twenty or more (docs/data-model.md). Every
number that changes with a single report or visit is omitted on purpose: requests, connections, open files, processor
time, file sizes, time of the last write. For memory, only the peak of the replying worker is given, rounded up, and it
never falls.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator

from candor_client.version import __version__
from survey_app.store import State, Store, now

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
MEMORY_STEP = 64_000_000
_started = time.time()


def render_metrics(store: Store) -> str:
    """Return all metrics, at one moment."""
    return "".join(f"{line}\n" for line in _metric_lines(store))


def _metric_lines(store: Store) -> Iterator[str]:
    surveys = store.surveys()
    opened = [survey for survey in surveys if survey.state is not State.READY]
    states = Counter(str(survey.state_at(now())) for survey in surveys)
    yield from _format_metric("candor_info", "The version of the server.", [(f'version="{__version__}"', 1)])
    yield from _format_metric(
        "candor_surveys", "The number of surveys in each state.", [(f'state="{s}"', states[s]) for s in State]
    )
    yield from _format_metric(
        "candor_reports_shown",
        "Reports behind the displayed results of each survey; the number moves in steps.",
        [(f'survey="{survey.survey.slug}"', store.snapshot(survey).reports) for survey in opened],
    )
    yield from _format_metric(
        "candor_worker_start_seconds",
        "Start time of the replying worker, in seconds since 1970.",
        [("", int(_started))],
    )
    if sys.platform != "win32":
        yield from _format_metric(
            "candor_worker_memory_bytes", "Peak memory of the replying worker, rounded up.", [("", _peak_memory())]
        )


def _format_metric(name: str, help_text: str, values: list[tuple[str, int]]) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} gauge"
    for labels, value in values:
        yield f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"


def _peak_memory() -> int:
    import resource  # not on Windows

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return -(-most // MEMORY_STEP) * MEMORY_STEP
