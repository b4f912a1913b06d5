"""Use a copy of the project that has a rating or unary encoding: `python -m tests.extending.drive rating|unary OUT`.

It runs inside the copy. Everything that is captured of a survey (tests/capture.py: pages, commands, plans, codebooks,
exports) is captured of one with the addition, and of one with a twin that was there before: a scale with the same
labels, or another mechanism. Nothing may crash, and what a silent gap would lose must be there.
"""

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import candor_client
from tests import author_files, capture, product, random_definitions, reference
from tests.capture_case import Case, Definition, list_crashes, make_random, start_case
from tests.definitions import choice, define, encode, field, multiple, number, scale, yes_no
from tests.javascript import Node

SIZE = 400
STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
RATING = {"type": "rating", "stars": 5}
TWIN = {"type": "scale", "points": list(STARS)}
TRIALS = "300"
draw_by_reference = capture.draw_reports
bits_by_reference = reference.field_bits


def write_file(rating: dict[str, Any], **more: Any) -> str:
    """Return an author's file with ratings: one alone, one that may be skipped, one that shows another question."""
    content = {
        "slug": "inn", "title": "The inn", "epsilon": 5, "results": "public", **more,
        "questions": [
            {"id": "food", "text": "How was the food?", **rating},
            {"id": "bed", "text": "And the bed?", "optional": True, **rating},
            {"id": "again", "type": "yes_no", "text": "Will you come again?"},
            {"id": "why", "type": "choice", "text": "Why?", "options": ["noise", "price"], "show_if": {"question": "food", "is": ["1 star", "2 stars"]}},
            {"id": "nights", "type": "number", "text": "How many nights?", "min": 1, "max": 9},
            {"id": "used", "type": "multiple", "text": "What did you use?", "options": ["bar", "pool"]},
        ],
    }  # fmt: skip
    return author_files.spell(content)


def as_twin(definition: Definition) -> Definition:
    """Return a definition in which ratings are scales, which the reference can read."""
    questions = [
        {
            "id": one["id"],
            "text": one["text"],
            **TWIN,
            **{key: one[key] for key in ("optional", "show_if") if key in one},
        }
        if one["type"] == "rating"
        else one
        for one in definition["questions"]
    ]
    return {**definition, "questions": questions}


def drive_rating(out: Path) -> None:
    """Capture surveys with ratings and with scales, and compare them."""
    capture.draw_reports = lambda chance, definition, *more: draw_by_reference(chance, as_twin(definition), *more)
    ways: dict[str, dict[str, Any]] = {
        "all": {},
        "joint": {"joint": [["food", "again"]]},
        "auto": {"ask": "auto"},
        "groups": {"groups": {"north": {"size": 900}, "south": {"size": 700}}},
    }
    for way, more in ways.items():
        found: list[list[dict[str, Any]]] = []
        for name, rating in (("rating", RATING), ("scale", TWIN)):
            with start_case(out / way / name) as case:
                text = write_file(rating, **more)
                capture.capture_draft(case, text, name)
                capture.capture_study(case, text, make_random(way), SIZE, "mixed")
                slug = "inn-north" if "groups" in more else "inn"
                relate(case, slug)
                definition = case.definition(slug)
                found.append(json.loads(case.owner.get(f"/api/surveys/{slug}/results").text)["questions"])
            check_report(definition)
        compare_results(*found)
    check_files(out / "all" / "rating", out / "all" / "scale")
    with start_case(out / "commands") as case:
        (case.folder / "survey.yaml").write_text(write_file(RATING), encoding="utf-8")
        for name in ("python-1", "python-2", "js-1", "js-2"):
            device = name.partition("-")[0]
            case.run(f"audit-{name}", "audit", "survey.yaml", "--client", device, "--trials", TRIALS)
        case.run("plan", "plan", "--epsilon", "1.5", "--margin", "0.03", "--type", "rating")
        case.run("add", "survey", "add", "survey.yaml", "--owner", "ada")
        case.run("simulate", "simulate", "inn", "--respondents", "200", "--yes")
        case.run("form", "form", "inn", "-o", "form.html")
    check_no_crash(out)


def relate(case: Case, slug: str) -> None:
    """Capture what is asked of two questions at once."""
    capture.capture_crosstab(case, f"{slug}/more", slug, "food", "again")
    case.run(f"{slug}/regress", "regress", slug, "--outcome", "again", "--on", "food")
    case.run(f"{slug}/regress-stars", "regress", slug, "--outcome", "food=5 stars", "--on", "again")
    case.run(f"{slug}/total", "results", slug, "--total", "food=4 stars,5 stars")


def check_report(definition: Definition) -> None:
    """Compare both clients with the reference: the same bits from the same random bytes."""
    source = encode(definition)
    survey, node, random = candor_client.Survey.from_json(source), Node(), Random(1)  # noqa: S311
    for _ in range(20):
        answers, tape = capture.draw_answers(random, as_twin(definition), first=False), random.randbytes(4096)
        bits, _, used = reference.report(as_twin(definition), answers, tape)
        tape = tape[:used]
        draw = reference.ByteDraw(tape)
        python = candor_client.randomize(survey, answers, random_bytes=draw.take)
        javascript = node.ask("randomize", source=source.hex(), answers=answers, tape=tape.hex())
        assert python.bits == reference.pack(bits) and javascript["bits"] == python.bits.hex()
    node.close()


