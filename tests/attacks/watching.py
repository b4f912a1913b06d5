"""Watching: what the time of a report tells, and what polling the results tells."""

from pathlib import Path

from benchmarks.reproductions.figures import Section
from survey_app.store import STEP
from survey_app.store.sqlite import SqliteStore
from tests.client.test_time import PEOPLE, attack, coin_by_coin, coin_by_coin_chance, this_chance, this_client
from tests.fixtures import CHEAP
from tests.polling import History, TooClose, Watch
from tests.scripted_server import Server


def clocks_section() -> Section:
    """Return the section on time."""
    section = Section("Reading coins off the clock")
    server = Server()
    try:
        ours = attack(this_client(server), this_chance)
    finally:
        server.close()
    once = attack(coin_by_coin(waits=False), coin_by_coin_chance)
    section.say(
        "A server publishes a number with geometric noise, ε = 1, and measures how long each device takes. A client that"
        " tosses coin after coin until one falls takes longer the farther the noise goes, and from time and report together"
        " the answer can be read. This client draws as many bytes whatever happens, and sends at a whole second. The clock is"
        f" a simulated one that shows more than any network would; of {PEOPLE} people the attacker names those whose one"
        " answer is e² times likelier than the other, which ε = 1 never allows:"
    )
    section.table(
        ["client", "people named", "rightly", "moments at which reports came"],
        [
            ["coin by coin, sent at once", f"{once[0]}", f"{once[1]}", f"{len(once[2])}"],
            ["this one", f"{ours[0]}", f"{ours[1]}", f"{len(ours[2])}"],
        ],
    )
    return section


def poll_results(folder: Path, events: int) -> tuple[int, int]:
    """Run random histories over a store, look after every event; return the states and the smallest step."""
    folder.mkdir(parents=True)
    store = SqliteStore(folder / "candor.db")
    store.migrate()
    owner = store.add_user("ada", CHEAP.hash("a long password")).key
    watch = Watch()

    def look(history: History) -> None:
        for one in history.published:
            if fresh := store.version(one.survey.slug, one.survey.digest):
                tally = store.snapshot(fresh)
                watch.see(one.survey.digest, "results", tally.reports, tally.counts.tobytes())

    History(store, owner, look).run(events)
    store.close()
    gaps = [b - a for counts in watch.counts.values() for a, b in zip(sorted(counts), sorted(counts)[1:], strict=False)]
    return sum(len(counts) for counts in watch.counts.values()), min(gaps)


def polling_section(folder: Path, events: int) -> Section:
    """Return the section on polling."""
    section = Section("Polling the results")
    states, gap = poll_results(folder / "polling", events)
    section.say(
        "A visitor who asks for the results again and again could see a single report arrive: the difference of two states is its"
        f" bits. So states advance by at least {STEP} reports, drawn from forty that wait, and the last step is taken only"
        " if it is as large. Random histories of reports, pauses, terms, clocks, versions and closings pass over a store,"
        f" and the results are read after each of {events} events: **{states}** states were seen, and no two of one survey"
        f" differ by fewer than **{gap}** reports. What remains: anyone who sent all other reports of a step knows the bits of"
        " the one that is not theirs."
    )
    return section


__all__ = ["TooClose", "clocks_section", "poll_results", "polling_section"]
