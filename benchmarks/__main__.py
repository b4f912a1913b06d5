"""Every benchmark in one run: `make bench`, or `python -m benchmarks NAME`."""

import importlib
import sys
from pathlib import Path

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
