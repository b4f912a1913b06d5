"""The expected precision of a survey, or of each group of a study and their total, and the digests to register."""

from collections.abc import Iterator, Sequence

from survey_app.languages import numbers
from survey_app.languages.markup import Block, Code, Mono, Paragraph, Table
from survey_app.plan.dossier.subject import Subject
from survey_app.plan.forecast import Forecast, find_sufficient_respondents, forecast_survey
from survey_app.plan.study_plan import StudyPlan, plan_groups
from survey_app.plan.target import Settings
from survey_app.results.bit_meanings import field_name, format_integers

MARGIN = 0.05  # for which the dossier gives the number of respondents


def describe_precision(subject: Subject, respondents: int) -> Iterator[Block]:
    """Yield the margins at this number of respondents, and the respondents for a margin of MARGIN."""
    settings = Settings(respondents=respondents, margin=MARGIN)
    lines = forecast_survey(subject.survey, settings)
    study = plan_groups(subject, settings, find_sufficient_respondents(lines))
    group_note = f" of all {len(subject.groups)} groups" if study else ""
    yield Paragraph(
        f"Planned for {numbers.format_count(respondents)} respondents{group_note}, with "
        f"{numbers.format_percent(settings.confidence)}"
        " confidence, about a large population of which they are a random sample. Noise and sampling are both in these"
        " margins."
    )
    part = numbers.format_percent(MARGIN)
    if study:
        yield from _describe_groups(study, lines, part)
        vague = any(
            margin >= line.width / 2
            for group in study.groups
            for margin, line in zip(group.margins, lines, strict=True)
        )
    else:
        yield Table(
            ["question", "a figure such as", "margin", f"respondents for ±{part} of its range"],
            [
                [Mono(line.id), line.assumption, _format_margin(line), numbers.format_respondents(line.respondents)]
                for line in lines
            ],
        )
        vague = any(line.is_uninformative for line in lines)
    if vague:
        yield Paragraph(
            "Where a margin is uninformative, so few respondents cannot answer the question: leave it out, or ask"
            " more people."
        )


def _format_margin(line: Forecast, margin: float | None = None) -> str:
    margin = line.margin if margin is None else margin
    return line.margin_text(margin) + (" (uninformative)" if margin >= line.width / 2 else "")


def _describe_groups(study: StudyPlan, lines: Sequence[Forecast], part: str) -> Iterator[Block]:
    yield Table(
        ["group", "people", "weight in the total", "respondents planned"],
        [
            [
                group.group,
                "not known" if group.size is None else numbers.format_count(group.size),
                "no total" if group.weight is None else numbers.format_percent(group.weight, 3),
                numbers.format_count(group.respondents),
            ]
            for group in study.groups
        ],
    )
    if len(study.table_groups) < len(study.groups):
        yield Paragraph("Of many groups, the margins of the smallest and of the largest:")
    head = ["margins", "a figure such as", *(["all groups"] if study.margins else [])]
    rows = [
        [
            Mono(line.id),
            line.assumption,
            *([_format_margin(line, study.margins[i])] if study.margins else []),
            *(_format_margin(line, group.margins[i]) for group in study.table_groups),
            numbers.format_respondents(line.respondents),
        ]
        for i, line in enumerate(lines)
    ]
    yield Table([*head, *(group.group for group in study.table_groups), f"respondents of one group for ±{part}"], rows)
    for sentence in study.requirements:
        yield Paragraph(f"For all ±{part}, {sentence}.")


def describe_registration(subject: Subject) -> Iterator[Block]:
    """Yield the digests, or the time from which they are known, then the parameters and the definition."""
    survey = subject.survey
    explanation = (
        "It is public and cannot be changed under its digest: a changed one has another, and a device that was given a"
        " link with this one refuses it. To register the study, register"
    )
    source = "a definition for each group" if subject.groups else "the definition below"
    digests = "all digests" if subject.groups else "the digest"
    yield Paragraph(
        f"Questions, options and parameters are fixed by {source}. {explanation} {digests}; to check"
        f" {'them' if subject.groups else 'it'}, compute SHA-256 of the definition's bytes."
    )
    if subject.is_keyless:
        yield Paragraph(
            "There is no digest yet. The key for tickets is made at publishing and is part of the definition, so the"
            " digest is known only then: publish the survey without opening it (candor survey add --later), and make"
            f" this document again (candor dossier {subject.slug})."
        )
    if subject.groups:
        members = zip(subject.groups, subject.surveys, subject.digests, strict=True)
        yield Table(
            ["group", "survey", "digest of its definition"],
            [
                [group.label, Mono(survey_of_group.slug), _format_digest(subject, digest)]
                for group, survey_of_group, digest in members
            ],
        )
    elif not subject.is_keyless:
        yield Code(f"sha256 {survey.digest}")
    yield Table(
        ["part", "published integers"],
        [[Mono(field_name(field)), Mono(format_integers(field))] for field in survey.fields],
    )
    if subject.groups:
        key = ", and in the key for tickets, of which each has its own" if subject.is_by_invitation else ""
        yield Paragraph(f"The definitions differ in slug and group alone{key}. That of {subject.groups[0].label}:")
    key_note = ", still without its key" if subject.is_keyless else ""
    yield Paragraph(f"The definition, {len(survey.source)} bytes{key_note}, in one line:")
    yield Code(survey.source.decode())


def _format_digest(subject: Subject, digest: str) -> str:
    return digest if subject.is_keyless else Mono(digest)
