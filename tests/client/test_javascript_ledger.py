"""The browser's ledger: one report a definition, fresh noise, exact sums, and nothing left that names a report."""

import json
import secrets
from typing import Any

import pytest
from playwright.sync_api import Browser
from scipy.stats import binom

from candor_client import Survey
from candor_client.mechanisms import round_up
from candor_client.spending import Entry, Spending
from candor_client.verify import verify
from tests.answers import SMALL
from tests.definitions import WORKED_DIGEST, define, encode, field, simple, subset, worked_example, yes_no
from tests.distribution import FALSE_ALARM
from tests.javascript import Chromium, Files, JavaScript, Node, Refusal
from tests.scripted_server import Server

SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}
NAME = "candor-ledger/2"
HOME = "https://example.org"
REMAINS = {"slug", "study", "server", "epsilon", "day", "stored"}


def code_of(javascript: JavaScript, verb: str, **request: Any) -> str | None:
    with pytest.raises(Refusal) as refusal:
        javascript.ask(verb, **request)
    return refusal.value.code


def source(definition: dict[str, Any]) -> str:
    return encode(definition).hex()


@pytest.fixture
def name() -> str:
    """Of a ledger that no other test has used."""
    return secrets.token_hex(8)


@pytest.fixture
def link(server: Server) -> str:
    server.define(encode(worked_example()))
    return f"{server.origin}/s/exam"


# one report for each definition, from fresh noise


def agreements(node: Node, sources: list[str], answers: dict[str, Any], devices: int) -> tuple[int, int]:
    """How many devices sent the same bits to both versions; how many as their neighbours to one."""
    made = node.ask("waves", sources=sources, answers=answers, count=devices)
    own = sum(first == second for first, second in made)
    others = sum(made[i][0] == made[i + 1][0] for i in range(0, devices, 2))
    return own, others


