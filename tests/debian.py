"""Debian packages with programs that some tests use: installed where possible, named in an error where not."""

import os
import shutil
import subprocess
from collections.abc import Callable


def install(
    package: str, find: Callable[[], str | None], use: str, *, instead: Callable[[], str | None] = lambda: None
) -> None:
    """Install a package unless its program is found; if that fails and no other program helps, say what is missing."""
    if find():
        return
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        print(f"installing {package} for {use}", flush=True)
        subprocess.run([apt, "update", "-qq"], check=False)
        subprocess.run([apt, "install", "-y", "-qq", "--no-install-recommends", package], check=False)
    if not find() and not instead():
        print(f"{package} is missing: {use} will be skipped. Install it (Debian: apt-get install {package}).")
