"""Cross-tabs, groups and regression as documents: on the command line and over HTTP, with their refusals."""

import csv
import io
import json
import math
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner, Result
from flask.testing import FlaskClient

from candor_client.description import NO_ANSWER
from survey_app import accounts, create_app
from survey_app.accounts import add_user, hash_secret, new_token
from survey_app.assure.simulation.devices import reports
from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.hypotheses import LIKELIHOOD_RATIO, PEARSON, PEARSON_JOINT, QUADRATIC_FORM
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab, make_crosstab
from survey_app.results.csv_columns import COLUMNS
from survey_app.results.group_document import TOTAL, compare_groups
from survey_app.results.results_text import format_results, format_study
from survey_app.results.survey_document import TOO_FEW, results
from survey_app.store import STEP, PublishedSurvey, Store, Submission
from survey_app.store.sql import report_queries
from survey_app.tally import Bits, Tally
from survey_app.web.access import get_store
from tests.definitions import COIN, define, drawn, field, multiple, number, scale, subset, survey, yes_no
from tests.definitions import choice as choice_question
from tests.fixtures import add as publish
from tests.golden_files import Golden

QUESTIONS = [
    yes_no("cheated"), choice_question("help", options=3, optional=True), scale("fair"), number("hours"),
    multiple("used"), number("age", bins=3), yes_no("told"),
]  # fmt: skip
FIELDS = [
    field(COIN, "cheated"), field(subset(4, 1), "help"), field(subset(6, 1), "fair", "told"), field(subset(2, 1), "hours"),
    field(drawn(3, 2), "used"), field(subset(3, 2, 7 * 2**61), "age"),
]  # fmt: skip
EXAM = define(QUESTIONS, FIELDS)
REPORTS = 120


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def rows_of(definition: dict[str, Any], count: int) -> Bits:
    parsed, rng = survey(definition), np.random.default_rng()
    indices = {}
    for question in parsed.questions:
        top = question.steps + 1 if question.levels else 8 if question.type == "multiple" else question.size
        indices[question.id] = rng.integers(0, top, count)
    return np.concatenate([np.zeros((0, parsed.length), dtype=np.uint8), *reports(parsed, indices, rng)])


def add(store: Store, owner: int, slug: str, count: int, *, public: bool = True, **changes: Any) -> PublishedSurvey:
    """A survey whose results show so many reports; a step more have come."""
    definition = EXAM | {"slug": slug} | changes
    published = publish(store, survey(definition), Terms(public=public), owner=owner)
    made = [
        Submission(published.key, secrets.token_bytes(16), row.tobytes())
        for row in rows_of(definition, count + STEP if count else 0)
    ]
    store.write(made.copy)
    return published


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[FlaskClient, str]]:
    """A server with a public and a private survey, and the owner's token; the command line sees the same store."""
    app = create_app({"DB": f"sqlite:///{tmp_path}/candor.db", "RATE_LIMIT": "off"})
    store = get_store(app)
    owner = add_user(store, "ada", "a long password")
    token = new_token()
    store.add_token(owner, hash_secret(token))
    add(store, owner.key, "exam", REPORTS)
    add(store, owner.key, "other", 80)
    add(store, owner.key, "few", 0)
    add(store, owner.key, "secret", 40, public=False)
    yield app.test_client(), token
    store.close()


@pytest.fixture
def run(tmp_path: Path, web: Any) -> Any:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", *arguments])

    return invoke


def refused(found: Result, code: int = 1) -> str:
    """Assert that a command refused, without any result; return its words."""
    assert found.exit_code == code, found.output
    assert not found.stdout and found.stderr and "Traceback" not in found.output
    return found.output


def strict(text: str) -> Any:
    """JSON as the standard has it: no NaN, no Infinity."""

    def forbidden(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=forbidden)


def check(lines: list[dict[str, Any]]) -> None:
    assert lines
    for line in lines:
        assert {*COLUMNS} - {"raw"} <= set(line)
        assert line["low"] < line["high"]
        assert line["n"] >= 2
        assert line["coverage"] in ("guaranteed", "approximate")


