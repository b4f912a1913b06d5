"""The workers: how many connections they hold, for how long, and that one that dies is started again, always.

Granian itself ends the server when a worker dies twice within seconds, and may overlook one of two that die at once. So
whoever can make a worker die, by its memory or by a bug, would end all of them. Here each is started again: at once if
it had lived for a while, else after a pause that doubles, so that what cannot start does not burn the machine.

A worker whose server was killed ends too: nobody would start it again, and nobody else could have its port.
"""

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
from granian.log import logger
from granian.server import MPServer

STOPPING = 5  # seconds that whoever is in the middle of a request has, when the server is told to stop
MOST_CONNECTIONS = 8_192  # of a worker; each may cost BUFFER and what `uploads` leaves uncounted
LEAST_CONNECTIONS = 256
OWN_FILES = 128  # that a worker opens besides: databases, assets, pipes
BACKLOG = 4_096  # connections that the kernel keeps for a worker until it takes them; net.core.somaxconn bounds it
IDLE_SECONDS = 10  # until a connection without a whole header is closed: a new one, or one that waits for the next
BUFFER = 32_768  # bytes of a header at most, and of a chunk of a body
LONG_LIFE = 30  # seconds after which a worker that dies has not failed to start
LEAST_PAUSE, MOST_PAUSE = 0.1, 2.0  # seconds before one that did is started again
LOOK_SECONDS = 1.0


def connections() -> int:
    """How many connections a worker may hold, after raising the limit of open files to what the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    allowed = MOST_CONNECTIONS if most == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, most - OWN_FILES)
    return max(LEAST_CONNECTIONS, allowed)


class Workers(MPServer):
    """Granian's server with our limits; `make` is called in each worker, and gives what it serves."""

    def __init__(self, make: Callable[[], Any], host: str, port: int, workers: int) -> None:
        multiprocessing.set_start_method("fork", force=True)  # workers inherit what limits are counted in
        self._make, self._pid = make, os.getpid()
        super().__init__(
            "candor",
            address=host,
            port=port,
            interface=Interfaces.RSGI,
            http=HTTPModes.http1,
            workers=workers,
            backlog=BACKLOG,
            backpressure=connections(),
            http1_settings=HTTP1Settings(header_read_timeout=IDLE_SECONDS * 1000, max_buffer_size=BUFFER),
            workers_kill_timeout=STOPPING,  # a worker may wait for ever; what was acknowledged is on disk
            log_access=False,
            websockets=False,
        )

    def run(self) -> None:
        """Serve until told to stop."""
        self.serve(target_loader=self._served, wrap_loader=False)

    def _served(self) -> Any:
        """In a worker: what it serves, as long as somebody watches over it."""
        threading.Thread(target=_end_with, args=(self._pid,), daemon=True).start()
        return self._make()

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        again: Any = self._respawn_workers  # granian's own methods have no types
        reload: Any = self._reload
        pause = LEAST_PAUSE
        while not self.interrupt_signal:
            self._wait(LOOK_SECONDS)
            if self.reload_signal:
                reload(spawn_target, target_loader)
            if dead := self._dead():
                if min(time.monotonic() - worker.birth for worker in dead) >= LONG_LIFE:
                    pause = LEAST_PAUSE
                else:
                    logger.error(f"It lived for less than {LONG_LIFE} seconds; the next starts in {pause:g}")
                    self._wait(pause, for_death=False)
                    pause = min(2 * pause, MOST_PAUSE)
                if not self.interrupt_signal:
                    again([worker.idx for worker in self._dead()], spawn_target, target_loader)
        self.interrupt_children.clear()  # else granian's exit status says that one has died, which was mended

    def _dead(self) -> list[Any]:
        workers: list[Any] = list(self.wrks)
        return [worker for worker in workers if not worker.is_alive()]

    def _wait(self, seconds: float, *, for_death: bool = True) -> None:
        """Until the time is over, somebody stops the server, or a worker dies."""
        end = time.monotonic() + seconds
        while not self.interrupt_signal and (left := end - time.monotonic()) > 0:
            told = self.main_loop_interrupt.wait(left)
            self.main_loop_interrupt.clear()
            if told and for_death:
                return


def _end_with(parent: int) -> None:
    """End this process soon after its parent: whoever is in the middle of a request has as long as ever."""
    wait = threading.Event().wait
    while os.getppid() == parent:
        wait(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    wait(STOPPING)
    os._exit(1)
