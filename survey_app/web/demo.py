"""The pages of the demo: a newcomer acts as a respondent, as a researcher and as a curious administrator.

They exist only where `candor demo` serves, and show only its own survey. The administrator's page shows reports outside
`pending`, as everywhere (docs/data-model.md, "Steps"). A class may answer the demo for real, and everyone in it sees
the browser. The operator of the demo sees the other reports in a terminal.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flask import Blueprint, Response, current_app, render_template, request

from candor_client.definition import Field, Survey
from candor_client.description import describe
from candor_client.report import ID_BYTES, unpack
from survey_app.assure.posterior_attack import Suspicion, simulate_attack, suspicions
from survey_app.assure.simulation import demo_survey, devices
from survey_app.channels.posterior import posterior_chance, prior_chance, round_up_fraction, total_epsilon
from survey_app.languages.numbers import format_chance, format_epsilon
from survey_app.problems import Problem
from survey_app.results.bit_meanings import Bit, field_name, stored_bits
from survey_app.store import STEP, PublishedSurvey
from survey_app.web.access import require_readable, store
from survey_app.web.headers import content_security

blueprint = Blueprint("demo", __name__, url_prefix="/demo")
ROWS = 6  # rows of the table that are shown at once
PEOPLE = 20_000  # simulated people who are attacked at each visit
SUSPICIONS = (100, 20, 5, 2)
DEFAULT_SUSPICION = 20


@dataclass(frozen=True)
class DemoField:
    """A field of one report: its bits, their meaning, and the updated suspicions.

    A field that was not asked has no bits.
    """

    field: Field
    bits: str
    meaning: str
    suspicions: list[Suspicion]

    @property
    def name(self) -> str:
        """The names of the field's questions."""
        return field_name(self.field)


@blueprint.get("")
def roles() -> Response:
    """Show the start page, which leads through the three roles."""
    published = load_sample()
    return _page("demo/roles.html", survey=published.survey, step=STEP)


@blueprint.get("/administrator")
def administrator() -> Response:
    """Show the database as it is on disk, one report from it, and the conclusions that report allows."""
    published = load_sample()
    survey = published.survey
    rows = _rows(published)
    suspicion = _requested_suspicion()
    where, table = store().table_of(published)
    report = {}
    if rows:
        id, bits = rows[0]
        cell = store().cell_of(published, id, bits)
        report = {
            "id": id,
            "bits": list(_explain_bits(survey, bits)),
            "parts": list(_demo_fields(survey, bits, Fraction(1, suspicion))),
            "cell": cell,
            "whole": b"".join(part for _, part in cell).hex(),
            "following": rows[1][0].hex() if len(rows) > 1 else "",
        }
    loss = total_epsilon(survey)
    rng = np.random.default_rng()
    people = demo_survey.draw_demo_answers(survey, PEOPLE, rng)
    guesses = simulate_attack(survey, people, np.concatenate(list(devices.reports(survey, people, rng))))
    return _page(
        "demo/administrator.html",
        survey=survey,
        shown=store().snapshot(published).reports,
        step=STEP,
        where=where,
        table=table,
        rows=[(id.hex(), _format_bits(survey, bits)) for id, bits in rows],
        suspicion=suspicion,
        suspicions=SUSPICIONS,
        epsilon=format_epsilon(loss, 2),
        before=format_chance(prior_chance(suspicion)),
        after=lambda suspicion: format_chance(round_up_fraction(suspicion.after)),
        bound=format_chance(posterior_chance(suspicion, loss)),
        people=PEOPLE,
        guessed=guesses,
        least_wrong=min(1 - guess.correct / guess.asked for guess in guesses),
        **report,
    )


def load_sample() -> PublishedSurvey:
    """Return the demo's own survey. Raise Problem if it was deleted, or its results were made private."""
    published = store().version(*current_app.config["DEMO"])
    if published is None:
        raise Problem("not_found", "The demo's survey was deleted. Start candor demo again to create a new one.")
    return require_readable(published)


def _rows(published: PublishedSurvey) -> list[tuple[bytes, bytes]]:
    """Return some reports, beginning with the report that the URL names, or at a random one.

    After the last report comes the first.
    """
    requested_id = request.args.get("row", "")
    first = _parse_id(requested_id) if requested_id else secrets.token_bytes(ID_BYTES)
    before = (int.from_bytes(first, "big") - 1).to_bytes(ID_BYTES, "big") if any(first) else b""
    rows = store().visible_reports(published, before, ROWS)
    if len(rows) < ROWS:
        rows += [row for row in store().visible_reports(published, b"", ROWS - len(rows)) if row not in rows]
    return rows


def _parse_id(text: str) -> bytes:
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != ID_BYTES:
        raise Problem("not_found", "There is no such report.")
    return value


def _requested_suspicion() -> int:
    text = request.args.get("suspicion", str(DEFAULT_SUSPICION))
    return int(text) if text in map(str, SUSPICIONS) else DEFAULT_SUSPICION


def _format_bits(survey: Survey, bits: bytes) -> str:
    """Return the stored bits as text, without the padding of the last byte."""
    return "".join(f"{byte:08b}" for byte in bits)[: survey.width]


def _explain_bits(survey: Survey, bits: bytes) -> Iterator[tuple[str, Bit]]:
    """Yield every bit of a report with the meaning of a 1 in its place."""
    return zip(_format_bits(survey, bits), stored_bits(survey), strict=True)


def _demo_fields(survey: Survey, bits: bytes, before: Fraction) -> Iterator[DemoField]:
    for field, value in zip(survey.fields, unpack(survey, bits), strict=True):
        width = field.mechanism.width
        bit_text = "" if value is None else f"{value:0{width}b}"
        meaning = "" if value is None else describe(field, value)
        yield DemoField(field, bit_text, meaning, list(suspicions(field, value, before)))


def _page(name: str, **values: object) -> Response:
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": content_security(form="'self'")}
    page = render_template(name, **values)
    return Response(page, content_type="text/html; charset=utf-8", headers=headers)
