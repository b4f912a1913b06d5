"""The product's code, as tests.capture calls it. All else of a capture is the command line, HTTP, and files.

Commands, addresses, JSON keys and files do not change when modules move or are renamed: after a restructuring only this
module has to follow, and tests.fixtures and tests.sign_in, which every test uses.
"""

import contextlib
import hashlib
import importlib
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import patch

import click

import candor_client
from candor_client.version import __version__ as VERSION
from survey_app.assure.simulation import demo_survey
from survey_app.cli import main as COMMAND_LINE
from survey_app.invitations import keys
from survey_app.store import Submission, records
from tests import blind_signature_reference, fixtures
from tests.fixtures import Installation
from tests.fixtures import build as start_server
from tests.sign_in import signed_in as sign_in

__all__ = ["BEARER", "COMMAND_LINE", "VERSION", "Clock", "Installation", "predictable", "sign_in", "start_server"]

TOKEN = "token-of-ada".ljust(43, "0")
BEARER = {"Authorization": f"Bearer {TOKEN}"}  # of a script of ada's, who owns every survey


class Clock:
    """The time that the product reads. It stands still, so that a capture does not depend on the day."""

    moment: ClassVar[datetime] = datetime(2030, 1, 1, 12, tzinfo=UTC)

    @classmethod
    def now(cls, _: object = UTC) -> datetime:
        """Return the moment, as datetime.now does."""
        return cls.moment


@contextlib.contextmanager
def predictable() -> Iterator[None]:
    """Fix what is made by chance: the clock, ada's token, and keys of tickets, with which nothing is signed here."""
    numbers = itertools.count()

    def make_pair(*_: object) -> Any:
        label = f"capture {next(numbers)}"
        p, q = (blind_signature_reference.made_up_prime(f"{label} {name}", 0) for name in "pq")
        return SimpleNamespace(private_numbers=lambda: SimpleNamespace(p=p, q=q))

    with (
        patch.object(keys, "generate_private_key", make_pair),
        patch.object(records, "datetime", Clock),
        patch.object(importlib.import_module("candor_client.respond"), "datetime", Clock),
        patch.object(fixtures, "TOKEN", TOKEN),
        patch.object(Clock, "moment", Clock.moment),
    ):
        yield


def list_commands(command: click.Command = COMMAND_LINE, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the name of every command and group, as the words that are typed after `candor`."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from list_commands(below, (*path, name))


def publish(server: Installation, definition: bytes) -> None:
    """Publish a definition that no author's file may give, with public results."""
    server.publish(json.loads(definition))


def publish_demo(server: Installation) -> dict[str, Any]:
    """Publish the survey of `candor demo`, and return the configuration that serves its pages."""
    survey = demo_survey.prepare(server.store)[0].survey
    return {"DEMO": (survey.slug, survey.digest)}


def store_reports(server: Installation, slug: str, rows: Sequence[bytes]) -> None:
    """Store reports with these bits, as devices may have sent them."""
    newest = server.store.newest_version(slug)
    assert newest is not None
    ids = [hashlib.sha256(b"%d" % place + bits).digest()[:16] for place, bits in enumerate(rows)]
    submissions = [Submission(newest.key, id, bits) for id, bits in zip(ids, rows, strict=True)]
    server.store.write(submissions.copy)


def randomize(definition: bytes, answers: dict[str, Any], source: bytes) -> dict[str, Any]:
    """Return what a device computes: ε, and the report that it makes of answers with these random bytes."""
    survey = candor_client.Survey.from_json(definition)
    report = candor_client.randomize(survey, answers, random_bytes=io.BytesIO(source).read)
    return {
        "digest": survey.digest,
        "epsilon": str(candor_client.verify(survey)),
        "report": json.loads(report.to_json()),
    }
