"""`invitations:` in an author's file: who may answer, from when, and who invites."""

import pytest

from survey_app.authoring import BuiltSurvey, build
from survey_app.authoring.invitation_terms import format_modulus
from survey_app.authoring.yaml_source import AuthoringError
from tests.golden_files import Golden
from tests.ticket_surveys import key

KEY = format_modulus(key().modulus)
HERE = "https://council.example"


def written(*lines: str) -> BuiltSurvey:
    file = "slug: exam\ntitle: Exam\nepsilon: 2\nquestions:\n  - {id: cheated, type: yes_no, text: Did you?}\n"
    return build((file + "\n".join(lines)).encode())


@pytest.mark.parametrize("said", ["true", "yes", "{}", "{from: 2026-12-10T00:00Z}"])
def test_this_server_invites_and_makes_the_key_later(said: str) -> None:
    built = written(f"invitations: {said}")
    assert built.needs_key and built.invitations is not None and built.survey.tickets is None
    whole = built.invitations.complete(built.survey, KEY)
    assert whole.tickets is not None and whole.tickets.key == key().modulus and whole.tickets.issuer == ""
    assert whole.slug == "exam" and whole.digest != built.survey.digest
    with pytest.raises(AuthoringError) as error:
        built.invitations.complete(built.survey)
    assert (error.value.path, error.value.code) == ("invitations", "no_key_yet")


@pytest.mark.parametrize("said", ["false", "no"])
def test_anybody_may_answer(said: str) -> None:
    built = written(f"invitations: {said}")
    assert not built.needs_key and built.invitations is None
    assert built.survey == written().survey


def test_another_server_invites_with_its_own_key() -> None:
    built = written(f"invitations: {{issuer: '{HERE}', key: {KEY}, from: '2026-12-10T01:00+01:00'}}")
    assert not built.needs_key and built.survey.tickets is not None
    assert (built.survey.tickets.issuer, built.survey.tickets.key) == (HERE, key().modulus)
    assert b'"from":"2026-12-10T00:00Z"' in built.survey.source, "as definitions write it"


MISTAKES = [
        (["invitations: perhaps"], "invitations", "not_boolean"),
        (["invitations: [true]"], "invitations", "not_a_mapping"),
        (["invitations: {until: 2026-12-10T00:00Z}"], "invitations.until", "unknown_key"),
        ([f"invitations: {{issuer: '{HERE}'}}"], "invitations", "issuer_without_key"),
        ([f"invitations: {{key: {KEY}}}"], "invitations", "issuer_without_key"),
        ([f"invitations: {{issuer: '{HERE}/', key: {KEY}}}"], "invitations.issuer", "bad_value"),
        ([f"invitations: {{issuer: 'http://council.example', key: {KEY}}}"], "invitations.issuer", "plain_http"),
        ([f"invitations: {{issuer: '{HERE}', key: {KEY[:-1]}}}"], "invitations.key", "bad_value"),
        (["invitations: {from: tomorrow}"], "invitations.from", "not_a_timestamp"),
        (["invitations: {from: 2026-12-10T00:00:30Z}"], "invitations.from", "not_a_minute"),
        (["closes: 2026-12-10T00:00Z", "invitations: {from: 2026-12-10T00:00Z}"], "invitations.from", "bad_order"),
        (["opens: 2026-12-11T00:00Z", "invitations: {from: 2026-12-10T00:00Z}"], "invitations.from", "bad_order"),
        (["max_reports: 40", "invitations: true"], "max_reports", "not_with_invitations"),
        (["groups: {a: {}, b: {}}", f"invitations: {{issuer: '{HERE}', key: {KEY}}}"], "invitations", "groups_with_issuer"),
]  # fmt: skip


def refusal(*lines: str) -> AuthoringError:
    with pytest.raises(AuthoringError) as error:
        written(*lines)
    return error.value


@pytest.mark.parametrize(("lines", "path", "code"), MISTAKES)
def test_what_cannot_be_is_told_with_its_line(lines: list[str], path: str, code: str) -> None:
    line = 6 + [path.split(".")[0] in line for line in lines].index(True)
    error = refusal(*lines)
    assert (error.path, error.line, error.code) == (path, line, code)


def test_what_cannot_be_in_words(golden: Golden) -> None:
    golden("\n".join(f"{lines[-1].replace(KEY[:-1], 'KEY')}\n    {refusal(*lines)}" for lines, *_ in MISTAKES))


def test_every_group_of_a_study_is_by_invitation() -> None:
    built = written("groups: {a: {}, b: {}}", "invitations: true")
    assert built.needs_key and len(built.surveys) == 2
