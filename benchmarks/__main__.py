"""Every benchmark in one run: `make bench`, or `python -m benchmarks NAME`."""

import importlib
import sys

NAMES = ("aggregate", "collect", "randomize")  # tables for docs, and what takes long to fill, by commands of their own

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
