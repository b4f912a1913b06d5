"""The editor: a file comes back as it went in, and nothing that was typed is ever lost."""

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from survey_app.authoring.drafts import edits
from survey_app.authoring.yaml_source import LARGEST_FILE
from survey_app.store import Store, StoreError
from tests.browser import CAMPUS
from tests.console import EVIL, EXAM, change, draft, notices, part, post, publish, read_draft, stamp, upload
from tests.golden_files import Golden, page_text
from tests.rsgi_client import ask, scope
from tests.sign_in import cookie_of, find_user, signed_in


@pytest.mark.parametrize(
    "source",
    [
        EXAM,
        EXAM.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + EXAM,
        b"\n\n" + EXAM.rstrip(),
        b"# nothing but a comment",
        b"rubbish: [",
        b"\x00\x01\x02",
        b"- a\n- list\n",
        b"questions: [{}, 5, [a]]\n",
        CAMPUS.read_bytes(),
    ],
)
def test_a_file_comes_back_as_it_went_in_and_every_page_shows_it(ada: FlaskClient, source: bytes) -> None:
    key = draft(ada, source)
    assert read_draft(ada, key) == source
    for path in (
        "",
        "?edit=0",
        "?edit=99",
        "?remove=1",
        "/settings",
        "/yaml",
        "/preview",
        "/try?people=5",
        "/publish",
        "/delete",
    ):
        answer = ada.get(f"/console/drafts/{key}{path}")
        assert answer.status_code in (200, 302), path
    text = source.decode("utf-8-sig")
    page = ada.get(f"/console/drafts/{key}/yaml").text
    shown = unescape(page.partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0])
    assert shown.replace("\r\n", "\n") == text.replace("\r\n", "\n")
    post(
        ada,
        f"/console/drafts/{key}/yaml",
        source=text.replace("\r\n", "\n").replace("\n", "\r\n"),
        stamp=stamp(ada, key),
    )
    assert read_draft(ada, key) == source


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff\xfe\x00", id="no UTF-8"),
        pytest.param(b"#" * (LARGEST_FILE + 1), id="too large"),
    ],
)
def test_a_file_that_cannot_be_a_draft_is_refused_with_a_reason(
    store: Store, ada: FlaskClient, source: bytes, golden: Golden
) -> None:
    assert upload(ada, source).headers["Location"] == "/console"
    page = ada.get("/console").text
    assert '<p class="said error">' in page
    golden(notices(page))
    assert store.drafts(find_user(store, "ada").key) == []


