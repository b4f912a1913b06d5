"""Build a definition from `survey.yaml`: check the author's file, form the fields, choose the mechanisms.

`candor_client.definition` alone decides which definitions are valid. The author's questions go through the parser that
respondents' devices use. Its errors are raised again with the author's line. This module adds the checks that concern
authors only: budgets, designs, joint fields, dates.
"""

import dataclasses
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from candor_client import canonical, mechanisms
from candor_client.canonical import spell
from candor_client.definition import FORMAT, Survey, possible_cells
from candor_client.display import LANGUAGE
from candor_client.errors import DefinitionError
from candor_client.mechanisms import round_up
from candor_client.question import Question, find_oversized_questions, parse_questions
from candor_client.verify import compose_losses, verify
from survey_app.authoring.ask import Ask
from survey_app.authoring.authored_question import read_authored_question, read_raw_question
from survey_app.authoring.design.blocks import Design
from survey_app.authoring.entries import Entries, read_entries
from survey_app.authoring.fields import DesignRequest, design_of, read_joint_groups
from survey_app.authoring.groups import Group, read_groups, read_study_slug, slug_of
from survey_app.authoring.invitation_terms import Invitations, read_invitations
from survey_app.authoring.terms import KEYS as TERMS
from survey_app.authoring.terms import Terms, read_terms
from survey_app.authoring.translations import collect_original, read_translations
from survey_app.authoring.yaml_source import AuthoringError, Node, parse_source
from survey_app.kinds import kind_of
from survey_app.languages import numbers

ADVISED_FIELD, ADVISED_TOTAL, CONFIRMED_TOTAL = 2, 4, 8
ADVISED_CELLS = 64  # in a joint field

PROSE = ("description", "consent", "thanks")


class Advice(NamedTuple):
    """Advice for the author: a stable code, the ids of the questions, the value in question, and a sentence."""

    code: str
    question_ids: tuple[str, ...]
    value: Decimal | int
    sentence: str


@dataclasses.dataclass(frozen=True)
class BuiltSurvey:
    """A survey ready to publish: its definitions, its terms, advice for the author, and its design.

    A file with groups is a study. It has one definition for each group; these differ only in slug and group.
    """

    surveys: tuple[Survey, ...]
    terms: Terms
    advice: tuple[Advice, ...]
    design: Design
    request: DesignRequest = dataclasses.field(repr=False, compare=False)
    groups: tuple[Group, ...] = ()
    invitations: Invitations | None = None

    @property
    def needs_key(self) -> bool:
        """Whether publishing makes the keys. Until then the definitions lack their tickets."""
        return self.invitations is not None and self.invitations.is_own_issuer

    @property
    def survey(self) -> Survey:
        """The only definition, or the definition of the first group."""
        return self.surveys[0]

    @property
    def slug(self) -> str:
        """The slug of the study, or of the survey if there is no study."""
        return self.survey.study or self.survey.slug

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The number of people in each group, or None if it is unknown."""
        sizes = tuple(group.size for group in self.groups if group.size)
        return sizes or None

    @property
    def members(self) -> tuple[tuple[Survey, Terms], ...]:
        """Every definition with its terms; the size in the terms is that of its group."""
        sizes = self.sizes or [None] * len(self.surveys)
        return tuple(
            (survey, dataclasses.replace(self.terms, size=size))
            for survey, size in zip(self.surveys, sizes, strict=True)
        )

    @cached_property
    def designs(self) -> dict[Ask, Design]:
        """The designs of these questions by `ask`, without the designs that cannot be built."""
        designs = {self.design.ask: self.design}
        for ask in Ask:
            with suppress(AuthoringError, DefinitionError):
                designs.setdefault(ask, self.request.build_design(ask))
        return {ask: designs[ask] for ask in Ask if ask in designs}

    @cached_property
    def joint_design(self) -> Design | None:
        """The design with all questions in one block that every respondent answers, or None if it cannot be built."""
        return self.request.build_joint_design()


def build_file(path: Path) -> BuiltSurvey:
    """Build a survey from an author's file: JSON if its name ends in .json, else YAML.

    Raise AuthoringError if the file cannot be read or has an error.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise AuthoringError("unreadable", f"cannot read {path}: {error.strerror}") from None
    return build(source, json_file=path.suffix == ".json")


