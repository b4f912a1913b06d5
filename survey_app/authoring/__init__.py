"""From `survey.yaml` to a definition: check what the author wrote, form the fields, choose the mechanisms.

What a definition may say is decided in `client.definition` alone: the author's questions go through the same parser
as a respondent's device uses, and its complaints come back with the author's line. This module adds what only an
author can get wrong: budgets, designs, joint fields, dates.
"""

import dataclasses
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from client import canonical, mechanisms
from client.canonical import spell
from client.definition import FORMAT, Survey, possible_cells
from client.display import LANGUAGE
from client.errors import DefinitionError
from client.mechanisms import round_up
from client.question import Question, count_labels, parse_questions
from client.verify import spend, verify
from survey_app.authoring.ask import Ask
from survey_app.authoring.design import Design
from survey_app.authoring.entries import Entries, read_entries
from survey_app.authoring.fields import Wishes, design_of, groups_of
from survey_app.authoring.groups import Group, checked_study, read_groups, slug_of
from survey_app.authoring.invitations import Invitations, read_invitations
from survey_app.authoring.questions import raw_question, wish_of
from survey_app.authoring.source import AuthoringError, Node, read
from survey_app.authoring.terms import KEYS as TERMS
from survey_app.authoring.terms import Terms, read_terms
from survey_app.authoring.translations import original_of, read_translations
from survey_app.explain import written
from survey_app.kinds import kind_of

ADVISED_FIELD, ADVISED_TOTAL, CONFIRMED_TOTAL = 2, 4, 8
ADVISED_CELLS = 64  # of a joint field

PROSE = ("description", "consent", "thanks")


@dataclasses.dataclass(frozen=True)
class Built:
    """A survey ready to publish: its definition, what stays outside of it, advice for the author, and its design.

    With groups it is a study: a definition for each of them, which differ in slug and group alone.
    """

    surveys: tuple[Survey, ...]
    terms: Terms
    advice: tuple[str, ...]
    design: Design
    wishes: Wishes = dataclasses.field(repr=False, compare=False)
    groups: tuple[Group, ...] = ()
    invitations: Invitations | None = None

    @property
    def needs_key(self) -> bool:
        """Whether publishing makes keys first; until then the definitions are without their tickets."""
        return self.invitations is not None and self.invitations.own

    @property
    def survey(self) -> Survey:
        """The only definition, or that of the first group."""
        return self.surveys[0]

    @property
    def slug(self) -> str:
        """What the whole of it is called: a study, or a survey."""
        return self.survey.study or self.survey.slug

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """How many people each group has; None where that is not known."""
        known = tuple(group.size for group in self.groups if group.size)
        return known or None

    @property
    def members(self) -> tuple[tuple[Survey, Terms], ...]:
        """Every definition with its terms: a size is its group's own."""
        sizes = self.sizes or [None] * len(self.surveys)
        return tuple(
            (survey, dataclasses.replace(self.terms, size=size))
            for survey, size in zip(self.surveys, sizes, strict=True)
        )

    @cached_property
    def designs(self) -> dict[Ask, Design]:
        """The same questions with each `ask`, by its word; without those that cannot be made."""
        found = {self.design.ask: self.design}
        for ask in Ask:
            with suppress(AuthoringError, DefinitionError):
                found.setdefault(ask, self.wishes.design(ask))
        return {ask: found[ask] for ask in Ask if ask in found}

    @cached_property
    def whole(self) -> Design | None:
        """All questions in one block that everybody answers; None where they cannot be."""
        return self.wishes.together()


