"""How large an upload may be, by the path it goes to. A number stands with what it limits; here they come together."""

from client.definition import LARGEST_REPORT
from survey_app.authoring.source import LARGEST_FILE, LARGEST_FORM
from survey_app.collect.batch import BATCHES, LARGEST_BATCH
from survey_app.tickets.issue import LARGEST_REQUEST, TICKETS

SURVEYS = "/api/surveys"
LARGEST_OF_ALL = max(LARGEST_REPORT, LARGEST_FORM, LARGEST_BATCH)


def largest_upload(path: str) -> int:
    """How many bytes a request may carry; whoever sends more is told before they are read."""
    if path.startswith("/console"):
        return LARGEST_FORM
    if TICKETS.fullmatch(path):
        return LARGEST_REQUEST
    if path == SURVEYS:
        return LARGEST_FILE
    return LARGEST_BATCH if BATCHES.fullmatch(path) else LARGEST_REPORT


def needs_token(method: str, path: str) -> bool:
    """Whether whoever sends this has to be known before anything of it is read: it may be large."""
    return method == "POST" and (path == SURVEYS or BATCHES.fullmatch(path) is not None)
