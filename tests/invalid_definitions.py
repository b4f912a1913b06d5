"""Definitions that every client must refuse, with the code of the refusal and the path to the fault."""

import copy
from typing import Any

from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    encode,
    field,
    geometric,
    multiple,
    number,
    scale,
    simple,
    subset,
    worked_example,
    yes_no,
)

_plain = encode(simple())


def _spoil(old: bytes, new: bytes) -> bytes:
    return _plain.replace(old, new)


# Bytes that are not canonical JSON.
SPOILT: dict[str, bytes] = {
    "a space after": _plain + b" ",
    "a space before": b" " + _plain,
    "a byte order mark": b"\xef\xbb\xbf" + _plain,
    "a space inside": _spoil(b'"slug":"exam"', b'"slug": "exam"'),
    "a key twice": _spoil(b'"slug":"exam"', b'"slug":"exam","slug":"exam"'),
    "a key twice, with two values": _spoil(b'"slug":"exam"', b'"slug":"other","slug":"exam"'),
    "an escape that is not needed": _spoil(b"Exam", b"\\u0045xam"),
    "not UTF-8": _spoil(b"Exam", b"\xff"),
    "a surrogate in UTF-8": _spoil(b"Exam", b"\xed\xa0\x80"),
    "half a surrogate pair": _spoil(b"Exam", b"\\ud800"),
    "NaN": _spoil(b'"Exam honesty"', b"NaN"),
    "Infinity": _spoil(b'"Exam honesty"', b"Infinity"),
    "a float that is whole": _spoil(b'"Exam honesty"', b"1.0"),
    "a float": _spoil(b'"Exam honesty"', b"1.5"),
    "an exponent": _spoil(b'"Exam honesty"', b"1e3"),
    "minus zero": _spoil(b'"Exam honesty"', b"-0"),
    "two to the 53": _spoil(b'"Exam honesty"', b"9007199254740992"),
    "very many digits": _spoil(b'"Exam honesty"', b"9" * 5000),
    "very deep": _spoil(b'"Exam honesty"', b"[" * 20_000 + b"]" * 20_000),
    "cut short": _plain[:-1],
    "nothing": b"",
}


