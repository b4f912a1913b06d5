"""Reading results again and again while random histories change the surveys.

Two states that anybody sees either have the same reports and the same figures, or differ by at least a step. A history
is drawn with the system's randomness, and printed in full if it fails; the claim holds in every one.
"""

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from candor_client import Report, randomize
from survey_app.authoring.terms import Terms
from survey_app.store import STEP, Member, PublishedSurvey, State, StoreError, Submission
from survey_app.store.postgres import PostgresStore
from survey_app.store.sqlite import SqliteStore
from tests.definitions import simple, survey

NOON = datetime(2040, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
BURSTS = (1, 1, 1, 1, 2, 3, 7, 19, 20, 21, 39, 40, 41)


class TooClose(AssertionError):
    """Two states were seen that differ by fewer reports than a step."""


class Watch:
    """A record of every state of every survey, wherever it was seen."""

    def __init__(self) -> None:
        self._figures: dict[tuple[Hashable, str, int], Any] = {}
        self.counts: dict[Hashable, set[int]] = {}

    def see(self, survey: Hashable, place: str, reports: int, figures: Any) -> None:
        """Record that a place shows so many reports, and these figures; raise TooClose if that tells too much."""
        counts = self.counts.setdefault(survey, {0})
        for other in counts:
            if 0 < abs(other - reports) < STEP:
                raise TooClose(f"{place} shows {reports} reports of {survey}, and {other} were seen")
        counts.add(reports)
        if self._figures.setdefault((survey, place, reports), figures) != figures:
            raise TooClose(f"{place} shows two states of {survey} with {reports} reports")


class History:
    """A random history: reports come, terms and clocks change, versions open, surveys end."""

    def __init__(
        self,
        store: SqliteStore | PostgresStore,
        owner: int,
        look: Callable[["History"], None],
        definition: dict[str, Any] | None = None,
        answers: Sequence[dict[str, Any]] = ({"cheated": True}, {"cheated": False}),
    ) -> None:
        self.store, self.owner, self._look = store, owner, look
        self.definition, self.answers = definition or simple(), answers
        self.dice = random.SystemRandom()
        self.moment, self.versions = NOON, 0
        self.log: list[str] = []
        self.published: list[PublishedSurvey] = []
        self.submissions: list[Submission] = []
        store.clock = lambda: self.moment
        for study in (False, True):
            self.publish(study)

    def run(self, events: int) -> None:
        """Send more than two steps of reports, run so many events with a look after each, and close all surveys."""
        acts = [self.report] * 12 + [self.resend, self.pause, self.open, self.terms, self.terms, self.clock]
        acts += [self.version, self.close, self.delete]
        try:
            self._do(lambda: self.report(self.published[0], 2 * STEP + 5))
            for _ in range(events):
                self._do(self.dice.choice(acts))
            for act in (self.report, self.terms, self.close):
                for one in self.open_versions():
                    self._do(lambda act=act, one=one: act(one))  # type: ignore[misc]
        except TooClose as found:
            raise TooClose(f"{found}, after:\n" + "\n".join(self.log)) from None

    def _do(self, act: Callable[[], str]) -> None:
        try:
            self.log.append(act())
        except StoreError as error:
            self.log.append(f"refused: {error}")
        self._look(self)

    def open_versions(self) -> list[PublishedSurvey]:
        """Return the versions that are open or paused, as the store has them now."""
        fresh = [self.store.version(one.survey.slug, one.survey.digest) for one in self.published]
        return [one for one in fresh if one and one.state in (State.OPEN, State.PAUSED)]

    def pick_version(self) -> PublishedSurvey:
        found = self.open_versions()
        if not found:
            self.publish(self.dice.random() < 0.5)
            found = self.open_versions()
        return self.dice.choice(found)

    # what happens

    def publish(self, study: bool, state: State = State.OPEN) -> list[PublishedSurvey]:
        self.versions += 1
        title = f"Version {self.versions} of {self.dice.getrandbits(32)}"
        names = {"poll-north": "North", "poll-south": "South"} if study else {"exam": ""}
        made = [
            survey(
                self.definition | {"slug": slug, "title": title} | ({"study": "poll", "group": group} if group else {})
            )
            for slug, group in names.items()
        ]
        added = self.store.add_surveys([Member(one, Terms(public=True)) for one in made], owner=self.owner, state=state)
        self.published += added
        return added

    def report(self, one: PublishedSurvey | None = None, burst: int | None = None) -> str:
        published, count = one or self.pick_version(), burst or self.dice.choice(BURSTS)
        made = [randomize(published.survey, self.dice.choice(self.answers)) for _ in range(count)]
        outcomes = self.send(published, made)
        self.submissions += [Submission(published.key, report.id, report.bits) for report in made]
        return f"{count} reports to {published.survey.slug}: {', '.join(sorted(set(outcomes)))}"

    def send(self, published: PublishedSurvey, made: list[Report]) -> Sequence[str]:
        """Send all reports in one commit."""
        return self.store.write(lambda: [Submission(published.key, report.id, report.bits) for report in made])

    def resend(self) -> str:
        if self.submissions:
            self.store.write(lambda: [self.dice.choice(self.submissions)])
        return "a report again"

    def pause(self) -> str:
        self.store.set_state(one := self.pick_version(), State.PAUSED)
        return f"pause {one.survey.slug}"

    def open(self) -> str:
        waiting = [one for one in self.published if not self.store.is_final(one)]
        self.store.set_state(one := self.dice.choice(waiting or self.published), State.OPEN)
        return f"open {one.survey.slug}"

    def terms(self, one: PublishedSurvey | None = None) -> str:
        published = one or self.pick_version()
        total = self.store.recount(published, lambda _: None)[0].reports
        changes: list[dict[str, Any]] = [
            {"public": not published.terms.public},
            {"closes": self.moment + self.dice.choice((-1, 0, 1, 2, 5)) * HOUR, "deletes": None},
            {"closes": None},
            {"max_reports": max(1, total + self.dice.choice((-20, -1, 0, 1, 5, 25)))},
            {"max_reports": None},
            {"closes": None, "deletes": self.moment + 3 * HOUR},
        ]
        change = self.dice.choice(changes)
        self.store.set_terms(published, replace(published.terms, **change))
        return f"{published.survey.slug} with {total} reports: {change}"

    def clock(self) -> str:
        self.moment += self.dice.choice((-2, -1, 1, 1, 1, 2)) * HOUR
        return f"it is {self.moment}"

    def version(self) -> str:
        state = self.dice.choice((State.OPEN, State.READY))
        added = self.publish(self.dice.random() < 0.5, state)
        return f"a new version of {added[0].survey.slug}, {state}"

    def close(self, one: PublishedSurvey | None = None) -> str:
        published = one or self.pick_version()
        self.store.set_state(published, State.CLOSED)
        return f"close {published.survey.slug}"

    def delete(self) -> str:
        if self.dice.random() < 0.7:
            return "nothing"
        self.store.delete_survey((one := self.pick_version()).survey.slug)
        return f"delete {one.survey.slug}"
