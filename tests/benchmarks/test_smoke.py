"""Every command that takes minutes, run small: the very targets and scripts that a person is told to run.

The environment they find is the one that runs the tests, so nothing is installed. The libraries of the field are not in
it: a table then stands without them and names them, but what is ours has to run.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import survey_app
from benchmarks.__main__ import TABLES
from benchmarks.peers import make_installed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PEERS = ("OpenDP", "diffprivlib", "duckdb", "multi-freq-ldpy", "polars", "pure-ldp")
PATIENCE = 300  # seconds; each takes a few on a free machine


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Two folders that `make` takes for environments it has made, of all that is installed here."""
    for name in ("venv", "venv-bench"):
        (tmp_path / name).mkdir()
        for part in ("bin", "lib", "pyvenv.cfg"):
            if (Path(sys.prefix) / part).exists():
                (tmp_path / name / part).symlink_to(Path(sys.prefix) / part)
        for made in ("ready", "ready-test", "ready-bench"):
            (tmp_path / name / made).touch()
    return tmp_path / "venv"


def run(*command: str | Path, cwd: Path = ROOT, **more: str) -> str:
    """What a command prints; it has to end well."""
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
    kept = {key: value for key, value in os.environ.items() if key not in outer}
    done = subprocess.run(
        command, cwd=cwd, env={**kept, "PYTHONPATH": str(ROOT)} | more,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def make(target: str, environment: Path, **sizes: str) -> str:
    """What a target of the Makefile prints, in that environment."""
    said = run("make", target, f"VENV={environment}", *(f"{key}={value}" for key, value in sizes.items()))
    assert "pip install" not in said
    return said


def test_make_bench_fills_its_tables_and_writes_the_page(environment: Path, tmp_path: Path) -> None:
    said = make("bench", environment, BENCH=f"--quick --out {tmp_path}")
    page = (tmp_path / "benchmarks.md").read_text()
    for table in (
        "Aggregation",
        "Collecting",
        "Memory",
        "Parquet",
        "PostgreSQL",
        "Randomization",
        "Readers",
        "Simulation",
        "Tickets",
    ):
        assert len(re.findall(rf"^{table}: ", said, re.MULTILINE)) == 1
        assert f"```text\n{table}: " in page
    assert re.findall(r"^## .*", page, re.MULTILINE) == [f"## {title}" for title, _ in TABLES.values()]
    assert "made with `--quick`" in page
    assert str(tmp_path) not in page and platform.node() not in page
    charts = re.findall(r"^!\[.+\]\(benchmarks/(.*\.svg)\)$", page, re.MULTILINE)
    assert len(charts) > len(TABLES)
    assert sorted(charts) == sorted(path.name for path in (tmp_path / "benchmarks").iterdir())
    assert re.search(r"^candor +[\d.]+ ms", said, re.MULTILINE)
    assert len(re.findall(r"^candor, mechanism +[\d,]+", said, re.MULTILINE)) == 3
    assert re.search(r"^1 worker\(s\): median ratio [\d.]+", said, re.MULTILINE)
    for way in ("store.write", "a batch of JSON, decoded and validated"):
        assert re.search(rf"^{way} +[\d,]+ reports/s, ratio to COPY [\d.]+", said, re.MULTILINE)
    assert re.search(r"^single durable reports, PostgreSQL +[\d,]+ reports/s", said, re.MULTILINE)
    for asked in ("form", "definition", "health"):
        assert re.search(rf"^{asked} +p50 +\d+ ms, p99 +\d+ ms, .*\(goal p99 under 1000\)", said, re.MULTILINE)
    assert re.search(
        r"^export of \d+ MB of CSV: a worker grows from \d+ MB by \d+ MB \(goal at most 40\)", said, re.MULTILINE
    )
    assert re.search(r"^simulated devices +[\d,]+ reports/s", said, re.MULTILINE)
    assert len(re.findall(r"^candor (?:results|export, \w+) +\d+$", said, re.MULTILINE)) == 3
    assert "batch: median ratio " in said
    assert re.search(r"^candor tally: [\d.]+ s \(goal under 1\), [\d,]+ reports a second", said, re.MULTILINE)
    assert re.search(r"^the whole command: [\d.]+ s, \d+ MB at its peak \(goal under 500\)", said, re.MULTILINE)
    assert len(re.findall(r"^(nine|six) .*: mean squared error × 100,000, 2 runs$", said, re.MULTILINE)) == 4
    for language in ("Python", "JavaScript"):
        assert re.search(rf"^device, {language}: [\d.]+ ms a ticket", said, re.MULTILINE)
    assert re.search(r"^signing, plain integers: \d+/s a core", said, re.MULTILINE)
    assert re.search(r"^issuing, with the mark on disk: \d+/s", said, re.MULTILINE)
    assert re.search(r"^redemption: median ratio [\d.]+", said, re.MULTILINE)
    assert "results: 10^7 reports against 10^3: ratio " in said
    for peer in PEERS:
        assert re.search(rf"^{peer} .*[\d,]+|not compared:.*{peer} \(not installed", said, re.MULTILINE)


def test_only_what_is_not_installed_may_be_left_out() -> None:
    def absent() -> str:
        raise ModuleNotFoundError("No module named 'opendp'", name="opendp")

    def broken() -> str:
        raise ValueError("a fault of its own")

    assert make_installed({"OpenDP": absent, "other": lambda: "made"}) == (["made"], ["OpenDP (not installed: opendp)"])
    with pytest.raises(ValueError, match="a fault of its own"):
        make_installed({"OpenDP": broken})


def test_make_coverage_writes_both_tables(environment: Path, tmp_path: Path) -> None:
    variance, coverage = tmp_path / "variance.md", tmp_path / "coverage.md"
    said = make(
        "coverage",
        environment,
        VARIANCE=f"--every 20 --out {variance}",
        COVERAGE=f"--runs 5 --every 70 --out {coverage}",
    )
    assert f"{variance}: worst ratio 1.0" in said
    assert f"{coverage}: 4 lines in " in said
    assert variance.read_text().startswith("# Variance beside the best known mechanism\n")
    assert coverage.read_text().partition("## All lines")[2].count("\n| ") == 4 + 2


def test_make_reproductions_writes_the_page_and_its_charts(environment: Path, tmp_path: Path) -> None:
    make("reproductions", environment, REPRODUCTIONS=f"--runs 100 --no-peers --out {tmp_path}")
    text = (tmp_path / "reproductions.md").read_text()
    assert text.count("\n## ") == (ROOT / "docs" / "reproductions.md").read_text().count("\n## ")
    charts = {path.name for path in (ROOT / "docs" / "reproductions").iterdir()}
    assert charts == {path.name for path in (tmp_path / "reproductions").iterdir()}


def test_make_dist_builds_what_is_published(environment: Path, tmp_path: Path) -> None:
    make("dist", environment, DIST=str(tmp_path / "dist"))
    version = survey_app.__version__
    names = {path.name for path in (tmp_path / "dist").iterdir()}
    assert names == {
        f"{name}-{version}{ending}"
        for name in ("candor_client", "candor_survey")
        for ending in (".tar.gz", "-py3-none-any.whl")
    }


def test_make_soak_kills_the_server(environment: Path) -> None:
    """Once instead of a hundred times, on both stores; the other soaks are the tests beside them, only longer."""
    said = run("make", "soak", f"VENV={environment}", "SOAK=0.01", PYTEST_ADDOPTS="-k killed -p no:cacheprovider")
    assert re.search(r"^3 passed, \d+ deselected", said, re.MULTILINE)


def test_make_golden_writes_the_words_that_tests_get(environment: Path, tmp_path: Path) -> None:
    """In a copy of the tree with a damaged golden file and a damaged page of commands."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "node_modules", "dist", "__pycache__"))
    damaged = (tree / "tests" / "golden" / "cli" / "plan.txt", tree / "docs" / "commands.md")
    before = [file.read_text() for file in damaged]
    for file in damaged:
        file.write_text("=== test_that_is_gone\nNothing.\n")
    target = ("make", "golden", f"VENV={environment}", "GOLDEN=tests/cli/test_plan.py")
    run(*target, cwd=tree, CI="", PYTHONPATH=f"{tree}:{tree / 'client'}")
    assert [file.read_text() for file in damaged] == before


def test_the_results_page_is_opened_at_two_sizes() -> None:
    said = run(sys.executable, "-m", "benchmarks.results_page", "--reports", "1500", "--rounds", "1")
    assert re.search(r"^ +1,500 reports +[\d.]+ ms$", said, re.MULTILINE)
    assert re.search(r"^ratio [\d.]+ \(goal", said, re.MULTILINE)


def test_a_newcomer_sees_the_demo_twice(environment: Path) -> None:
    said = run(ROOT / ".ci" / "newcomer", "--quick", environment)
    assert said.endswith("the second run of make demo: ok\n")
    for page in ("demo", "s/campus", "results/campus", "console"):
        assert len(re.findall(rf"^200 http://127\.0\.0\.1:\d+/{page}$", said, re.MULTILINE)) == 2


def test_make_clean_leaves_what_people_wrote(tmp_path: Path) -> None:
    for name in (
        ".venv/bin",
        ".venv-bench",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        "dist",
        "mine",
    ):
        (tmp_path / name).mkdir(parents=True)
    run("make", "--directory", tmp_path, "--file", ROOT / "Makefile", "clean")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
