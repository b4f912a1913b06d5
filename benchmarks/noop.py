"""The real server with an additional no-op route: `python -m benchmarks.noop DB PORT WORKERS [wsgi]`.

With `wsgi`, the same app is served without the RSGI adapter: granian's WSGI interface gives each request a thread.
"""

import multiprocessing
import sys
from functools import partial
from typing import Any

from survey_app.collect.rate_limit import Counts
from survey_app.web.workers import Workers

THREADS = 32  # of the WSGI server: as many as the benchmark has requests at the same time


def create_noop_app(db: str, counts: Counts) -> Any:
    """Return the Flask app, with the route that does nothing."""
    from survey_app import create_app
    from survey_app.web.extension import get_candor

    app = create_app({"DB": db, "RATE_LIMIT": "off"}, counts=counts)
    app.config["WTF_CSRF_ENABLED"] = False
    app.post("/noop")(lambda: {"status": "stored"})
    get_candor(app).intake.begin()
    return app


def create_adapter(db: str, counts: Counts) -> object:
    """Return the application that a worker serves, built in the worker as in `survey_app/web/serve.py`."""
    from survey_app.web.rsgi import RsgiAdapter

    return RsgiAdapter(create_noop_app(db, counts))


def serve_wsgi(db: str, port: int, workers: int) -> None:
    """Serve the Flask app with granian's WSGI interface."""
    from granian.constants import HTTPModes, Interfaces
    from granian.server import MPServer

    multiprocessing.set_start_method("fork", force=True)
    server = MPServer(
        "candor", port=port, interface=Interfaces.WSGI, http=HTTPModes.http1, workers=workers, websockets=False,
        blocking_threads=THREADS, backpressure=8_192, backlog=4_096, log_enabled=False, workers_kill_timeout=5,
    )  # fmt: skip
    server.serve(target_loader=partial(create_noop_app, db, Counts()), wrap_loader=False)


if __name__ == "__main__":
    database, port, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if sys.argv[4:] == ["wsgi"]:
        serve_wsgi(database, port, workers)
    else:
        Workers(partial(create_adapter, database, Counts()), "127.0.0.1", port, workers).run()
