"""One document for an ethics board, made from the definition before the survey opens.

It lists the questions, an example report byte for byte, ε as odds, and the knowledge of each party. It covers
retention, withdrawal and consent. It gives the precision at a number of respondents, and the digest for registration.
A study gets one document with all its groups. Sentences about protection are those of the respondents' privacy page.
The same input always gives the same document.
"""

from collections.abc import Iterator

from candor_client.definition import Survey
from candor_client.description import explain
from candor_client.display import group_by_section
from candor_client.question import Question
from survey_app.authoring import ADVISED_TOTAL, is_weak
from survey_app.channels.posterior import (
    SUSPICION,
    SUSPICIONS,
    find_dependent_questions,
    posterior_chance,
    prior_chance,
    total_epsilon,
)
from survey_app.kinds import kind_of
from survey_app.languages import numbers
from survey_app.languages.markup import Block, Bullets, Heading, Mono, Paragraph, Table
from survey_app.plan.dossier.expected_results import describe_precision, describe_registration
from survey_app.plan.dossier.subject import Subject
from survey_app.plan.dossier.transmission import WORDS, describe_invitations, describe_transmission
from survey_app.results.bit_meanings import field_name
from survey_app.results.codebook import list_translations
from survey_app.results.denominators import describe_condition
from survey_app.store.steps import STEP

MOST_OPTIONS = 8  # options that a table lists
UNKNOWN = "not decided yet"
INVITED_RESPONDENTS = "people with an invitation, once each"


def build_dossier(subject: Subject, respondents: int) -> list[Block]:
    """Return the whole dossier of a subject, planned for this number of respondents."""
    survey = subject.survey
    return [
        Heading(1, f"{survey.title}: what this survey asks, and what it can learn"),
        *_summarize(subject),
        Heading(2, "Questions"),
        *_list_questions(survey),
        Heading(2, "Consent"),
        Paragraph(survey.consent or "There is no consent text yet. Write one under consent in the author's file."),
        *([Heading(2, "Closing text")] if survey.thanks or survey.completion else []),
        *_quote_closing_text(survey),
        Heading(2, "What leaves the device"),
        *describe_transmission(subject),
        *(
            [Heading(2, WORDS("privacy.tickets_heading")), *describe_invitations(subject)]
            if subject.is_by_invitation
            else []
        ),
        Heading(2, "How much a report can reveal"),
        *_explain_odds(survey),
        Heading(2, "Who could learn what"),
        *_list_parties(subject),
        Heading(2, "What is stored, and for how long"),
        *_describe_retention(subject),
        Heading(2, WORDS("privacy.withdraw_heading")),
        Paragraph(
            "A report cannot be withdrawn once it is sent, because nothing in it says whose it is. Respondents read"
            f" this before they answer: “{WORDS('privacy.withdraw')}”"
        ),
        Heading(2, "Expected precision"),
        *describe_precision(subject, respondents),
        Heading(2, "Pre-registration"),
        *describe_registration(subject),
        *list_translations(survey),
    ]


def _summarize(subject: Subject) -> Iterator[Block]:
    survey = subject.survey
    if survey.description:
        yield Paragraph(survey.description)
    yield Paragraph(
        "Answers are randomized on each respondent's own device before anything is sent (randomized response, local"
        " differential privacy). The server receives and stores only noisy bits: it never has an answer. Shares of the"
        " whole group can be estimated, because the distribution of the noise is known. The answer of one person"
        " cannot be known for certain."
    )
    asks = "one block of the questions, drawn by the device" if survey.ask else "all questions"
    yield Table(
        ["", ""],
        [
            *_identify_subject(subject),
            ("Who may answer", INVITED_RESPONDENTS if subject.is_by_invitation else "anybody with the link"),
            ("Contact", survey.contact or UNKNOWN),
            ("Questions", str(len(survey.questions))),
            ("A device answers", asks),
            ("ε of everything a person sends", numbers.format_epsilon(total_epsilon(survey))),
        ],
    )


