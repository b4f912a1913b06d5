"""The most memory that `candor results` and `candor export` take, against the number of reports.

Each is measured as the whole command in its own process; the kernel reports its peak memory.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.page import Bars
from benchmarks.results_page import add_survey
from survey_app.accounts import add_user
from survey_app.store.sqlite import SqliteStore

SIZES, QUICK = (10**4, 10**5, 10**6), (2 * 10**3,)


def measure_command(*arguments: str) -> tuple[float, float]:
    """Run a `candor` command in a new process, and return its seconds and its peak memory in megabytes."""
    script = (
        "import re, sys; from pathlib import Path; from survey_app.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])"
    )
    start = time.perf_counter()
    process = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    return time.perf_counter() - start, int(process.stdout.splitlines()[-1]) / 1024


def main(quick: bool) -> list[Bars]:
    """Print the table and return its chart."""
    sizes = QUICK if quick else SIZES
    print(f"\nMemory: MB at the peak of a command{''.join(f'{size:>12,}' for size in sizes)} reports")
    with tempfile.TemporaryDirectory() as name:
        folder, db = Path(name), f"sqlite:///{name}/candor.db"
        store = SqliteStore(folder / "candor.db")
        store.migrate()
        owner = add_user(store, "bench", "not a secret").key
        for size in sizes:
            add_survey(store, owner, f"s{size}", size)
        store.close()
        values = []
        for label, verb, suffix in (
            ("candor results", "results", ""),
            ("candor export, NDJSON", "export", ".ndjson"),
            ("candor export, Parquet", "export", ".parquet"),
        ):
            peaks = []
            for size in sizes:
                target = [str(folder / f"{size}{suffix}")] if suffix else []
                peaks.append(measure_command("--db", db, verb, f"s{size}", *target)[1])
            print(f"{label:35}{''.join(f'{peak:12.0f}' for peak in peaks)}")
            values += [(f"{label}, {size:,} reports", peak) for size, peak in zip(sizes, peaks, strict=True)]
    return [Bars("memory", "Memory at the peak", "MB", tuple(values))]
