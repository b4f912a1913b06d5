"""Checks for running surveys that current clients refuse; these surveys keep running, and each gets a warning."""

from collections.abc import Iterable, Iterator

from candor_client.definition import Survey, find_objections
from candor_client.errors import DefinitionError
from survey_app.assure.doctor.finding import Finding, warning

ADVICE = "publish a corrected version: nobody can start to answer this one, but reports from open forms still count"


def findings(definitions: Iterable[bytes]) -> Iterator[Finding]:
    """Yield a warning for each stored definition that this version's clients refuse."""
    for source in definitions:
        if objection := describe_objection(source):
            yield warning("definition", "refused", objection, ADVICE)


def describe_objection(source: bytes) -> str:
    """Return the slug of a survey and the clients' first objection to it; empty if they accept it."""
    try:
        survey = Survey.from_stored(source)
    except DefinitionError as error:
        return f"a stored definition cannot be read: {error}"
    objection = next(find_objections(survey), None)
    return f"{survey.slug}: {objection}" if objection else ""
