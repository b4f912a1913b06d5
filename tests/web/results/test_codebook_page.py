"""The codebook, for people who may see the results."""

from xml.etree import ElementTree

import pytest

from survey_app.languages.markup import render_markdown
from survey_app.results.codebook import make_codebook
from survey_app.store import STEP
from survey_app.web.results import codebook_page
from tests.golden_files import Golden, page_text
from tests.tree import parse
from tests.web.results.results_fixtures import Installation, campus


def test_the_codebook_is_offered_and_says_what_the_command_says(fresh: Installation) -> None:
    published = fresh.add(campus(), 3 * STEP)
    links = [link.attributes["href"] for link in fresh.page("/results/campus", name="ada").all("a")]
    offered = [link for link in links if "/codebook." in link]
    assert len(offered) == 3
    kinds = dict(zip(("html", "md", "xml"), offered, strict=True))
    answer = fresh.get(kinds["md"], name="ada")
    assert answer.text == render_markdown(make_codebook(published.survey))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="campus-codebook.md"'
    assert parse(fresh.get(kinds["html"], name="ada").text).one("h1").text == f"Codebook: {published.survey.title}"
    root = ElementTree.fromstring(fresh.get(kinds["xml"], name="ada").data)  # noqa: S314 — what we have just written
    assert [one.text for one in root.iter() if one.tag.endswith("caseQnty")] == [str(3 * STEP)]
    fresh.get("/results/campus/codebook.exe", 404, name="ada")
    fresh.get("/results/campus/codebook.md?digest=" + "0" * 64, 404, name="ada")


def test_a_codebook_of_very_many_bits_is_left_to_the_command(
    fresh: Installation, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    fresh.add(campus(), STEP)
    monkeypatch.setattr(codebook_page, "MOST_BITS", 3)
    refused = fresh.get("/results/campus/codebook.xml", 400, name="ada").text
    assert parse(refused).one("h1").attributes["data-code"] == "malformed_request"
    golden(page_text(refused, "<h1", "<p><a"))


def test_a_codebook_is_as_private_as_the_results(fresh: Installation) -> None:
    fresh.add(campus(), STEP, public=False)
    fresh.get("/results/campus/codebook.md", name="ada")
    fresh.get("/results/campus/codebook.md", 403, name="bob")
    fresh.get("/results/campus/codebook.md", 302)