def _identify_subject(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield rows that identify the subject: a survey with its digest, or a study with its groups.

    The digests of groups are at the end of the document.
    """
    survey = subject.survey
    if subject.groups:
        yield "Study", Mono(survey.study)
        sized = [f"{group.label} ({numbers.format_count(group.size)} people)" for group in subject.groups if group.size]
        yield "Groups, with a link each", ", ".join(sized or [group.label for group in subject.groups])
        yield "Digests of their definitions", subject.digests[0] if subject.is_keyless else "under Pre-registration"
        return
    yield "Survey", Mono(survey.slug)
    yield "Digest of its definition", subject.digests[0] if subject.is_keyless else Mono(survey.digest)
    if survey.study:
        yield "Study, group", f"{survey.study}, {survey.group}"


def _list_questions(survey: Survey) -> Iterator[Block]:
    for section, questions in group_by_section(survey):
        if section:
            yield Heading(3, section.title)
            if section.text:
                yield Paragraph(section.text)
        yield Table(["id", "question", "answers"], [_format_question(survey, question) for question in questions])
    if survey.translations:
        languages = ", ".join(translation.language for translation in survey.translations)
        yield Paragraph(
            f"The author has translated all of this into {languages}; the translations are at the end of this document."
            " Respondents choose the language on their device, and nothing that is sent reveals their choice."
        )


def _format_question(survey: Survey, question: Question) -> list[str]:
    kind = kind_of(question)
    parts = [part for part in (kind.codebook_name, kind.describe_answers(question, MOST_OPTIONS)) if part]
    parts += ["in a random order on each device"] if question.shuffle else []
    parts += ["may be skipped"] if question.optional and not question.show_if else []
    shown_if = describe_condition(survey, question)
    return [Mono(question.id), question.text, "; ".join([*parts, *([shown_if] if shown_if else [])])]


def _quote_closing_text(survey: Survey) -> Iterator[Block]:
    """Yield the text that respondents read after their report is stored."""
    if survey.thanks:
        yield Paragraph(survey.thanks)
    if survey.completion:
        note = "It is opened only if the respondent chooses. Its server then sees the visit, but no answers."
        suffix = f" {note}" if "://" in survey.completion else ""
        yield Paragraph(
            f"Respondents are shown {survey.completion}. It is the same for everybody, so it identifies nobody.{suffix}"
        )


def _explain_odds(survey: Survey) -> Iterator[Block]:
    loss = total_epsilon(survey)
    yield Paragraph(
        f"Everything that a person sends has ε = {numbers.format_epsilon(loss)}: it multiplies the odds of any"
        f" suspicion about them by at most {numbers.format_odds_factor(loss)}, whatever else is known. In numbers:"
    )
    rows = [
        [numbers.format_chance(prior_chance(prior)), numbers.format_chance(posterior_chance(prior, loss))]
        for prior in SUSPICIONS
    ]
    yield Table(["suspicion before the report", "suspicion after the report, at most"], rows)
    if is_weak(loss):
        yield Paragraph(f"The recommendation is ε = {ADVISED_TOTAL} or less. This survey uses more.")
    rows = [
        [
            Mono(field_name(field)),
            numbers.format_epsilon(field.mechanism.epsilon),
            numbers.format_chance(posterior_chance(SUSPICION, field.mechanism.epsilon)),
            explain(field),
        ]
        for field in survey.fields
    ]
    yield Table(["part", "ε", f"a suspicion of 1 in {SUSPICION} can become at most", "what the device does"], rows)
    for tree in find_dependent_questions(survey):
        ids = ", ".join(question.id for question in tree.questions)
        yield Paragraph(
            f"{ids} depend on one another, so a report about one also reveals something about the others. Together, the"
            f" reports spend ε = {numbers.format_epsilon(tree.epsilon)} on each of them, and a suspicion of 1 in"
            f" {SUSPICION} can become at most {numbers.format_chance(posterior_chance(SUSPICION, tree.epsilon))}."
        )


def _format_release(subject: Subject) -> str:
    return (
        "from the closing date on, and nothing before"
        if subject.is_by_invitation
        else f"in steps of at least {STEP} reports"
    )


def _list_parties(subject: Subject) -> Iterator[Block]:
    issuer_row = [
        subject.issuer or "The operator of the server, who sends invitations",
        "hashes of the codes in invitations, and which codes have taken a ticket",
        "which report belongs to which invitation: tickets are signed blindly. Names stay with the owner of the list",
    ]
    yield Table(
        ["who", "has", "and does not have"],
        [
            [
                "Researchers, and readers of the results",
                f"estimates and counts, {_format_release(subject)}; exported noisy bits, in no order",
                "answers, names, times, addresses, or which report is whose",
            ],
            [
                "The operator of the server",
                "the noisy bits; while a report arrives, the operator could see when and from where",
                "answers, because the noise was added before. The software stores no time, address or order",
            ],
            *([issuer_row] if subject.is_by_invitation else []),
            [
                "The network",
                "that a device visited the survey's server, but over https no content",
                "answers",
            ],
            [
                "Somebody with access to the respondent's device",
                "the device's record of having answered",
                "anything from the server beyond what is listed above",
            ],
            ["The public", "the definition: questions, parameters, digest", "anything about any person who took part"],
        ],
    )
    yield Paragraph("The lists below are quoted from the survey's privacy page for respondents. What is not stored:")
    yield Bullets(_quote_privacy_page("unstored_", invited=subject.is_by_invitation))
    yield Paragraph("What is not protected:")
    yield Bullets(_quote_privacy_page("unprotected_"))


def _quote_privacy_page(prefix: str, *, invited: bool = False) -> list[str]:
    """Return the sentences of the privacy page whose keys have this prefix; about invitations only if `invited`."""
    excluded = (f"{prefix}heading", *(() if invited else (f"{prefix}invitation",)))
    section = WORDS.section("privacy").items()
    return [text for key, text in section if key.startswith(prefix) and key not in excluded and "{" not in text]


def _describe_retention(subject: Subject) -> Iterator[Block]:
    terms = subject.terms
    yield Paragraph(
        "The server stores one row for each report: the survey, the random number and the noisy bits. A row has no"
        " time, no address and no order. Rows stay until the owner deletes the survey, which deletes all its versions"
        " and reports."
    )
    if subject.is_by_invitation:
        yield Paragraph(
            "For each invitation, the hash of its code is stored, and whether the code has taken its ticket. When the"
            " survey closes, the private key and the hashes of the signed data are destroyed."
        )
    dates = [(name, getattr(terms, name, None)) for name in ("opens", "closes", "max_reports", "deletes")]
    rows = [[name.replace("_", " "), str(value)] for name, value in dates if value]
    if subject.is_by_invitation and not getattr(terms, "closes", None):
        rows.append(["closes", "28 days after it opens; this date can only be moved later"])
    rows.append(["results", "public" if terms.public else "private: only for the owner"])
    yield Table(["term (the owner may change it)", "as planned"], rows)
