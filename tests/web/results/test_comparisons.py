"""Two questions crossed, and surveys side by side: what the page says is what the documents say."""

import csv
import io
import json
from urllib.parse import urlencode

import msgspec
import pytest

from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.results.group_document import compare_groups
from survey_app.web import access
from tests.golden_files import Golden
from tests.web.results.results_fixtures import (
    NUMBERS,
    Installation,
    alert_codes,
    campus,
    check_group_row,
    check_row,
    count_intervals,
    plot_rows,
    row_numbers,
)


@pytest.mark.parametrize("pair", [("cheated", "fair"), ("help", "fair"), ("why", "used"), ("income", "cheated")])
def test_a_cross_tab_is_the_apis(installation: Installation, pair: tuple[str, str]) -> None:
    query = urlencode({"rows": pair[0], "columns": pair[1], "confidence": "0.9"})
    page = installation.page(f"/results/campus?{query}")
    document = json.loads(installation.get(f"/api/surveys/campus/crosstab?{query}").text)
    for kind in ("estimates", "within_rows", "differences"):
        body = page.one("tbody", id=f"cross-{kind}")
        cells = [cell for row in body.all("tr") for cell in row.all("td")]
        lines = {" + ".join(line["options"]): line for line in document[kind]}
        assert len(cells) == len(lines) == len(document[kind])
        assert {cell.attributes["data-option"] for cell in cells} == lines.keys(), "in the order of readers: yes first"
        for cell in cells:
            check_row(cell, lines[cell.attributes["data-option"]], ("estimate", "low", "high"))
    test = page.one("p", data_test=None)
    found = row_numbers(test)
    assert {key: found[key] for key in ("statistic", "df", "p_value", "n")} == {
        key: document["test"][key] for key in ("statistic", "df", "p_value", "n")
    }
    assert document["test"]["name"][1:] in test.text
    alone, together = (
        count_intervals(installation.page(f"/results/campus{end}")) for end in ("?confidence=0.9", f"?{query}")
    )
    assert together - alone == sum(len(document[kind]) for kind in ("estimates", "within_rows", "differences"))
    titles = plot_rows(page.one("div", id=f"live-{pair[0]}-crosstab").one("svg"))
    assert len(titles) == len([line for line in document["within_rows"]])
    answer = installation.get(f"/results/campus/crosstab.csv?{query}")
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows[0] == ["list", *pair, *NUMBERS]
    assert len(rows) == 1 + sum(len(document[kind]) for kind in ("estimates", "within_rows", "differences"))
    assert f'filename="campus-{pair[0]}-by-{pair[1]}.csv"' in answer.headers["Content-Disposition"]
    installation.get("/results/campus/crosstab.csv?rows=cheated&columns=hours", 400)


def test_what_cannot_occur_is_no_cell(installation: Installation, golden: Golden) -> None:
    """Only the first of three options shows the other question: five cells of nine, and nothing to test."""
    page = installation.page("/results/others?rows=left&columns=right")
    document = json.loads(installation.get("/api/surveys/others/crosstab?rows=left&columns=right").text)
    assert [line["options"] for line in document["estimates"]] == [
        ["option 0", "no"], ["option 0", "yes"], ["option 0", "no answer"],
        ["option 1", "no answer"], ["option 2", "no answer"],
    ]  # fmt: skip
    assert document["test"] is None and document["differences"] == []
    for kind in ("estimates", "within_rows"):
        cells = [row.all("td") for row in page.one("tbody", id=f"cross-{kind}").all("tr")]
        options = [[cell.attributes.get("data-option") for cell in row] for row in cells]
        assert options == [
            ["option 0 + yes", "option 0 + no", "option 0 + no answer"],
            [None, None, "option 1 + no answer"],
            [None, None, "option 2 + no answer"],
        ]
        assert [cell.text for cell in cells[1][:2]] == ["–", "–"]
        lines = {" + ".join(line["options"]): line for line in document[kind]}
        for cell in [cell for row in cells for cell in row if cell.attributes.get("data-option")]:
            check_row(cell, lines[cell.attributes["data-option"]], ("estimate", "low", "high"))
    assert [(line["low"], line["high"], line["method"]) for line in document["within_rows"][3:]] == [
        (1, 1, "certain")
    ] * 2
    golden(page.one("p", data_test="gaps").text.partition(f"{document['base']}. ")[2])
    turned = installation.page("/results/others?rows=right&columns=left")
    assert not turned.all("tbody", id="cross-differences")  # the first row has one cell only
    rows = list(csv.reader(io.StringIO(installation.get("/results/others/crosstab.csv?rows=left&columns=right").text)))
    assert len(rows) == 1 + 5 + 5
    apart = installation.page("/results/campus?rows=cheated&columns=why")  # each in a field of its own
    found = json.loads(installation.get("/api/surveys/campus/crosstab?rows=cheated&columns=why").text)
    assert [line["options"] for line in found["estimates"]] == [
        ["no", "no answer"], ["yes", "time"], ["yes", "fear"], ["yes", "no answer"],
    ]  # fmt: skip
    assert found["test"] is None and found["differences"] == []
    assert [cell.text for cell in apart.one("tbody", id="cross-estimates").all("tr")[1].all("td")[:2]] == ["–", "–"]


