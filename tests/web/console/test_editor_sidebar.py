"""Beside the editor: what each person answers, as a choice with its numbers, and how precise the results will be."""

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from survey_app.authoring import build
from survey_app.languages import numbers
from survey_app.plan.survey_plan import plan_survey
from survey_app.plan.target import Settings
from survey_app.web.console.draft_page import MOST_REMEMBERED
from survey_app.web.filters import advice_markup, breakable_id
from tests.console import EXAM, draft, key_of, part, post, publish, read_draft, stamp
from tests.golden_files import Golden, page_text
from tests.tree import parse

SEVERAL = b"""\
# about work
slug: s
title: T
epsilon: 2  # in total
questions:
""" + b"".join(b"  - {id: q%d, type: yes_no, text: Q%d}  # number %d\n" % (i, i, i) for i in range(6))


def raised(page: str) -> str:
    """Return what a report can raise a suspicion of 5 in 100 to, as a number."""
    found = re.search(r"data-raised>(\d+)\b", page)
    assert found is not None
    return found[1]


def recipes(page: str) -> dict[str, list[str]]:
    """Return the respondents that each of the three choices needs, at the usual shares and at one half."""
    labels = parse(page).all("label", data_respondents=None)
    return {
        label.attributes["for"].removeprefix("ask-"): [
            label.attributes["data-respondents"],
            label.attributes["data-at-half"],
        ]
        for label in labels
    }