def change_definition(path: str, value: Any, definition: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a definition with one place replaced, or deleted if the value is ..."""
    root = copy.deepcopy(definition or worked_example())
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = root
    for step in steps:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return root


GERMAN: dict[str, Any] = {
    "title": "Ehrlich",
    "questions": {
        "cheated": {"text": "Abgeschrieben?"},
        "help": {"text": "Womit?", "options": ["nichts", "Notizen", "Handy"]},
        "hours": {"text": "Stunden?", "unit": "Std."},
    },
}


def german(**questions: Any) -> dict[str, Any]:
    """Return the translation with some questions replaced."""
    return {**GERMAN, "questions": {**GERMAN["questions"], **questions}}


# Place, value, code, path.
FAULTS: list[tuple[str, Any, str, str]] = [
        ("format", "candor/1", "bad_value", "format"),
        ("format", ..., "missing_key", ""),
        ("surprise", 1, "unknown_key", ""),
        ("slug", "Exam", "bad_value", "slug"),
        ("slug", "a" * 64, "bad_value", "slug"),
        ("slug", "exam\n", "bad_value", "slug"),
        ("slug", "-exam", "bad_value", "slug"),
        ("slug", 3, "bad_value", "slug"),
        ("title", "", "bad_value", "title"),
        ("title", "  ", "bad_value", "title"),
        ("title", "tab\there", "bad_value", "title"),
        ("title", "line\nbreak", "bad_value", "title"),
        ("title", "bell\x07", "bad_value", "title"),
        ("title", "c1\x85", "bad_value", "title"),
        ("title", "over\u202eride", "bad_value", "title"),
        ("title", "iso\u2066late", "bad_value", "title"),
        ("title", 5, "bad_value", "title"),
        ("description", "", "bad_value", "description"),
        ("language", "en", "bad_value", "language"),
        ("language", "English", "bad_value", "language"),
        ("epsilon", 0, "bad_value", "epsilon"),
        ("epsilon", -1, "bad_value", "epsilon"),
        ("epsilon", "1", "bad_value", "epsilon"),
        ("epsilon", "1.50", "bad_value", "epsilon"),
        ("epsilon", "01.5", "bad_value", "epsilon"),
        ("epsilon", "1.1234567890123", "bad_value", "epsilon"),
        ("epsilon", "1e1", "bad_value", "epsilon"),
        ("epsilon", True, "bad_value", "epsilon"),
        ("epsilon", None, "bad_value", "epsilon"),
        ("ask", 0, "bad_value", "ask"),
        ("ask", 2, "bad_value", "ask"),
        ("ask", True, "bad_value", "ask"),
        ("questions", [], "bad_value", "questions"),
        ("questions", {}, "bad_value", "questions"),
        ("fields", [], "bad_value", "fields"),
        ("questions.0", "cheated", "bad_value", "questions[0].type"),
        ("questions.0.type", "essay", "bad_value", "questions[0].type"),
        ("questions.0.type", [], "bad_value", "questions[0].type"),
        ("questions.0.id", "help", "bad_value", "questions[1].id"),
        ("questions.0.id", "Cheated", "bad_value", "questions[0].id"),
        ("questions.0.text", ..., "missing_key", "questions[0]"),
        ("epsilon", "9999999999999999.9999999999999", "bad_value", "epsilon"),
        ("questions.1.show_if", {"question": "cheated", "is": ["yes"]}, "bad_value", "questions[1].optional"),
        ("questions.0.optional", False, "bad_value", "questions[0].optional"),
        ("questions.0.optional", 1, "bad_value", "questions[0].optional"),
        ("questions.0.options", ["a", "b"], "unknown_key", "questions[0]"),
        ("questions.0.weight", 2, "unknown_key", "questions[0]"),
        ("questions.1.options", ["one"], "bad_value", "questions[1].options"),
        ("questions.1.options", [], "bad_value", "questions[1].options"),
        ("questions.1.options", "ab", "bad_value", "questions[1].options"),
        ("questions.1.options", ["a", "b", "a"], "bad_value", "questions[1].options"),
        ("questions.1.options", ["a", "b", 3], "bad_value", "questions[1].options[2]"),
        ("questions.1.options", ["a", "b", "\u202e"], "bad_value", "questions[1].options[2]"),
        ("questions.2.show_if", {"question": "nobody", "is": ["1"]}, "bad_value", "questions[2].show_if.question"),
        ("questions.2.show_if", {"question": "cheated", "is": []}, "bad_value", "questions[2].show_if.is"),
        ("questions.2.show_if", {"question": "cheated", "is": ["maybe"]}, "bad_value", "questions[2].show_if.is"),
        ("questions.2.show_if", {"question": "hours", "is": ["1"]}, "bad_value", "questions[2].show_if.question"),
        ("questions.2.show_if", {"question": []}, "missing_key", "questions[2].show_if"),
        ("questions.2.min", 60, "bad_value", "questions[2].max"),
        ("questions.2.min", "0.0", "bad_value", "questions[2].min"),
        ("questions.2.step", 7, "bad_value", "questions[2].step"),
        ("questions.2.step", 0, "bad_value", "questions[2].step"),
        ("questions.2.step", -1, "bad_value", "questions[2].step"),
        ("questions.2.step", "0.00000001", "bad_value", "questions[2].step"),
        ("questions.2.levels", 1, "bad_value", "questions[2].levels"),
        ("questions.2.levels", 62, "bad_value", "questions[2].levels"),
        ("questions.2.levels", ..., "bad_value", "questions[2]"),
        ("questions.2.bins", 2, "bad_value", "questions[2]"),
        ("fields.1.questions", ["cheated"], "bad_value", "fields[1].questions[0]"),
        ("fields.0.questions", ["nobody"], "bad_value", "fields[0].questions[0]"),
        ("fields.0.questions", [["help"]], "bad_value", "fields[0].questions[0]"),
        ("fields.0.questions", [], "bad_value", "fields[0].questions"),
        ("fields.2", ..., "bad_value", "fields"),
        ("fields.0.note", "x", "unknown_key", "fields[0]"),
        ("fields.0.mechanism", "flip", "bad_value", "fields[0].mechanism.kind"),
        ("fields.0.mechanism.kind", "shuffle", "bad_value", "fields[0].mechanism.kind"),
        ("fields.0.mechanism.kind", [], "bad_value", "fields[0].mechanism.kind"),
        ("fields.0.mechanism.seed", 1, "unknown_key", "fields[0].mechanism"),
        ("fields.0.mechanism.zero", ..., "missing_key", "fields[0].mechanism"),
        ("fields.1.mechanism.size", 3, "bad_mechanism", "fields[1].mechanism"),
        ("fields.1.mechanism.size", "4", "bad_value", "fields[1].mechanism.size"),
        ("fields.1.mechanism.weight", 0, "bad_mechanism", "fields[1].mechanism"),
        ("fields.1.mechanism.weight", 4, "bad_mechanism", "fields[1].mechanism"),
        ("fields.1.mechanism.keep", str(2**62), "bad_mechanism", "fields[1].mechanism"),
        ("fields.0.mechanism", drawn(2, 1), "bad_mechanism", "fields[0].mechanism"),
        ("fields.0.mechanism", geometric(), "bad_mechanism", "fields[0].mechanism"),
        ("fields.1.mechanism", COIN, "bad_mechanism", "fields[1].mechanism"),
        ("fields.0.mechanism.kind", "unary", "bad_value", "fields[0].mechanism.kind"),
        ("fields.0.chance", 2, "unknown_key", "fields[0]"),
        ("thanks", "", "bad_value", "thanks"),
        ("completion", "http://example.org/", "bad_value", "completion"),
        ("completion", "javascript://x", "bad_value", "completion"),
        ("completion", "https://example.org/ö", "bad_value", "completion"),
        ("completion", 7, "bad_value", "completion"),
        ("study", "exam", "bad_value", "group"),
        ("group", "North", "bad_value", "group"),
        ("sections", [], "bad_value", "sections"),
        ("sections", {}, "bad_value", "sections"),
        ("sections", [{"first": "nobody", "title": "A"}], "bad_value", "sections[0].first"),
        ("sections", [{"first": ["help"], "title": "A"}], "bad_value", "sections[0].first"),
        ("sections", [{"first": "help"}], "missing_key", "sections[0]"),
        ("sections", [{"first": "help", "title": " "}], "bad_value", "sections[0].title"),
        ("sections", [{"first": "help", "title": "A", "text": ""}], "bad_value", "sections[0].text"),
        ("sections", [{"first": "help", "title": "A", "grid": False}], "bad_value", "sections[0].grid"),
        ("sections", [{"first": "help", "title": "A", "grid": True}], "bad_value", "sections[0].grid"),
        ("sections", [{"first": "help", "title": "A", "last": "hours"}], "unknown_key", "sections[0]"),
        ("sections", [{"first": "help", "title": "A"}, {"first": "help", "title": "B"}], "bad_value", "sections[1].first"),
        ("sections", [{"first": "hours", "title": "A"}, {"first": "help", "title": "B"}], "bad_value", "sections[1].first"),
        ("questions.1.shuffle", False, "bad_value", "questions[1].shuffle"),
        ("questions.0.shuffle", True, "unknown_key", "questions[0]"),
        ("translations", {}, "bad_value", "translations"),
        ("translations", [], "bad_value", "translations"),
        ("translations", {"en": GERMAN}, "bad_value", "translations.en"),
        ("translations", {"German": GERMAN}, "bad_value", "translations.German"),
        ("translations", {"de": {**GERMAN, "thanks": "Danke"}}, "unknown_key", "translations.de"),
        ("translations", {"de": {key: GERMAN[key] for key in ("title",)}}, "missing_key", "translations.de"),
        ("translations", {"de": {**GERMAN, "title": ""}}, "bad_value", "translations.de.title"),
        ("translations", {"de": german(hours={"text": "Stunden?"})}, "missing_key", "translations.de.questions.hours"),
        ("translations", {"de": german(cheated={"text": "Ja?", "options": ["a", "b"]})}, "unknown_key", "translations.de.questions.cheated"),
        ("translations", {"de": german(help={"text": "Was?", "options": ["a", "b"]})}, "bad_value", "translations.de.questions.help.options"),
        ("translations", {"de": german(help={"text": "Was?", "options": ["a", "b", "b"]})}, "bad_value", "translations.de.questions.help.options"),
        ("translations", {"de": german(more={"text": "Was?"})}, "unknown_key", "translations.de.questions"),
        ("tickets", {}, "missing_key", "tickets"),
        ("tickets", {"key": "_" * 511 + "9", "code": 1}, "unknown_key", "tickets"),
        ("tickets", {"key": "_" * 511}, "bad_value", "tickets.key"),
        ("tickets", {"key": "A" + "_" * 511}, "bad_value", "tickets.key"),  # fewer bits
        ("tickets", {"key": "_" * 511 + "8"}, "bad_value", "tickets.key"),  # even
        ("tickets", {"key": "_" * 511 + "/"}, "bad_value", "tickets.key"),
        ("tickets", {"key": "_" * 512, "issuer": "https://example.org/"}, "bad_value", "tickets.issuer"),
        ("tickets", {"key": "_" * 512, "issuer": "ftp://example.org"}, "bad_value", "tickets.issuer"),
        ("tickets", {"key": "_" * 512, "issuer": "https://me@example.org"}, "bad_value", "tickets.issuer"),
        ("tickets", {"key": "_" * 512, "from": "2026-12-10"}, "bad_value", "tickets.from"),
        ("tickets", {"key": "_" * 512, "from": "2026-02-30T00:00Z"}, "bad_value", "tickets.from"),
        ("tickets", {"key": "_" * 512, "from": "2026-12-10T24:00Z"}, "bad_value", "tickets.from"),
    ]  # fmt: skip

THRESHOLD_STRINGS = ["0x10", "1_000", "١٢", "0", "", "01", "+5", "-5", " 5", "5 ", "5.0", "1e3", "9" * 21, str(2**64)]


# Combinations that no single place is to blame for.
MISFITS: list[dict[str, Any]] = [
    define([multiple(), yes_no()], [field(drawn(3, 1), "used", "cheated")]),
    define([number(levels=3), yes_no()], [field(geometric(3), "hours", "cheated")]),
    define([number(levels=3, optional=True)], [field(geometric(4), "hours")]),
    define([number(bins=3)], [field(geometric(3), "hours")]),
    define([number(levels=3)], [field(geometric(4), "hours")]),
    define([number(max=64, levels=65)], [field(geometric(65), "hours")]),
    define([number(levels=3)], [field(geometric(3, 2**64 - 1), "hours")]),  # 2·G_1 = 2^64
    define([number(levels=4)], [field(geometric(4, 2**10), "hours")]),  # G_2 = G_3 = 1
    define([multiple(optional=True)], [field(drawn(3, 1), "used")]),
    define([multiple()], [field(drawn(3, 4), "used")]),
    define([multiple()], [field(drawn(3, 2, 2**62), "used")]),
    define([yes_no(optional=True)], [field(COIN, "cheated")]),
    define([scale()], [field(subset(4, 1), "fair")]),
    define([scale()], [field(subset(3, 0), "fair")]),
    define([scale()], [field(subset(3, 3), "fair")]),
    define([yes_no(), scale(show_if={"question": "cheated", "is": ["yes"]})], [field(subset(8, 1), "cheated", "fair")]),
]

TWO = [yes_no("a"), yes_no("b")]

# Definitions whose faults show in two places at once.
CONTRADICTIONS: list[dict[str, Any]] = [
    define(TWO, [field(COIN, "a", chance=1), field(COIN, "b")], ask=1),
    define(TWO, [field(COIN, "a", chance="2"), field(COIN, "b")], ask=1),
    define(TWO, [field(COIN, "a", chance=10**6), field(COIN, "b")], ask=1),
    define(TWO, [field(subset(4, 1), "b", "a")]),
    define([yes_no()], [field(COIN, "cheated")], study="other", group="North"),
    define([yes_no()], [field(COIN, "cheated")], study="exam", group="North"),
    define([scale("a"), scale("b") | {"points": ["x", "y", "z"]}], [field(subset(9, 1), "a", "b")],
           sections=[{"first": "a", "title": "A", "grid": True}]),
    define([yes_no()], [field(COIN, "cheated")], language="de",
           translations={"de": {"title": "T", "questions": {"cheated": {"text": "T"}}}}),
]  # fmt: skip

# Texts that look like another one, or like nothing: each is refused wherever it stands.
LOOKALIKES = [
    *(
        f"Every{chr(point)}body"
        for point in (
            0xAD, 0x115F, 0x1160, 0x180E, 0x200B, 0x2060, 0x2061, 0x2064, 0x206A, 0x206F, 0x2800, 0x3164, 0xFEFF,
            0xFFA0, 0xFFF9, 0xFFFB, 0xE0000, 0xE0041, 0xE007F,
        )
    ),
    "\ufeff",  # alone it is not blank for every language
    "Everybody\u200c", "\u200dEverybody", "Every\u200cbody", "\u200c", "\u200d\u200d",
    "\u0645\u06cc\u200c", "\u200c\u062e\u0648", "\u0645\u06cc\u200cx", "x\u200c\u062e\u0648",
    "\u06cc\u200c\u200c\u062e", "\u06cc\u200d\u200c\u062e", "\u05ff\u200c\u062e", "\u06cc\u200c\u05ff",
    "\u06cc\u2000\u200c\u062e", "\u06cc\u200c\u2010\u062e", "\u06cc\u200c \u062e", '\u06cc\u200c"\u062e', "\u06cc\\\u200c\u062e",
    "\U0001f468\u200d", "\u200d\U0001f469", "\U0001f468\u200d\u200d\U0001f469", "\U0001f3f4\U000e0067\U000e007f",
]  # fmt: skip
# Joiners where a script, or a picture made of several, needs them, and what else is close by.
JOINED = [
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian
    "\u0915\u094d\u200d\u0937", "\u0915\u094d\u200c\u0937",  # Hindi
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f\u200d\U0001f525", "\U0001f525\u200d\u2764",
    "\u0600\u200c\u1fff\u200d\u2070\u200c\U0010ffff",
    "\u00ac\u115e\u1161\u180d\u180f\u200e\u200f\u2010\u2065\u27ff\u2801\u3163\ufefe\uff9f\ufff8\ufffc\U000e0080",
]  # fmt: skip
FAULTS += [("title", text, "bad_value", "title") for text in LOOKALIKES]
FAULTS += [
    ("description", "a\u200b", "bad_value", "description"),
    ("questions.1.options.2", "phone\u2060", "bad_value", "questions[1].options[2]"),
    ("questions.2.unit", "h\ufeff", "bad_value", "questions[2].unit"),
    ("sections", [{"first": "help", "title": "T", "text": "\u3164"}], "bad_value", "sections[0].text"),
    ("translations", {"de": german(cheated={"text": "Ab\u00adgeschrieben?"})}, "bad_value",
     "translations.de.questions.cheated.text"),
    ("ti\u200btle", "Exam", "unknown_key", ""),
]  # fmt: skip

# What would take too much memory, or too much of a device's time.
TOO_LARGE: list[dict[str, Any]] = [
    define([multiple() | {"options": [str(k) for k in range(1025)]}], [field(drawn(1025, 1), "used")]),
    define([choice() | {"options": [str(k) for k in range(1025)]}], [field(subset(1025, 1), "help")]),
    define([scale() | {"points": [str(k) for k in range(1025)]}], [field(subset(1025, 1), "fair")]),
    define([number(max=400_000, bins=400_000)], [field(subset(400_000, 1), "hours")]),
    define([number(max=65_536, bins=32_769), yes_no()], [field(subset(65_538, 1), "hours", "cheated")]),
    define(
        [multiple(f"m{i}") | {"options": [f"{k:x}" for k in range(16)]} for i in range(17)],
        [field(drawn(16, 16), f"m{i}") for i in range(17)],
    ),
]
