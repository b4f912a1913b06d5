"""An owner sends each person a link of their own, and looks for the one row that is not the owner's.

Server and clients are honest. The owner adds copies of one row by batch until the person's report is shown among them.
0.8 showed everybody's, by name, and every form said "You answer as: Everybody".
"""

import itertools
import json
import secrets
from collections.abc import Iterator

import pytest

import candor_client
from candor_client.report import to_base64url
from tests.fixtures import TOKEN, Installation, encode_json
from tests.sign_in import bearer_header

PEOPLE = 20
ROUNDS = 12  # of forty rows: 0.8 would leave a report pending through all of them with a chance below 3^-12
MARKS = ("\u200b", "\u200c", "\u2060", "\ufeff")
WIDE = [str(option) for option in range(64)]  # so that no two rows are alike
HEADERS = bearer_header(TOKEN) | {"Content-Type": "application/yaml"}


def publish(installation: Installation, slug: str, **more: object) -> bool:
    """Publish a survey as its owner does, with a token; return whether the server takes it."""
    question = {"id": "help", "type": "choice", "text": "What did you use?", "options": WIDE}
    source = {"slug": slug, "title": "Exam honesty", "epsilon": 1, "questions": [question], **more}
    return installation.client.post("/api/surveys", data=json.dumps(source), headers=HEADERS).status_code == 201


def publish_groups(installation: Installation, labels: list[str]) -> list[str]:
    """Return the slugs of a study with a group for each label; none if the server refuses it."""
    groups = {f"g{place}": {"label": label} for place, label in enumerate(labels)}
    return [f"exam-{name}" for name in groups] if publish(installation, "exam", groups=groups) else []


def publish_surveys(installation: Installation) -> Iterator[str]:
    """Yield the slugs of surveys, one for each person."""
    for place in range(PEOPLE):
        assert publish(installation, f"exam{place}")
        yield f"exam{place}"


def is_read_off(installation: Installation, slug: str) -> bool:
    """Let one person answer, fill the survey up, and return whether the owner sees which row is theirs."""
    survey = candor_client.Survey.from_json(installation.client.get(f"/api/surveys/{slug}").data)
    own, theirs = (candor_client.randomize(survey, {"help": option}) for option in WIDE[:2])
    assert installation.client.post(f"/api/surveys/{slug}/reports", data=theirs.to_json()).status_code == 201
    row = {"survey": survey.digest, "bits": to_base64url(own.bits)}
    for _ in range(ROUNDS):
        lines = [encode_json(**row, id=to_base64url(secrets.token_bytes(16))) for _ in range(40)]
        installation.client.post(
            f"/api/surveys/{slug}/reports/batch", data=b"\n".join(lines), headers=bearer_header(TOKEN)
        )
    rows = installation.client.get(f"/results/{slug}/reports.ndjson", headers=bearer_header(TOKEN)).text
    return to_base64url(theirs.bits) in rows


def test_personal_links_to_groups_that_look_alike_are_not_published(installation: Installation) -> None:
    marks = [*itertools.product(MARKS), *itertools.product(MARKS, repeat=2)]
    slugs = publish_groups(installation, ["Everybody" + "".join(one) for one in marks])
    assert [slug for slug in slugs if is_read_off(installation, slug)] == []
    assert slugs == []


@pytest.mark.parametrize("groups", [True, False])
def test_personal_links_filled_up_by_batch_show_nobody_s_row(installation: Installation, groups: bool) -> None:
    labels = [f"Team {place}" for place in range(PEOPLE)]
    slugs = publish_groups(installation, labels) if groups else list(publish_surveys(installation))
    assert len(slugs) == PEOPLE
    assert [slug for slug in slugs if is_read_off(installation, slug)] == []
