"""What the form's script is given to say: our own strings, in every language of a survey, and only those it can need.

The same for the form that a server shows and for the one in a file; both lay it into their page as a block of JSON.
"""

import json
from typing import Any

from client.definition import Survey
from survey_app.explain.languages import Words
from survey_app.explain.translated import languages
from survey_app.store.records import Outcome

OF_INVITATIONS = {
    *("not_invited", "already_issued", "too_early", "too_late", "bad_ticket", "no_ticket", "id_taken"),
    *("invited", "unlinked", "bytes_ticket", "trust_invited"),
}  # and whatever begins with "ticket"
OF_ANYBODY = {"review_all", "bytes_id"}  # where no ticket is needed
OF_ASK = {"chosen", "draws", "filter", "hidden"}
OF_ALL = {"rolls_each", "depends"}  # where everything is asked
OF_FILES = {"file", "file_more", "file_memory", "ticket_file", "report_lost"}
OF_SERVED = {"trust", "trust_more", "trust_file", "trust_sum", "trust_same", "trust_python", "trust_invited"}
OF_COPYING = {"copy", "copied"}
OF_LEAVING = {"leave", "left"}  # where something may be left out
OF_BATTERIES = {"costs_each"}
OF_LATER = {"survey_not_open", "opens"}
OF_DATES = {"ticket_date"}


def told(survey: Survey, state: str = "open", **more: str) -> dict[str, Any]:
    """For each language of the survey, its direction and that of our strings; and these strings.

    More that the script may be told: `home`, where the survey lives, if that is not the page's address; `file`, the
    SHA-256 of the form as a file; `opens`, when it does; `shown`, from when on results are.
    """
    voices = [Words(tag) for tag in languages(survey)]
    spoken = {words.tag: {"ours": words.language, "dir": words.direction} for words in voices}
    strings = {words.language: strings_of(words, survey, state, set(more)) for words in voices}
    return {"languages": spoken, "strings": strings, "state": state, **more}


def strings_of(words: Words, survey: Survey, state: str, more: set[str]) -> dict[str, str]:
    """The strings that this survey's script can need in this state, in one language."""
    unused = set(OF_ANYBODY if survey.tickets else OF_INVITATIONS) | (OF_ALL if survey.ask else OF_ASK)
    if "file" not in more:
        unused |= OF_SERVED | (set() if "home" in more else {"trust_digest"})
    if "home" not in more:
        unused |= OF_FILES
    if state != Outcome.NOT_OPEN:
        unused |= OF_LATER | (set() if survey.tickets else {"moment"})
    if "shown" not in more:
        unused |= OF_DATES
    for keys, needed in (
        (OF_COPYING, survey.tickets or survey.completion),
        (OF_LEAVING, any(question.optional for question in survey.questions)),
        (OF_BATTERIES, any(section.grid for section in survey.sections)),
    ):
        unused |= set() if needed else keys
    parts = {
        "agree": survey.consent,
        "completion": survey.completion,
        "contact": survey.contact,
        "group": survey.group,
        "languages": survey.translations,
        "ticket": survey.tickets,
    }
    left_out = ("page_", *(key for key, part in parts.items() if not part))
    alone = {"alone": words("privacy.unprotected_link")} if survey.group and not survey.tickets else {}
    return alone | {
        key: text
        for section in ("form", "trouble")
        for key, text in words.section(section).items()
        if not key.startswith(left_out) and key not in unused
    }


def block(value: Any) -> str:
    """JSON for a block of a page, which no text in it can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
