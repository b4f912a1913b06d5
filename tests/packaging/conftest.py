"""The published packages, built once for a worker."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def build(tree: Path, target: Path) -> tuple[Path, Path]:
    """Build the sdist and the wheel of a tree by what `make dist` calls, and return their paths."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", target], cwd=tree, check=True, capture_output=True
    )
    (sdist,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def client_dist(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(ROOT / "client", tmp_path_factory.mktemp("client-dist"))


@pytest.fixture(scope="session")
def wheel(dist: tuple[Path, Path]) -> Path:
    return dist[1]


@pytest.fixture(scope="session")
def client_wheel(client_dist: tuple[Path, Path]) -> Path:
    return client_dist[1]
