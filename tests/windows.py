"""Run a command of Candor as on Windows: `python -m tests.windows plan exam.yaml`. An imitation, not Windows itself.

POSIX-only modules cannot be imported, and POSIX-only functions are gone. Our own files see `sys.platform` as win32; the
standard library sees the platform that it runs on. `msvcrt` locks as its documentation says: one byte for one handle,
from the handle's position, and a wait ends after ten attempts. A folder cannot be opened as a file. An open file can be
neither deleted nor replaced, unless SQLite opened it, which shares its files.
"""

import errno
import fcntl
import getpass  # as subprocess and shutil, before there is an msvcrt, by which they know Windows
import importlib.machinery
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline", "posix_ipc", "uvloop")
FUNCTIONS = (
    *("fork", "forkpty", "geteuid", "getuid", "getegid", "getgid", "getgroups", "setsid", "getpgid", "killpg", "nice"),
    *("pread", "pwrite", "fchmod", "fchown", "chown", "lchown", "statvfs", "fstatvfs", "posix_fallocate", "mkfifo"),
    *("getloadavg", "sync", "openpty"),
    *("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_DSYNC", "O_SYNC", "ST_RDONLY"),
)
SIGNALS = ("SIGKILL", "SIGHUP", "SIGPIPE", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "SIGQUIT", "SIGSTOP")
OURS = tuple(str(Path(__file__).parent.parent / folder) + "/" for folder in ("survey_app", "client"))
LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2
ATTEMPTS = 10
UNCHANGED = (getpass, subprocess)
DISK = shutil.disk_usage("/")


def _make_msvcrt() -> types.ModuleType:
    """Return a module that locks bytes for one handle, by Linux's locks of open file descriptions."""
    module = types.ModuleType("msvcrt")
    control, set_lock, get_flags = fcntl.fcntl, fcntl.F_OFD_SETLK, fcntl.F_GETFL

    def locking(handle: int, mode: int, count: int) -> None:
        can_write = control(handle, get_flags) & (os.O_WRONLY | os.O_RDWR)  # Linux wants that for a lock of one's own
        kind = fcntl.F_UNLCK if mode == LK_UNLCK else fcntl.F_WRLCK if can_write else fcntl.F_RDLCK
        place = os.lseek(handle, 0, os.SEEK_CUR)
        for attempt in range(1 if mode != LK_LOCK else ATTEMPTS):
            if attempt:
                time.sleep(1)
            try:
                control(handle, set_lock, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, count, 0))
                return
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
        code = errno.EDEADLK if mode == LK_LOCK else errno.EACCES
        raise OSError(code, os.strerror(code))

    module.__dict__.update(LK_UNLCK=LK_UNLCK, LK_LOCK=LK_LOCK, LK_NBLCK=LK_NBLCK, locking=locking)
    return module


def _is_open(path: Any) -> bool:
    """Return whether this process has a file open, other than a database of SQLite's."""
    target = os.path.realpath(path)
    if target.endswith((".db", "-wal", "-shm", "-journal")):
        return False
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}") == target:
                return True
        except OSError:
            continue
    return False


def _refuse_open_files(function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*paths: Any, **how: Any) -> Any:
        for path in paths:
            if _is_open(path):
                raise PermissionError(errno.EACCES, "The process cannot access the file", str(path))
        return function(*paths, **how)

    return guarded


def _refuse_folders(open_file: Callable[..., int]) -> Callable[..., int]:
    def guarded(path: Any, flags: int, mode: int = 0o777, **how: Any) -> int:
        handle = open_file(path, flags, mode, **how)
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.close(handle)
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return handle

    return guarded


class _OurFiles(importlib.machinery.SourceFileLoader):
    """Compiles our own files with another platform in them, and everything else as it is."""

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if not path.startswith(OURS):
            return super().get_code(fullname)
        source = self.get_data(path).decode()
        source = source.replace("sys.platform", '"win32"').replace("os.name", '"nt"')
        return compile(source, path, "exec", dont_inherit=True)


def imitate() -> None:
    """Change this process for good."""
    sys.modules["msvcrt"] = _make_msvcrt()
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in FUNCTIONS:
        if hasattr(os, name):
            delattr(os, name)
    shutil.disk_usage = lambda path: DISK
    for name in SIGNALS:
        delattr(signal, name)
    os.open = _refuse_folders(os.open)
    for name in ("unlink", "remove", "replace", "rename"):
        setattr(os, name, _refuse_open_files(getattr(os, name)))
    hook = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES), (_OurFiles, [".py"])
    )
    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


if __name__ == "__main__":
    imitate()
    from survey_app.cli import main

    main()