def test_two_versions_share_no_more_bits_than_two_people_do(node: Node) -> None:
    """Two coins that show ¾ agree with probability 10/16. A count of 2,000 outside of what happens by chance once in
    a million is refused; noise repeated from a key, as it was, would agree 2,000 times and is refused with certainty.
    """
    devices, same = 2000, 0.625
    first, second = source(simple()), source(simple() | {"title": "Once more"})
    own, others = agreements(node, [first, second], {"cheated": True}, devices)

    def refused(count: int, of: int) -> bool:
        return 2 * min(binom.cdf(count, of, same), binom.sf(count - 1, of, same)) < FALSE_ALARM

    assert not refused(own, devices)
    assert not refused(others, devices // 2)
    assert refused(devices, devices)  # so it would notice
    assert refused(round(0.7 * devices), devices)


def test_one_report_a_definition(node: Node, name: str) -> None:
    first = node.ask("make", name=name, source=source(worked_example()), answers=SAID)
    again = node.ask("make", name=name, source=source(worked_example()), answers=SAID | {"cheated": False})
    assert (first["made"], again["made"]) == (True, False)
    assert first["entry"] == again["entry"]
    assert json.loads(node.ask("stored", name=name))["ledger"]["entries"] == {WORKED_DIGEST: first["entry"]}


def test_a_storage_that_others_read_holds_charges_alone_and_a_report_that_was_lost_is_not_made_again(
    node: Node, name: str
) -> None:
    """A form in a file: the page holds the report. Another page, or the same one opened again, has its charge only."""
    tab, other = f"{name} tab", f"{name} other"
    for page in (tab, other):
        node.ask("storage", name=page, shared=name)
    said = {"source": source(worked_example()), "answers": SAID}
    assert node.ask("make", name=other, source=source(simple()), answers={"cheated": True})["made"]
    made = node.ask("make", name=tab, **said)
    assert made["made"] and made["entry"]["bits"]
    assert node.ask("make", name=tab, **said) == {"entry": made["entry"], "made": False}
    for entry in json.loads(node.ask("stored", name=tab))["ledger"]["entries"].values():
        assert entry.keys() == REMAINS and entry["stored"] is False
    assert code_of(node, "make", name=other, **said) == "report_lost"
    assert node.ask("spent", name=other, source=said["source"]) == node.ask("spent", name=tab, source=said["source"])
    node.ask("acknowledge", name=tab, source=said["source"])
    for page in (tab, other):
        again = node.ask("make", name=page, **said)
        assert (again["made"], again["entry"]["stored"]) == (False, True)
    assert node.ask("entries", name=tab)[WORKED_DIGEST].keys() == REMAINS


def test_what_another_page_forgets_is_forgotten_here(node: Node, name: str) -> None:
    tab, other = f"{name} tab", f"{name} other"
    for page in (tab, other):
        node.ask("storage", name=page, shared=name)
    said = {"source": source(worked_example()), "answers": SAID}
    first = node.ask("make", name=tab, **said)["entry"]
    node.ask("forget", name=other)
    assert node.ask("entries", name=tab) == {}
    assert node.ask("make", name=tab, **said)["entry"]["id"] != first["id"]


def test_a_report_belongs_to_one_server(node: Node, name: str) -> None:
    definition = source(worked_example())
    node.ask("make", name=name, source=definition, answers=SAID)
    elsewhere = {"name": name, "source": definition, "answers": SAID, "server": "https://elsewhere.org"}
    assert code_of(node, "make", **elsewhere) == "other_server"


def test_the_asked_field_is_drawn_once(node: Node, name: str) -> None:
    definition = source(SMALL["ask"])
    low, high = "00" * 4, "ffffffff00000001"
    asked = node.ask("begin", name=name, source=definition, tape=low)["asked"]
    assert node.ask("begin", name=name, source=definition, tape=high)["asked"] == asked
    assert node.ask("begin", name=name, source=source(SMALL["ask"] | {"title": "B"}), tape=high)["asked"] != asked
    entries = node.ask("entries", name=name)
    assert {entry["epsilon"] for entry in entries.values()} == {"0"}  # nothing is charged for being asked


def test_answers_that_do_not_fit_do_not_have_the_field_drawn_again(node: Node, name: str) -> None:
    definition = source(SMALL["ask"])
    assert code_of(node, "make", name=name, source=definition, answers={"cheated": 7}) == "bad_answer"
    (entry,) = node.ask("entries", name=name).values()
    assert set(entry) == REMAINS | {"asked"}


# sums and limits


def test_both_ledgers_charge_the_same(node: Node, name: str) -> None:
    """To the last of twelve decimals, but for a float that lies too near to one: then one unit more, never less."""
    for definition in (worked_example(), simple(), *SMALL.values()):
        exact = round_up(verify(Survey.from_json(encode(definition))))
        answers = {question["id"]: None for question in definition["questions"]} | _any_answer(definition)
        options = {"limit": None, "serverLimit": None}
        made = node.ask("make", name=name, source=source(definition), answers=answers, options=options)
        assert made["entry"]["epsilon"] == f"{exact.normalize():f}"


def _any_answer(definition: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for question in definition["questions"]:
        words = question.get("options", question.get("points", [None]))
        kinds = {"yes_no": True, "number": question.get("min"), "multiple": [], "choice": words[0], "scale": words[0]}
        shown = "show_if" not in question
        if shown:
            said[question["id"]] = kinds[question["type"]]
    return said


PLACES = [
    ("exam", "", HOME),
    ("exam", "", f"{HOME}:8443/below"),
    ("exam", "", "http://EXAMPLE.org."),
    ("exam-north", "exam", HOME),
    ("exam-south", "exam", HOME),
    ("exam-south", "", HOME),
    ("other", "", HOME),
    ("exam", "", "https://example.com"),
    ("exam", "exam", HOME),
]


@pytest.mark.parametrize("study", ["", "exam"])
def test_sums_are_those_of_python(node: Node, name: str, study: str) -> None:
    """By host name, whatever the port and the path; versions of a slug and groups of a study are one survey."""
    entries = {}
    for i, (slug, of, server) in enumerate(PLACES):
        entry = {"slug": slug, "study": of, "server": server, "epsilon": f"0.{i + 1:012}", "day": "2026-12-01"}
        entries[f"{i:064x}"] = entry | {"stored": True}
    spending = Spending({digest: Entry.from_json(entry) for digest, entry in entries.items()})
    node.ask("storage", name=name, content={NAME: _sealed(entries)})
    group = {"slug": "exam-north", "study": "exam", "group": "North"} if study else {"slug": "exam"}
    definition = simple() | group
    survey = Survey.from_json(encode(definition))
    spent = node.ask("spent", name=name, source=source(definition), server=f"{HOME}:1")
    assert spent == [f"{spending.spent_on_survey(survey, HOME):f}", f"{spending.spent_on_server(HOME):f}"]
    assert len(set(spent)) == 2


def _sealed(entries: dict[str, Any]) -> str:
    import hashlib

    def text(value: Any) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    ledger = {"format": NAME, "entries": entries}
    return text({"ledger": ledger, "sha256": hashlib.sha256(text(ledger).encode()).hexdigest()})


def waves(count: int, slug: str = "exam") -> list[str]:
    """Versions of one survey, each at ε = ln 3."""
    return [source(simple() | {"title": f"Wave {i}", "slug": slug}) for i in range(count)]


def test_versions_add_up_to_the_limit_of_a_survey(node: Node, name: str) -> None:
    said = {"name": name, "answers": {"cheated": True}}
    for definition in waves(7):
        node.ask("make", source=definition, **said)
    assert code_of(node, "make", source=waves(8)[7], **said) == "above_limit"  # 8 ln 3 > 8
    assert node.ask("make", source=waves(8)[7], **said, options={"limit": 8.79})["made"]


def test_new_slugs_add_up_to_the_limit_of_a_server(node: Node, name: str) -> None:
    said = {"name": name, "answers": {"cheated": True}}
    for i in range(21):
        node.ask("make", source=waves(1, f"exam-{i}")[0], **said)
    assert code_of(node, "make", source=waves(1, "one-more")[0], **said) == "above_server_limit"  # 22 ln 3 > 24
    assert code_of(node, "make", source=waves(1, "one-more")[0], **said, server=f"{HOME}:8080") == "above_server_limit"
    assert node.ask("make", source=waves(1, "one-more")[0], **said, server="https://elsewhere.org")["made"]


def test_a_changing_joint_question_cannot_average_the_noise_away(node: Node, name: str) -> None:
    joint = define(
        [yes_no(), yes_no("today")], [field(subset(4, 1, 8768971294881393556), "cheated", "today")], epsilon=2
    )
    said = {"name": name, "answers": {"cheated": True, "today": False}, "options": {"limit": 5}}
    sources = [source(joint | {"title": f"Day {i}"}) for i in range(6)]
    made = 0
    with pytest.raises(Refusal) as refusal:
        for definition in sources:
            node.ask("make", source=definition, **said)
            made += 1
    assert refusal.value.code == "above_limit"
    assert made * verify(Survey.from_json(bytes.fromhex(sources[0]))) <= 5


# what a thief finds


def test_after_acknowledgement_nothing_names_a_row(node: Node, server: Server, link: str, name: str) -> None:
    server.post = lambda body: (503, {}, b"")
    assert code_of(node, "respond", url=link, answers=SAID, name=name) == "unreachable"
    sent = json.loads(server.bodies[0])
    before = node.ask("stored", name=name)
    assert sent["id"] in before  # the test could fail
    assert sent["bits"] in before
    server.post = lambda body: (201, {}, b'{"status":"stored"}')
    node.ask("respond", url=link, answers=SAID, name=name)
    after = node.ask("stored", name=name)
    assert not any(text in after for text in (sent["id"], sent["bits"]))
    (entry,) = json.loads(after)["ledger"]["entries"].values()
    assert set(entry) == REMAINS
    assert entry["stored"] is True


def test_the_order_of_answering_is_not_kept(node: Node, name: str) -> None:
    for definition in waves(5):
        node.ask("make", name=name, source=definition, answers={"cheated": True})
    digests = list(json.loads(node.ask("stored", name=name))["ledger"]["entries"])
    assert digests == sorted(digests)


# ledgers that cannot be used


def test_a_damaged_ledger_is_reported_and_left_alone(node: Node, server: Server, link: str, name: str) -> None:
    for damaged in ("", "{}", "null", '{"ledger":{},"sha256":"00"}', _sealed({})[:-1], _sealed({}).replace("/2", "/3")):
        node.ask("storage", name=name, content={NAME: damaged})
        assert code_of(node, "respond", url=link, answers=SAID, name=name) == "ledger_corrupt"
        assert node.ask("stored", name=name) == damaged
    assert not server.bodies
    node.ask("forget", name=name)
    assert node.ask("stored", name=name) is None


def test_a_ledger_of_the_old_format_is_refused_until_it_is_forgotten(
    node: Node, server: Server, link: str, name: str
) -> None:
    old = "candor-ledger/1"
    node.ask("storage", name=name, content={old: '{"book":{"key":"…"}}'})
    assert code_of(node, "respond", url=link, answers=SAID, name=name) == "ledger_old"
    assert node.ask("stored", name=name, key=old)
    assert not server.bodies
    node.ask("forget", name=name)
    assert node.ask("stored", name=name, key=old) is None
    assert node.ask("respond", url=link, answers=SAID, name=name)["status"] == "stored"


def test_without_storage_it_says_so(node: Node) -> None:
    assert node.ask("storage", name="none", content=None) is False
    assert node.ask("storage", name="some", content={}) is True


# several people, several tabs


def test_people_who_share_a_browser_have_profiles_of_their_own(chromium: Chromium) -> None:
    definition = source(simple())
    for number, name in ((1, "first"), (2, "second"), (11, "eleventh")):
        assert chromium.ask("storage", name=name, book=number) is True
        assert chromium.ask("make", name=name, source=definition, answers={"cheated": True})["made"]
    assert chromium.ask("books", name="second") == [1, 2, 11]
    chromium.ask("forget", name="second")
    assert chromium.ask("books", name="first") == [1, 11]
    assert chromium.ask("entries", name="first")
    for name in ("first", "eleventh"):
        chromium.ask("forget", name=name)


def test_whatever_writes_reads_again_under_the_lock(node: Node, server: Server, link: str, name: str) -> None:
    node.ask("watch", name=name)
    node.ask("begin", name=name, source=source(SMALL["ask"]))
    node.ask("respond", url=link, answers=SAID, name=name)
    node.ask("forget", name=name)
    holds = [hold.split() for hold in node.ask("holds", name=name)]
    writing = [hold for hold in holds if {"write", "delete"} & set(hold)]
    assert len(writing) == 4  # begun, made, acknowledged, forgotten
    assert not any("free" in hold for hold in writing)
    assert all(hold[0] == "read" for hold in writing if "write" in hold)


def test_two_tabs_never_lose_a_charge(browser: Browser, files: Files) -> None:
    """Two pages, each in a process of its own, write as fast as they can, and each keeps what the other wrote.

    A lock alone is not enough: Chromium passes it on before the other process sees what was written, and of 80 charges
    some 15 were lost.
    """
    context = browser.new_context()
    tabs = [Chromium(context.new_page(), files.origin) for _ in range(2)]
    each = 40
    for i, tab in enumerate(tabs):
        tab.page.evaluate(
            "request => { window.writing = window.handle(request); }",
            {"verb": "flood", "sources": waves(each, f"tab-{i}"), "answers": {"cheated": True}},
        )
    for tab in tabs:
        tab.page.evaluate("() => window.writing")
    tabs[0].ask("storage", name="both")
    assert len(tabs[0].ask("entries", name="both")) == 2 * each
    context.close()
