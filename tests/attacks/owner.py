"""The owner's attack: name the reports of invited people by who has taken a ticket, and by extra invitations."""

from datetime import timedelta
from pathlib import Path

from benchmarks.reproductions.figures import Section
from tests.fixtures import build
from tests.invitations.test_owner import DAY, OWN, PEOPLE, WIDE, linked

WAYS = {  # by invitation, and how much time passes between two people
    "shown in steps, as before 0.9": (False, timedelta(0)),
    "by invitation, all mailed at once": (True, timedelta(0)),
    "by invitation, one person mailed a day": (True, DAY),
}


def name_people(folder: Path) -> dict[str, int]:
    """Return how many people the owner gave their own row, each way."""
    found = {}
    for place, (way, (invited, pause)) in enumerate(WAYS.items()):
        (own := folder / str(place)).mkdir(parents=True)
        installation = build(own)
        published = installation.invite(definition=WIDE) if invited else installation.publish(WIDE)
        found[way] = linked(installation, published, pause=pause)
        installation.close()
    return found


def owner_section(folder: Path) -> Section:
    """Return the section on the owner."""
    section = Section("The owner's attack")
    section.say(
        "On an honest server, the person who invites sees at once who has taken a ticket, has as many invitations of their own as"
        f" they like, and downloads the noisy rows whenever they want. After each person they answer {OWN} times"
        " themselves, so that a step is taken, and look for the one row that is not theirs. So nothing made of bits is"
        " shown of a survey by invitation before a date that was set before the first ticket; then all rows appear"
        f" together, in no order. {PEOPLE} people, whose rows are all different:"
    )
    section.table(
        ["survey", "people (guessing names one of them)", "named rightly"],
        [[way, str(PEOPLE), str(found)] for way, found in name_people(folder).items()],
    )
    section.say(
        "What remains: a survey, a group or a version that is made for one person and filled up with reports of its"
        " owner's own has one row that is not theirs; and a person who takes a ticket and gives it to somebody else recognises"
        " the report that comes with it, so devices ask before they use one that a link brings. What the row says is"
        " bounded by ε."
    )
    return section
