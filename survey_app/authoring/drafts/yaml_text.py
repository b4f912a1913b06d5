"""Plain values as YAML text: the text that authors enter into forms, quoted so that it is read back unchanged.

Authoring reads every scalar as text, so `yes` and `1:30` need no quotes. Text that YAML itself would misread gets
double quotes. Values are text, lists and mappings, as `survey_app.authoring.yaml_source` reads them.
"""

import json
import re

from survey_app.authoring.yaml_source import Plain

WIDTH = 100  # a list or mapping longer than that gets a line for each member
INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`=")
FLOW_MARKS = re.compile(r"[,\[\]{}:]")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
MISREAD = re.compile(r":\s|:$|\s#")
UNSEEN = re.compile(r"[\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff\ud800-\udfff]")


def scalar(text: str, *, flow: bool) -> str:
    """Return one line that YAML reads as this text. Inside brackets more characters need quotes."""
    if NUMBER.fullmatch(text):
        return text
    if not text or text != text.strip() or text[0] in INDICATORS or not _visible(text):
        return _quoted(text)
    if MISREAD.search(text) or (flow and FLOW_MARKS.search(text)):
        return _quoted(text)
    return text


def _visible(text: str) -> bool:
    return text.isprintable() and not UNSEEN.search(text)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if _visible(char) else _escaped(ord(char)) for char in quoted)


def _escaped(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def inline(value: Plain) -> str:
    """Return a value on one line, in brackets if it is no text."""
    if isinstance(value, str):
        return scalar(value, flow=True)
    if isinstance(value, list):
        return f"[{', '.join(inline(item) for item in value)}]"
    return f"{{{', '.join(f'{scalar(key, flow=True)}: {inline(member)}' for key, member in value.items())}}}"


def entry(key: str, value: Plain, indent: int, newline: str) -> str:
    """Return `key: value` as a part of a block mapping, without the first line's indentation."""
    return f"{scalar(key, flow=False)}:{after_colon(value, indent, newline)}"


def after_colon(value: Plain, indent: int, newline: str, comment: str = "") -> str:
    """Return the text after a key's colon. A comment on the same line stays there."""
    margin = newline + " " * (indent + 2)
    if isinstance(value, str) and is_prose(value):
        return f" |{comment}" + "".join(margin + line if line else newline for line in value.split("\n"))
    if isinstance(value, list) and value and len(inline(value)) > WIDTH - indent:
        return comment + "".join(f"{margin}- {item_line(item)}" for item in value)
    if isinstance(value, dict) and len(inline(value)) > WIDTH - indent:
        return comment + "".join(margin + entry(key, member, indent + 2, newline) for key, member in value.items())
    value_text = scalar(value, flow=False) if isinstance(value, str) else inline(value)
    return f" {value_text}{comment}"


def item_line(item: Plain) -> str:
    """Return an item of a block list, without its dash."""
    return scalar(item, flow=False) if isinstance(item, str) else inline(item)


def is_prose(text: str) -> bool:
    """Return whether text is written as a literal block: several lines, none of which YAML would change."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and all(not line or (line == line.strip() and _visible(line)) for line in lines)
        and bool(lines[0] and lines[-1])
    )


def item(question: dict[str, Plain], column: int, newline: str) -> str:
    """Return a question as an item of a block list whose dashes are in this column."""
    margin = newline + " " * (column + 2)
    return f"{' ' * column}- {margin.join(entry(key, value, column + 2, newline) for key, value in question.items())}"
