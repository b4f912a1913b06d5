"""How a capture is written down and compared: every reply and file as text, numbers to 12 significant digits."""

import difflib
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pyreadstat

NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?(?!\w)")
CSRF = re.compile(r'(name="csrf_token"[^>]*value=")[^"]+')
SOURCE = re.compile(r"(<(script|style)(?![^>]*json)[^>]*>)(.{80,}?)(</\2>)", re.DOTALL)
MOST_ROWS, MOST_VALUES = 40, 20  # of reports, written out


def round_number(text: str) -> float:
    """Return a number to 12 significant digits."""
    return float(f"{float(text):.12g}")


def round_numbers(text: str) -> str:
    """Return a text in which numbers with more than 12 significant digits have 12."""

    def shorten(match: re.Match[str]) -> str:
        digits = re.sub(r"e.*|[-.]", "", match[0]).lstrip("0")
        return repr(round_number(match[0])) if len(digits) > 12 else match[0]

    return NUMBER.sub(shorten, text)


def hide_checksums(text: str) -> str:
    """Return a content security policy that does not depend on the scripts of its page."""
    return re.sub(r"'sha256-[^']+'", "'sha256-…'", text)


def format_page(text: str) -> str:
    """Return a page with an element a line, without tokens, scripts and style sheets."""
    text = hide_checksums(SOURCE.sub(r"\1…\4", CSRF.sub(r"\1<token>", text)))
    return round_numbers(re.sub(r">\s*<", ">\n<", text))


def format_header(name: str, value: str) -> str:
    """Return a header of a reply, without checksums of scripts and the order of methods."""
    if name == "allow":
        value = ", ".join(sorted(value.split(", ")))
    return f"{name}: {hide_checksums(value)}"


def format_json(text: str) -> str:
    """Return a JSON document, or one a line, with a value a line, in its own order."""
    try:
        documents = [json.loads(text, parse_float=round_number)]
    except ValueError:
        documents = [json.loads(line, parse_float=round_number) for line in text.rstrip("\n").split("\n")]
    return "\n".join(json.dumps(document, indent=1, ensure_ascii=False) for document in documents)


def format_rows(head: str, rows: Sequence[str]) -> str:
    """Return rows without their order: all of them if they are few, else the first few, and a checksum of all."""
    in_order = sorted(rows)
    if len(rows) > MOST_ROWS:
        in_order = [f"sha256 {hashlib.sha256('|'.join(in_order).encode()).hexdigest()}", *in_order[:5]]
    return "\n".join((head, f"{len(rows)} rows", *in_order))


def format_values(values: Sequence[Any]) -> str:
    """Return how often each value of a column occurs."""
    counts = Counter(map(repr, values))
    return ", ".join(f"{value}: {count}" for value, count in sorted(counts.items())[:MOST_VALUES])


def format_parquet(data: bytes) -> str:
    """Return the metadata, the types and the values of a Parquet file."""
    table = pyarrow.parquet.read_table(io.BytesIO(data))
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    columns = [
        f"{column.name} {column.type} {format_values(table[column.name].to_pylist())}" for column in table.schema
    ]
    return "\n".join((json.dumps(metadata, indent=1), f"{table.num_rows} rows", *columns))


def format_statistics(path: Path) -> str:
    """Return what SPSS or Stata would read in a .sav or .dta file."""
    read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    frame, meta = read(str(path), user_missing=True)
    lines = [f"{meta.number_rows} rows", f"label {meta.file_label}", f"notes {meta.notes}"]
    for name in frame.columns:
        label, values = meta.column_names_to_labels.get(name), meta.variable_value_labels.get(name)
        missing = meta.missing_ranges.get(name)
        lines.append(f"{name}: {label} | {values} | {missing} | {format_values(frame[name].tolist())}")
    return round_numbers("\n".join(lines))


def format_body(path: str, kind: str, data: bytes) -> str:
    """Return the body of a reply, by its content type; one row for each report loses its order, which means nothing."""
    if "parquet" in kind:
        return format_parquet(data)
    text = data.decode()
    if "ndjson" in kind:
        head, *rows = text.rstrip("\n").split("\n")
        return format_rows(format_json(head), rows)
    if "csv" in kind and "/reports." in path:
        head, *rows = text.rstrip("\n").split("\n")
        return format_rows(head, rows)
    if "json" in kind:
        return format_json(text)
    return format_page(text) if re.search("html|svg|xml", kind) else round_numbers(text)


# ---- Comparison ------------------------------------------------------------------------------------------------------

MOST_FILES, MOST_LINES, WIDEST, MOST_NAMES = 60, 8, 200, 20  # printed


def list_files(tree: Path) -> set[str]:
    """Return the names of all files of a captured tree."""
    return {file.relative_to(tree).as_posix() for file in tree.rglob("*") if file.is_file()}


def compare(before: Path, after: Path, ignored: str = "") -> list[str]:
    """Return the names of all files that are not the same in two captured trees, but for what a pattern matches."""
    names = sorted(list_files(before) | list_files(after))
    return [name for name in names if read_captured(before / name, ignored) != read_captured(after / name, ignored)]


def read_captured(file: Path, ignored: str = "") -> str | None:
    """Return what was captured, without what a pattern matches; None where nothing was."""
    text = file.read_text(encoding="utf-8") if file.exists() else None
    return re.sub(ignored, "", text) if text and ignored else text


def describe(before: Path, after: Path, name: str, ignored: str = "") -> str:
    """Return the first lines that differ in a file of two captured trees."""
    texts = [read_captured(tree / name, ignored) for tree in (before, after)]
    if None in texts:
        return f"{name}\n  only in {after if texts[0] is None else before}"
    left, right = ((text or "").split("\n") for text in texts)
    changes = [line for line in difflib.unified_diff(left, right, lineterm="", n=0) if line[:3] not in ("---", "+++")]
    more = [f"  … and {len(changes) - MOST_LINES} lines more"] if len(changes) > MOST_LINES else []
    return "\n".join((name, *(f"  {line[:WIDEST]}" for line in changes[:MOST_LINES]), *more))


def choose_examples(names: Sequence[str]) -> list[str]:
    """Return the first of all files with the same name, in whichever case they are."""
    examples: dict[str, str] = {}
    for name in names:
        examples.setdefault(name.rpartition("/")[2], name)
    return [*examples.values()][:MOST_FILES]


def summarize(names: Sequence[str]) -> str:
    """Return how many files of each name differ, the most frequent first."""
    counts = Counter(name.rpartition("/")[2] for name in names)
    return ", ".join(f"{count} {name}" for name, count in counts.most_common(MOST_NAMES))
