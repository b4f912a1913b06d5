"""An owner on an honest server tries to name the reports of invited people. She sees who has taken a ticket at once, has
as many invitations of her own as she likes, and reads raw data whenever she wants.

Each person comes, the owner fills up with reports that she knows, and looks for the odd row. In steps of twenty that named
everybody; since nothing is shown before the date, what is left is to guess among the honest takers: of twelve people, in
the order of the file, nine or more are right by chance once in 900,000 runs.
"""

import secrets
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

import candor_client
import candor_client.report
from survey_app.store import PublishedSurvey, State, StoreError, Submission, now
from survey_app.store.records import Hold
from tests.definitions import choice, define, field, subset
from tests.fixtures import TOKEN, Installation, make_report
from tests.ticket_surveys import invitation_survey, key

PEOPLE, OWN = 12, 60
WIDE = define([choice(options=64)], [field(subset(64, 8), "help")])  # no two rows alike
DAY = timedelta(days=1)


def rows(installation: Installation) -> Counter[str]:
    """The raw data, as the owner downloads them; none where the server refuses."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    reply = installation.client.get("/results/exam/reports.ndjson", headers=headers)
    return Counter(line for line in reply.text.splitlines() if '"bits"' in line)


def send(installation: Installation, published: PublishedSurvey, bits: bytes, count: int = 1) -> None:
    """Store reports of devices that hold a ticket; what the intake checks of them is not the question here."""
    sent = [Submission(published.key, secrets.token_bytes(16), bits) for _ in range(count)]
    installation.store.write(sent.copy)


def linked(installation: Installation, published: PublishedSurvey, *, pause: timedelta = timedelta(0)) -> int:
    """Return how many people the owner gave the right row, all of them having come and the date having passed."""
    own, people = (
        make_report(published, help="option 0").bits,
        [make_report(published, help="option 1").bits for _ in range(PEOPLE)],
    )
    texts = {bits: candor_client.report.to_base64url(bits) for bits in (own, *people)}
    begun, guesses = now(), dict[int, str]()
    for person, bits in enumerate(people):
        installation.store.clock = lambda moment=begun + person * pause: moment  # type: ignore[misc]
        before = rows(installation)
        send(installation, published, bits)
        for _ in range(12):  # she waits in one of four: nobody is missed but in one of a million runs
            send(installation, published, own, OWN)
            odd = [line for line in rows(installation) - before if texts[own] not in line]
            if len(odd) == 1:
                guesses[person] = odd[0]
                break
    if not guesses:  # she waits for the date, and takes the odd rows as they stand there
        installation.store.clock = lambda: begun + 60 * DAY
        guesses = dict(enumerate(line for line in rows(installation) if texts[own] not in line))
        assert len(guesses) == PEOPLE, "at the date everything is shown"
    return sum(texts[people[person]] in guess for person, guess in guesses.items())


@pytest.fixture
def published(installation: Installation) -> PublishedSurvey:
    return installation.invite(definition=WIDE)


@pytest.mark.parametrize("pause", [timedelta(0), DAY], ids=["at once", "one person mailed a day"])
def test_an_owner_with_invitations_of_her_own_links_nobody(
    installation: Installation, published: PublishedSurvey, pause: timedelta
) -> None:
    assert linked(installation, published, pause=pause) < 9


def test_the_same_attempt_names_everybody_where_reports_are_shown_in_steps(installation: Installation) -> None:
    """As every survey by invitation was shown before; so the attempt can succeed."""
    anybody = installation.publish(WIDE)
    assert linked(installation, anybody) >= 9


def test_closing_by_hand_after_one_taker_shows_nothing_before_the_date(
    installation: Installation, published: PublishedSurvey
) -> None:
    send(installation, published, make_report(published, help="option 1").bits)
    send(installation, published, make_report(published, help="option 0").bits, OWN)
    installation.store.set_state(published, State.CLOSED)
    assert not rows(installation) and installation.results()["reports"] == 0
    closes = published.terms.closes
    assert closes is not None
    installation.store.clock = lambda: closes - timedelta(minutes=1)
    assert not rows(installation) and installation.results()["reports"] == 0
    installation.store.clock = lambda: closes
    assert installation.results()["reports"] == 1 + OWN == sum(rows(installation).values())


def test_a_version_replaced_after_one_taker_is_never_shown(
    installation: Installation, published: PublishedSurvey
) -> None:
    send(installation, published, make_report(published, help="option 1").bits)
    send(installation, published, make_report(published, help="option 0").bits, OWN)
    again = invitation_survey(1, definition=WIDE | {"title": "Second"})
    installation.tickets.add_key("exam", key(1), again.digest)
    installation.publish(again)
    installation.store.clock = lambda: now() + 90 * DAY
    old = installation.store.version("exam", published.survey.digest)
    assert old is not None and (old.state, old.hold) == (State.CLOSED, Hold.FOREVER)
    assert installation.store.snapshot(old).reports == 0
    with installation.store.open_snapshot(old) as (tally, left):
        assert (tally.reports, list(left)) == (0, [])


def test_the_date_is_set_before_the_first_ticket_and_only_moves_later(
    installation: Installation, published: PublishedSurvey
) -> None:
    closes = published.terms.closes
    assert closes is not None and timedelta(days=27, hours=23) < closes - now() <= 28 * DAY
    for other in (None, closes - DAY):
        with pytest.raises(StoreError, match="only be moved later"):
            installation.store.set_terms(published, replace(published.terms, closes=other))
    later = installation.store.set_terms(published, replace(published.terms, closes=closes + DAY))
    assert later.release_date == closes + DAY
    with pytest.raises(StoreError, match="at least a day"):
        installation.publish(invitation_survey(1, definition=WIDE | {"slug": "soon"}), closes=now() + DAY / 2)


def test_fewer_than_a_step_are_not_shown_at_the_date_either(
    installation: Installation, published: PublishedSurvey
) -> None:
    send(installation, published, make_report(published, help="option 1").bits, 19)
    installation.store.clock = lambda: now() + 60 * DAY
    assert installation.results()["reports"] == 0 and not rows(installation)
