"""A small disk to fill up: a file system of its own, or, where none may be mounted, a limit on the size of files."""

import contextlib
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SIZE = "600k"
MOST = 400_000  # bytes of a file, where nothing can be mounted


@dataclass
class Disk:
    """A folder with little space."""

    path: Path
    mounted: bool

    def fill(self, leave: int = 0) -> None:
        """Leave so many bytes free, about."""
        if not self.mounted:
            _limit(MOST)
            return
        with contextlib.suppress(OSError), (self.path / "ballast").open("wb", buffering=0) as file:
            while shutil.disk_usage(self.path).free > leave:
                file.write(bytes(4096))

    def free(self) -> None:
        """Make space again."""
        _limit(None)
        (self.path / "ballast").unlink(missing_ok=True)


def _limit(most: int | None) -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if most is None else most, hard))


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Disk]:
    """Yield a small disk at a new folder."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    disk = Disk(place, subprocess.run(command, capture_output=True, check=False).returncode == 0)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        yield disk
    finally:
        disk.free()
        signal.signal(signal.SIGXFSZ, previous)
        if disk.mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