def build(source: bytes, *, json_file: bool = False, bare: bool = False) -> BuiltSurvey:
    """Build a survey from the bytes of an author's file.

    `bare` leaves out sections and translations, which change only the presentation. Raise AuthoringError with the
    reason and the place of an error.
    """
    return build_tree(parse_source(source, json_file=json_file), bare=bare)


def build_tree(tree: Node, *, bare: bool = False) -> BuiltSurvey:
    """Build a survey from a file that is parsed already; see `build`."""
    top = _read_top(tree)
    entries = read_entries(top["questions"])
    try:
        return _build(tree, top, entries, bare=bare)
    except DefinitionError as error:
        path = entries.source_path_of(error.path)
        raise AuthoringError(error.code, error.reason, path, tree.line_of(path)) from None


def find_presentation_errors(tree: Node) -> list[AuthoringError]:
    """Return all errors in the sections and translations of a file, whether or not the rest is valid."""
    top = tree.value if isinstance(tree.value, dict) else {}
    try:
        entries = read_entries(top["questions"])
    except (KeyError, AuthoringError):
        return []
    if "translations" not in top:
        return entries.section_errors
    return [*entries.section_errors, *read_translations(top["translations"], collect_original(top, entries))[1]]


def _read_top(tree: Node) -> dict[str, Node]:
    other_keys = ("epsilon", "ask", "joint", "accept_weak_privacy", "groups", "invitations")
    text_keys = (*PROSE, "contact", "language", "completion", "translations")
    if isinstance(tree.value, dict) and "sections" in tree.value:
        raise tree.value["sections"].error(
            "misplaced_section",
            "sections belong in the list of questions; write - section: … before the first question of each section",
        )
    return tree.mapping(("slug", "title", "questions"), (*text_keys, *TERMS, *other_keys))


def _build(tree: Node, top: dict[str, Node], entries: Entries, *, bare: bool) -> BuiltSurvey:
    groups = read_groups(top["groups"], read_study_slug(top["slug"])) if "groups" in top else ()
    if entries.battery_errors:
        raise entries.battery_errors[0]
    nodes = entries.questions
    raws = [read_raw_question(node) for node in nodes]
    questions = parse_questions(raws)
    for error in find_oversized_questions(questions):  # before any expensive work is done for them
        raise error
    ask = _read_ask(top.get("ask"))
    items = tuple(
        read_authored_question(*item_parts, split=ask is Ask.ALL)
        for item_parts in zip(nodes, questions, raws, strict=True)
    )
    request = DesignRequest(items, read_joint_groups(top.get("joint"), items), top.get("epsilon"))
    fields = request.build_fields(ask)
    asks_one = ask is not Ask.ALL and len(fields) > 1
    for field in fields:
        for item, question in zip(field.items, field.questions, strict=True):
            item.raw.update(kind_of(question).compiled_keys(question))
    total = round_up(compose_losses((field.mechanism.epsilon for field in fields), ask=asks_one))
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
        raise top["language"].error("bad_language", "is not a language tag; use one such as de for German or pt-BR")
    for key in ("contact", "language", "completion"):
        if key in top and (key, top[key].text()) != ("language", "en"):
            definition[key] = top[key].text()
    if asks_one:
        definition["ask"] = 1
    if not bare:
        definition |= _build_presentation(top, entries, raws)
    invitations = read_invitations(top)
    surveys = tuple(
        Survey.from_json(_encode(definition | group_keys))
        for group_keys in _make_group_keys(definition["slug"], groups) or [{}]
    )
    if invitations and not invitations.is_own_issuer:
        if groups:
            raise top["invitations"].error(
                "groups_with_issuer",
                "every group needs its own key, but a file can name only one; let this server invite, or publish each "
                "group as a separate survey",
            )
        surveys = tuple(map(invitations.complete, surveys))
    survey = surveys[0]
    verify(survey)
    weak = top.get("accept_weak_privacy")
    if total > CONFIRMED_TOTAL and not (weak and weak.boolean()):
        raise top.get("epsilon", tree).error(
            "weak_privacy",
            f"a total ε of {numbers.format_epsilon(total, fixed=True)} protects almost nothing; lower it to "
            f"{CONFIRMED_TOTAL} or less, or write accept_weak_privacy: true",
        )
    advice, design = _make_advice(survey, total, request, ask), design_of(ask, fields)
    return BuiltSurvey(surveys, read_terms(top), advice, design, request, groups, invitations)


