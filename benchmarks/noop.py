"""The real server with an additional no-op route: `python -m benchmarks.noop PORT WORKERS`."""

import sys
from functools import partial

from survey_app.collect.rate_limit import Counts
from survey_app.web.workers import Workers


def create_front(counts: Counts) -> object:
    """Return the application that a worker serves, built in the worker as in `survey_app/web/serve.py`."""
    from survey_app import create_app
    from survey_app.web.rsgi import RsgiAdapter

    app = create_app(counts=counts)
    app.config["WTF_CSRF_ENABLED"] = False
    app.post("/noop")(lambda: {"status": "stored"})
    app.extensions["candor_intake"].begin()
    return RsgiAdapter(app)


if __name__ == "__main__":
    Workers(partial(create_front, Counts()), "127.0.0.1", int(sys.argv[1]), int(sys.argv[2])).run()
