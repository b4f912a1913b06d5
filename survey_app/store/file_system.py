"""File operations that differ between POSIX and Windows: locks between processes, disk space, and syncing a folder.

On POSIX a lock is `flock` for a whole file and `lockf` for one byte. On Windows both are `msvcrt.locking` for one byte.
There, other handles cannot read a locked byte, so a whole file is represented by a byte far beyond its end. Windows has
no file modes: new files get the access rights of their folder.
"""

import os
import sys
from pathlib import Path

NO_LINK = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)  # flags to open a file that is no symbolic link
LOCK_BYTE = 2**30  # the byte that represents a whole file
ZEROS = bytes(65_536)

if sys.platform == "win32":
    import errno
    import msvcrt

    def lock_file(handle: int) -> None:
        """Lock a file for this handle; wait as long as another handle has it."""
        lock_byte(handle, LOCK_BYTE)

    def try_to_lock_file(handle: int) -> None:
        """Lock a file for this handle. Raise BlockingIOError at once if another handle has it."""
        os.lseek(handle, LOCK_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from None

    def close_locked_file(handle: int) -> None:
        """Release the lock of a file, and close the handle. Closing alone releases a lock only after a while."""
        unlock_byte(handle, LOCK_BYTE)
        os.close(handle)

    def lock_byte(handle: int, index: int) -> None:
        """Lock one byte of a file; wait as long as another handle has it."""
        os.lseek(handle, index, os.SEEK_SET)
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
                return
            except OSError as error:  # it gives up after ten seconds
                if error.errno != errno.EDEADLK:
                    raise

    def unlock_byte(handle: int, index: int) -> None:
        """Release the lock of one byte."""
        os.lseek(handle, index, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

    def sync_folder(folder: Path) -> None:
        """Do nothing: Windows cannot sync a folder, and NTFS logs a renaming in its journal."""
else:
    import fcntl

    def lock_file(handle: int) -> None:
        """Lock a file for this handle; wait as long as another handle has it."""
        fcntl.flock(handle, fcntl.LOCK_EX)

    def try_to_lock_file(handle: int) -> None:
        """Lock a file for this handle. Raise BlockingIOError at once if another handle has it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close_locked_file(handle: int) -> None:
        """Close the handle, which releases the lock."""
        os.close(handle)

    def lock_byte(handle: int, index: int) -> None:
        """Lock one byte of a file for this process; wait as long as another process has it."""
        fcntl.lockf(handle, fcntl.LOCK_EX, 1, index)

    def unlock_byte(handle: int, index: int) -> None:
        """Release the lock of one byte."""
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, index)

    def sync_folder(folder: Path) -> None:
        """Write the entries of a folder to disk, so that a renaming in it survives a power failure."""
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def reserve_space(handle: int, size: int) -> None:
    """Reserve disk space for `size` bytes of a file. Raise OSError if the disk is full."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    end = os.lseek(handle, 0, os.SEEK_END)  # macOS and Windows: written zeros take space
    while end < size:
        end += os.write(handle, ZEROS[: size - end])
