"""What belongs to somebody else is seen and changed by nobody, with whatever token."""

import json
import logging

import pytest
from flask import Flask

from survey_app.accounts import hash_secret, new_token
from survey_app.store import State, Store, StoreError
from tests.definitions import worked_example
from tests.fixtures import Installation, phrase
from tests.sign_in import (
    attempt,
    bearer_header,
    change,
    code_of,
    find_user,
    is_signed_in,
    report,
    response_text,
    signed_in,
    token_of,
    with_cookie,
)


def test_a_disabled_account_loses_sessions_and_tokens_at_once(app: Flask, store: Store) -> None:
    browser, token = signed_in(app), token_of(store, "ada")
    results, batch = "/api/surveys/exam/results", "/api/surveys/exam/reports/batch"
    assert browser.get(results).status_code == 200
    assert app.test_client().get(results, headers=bearer_header(token)).status_code == 200

    store.set_disabled(find_user(store, "ada"), True)
    assert not is_signed_in(browser)
    assert browser.get(results).status_code == 401
    assert app.test_client().get(results, headers=bearer_header(token)).status_code == 401
    assert app.test_client().post(batch, headers=bearer_header(token), data=report()).status_code == 401
    assert attempt(app.test_client(), "ada", phrase("ada")).status_code == 401


def test_a_reopened_account_signs_in_anew(app: Flask, store: Store) -> None:
    browser = signed_in(app)
    store.set_disabled(find_user(store, "ada"), True)
    store.set_disabled(find_user(store, "ada"), False)
    assert not is_signed_in(browser)
    signed_in(app)


def test_disabling_one_account_leaves_the_others_alone(app: Flask, store: Store) -> None:
    browser, token = signed_in(app, "eve"), token_of(store, "eve")
    store.set_disabled(find_user(store, "ada"), True)
    assert is_signed_in(browser)
    answer = app.test_client().get("/api/surveys/exam/results", headers=bearer_header(token))
    assert code_of(answer) == "forbidden"


# what belongs to somebody else


def test_private_results_are_for_their_owner_only(app: Flask, store: Store) -> None:
    results = "/api/surveys/exam/results"
    own = [
        signed_in(app).get(results),
        app.test_client().get(results, headers=bearer_header(token_of(store, "ada"))),
    ]
    for allowed in own:
        assert allowed.status_code == 200
        assert "survey" in json.loads(allowed.data)
        assert allowed.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in allowed.headers
    others = [
        signed_in(app, "eve").get(results),
        app.test_client().get(results, headers=bearer_header(token_of(store, "eve"))),
        signed_in(app).get(results, headers=bearer_header(token_of(store, "eve"))),
    ]
    assert [(refused.status_code, code_of(refused)) for refused in others] == [(403, "forbidden")] * 3
    assert code_of(app.test_client().get(results)) == "unauthorized"


def test_public_results_are_for_everyone(app: Flask) -> None:
    for browser in (app.test_client(), signed_in(app, "eve")):
        assert browser.get("/api/surveys/census/results").status_code == 200


def test_a_batch_is_taken_from_the_owners_token_only(app: Flask, store: Store) -> None:
    batch = "/api/surveys/exam/reports/batch"
    published = store.newest_version("exam")
    assert published is not None
    refusals = [
        (app.test_client().post(batch, data=report()), 401),
        (app.test_client().post(batch, data=report(), headers=bearer_header(token_of(store, "eve"))), 403),
        (signed_in(app).post(batch, data=report(), headers=bearer_header(token_of(store, "eve"))), 403),
        (signed_in(app, "eve").post(batch, data=report()), 401),
    ]
    for refused, status in refusals:
        assert refused.status_code == status
        assert code_of(refused) in ("unauthorized", "forbidden")
    taken = app.test_client().post(batch, data=report(), headers=bearer_header(token_of(store, "ada")))
    assert (taken.status_code, json.loads(taken.data)["stored"]) == (200, 1)
    store.set_state(published, State.CLOSED)
    closed = store.newest_version("exam")
    assert closed is not None
    assert store.recount(closed, lambda _: None)[0].reports == 1


def test_a_session_alone_sends_no_batch_since_another_site_could_ride_on_it(app: Flask) -> None:
    refused = signed_in(app).post("/api/surveys/exam/reports/batch", data=report())
    assert (refused.status_code, code_of(refused)) == (401, "unauthorized")


def test_a_slug_cannot_be_taken_over(app: Flask, installation: Installation) -> None:
    before = installation.store.surveys()
    with pytest.raises(StoreError):
        installation.publish(worked_example() | {"title": "Another exam"}, owner=installation.stranger.key)
    assert installation.store.surveys() == before and installation.store.owner_of("exam") == installation.owner.key


