"""Every link of every page leads somewhere, to the very heading; and every page is led to."""

from pathlib import Path

import pytest

from tests.docs.markdown import anchors, fault, linked_files, links, pages, without_code
from tests.module_graph import ROOT

INDEX = ROOT / "docs" / "README.md"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert not [(target, why) for target in links(page.read_text()) if (why := fault(page, target))]


def test_the_index_leads_to_every_page_of_the_docs() -> None:
    assert {*(ROOT / "docs").glob("*.md")} - {INDEX} <= linked_files(INDEX)


def test_no_page_is_an_orphan() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md", INDEX]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [found for found in linked_files(page) if found.suffix == ".md" and found.exists()]
    assert not set(pages()) - reached


PAGE = """# A title, with *stress* and `code`

See [there](other.md#a-title), [here][1], <https://example.org/x>, ![a picture](no.png "shown").

    [not a link](none.md)

- an item

  [a link in it](in-it.md)

```text
[nor this](none.md)
```

`[nor this](none.md)` and [x](y_(z).md).

## Twice
## Twice
[1]: defined.md
"""


def test_links_are_found_wherever_they_stand_and_code_is_none() -> None:
    assert sorted(links(PAGE)) == sorted(
        ["other.md#a-title", "https://example.org/x", "no.png", "in-it.md", "y_(z).md", "defined.md"]
    )
    assert "nor this" not in without_code(PAGE)


def test_anchors_are_those_that_github_makes() -> None:
    assert anchors(PAGE) == {"a-title-with-stress-and-code", "twice", "twice-1"}
    assert anchors("## §7 Composition, `ask` & more\n") == {"7-composition-ask--more"}


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("docs/nowhere.md", "no such file"),
        ("docs/pictures/nowhere.png", "no such file"),
        ("CONTRIBUTING.md#no-such-heading", "no such heading"),
        ("#no-such-heading", "no such heading"),
        ("../somewhere", "no such file"),
        ("..", "outside of the repository"),
        ("https://", "not a well-formed address"),
        ("https:///example.org", "not a well-formed address"),
        ("ftp://example.org", "not a well-formed address"),
        ("https://exa mple", "not a well-formed address"),
        ("http://[::1", "Invalid IPv6 URL"),
        ("mailto:nobody", "no address"),
    ],
)
def test_a_dead_link_would_be_found(target: str, why: str) -> None:
    assert fault(ROOT / "README.md", target) == why
    assert fault(ROOT / "README.md", "CONTRIBUTING.md#where-things-go") is None
