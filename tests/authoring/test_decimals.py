"""As many decimals as an author likes: ε is rounded towards privacy, what a definition repeats is never rounded."""

import time
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from candor_client import Survey, verify
from candor_client.canonical import spell
from candor_client.mechanisms import Drawn, Flip, Geometric, Mechanism, Subset
from candor_client.sampling import DENOMINATOR
from survey_app.authoring import build, mechanism_choice
from survey_app.authoring.yaml_source import EPSILON_STEP, AuthoringError

LN3 = "1.09861228866810969139524523692252570464749055782274945173469433363749429321860896687361575481373208878797"
BUSY = settings(max_examples=50)  # a busy machine is no fault of the code
FINEST = Fraction(EPSILON_STEP)  # the step from one ε that can be published to the next
DECIMALS = st.decimals("0.01", "8", places=40)
QUESTIONS = {
    "yes_no": "type: yes_no",
    "choice": "type: choice, options: [a, b, c, d, e]",
    "multiple": "type: multiple, options: [a, b, c]",
    "number": "type: number, min: 0, max: 60, step: 1",
    "laplace": "type: number, min: 0, max: 60, step: 1, mechanism: laplace",
}


def survey(*questions: str, top: str = "accept_weak_privacy: true") -> Survey:
    asked = (f"  - {{id: q{place}, text: Which?, {question}}}" for place, question in enumerate(questions))
    return build("\n".join(["slug: long", "title: Long", top, "questions:", *asked]).encode()).survey


def refusal(*questions: str, top: str = "epsilon: 1") -> AuthoringError:
    with pytest.raises(AuthoringError) as caught:
        survey(*questions, top=top)
    return caught.value


def spends_at_most(mechanism: Mechanism, asked: Fraction) -> bool:
    """Whether odds ≤ e^asked, with more digits than the mechanism was made with."""
    with localcontext(prec=200):
        exact = Decimal(asked.numerator) / asked.denominator
        return Decimal(mechanism.odds.numerator) / mechanism.odds.denominator <= exact.exp()


@BUSY
@given(st.sampled_from(sorted(QUESTIONS)), DECIMALS)
@example("choice", Decimal("1.0986122886681098"))
@example("yes_no", Decimal("0.9999999999999999999999999999"))
@example("yes_no", Decimal(LN3))
def test_what_is_published_and_what_is_spent_are_never_more_than_was_asked(kind: str, asked: Decimal) -> None:
    made = survey(f"{QUESTIONS[kind]}, epsilon: {asked:f}")
    assert Fraction(asked) - FINEST < Fraction(made.epsilon) <= Fraction(asked)
    assert verify(made) <= made.epsilon
    assert spends_at_most(made.fields[0].mechanism, Fraction(asked))


@BUSY
@given(DECIMALS, st.lists(st.decimals("0.01", "9", places=30), min_size=1, max_size=4))
def test_a_total_and_weights_of_many_decimals_are_shared_exactly(total: Decimal, weights: list[Decimal]) -> None:
    made = survey(
        *(f"{QUESTIONS['yes_no']}, weight: {weight:f}" for weight in weights),
        top=f"epsilon: {total:f}\naccept_weak_privacy: true",
    )
    assert Fraction(total) - FINEST * 2 < Fraction(made.epsilon) <= Fraction(total)
    whole = sum(map(Fraction, weights))
    for field, weight in zip(made.fields, weights, strict=True):
        assert spends_at_most(field.mechanism, Fraction(total) * Fraction(weight) / whole)


