"""Pages as trees: enough of HTML to find things in it, and to see that every element is closed."""

import re
from html.parser import HTMLParser

VOID = ("meta", "link", "input", "br", "wbr", "img")


class Node:
    """An element of a page."""

    def __init__(self, tag: str, attributes: dict[str, str], parent: "Node | None" = None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Node | str] = []

    def all(self, *tags: str, **wanted: str | None) -> "list[Node]":
        """Every element below, by tag and by attributes (None: any value); `data_live` is the attribute data-live."""
        names = {key.rstrip("_").replace("_", "-"): value for key, value in wanted.items()}
        found: list[Node] = []
        for child in self.children:
            if isinstance(child, Node):
                has = all(
                    key in child.attributes and value in (None, child.attributes[key]) for key, value in names.items()
                )
                found += [child] * (has and (not tags or child.tag in tags))
                found += child.all(*tags, **wanted)
        return found

    def one(self, *tags: str, **wanted: str | None) -> "Node":
        """Return the only element below that matches; raise ValueError unless there is just one."""
        (found,) = self.all(*tags, **wanted)
        return found

    @property
    def text(self) -> str:
        """The text that can be read in it."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return re.sub(r"\s+", " ", " ".join(parts)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.at = Node("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Node(tag, {key: value or "" for key, value in attrs}, self.at)
        self.at.children.append(made)
        if tag not in VOID:
            self.at = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.children.append(Node(tag, {key: value or "" for key, value in attrs}, self.at))

    def handle_endtag(self, tag: str) -> None:
        if self.at.tag != tag or self.at.parent is None:
            raise ValueError(f"</{tag}> closes <{self.at.tag}>")
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def parse(html: str) -> Node:
    """Return the page; raise ValueError if an element is not closed, or closed by another one."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    if reader.at is not reader.root:
        raise ValueError(f"<{reader.at.tag}> is not closed")
    return reader.root