def test_a_survey_that_is_ready_looks_like_nothing_even_to_its_owner(app: Flask, store: Store) -> None:
    ready = store.newest_version("ready")
    assert ready is not None
    browser, headers = signed_in(app), bearer_header(token_of(store, "ada"))

    def answers(slug: str) -> list[tuple[int, bytes]]:
        place = f"/api/surveys/{slug}"
        found = [
            browser.get(f"/s/{slug}"),
            browser.get(place),
            browser.get(place, query_string={"digest": ready.survey.digest}),
            browser.get(f"{place}/results"),
            browser.get(f"{place}/results", headers=headers),
            browser.post(f"{place}/reports", data=report("ready")),
            browser.post(f"{place}/reports/batch", data=report("ready"), headers=headers),
        ]
        return [(response.status_code, response.data) for response in found]

    assert answers("ready") == answers("unknown")
    assert {status for status, _ in answers("ready")} == {404}


@pytest.mark.parametrize(
    "header",
    [
        "", "Bearer", "Bearer ", "Bearer  {}", "Bearer {} ", "Bearer {}x", "Bearer {swapped}", "Bearer {}=", "Bearer {},", "{}", "Basic {}", "Token {}",
        "Bearer {}, Bearer {}", "Bearer {} {}", "Bearer x{}", "BearerX {}", "Bearer ' or 1=1 --", "Bearer 0123456789012345678901234567890123456789012",
        "Bearer \xff", "Bearer " + "x" * 5000, "Basic YWRhOmNvcnJlY3QgaG9yc2Ugb2YgYWRh", "Bearer null", "Bearer *",
    ],
)  # fmt: skip
def test_a_header_that_carries_no_known_token_is_refused(app: Flask, store: Store, header: str) -> None:
    token = token_of(store, "ada")
    headers = {"Authorization": header.replace("{}", token).replace("{swapped}", token.swapcase())}
    for refused in (
        app.test_client().get("/api/surveys/exam/results", headers=headers),
        app.test_client().post("/api/surveys/exam/reports/batch", headers=headers, data=report()),
        signed_in(app).get("/api/surveys/exam/results", headers=headers),
    ):
        assert (refused.status_code, code_of(refused)) == (401, "unauthorized")
        assert token not in response_text(refused)


def test_the_hash_of_a_token_is_no_token(app: Flask, store: Store) -> None:
    stolen = hash_secret(token_of(store, "ada")).hex()
    assert app.test_client().get("/api/surveys/exam/results", headers=bearer_header(stolen)).status_code == 401


def test_a_token_counts_in_its_header_only(app: Flask, store: Store) -> None:
    token, browser = token_of(store, "ada"), app.test_client()
    for name in ("token", "access_token", "Authorization"):
        query = {name: f"Bearer {token}" if name == "Authorization" else token}
        assert browser.get("/api/surveys/exam/results", query_string=query).status_code == 401
    assert not is_signed_in(with_cookie(app, token))
    assert browser.get("/account", headers=bearer_header(token)).status_code == 302


def test_tokens_and_passwords_are_neither_logged_nor_sent_back(
    app: Flask, store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    revoked, others, unknown = token_of(store, "ada"), token_of(store, "eve"), new_token()
    browser = signed_in(app)
    said = [attempt(app.test_client(), name, phrase("eve")) for name in ("ada", "eve", "turing")]
    said.append(change(browser, phrase("ada"), "a new long password"))
    own = token_of(store, "ada")
    for token in (own, revoked, others, unknown):
        said.append(app.test_client().get("/api/surveys/exam/results", headers=bearer_header(token)))
        said.append(
            app.test_client().post("/api/surveys/exam/reports/batch", headers=bearer_header(token), data=report())
        )
        said.append(app.test_client().get("/nothing", headers=bearer_header(token)))

    def fail(*_: object) -> None:
        raise RuntimeError("the store is broken")

    monkeypatch.setattr(store, "snapshot", fail)
    broken = app.test_client().get("/api/surveys/exam/results", headers=bearer_header(own))
    assert (broken.status_code, code_of(broken)) == (500, "internal_error")
    assert "the store is broken" in caplog.text
    assert "the store is broken" not in broken.text
    for secret in (own, revoked, others, unknown, *map(phrase, ("ada", "eve")), "a new long password"):
        assert secret not in caplog.text
        for response in (*said, broken):
            assert secret not in response_text(response)
