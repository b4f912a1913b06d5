"""The words for events of the audit log: every code has some, and they are data of no other place."""

from datetime import UTC, datetime

import pytest

from survey_app.store import Event, EventCode, EventData
from survey_app.store.audit_events import TermChange
from survey_app.web.console.event_text import describe_event
from tests.golden_files import Golden
from tests.store.earlier_files import SENTENCES

MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
DATA = {
    EventCode.PUBLISHED: EventData(digest="0123456789abcdef" * 4),
    EventCode.ADDED: EventData(digest="0123456789abcdef" * 4),
    EventCode.TERMS_CHANGED: EventData(
        terms={
            "results": TermChange("public", "private"),
            "closes": TermChange(None, "2030-01-01T13:00Z"),
            "max_reports": TermChange(50, None),
        }
    ),
    EventCode.SHARED: EventData(account="eve", role="editor"),
    EventCode.UNSHARED: EventData(account="eve"),
    EventCode.LINK_MADE: EventData(label="the works council"),
    EventCode.LINK_WITHDRAWN: EventData(label="the works council"),
    EventCode.INVITATIONS_MADE: EventData(count=12_000),
    EventCode.EXPORTED: EventData(format="csv"),
    EventCode.NOTE: EventData(text="something else"),
}


def test_every_code_has_words(golden: Golden) -> None:
    texts = {code: describe_event(Event("exam", MOMENT, code, DATA.get(code, EventData()))) for code in EventCode}
    assert len(set(texts.values())) == len(EventCode)
    golden("\n".join(f"{code.value}: {text}" for code, text in texts.items()))


@pytest.mark.parametrize(("sentence", "code", "data"), SENTENCES)
def test_an_event_of_an_earlier_version_has_words_too(sentence: str, code: EventCode, data: EventData) -> None:
    text = describe_event(Event("exam", MOMENT, code, data))
    values = [data.digest, data.account, data.role, data.label, data.format, data.text]
    assert all(value in text for value in values)
    assert all(str(change.new or "none") in text for change in data.terms.values())
    assert bool(text) is bool(sentence)