def compare_results(questions: list[dict[str, Any]], twins: list[dict[str, Any]]) -> None:
    """Compare estimates number by number; a rating has its mean, its cumulative shares and its quartiles."""
    for question, twin in zip(questions, twins, strict=True):
        assert {**question, "type": twin["type"]} == twin
    food = questions[0]
    assert food["type"] == "rating" and [line["kind"] for line in food["estimates"]] == ["share"] * 5 + ["mean"]
    assert len(food["cumulative"]) == 4 and len(food["quantiles"]) == 3


def check_files(rating: Path, twin: Path) -> None:
    """Compare which files there are: of a rating, no page, plot, plan or export is missing."""
    names = [{path.relative_to(one).as_posix() for path in one.rglob("*") if path.is_file()} for one in (rating, twin)]
    assert {name.replace("rating", "scale") for name in names[0]} == names[1], names[0] ^ names[1]


def check_no_crash(out: Path) -> None:
    """Fail if a page or a command has crashed, or a command has refused what it was given.

    An audit refutes a faithful client with a chance of at most 5%, and both audits of one with at most 0.25%.
    """
    assert not list_crashes(out), list_crashes(out)
    refuted = []
    for path in sorted((out / "commands").rglob("*.txt")):
        command, ending, *more = path.read_text(encoding="utf-8").splitlines()
        if path.stem.startswith("audit-") and ending == "exit 1":
            refuted.append(command)
        else:
            assert ending == "exit 0", (command, ending, more)
    assert len(refuted) == len(set(refuted)), refuted


SHOWN = {"question": "cheated", "is": ["yes"]}
UNARY = {"one": str(3 * 2**62), "zero": str(2**62)}


def unary(size: int) -> dict[str, Any]:
    """Return the published form of a coin for each of so many symbols."""
    return {"kind": "unary", "size": size, **UNARY}


def unary_bits(mechanism: dict[str, Any], members: list[dict[str, Any]], said: list[Any], draw: reference.Draw) -> str:
    """Return the bits of a field by the reference, which now knows unary encoding."""
    if mechanism["kind"] != "unary":
        return bits_by_reference(mechanism, members, said, draw)
    digits = tuple(reference.symbol_of(one, answer, draw) for one, answer in zip(members, said, strict=True))
    true = reference.combinations(members).index(digits)
    chances = [int(mechanism["one" if place == true else "zero"]) for place in range(mechanism["size"])]
    return "".join(str(int(draw.coin(chance))) for chance in chances)


def drive_unary(out: Path) -> None:
    """Capture a definition with unary encoding for every type, alone and together."""
    reference.field_bits = unary_bits
    made = define(
        [yes_no(), choice(show_if=SHOWN), scale(optional=True), multiple(options=2), number(levels=3), number("days", bins=4), choice("with")],
        [
            field(unary(2), "cheated"), field(unary(4), "help"), field(unary(4), "fair"), field(unary(4), "used"),
            field(unary(3), "hours"), field(unary(12), "days", "with"),
        ],
        epsilon=14,
    )  # fmt: skip
    asked = {**made, "ask": 1, "epsilon": "2.197224577337"}
    for way, definition in (("all", made), ("one", asked)):
        random_definitions.definition = lambda _, parsed=definition: parsed  # type: ignore[misc]
        capture.capture_definition(out / way, 3)
        check_report(definition)
    with start_case(out / "commands") as case:
        (case.folder / "survey.json").write_bytes(encode(made))
        for name in ("python-1", "python-2", "js-1", "js-2"):
            device = name.partition("-")[0]
            case.run(f"audit-{name}", "audit", "survey.json", "--client", device, "--trials", TRIALS)
        product.publish(case.server, encode(made))
        case.run("simulate", "simulate", made["slug"], "--respondents", "400", "--yes")
        case.run("results", "results", made["slug"])
        case.run("codebook", "codebook", made["slug"])
        case.run("form", "form", made["slug"], "-o", "form.html")
    check_no_crash(out)
    check_intervals(made)


def check_intervals(definition: Definition) -> None:
    """Simulate many surveys: of all lines at least 93% cover at 95%, or the channel's formulas are wrong.

    With 40 surveys of some 30 lines, a true coverage of 95% falls below 93% less than once in a thousand runs, and
    intervals without the variance of the coins cover less than half.
    """
    import numpy as np

    from survey_app.assure.simulation.trial import population_figure, simulate_tally
    from survey_app.plan.simulated_people import draw_people
    from survey_app.results.survey_document import results

    survey = candor_client.Survey.from_json(encode(definition))
    rng = np.random.default_rng()
    hits: list[bool] = []
    people = draw_people(survey, {}, 200_000, rng)
    for _ in range(40):
        chosen = rng.choice(200_000, 1500)
        part = {name: column[chosen] for name, column in people.items()}
        found = results(survey, simulate_tally(survey, part, 1500, rng))
        for question, lines in zip(survey.questions, found.questions, strict=True):
            for line in lines.estimates:
                true = population_figure(question, line.option, line.kind, people[question.id])
                hits.append(line.low <= true <= line.high)
    assert np.mean(hits) > 0.93, np.mean(hits)


if __name__ == "__main__":
    {"rating": drive_rating, "unary": drive_unary}[sys.argv[1]](Path(sys.argv[2]))
    print("everything works")
