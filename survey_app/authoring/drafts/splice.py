"""Changes to a YAML text that leave every other byte unchanged.

ruamel reports where each node begins and ends. A change replaces those characters and no others, so comments, order,
quotes and blank lines survive. Its round-trip mode would rewrite the whole file in its own layout. It would also leave
a comment behind when the question below it moves. This module does not depend on the structure of a survey.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from survey_app.authoring.drafts.yaml_text import format_after_colon, format_entry, format_inline, format_item_line
from survey_app.authoring.yaml_source import Plain

Node = Any  # ruamel's nodes are not typed
BLOCK = ("|", ">")


class Cut(NamedTuple):
    """A replacement of the characters from `start` to `stop`."""

    start: int
    stop: int
    text: str


class Span(NamedTuple):
    """A range of characters in a text."""

    start: int
    stop: int


def compose(text: str) -> Node:
    """Return the root node of a text that is known to be YAML; its nodes have marks."""
    return YAML(typ="safe", pure=True).compose(text)


def apply_cuts(text: str, cuts: Sequence[Cut]) -> str:
    """Return the text after changes that do not overlap."""
    parts: list[str] = []
    position = 0
    for cut in sorted(cuts, key=lambda cut: (cut.start, cut.stop)):
        parts += (text[position : cut.start], cut.text)
        position = cut.stop
    return "".join([*parts, text[position:]])


def newline_of(text: str) -> str:
    """Return the line break that the file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def entries_of(mapping: Node) -> dict[str, tuple[Node, Node]]:
    """Return the entries of a mapping node by their keys."""
    return {key.value: (key, value) for key, value in mapping.value}


def end_of(node: Node, text: str) -> int:
    """Return the position where a node really ends, since ruamel's marks of blocks extend to the next token."""
    if isinstance(node, ScalarNode):
        if node.style in BLOCK:
            return int(node.start_mark.index) + len(text[node.start_mark.index : node.end_mark.index].rstrip())
        return int(node.end_mark.index)
    if node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return end_of_pair(last, text) if isinstance(node, MappingNode) else end_of(last, text)


def end_of_pair(pair: tuple[Node, Node], text: str) -> int:
    """Return the position where an entry of a mapping ends.

    An entry without a value ends with its colon, which ruamel does not mark.
    """
    key, value = pair
    return _colon(key, text) if _is_missing(value) else end_of(value, text)


