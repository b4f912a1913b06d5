"""Running surveys that were published before a rule of the clients: they keep running, and are named."""

from collections.abc import Iterable, Iterator

from client.definition import Survey, objections
from client.errors import DefinitionError
from survey_app.server.doctor.finding import Finding, warned

THEN = "nobody can begin to answer it; reports from forms that are open still count. Publish a corrected version"


def findings(definitions: Iterable[bytes]) -> Iterator[Finding]:
    """Yield a warning for each stored definition that this version's clients refuse."""
    for source in definitions:
        if why := name_objection(source):
            yield warned("definition", why, THEN)


def name_objection(source: bytes) -> str:
    """Return the survey's slug and what the clients refuse in it; empty if they take it."""
    try:
        survey = Survey.from_stored(source)
    except DefinitionError as error:
        return f"a stored definition cannot be read: {error}"
    objection = next(objections(survey), None)
    return f"{survey.slug}: {objection}" if objection else ""
