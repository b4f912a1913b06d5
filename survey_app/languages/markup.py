"""Documents as lists of blocks, rendered as Markdown or as one self-contained HTML file.

The codebook and the dossier are lists of the blocks below. Text by an author is escaped in both formats and never
becomes markup. `Mono` is text to be read character by character.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&!$])")
LIST_MARK = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")
PARAGRAPH = "\u2029"

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --line: #bbb; --soft: #f4f4f2 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --paper: #161616; --line: #555; --soft: #232323 } }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1, h2, h3, h4 { line-height: 1.25; overflow-wrap: break-word }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
.wide { margin: 1rem 0; overflow-x: auto }
.facts td { overflow-wrap: anywhere }
table { border-collapse: collapse; font-size: .92rem }
th, td { padding: .3rem .6rem; border: 1px solid var(--line); text-align: start; vertical-align: top }
table { overflow-wrap: break-word }
th, pre { background: var(--soft) }
pre { padding: .6rem .8rem; white-space: pre-wrap; border: 1px solid var(--line) }
@media print { body { margin: 0; max-width: none } h2, h3, h4 { break-after: avoid } tr, pre { break-inside: avoid } }
"""


class Mono(str):
    """Text in a monospaced font."""

    __slots__ = ()


@dataclass(frozen=True)
class Heading:
    """A heading with a depth from 1 to 4."""

    depth: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of text, or several separated by U+2029, as in a definition."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A bulleted list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Code:
    """Preformatted lines."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Code


def render_markdown(blocks: Iterable[Block]) -> str:
    """Render blocks as Markdown, with tables in the syntax of GitHub."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.depth} {_plain(block.text)}"
    if isinstance(block, Paragraph):
        return "\n\n".join(_start(part) for part in block.text.split(PARAGRAPH))
    if isinstance(block, Bullets):
        return "\n".join(f"- {_start(item)}" for item in block.items)
    if isinstance(block, Code):
        return "\n".join(f"    {line}" for line in block.text.split("\n"))
    rows = [block.head, ["---"] * len(block.head), *([_cell(cell) for cell in row] for row in block.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(text: str) -> str:
    if isinstance(text, Mono) and text and "`" not in text and text == text.strip():
        return f"`{text}`".replace("|", "\\|")
    return _plain(text)


def _plain(text: str) -> str:
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _start(text: str) -> str:
    """Escape text at the beginning of a line, where a dash or a number would begin a list."""
    return LIST_MARK.sub(lambda mark: f"{mark[2]}\\" if mark[2].isdigit() else f"\\{mark[2]}", _plain(text))


def render_html(title: str, blocks: Iterable[Block], language: str = "en") -> str:
    """Render blocks as one HTML file without scripts and links, with its style sheet inside."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n<main>\n{body}\n</main>\n</html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.depth}>{escape(block.text)}</h{block.depth}>"
    if isinstance(block, Paragraph):
        return "\n".join(f"<p>{escape(part)}</p>" for part in block.text.split(PARAGRAPH))
    if isinstance(block, Bullets):
        return "<ul>\n" + "\n".join(f"<li>{escape(item)}</li>" for item in block.items) + "\n</ul>"
    if isinstance(block, Code):
        return f"<pre><code>{escape(block.text)}</code></pre>"
    if not any(block.head):  # names and values
        facts = (
            f'<tr><th scope="row">{_html_cell(name)}</th>{_html_cells(values)}</tr>' for name, *values in block.rows
        )
        return '<div class="wide"><table class="facts">\n<tbody>\n' + "\n".join(facts) + "\n</tbody></table></div>"
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in block.head)
    rows = "\n".join(f"<tr>{_html_cells(row)}</tr>" for row in block.rows)
    top = f"<thead><tr>{head}</tr></thead>\n"
    return f'<div class="wide" tabindex="0"><table>\n{top}<tbody>\n{rows}\n</tbody></table></div>'


def _html_cells(cells: Sequence[str]) -> str:
    return "".join(f"<td>{_html_cell(cell)}</td>" for cell in cells)


def _html_cell(text: str) -> str:
    return f"<code>{escape(text)}</code>" if isinstance(text, Mono) else escape(text)
