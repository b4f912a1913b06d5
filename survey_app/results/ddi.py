"""The codebook for machines: DDI-Codebook 2.5, the XML that data archives accept.

Elements follow the order of the standard's schema (ddi:codebook:2_5). Every stored bit is a `var` with the name that
it has in .sav and .dta files, its question in `qstn`, its two values in `catgry`, p and q in typed `notes`. Every field
is a `varGrp` of its bits, with its integers. An answer and the stored bits differ by noise: `derivation` describes it.
"""

import re
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring

from candor_client.definition import Survey
from candor_client.display import group_by_section, list_languages, translate_survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.posterior import total_epsilon
from survey_app.kinds import kind_of
from survey_app.languages.numbers import format_epsilon
from survey_app.results.bit_meanings import Bit, FieldBits, describe_estimator, field_bits, format_integers
from survey_app.results.codebook import NOT_ASKED
from survey_app.results.denominators import describe_condition
from survey_app.tally import find_asked_bits

NAMESPACE = "ddi:codebook:2_5"
SCHEMA = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
PARAGRAPH = "\u2029"


def make_ddi(survey: Survey, reports: int | None = None) -> bytes:
    """Return the codebook as DDI; `reports` is the number of rows in the data file, if it is known."""
    register_namespace("", NAMESPACE)
    register_namespace("xsi", INSTANCE)
    root = Element(
        f"{{{NAMESPACE}}}codeBook",
        {"version": "2.5", LANG: survey.language, f"{{{INSTANCE}}}schemaLocation": f"{NAMESPACE} {SCHEMA}"},
    )
    fields = field_bits(survey)
    _document(root, survey)
    _study(root, survey, fields)
    _file(root, survey, reports)
    _variables(root, survey, fields)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'.encode()


def _add(parent: Element, element: str, content: str = "", **attributes: str) -> Element:
    """Append a child in the namespace of DDI and return it; characters that XML cannot contain are replaced."""
    child = SubElement(parent, f"{{{NAMESPACE}}}{element}", {key: _clean(value) for key, value in attributes.items()})
    if content:
        child.text = _clean(content)
    return child


def _clean(text: str) -> str:
    return NOT_XML.sub("\ufffd", text.replace(PARAGRAPH, "\n\n"))


def _document(root: Element, survey: Survey) -> None:
    citation = _add(_add(root, "docDscr"), "citation")
    _add(_add(citation, "titlStmt"), "titl", f"Codebook of {survey.title}")
    _add(_add(citation, "prodStmt"), "software", "Candor")


def _study(root: Element, survey: Survey, fields: list[FieldBits]) -> None:
    study = _add(root, "stdyDscr")
    citation = _add(study, "citation")
    title = _add(citation, "titlStmt")
    _add(title, "titl", survey.title)
    for translation in survey.translations:
        _add(title, "parTitl", translation.title).set(LANG, translation.language)
    _add(title, "IDNo", survey.digest, agency="SHA-256 of the definition")
    _add(title, "IDNo", survey.slug, agency="slug")
    if survey.contact:
        _add(_add(citation, "distStmt"), "contact", survey.contact)
    info = _add(study, "stdyInfo")
    for version in _list_translations(survey):
        if version.description:
            _add(info, "abstract", version.description).set(LANG, version.language)
    summary = _add(info, "sumDscr")
    _add(summary, "anlyUnit", "Individual")
    _add(summary, "dataKind", "Survey data, randomized on the respondents' devices (local differential privacy)")
    method = _add(study, "method")
    collection = _add(method, "dataColl")
    _add(collection, "collMode", "Self-administered questionnaire: web-based, randomized response")
    _add(collection, "resInstru", "Structured questionnaire")
    _add(
        collection,
        "actMin",
        "Every answer was randomized on the respondent's device before it was sent; the server stored only noisy bits."
        f" A whole report is ε-differentially private with ε = {format_epsilon(total_epsilon(survey))}.",
    )
    for field in fields:
        _add(method, "notes", describe_estimator(field), type="candor", subject=f"estimation of {field.name}")
    if survey.consent:
        use = _add(_add(study, "dataAccs"), "useStmt")
        _add(use, "conditions", f"Respondents agreed to this text: {survey.consent}")