def test_the_numbers_beside_the_editor_are_those_of_the_plan(ada: FlaskClient, golden: Golden) -> None:
    source = SEVERAL + b"joint: [[q0, q1]]\n"
    key = draft(ada, source)
    plan = plan_survey(source, Settings(respondents=150, margin=0.05))
    page = ada.get(f"/console/drafts/{key}?respondents=150").text
    beside = parse(page).one("aside", id="beside")
    assert beside.one("h2", id="for-you").attributes["data-respondents"] == "150"
    margins, questions = (
        [[cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")]
        for table in (beside.one("table", class_="precision ways"), beside.one("details", data_part="questions"))
    )
    for i, line in enumerate(plan.lines):
        assert [cell.split()[0] for cell in margins[i]] == [way.lines[i].margin_text().split()[0] for way in plan.ways]
        assert questions[i] == [numbers.format_epsilon(line.epsilon, 2, fixed=True), f"{line.respondents:,}"]
    assert recipes(page) == {way.ask: [str(way.respondents), str(way.at_half)] for way in plan.ways}
    assert plan.advice
    advice = page_text(page, '<ul class="advice"', "</ul>").split("\n")
    assert advice == [one if one.endswith(".") else f"{one}." for one in plan.advice]
    assert page.index('id="respondents"') < page.index('class="advice"') < page.index('id="s-ask"')
    assert plan.choice and plan.choice.why in unescape(page)
    assert [one.attributes["data-price"] for one in beside.all("p", data_price=None)] == ["0.84"]
    assert raised(page) == "29"  # 1/(1 + 19 e^-2) = 0.28, rounded up
    alone = draft(ada, EXAM)
    assert raised(ada.get(f"/console/drafts/{alone}").text) == "14"  # docs/methods.md §13
    golden(page_text(page, '<aside id="beside"', "</aside>"))


def test_a_check_while_somebody_types_leaves_alone_what_the_next_page_is_to_say(ada: FlaskClient) -> None:
    """It is in the session's cookie, which a late reply to a check must not set back."""
    key = draft(ada, SEVERAL)
    ada.get(f"/console/drafts/{key}?respondents=750")
    checked = post(ada, f"/console/drafts/{key}/check?respondents=750")
    assert checked.status_code == 200
    assert "Set-Cookie" not in checked.headers
    assert "Set-Cookie" in post(ada, f"/console/drafts/{key}/check?respondents=800").headers


def test_the_planned_respondents_are_remembered_on_every_page(ada: FlaskClient) -> None:
    key = draft(ada, SEVERAL)
    ada.get(f"/console/drafts/{key}?respondents=750")
    post(ada, f"/console/drafts/{key}/settings", title="Another")
    post(ada, f"/console/drafts/{key}/ask", ask="auto")
    for path in ("", "?edit=1", "/settings", "/yaml", "/try", "/publish"):
        page = ada.get(f"/console/drafts/{key}{path}").text
        assert 'name="respondents" inputmode="numeric" value="750"' in page, path
        assert 'data-respondents="750"' in page, path
    other = draft(ada, SEVERAL)
    assert 'data-respondents="500"' in ada.get(f"/console/drafts/{other}").text, "of each draft its own"
    ada.get(f"/console/drafts/{other}?respondents=90")
    assert 'data-respondents="750"' in ada.get(f"/console/drafts/{key}").text


def test_a_browser_remembers_the_respondents_of_the_last_drafts_only(ada: FlaskClient) -> None:
    keys = [draft(ada, EXAM) for _ in range(MOST_REMEMBERED + 1)]
    for key in keys:
        ada.get(f"/console/drafts/{key}?respondents={1000 + key}")
    shown = [f'data-respondents="{1000 + key}"' in ada.get(f"/console/drafts/{key}").text for key in keys]
    assert shown == [False] + [True] * MOST_REMEMBERED, "it is a cookie, and goes along with every request"


def ways(page: str) -> dict[str, str]:
    """The three options, below the number of respondents that they are about."""
    beside = page.partition('<aside id="beside"')[2]
    assert beside.index('name="respondents"') < beside.index('name="ask"')
    return {one[0]: one[1] for one in re.findall(r'name="ask" value="(\w+)"([^>]*)>', beside)}


def test_what_each_person_answers_is_one_of_three_choices(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, SEVERAL)
    for path in ("", "?edit=0", "/settings", "/yaml", "/try", "/publish"):
        assert ways(ada.get(f"/console/drafts/{key}{path}").text) == {"all": " checked", "one": "", "auto": ""}, path
    page = ada.get(f"/console/drafts/{key}?respondents=3000").text
    needs = {ask: respondents for ask, (respondents, _) in recipes(page).items()}
    assert needs == {"all": "13948", "one": "3145", "auto": "2633"}
    assert [one.attributes["for"] for one in parse(page).all("label", data_recommended=None)] == ["ask-auto"]
    golden(page_text(page, '<fieldset id="s-ask"', "</fieldset>"))  # 4.43 and 5.3 times fewer, and the blocks


def test_a_choice_changes_one_line_of_the_file_and_leads_back(ada: FlaskClient) -> None:
    key = draft(ada, SEVERAL)
    path = f"/console/drafts/{key}"
    post(ada, f"{path}/ask", ask="all")
    assert read_draft(ada, key) == SEVERAL, "which it is already"
    for ask in ("auto", "one", "all"):
        answer = post(ada, f"{path}/ask", ask=ask, back=f"{path}/settings")
        assert answer.headers["Location"] == f"{path}/settings"
        assert read_draft(ada, key) == SEVERAL.replace(b"total\n", b"total\nask: %b\n" % ask.encode())
        assert ways(ada.get(path).text)[ask] == " checked"
    assert post(ada, f"{path}/ask", ask="auto", back=f"{path}?edit=3").headers["Location"] == f"{path}?edit=3"
    for back in ("//evil.example", "https://evil.example/", "/logout", f"/console/drafts/{key + 1}", f"{path}/delete"):
        assert post(ada, f"{path}/ask", ask="auto", back=back).headers["Location"] == path, back
    assert post(ada, f"{path}/ask", ask="2").status_code == 400
    assert post(ada, f"{path}/ask").status_code == 400


def test_an_ask_of_old_is_told_the_three_words_and_can_be_mended(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM.replace(b"questions:", b"ask: 2  # once\nquestions:", 1))
    page = ada.get(f"/console/drafts/{key}/settings").text
    assert part(page, "s-ask-error")
    golden(part(page, "s-ask-error"))
    assert ways(page) == {"all": "", "one": "", "auto": ""}
    post(ada, f"/console/drafts/{key}/ask", ask="auto")
    assert b"ask: auto  # once\n" in read_draft(ada, key)


def test_a_way_that_is_not_possible_is_no_choice_and_says_why(ada: FlaskClient, golden: Golden) -> None:
    own = SEVERAL.replace(b"type: yes_no", b"type: yes_no, epsilon: 2").replace(b"questions:", b"ask: one\nquestions:")
    page = ada.get(f"/console/drafts/{draft(ada, own)}").text
    assert ways(page)["all"] == " disabled"
    assert set(recipes(page)) == {"one", "auto"}
    golden(page_text(page, '<label class="way" for="ask-all"', "</label>"))


def test_a_draft_from_nothing_asks_the_best_blocks(ada: FlaskClient) -> None:
    key = key_of(post(ada, "/console", start="empty"))
    assert b"\nask: auto\n" in read_draft(ada, key)
    page = ada.get(f"/console/drafts/{key}").text
    assert ways(page) == {"all": "", "one": "", "auto": " checked"}
    assert recipes(page) == {}


@pytest.mark.parametrize(("epsilon", "price"), [("1", "1.42"), ("2", "1.16"), ("4", "1.02")])
def test_what_it_costs_that_a_question_may_be_left_out_stands_at_its_box(
    ada: FlaskClient, epsilon: str, price: str
) -> None:
    source = SEVERAL.replace(b"epsilon: 2", f"epsilon: {epsilon}\nask: one".encode())
    for known in (source, source.replace(b"type: yes_no", b"type: yes_no, optional: true", 1)):
        page = ada.get(f"/console/drafts/{draft(ada, known)}?edit=0").text
        assert parse(page).one("p", id="q0-optional-hint").one("data").attributes["value"] == price


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("text: Q5, design: coin", id="a design"),
        pytest.param("text: Q5, show_if: {question: q0, is: [yes]}", id="a condition"),
        pytest.param("text: ''", id="no survey yet"),
    ],
)
def test_where_nobody_can_choose_it_nothing_is_said_to_be_paid(ada: FlaskClient, more: str, golden: Golden) -> None:
    source = SEVERAL.replace(b"text: Q5", more.encode())
    page = ada.get(f"/console/drafts/{draft(ada, source)}?edit=5").text
    hint = parse(page).one("p", id="q5-optional-hint")
    assert hint.text and not hint.all("data")
    golden(hint.text)


