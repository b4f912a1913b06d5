"""Reading a list: strictly, with lines; and nothing in it can become a header."""

import re

import pytest

from survey_app.invitations.mail.recipients import ListError, Person, normalize_address, read_recipients
from tests.golden_files import Golden


def test_a_list_is_read_however_a_spreadsheet_writes_it() -> None:
    people = [Person("Ada Łovelace", "ada@example.org"), Person("", "bob@xn--mnchen-3ya.example")]
    for text in (
        "name,email\nAda Łovelace,ada@example.org\n,bob@münchen.example\n",
        "\ufeffEmail; Name ;age\r\nada@example.org;Ada Łovelace;36\r\nbob@MÜNCHEN.example;;\r\n;;\r\n",
        'name\temail\n"Ada Łovelace"\tada@example.org\n\tbob@münchen.example\n',
    ):
        assert read_recipients(text.encode()).people == people


def test_an_address_that_stands_twice_gets_one_message_and_is_told(golden: Golden) -> None:
    found = read_recipients(b"name,email\nAda,ada@example.org\nBob,bob@example.org\nAda L,Ada@Example.org\n")
    assert [person.name for person in found.people] == ["Ada", "Bob"]
    (duplicate,) = found.duplicates
    assert re.findall(r"line (\d+)", duplicate) == ["4", "2"] and "Ada@Example.org" in duplicate
    golden(duplicate)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", 1),
        (b"name,mail\nAda,ada@example.org\n", 1),
        (b"email,email\n", 1),
        (b"name,email\nAda\n", 2),
        (b"name,email\nAda,\xe4@example.org\n", 2),
        (b"name,email\nAda,\n", 2),
        (b'name,email\n"Ada\nBcc: eve@example.org",ada@example.org\n', 3),
        (b"name,email\nAda,ada@example.org\nEve,eve\n", 3),
    ],
    ids=["empty", "no-email", "column-twice", "columns", "encoding", "no-address", "name", "address"],
)
def test_what_is_wrong_with_a_list_is_told_with_its_line(text: bytes, line: int, golden: Golden) -> None:
    with pytest.raises(ListError) as caught:
        read_recipients(text)
    assert str(caught.value).startswith(f"line {line}: ")
    golden(caught.value)


def test_a_quote_that_never_ends_is_told_with_its_line() -> None:
    with pytest.raises(ListError) as caught:
        read_recipients(b'name,email\nAda,"ada@example.org\n')
    assert str(caught.value).startswith("line 2: ")  # the rest is in the words of Python


def test_a_list_of_nobody_is_refused(golden: Golden) -> None:
    with pytest.raises(ListError) as caught:
        read_recipients(b"name,email\n")
    golden(caught.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ListError) as error:
        read_recipients(b"name,email\nAda,ada@\nBob,bob@example.org\nEve,@example.org\n")
    assert [line.partition(":")[0] for line in str(error.value).splitlines()] == ["line 2", "line 4"]


@pytest.mark.parametrize(
    "text",
    ["ada", "@b.c", "a@", "a b@c.d", "a@b@c", "a@-b.c", "a@b..c", "a@b.", "a..b@c.d", ".a@c.d", "a@c.d\nBcc: e@f.g",
     "<a@b.c>", "a,b@c.d", 'a"@c.d', "a@b_c d", f"{'a' * 65}@c.d", f"a@{'b' * 64}.c", "a\u200b@c.d"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        normalize_address(text)


def test_addresses_of_the_world_are_taken() -> None:
    for text in ("ada+exam@example.org", "jürgen@example.org", "o'neil@a-b.example", "x@localhost"):
        assert normalize_address(text) == text
    assert normalize_address("用户@例子.example") == "用户@xn--fsqu00a.example"
