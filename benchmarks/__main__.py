"""Every benchmark in one run: `make bench`, or `python -m benchmarks NAME`."""

import importlib
import sys

NAMES = ("aggregate", "collect", "randomize", "results_page")  # the tables for docs have commands of their own

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
