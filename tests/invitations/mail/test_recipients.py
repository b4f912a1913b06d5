"""Reading a list: strictly, with lines; and nothing in it can become a header."""

import pytest

from survey_app.invitations.mail.recipients import ListError, Person, normalize_address, read_recipients


def test_a_list_is_read_however_a_spreadsheet_writes_it() -> None:
    people = [Person("Ada Łovelace", "ada@example.org"), Person("", "bob@xn--mnchen-3ya.example")]
    for text in (
        "name,email\nAda Łovelace,ada@example.org\n,bob@münchen.example\n",
        "\ufeffEmail; Name ;age\r\nada@example.org;Ada Łovelace;36\r\nbob@MÜNCHEN.example;;\r\n;;\r\n",
        'name\temail\n"Ada Łovelace"\tada@example.org\n\tbob@münchen.example\n',
    ):
        assert read_recipients(text.encode()).people == people


def test_an_address_that_stands_twice_gets_one_message_and_is_told() -> None:
    found = read_recipients(b"name,email\nAda,ada@example.org\nBob,bob@example.org\nAda L,Ada@Example.org\n")
    assert [person.name for person in found.people] == ["Ada", "Bob"]
    assert found.duplicates == ["line 4: Ada@Example.org stands on line 2 already, and gets one message"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "line 1: the first line names the columns"),
        (b"name,mail\nAda,ada@example.org\n", "one of them is email"),
        (b"email,email\n", "twice"),
        (b"name,email\n", "nobody on this list"),
        (b"name,email\nAda\n", "line 2: it has 1 columns, and the first line 2"),
        (b'name,email\nAda,"ada@example.org\n', "line 2: unexpected end"),
        (b"name,email\nAda,\xe4@example.org\n", "line 2: this is not UTF-8"),
        (b"name,email\nAda,\n", "line 2: the address is missing"),
        (b'name,email\n"Ada\nBcc: eve@example.org",ada@example.org\n', "line 3: a name has at most"),
        (b"name,email\nAda,ada@example.org\nEve,eve\n", "line 3: 'eve' is not an address"),
    ],
)
def test_what_is_wrong_with_a_list_is_told_with_its_line(text: bytes, said: str) -> None:
    with pytest.raises(ListError, match=said.replace("(", r"\(")):
        read_recipients(text)


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