# cross-tabs


@pytest.mark.parametrize(
    ("rows", "columns", "test"),
    [
        ("cheated", "help", {PEARSON}),
        ("fair", "told", {PEARSON_JOINT, LIKELIHOOD_RATIO}),  # by which statistic, the reports decide
        ("cheated", "age", {QUADRATIC_FORM}),
        ("used", "cheated", {QUADRATIC_FORM}),
        ("fair", "help", {PEARSON}),
    ],
)
def test_a_crosstab_says_the_same_on_the_command_line_and_over_http(
    run: Any, web: tuple[FlaskClient, str], rows: str, columns: str, test: set[str]
) -> None:
    found = strict(run("crosstab", "exam", rows, columns, "--json").stdout)
    answer = web[0].get("/api/surveys/exam/crosstab", query_string={"rows": rows, "columns": columns})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert strict(answer.text) == found
    assert (found["rows"], found["columns"], found["n"]) == (rows, columns, REPORTS)
    assert found["test"]["name"] in test
    assert (found["test"]["method"] == "chi_square") == (found["test"]["draws"] == 0)
    assert 0 <= found["test"]["p_value"] <= 1
    cells = len(found["row_options"]) * len(found["column_options"])
    for kind, count in (
        ("estimates", cells),
        ("within_rows", cells),
        ("differences", cells - len(found["column_options"])),
    ):
        check(found[kind])
        assert len(found[kind]) == count
    joint = rows == "fair" and columns == "told"
    assert {line["coverage"] for line in found["estimates"]} == ({"guaranteed"} if joint else {"approximate"})


def test_a_crosstab_as_a_table(run: Any) -> None:
    found = list(
        csv.DictReader(io.StringIO(run("crosstab", "exam", "cheated", "help", "--csv", "--simultaneous").stdout))
    )
    assert {row["list"] for row in found} == {"estimates", "within_rows", "differences"}
    assert {row["cheated"] for row in found} == {"no", "yes"}
    assert NO_ANSWER in {row["help"] for row in found}
    assert all(float(row["low"]) < float(row["high"]) for row in found)


def test_a_crosstab_of_a_survey_without_reports(run: Any, web: tuple[FlaskClient, str]) -> None:
    found = strict(run("crosstab", "few", "cheated", "help", "--json").stdout)
    assert (found["n"], found["estimates"], found["note"]) == (0, [], TOO_FEW)
    assert "Traceback" not in run("crosstab", "few", "cheated", "help", "--csv").output
    assert strict(web[0].get("/api/surveys/few/crosstab?rows=fair&columns=told").text)["note"] == TOO_FEW


def test_crosstabs_that_cannot_be_are_refused(run: Any, web: tuple[FlaskClient, str], golden: Golden) -> None:
    words = [
        refused(run("crosstab", "exam", "cheated", "nothing")),
        refused(run("crosstab", "exam", "cheated", "hours")),
        refused(run("crosstab", "exam", "used:item 0", "help")),
        refused(run("crosstab", "nowhere", "cheated", "help")),
    ]
    golden("".join(words))
    for query in ("", "rows=cheated", "rows=cheated&columns=cheated", "rows=hours&columns=cheated"):
        answer = web[0].get(f"/api/surveys/exam/crosstab?{query}")
        assert answer.status_code == 400
        assert answer.get_json()["code"] == "malformed_request"
    for query in ("confidence=nan", "confidence=1", "confidence=x", "population=5"):
        answer = web[0].get(f"/api/surveys/exam/crosstab?rows=cheated&columns=help&{query}")
        assert answer.status_code == 400
    assert web[0].get("/api/surveys/nowhere/crosstab?rows=cheated&columns=help").status_code == 404


