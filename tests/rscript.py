"""Finds R for the test of the documented script, and installs it where that is possible."""

import os
import shutil
import subprocess


def find_rscript() -> str | None:
    return shutil.which("Rscript")


def install_r() -> None:
    """Install Debian's r-base-core where that is possible, half a minute; else say what is missing."""
    if find_rscript():
        return
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        print("installing r-base-core for the test of the R script", flush=True)
        subprocess.run([apt, "update", "-qq"], check=False)
        subprocess.run([apt, "install", "-y", "-qq", "--no-install-recommends", "r-base-core"], check=False)
    if not find_rscript():
        print("Rscript is missing: its test will be skipped. Install it (Debian: apt-get install r-base-core).")


if __name__ == "__main__":
    install_r()
