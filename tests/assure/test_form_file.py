"""The form as a file: the same bytes everywhere, a changed one found, and a survey answered from disk or elsewhere."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser, expect

from candor_client.definition import Survey
from candor_client.version import __version__
from survey_app.assure.form_file import FormFileError, build_form_file, check_file, describe_difference
from survey_app.cli import main
from survey_app.web.form.form_page import build_file
from tests.browser import PHONE, ROOT, Site, Visit, overflows, violations, visit
from tests.definitions import COIN, define, encode, field, survey, yes_no
from tests.display_survey import study
from tests.form_browser import YES, all_types_survey, fill, option, randomize, send, shown_bytes, text, title
from tests.golden_files import Golden
from tests.javascript import Files
from tests.translated_survey import add_translations
from tests.words import word

SERVER = "https://survey.example.org"
CODE = "a-code-of-22-characters"


def made(definition: bytes, server: str = SERVER) -> bytes:
    return build_file(definition, server)


def check(data: bytes) -> str:
    """Where the file differs from what is made again."""
    return check_file(data, lambda found, server: made(found.source, server)).difference


# the bytes


def test_every_machine_makes_the_same_file(tmp_path: Path) -> None:
    """Two processes with other seeds of hashes, other languages, other clocks, in other folders."""
    source = tmp_path / "exam.json"
    source.write_bytes(encode(add_translations(study(), de="«de»", ar="«ع»")))
    files = []
    for name, seed, language, zone in (("one", "1", "C", "Asia/Tokyo"), ("two", "2", "de_DE.UTF-8", "America/Lima")):
        folder = tmp_path / name
        folder.mkdir()
        environment = {
            "PYTHONHASHSEED": seed, "LC_ALL": language, "LANG": language, "TZ": zone, "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
        }  # fmt: skip
        words = ["form", str(source), "--server", SERVER, "-o", "form.html"]
        command = [sys.executable, "-c", "from survey_app.cli import main; main()", *words]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        files.append((folder / "form.html").read_bytes())
    assert files[0] == files[1] == made(source.read_bytes())


def test_a_changed_byte_is_found_wherever_it_is() -> None:
    whole = made(encode(all_types_survey()))
    assert check(whole) == ""
    inside = whole.index(b'id="definition">'), whole.rindex(b'<script type="module">')
    for at in (*range(0, len(whole), len(whole) // 97), len(whole) - 1):
        other = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        with suppress(FormFileError):  # if it can no longer be read
            told = check(other)
            assert re.search(rf"\b{at + 1}\b", told) or ("#sha256=" in told and inside[0] < at < inside[1])
    assert re.search(rf"\b{len(whole) + 1}\b", check(whole + b"\n"))
    with pytest.raises(FormFileError) as caught:
        check(whole[:1000])
    assert caught.value.code == "not_a_form"


def test_another_definition_makes_another_file_and_a_forged_one_is_refused(golden: Golden) -> None:
    whole = made(encode(all_types_survey()))
    other = made(encode(all_types_survey(title="Anything")))
    assert check(other) == "" and other != whole, "the digests tell them apart, and --check prints them"
    assert "#sha256=" in check(whole.replace(b"Did you copy?", b"Did you cheat?"))
    for code, data in {
        "bad_definition": whole.replace(rb"\"kind\":\"flip\"", rb"\"kind\":\"none\""),
        "other_survey": whole.replace(f"{SERVER}/s/exam".encode(), f"{SERVER}/s/other".encode()),
        "not_a_form": b"\xff\xfe",
    }.items():
        with pytest.raises(FormFileError) as caught:
            check(data)
        assert caught.value.code == code
        golden(caught.value, code)


@pytest.mark.parametrize(
    "server", ["example.org", "https://example.org/", "https://a b", "https://a'; x", "ftp://a", ""]
)
def test_a_server_is_an_address_and_nothing_else(server: str) -> None:
    with pytest.raises(FormFileError) as caught:
        made(encode(all_types_survey()), server)
    assert caught.value.code == "bad_server"


def test_nothing_in_it_can_end_a_block_or_reach_anybody_else(golden: Golden) -> None:
    hostile = "</script><script>alert(1)</script><!-- \"'>"
    page = made(encode(define([yes_no(text=hostile)], [field(COIN, "cheated")], title=hostile))).decode()
    assert page.count("<script") == page.count("</script>") == 3
    assert "alert(1)</script>" not in page
    assert f"connect-src {SERVER}/api/surveys/exam/; form-action 'none'" in page
    parts = {"script": "let a;", "style": "b {}", "mark": "<path/>"}
    for name in ("script", "style"):
        with pytest.raises(FormFileError) as caught:
            build_form_file(survey(all_types_survey()), SERVER, version="1", **(parts | {name: "</SCRIPT>"}))
        assert caught.value.code == "unsafe_part"
    golden(describe_difference(b"a\nbc", b"a\nbd"))


# the command


def candor(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_the_command_writes_and_checks(tmp_path: Path, golden: Golden) -> None:
    source, file = tmp_path / "exam.json", tmp_path / "form.html"
    source.write_bytes(encode(all_types_survey()))
    done = candor("form", str(source), "--server", f"{SERVER}/", "-o", str(file))
    assert done.exit_code == 0, done.output
    sums = hashlib.sha256(file.read_bytes()).hexdigest(), Survey.from_json(source.read_bytes()).digest
    assert all(one in done.output for one in (*sums, SERVER))
    again = candor("form", "--check", str(file))
    assert again.exit_code == 0 and all(one in again.output for one in (*sums, SERVER))
    golden(again.output.replace(__version__, "VERSION"), "check")
    assert candor("form", str(source), "-o", str(file)).exit_code == 1
    file.write_bytes(file.read_bytes().replace(b"Roll the dice", b"Roll the dyce"))
    wrong = candor("form", "--check", str(file))
    assert wrong.exit_code == 1 and "dyce" in wrong.output
    file.write_bytes(file.read_bytes().replace(f"Candor {__version__}".encode(), b"Candor 0.1"))
    old = candor("form", "--check", str(file))
    assert old.exit_code == 1 and "0.1" in old.output
    assert candor("form").exit_code == candor("form", "exam").exit_code == 2
    here = candor("form", str(source), "-o", str(file), "--force")
    assert here.exit_code == 0 and "http://127.0.0.1:8000" in here.stderr
    golden(f"{here.stdout}{here.stderr}", "local")


# in a browser


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Files]:
    """Another origin."""
    running = Files(tmp_path)
    yield running
    running.close()


def answer(device: Visit) -> str:
    """Answer everything, send it, and say what was sent."""
    fill(device.page)
    randomize(device.page)
    shown = shown_bytes(device.page)
    send(device.page)
    return shown


@pytest.mark.essential
def test_it_answers_from_disk_and_from_another_origin(
    site: Site, browser: Browser, elsewhere: Files, tmp_path: Path
) -> None:
    published = site.add(all_types_survey(description="A sample.", contact="ada@example.org"))
    with visit(browser, **PHONE, accept_downloads=True) as device:
        page = device.open(site.link(published))
        text(page, "trust").click()
        with page.expect_download() as download:
            text(page, "trust_file").click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.name == "exam.html"
        assert file.read_bytes() == made(published.survey.source, site.origin)
        told = page.locator("#foot code").all_inner_texts()
        assert told[:2] == [hashlib.sha256(file.read_bytes()).hexdigest(), published.survey.digest]
        assert told[2] == f'python -m candor_client "{site.link(published)}#sha256={published.survey.digest}"'
        assert violations(page) == [] and overflows(page) == []
        site.requests.clear()
        for address in (file.as_uri(), f"{elsewhere.origin}/exam.html"):
            page.goto(f"{address}#sha256={published.survey.digest}")
            device.settle()
            assert page.title() == "Everything" and "A sample." in device.text()
            expect(text(page, "budget")).to_contain_text("127.0.0.1")  # the server's host, not the file's
            shown = answer(device)
            assert site.requests_of()[-1].body.decode() == shown
            page.reload()
            expect(title(page, "answered")).to_be_visible()
            text(page, "file").click()
            assert page.locator("#foot code").all_inner_texts() == [published.survey.digest]
            assert violations(page) == [] and overflows(page) == []
            kept = page.evaluate("() => Object.values(JSON.parse(localStorage['candor-ledger/2']).ledger.entries)[0]")
            assert (kept["server"], kept["stored"]) == (site.origin, True)
        assert {(request.method, request.path) for request in site.requests} == {
            ("OPTIONS", "/api/surveys/exam/reports"),
            ("POST", "/api/surveys/exam/reports"),
        }
        assert len(site.stored_reports(published)) == 2
        assert not {"cookie", "referer"} & {name for request in site.requests for name in request.headers}
        assert device.complaints == []
        other = f"fetch('{elsewhere.origin}/exam.json').then(() => 'reached', () => 'refused')"
        page.goto(file.as_uri())
        assert page.evaluate(other) == "refused", "it talks to nobody else"


def test_a_ticket_is_taken_and_used_from_disk(site: Site, browser: Browser, tmp_path: Path) -> None:
    published = site.invite(CODE, definition=define([yes_no()], [field(COIN, "cheated")]))
    file = tmp_path / "form.html"
    file.write_bytes(made(published.survey.source, site.origin))
    with visit(browser) as device:
        page = device.page
        page.goto(f"{file.as_uri()}#code={CODE}")
        text(page, "ticket_take").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        assert page.url == file.as_uri(), "the code has left the address bar"
        text(page, "ticket_elsewhere").click()
        link = page.get_by_label(word("form.ticket_link")).first.input_value()
        assert link.startswith(f"{file.as_uri()}#ticket=")
        option(page, YES).check()
        randomize(page)
        send(page)
        assert len(site.stored_reports(published)) == 1
        assert not [
            request for request in site.requests_of() if "code" in request.path or CODE in request.body.decode()
        ]
        assert device.complaints == []


def test_another_file_on_the_disk_reads_charges_and_nothing_else(site: Site, browser: Browser, tmp_path: Path) -> None:
    """Browsers give all files one storage. What was made and not sent is in the page alone, and lost with it."""
    published = site.add(all_types_survey())
    file, attachment = tmp_path / "form.html", tmp_path / "mail" / "attachment.html"
    attachment.parent.mkdir()
    file.write_bytes(made(published.survey.source, site.origin))
    attachment.write_text("<!doctype html><title>Invoice</title>")
    with visit(browser) as device:
        page = device.page
        page.goto(file.as_uri())
        device.settle()
        expect(text(page, "file_memory")).to_be_visible()
        fill(page)
        randomize(page)
        report = json.loads(shown_bytes(page))
        spy = page.context.new_page()
        spy.goto(attachment.as_uri())
        stored = spy.evaluate("() => ({...localStorage})")
        (entry,) = json.loads(stored["candor-ledger/2"])["ledger"]["entries"].values()
        assert entry.keys() == {"slug", "study", "server", "epsilon", "day", "stored"}
        assert not [secret for secret in (report["id"], report["bits"]) if secret in json.dumps(stored)]
        spy.goto(file.as_uri())  # a second tab of the form
        expect(title(spy, "report_lost")).to_be_visible()
        assert spy.locator("form").count() == 0
        page.reload()
        expect(title(page, "report_lost")).to_be_visible()
        assert text(page, "send").count() == 0
        assert not site.requests_of(), "and nothing is sent"
        assert device.complaints == []


def test_a_ticket_in_a_file_is_in_the_page_alone(site: Site, browser: Browser, tmp_path: Path) -> None:
    published = site.invite(CODE, definition=define([yes_no()], [field(COIN, "cheated")]))
    file = tmp_path / "form.html"
    file.write_bytes(made(published.survey.source, site.origin))
    with visit(browser) as device:
        page = device.page
        page.goto(f"{file.as_uri()}#code={CODE}")
        text(page, "ticket_take").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        expect(text(page, "ticket_file")).to_be_visible()
        text(page, "ticket_elsewhere").click()
        link = page.get_by_label(word("form.ticket_link")).first.input_value()
        prefix = link.partition("#ticket=")[2].partition(".")[0]
        stored = page.evaluate("() => JSON.stringify({...localStorage})")
        assert not [secret for secret in (CODE, prefix) if secret in stored]
        page.goto("about:blank")
        page.goto(link)  # what was saved still answers
        text(page, "ticket_use").click()
        option(page, YES).check()
        randomize(page)
        send(page)
        assert len(site.stored_reports(published)) == 1


def test_a_file_that_is_not_the_pinned_survey_asks_nothing(site: Site, browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "form.html"
    file.write_bytes(made(encode(all_types_survey()), site.origin))
    with visit(browser) as device:
        device.page.goto(f"{file.as_uri()}#sha256={'0' * 64}")
        expect(title(device.page, "wrong_definition")).to_be_visible()
        assert device.page.locator("form").count() == 0
        assert not site.requests