def _build_presentation(top: dict[str, Node], entries: Entries, raws: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sections and translations of a definition. Raise the first error in them."""
    presentation: dict[str, Any] = {}
    errors = entries.section_errors
    if entries.sections:
        presentation["sections"] = [
            {"first": raws[section.first]["id"], "title": section.title}
            | ({"text": section.text} if section.text else {})
            | ({"grid": True} if section.grid else {})
            for section in entries.sections
        ]
    if "translations" in top:
        presentation["translations"], translation_errors = read_translations(
            top["translations"], collect_original(top, entries)
        )
        errors = [*errors, *translation_errors]
    if errors:
        raise errors[0]
    return presentation


def _make_group_keys(study: str, groups: Iterable[Group]) -> list[dict[str, str]]:
    """Return for each group the keys in which its definition differs from the others."""
    return [{"slug": slug_of(study, group.id), "study": study, "group": group.label} for group in groups]


def _read_ask(node: Node | None) -> Ask:
    if node is None:
        return Ask.ALL
    if (word := node.text()) not in list(Ask):
        raise node.error(
            "unknown_word",
            "must be auto (each device answers one block of questions at the full ε, and the blocks need the fewest "
            "respondents), one (each device answers one question or one joint group), or all (each device answers all "
            "questions, and ε is split)",
        )
    return Ask(word)


def _encode(definition: dict[str, Any]) -> bytes:
    try:
        return canonical.dumps(definition)
    except UnicodeEncodeError:
        raise AuthoringError(
            "lone_surrogate", "a text contains half a character (a lone surrogate); delete it"
        ) from None


def is_weak(total: Decimal) -> bool:
    """Return whether the total ε of a survey, spent on one person, is more than authors are advised to spend."""
    return total > ADVISED_TOTAL


def _make_advice(survey: Survey, total: Decimal, request: DesignRequest, ask: Ask) -> tuple[Advice, ...]:
    advice = [
        Advice(
            "field_epsilon",
            _ids_of(field.questions),
            field.mechanism.epsilon,
            f"{_join_ids(field.questions)}: ε = {numbers.format_epsilon(field.mechanism.epsilon, fixed=True)} "
            f"is above the recommended {ADVISED_FIELD}; for a sensitive question, ln 3 (design: coin) is usual",
        )
        for field in survey.fields
        if field.mechanism.epsilon > ADVISED_FIELD and ask is Ask.ALL
    ]
    if is_weak(total):
        suggestion = "; consider ask: auto" if ask is Ask.ALL and len(survey.fields) > 1 else ""
        advice.append(
            Advice(
                "total_epsilon",
                (),
                total,
                f"the survey: the total ε = {numbers.format_epsilon(total, fixed=True)} is above the recommended "
                f"{ADVISED_TOTAL}{suggestion}",
            )
        )
    for group in request.groups:
        questions = [item.question for item in group]
        if len(group) > 1 and (cells := sum(1 for _ in possible_cells(questions))) > ADVISED_CELLS:
            advice.append(
                Advice(
                    "many_cells",
                    _ids_of(questions),
                    cells,
                    f"{_join_ids(questions)}: together they have {cells} combinations, above the recommended "
                    f"{ADVISED_CELLS}, so few people will be in each. `candor plan` shows how many respondents they "
                    "need together and apart",
                )
            )
    return tuple(advice)


def _ids_of(questions: Iterable[Question]) -> tuple[str, ...]:
    return tuple(question.id for question in questions)


def _join_ids(questions: Iterable[Question]) -> str:
    return " + ".join(_ids_of(questions))