def _is_missing(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value == "" and not node.style


def _colon(key: Node, text: str) -> int:
    return text.index(":", key.end_mark.index) + 1


def line_start(text: str, at: int) -> int:
    """Return the position where the line around `at` begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return the position where the line around `at` ends, before its line break."""
    stop = text.find("\n", at)
    stop = len(text) if stop < 0 else stop
    return stop - 1 if stop > at and text[stop - 1] == "\r" else stop


def next_line(text: str, at: int) -> int:
    """Return the position where the line after `at` begins."""
    stop = text.find("\n", at)
    return len(text) if stop < 0 else stop + 1


def replace_value(text: str, mapping: Node, key: str, value: Plain) -> Cut:
    """Replace the value of an existing key."""
    name, old = entries_of(mapping)[key]
    start, stop = _colon(name, text) if _is_missing(old) else old.start_mark.index, end_of_pair((name, old), text)
    gap = " " if text[start - 1] == ":" else ""
    if mapping.flow_style:
        return Cut(start, stop, gap + format_inline(value))
    if isinstance(old, SequenceNode) and not old.flow_style and isinstance(value, list) and value and old.value:
        return _replace_items(text, old, value)
    indent, newline = name.start_mark.column, newline_of(text)
    new_text = format_after_colon(value, indent, newline)
    if isinstance(old, ScalarNode) and old.style not in BLOCK and newline not in new_text:
        return Cut(start, stop, new_text[1:] if not gap else new_text)
    colon = _colon(name, text)
    if newline not in new_text:
        return Cut(colon, stop, new_text)
    ending = line_end(text, stop)
    return Cut(colon, ending, format_after_colon(value, indent, newline, text[stop:ending].rstrip()))


def _replace_items(text: str, sequence: Node, new: list[Plain]) -> Cut:
    """Replace the items of a block list that differ, but not the equal items at its beginning and end."""
    old = [to_plain(node) for node in sequence.value]
    most = min(len(old), len(new))
    first = next((i for i in range(most) if old[i] != new[i]), most)
    last = next((i for i in range(most - first) if old[-1 - i] != new[-1 - i]), most - first)
    margin, newline = " " * sequence.start_mark.column, newline_of(text)
    lines = [f"{margin}- {format_item_line(item)}" for item in new[first : len(new) - last]]
    if first == len(old) - last:  # lines are only inserted
        if first:
            at = line_end(text, end_of(sequence.value[first - 1], text))
            return Cut(at, at, "".join(newline + line for line in lines))
        at = line_start(text, sequence.start_mark.index)
        return Cut(at, at, "".join(line + newline for line in lines))
    start = line_start(text, _dash(text, sequence.value[first]))
    stop = line_end(text, end_of(sequence.value[len(old) - last - 1], text))
    if lines:
        return Cut(start, stop, newline.join(lines))
    return Cut(start, next_line(text, stop), "")


def _dash(text: str, item: Node) -> int:
    return text.rindex("-", 0, item.start_mark.index)


def to_plain(node: Node) -> Plain:
    """Return the value of a node."""
    if isinstance(node, MappingNode):
        return {key.value: to_plain(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [to_plain(item) for item in node.value]
    return str(node.value)


def insert_entries(text: str, mapping: Node, new: Mapping[str, Plain], order: Sequence[str]) -> list[Cut]:
    """Insert new keys, each after the last existing key that precedes it in `order`, or at the end."""
    entries, newline = entries_of(mapping), newline_of(text)
    cuts: list[Cut] = []
    for key in sorted(new, key=lambda key: order.index(key) if key in order else len(order)):
        preceding = [name for name in order[: order.index(key)] if name in entries] if key in order else []
        neighbour = entries[preceding[-1] if preceding else next(reversed(entries))] if entries else None
        if mapping.flow_style:
            at = end_of_pair(neighbour, text) if neighbour is not None else mapping.start_mark.index + 1
            entry_text = format_inline({key: new[key]})[1:-1]
            comma = ", " if neighbour is not None or cuts else ""
            cuts.append(Cut(at, at, comma + entry_text))
        else:
            at = line_end(text, end_of_pair(neighbour, text)) if neighbour else len(text)
            indent = mapping.value[0][0].start_mark.column
            cuts.append(Cut(at, at, newline + " " * indent + format_entry(key, new[key], indent, newline)))
    return cuts


def drop_entry(text: str, mapping: Node, key: str) -> Cut:
    """Remove a key with its value and the comment on its line."""
    names = list(entries_of(mapping))
    index = names.index(key)
    name, stop = mapping.value[index][0], end_of_pair(mapping.value[index], text)
    next_start = mapping.value[index + 1][0].start_mark.index if index + 1 < len(names) else None
    if mapping.flow_style:
        if index:
            previous = mapping.value[index - 1]
            return Cut(end_of_pair(previous, text), stop, " " if _is_missing(previous[1]) else "")
        return Cut(name.start_mark.index, next_start or stop, "")
    start = line_start(text, name.start_mark.index)
    if text[start : name.start_mark.index].strip():  # it follows the dash of its item
        return Cut(name.start_mark.index, next_start or line_end(text, stop), "" if next_start else "{}")
    return Cut(start, next_line(text, stop), "")


def rename_key(text: str, mapping: Node, old: str, new: str) -> Cut:
    """Replace a key, and leave its value."""
    name = entries_of(mapping)[old][0]
    return Cut(name.start_mark.index, name.end_mark.index, new)


def item_spans(text: str, sequence: Node) -> list[Span]:
    """Return the range of each item: in a block list whole lines, with the comments directly above it."""
    if sequence.flow_style:
        return [Span(item.start_mark.index, end_of(item, text)) for item in sequence.value]
    pieces: list[Span] = []
    floor = line_start(text, sequence.start_mark.index)
    floor = _comments_above(text, floor, 0)
    for item in sequence.value:
        start = _comments_above(text, line_start(text, _dash(text, item)), floor)
        stop = line_end(text, end_of(item, text))
        pieces.append(Span(start, stop))
        floor = next_line(text, stop)
    return pieces


def _comments_above(text: str, start: int, floor: int) -> int:
    while start > floor:
        above = line_start(text, start - 1)
        if above < floor or not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def reorder(text: str, sequence: Node, order: Sequence[int]) -> str:
    """Return the text with the items in another order. The text between two items stays in its place."""
    spans = item_spans(text, sequence)
    cuts = [Cut(*spans[i], text[slice(*spans[j])]) for i, j in enumerate(order) if i != j]
    return apply_cuts(text, cuts)


def insert_item(text: str, sequence: Node, after: int, write: Callable[[int], str], flow: Callable[[], str]) -> str:
    """Return the text with a new item after another.

    `write` formats it for a block list with dashes in a column, `flow` for a list in brackets.
    """
    place = item_spans(text, sequence)[after]
    item_text = f", {flow()}" if sequence.flow_style else newline_of(text) + write(sequence.start_mark.column)
    return apply_cuts(text, [Cut(place.stop, place.stop, item_text)])


def delete_item(text: str, sequence: Node, place: int) -> str:
    """Return the text without one item. It must not be the only one."""
    spans = item_spans(text, sequence)
    start, stop = spans[place]
    if sequence.flow_style:
        start, stop = (spans[place - 1].stop, stop) if place else (start, spans[1].start)
    else:
        stop = next_line(text, stop)
    return apply_cuts(text, [Cut(start, stop, "")])
