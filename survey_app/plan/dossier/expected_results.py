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
        f"{numbers.format_percent(settings.confidence)} confidence. They are assumed to be a random sample of a large"
        " population. The margins include both noise and sampling."
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
            ["question", "figure at its assumed value", "margin", f"respondents for ±{part} of its range"],
            [
                [Mono(line.id), line.assumption, _format_margin(line), numbers.format_respondents(line.respondents)]
                for line in lines
            ],
        )
        vague = any(line.is_uninformative for line in lines)
    if vague:
        yield Paragraph(
            "Where a margin is uninformative, this number of respondents is too small for the question. Leave the"
            " question out, or ask more people."
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
                "unknown" if group.size is None else numbers.format_count(group.size),
                "no total" if group.weight is None else numbers.format_percent(group.weight, 3),
                numbers.format_count(group.respondents),
            ]
            for group in study.groups
        ],
    )
    if len(study.table_groups) < len(study.groups):
        yield Paragraph("Because there are many groups, the table shows only the smallest and the largest:")
    head = ["margins", "figure at its assumed value", *(["all groups"] if study.margins else [])]
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
        yield Paragraph(f"For ±{part} on every question, {sentence}.")


def describe_registration(subject: Subject) -> Iterator[Block]:
    """Yield the digests, or the time from which they are known, then the parameters and the definition."""
    survey = subject.survey
    explanation = (
        "is public and cannot be changed under its digest. A changed definition has another digest, and a device whose"
        " link has this digest refuses it. To register the study, register"
    )
    source = "a definition for each group. Each definition" if subject.groups else "the definition below. It"
    digests = "all digests" if subject.groups else "the digest"
    yield Paragraph(
        f"Questions, options and parameters are fixed by {source} {explanation} {digests}. To check"
        f" {'them' if subject.groups else 'it'}, compute SHA-256 of the definition's bytes."
    )
    if subject.is_keyless:
        yield Paragraph(
            "There is no digest yet. The key for tickets is made at publishing and is part of the definition, so the"
            " digest is known only then. Publish the survey without opening it (candor survey add --later), and make"
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
        parts = "slug, group and the key for tickets" if subject.is_by_invitation else "slug and group"
        yield Paragraph(f"The definitions differ only in {parts}. The definition of {subject.groups[0].label} follows.")
    key_note = ", without its key" if subject.is_keyless else ""
    yield Paragraph(f"The definition, {len(survey.source)} bytes{key_note}, in one line:")
    yield Code(survey.source.decode())


def _format_digest(subject: Subject, digest: str) -> str:
    return digest if subject.is_keyless else Mono(digest)
