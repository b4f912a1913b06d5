"""Documents for readers: whatever an author wrote is shown as it is, in Markdown and in HTML."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from survey_app.languages.markup import (
    Block,
    Bullets,
    Code,
    Heading,
    Mono,
    Paragraph,
    Table,
    render_html,
    render_markdown,
)
from tests.tree import parse

EVIL = [
    "<script>x</script>",
    "*a* _b_ `c`",
    "| a | b |",
    "[x](y)",
    "# no",
    "- no",
    "1. no",
    "a\\b",
    "&lt;",
    "~~x~~",
    "![i](u)",
]
READER = MarkdownIt("commonmark").enable("table")


def rendered(blocks: list[Block]) -> str:
    return str(READER.render(render_markdown(blocks)))


@pytest.mark.parametrize("text", EVIL)
def test_text_never_becomes_markup(text: str) -> None:
    for page in (rendered([Paragraph(text)]), render_html("t", [Paragraph(text)])):
        assert [one.text for one in parse(page).all("p")] == [text]
    for page in (rendered([Heading(2, text)]), render_html("t", [Heading(2, text)])):
        assert [one.text for one in parse(page).all("h2")] == [text]
    for page in (rendered([Bullets([text])]), render_html("t", [Bullets([text])])):
        assert [one.text for one in parse(page).all("li")] == [text]


@pytest.mark.parametrize("mono", [False, True])
@pytest.mark.parametrize("text", [*EVIL, "a|b", "`", "x ` y"])
def test_cells_hold_what_was_put_into_them(text: str, mono: bool) -> None:
    table = Table(["a", "b"], [[Mono(text) if mono else text, "end"]])
    for page in (rendered([table]), render_html("t", [table])):
        assert [one.text for one in parse(page).all("td")] == [text, "end"]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30))
def test_any_word_survives_markdown(word: str) -> None:
    assert [one.text for one in parse(rendered([Paragraph(word)])).all("p")] == [word]


def test_paragraphs_of_a_definition_are_paragraphs() -> None:
    blocks: list[Block] = [Paragraph("one\u2029two")]
    for page in (rendered(blocks), render_html("t", blocks)):
        assert [one.text for one in parse(page).all("p")] == ["one", "two"]


def test_code_is_kept_sign_by_sign() -> None:
    code = '{"a":"<b>&\u2029*"}\n  indented'
    for page in (rendered([Code(code)]), render_html("t", [Code(code)])):
        (kept,) = re.findall(r"<pre><code>(.*)</code></pre>", page, re.DOTALL)
        assert unescape(kept).removesuffix("\n") == code


def test_a_page_needs_nothing_beside_it() -> None:
    page = render_html("A <title>", [Heading(1, "x"), Table(["", ""], [["a", "b"]])], "de")
    assert "http" not in page and "<script" not in page and "@import" not in page and "url(" not in page
    assert parse(page).one("title").text == "A <title>"
    assert '<html lang="de">' in page and "<thead" not in page and parse(page).one("th", scope="row").text == "a"
