"""A new environment with the wheel and its requirements, for a user with an empty home who has nothing else.

uv fills it in a second or two, from a cache where it can; it uses the package index that pip uses on this machine.
"""

import ast
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
PATIENCE = 120  # seconds: a busy machine is slow
PLACES = ("index-url", "extra-index-url", "find-links")
USUAL = (".pyenv/versions/{}.*/bin", ".local/share/uv/python/cpython-{}.*/bin")  # of a home
DEPRECATED = "default::DeprecationWarning"  # shown, though Python keeps these for developers
HOSTED = "/opt/hostedtoolcache/Python"


def interpreters() -> list[str]:
    """Return the running Python, and one of each other supported version that lies in a usual place.

    They are looked for, not run: a script of that name may be pyenv's, which runs nothing.
    """
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    versions = [found[1] for text in named if (found := re.fullmatch(r".*Python :: (3\.\d+)", text))]
    others = [version for version in versions if version != f"{sys.version_info[0]}.{sys.version_info[1]}"]
    return [sys.executable, *(str(path) for version in others for path in _find_python(version)[:1])]


def _find_python(version: str) -> list[Path]:
    folders = [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    folders += [path for pattern in USUAL for path in sorted(Path.home().glob(pattern.format(version)))]
    folders += sorted(Path(HOSTED).glob(f"{version}.*/x64/bin"))
    found = [folder / f"python{version}" for folder in folders]
    return [path for path in found if path.is_file() and path.read_bytes()[:2] != b"#!"]


@cache
def _index() -> tuple[list[str], dict[str, str]]:
    """Return where pip looks for packages here, as options and environment for uv."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"^(?:global|install|:env:)\.([\w-]+)=(.*)$", said, re.MULTILINE)
    told = {key: str(ast.literal_eval(value)) for key, value in found}
    places = [(key, place) for key in PLACES for place in told.get(key, "").split() if _place_exists(place)]
    options = [part for key, place in places for part in (f"--{key}", place)]
    return options, {"SSL_CERT_FILE": told["cert"]} if "cert" in told else {}


def _place_exists(place: str) -> bool:
    """Return whether a place is remote, or a folder that exists: pip skips missing ones, where uv stops."""
    parts = urlsplit(place)
    return parts.scheme not in ("", "file") or Path(parts.path).exists()


def _uv(*words: str | Path) -> None:
    options, certificate = _index() if words[0] == "pip" else ([], {})
    done = subprocess.run(
        [find_uv_bin(), "--quiet", *words, *options], env={**certificate, **os.environ},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@dataclass(frozen=True)
class Environment:
    """Programs of an environment, run from an empty folder by a user with an empty home."""

    folder: Path
    warnings: str = DEPRECATED

    @classmethod
    def create(
        cls, folder: Path, python: str, wheels: Sequence[Path], *options: str | Path, warnings: str = DEPRECATED
    ) -> "Environment":
        """Make an environment with these wheels and what else uv is told to install; nothing is built."""
        for name in ("home", "work"):
            (folder / name).mkdir(parents=True)
        made = cls(folder, warnings)
        target = ("--python", made.program("python"))
        _uv("venv", "--python", python, "--no-config", folder / "venv")
        if wheels:  # no cache keeps a wheel of ours
            _uv("pip", "install", *target, "--no-config", "--no-cache", "--no-deps", *wheels)
        if options:
            _uv("pip", "install", *target, "--no-config", "--index-strategy", "unsafe-best-match",
                "--only-binary", ":all:", "--link-mode", "symlink", *options)  # fmt: skip
        return made

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def program(self, name: str) -> Path:
        return self.folder / "venv" / "bin" / name

    @property
    def _variables(self) -> dict[str, str]:
        home = str(self.folder / "home")
        return {"HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONWARNINGS": self.warnings}

    def run(self, name: str, *words: str | Path, given: str = "") -> str:
        """Run a program and return what it prints; it has to succeed without a warning."""
        done = subprocess.run(
            [self.program(name), *words], cwd=self.work, env=self._variables, input=given,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert "Warning" not in done.stdout, done.stdout
        return done.stdout

    @contextlib.contextmanager
    def run_server(self, name: str, *words: str) -> Iterator[tuple[str, str]]:
        """Run a server; yield its address and what it has printed until it answered.

        Ctrl-C has to end it with all its processes, and it must print no warning.
        """
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        origin, log, pause = f"127.0.0.1:{port}", self.folder / "log", threading.Event()
        with log.open("w") as output:
            server = subprocess.Popen(
                [self.program(name), *words, "--port", str(port)], cwd=self.work, env=self._variables,
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        try:
            while not is_up(origin) and server.poll() is None:
                pause.wait(0.05)
            assert server.poll() is None, log.read_text()
            yield f"http://{origin}", log.read_text()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGINT)  # as a terminal does, to the workers too
            status = server.wait(PATIENCE)
        assert status == 0, log.read_text()
        assert not is_up(origin)
        assert "Warning" not in log.read_text(), log.read_text()
        assert not _list_processes(server.pid)


def _list_processes(group: int) -> list[psutil.Process]:
    """Return the processes of a group that still run; killed ones that nobody has waited for do not count."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def is_up(origin: str) -> bool:
    """Return whether a server answers."""
    with (
        contextlib.suppress(OSError, HTTPException),
        contextlib.closing(HTTPConnection(origin, timeout=PATIENCE)) as asked,
    ):
        asked.request("GET", "/healthz")
        return asked.getresponse().status == 200
    return False