def thresholds(mechanism: Mechanism) -> tuple[Mechanism, Mechanism]:
    """A mechanism as it was made, and the one that is a single unit of its threshold less private."""
    match mechanism:
        case Flip(one=one, zero=zero):
            return mechanism, Flip(one=one + 1, zero=zero - 1)
        case Subset(size=size, weight=weight, keep=keep):
            return mechanism, Subset(size=size, weight=weight, keep=keep + 1)
        case Drawn(size=size, draw=draw, keep=keep):
            return mechanism, Drawn(size=size, draw=draw, keep=keep + 1)
        case Geometric(size=size, ratio=ratio):  # its tails are rounded too, so that it has to give a little more
            return mechanism, Geometric(size=size, ratio=ratio - ratio // 10**9)


@BUSY
@given(DECIMALS)
def test_thresholds_are_the_last_that_keep_the_promise(epsilon: Decimal) -> None:
    """From both sides: each keeps ε, and one unit of 2^−64 further none does (geometric: a billionth of its ratio)."""
    for mechanism in (
        mechanism_choice.make_flip(epsilon),
        mechanism_choice.make_subset(5, 1, epsilon),
        mechanism_choice.make_subset(9, 4, epsilon),
        mechanism_choice.make_drawn(9, 3, epsilon),
        mechanism_choice.make_geometric(11, epsilon),
    ):
        made, beyond = thresholds(mechanism)
        assert spends_at_most(made, Fraction(epsilon))
        assert not spends_at_most(beyond, Fraction(epsilon))


SPREAD = [
    *(Decimal(f"1e{power}") * digit for power in range(-6, 1) for digit in (1, 2, 5)),
    *(Decimal(tenths) / 10 for tenths in range(3, 401, 7)),
    Decimal(40),
]


@pytest.mark.parametrize("epsilon", SPREAD, ids=str)
def test_no_mechanism_spends_more_than_it_was_made_for(epsilon: Decimal) -> None:
    """Sizes and ε as far as they go: the loss is that of the integers, 50 digits of it."""
    made: list[Mechanism] = [mechanism_choice.make_flip(epsilon)]
    made += [
        mechanism_choice.make_subset(size, weight, epsilon)
        for size in (2, 3, 5, 17, 64, 1000, 60_000)
        for weight in {1, 2, size // 3, size - 1}
        if 1 <= weight < size
    ]
    made += [
        mechanism_choice.make_drawn(size, draw, epsilon)
        for size in (1, 4, 16, 40)
        for draw in range(1, min(size, 16) + 1)
    ]
    made += [mechanism_choice.make_geometric(levels, epsilon) for levels in (2, 3, 4, 7, 11, 32, 63, 64)]
    for mechanism in made:
        assert mechanism.epsilon <= epsilon
        assert spends_at_most(mechanism, Fraction(epsilon))
        assert epsilon > 20 or mechanism.epsilon > epsilon * Decimal("0.99999"), "and not much less either"


def test_an_epsilon_a_hair_below_a_threshold_does_not_get_it() -> None:
    """At ln 3 a coin is ¾. Less by 10^−70 it must be below ¾, and sixty digits cannot tell the two apart."""
    with localcontext(prec=120):
        epsilon = Decimal(3).ln() - Decimal("1e-70")
    below = mechanism_choice.make_flip(epsilon)
    assert below.one == DENOMINATOR * 3 // 4 - 1
    assert spends_at_most(below, Fraction(epsilon))
    assert not spends_at_most(Flip(one=DENOMINATOR * 3 // 4, zero=DENOMINATOR // 4), Fraction(epsilon))


def test_designs_alone_have_to_fit_the_total_as_it_is_written() -> None:
    above, below = "1.0986122886681098", "1.0986122886681096"  # ln 3 lies between
    assert survey("type: yes_no, design: coin", top=f"epsilon: {above}").epsilon == Decimal("1.098612288669")
    assert refusal("type: yes_no, design: coin", top=f"epsilon: {below}").code == "nothing_left"


@BUSY
@given(st.decimals("0.500001", "0.999999", places=60))
def test_a_design_of_many_decimals_is_rounded_the_private_way(p: Decimal) -> None:
    (field,) = survey(f"type: yes_no, design: {{warner: {p:f}}}").fields
    mechanism = field.mechanism
    assert isinstance(mechanism, Flip)
    assert 0 <= Fraction(p) - mechanism.p < Fraction(1, DENOMINATOR)
    assert 0 <= mechanism.q - (1 - Fraction(p)) < Fraction(1, DENOMINATOR)


def test_a_design_that_rounds_to_nothing_says_so_with_its_line() -> None:
    error = refusal(f"type: yes_no, design: {{warner: 0.5{'0' * 30}1}}")
    assert (error.line, error.path, error.code) == (5, "questions[0].design", "uninformative")


def test_an_epsilon_too_small_to_publish_says_so() -> None:
    for error in (
        refusal(f"{QUESTIONS['yes_no']}, epsilon: 0.{'0' * 900}1", top="language: de"),
        refusal(QUESTIONS["yes_no"], top=f"epsilon: 0.{'0' * 12}9"),
    ):
        assert error.code == "too_small"


def test_scores_and_grids_keep_every_digit_or_are_refused() -> None:
    scores = ["-123456789012345.1234567890123456", "0.0000000000000001", "7"]
    made = survey(f"type: scale, points: [a, b, c], scores: [{', '.join(scores)}]", top="epsilon: 1")
    assert [f"{score:f}" for score in made.questions[0].scores] == scores
    grid = "min: 0.0000000000000001, max: 0.0000000000000009, step: 0.0000000000000002"
    assert survey(f"type: number, {grid}", top="epsilon: 1").questions[0].steps == 4
    assert survey("type: number, min: 0, max: 1, step: 0.25" + "0" * 300, top="epsilon: 1").questions[0].steps == 4
    for place, question in enumerate(
        (
            "type: scale, points: [a, b], scores: [0.33333333333333333, 1]",
            f"type: number, min: 0, max: 1.{'0' * 100}1",
            f"type: number, min: -0.{'3' * 1000}, max: 1",
        )
    ):
        error = refusal(question)
        assert (error.line, error.code) == (5, "too_many_decimals"), place


@BUSY
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=16))
def test_a_decimal_is_spelled_with_all_its_digits(value: Decimal) -> None:
    assert Decimal(spell(value)) == value


def test_long_decimals_stay_fast() -> None:
    """Two hundred weights of a thousand decimals; most of the second or two is spent on reading the YAML."""
    weights = [f"{1 + place % 7}.{str(place + 11) * 500:.1000}" for place in range(200)]
    start = time.process_time()
    made = survey(
        *(f"type: yes_no, weight: {weight}" for weight in weights),
        top=f"epsilon: 39.{'9' * 1000}\naccept_weak_privacy: true",
    )
    assert time.process_time() - start < 10
    assert Decimal("39.999") < made.epsilon < 40
    by_weight = sorted(zip(map(Decimal, weights), made.fields, strict=True), key=lambda pair: pair[0])
    assert all(a.mechanism.epsilon <= b.mechanism.epsilon for (_, a), (_, b) in pairwise(by_weight))


def test_a_number_longer_than_a_thousand_decimals_is_refused_briefly() -> None:
    error = refusal(f"{QUESTIONS['yes_no']}, epsilon: 0.{'1' * 1001}", top="language: de")
    assert error.code == "not_a_number"
    assert len(str(error)) < 200
