"""From `survey.yaml` to a definition: check what the author wrote, share the budget, choose the mechanisms.

What a definition may say is decided in `client.definition` alone: the author's questions go through the same parser
as a respondent's device uses, and its complaints come back with the author's line. This module adds what only an
author can get wrong: budgets, designs, joint fields, dates.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from client import canonical, mechanism
from client.canonical import spell
from client.definition import FORMAT, Survey, parse_questions
from client.errors import DefinitionError
from client.mechanism import round_up
from client.verify import spend, verify
from survey_app.authoring import choose
from survey_app.authoring.budget import Claim, share
from survey_app.authoring.choose import PRECISE, Choice
from survey_app.authoring.questions import Item, raw_question, wish_of
from survey_app.authoring.source import AuthoringError, Node, read
from survey_app.authoring.terms import KEYS as TERMS
from survey_app.authoring.terms import Terms, read_terms
from survey_app.channel import bit_variance
from survey_app.explain import written

ADVISED_FIELD, ADVISED_TOTAL, CONFIRMED_TOTAL = 2, 4, 8

PROSE = ("description", "consent")


@dataclass(frozen=True)
class Built:
    """A survey ready to publish: its definition, what stays outside of it, and advice for the author."""

    survey: Survey
    terms: Terms
    advice: tuple[str, ...]


def build_file(path: Path) -> Built:
    """What an author's file becomes, YAML unless its name ends in .json."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise AuthoringError(f"cannot read {path}: {error.strerror}") from None
    return build(source, json_file=path.suffix == ".json")


def build(source: bytes, *, json_file: bool = False) -> Built:
    """What an author's file becomes; AuthoringError tells what is wrong, and where."""
    return build_tree(read(source, json_file=json_file))


def build_tree(tree: Node) -> Built:
    """The same for a file that was read already."""
    try:
        return _build(tree)
    except DefinitionError as error:
        raise AuthoringError(error.reason, error.path, tree.line_of(error.path)) from None


def _build(tree: Node) -> Built:
    compiled = ("epsilon", "ask", "joint", "accept_weak_privacy")
    top = tree.mapping(("slug", "title", "questions"), (*PROSE, "contact", "language", *TERMS, *compiled))
    nodes = top["questions"].items()
    raws = [raw_question(node) for node in nodes]
    questions = parse_questions(raws)
    items = [wish_of(*parts) for parts in zip(nodes, questions, raws, strict=True)]
    groups = _groups(top.get("joint"), items)
    choices, ask = _allocate(tree, top, groups)
    for group, choice in zip(groups, choices, strict=True):
        for item, levels in zip(group, choice.levels, strict=True):
            if levels:
                item.raw["levels"] = levels
    total = round_up(spend((choice.mechanism.epsilon for choice in choices), ask))
    definition: dict[str, Any] = {
        "format": FORMAT,
        "slug": top["slug"].text(),
        "title": top["title"].text(),
        "epsilon": spell(total),
        "questions": raws,
        "fields": [
            {"mechanism": mechanism.publish(choice.mechanism), "questions": [item.question.id for item in group]}
            for group, choice in zip(groups, choices, strict=True)
        ],
    }
    for key in PROSE:
        if key in top:
            definition[key] = top[key].prose()
    for key in ("contact", "language"):
        if key in top and (key, top[key].text()) != ("language", "en"):
            definition[key] = top[key].text()
    if ask is not None:
        definition["ask"] = ask
    survey = Survey.from_json(_canonical(definition))
    verify(survey)
    weak = top.get("accept_weak_privacy")
    if total > CONFIRMED_TOTAL and not (weak and weak.truth()):
        raise top.get("epsilon", tree).error(
            f"a total ε of {written.epsilon(total, fixed=True)} protects almost nothing; above {CONFIRMED_TOTAL}, "
            "write accept_weak_privacy: true if you mean it"
        )
    return Built(survey, read_terms(top), _advice(survey, total))