def test_private_crosstabs_are_for_their_owner(web: tuple[FlaskClient, str]) -> None:
    browser, token = web
    path = "/api/surveys/secret/crosstab?rows=cheated&columns=help"
    assert browser.get(path).status_code == 401
    assert browser.get(path, headers={"Authorization": "Bearer " + "x" * 43}).status_code == 401
    assert browser.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_crosstab_reads_the_store_in_pieces(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of seven reports give what one piece gives."""
    whole = strict(run("crosstab", "exam", "cheated", "age", "--json").stdout)
    monkeypatch.setattr(report_queries, "CHUNK", 7)
    pieces: list[int] = []
    original = make_crosstab

    def watched(published: Any, tally: Any, scan: Any, *rest: Any) -> Crosstab | EmptyCrosstab:
        def counted() -> Iterator[Bits]:
            for piece in scan:
                pieces.append(len(piece))
                yield piece

        return original(published, tally, counted(), *rest)

    monkeypatch.setattr("survey_app.cli.results.make_crosstab", watched)
    found = strict(run("crosstab", "exam", "cheated", "age", "--json").stdout)
    assert sum(pieces) == REPORTS
    assert max(pieces) <= 7
    assert found["test"]["statistic"] == pytest.approx(whole["test"]["statistic"])
    for one, other in zip(found["estimates"], whole["estimates"], strict=True):
        assert one["unbiased"] == pytest.approx(other["unbiased"])


def test_people_read_tables_and_programs_ask_for_json_or_csv(
    run: Any, web: tuple[FlaskClient, str], tmp_path: Path, golden: Golden
) -> None:
    stored = get_store(web[0].application)
    (exam, other) = (stored.newest_version(slug) for slug in ("exam", "other"))
    assert exam and other
    members = [(one.survey, stored.snapshot(one)) for one in (exam, other)]
    assert run("results", "exam").stdout == f"{format_results(exam.survey, results(*members[0]))}\n"
    assert (
        run("results", "exam", "other").stdout == f"{format_study(exam.survey, compare_groups(members, Options()))}\n"
    )
    crossed = run("crosstab", "exam", "used:item 0", "used:item 1")
    document = strict(run("crosstab", "exam", "used:item 0", "used:item 1", "--json").stdout)
    assert document["n"] < REPORTS and f"n = {document['n']}: {document['base']}" in crossed.stdout
    file = tmp_path / "covariates.yaml"
    file.write_text("exam: {year: 1}\nother: {year: 2}\n")
    fitted = run("regress", "exam", "other", "--outcome", "help=option 1", "--covariates", str(file))
    assert fitted.exit_code == 1 or "help = option 1" in fitted.stdout
    outcome = ("regress", "exam", "--outcome", "cheated", "--on", "help")
    both = [
        refused(run(*words, "--json", "--csv"), code=2)
        for words in (("results", "exam"), ("crosstab", "exam", "cheated", "help"), outcome)
    ]
    golden("".join(both))


# groups


def test_surveys_side_by_side_and_together(run: Any, tmp_path: Path) -> None:
    weights = tmp_path / "weights.yaml"
    weights.write_text("exam: 3\nother: 1\n")
    found = strict(run("results", "exam", "other", "--weights", str(weights), "--json").stdout)
    assert [(one["group"], one["slug"]) for one in found["groups"]] == [("exam", "exam"), ("other", "other")]
    assert found["groups"][0]["questions"] == strict(run("results", "exam", "--json").stdout)["questions"]
    assert found["total"]["weights"] == {"exam": 0.75, "other": 0.25}
    (gap,) = found["differences"]
    assert (gap["of"], gap["to"]) == ("other", "exam")
    lines = {slug: one for slug, one in zip(("exam", "other"), found["groups"], strict=True)}
    for question, whole, differing in zip(QUESTIONS, found["total"]["questions"], gap["questions"], strict=True):
        assert whole["id"] == differing["id"] == question["id"]
        check(whole["estimates"])
        check(differing["estimates"])
        for i, (one, other) in enumerate(zip(whole["estimates"], differing["estimates"], strict=True)):
            first, second = (
                next(q for q in lines[slug]["questions"] if q["id"] == question["id"])["estimates"][i]
                for slug in ("exam", "other")
            )
            assert one["option"] == first["option"] == second["option"]
            if first["unbiased"] is not None and second["unbiased"] is not None:
                assert one["unbiased"] == pytest.approx(0.75 * first["unbiased"] + 0.25 * second["unbiased"])
                assert other["unbiased"] == pytest.approx(second["unbiased"] - first["unbiased"])
            assert one["n"] == first["n"] + second["n"]
    without = strict(run("results", "exam", "other", "--json").stdout)
    assert {"total", "study"}.isdisjoint(without)
    table = list(
        csv.DictReader(io.StringIO(run("results", "exam", "other", "--csv", "--weights", str(weights)).stdout))
    )
    assert {row["group"] for row in table} == {"exam", "other", TOTAL, "other - exam"}


def test_a_group_without_reports_is_said_to_be_one(run: Any, tmp_path: Path) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text('{"exam": 1, "few": 1}')
    found = strict(run("results", "exam", "few", "--weights", str(weights), "--json").stdout)
    for part in (*found["total"]["questions"], *found["differences"][0]["questions"]):
        assert (part["estimates"], part["note"]) == ([], TOO_FEW)
    weights.write_text('{"exam": 1, "few": 0}')
    found = strict(run("results", "exam", "few", "--weights", str(weights), "--json").stdout)
    assert found["total"]["questions"][0]["estimates"]
    assert "Traceback" not in run("results", "exam", "few", "--csv").output


@pytest.mark.parametrize(
    "text",
    [
        "exam: 1\n",
        "exam: 1\nother: 1\nthird: 1\n",
        "exam: -1\nother: 2\n",
        "exam: 0\nother: 0\n",
        "exam: .nan\nother: 1\n",
        "exam: .inf\nother: 1\n",
        "exam: yes\nother: no\n",
        "- exam\n",
        "exam: [\n",
    ],
    ids=["one", "three", "negative", "zero", "nan", "infinite", "words", "list", "syntax"],
)
def test_weights_that_do_not_do_are_refused(run: Any, tmp_path: Path, text: str, golden: Golden) -> None:
    weights = tmp_path / "weights"
    weights.write_text(text)
    golden(refused(run("results", "exam", "other", "--weights", str(weights))))


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({"exam": 1.0}, RefusalCode.MISSING_NUMBER),
        ({"exam": 1.0, "other": 1.0, "third": 1.0}, RefusalCode.MISSING_NUMBER),
        ({"exam": -1.0, "other": 2.0}, RefusalCode.INVALID_NUMBER),
        ({"exam": 0.0, "other": 0.0}, RefusalCode.INVALID_NUMBER),
        ({"exam": math.nan, "other": 1.0}, RefusalCode.INVALID_NUMBER),
        ({"exam": math.inf, "other": 1.0}, RefusalCode.INVALID_NUMBER),
    ],
)
def test_weights_without_a_total_have_a_code(weights: dict[str, float], code: RefusalCode) -> None:
    members = [(survey(EXAM | {"slug": slug}), Tally.empty(survey(EXAM))) for slug in ("exam", "other")]
    with pytest.raises(GroupsError) as caught:
        compare_groups(members, Options(), weights)
    assert caught.value.code is code


def test_surveys_with_nothing_common_are_refused(run: Any, tmp_path: Path, golden: Golden) -> None:
    published = [
        (survey(one), Tally(0, np.zeros(1, dtype=np.int64)))
        for one in (
            define([yes_no()], [field(COIN, "cheated")]),
            define([yes_no("told")], [field(COIN, "told")], slug="other"),
        )
    ]
    with pytest.raises(GroupsError) as caught:
        compare_groups(published, Options())
    assert caught.value.code is RefusalCode.OTHER_QUESTIONS
    golden(refused(run("results", "exam", "exam"), code=2), "repeated")
    weights = tmp_path / "weights"
    weights.write_text("exam: 1\n")
    golden(refused(run("results", "exam", "--weights", str(weights))), "one survey")


# what intervals


def test_results_with_other_intervals(run: Any, golden: Golden) -> None:
    usual = strict(run("results", "exam", "--json").stdout)
    first = usual["questions"][0]["estimates"][1]
    for option, wider in (("--confidence=0.99", True), ("--narrow", False), (f"--population={REPORTS}", False)):
        one = strict(run("results", "exam", option, "--json").stdout)["questions"][0]["estimates"][1]
        assert (one["high"] - one["low"] > first["high"] - first["low"]) is wider
        assert one["unbiased"] == first["unbiased"]
        assert one["coverage"] == ("guaranteed" if wider else "approximate")
    simultaneous = strict(run("results", "exam", "--simultaneous", "--json").stdout)
    assert simultaneous["simultaneous"] is True
    for one, other in zip(simultaneous["questions"][1]["estimates"], usual["questions"][1]["estimates"], strict=True):
        assert one["high"] - one["low"] >= other["high"] - other["low"]
    census = strict(run("results", "exam", f"--population={REPORTS}", "--json").stdout)["questions"][0]["estimates"][1]
    assert (census["low"], census["high"]) == (census["sample_low"], census["sample_high"])
    golden(refused(run("results", "exam", "--population=100")))


def test_results_with_totals(run: Any, golden: Golden) -> None:
    found = strict(run("results", "exam", "--total", "help=option 0|option 2", "--json").stdout)
    question = found["questions"][1]
    assert [line["option"] for line in question["totals"]] == ["option 0 or option 2"]
    check(question["totals"])
    check(question["answered"])
    assert question["totals"][0]["unbiased"] == pytest.approx(
        question["estimates"][0]["unbiased"] + question["estimates"][2]["unbiased"]
    )
    fair = found["questions"][2]
    assert [line["option"] for line in fair["cumulative"]] == ["at most Disagree", "at most Neutral"]
    assert [one["level"] for one in fair["quantiles"]] == [0.25, 0.5, 0.75]
    golden(refused(run("results", "exam", "--total", "help=nothing")), "unknown option")
    golden(refused(run("results", "exam", "other", "--total", "help=option 0")), "two surveys")


# regression


def test_regression_on_questions_and_on_groups(run: Any, tmp_path: Path) -> None:
    on = run("regress", "exam", "--outcome", "cheated", "--on", "help", "--json")
    if on.exit_code:  # 120 reports at these odds may say nothing; then it is said
        refused(on)
    else:
        found = strict(on.stdout)
        assert [one["name"] for one in found["coefficients"]][:2] == ["intercept", "help: option 1"]
        assert all(one["low"] < one["estimate"] < one["high"] for one in found["coefficients"])
    file = tmp_path / "covariates.yaml"
    file.write_text("exam: {year: 1}\nother: {year: 2}\n")
    groups = run("regress", "exam", "other", "--outcome", "help=option 1", "--covariates", str(file), "--json")
    if groups.exit_code:
        refused(groups)
    else:
        assert strict(groups.stdout)["coefficients"][1]["n"] == REPORTS + 80


def test_regressions_that_cannot_be_are_refused(run: Any, tmp_path: Path, golden: Golden) -> None:
    file = tmp_path / "covariates"
    file.write_text("exam: {year: 1}\n")
    known = ("--covariates", str(file))
    words = [
        refused(run("regress", "exam", "--outcome", "cheated"), code=2),
        refused(run("regress", "exam", "--outcome", "cheated", "--on", "help", *known), code=2),
        refused(run("regress", "exam", "other", "--outcome", "cheated", "--on", "help"), code=2),
        refused(run("regress", "exam", "other", "--outcome", "cheated", *known)),
        refused(run("regress", "exam", "--outcome", "hours", "--on", "help")),
        refused(run("regress", "few", "--outcome", "cheated", "--on", "help")),
    ]
    file.write_text("exam: 1\nother: 2\n")
    words.append(refused(run("regress", "exam", "other", "--outcome", "cheated", *known)))
    golden("".join(words))
