"""The worker processes: limits on their connections, and a restart of every worker that dies.

Granian itself stops the server when a worker dies twice within seconds, and may overlook one of two that die at once.
So a client that can kill a worker, by its memory or by a bug, could stop all of them. Here every worker is restarted:
at once if it had lived for a while, else after a pause that doubles. The pause keeps a worker that cannot start from
burning processor time.

A worker whose server was killed ends too: nothing would restart it, and it would block the port.
"""

import logging
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import MPServer

from survey_app.web.server_log import LOGGING

log = logging.getLogger(__name__)

STOPPING = 5  # seconds that requests in progress have to finish when the server stops
MOST_CONNECTIONS = 8_192  # per worker; each may cost BUFFER and the uncounted bytes of `upload_limits`
LEAST_CONNECTIONS = 256
OWN_FILES = 128  # files that a worker opens besides connections: databases, assets, pipes
BACKLOG = 4_096  # connections that the kernel queues for a worker; net.core.somaxconn bounds it
IDLE_SECONDS = 10  # until a connection without a complete header is closed, be it new or kept alive
BUFFER = 32_768  # bytes, the most for a header and for a chunk of a body
LONG_LIFE = 30  # seconds after which a death is not a failed start
LEAST_PAUSE, MOST_PAUSE = 0.1, 2.0  # seconds before a worker that failed to start is restarted
LOOK_SECONDS = 1.0


def connection_limit() -> int:
    """Return the number of connections that a worker may hold.

    The limit of open files is raised to the system's maximum first.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    limit = MOST_CONNECTIONS if most == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, most - OWN_FILES)
    return max(LEAST_CONNECTIONS, limit)


class Workers(MPServer):
    """Granian's server with our limits. Each worker calls `make` for the application it serves."""

    def __init__(self, make: Callable[[], Any], host: str, port: int, workers: int) -> None:
        multiprocessing.set_start_method("fork", force=True)  # workers inherit the shared memory of the rate limits
        self._make, self._pid = make, os.getpid()
        super().__init__(
            "candor",
            address=host,
            port=port,
            interface=Interfaces.RSGI,
            http=HTTPModes.http1,
            workers=workers,
            backlog=BACKLOG,
            backpressure=connection_limit(),
            http1_settings=HTTP1Settings(header_read_timeout=IDLE_SECONDS * 1000, max_buffer_size=BUFFER),
            workers_kill_timeout=STOPPING,  # a worker might wait for ever; acknowledged reports are on disk
            log_level=LogLevels.warning,
            log_dictconfig=LOGGING,
            log_access=False,
            websockets=False,
        )

    def run(self) -> None:
        """Serve until a signal stops the server."""
        self.serve(target_loader=self._load_application, wrap_loader=False)

    def _load_application(self) -> Any:
        """Return the application in a worker, and end the worker when its parent dies."""
        threading.Thread(target=_end_with_parent, args=(self._pid,), daemon=True).start()
        return self._make()

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        respawn: Any = self._respawn_workers  # granian's own methods have no types
        reload: Any = self._reload
        pause = LEAST_PAUSE
        while not self.interrupt_signal:
            self._wait(LOOK_SECONDS)
            if self.reload_signal:
                reload(spawn_target, target_loader)
            if dead := self._dead_workers():
                if min(time.monotonic() - worker.birth for worker in dead) >= LONG_LIFE:
                    pause = LEAST_PAUSE
                else:
                    log.error(
                        "A worker stopped within %d seconds of its start. Restarting it in %g seconds.",
                        LONG_LIFE,
                        pause,
                    )
                    self._wait(pause, for_death=False)
                    pause = min(2 * pause, MOST_PAUSE)
                if not self.interrupt_signal:
                    log.warning("Restarting all workers that stopped.")
                    respawn([worker.idx for worker in self._dead_workers()], spawn_target, target_loader)
        self.interrupt_children.clear()  # otherwise granian's exit status would report a worker that was restarted

    def _dead_workers(self) -> list[Any]:
        workers: list[Any] = list(self.wrks)
        return [worker for worker in workers if not worker.is_alive()]

    def _wait(self, seconds: float, *, for_death: bool = True) -> None:
        """Wait until the time is over, the server is stopped, or a worker dies."""
        end = time.monotonic() + seconds
        while not self.interrupt_signal and (remaining := end - time.monotonic()) > 0:
            was_set = self.main_loop_interrupt.wait(remaining)
            self.main_loop_interrupt.clear()
            if was_set and for_death:
                return


def _end_with_parent(parent: int) -> None:
    """End this process soon after its parent dies.

    Requests in progress have as long to finish as at a regular stop.
    """
    wait = threading.Event().wait
    while os.getppid() == parent:
        wait(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    wait(STOPPING)
    os._exit(1)