def _groups(joint: Node | None, items: list[Item]) -> list[list[Item]]:
    """The items of every field, in the order of their first questions."""
    by_id = {item.question.id: item for item in items}
    member: dict[str, list[Item]] = {}
    for group in joint.items() if joint else ():
        names = group.items()
        if len(names) < 2:
            raise group.error("at least two questions are randomized together")
        for name in names:
            item = by_id.get(name.text())
            if item is None:
                raise name.error(f"there is no question {name.text()!r}")
            if item.question.id in member:
                raise name.error(f"{item.question.id} is in a joint field already")
            if item.design or item.laplace:
                raise name.error("a question with a design or with mechanism: laplace cannot be joint")
            member[item.question.id] = []
        together = [by_id[name.text()] for name in names]
        member |= {item.question.id: together for item in together}
    groups: list[list[Item]] = []
    for item in items:
        group_items = member.get(item.question.id, [item])
        if group_items not in groups:
            groups.append(group_items)
    return groups


def _allocate(tree: Node, top: dict[str, Node], groups: list[list[Item]]) -> tuple[list[Choice], int | None]:
    """The mechanism of every field, and how many of them a device answers (None: all)."""
    count = len(groups)
    node = top.get("ask")
    if node is None:
        return _choices(tree, top, groups, count), None
    if any(item.question.show_if for group in groups for item in group):
        raise node.error("ask and show_if cannot be combined: who is asked must not depend on an answer")
    if node.text() != "auto":
        if (ask := node.integer(1)) > count:
            raise node.error(f"there are only {count} fields")
    else:
        ask = _best_ask(tree, top, groups)
    return _choices(tree, top, groups, ask), ask if ask < count else None


def _best_ask(tree: Node, top: dict[str, Node], groups: list[list[Item]]) -> int:
    """The s that minimises Σ (F/s)·V_f, the variances summed over all fields."""
    count, worst = len(groups), {}
    for ask in range(1, count + 1):
        try:
            choices = _choices(tree, top, groups, ask)
        except (AuthoringError, DefinitionError):
            if ask == 1:
                raise
            continue
        worst[ask] = count / ask * sum(choice.variance for choice in choices)
    return min(worst, key=lambda ask: worst[ask])


def _choices(tree: Node, top: dict[str, Node], groups: list[list[Item]], ask: int) -> list[Choice]:
    claims = [
        Claim(sum((i.fixed for i in group), Fraction(0)), sum((i.weight for i in group), Fraction(0)))
        for group in groups
    ]
    if "epsilon" in top:
        shared = any(claim.weight for claim in claims)  # designs alone are what they are, and only have to fit
        total = top["epsilon"].epsilon() if shared else Fraction(top["epsilon"].positive("ε"))
        shares = share(claims, total, ask)
        if shares is None:
            raise top["epsilon"].error("designs and questions with their own epsilon leave nothing of this total")
    else:
        for group, claim in zip(groups, claims, strict=True):
            if claim.weight:
                raise group[0].node.error("has no ε: give it epsilon or design, or give the survey an epsilon")
        shares = [claim.fixed for claim in claims]
    return [_choice(group, epsilon) for group, epsilon in zip(groups, shares, strict=True)]


def _choice(group: list[Item], epsilon: Fraction) -> Choice:
    first = group[0]
    if first.design:
        return Choice(first.design, (0,), bit_variance(first.design, choose.PLANNING_SHARE))
    with localcontext(PRECISE):
        exact = Decimal(epsilon.numerator) / epsilon.denominator
    try:
        return choose.choose([item.question for item in group], exact, laplace=first.laplace)
    except DefinitionError as error:
        raise first.node.error(
            f"no mechanism at ε = {written.requested_epsilon(float(epsilon))}: {error.reason}"
        ) from None


def _canonical(definition: dict[str, Any]) -> bytes:
    try:
        return canonical.dumps(definition)
    except UnicodeEncodeError:
        raise AuthoringError("half a character (a lone surrogate) stands somewhere in the texts") from None


def is_weak(total: Decimal) -> bool:
    """Whether a survey spends more than authors are advised to, on one person and in total."""
    return total > ADVISED_TOTAL


def _advice(survey: Survey, total: Decimal) -> tuple[str, ...]:
    advice = [
        f"{' + '.join(question.id for question in field.questions)}: "
        f"ε = {written.epsilon(field.mechanism.epsilon, fixed=True)} "
        f"is more than {ADVISED_FIELD}; for a sensitive question, ln 3 (design: coin) is usual"
        for field in survey.fields
        if field.mechanism.epsilon > ADVISED_FIELD
    ]
    if is_weak(total):
        advice.append(
            f"the survey: ε = {written.epsilon(total, fixed=True)} in total is more than {ADVISED_TOTAL}; consider ask"
        )
    return tuple(advice)