def test_a_megabyte_is_kept_and_more_is_shown_again_but_not_kept(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    whole = EXAM.decode() + "#" * (LARGEST_FILE - len(EXAM))
    assert post(ada, f"/console/drafts/{key}/yaml", source=whole, stamp=stamp(ada, key)).status_code == 302
    assert read_draft(ada, key) == whole.encode()
    answer = post(ada, f"/console/drafts/{key}/yaml", source=whole + "#", stamp=stamp(ada, key))
    assert answer.status_code == 409
    golden(notices(answer.text))
    assert whole + "#" in answer.text
    assert read_draft(ada, key) == whole.encode()


def test_the_server_takes_a_whole_file_for_the_console_only(app: Flask) -> None:
    chunk = b"x" * 100_000
    cookie = ("cookie", f"candor_session={cookie_of(signed_in(app))}")

    def status(path: str, chunks: int) -> int:
        with ThreadPoolExecutor(1) as fresh:  # the browser's tests leave a loop running in this thread
            return fresh.submit(ask, app, scope("POST", path, cookie), *[chunk] * chunks).result().status

    assert status("/console/drafts/1/yaml", 10) == 400  # it was read, and has no token
    assert status("/console/drafts/1/yaml", 50) == 413
    assert status("/login", 10) == 413


# nothing is lost


def test_what_is_typed_is_kept_even_if_it_is_wrong(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    change(ada, key, "save:4", 4, min="many", max="few", unit=EVIL, epsilon="-1", weight="2")
    post(ada, f"/console/drafts/{key}/settings", epsilon="lots", closes="whenever", slug="NOT A SLUG")
    page = ada.get(f"/console/drafts/{key}?edit=4").text
    for typed in ("many", "few", "-1"):
        assert f'value="{typed}"' in page
    assert part(page, "q4-min-error")
    assert page.count("<li data-field=") >= 3
    golden(page_text(page, '<div id="problems">', "</section>"))
    page = ada.get(f"/console/drafts/{key}/settings").text
    for typed in ("lots", "whenever", "NOT A SLUG"):
        assert f'value="{typed}"' in page
    assert 'type="text" name="closes"' in page


def test_a_broken_file_is_kept_and_its_line_is_named(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    broken = "title: [oops\n" + EXAM.decode()
    post(ada, f"/console/drafts/{key}/yaml", source=broken, stamp=stamp(ada, key))
    assert read_draft(ada, key) == broken.encode()
    assert ada.get(f"/console/drafts/{key}").headers["Location"].endswith("/yaml")
    page = ada.get(f"/console/drafts/{key}/yaml").text
    assert re.findall(r' data-line="(\d+)"', page) == ["3"]
    assert "[oops" in page
    golden(page_text(page, '<div id="problems">', "</section>"))


def test_two_windows_do_not_overwrite_each_other(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    old = stamp(ada, key)
    change(ada, key, "up:1")
    before = read_draft(ada, key)
    post(ada, f"/console/drafts/{key}", stamp=old, do="delete:0")
    assert read_draft(ada, key) == before
    page = ada.get(f"/console/drafts/{key}").text
    assert '<p class="said error">' in page
    golden(notices(page), "a button")
    post(ada, f"/console/drafts/{key}", stamp=old, do="save:0", question="0", was="cheated", text="Did you really?")
    moved = edits.read_content(read_draft(ada, key)).questions[1]
    assert isinstance(moved, dict)
    assert moved["text"] == "Did you really?"
    lost = post(ada, f"/console/drafts/{key}", stamp=old, do="save:0", question="0", was="gone", text="My long text")
    assert lost.status_code == 409
    assert "My long text" in lost.text
    golden(page_text(lost.text), "a question")
    text = post(ada, f"/console/drafts/{key}/yaml", stamp=old, source="title: mine\n")
    assert text.status_code == 409
    assert "title: mine" in text.text
    golden(notices(text.text), "the file")
    assert b"title: mine" not in read_draft(ada, key)
    fresh = re.search(r'name="stamp" value="(\w+)"', text.text)
    assert fresh is not None
    post(ada, f"/console/drafts/{key}/yaml", stamp=fresh[1], source="title: mine\n")
    assert read_draft(ada, key) == b"title: mine\n"


def test_what_another_window_changed_is_not_overwritten_without_a_question(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    pages = {path: ada.get(f"/console/drafts/{key}{path}").text for path in ("?edit=0", "/settings")}
    own = {path: re.findall(r'name="own" value="(\w+)"', page)[0] for path, page in pages.items()}
    change(ada, key, "save:0", 0, text="Theirs?")
    post(ada, f"/console/drafts/{key}/settings", title="Theirs")
    before = read_draft(ada, key)
    question = {"question": "0", "was": "cheated", "do": "save:0", "text": "Mine?", "stamp": "old"}
    answers = {
        "?edit=0": post(ada, f"/console/drafts/{key}", own=own["?edit=0"], **question),
        "/settings": post(ada, f"/console/drafts/{key}/settings", own=own["/settings"], title="Mine"),
    }
    assert read_draft(ada, key) == before
    fresh = {}
    for path, answer in answers.items():
        assert answer.status_code == 409
        assert "Mine" in answer.text
        golden(notices(answer.text), path)
        fresh[path] = re.findall(r'name="own" value="(\w+)"', answer.text)[0]
    assert post(ada, f"/console/drafts/{key}", own=fresh["?edit=0"], **question).status_code == 302
    assert post(ada, f"/console/drafts/{key}/settings", own=fresh["/settings"], title="Mine").status_code == 302
    assert b"title: Mine\n" in read_draft(ada, key)
    assert b"text: Mine?," in read_draft(ada, key)
    post(ada, f"/console/drafts/{key}/yaml", source="broken: [", stamp=stamp(ada, key))
    lost = post(ada, f"/console/drafts/{key}", **question)
    assert lost.status_code == 409
    assert "text: Mine?" in lost.text
    assert post(ada, f"/console/drafts/{key}/settings", title="Mine again").status_code == 409


def open_form(page: str) -> dict[str, list[str]]:
    """What a browser without scripts sends when a button of the open question is pressed, but for the button."""
    form = page.partition('<form id="open"')[2].partition("</form>")[0]
    sent: dict[str, list[str]] = {}
    for tag, text in re.findall(r"<(input[^>]*|textarea[^>]*)>(?:\n([^<]*)</textarea>)?", form):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and ("checkbox" not in tag or "checked" in tag):
            sent.setdefault(name[1], []).append(unescape(value[1] if value else text))
    return sent


@pytest.mark.parametrize("do", ["add:choice", "up:1", "copy:1", "open:1", "remove:1", "delete:1"])
def test_every_button_of_the_page_saves_the_open_question_first(ada: FlaskClient, do: str) -> None:
    key = draft(ada, EXAM + b"  - {id: fair, type: yes_no, text: Was it fair?}\nepsilon: 4\n")
    page = ada.get(f"/console/drafts/{key}?edit=0").text
    buttons = re.findall(r'<button[^>]*form="(\w+)" name="do" value="([\w:]+)"', page)
    assert (do, "open") in {(value, form) for form, value in buttons} or do == "delete:1"
    assert {form for form, _ in buttons} == {"open"}, "no button leaves behind what is typed"
    done = post(ada, f"/console/drafts/{key}", **open_form(page) | {"do": do, "text": "Honestly?"})
    assert done.status_code == 302
    assert b"text: Honestly?" in read_draft(ada, key)
    others = {"add:choice": 3, "copy:1": 3, "delete:1": 1}.get(do, 2)
    assert len(edits.read_content(read_draft(ada, key)).questions) == others
    assert ("edit=1" in done.headers["Location"]) == (do == "open:1")
    assert ("remove=1" in done.headers["Location"]) == (do == "remove:1")


def test_with_another_window_in_between_the_open_question_is_saved_and_no_other_touched(
    ada: FlaskClient, golden: Golden
) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    page = ada.get(f"/console/drafts/{key}?edit=0").text
    change(ada, key, "up:3")
    order = [one["id"] for one in edits.read_content(read_draft(ada, key)).questions if isinstance(one, dict)]
    post(ada, f"/console/drafts/{key}", **open_form(page) | {"do": "delete:2", "text": "Honestly?"})
    assert order == [one["id"] for one in edits.read_content(read_draft(ada, key)).questions if isinstance(one, dict)]
    assert b"Honestly?" in read_draft(ada, key)
    golden(notices(ada.get(f"/console/drafts/{key}").text))


def test_a_new_question_has_placeholders_and_is_no_error_before_somebody_writes_or_publishes_it(
    ada: FlaskClient, golden: Golden
) -> None:
    key = draft(ada, EXAM)
    change(ada, key, "add:multiple")
    page = ada.get(f"/console/drafts/{key}?edit=1&focus=1").text
    form = open_form(page)
    assert (form["text"], form["options"]) == ([""], [""])
    assert "autofocus" in page.partition('name="text"')[2].partition(">")[0]
    assert 'placeholder="' in page.partition('name="options"')[2].partition(">")[0]
    assert '<section class="notice faults calm"' in page and part(page, "q1-text-error")
    assert (
        "faulty" not in page and 'aria-invalid="true"' not in page and 'class="error calm" id="q1-text-error"' in page
    )
    golden(page_text(page, '<div id="problems">', "</section>"), "written")
    assert publish(ada, key).status_code == 409
    page = ada.get(f"/console/drafts/{key}/publish").text
    assert '<section class="notice faults"' in page
    golden(page_text(page, '<div id="problems">', "</section>"), "published")
    change(ada, key, "save:1", 1, options="a")
    page = ada.get(f"/console/drafts/{key}?edit=1").text
    assert '<section class="notice faults"' in page and 'data-faults="1"' in page
    assert "faulty" in page and 'aria-invalid="true"' in page and "error calm" not in page


def test_a_condition_is_ticked_from_the_answers_of_an_earlier_question(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM + b"  - {id: why, type: yes_no, text: Why?}\nepsilon: 4\n")
    path = f"/console/drafts/{key}"
    page = ada.get(f"{path}?edit=1").text
    condition = page.partition('name="show_if"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="(\w*)"', condition) == ["", "cheated"]
    golden(page_text(f"<p{condition}"), "choices")
    post(ada, path, **open_form(page) | {"do": "save:1", "show_if": "cheated"})  # without scripts, saving lists them
    page = ada.get(f"/console/drafts/{key}?edit=1").text
    assert part(page, "q1-show_if-error")
    golden(part(page, "q1-show_if-error"), "none ticked")
    assert re.findall(r'type="checkbox" name="show_if_is" value="(\w+)"', page) == ["yes", "no"]
    post(ada, path, **open_form(page) | {"do": "save:1", "show_if": "cheated", "show_if_is": ["", "yes"]})
    assert b"show_if: {question: cheated, is: [yes]}" in read_draft(ada, key)
    page = ada.get(f"/console/drafts/{key}?edit=1").text
    assert 'name="show_if_is" value="yes" checked' in page
    typed = read_draft(ada, key).replace(b"is: [yes]", b"is: [Yes]").decode()
    post(ada, f"/console/drafts/{key}/yaml", source=typed, stamp=stamp(ada, key))
    page = ada.get(f"/console/drafts/{key}?edit=1").text
    golden(part(page, "q1-show_if-error"), "no answer")
    ticks = page.partition('<fieldset class="ticks"')[2].partition("</fieldset>")[0]
    assert re.findall(r'name="show_if_is" value="(\w+)"( checked)?', ticks) == [
        ("yes", ""),
        ("no", ""),
        ("Yes", " checked"),
    ]
    golden(page_text(f"<p{ticks}"), "ticks")


def test_a_language_is_chosen_from_a_list_that_begins_with_ours(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    page = ada.get(f"/console/drafts/{key}/settings").text
    options = re.findall(r'<option value="([^"]*)"', page.partition('id="s-language"')[2].partition("</select>")[0])
    assert options[:4] == ["", "de", "es", "fr"]
    assert "Deutsch" in page
    post(ada, f"/console/drafts/{key}/settings", language="", language_tag="English")
    wrong = part(ada.get(f"/console/drafts/{key}/settings").text, "s-language-error")
    assert wrong
    golden(wrong)
    post(ada, f"/console/drafts/{key}/settings", language="English", language_tag="pt-BR")
    assert b"language: pt-BR" in read_draft(ada, key)


def test_checking_saves_nothing(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    path = f"/console/drafts/{key}/check"
    found = post(ada, path, stamp=stamp(ada, key), question="4", was="hours", max="-5")
    assert 'data-field="q4-max"' in found.text
    golden(page_text(found.text, '<div id="problems">', "</section>"), "a question")
    assert "ε = 2" in post(ada, path, epsilon="2", ask="").text.replace("\xa0", " ")
    broken = post(ada, path, source="x: [").text
    assert 'data-field="s-"' in broken
    golden(page_text(broken, '<div id="problems">', "</section>"), "the file")
    assert read_draft(ada, key) == CAMPUS.read_bytes()


@pytest.mark.parametrize(
    "do", ["", "up", "up:x", "add:", "add:essay", "explode:1", "up:99999999", "delete:7", "copy:5"]
)
def test_a_button_that_is_none_changes_nothing(ada: FlaskClient, do: str) -> None:
    key = draft(ada, EXAM)
    assert change(ada, key, do).status_code in (400, 409)
    assert read_draft(ada, key) == EXAM


# large surveys


def large(questions: int, options: int) -> bytes:
    kinds = (
        "yes_no",
        "choice, options: [a, b, c]",
        "scale, points: [a, b, c]",
        "multiple, options: [a, b]",
        "number, min: 0, max: 9",
    )
    lines = [f"  - {{id: q{i}, text: Question number {i}?, type: {kinds[i % 5]}}}\n" for i in range(questions)]
    lines += [
        "  - id: many\n    type: choice\n    text: Which?\n    options:\n",
        *(f"      - Option {i}\n" for i in range(options)),
    ]
    return ("slug: exam\ntitle: Large\nepsilon: 8\nquestions:\n" + "".join(lines)).encode()


@pytest.mark.slow
def test_a_hundred_questions_and_a_thousand_options_stay_handy(ada: FlaskClient) -> None:
    key = draft(ada, large(99, 1000))
    for path, most in (("", 133_000), ("?edit=99", 160_000), ("/yaml", 100_000), ("/publish", 200_000)):
        answer = ada.get(f"/console/drafts/{key}{path}")
        assert answer.status_code == 200
        assert len(answer.data) < most, path
    change(ada, key, "move:99", 99, to="1", options="\n".join(f"Option {i}" for i in range(1000)) + "\nOne more")
    first = edits.read_content(read_draft(ada, key)).questions[0]
    assert isinstance(first, dict)
    assert len(first["options"]) == 1001
    page = ada.get(f"/console/drafts/{key}").text
    assert f'href="/console/drafts/{key}?plan=all#s-ask"' in page
    assert 'class="need"' in page.partition('id="ask-auto"')[2].partition("</label>")[0], (
        "the three ways are compared at once"
    )


def test_a_draft_that_is_gone_says_so(store: Store, ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    with pytest.raises(StoreError):
        store.save_draft(find_user(store, "eve").key, b"mine now", key)
    assert post(ada, f"/console/drafts/{key}/delete").headers["Location"] == "/console"
    answer = ada.get(f"/console/drafts/{key}")
    assert answer.status_code == 404
    golden(page_text(answer.text))


def test_a_moment_for_a_second_phase_is_not_dropped_in_silence(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    path = f"/console/drafts/{key}/settings"
    refused = post(ada, path, invitations="", invitations_from="2099-01-01T00:00")
    assert refused.status_code == 409
    golden(notices(refused.text))
    assert 'value="2099-01-01T00:00"' in refused.text
    assert post(ada, path, invitations="phases", invitations_from="2099-01-01T00:00").status_code == 302
    assert post(ada, path, invitations="", invitations_from="2099-01-01T00:00").status_code == 302  # as it was shown
    assert "invitations" not in ada.get(f"/console/drafts/{key}/yaml").text.partition("<textarea")[2]