def test_checking_tells_what_leaving_it_out_costs_with_what_is_typed(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, SEVERAL.replace(b"text: Q5", b"text: ''") + b"ask: one\n")
    typed = {"stamp": stamp(ada, key), "question": "5", "was": "q5", "text": "Now it is one"}
    found = parse(post(ada, f"/console/drafts/{key}/check", **typed).text)
    hint = found.one("p", data_hint="q5-optional-hint")
    assert hint.one("data").attributes["value"] == "1.16"
    golden(hint.text)


def test_ids_are_set_apart_in_advice_and_break_only_where_their_words_do() -> None:
    asked = build(SEVERAL.replace(b"q1", b"i_was_calm")).survey.questions
    assert advice_markup("q0, yes at 20%: q0 & more", asked) == "<code>q0</code>, yes at 20%: q0 &amp; more."
    assert advice_markup("q0 and i_was_calm are so; q0 ±1, not ±2.", asked) == (
        "<code>q0</code> and <code>i_was_calm</code> are so; <code>q0</code> ±1, not ±2."
    )
    assert breakable_id("i_was_calm") == "i_<wbr>was_<wbr>calm"


# before publishing


def test_a_hopeless_precision_is_told_with_its_numbers_before_publishing_and_locks_nothing(
    ada: FlaskClient, golden: Golden
) -> None:
    key = draft(ada, SEVERAL)
    ada.get(f"/console/drafts/{key}?respondents=400")
    page = ada.get(f"/console/drafts/{key}/publish").text
    doubts = page_text(page, '<section class="notice" aria-labelledby="doubts"', "</section>")
    assert "±29.5 " in doubts and " 13,948 " in doubts
    golden(doubts)
    assert 'name="advised"' not in page
    assert publish(ada, key).headers["Location"] == "/console/s"


def test_a_share_that_could_be_anything_is_told_too(ada: FlaskClient) -> None:
    """Nothing of it is near zero: 40%, with an interval from 13% to 67%."""
    options = b", ".join(b"o%d" % i for i in range(6))
    key = draft(
        ada,
        b"slug: s\ntitle: T\nepsilon: 0.6\nquestions:\n  - {id: a, type: choice, text: A?, options: [%b]}\n" % options,
    )
    ada.get(f"/console/drafts/{key}?respondents=400")
    page = ada.get(f"/console/drafts/{key}/publish").text
    assert re.search(r"±\d+(\.\d)? ", page_text(page, 'aria-labelledby="doubts"', "</section>"))


def test_a_precision_with_hope_needs_no_tick(ada: FlaskClient) -> None:
    key = draft(ada, SEVERAL + b"ask: auto\n")
    ada.get(f"/console/drafts/{key}?respondents=3000")
    assert 'name="advised"' not in ada.get(f"/console/drafts/{key}/publish").text
    assert publish(ada, key).headers["Location"] == "/console/s"
