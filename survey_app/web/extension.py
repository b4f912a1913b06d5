"""What an app is made of besides its pages, as one object: `app.extensions["candor"]`."""

import math
from dataclasses import dataclass, field

from flask import Flask, current_app

from survey_app.collect.endpoint import Endpoint
from survey_app.collect.intake import Intake
from survey_app.collect.rate_limit import AUTHOR_LIMIT, READING_LIMIT, VISIT_LIMIT, Counts, Limiter
from survey_app.invitations.issuing import TicketIssuer
from survey_app.store import Outcome, PublishedSurvey, Store, TicketFile

NAME = "candor"


@dataclass(frozen=True)
class Limiters:
    """The limits on requests, by address; for `authors` by account.

    All workers of a server share `counts`, so that a limit holds across all of them.
    """

    senders: Limiter
    visits: Limiter
    readings: Limiter
    authors: Limiter
    sign_ins: Limiter
    passwords: Limiter

    @classmethod
    def of(cls, rate_limit: str, login_limit: str, counts: Counts) -> "Limiters":
        """Return the limits of a server. `off` as `rate_limit` turns off those of visits, readings and authors too."""
        is_off = rate_limit == "off"
        visits, readings, authors = (
            Limiter("off" if is_off else limit, name, counts)
            for name, limit in (("visits", VISIT_LIMIT), ("readings", READING_LIMIT), ("authors", AUTHOR_LIMIT))
        )
        return cls(
            senders=Limiter(rate_limit, "senders", counts),
            visits=visits,
            readings=readings,
            authors=authors,
            sign_ins=Limiter(login_limit, "signing-in", counts),
            passwords=Limiter(login_limit, "passwords", counts),
        )


@dataclass
class SurveyCache:
    """The surveys with public results, and the time until which they are not read again."""

    surveys: list[PublishedSurvey] = field(default_factory=list)
    expires: float = -math.inf


@dataclass(frozen=True)
class Candor:
    """The store of an app, and everything that is set up once and used by its requests."""

    store: Store
    tickets: TicketFile
    intake: Intake
    issuer: TicketIssuer
    limiters: Limiters
    reports: Endpoint[Outcome]
    ticket_requests: Endpoint[bytes]
    landing: SurveyCache = field(default_factory=SurveyCache)

    def close(self) -> None:
        """Store the waiting reports, and end the writer and the signing process."""
        self.intake.close()
        self.issuer.close()


def get_candor(app: Flask) -> Candor:
    """Return the extension object of an app."""
    candor: Candor = app.extensions[NAME]
    return candor


def current_candor() -> Candor:
    """Return the extension object of the current app."""
    return get_candor(current_app)
