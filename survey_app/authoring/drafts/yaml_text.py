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
AMBIGUOUS = re.compile(r":\s|:$|\s#")
INVISIBLE = re.compile(r"[\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff\ud800-\udfff]")


def format_scalar(text: str, *, flow: bool) -> str:
    """Return one line that YAML reads as this text. Inside brackets more characters need quotes."""
    if NUMBER.fullmatch(text):
        return text
    if not text or text != text.strip() or text[0] in INDICATORS or not _is_visible(text):
        return _quote(text)
    if AMBIGUOUS.search(text) or (flow and FLOW_MARKS.search(text)):
        return _quote(text)
    return text


def _is_visible(text: str) -> bool:
    return text.isprintable() and not INVISIBLE.search(text)


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if _is_visible(char) else _escape(ord(char)) for char in quoted)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def format_inline(value: Plain) -> str:
    """Return a value on one line, in brackets if it is not a text."""
    if isinstance(value, str):
        return format_scalar(value, flow=True)
    if isinstance(value, list):
        return f"[{', '.join(format_inline(item) for item in value)}]"
    return (
        f"{{{', '.join(f'{format_scalar(key, flow=True)}: {format_inline(member)}' for key, member in value.items())}}}"
    )


def format_entry(key: str, value: Plain, indent: int, newline: str) -> str:
    """Return `key: value` as a part of a block mapping, without the first line's indentation."""
    return f"{format_scalar(key, flow=False)}:{format_after_colon(value, indent, newline)}"


def format_after_colon(value: Plain, indent: int, newline: str, comment: str = "") -> str:
    """Return the text after a key's colon. A comment on the same line stays there."""
    margin = newline + " " * (indent + 2)
    if isinstance(value, str) and is_prose(value):
        return f" |{comment}" + "".join(margin + line if line else newline for line in value.split("\n"))
    if isinstance(value, list) and value and len(format_inline(value)) > WIDTH - indent:
        return comment + "".join(f"{margin}- {format_item_line(item)}" for item in value)
    if isinstance(value, dict) and len(format_inline(value)) > WIDTH - indent:
        return comment + "".join(
            margin + format_entry(key, member, indent + 2, newline) for key, member in value.items()
        )
    value_text = format_scalar(value, flow=False) if isinstance(value, str) else format_inline(value)
    return f" {value_text}{comment}"


def format_item_line(item: Plain) -> str:
    """Return an item of a block list, without its dash."""
    return format_scalar(item, flow=False) if isinstance(item, str) else format_inline(item)


def is_prose(text: str) -> bool:
    """Return whether text is written as a literal block: several lines, none of which YAML would change."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and all(not line or (line == line.strip() and _is_visible(line)) for line in lines)
        and bool(lines[0] and lines[-1])
    )


def format_item(entries: dict[str, Plain], column: int, newline: str) -> str:
    """Return a question as an item of a block list whose dashes are in this column."""
    margin = newline + " " * (column + 2)
    return (
        f"{' ' * column}- "
        f"{margin.join(format_entry(key, value, column + 2, newline) for key, value in entries.items())}"
    )
