"""What a person is told about a mechanism, against exact fractions; every throw of every recipe, one by one."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from candor_client.definition import Survey
from candor_client.description import odds_sentence, posterior_in_hundred
from candor_client.mechanisms import Drawn, Flip, Geometric, Mechanism, Subset
from candor_client.sampling import DENOMINATOR
from survey_app.authoring import build_file, mechanism_choice
from survey_app.authoring.mechanism_choice import make_classic_flip, make_flip
from survey_app.channels.posterior import (
    Chance,
    best_guess_chance,
    count_devices,
    find_dependent_questions,
    group_epsilon,
    posterior_bound,
    posterior_chance,
    total_epsilon,
    uniform_mixture,
)
from survey_app.languages import Words
from survey_app.languages.paper import Recipe, find_pick, find_recipe, make_sheet
from tests.answers import SMALL
from tests.definitions import COIN, choice, define, drawn, field, multiple, number, simple, subset, survey, yes_no

EXAMPLES = Path(__file__).parents[2] / "examples"
F = Fraction

DESIGNS: dict[str, tuple[Flip, tuple[str, int, int, int, int]]] = {
    "coin": (make_classic_flip(F(3, 4), F(1, 4)), ("coin", 2, 2, 1, 1)),
    "die": (make_classic_flip(F(2, 3), F(1, 3)), ("die", 1, 2, 2, 2)),
    "forced_die": (make_classic_flip(F(5, 6), F(1, 6)), ("die", 1, 4, 1, 1)),
    "warner .75": (make_classic_flip(F(3, 4), F(1, 4)), ("coin", 2, 2, 1, 1)),
    "forced, truth ½, yes ¾": (make_classic_flip(F(7, 8), F(3, 8)), ("coin", 3, 4, 3, 1)),
    "gamma 5/16": (make_classic_flip(F(13, 16), F(3, 16)), ("coin", 4, 10, 3, 3)),
    "gamma 7/36": (make_classic_flip(F(25, 36), F(11, 36)), ("die", 2, 14, 11, 11)),
    "lopsided": (make_classic_flip(F(35, 36), F(1, 3)), ("die", 2, 23, 12, 1)),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_every_throw_of_a_recipe_means_one_thing_and_they_make_the_published_chances(name: str) -> None:
    mechanism, wanted = DESIGNS[name]
    made = find_recipe(mechanism)
    assert made == Recipe(*wanted)  # type: ignore[arg-type]
    assert made is not None
    counts = {"truth": 0, "yes": 0, "no": 0}
    throws = list(itertools.product(range(1, made.sides + 1), repeat=made.throws))
    for throw in throws:
        (verdict,) = [verdict for verdict, lines in made.rules for line in lines if line.matches(throw)]
        counts[verdict] += 1
    yes = F(counts["yes"], len(throws))
    truth = F(counts["truth"], len(throws))
    assert (truth + yes, yes) == (made.p, made.q)
    assert abs(made.p - mechanism.p) < F(1, 2**60)
    assert abs(made.q - mechanism.q) < F(1, 2**60)
    exact = max(made.p / made.q, (1 - made.q) / (1 - made.p))
    assert math.isclose(made.epsilon, math.log(exact))
    assert abs(made.epsilon - mechanism.epsilon) < Decimal("1e-17")


def test_the_classic_coin_reads_as_in_textbooks() -> None:
    made = find_recipe(make_classic_flip(F(3, 4), F(1, 4)))
    assert made is not None
    assert made.rules == [("truth", (((), 1, 1),)), ("yes", (((2,), 1, 1),)), ("no", (((2,), 2, 2),))]


def test_lines_merge_whole_faces_and_split_the_others() -> None:
    made = find_recipe(DESIGNS["gamma 7/36"][0])
    assert made is not None
    assert dict(made.rules)["truth"] == (((), 1, 2), ((3,), 1, 2))
    assert dict(made.rules)["yes"] == (((3,), 3, 6), ((), 4, 4), ((5,), 1, 1))


@pytest.mark.parametrize("one", [3 * 2**62 - 2**20, 3 * 2**62 + 2**25])
def test_chances_that_are_only_near_have_no_recipe_beyond_the_rounding(one: int) -> None:
    made = find_recipe(Flip(one=one, zero=2**62))
    assert (made is not None) == (abs(one - 3 * 2**62) < 2**22)


@pytest.mark.parametrize(
    "mechanism",
    [
        make_flip(Decimal(1)),
        make_classic_flip(F(7, 10), F(3, 10)),
        Flip(one=DENOMINATOR - 1, zero=1),
        Subset(size=2, weight=1, keep=3 * 2**62),
        Drawn(size=3, draw=1, keep=3 * 2**62),
        Geometric(size=3, ratio=2**62),
    ],
)
def test_what_coins_and_dice_cannot_make_has_no_recipe(mechanism: Mechanism) -> None:
    assert find_recipe(mechanism) is None


def test_a_suspicion_is_told_as_in_the_guidance() -> None:
    ln3 = Decimal(3).ln()
    assert count_devices(F(3, 4), F(1, 4)) == (100, 75, 25)
    assert posterior_chance(20, ln3) == (14, 100)
    table = {
        ".5": (8, (8, 100)),
        "1": (12.5, (13, 100)),
        "1.0986122886681098": (14, (14, 100)),
        "1.6094379124341003": (21, (21, 100)),
        "2": (28, (29, 100)),
        "3": (51, (52, 100)),
        "4": (74, (75, 100)),
    }
    for epsilon, (percent, told) in table.items():
        odds = math.exp(float(epsilon)) / 19
        assert math.isclose(100 * odds / (1 + odds), percent, abs_tol=0.5)
        assert posterior_chance(20, Decimal(epsilon)) == told
    halves = {".5": 62, "1": 73, "1.0986122886681098": 75, "1.6094379124341003": 83, "2": 88, "3": 95, "4": 98}
    for epsilon, percent in halves.items():
        chance = posterior_chance(2, Decimal(epsilon))
        assert chance.of == 100
        assert chance.cases in (percent, percent + 1), epsilon


@pytest.mark.parametrize("suspicion", [100, 20, 2])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.1", "0.5", "1", "1.6094379124341", "3", "5", "8", "12", "20", "40"])
def test_protection_is_never_overstated_and_hardly_understated(suspicion: int, epsilon: str) -> None:
    odds = F(*math.exp(float(epsilon)).as_integer_ratio()) / (suspicion - 1)
    exact = odds / (1 + odds)
    chance = posterior_chance(suspicion, Decimal(epsilon))
    told = F(chance.cases, chance.of)
    assert told >= exact - F(1, 10**9)
    if chance != (1, 1):
        assert told - F(1, chance.of) < exact
        assert told < 1
    else:
        assert exact > 1 - F(1, 10**9)


def test_three_quarters_stay_three_quarters() -> None:
    assert posterior_chance(2, Decimal(3).ln()) == Chance(75, 100)
    assert posterior_chance(20, Decimal(19).ln()) == Chance(50, 100)


@pytest.mark.parametrize("name", SMALL)
def test_shares_agree_with_the_python_client(name: str) -> None:
    for one in survey(SMALL[name]).fields:
        if not isinstance(one.mechanism, Geometric):
            shown = uniform_mixture(one.mechanism) or count_devices(one.mechanism.p, one.mechanism.q)
            words = odds_sentence(one)
            assert {f"{number:,}" for number in shown} <= set(words.replace(";", "").split())


def test_weak_noise_is_shown_out_of_more_people() -> None:
    assert count_devices(F(1999, 2000), F(1, 2000)) == (100_000, 99_950, 50)
    assert count_devices(F(1, 2), F(51, 10_000)) == (10_000, 5000, 51)  # of 100, it would look like half against one
    assert count_devices(F(199, 200), F(1, 200)) == (10_000, 9950, 50)
    assert count_devices(F(9, 10), F(1, 10)) == (100, 90, 10)
    assert count_devices(F(9, 10), F(1, 10) - F(1, 2**64)) == (1000, 900, 99)


@pytest.mark.parametrize("q", [F(1, n) for n in (3, 10, 11, 97, 196, 1001, 10**6 - 1)])
def test_shown_odds_are_at_most_a_tenth_off_and_never_flatter(q: Fraction) -> None:
    """Whatever the noise: neither of the two chances of the rarer outcome looks larger, or loses more than one in ten."""
    shown = count_devices(1 - q, q)
    for told in (F(shown.other, shown.people), 1 - F(shown.true, shown.people)):
        assert F(9, 10) <= told / q <= 1


def test_questions_that_depend_on_one_count_together() -> None:
    parts = [
        yes_no("a"),
        choice("b", show_if={"question": "a", "is": ["yes"]}),
        choice("c", show_if={"question": "b", "is": ["option 0"]}),
        yes_no("d"),
    ]
    fields = [field(COIN, "a"), field(subset(4, 1), "b"), field(subset(4, 1), "c"), field(COIN, "d")]
    made = survey(define(parts, fields))
    (tree,) = find_dependent_questions(made)
    coin, other = math.log(3), math.log(9)
    assert [one.id for one in tree.questions] == ["a", "b", "c"]
    assert math.isclose(tree.epsilon, coin + 2 * other)
    assert math.isclose(total_epsilon(made), 2 * coin + 2 * other)
    assert find_dependent_questions(survey(simple())) == []


def test_a_joint_field_counts_once() -> None:
    parts = [yes_no("a"), choice("b", show_if={"question": "a", "is": ["yes"]})]
    made = survey(define(parts, [field(subset(5, 1), "a", "b")]))
    assert find_dependent_questions(made)[0].epsilon == total_epsilon(made) == made.fields[0].mechanism.epsilon


def test_with_ask_the_largest_of_those_that_depend_on_one_counts() -> None:
    """A device sends one of their parts; where all of them are in one, nothing is added to it."""
    after = {"question": "a", "is": ["yes"]}
    parts = [yes_no("a"), choice("b", show_if=after), yes_no("c")]
    made = survey(define(parts, [field(COIN, "a"), field(subset(4, 1), "b"), field(COIN, "c")], ask=1))
    (tree,) = find_dependent_questions(made)
    assert tree.epsilon == total_epsilon(made) == made.fields[1].mechanism.epsilon
    alone = survey(define(parts, [field(subset(5, 1), "a", "b"), field(COIN, "c")], ask=1))
    assert find_dependent_questions(alone) == []


def test_a_group_spends_as_often_as_it_has_people() -> None:
    epsilon = make_classic_flip(F(3, 4), F(1, 4)).epsilon
    assert math.isclose(group_epsilon(epsilon, 5), 5 * math.log(3))
    assert posterior_chance(20, group_epsilon(epsilon, 2)) == Chance(33, 100)  # 9/(19 + 9) = .3214
    assert posterior_chance(20, group_epsilon(epsilon, 3)) == Chance(59, 100)  # 27/(19 + 27) = .587


DIE = {"kind": "flip", "one": str(DENOMINATOR * 5 // 6), "zero": str(DENOMINATOR // 6 + 1)}
ODD = {"kind": "flip", "one": str(DENOMINATOR * 7 // 10), "zero": str(DENOMINATOR * 3 // 10)}


@pytest.mark.parametrize(
    ("definition", "enterable", "missing"),
    [
        (simple(), True, []),
        (define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(DIE, "b")]), True, []),
        (define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(ODD, "b")]), False, ["b"]),
        (define([yes_no("a"), choice("b", optional=True)], [field(COIN, "a"), field(subset(4, 1), "b")]), True, []),
        (define([yes_no("a"), number("b")], [field(COIN, "a"), field(subset(2, 1), "b")]), False, ["b"]),
        (define([multiple("a", optional=True)], [field(drawn(4, 1), "a")]), False, []),
        (define([choice("a", 2)], [field(COIN, "a")]), False, ["a"]),
    ],
)
def test_a_sheet_can_be_entered_if_nothing_that_is_needed_is_missing(
    definition: dict[str, Any], enterable: bool, missing: list[str]
) -> None:
    made = make_sheet(survey(definition))
    assert made.can_be_entered == enterable
    assert [one.questions[0].id for one in made.fields_without_recipe] == missing


def test_a_sheet_spends_only_what_is_on_it() -> None:
    made = make_sheet(
        survey(define([yes_no("a"), choice("b", optional=True)], [field(COIN, "a"), field(subset(4, 1), "b")]))
    )
    assert math.isclose(made.epsilon, math.log(3))


@pytest.mark.parametrize(
    ("chances", "ask", "picked", "enterable"),
    [
        ([1] * 6, True, True, True),
        ([3] * 6, True, True, True),
        ([1] * 37, True, True, False),
        ([1, 2, 1], True, True, True),
        ([2, 1001], True, True, False),
        ([1] * 7, False, False, True),
        ([1], True, False, True),
    ],
)
def test_a_sheet_can_be_entered_if_two_dice_can_pick_its_question(
    chances: list[int], ask: bool, picked: bool, enterable: bool
) -> None:
    names = [f"q{i}" for i in range(len(chances))]
    fields = [
        field(COIN, name, **({"chance": chance} if chance > 1 else {}))
        for name, chance in zip(names, chances, strict=True)
    ]
    made = make_sheet(survey(define([yes_no(name) for name in names], fields, **({"ask": 1} if ask else {}))))
    assert (made.needs_pick, made.can_be_entered) == (picked, enterable)
    assert math.isclose(made.epsilon, math.log(3) * (1 if ask else len(chances)))


def test_the_examples() -> None:
    exam = make_sheet(build_file(EXAMPLES / "exam.yaml").survey)
    assert [made and made.tool for made in exam.recipes] == ["coin", None, None]
    assert [one.questions[0].id for one in exam.fields_without_recipe] == ["hours"]
    campus = build_file(EXAMPLES.parent / "tests" / "campus.yaml").survey
    assert [one.questions[0].id for one in find_dependent_questions(campus)] == ["cheated"]


def test_suspicions_and_guesses() -> None:
    assert posterior_bound(0.05, math.log(3)) == pytest.approx(3 / 22)
    assert posterior_bound(0.0, 5) == 0
    assert posterior_bound(1.0, 5) == 1
    assert posterior_bound(0.3, 0) == pytest.approx(0.3)
    assert best_guess_chance(math.log(3)) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="from 0 to 1"):
        posterior_bound(1.5, 1)


def with_chances(*chances: int, mechanism: dict[str, Any] = COIN) -> Survey:
    names = [f"q{i}" for i in range(len(chances))]
    more = [{"chance": chance} if chance > 1 else {} for chance in chances]
    fields = [field(mechanism, name, **one) for name, one in zip(names, more, strict=True)]
    return survey(define([yes_no(name) for name in names], fields, ask=1, epsilon="1.098612288669"))


@pytest.mark.parametrize(
    ("chances", "throws"),
    [((1, 1), 1), ((3, 1), 1), ((1, 2, 3), 1), ((1,) * 6, 1), ((1,) * 7, 2), ((1, 35), 2), ((5, 7, 11, 13), 2)],
)
def test_dice_pick_every_part_with_its_chance(chances: tuple[int, ...], throws: int) -> None:
    """Counted over all throws: those that pick a part, of those that pick any."""
    made = with_chances(*chances)
    pick = find_pick(made)
    assert pick is not None
    assert pick.throws == throws
    counts: dict[int | None, int] = {}
    for throw in itertools.product(range(1, 7), repeat=throws):
        (place,) = [place for place, lines in pick.rules if any(line.matches(throw) for line in lines)]
        counts[place] = counts.get(place, 0) + 1
    again = counts.pop(None, 0)
    total = 6**throws - again
    assert [F(counts[place], total) for place in range(1, len(chances) + 1)] == [
        made.answer_probability(one) for one in made.fields
    ]
    assert again < total  # not more than every second throw is in vain


def test_dice_pick_chances_that_were_rounded_to_a_millionth_and_no_others() -> None:
    thirds = find_pick(with_chances(333_333, 333_333, 333_334))
    assert thirds is not None
    assert (thirds.throws, thirds.counts) == (1, (2, 2, 2))
    assert find_pick(with_chances(333_300, 333_300, 333_400)) is None
    assert find_pick(with_chances(194_369, 805_631)) is None
    assert find_pick(with_chances(*[1] * 37)) is None


@pytest.mark.parametrize("name", ["coin", "die", "forced_die"])
def test_a_sheet_gives_away_no_more_than_the_survey_claims(name: str, tmp_path: Path) -> None:
    path = tmp_path / "paper.yaml"
    path.write_text(
        "slug: paper\ntitle: Paper\nask: one\nepsilon: 2\nquestions:\n"
        + "".join(f"  - {{id: q{i}, type: yes_no, text: Did you?, design: {name}}}\n" for i in range(3))
    )
    made = build_file(path).survey
    printed = make_sheet(made)
    assert printed.can_be_entered and printed.pick is not None
    assert 0 < printed.epsilon <= made.epsilon


def test_the_first_screen_that_the_documentation_quotes_is_what_the_form_says() -> None:
    """Two questions with yes and no in one block at ε = 2, and the strings of the form."""
    told = uniform_mixture(mechanism_choice.make_subset(4, 1, Decimal(2)))
    assert told is not None
    words = Words("en")
    other = words("form.other_cells", size=4)
    cases, people = posterior_in_hundred(20, Decimal(2))
    lines = [
        words("form.chosen", count=2, total=7),
        words("form.rolls") + " " + words("form.odds_blind", p=told.true, people=told.people, other=other),
        words("form.never") + " " + words("form.total", part=cases, whole=people, epsilon=2),
    ]
    page = " ".join((Path(__file__).parents[2] / "docs" / "form.md").read_text().replace("\n>", "\n").split())
    assert all(line in page for line in lines)
