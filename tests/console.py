"""Helpers for the console's forms: press a button, send a file, read the draft."""

import hashlib
import re
from typing import Any

from flask.testing import FlaskClient
from playwright.sync_api import Page
from werkzeug.test import TestResponse

from tests.browser import Site, Visit
from tests.fixtures import phrase
from tests.golden_files import page_text
from tests.sign_in import csrf

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}"

EXAM = b"""\
# kept
slug: exam
title: Exam honesty
results: public
questions:
  - {id: cheated, type: yes_no, text: Did you copy?, design: coin}  # kept too
"""


def post(browser: FlaskClient, path: str, **fields: Any) -> TestResponse:
    return browser.post(path, data={"csrf_token": csrf(browser, "/account"), **fields})


def upload(browser: FlaskClient, source: bytes) -> TestResponse:
    parts = {
        'name="csrf_token"': csrf(browser, "/account").encode(),
        'name="start"': b"upload",
        'name="file"; filename="x.yaml"': source,
    }
    lines = [
        b"--edge\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (name.encode(), body)
        for name, body in parts.items()
    ]
    return browser.post(
        "/console", data=b"".join(lines) + b"--edge--\r\n", content_type="multipart/form-data; boundary=edge"
    )


def key_of(answer: TestResponse) -> int:
    found = re.match(r"/console/drafts/(\d+)", answer.headers["Location"])
    assert found is not None, answer.headers["Location"]
    return int(found[1])


def draft(browser: FlaskClient, source: bytes) -> int:
    return key_of(upload(browser, source))


def read_draft(browser: FlaskClient, key: int) -> bytes:
    answer = browser.get(f"/console/drafts/{key}/file.yaml")
    assert answer.status_code == 200
    return bytes(answer.data)


def stamp(browser: FlaskClient, key: int) -> str:
    return hashlib.sha256(read_draft(browser, key)).hexdigest()[:16]


def change(browser: FlaskClient, key: int, do: str, place: int | None = None, **fields: str) -> TestResponse:
    """Press a button of the editor; with a place, in the form of that open question."""
    if place is not None:
        fields |= {"question": str(place)}
    return post(browser, f"/console/drafts/{key}", stamp=stamp(browser, key), do=do, **fields)


def publish(browser: FlaskClient, key: int, **fields: str) -> TestResponse:
    page = browser.get(f"/console/drafts/{key}/publish").text
    found = re.search(r'name="digest" value="(\w{64})"', page)
    return post(browser, f"/console/drafts/{key}/publish", digest=found[1] if found else "", **fields)


NOTICES = re.compile(r'<(div|p)[^>]*(?:id="said"|role="alert")[^>]*>(.*?)</\1>', re.DOTALL)


def notices(page: str) -> str:
    """Return the messages of a page: what was done, and what was refused."""
    return "\n".join(filter(None, (page_text(text) for _, text in NOTICES.findall(page))))


def part(page: str, id: str) -> str:
    """Return the words of the element with an id, which holds no other element of its kind."""
    found = re.search(rf'<(\w+)[^>]* id="{id}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    assert found is not None, id
    return page_text(found[2])


def actions(page: str) -> set[str]:
    """Return the last words of the addresses that forms of a page post to: open, pause, terms."""
    return {path.rpartition("/")[2] for path in re.findall(r'<form[^>]* action="/console/([^"?]+)', page)}


def read_log(browser: FlaskClient, path: str = "/console/exam") -> list[str]:
    """Return the codes of the log of a survey, the newest entry first."""
    table = browser.get(path).text.partition('class="log"')[2].partition("</table>")[0]
    return re.findall(r'<td data-code="(\w+)"', table)


def sign_in_by_keyboard(device: Visit, site: Site) -> Page:
    page = device.open(f"{site.origin}/console")
    page.fill("#name", "ada")
    page.fill("#password", phrase("ada"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.origin}/console")
    return page


WRITTEN = {
    "Yes or no": {},
    "Single choice": {"options": "red\ngreen"},
    "Scale": {"points": "low\nhigh"},
    "Multiple choice": {"options": "red\ngreen\nblue"},
    "Number": {"min": "0", "max": "100"},
}


def write_all_types(page: Page) -> None:
    """Add a question of every type to a draft that has none."""
    page.wait_for_selector("text=No questions yet")
    for place, (name, fields) in enumerate(WRITTEN.items()):
        press(page, name)
        page.wait_for_selector(f"#q{place}.open textarea:focus")  # one types at once
        page.keyboard.type(f"{name}, really?")
        for field, text in fields.items():
            page.fill(f"#q{place}-{field}", text)


def complaints(device: Visit) -> list[str]:
    return [one for one in device.complaints if "status of 404" not in one]


def press(page: Page, name: str) -> None:
    """Reach a button by the keyboard and press it."""
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")
