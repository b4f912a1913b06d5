"""One user or two? Recognising a person from wave to wave (trackability, Naor and Vexler 2020)."""

from pathlib import Path

from benchmarks.reproductions.figures import Number, Section
from tests.client.test_links import DEVICES, agreements, chance_of_strangers, honest, keyed


def waves_section(folder: Path) -> Section:
    """Return the section on waves."""
    section = Section("One person, two waves")
    strangers = chance_of_strangers()
    found = {}
    for name, device in (("honest", honest), ("keyed", keyed)):
        (place := folder / name).mkdir(parents=True)
        found[name] = agreements(device, place)
    error = (strangers * (1 - strangers) / DEVICES) ** 0.5
    section.say(
        "A study is asked twice, and somebody who has both tables wants to know which two reports are one person's. A"
        " client that repeats its noise, from a key on the device, sends the same bits again for a respondent who has not changed their"
        " mind, and any change of a bit proves a change of mind. This client draws fresh noise: two reports of one device"
        f" agree as often as those of two strangers with the same answers. {DEVICES} devices, the worked example:"
    )
    section.table(
        ["client", "share of equal reports, two strangers", "seen"],
        [
            ["repeats its noise", f"{strangers:.4f}", f"{found['keyed'] / DEVICES:.4f}"],
            ["this one", Number(strangers, found["honest"] / DEVICES, error)],
        ],
    )
    section.say("What remains is what answers themselves tell: two reports of one person are 2ε, like any two reports.")
    return section
