"""Candor's own strings for the form's script, in every language of a survey, and only those that it can need.

The served form and the form file embed the same strings in their page, as a block of JSON.
"""

import json
from typing import Any

from candor_client.definition import Survey
from survey_app.languages import Words
from survey_app.languages.translation import list_languages
from survey_app.store.records import Outcome

OF_INVITATIONS = {
    *("not_invited", "already_issued", "too_early", "too_late", "bad_ticket", "no_ticket", "id_taken"),
    *("invited", "unlinked", "bytes_ticket", "trust_invited"),
}  # and all keys that begin with "ticket"
OF_ANYBODY = {"review_all", "bytes_id"}  # if no ticket is needed
OF_ASK = {"chosen", "draws", "filter", "hidden"}
OF_ALL = {"rolls_each", "depends"}  # if all questions are asked
OF_FILES = {"file", "file_more", "file_memory", "ticket_file", "report_lost"}
OF_SERVED = {"trust", "trust_more", "trust_file", "trust_sum", "trust_same", "trust_python", "trust_invited"}
OF_COPYING = {"copy", "copied"}
OF_LEAVING = {"leave", "left"}  # if a question may be left out
OF_BATTERIES = {"costs_each"}
OF_LATER = {"survey_not_open", "opens"}
OF_DATES = {"ticket_date"}


def form_data(survey: Survey, state: str = "open", **extra: str) -> dict[str, Any]:
    """Return the data of the form's script: languages with text directions, strings, and the state of the survey.

    `extra` may contain `home`, the address of the survey if it differs from that of the page, and `file`, the SHA-256
    of the form file. It may also contain `opens`, when the survey opens, and `shown`, when its results appear.
    """
    catalogues = [Words(tag) for tag in list_languages(survey)]
    languages_by_tag = {words.tag: {"ours": words.language, "dir": words.direction} for words in catalogues}
    strings = {words.language: select_strings(words, survey, state, set(extra)) for words in catalogues}
    return {"languages": languages_by_tag, "strings": strings, "state": state, **extra}


def select_strings(words: Words, survey: Survey, state: str, extra: set[str]) -> dict[str, str]:
    """Return the strings that the script of this survey can need in this state, in one language."""
    unused = set(OF_ANYBODY if survey.tickets else OF_INVITATIONS) | (OF_ALL if survey.ask else OF_ASK)
    if "file" not in extra:
        unused |= OF_SERVED | (set() if "home" in extra else {"trust_digest"})
    if "home" not in extra:
        unused |= OF_FILES
    if state != Outcome.NOT_OPEN:
        unused |= OF_LATER | (set() if survey.tickets else {"moment"})
    if "shown" not in extra:
        unused |= OF_DATES
    for keys, is_needed in (
        (OF_COPYING, survey.tickets or survey.completion),
        (OF_LEAVING, any(question.optional for question in survey.questions)),
        (OF_BATTERIES, any(section.grid for section in survey.sections)),
    ):
        unused |= set() if is_needed else keys
    parts = {
        "agree": survey.consent,
        "completion": survey.completion,
        "contact": survey.contact,
        "group": survey.group,
        "languages": survey.translations,
        "ticket": survey.tickets,
    }
    absent_parts = ("page_", *(key for key, part in parts.items() if not part))
    link_notice = {"alone": words("privacy.unprotected_link")} if survey.group and not survey.tickets else {}
    return link_notice | {
        key: text
        for section in ("form", "trouble")
        for key, text in words.section(section).items()
        if not key.startswith(absent_parts) and key not in unused
    }


def json_block(value: Any) -> str:
    """Return a value as JSON for a script block of a page; no text in the value can end the block."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