def _file(root: Element, survey: Survey, reports: int | None) -> None:
    text = _add(_add(root, "fileDscr", ID="F1"), "fileTxt")
    content = "One row for each report, in no meaningful order; one variable of 0 and 1 for each stored bit."
    _add(text, "fileCont", f"{content} {NOT_ASKED}" if (find_asked_bits(survey) >= 0).any() else content)
    size = _add(text, "dimensns")
    if reports is not None:
        _add(size, "caseQnty", str(reports))
    _add(size, "varQnty", str(survey.width))


def _variables(root: Element, survey: Survey, fields: list[FieldBits]) -> None:
    data = _add(root, "dataDscr")
    bit_number = 0
    for number, field in enumerate(fields, 1):
        ids = " ".join(f"V{bit_number + i}" for i in range(1, len(field.all_bits) + 1))
        bit_number += len(field.all_bits)
        group = _add(data, "varGrp", ID=f"VG{number}", type="other", name=field.name, var=ids)
        _add(group, "labl", " / ".join(question.text for question in field.field.questions))
        _add(group, "txt", describe_estimator(field))
        _add(group, "notes", format_integers(field.field), type="candor", subject="published integers")
        _add(group, "notes", format_epsilon(field.field.mechanism.epsilon), type="candor", subject="epsilon")
    bits = [bit for field in fields for bit in field.all_bits]
    translations = _list_translations(survey)
    _sections(data, translations, bits)
    for bit_number, bit in enumerate(bits, 1):
        _variable(data, translations, bit, f"V{bit_number}")


def _sections(data: Element, translations: list[Survey], bits: list[Bit]) -> None:
    """Add a group of variables for every section, a grid for a battery; bits of a joint field may be in several."""
    survey = translations[0]
    section_ids = [
        {question.id for question in questions} for section, questions in group_by_section(survey) if section
    ]
    for i, (section, ids) in enumerate(zip(survey.sections, section_ids, strict=True)):
        variables = (
            f"V{number}"
            for number, bit in enumerate(bits, 1)
            if ids & {question.id for question in bit.field.questions}
        )
        kind = "grid" if section.grid else "section"
        group = _add(data, "varGrp", ID=f"SG{i + 1}", type=kind, name=f"section {i + 1}", var=" ".join(variables))
        for element, key in (("labl", "title"), ("txt", "text")):
            for translation in translations:
                if text := getattr(translation.sections[i], key):
                    _add(group, element, text).set(LANG, translation.language)


def _list_translations(survey: Survey) -> list[Survey]:
    """Return the survey in every language that it has, its own first."""
    return [translate_survey(survey, tag) for tag in list_languages(survey)]


def _variable(data: Element, translations: list[Survey], bit: Bit, identity: str) -> None:
    survey = translations[0]
    variable = _add(data, "var", ID=identity, name=bit.variable, files="F1", dcml="0", intrvl="discrete")
    _add(variable, "labl", bit.column)
    for question in bit.field.questions:
        _question(variable, translations, question)
    valid = _add(variable, "valrng")
    _add(valid, "range", min="0", max="1")
    for question in bit.field.questions:
        if text := describe_condition(survey, question):
            _add(variable, "universe", f"{question.id}: {text}")
    _add(variable, "txt", f"1: {bit.meaning}")
    for value, label in (("0", "not sent"), ("1", bit.meaning)):
        category = _add(variable, "catgry")
        _add(category, "catValu", value)
        _add(category, "labl", label)
    chances = channel_of(bit.field.mechanism).chances_from_integers
    derivation = _add(variable, "derivation")
    _add(derivation, "drvdesc", f"Randomized on the respondent's device. {chances}")
    _add(variable, "varFormat", type="numeric")
    if bit.p is not None and bit.q is not None:
        for name, chance in (("p", bit.p), ("q", bit.q)):
            _add(variable, "notes", repr(float(chance)), type="candor", subject=name)
            _add(
                variable, "notes", f"{chance.numerator}/{chance.denominator}", type="candor", subject=f"{name} exactly"
            )
    elif bit.score is not None:
        _add(variable, "notes", repr(bit.score), type="candor", subject="score")


def _question(variable: Element, translations: list[Survey], question: Question) -> None:
    """Add the text of a question in every language of the survey."""
    question_element = _add(variable, "qstn", responseDomainType=kind_of(question).ddi_domain)
    place = translations[0].questions.index(question)
    for translation in translations:
        _add(question_element, "qstnLit", translation.questions[place].text).set(LANG, translation.language)
