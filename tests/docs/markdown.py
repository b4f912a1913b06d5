"""The links and anchors of a page of Markdown: as much of GitHub's rules as our pages need."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.module_graph import ROOT

LEFT_OUT = {"node_modules", "build", "dist"}
INLINE = re.compile(r"\]\(\s*<?((?:[^\s()<>]|\([^\s()]*\))+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINED = re.compile(r"^ {0,3}\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
BRACKETED = re.compile(r"<(https?://[^>\s]*)>")
OF_HTML = re.compile(r"<(?:a|img)\b[^>]*\b(?:href|src)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
OWN_ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")


def pages() -> list[Path]:
    """Return every page of the repository."""
    found = (page.relative_to(ROOT) for page in ROOT.rglob("*.md"))
    return sorted(
        ROOT / page for page in found if not any(part in LEFT_OUT or part.startswith(".") for part in page.parts)
    )


def without_code(text: str) -> str:
    """Return a page without its code: fences, indented blocks, words between backticks."""
    text = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(?<=\n\n)(?: {4,}\S.*\n(?:[ \t]*\n)*)+", lambda block: _keep_list_item(block, text), text)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)


def _keep_list_item(block: re.Match[str], text: str) -> str:
    """Return nothing for a block of code; keep a paragraph of a list item."""
    before = text[: block.start()].rstrip("\n").rpartition("\n")[2]
    item = re.match(r"(\s*)(?:[-*]|\d+\.)\s", before)
    depth = len(block[0]) - len(block[0].lstrip(" "))
    return block[0] if item and depth < len(item[0]) + 4 else ""


def links(text: str) -> list[str]:
    """Return the targets of a page, images included."""
    bare = without_code(text)
    return [target for found in (INLINE, DEFINED, BRACKETED, OF_HTML) for target in found.findall(bare)]


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: a slug for every heading, numbered if it is repeated, and anchors of HTML."""
    fences_gone = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    seen: Counter[str] = Counter()
    found = set(OWN_ANCHOR.findall(fences_gone))
    for heading in HEADING.findall(fences_gone):
        slug = slug_of(heading)
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def slug_of(heading: str) -> str:
    """Return GitHub's slug: lower case, without punctuation, with a hyphen for each space."""
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def fault(page: Path, target: str) -> str | None:
    """Return why a link leads nowhere, or None if it leads somewhere."""
    try:
        parts = urlsplit(target)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme == "mailto":
        return None if re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", parts.path) else "no address"
    if parts.scheme:
        fine = parts.scheme in ("http", "https") and host and re.fullmatch(r"localhost|[\w-]+(\.[\w-]+)+", host)
        return None if fine else "not a well-formed address"
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not file.exists():
        return "no such file"
    if ROOT not in (file, *file.parents):
        return "outside of the repository"
    if parts.fragment and file.suffix == ".md" and parts.fragment not in anchors(file.read_text()):
        return "no such heading"
    return None


def linked_files(page: Path) -> set[Path]:
    """Return the files of the repository that a page links to."""
    local = (target.partition("#")[0] for target in links(page.read_text()) if not urlsplit(target).scheme)
    return {(page.parent / unquote(target)).resolve() for target in local if target}
