"""What is in deploy/ starts the server that is here: commands that exist, settings that it knows, and nobody written down."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from survey_app.assure.doctor.proxy_checks import HSTS_MAX_AGE
from survey_app.cli import main

FOLDER = Path(__file__).parent.parent / "deploy"
SOURCES = Path(__file__).parent.parent / "survey_app"
COMPOSE: dict[str, Any] = YAML(typ="safe").load(FOLDER / "compose.yaml")
UNIT, IMAGE, PROXY = ((FOLDER / name).read_text() for name in ("candor.service", "Dockerfile", "nginx.conf"))


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of a command; it fails where there is no such command or option."""
    with main.make_context("candor", words) as outer:
        name, command, rest = main.resolve_command(outer, words)
        assert command is not None
        with command.make_context(name, rest, parent=outer) as inner:
            return inner.params


def in_unit() -> list[str]:
    found = re.search(r"^ExecStart=(.*)$", UNIT, re.MULTILINE)
    assert found is not None
    program, *words = shlex.split(found[1])
    assert program.endswith("/bin/candor")
    return words


def in_image() -> list[str]:
    found = re.search(r"^CMD (.*)$", IMAGE, re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


@pytest.mark.parametrize("words", [in_unit(), in_image()])
def test_what_is_started_is_a_server_behind_one_proxy(words: list[str]) -> None:
    assert words[0] == "serve"
    assert parsed(words)["trusted_proxies"] == 1


def test_a_command_with_a_typing_error_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        parsed(["serve", "--trusted-proxy", "1"])


def test_every_setting_is_one_that_the_server_reads() -> None:
    text = "".join(path.read_text() for path in FOLDER.iterdir())
    sources = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    named = set(re.findall(r"\bCANDOR_[A-Z_]+", text)) - {"CANDOR_DB_PASSWORD"}  # that one is of the compose file
    assert named and not [name for name in named if name not in sources]


def test_extras_of_the_image_exist() -> None:
    found = re.search(r"'\.\[([\w,]+)\]'", IMAGE)
    assert found is not None
    project = (FOLDER.parent / "pyproject.toml").read_text()
    assert not [one for one in found[1].split(",") if not re.search(rf"^{one} = \[", project, re.MULTILINE)]


def test_one_server_gives_out_tickets_and_the_proxy_sends_requests_for_them_there() -> None:
    services = COMPOSE["services"]
    assert [name for name, one in services.items() if "CANDOR_TICKETS" in one.get("environment", {})] == ["first"]
    assert re.search(r"upstream tickets \{ server first:8000; \}", PROXY)
    assert re.search(
        r"location ~ \^/api/surveys/\[\^/\]\+/\(tickets\|invitations\)\$ \{ proxy_pass http://tickets; \}", PROXY
    )


def test_nobody_is_written_down() -> None:
    assert "access_log off;" in PROXY and "error_log /dev/null crit;" in PROXY
    assert "LimitCORE=0" in UNIT and "MemorySwapMax=0" in UNIT
    command = COMPOSE["services"]["database"]["command"]
    for setting in ("archive_mode=off", "track_commit_timestamp=off", "log_statement=none", "wal_recycle=off"):
        assert setting in command


def test_the_proxy_answers_over_https_alone() -> None:
    """Plain http is sent on, with nothing of candor's behind it; what comes by https is told to stay there."""
    plain, secure = re.findall(r"^    server \{\n(.*?)^    \}$", PROXY, re.DOTALL | re.MULTILINE)
    assert "return 301 https://$host$request_uri;" in plain and "proxy_pass" not in plain
    assert "listen 8443 ssl;" in secure and "proxy_pass" in secure
    assert f'add_header Strict-Transport-Security "{HSTS_MAX_AGE}" always;' in secure
    assert COMPOSE["services"]["proxy"]["ports"] == ["80:8080", "443:8443"]