def test_questions_that_no_device_answered_together_are_refused_with_advice(installation: Installation) -> None:
    page = installation.page("/results/others?rows=town&columns=left", 400)
    assert alert_codes(page) == [RefusalCode.SEPARATE_BLOCKS]
    assert "joint: [[town, left]]" in page.one(role="alert").text
    refused = json.loads(installation.get("/api/surveys/others/crosstab?rows=town&columns=left", 400).text)
    assert page.one(role="alert").text == f"No cross-tab: {refused['detail']}"


def test_a_cross_tab_of_too_many_reports_is_left_to_the_command(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(access, "MOST_SCANNED_FOR_ANYONE", 100)
    page = installation.page("/results/campus?rows=cheated&columns=fair&confidence=0.77", 400)
    assert alert_codes(page) == [RefusalCode.TOO_MANY_REPORTS]
    golden(page.one(role="alert").text)


def test_surveys_stand_side_by_side(installation: Installation) -> None:
    page = installation.page("/results/campus?with=west&confidence=0.9&simultaneous=1")
    studies = [
        (one.survey, installation.store.snapshot(one))
        for slug in ("campus", "west")
        if (one := installation.store.newest_version(slug))
    ]
    document = msgspec.to_builtins(compare_groups(studies, Options(0.9, simultaneous=True)))
    for place, question in enumerate(campus().questions):
        parts = [group["questions"][place]["estimates"] for group in document["groups"]]
        differences = document["differences"][0]["questions"][place]["estimates"]
        bodies = page.all("tbody", data_question=question.id, data_list="groups")
        assert len(bodies) == len(parts[0]) == len(differences)
        if question.type == "yes_no":  # yes before no; documents keep the order of symbols
            bodies.reverse()
        for body, first, other, difference in zip(bodies, *parts, differences, strict=True):
            check_group_row(body.one("tr", data_group="campus"), first)
            check_group_row(body.one("tr", data_group="west"), other, difference)
    assert len(page.one("div", id="live-cheated-groups").one("svg").all("g", class_="row")) == 4
    for figure in page.all("figure"):
        installation.get(figure.one("a").attributes["href"])


def test_the_owner_is_offered_surveys_with_the_same_questions(installation: Installation) -> None:
    page = installation.page("/results/campus", name="ada")
    offered = [box.attributes["value"] for box in page.all("input", name="with", type="checkbox")]
    assert offered == ["private", "west"]
    assert not installation.page("/results/campus").all("input", name="with", type="checkbox")
    page = installation.page("/results/campus?with=private", name="ada")
    assert page.all("tbody", data_question="cheated", data_list="groups")


def test_a_population_smaller_than_another_survey_is_a_message(fresh: Installation, golden: Golden) -> None:
    fresh.add(campus(), 40)
    fresh.add(campus("west"), 400)
    page = fresh.page("/results/campus?with=west&population=100", 400)
    assert alert_codes(page) == [RefusalCode.SMALL_POPULATION]
    golden(page.one(role="alert").text)


@pytest.mark.parametrize(
    ("query", "part", "place", "code"),
    [
        ("rows=cheated&columns=cheated", "crosstab", "crossed", RefusalCode.REPEATED),
        ("rows=cheated", "crosstab", "crossed", RefusalCode.MISSING_COLUMNS),
        ("rows=cheated&columns=hours", "crosstab", "crossed", RefusalCode.NO_SHARES),
        ("with=nowhere", "compare", "compared", RefusalCode.UNKNOWN_SURVEY),
        (urlencode([("with", f"s{i}") for i in range(13)]), "compare", "compared", RefusalCode.TOO_MANY_SURVEYS),
        ("outcome=cheated=yes&on=cheated", "regression", "fitted", RefusalCode.SELF_EXPLAINED),
        ("outcome=cheated=yes", "regression", "fitted", RefusalCode.MISSING_PREDICTOR),
        ("on=fair", "regression", "fitted", RefusalCode.MISSING_OUTCOME),
    ],
)
def test_a_message_stands_where_the_eye_is(
    installation: Installation, query: str, part: str, place: str, code: RefusalCode
) -> None:
    """In the section whose form was sent, as the target of its address, so that the focus goes there without scripts."""
    page = installation.page(f"/results/campus?{query}", 400)
    (alert,) = page.all(role="alert")
    (section,) = page.all("section", aria_labelledby=part)
    assert section.one(role="alert") is alert and alert_codes(page)[0] == code
    assert (alert.attributes["id"], alert.attributes["tabindex"]) == (place, "-1")
    assert all(form.attributes["action"].endswith(f"#{place}") for form in section.all("form"))