def build_file(path: Path) -> Built:
    """What an author's file becomes, YAML unless its name ends in .json."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise AuthoringError(f"cannot read {path}: {error.strerror}") from None
    return build(source, json_file=path.suffix == ".json")


def build(source: bytes, *, json_file: bool = False, bare: bool = False) -> Built:
    """What an author's file becomes; AuthoringError tells what is wrong, and where.

    A bare one is without sections and translations, which are for the eye alone.
    """
    return build_tree(read(source, json_file=json_file), bare=bare)


def build_tree(tree: Node, *, bare: bool = False) -> Built:
    """The same for a file that was read already."""
    top = _members(tree)
    entries = read_entries(top["questions"])
    try:
        return _build(tree, top, entries, bare=bare)
    except DefinitionError as error:
        path = entries.written_at(error.path)
        raise AuthoringError(error.reason, path, tree.line_of(path)) from None


def wrong_to_the_eye(tree: Node) -> list[AuthoringError]:
    """Everything that is wrong with the sections and translations of a file, whatever else is."""
    top = tree.value if isinstance(tree.value, dict) else {}
    try:
        entries = read_entries(top["questions"])
    except (KeyError, AuthoringError):
        return []
    if "translations" not in top:
        return entries.wrong
    return [*entries.wrong, *read_translations(top["translations"], original_of(top, entries))[1]]


def _members(tree: Node) -> dict[str, Node]:
    compiled = ("epsilon", "ask", "joint", "accept_weak_privacy", "groups", "invitations")
    shown = (*PROSE, "contact", "language", "completion", "translations")
    if isinstance(tree.value, dict) and "sections" in tree.value:
        raise tree.value["sections"].error("a section stands among the questions, as - section: … before its first")
    return tree.mapping(("slug", "title", "questions"), (*shown, *TERMS, *compiled))


def _build(tree: Node, top: dict[str, Node], entries: Entries, *, bare: bool) -> Built:
    groups = read_groups(top["groups"], checked_study(top["slug"])) if "groups" in top else ()
    if entries.broken:
        raise entries.broken[0]
    nodes = entries.questions
    raws = [raw_question(node) for node in nodes]
    questions = parse_questions(raws)
    for error in count_labels(questions):  # before anything is worked out for them
        raise error
    asking = _ask(top.get("ask"))
    items = tuple(wish_of(*parts, split=asking is Ask.ALL) for parts in zip(nodes, questions, raws, strict=True))
    wishes = Wishes(items, groups_of(top.get("joint"), items), top.get("epsilon"))
    fields = wishes.fields(asking)
    ask = asking is not Ask.ALL and len(fields) > 1
    for field in fields:
        for item, question in zip(field.items, field.questions, strict=True):
            item.raw.update(kind_of(question).chosen_keys(question))
    total = round_up(spend((field.mechanism.epsilon for field in fields), ask=ask))
    definition: dict[str, Any] = {
        "format": FORMAT,
        "slug": top["slug"].text(),
        "title": top["title"].text(),
        "epsilon": spell(total),
        "questions": raws,
        "fields": [
            {"mechanism": mechanisms.publish(field.mechanism), "questions": [item.question.id for item in field.items]}
            | ({"chance": field.chance} if field.chance > 1 else {})
            for field in fields
        ],
    }
    for key in PROSE:
        if key in top:
            definition[key] = top[key].prose()
    if "language" in top and not LANGUAGE.fullmatch(top["language"].text()):
        raise top["language"].error("is no language tag; a tag is short, such as de for German or pt-BR")
    for key in ("contact", "language", "completion"):
        if key in top and (key, top[key].text()) != ("language", "en"):
            definition[key] = top[key].text()
    if ask:
        definition["ask"] = 1
    if not bare:
        definition |= _for_the_eye(top, entries, raws)
    invitations = read_invitations(top)
    surveys = tuple(
        Survey.from_json(_canonical(definition | one)) for one in _named_as(definition["slug"], groups) or [{}]
    )
    if invitations and not invitations.own:
        if groups:
            raise top["invitations"].error(
                "every group needs a key of its own, and a file names one: let this server invite, or publish each "
                "group as a survey of its own"
            )
        surveys = tuple(map(invitations.complete, surveys))
    survey = surveys[0]
    verify(survey)
    weak = top.get("accept_weak_privacy")
    if total > CONFIRMED_TOTAL and not (weak and weak.truth()):
        raise top.get("epsilon", tree).error(
            f"a total ε of {written.epsilon(total, fixed=True)} protects almost nothing; above {CONFIRMED_TOTAL}, "
            "write accept_weak_privacy: true if you mean it"
        )
    advice, design = _advice(survey, total, wishes, asking), design_of(asking, fields)
    return Built(surveys, read_terms(top), advice, design, wishes, groups, invitations)


def _for_the_eye(top: dict[str, Node], entries: Entries, raws: list[dict[str, Any]]) -> dict[str, Any]:
    """The sections and translations of a definition."""
    made: dict[str, Any] = {}
    wrong = entries.wrong
    if entries.sections:
        made["sections"] = [
            {"first": raws[one.first]["id"], "title": one.title}
            | ({"text": one.text} if one.text else {})
            | ({"grid": True} if one.grid else {})
            for one in entries.sections
        ]
    if "translations" in top:
        made["translations"], more = read_translations(top["translations"], original_of(top, entries))
        wrong = [*wrong, *more]
    if wrong:
        raise wrong[0]
    return made


def _named_as(study: str, groups: Iterable[Group]) -> list[dict[str, str]]:
    """What the definition of each group has of its own."""
    return [{"slug": slug_of(study, group.id), "study": study, "group": group.label} for group in groups]


def _ask(node: Node | None) -> Ask:
    if node is None:
        return Ask.ALL
    if (said := node.text()) not in list(Ask):
        raise node.error(
            "ask is a word: auto (each device answers one block of questions at the full ε, in the blocks that need "
            "the fewest respondents), one (each device answers one question, or one joint group), or all (every "
            "device answers everything, and ε is split)"
        )
    return Ask(said)


def _canonical(definition: dict[str, Any]) -> bytes:
    try:
        return canonical.dumps(definition)
    except UnicodeEncodeError:
        raise AuthoringError("half a character (a lone surrogate) stands somewhere in the texts") from None


def is_weak(total: Decimal) -> bool:
    """Whether a survey spends more than authors are advised to, on one person and in total."""
    return total > ADVISED_TOTAL


def _advice(survey: Survey, total: Decimal, wishes: Wishes, asking: Ask) -> tuple[str, ...]:
    advice = [
        f"{_named(field.questions)}: ε = {written.epsilon(field.mechanism.epsilon, fixed=True)} "
        f"is more than {ADVISED_FIELD}; for a sensitive question, ln 3 (design: coin) is usual"
        for field in survey.fields
        if field.mechanism.epsilon > ADVISED_FIELD and asking is Ask.ALL
    ]
    if is_weak(total):
        instead = "; consider ask: auto" if asking is Ask.ALL and len(survey.fields) > 1 else ""
        advice.append(
            f"the survey: ε = {written.epsilon(total, fixed=True)} in total is more than {ADVISED_TOTAL}{instead}"
        )
    for group in wishes.groups:
        questions = [item.question for item in group]
        if len(group) > 1 and (cells := sum(1 for _ in possible_cells(questions))) > ADVISED_CELLS:
            advice.append(
                f"{_named(questions)}: together they have {cells} combinations, more than {ADVISED_CELLS}; few people "
                "will be in each. `candor plan` tells what they need together, and what apart"
            )
    return tuple(advice)


def _named(questions: Iterable[Question]) -> str:
    return " + ".join(question.id for question in questions)
