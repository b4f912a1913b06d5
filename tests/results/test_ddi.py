"""DDI-Codebook 2.5, checked element by element.

No package has the schema, so the tables below are written from it (codebook.xsd, 2012-01-17): the children that each
element we use may have, in the order of its sequence, those that may come once, and the attributes with their values.
"""

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

from candor_client.definition import Survey
from survey_app.authoring import build_file
from survey_app.results.bit_meanings import format_integers, stored_bits
from survey_app.results.ddi import NAMESPACE, make_ddi
from survey_app.results.denominators import describe_condition
from tests.definitions import COIN, choice, define, field, subset, survey, yes_no
from tests.results.test_archive_page import everything

NOTES = "notes"
SEQUENCES: dict[str, list[str]] = {
    "codeBook": ["docDscr", "stdyDscr", "fileDscr", "dataDscr", "otherMat"],
    "docDscr": ["citation", "guide", "docStatus", "docSrc", "controlledVocabUsed", NOTES],
    "citation": ["titlStmt", "rspStmt", "prodStmt", "distStmt", "serStmt", "verStmt", "biblCit", "holdings", NOTES],
    "titlStmt": ["titl", "subTitl", "altTitl", "parTitl", "IDNo"],
    "prodStmt": ["producer", "copyright", "prodDate", "prodPlac", "software", "fundAg", "grantNo"],
    "distStmt": ["distrbtr", "contact", "depositr", "depDate", "distDate"],
    "stdyDscr": [
        "citation", "studyAuthorization", "stdyInfo", "studyDevelopment", "method", "dataAccs", "othrStdyMat", NOTES,
    ],
    "stdyInfo": ["studyBudget", "subject", "abstract", "sumDscr", "qualityStatement", NOTES, "exPostEvaluation"],
    "sumDscr": [
        "timePrd", "collDate", "nation", "geogCover", "geogUnit", "geoBndBox", "boundPoly", "anlyUnit", "universe",
        "dataKind",
    ],
    "method": ["dataColl", NOTES, "anlyInfo", "stdyClas", "dataProcessing", "codingInstructions"],
    "dataColl": [
        "timeMeth", "dataCollector", "collectorTraining", "frequenc", "sampProc", "sampleFrame", "targetSampleSize",
        "deviat", "collMode", "resInstru", "instrumentDevelopment", "sources", "collSitu", "actMin", "ConOps", "weight",
        "cleanOps",
    ],
    "dataAccs": ["setAvail", "useStmt", NOTES],
    "useStmt": ["confDec", "specPerm", "restrctn", "contact", "citReq", "deposReq", "conditions", "disclaimer"],
    "fileDscr": ["fileTxt", "locMap", NOTES],
    "fileTxt": [
        "fileName", "fileCitation", "fileCont", "fileStrc", "dimensns", "fileType", "format", "filePlac", "dataChck",
        "ProcStat", "dataMsng", "software", "verStmt",
    ],
    "dimensns": ["caseQnty", "varQnty", "logRecL", "recPrCas", "recNumTot"],
    "dataDscr": ["varGrp", "nCubeGrp", "var", "nCube", NOTES],
    "varGrp": ["labl", "txt", "concept", "defntn", "universe", NOTES],
    "var": [
        "location", "labl", "imputation", "security", "embargo", "respUnit", "anlysUnit", "qstn", "valrng", "invalrng",
        "undocCod", "universe", "TotlResp", "sumStat", "txt", "stdCatgry", "catgryGrp", "catgry", "codInstr", "verStmt",
        "concept", "derivation", "varFormat", "geoMap", "catLevel", NOTES,
    ],
    "qstn": ["preQTxt", "qstnLit", "postQTxt", "forward", "backward", "ivuInstr"],
    "valrng": ["item", "range", "key", NOTES],
    "catgry": ["catValu", "labl", "txt", "catStat", "mrow"],
    "derivation": ["drvdesc", "drvcmd"],
}  # fmt: skip
ONCE = {
    ("docDscr", "citation"), ("citation", "titlStmt"), ("titlStmt", "titl"), ("citation", "prodStmt"),
    ("citation", "distStmt"), ("useStmt", "conditions"), ("fileTxt", "fileCont"), ("fileTxt", "dimensns"),
    ("var", "derivation"), ("var", "varFormat"), ("catgry", "catValu"), ("derivation", "drvdesc"),
}  # fmt: skip
NEEDED = {"codeBook": "stdyDscr", "stdyDscr": "citation", "citation": "titlStmt", "titlStmt": "titl", "valrng": "range"}
ATTRIBUTES: dict[str, dict[str, set[str] | None]] = {
    "codeBook": {"version": {"2.5"}},
    "software": {"version": None, "date": None},
    "IDNo": {"agency": None},
    "notes": {"type": None, "subject": None},
    "varGrp": {"type": {"section", "multipleResp", "grid", "analysis", "other"}, "name": None, "var": None},
    "var": {"name": None, "files": None, "dcml": None, "intrvl": {"contin", "discrete"}},
    "qstn": {"responseDomainType": {"text", "numeric", "code", "category", "datetime", "geographic", "multiple"}},
    "range": {"min": None, "max": None},
    "varFormat": {"type": {"numeric", "character"}},
}
PREFIX = f"{{{NAMESPACE}}}"


def read(parsed: Survey, reports: int | None = 1240) -> ElementTree.Element:
    return ElementTree.fromstring(make_ddi(parsed, reports))  # noqa: S314 — what we have just written


def plain(element: ElementTree.Element) -> str:
    assert element.tag.startswith(PREFIX)
    return element.tag.removeprefix(PREFIX)


def faults(root: ElementTree.Element) -> list[str]:
    """What the schema would refuse."""
    found = []
    for element in root.iter():
        name, children = plain(element), [plain(child) for child in element]
        sequence = SEQUENCES.get(name, [])
        found += [f"{child} in {name}" for child in children if child not in sequence]
        places = [sequence.index(child) for child in children if child in sequence]
        found += [f"order in {name}: {children}"] * (places != sorted(places))
        found += [
            f"{child} twice in {name}" for child in set(children) if (name, child) in ONCE and children.count(child) > 1
        ]
        found += [
            f"no {needed} in {name}" for parent, needed in NEEDED.items() if parent == name and needed not in children
        ]
        found += ["a variable without a name"] * (name == "var" and not element.get("name"))
        known = ATTRIBUTES.get(name, {})
        for key, value in element.attrib.items():
            if key == "ID" or key.startswith("{http://www.w3.org/"):
                continue
            allowed = known.get(key, set())
            found += [f"{key}={value} of {name}"] * (allowed is not None and value not in allowed)
        if name in SEQUENCES and name != "qstn" and (element.text or "").strip():
            found.append(f"text in {name}")
    return found


def texts(element: ElementTree.Element, path: str) -> list[str]:
    return [one.text or "" for one in element.findall("/".join(f"{PREFIX}{part}" for part in path.split("/")))]


RICH = survey(
    define(
        [yes_no("a"), choice("why", show_if={"question": "a", "is": ["yes"]}) | {"text": "Why\ufffe <b>&\u2029?"}],
        [field(COIN, "a"), field(subset(4, 1), "why")],
        description="What it is.\u2029And more.", consent="I agree.", contact="me@example.org", language="de",
        translations={"fr": {"title": "Le titre", "description": "x", "consent": "y", "questions": {
            "a": {"text": "A ?"}, "why": {"text": "Pourquoi ?", "options": ["un", "deux", "trois"]}}}},
    )
)  # fmt: skip


SHOWN = build_file(Path(__file__).parents[2] / "examples" / "wellbeing.yaml").survey
SURVEYS = {"all": everything(False), "ask": everything(True), "rich": RICH, "sections": SHOWN}


@pytest.mark.parametrize("parsed", SURVEYS.values(), ids=SURVEYS)
def test_every_element_stands_where_the_standard_has_it(parsed: Survey) -> None:
    root = read(parsed)
    assert plain(root) == "codeBook"
    assert faults(root) == []


def test_a_fault_would_be_found() -> None:
    root = read(everything(False))
    variable = next(root.iter(f"{PREFIX}var"))
    variable.append(ElementTree.Element(f"{PREFIX}labl"))
    variable.set("intrvl", "sometimes")
    ElementTree.SubElement(root, f"{PREFIX}qstnLit")
    ElementTree.SubElement(next(root.iter(f"{PREFIX}stdyDscr")), f"{PREFIX}valrng")
    assert len(faults(root)) == 5


def test_every_id_is_one_and_every_reference_leads_to_one() -> None:
    root = read(everything(True))
    ids = [element.get("ID") for element in root.iter() if element.get("ID")]
    assert len(ids) == len(set(ids))
    for group in root.iter(f"{PREFIX}varGrp"):
        assert set((group.get("var") or "").split()) <= set(ids)
    grouped = [one for group in root.iter(f"{PREFIX}varGrp") for one in (group.get("var") or "").split()]
    assert grouped == [variable.get("ID") for variable in root.iter(f"{PREFIX}var")]
    assert {variable.get("files") for variable in root.iter(f"{PREFIX}var")} == {"F1"}


@pytest.mark.parametrize("ask", [False, True])
def test_every_bit_is_a_variable_with_its_p_and_q(ask: bool) -> None:
    parsed = everything(ask)
    variables = list(read(parsed).iter(f"{PREFIX}var"))
    assert len(variables) == parsed.width
    for bit, variable in zip(stored_bits(parsed), variables, strict=True):
        assert variable.get("name") == bit.variable
        assert texts(variable, "labl") == [bit.column]
        assert texts(variable, "qstn/qstnLit") == [question.text for question in bit.field.questions]
        assert texts(variable, "catgry/catValu") == ["0", "1"]
        notes = {one.get("subject"): one.text for one in variable.findall(f"{PREFIX}notes")}
        if bit.p is not None and bit.q is not None:
            assert (notes["p"], notes["q"]) == (repr(float(bit.p)), repr(float(bit.q)))
            assert (Fraction(str(notes["p exactly"])), Fraction(str(notes["q exactly"]))) == (bit.p, bit.q)
        elif bit.score is not None:
            assert notes == {"score": repr(bit.score)}


def test_the_study_has_its_digest_epsilon_consent_and_words() -> None:
    root = read(RICH)
    assert RICH.digest in texts(root, "stdyDscr/citation/titlStmt/IDNo")
    assert texts(root, "stdyDscr/citation/titlStmt/parTitl") == ["Le titre"]
    assert texts(root, "stdyDscr/stdyInfo/abstract") == ["What it is.\n\nAnd more.", "x"]
    assert "I agree." in texts(root, "stdyDscr/dataAccs/useStmt/conditions")[0]
    assert "ε = " in texts(root, "stdyDscr/method/dataColl/actMin")[0]
    assert texts(root, "fileDscr/fileTxt/dimensns/caseQnty") == ["1240"]
    assert format_integers(RICH.fields[0]) in texts(root, "dataDscr/varGrp/notes")
    assert "Why\ufffd <b>&\n\n?" in texts(root, "dataDscr/var/qstn/qstnLit")
    (why,) = (question for question in RICH.questions if question.id == "why")
    assert texts(root, "dataDscr/var/universe")[0].startswith(f"why: {describe_condition(RICH, why)}")
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == "de"


def test_without_reports_their_number_is_left_out() -> None:
    assert texts(read(RICH, None), "fileDscr/fileTxt/dimensns/caseQnty") == []


def test_sections_are_groups_of_variables_and_questions_stand_in_every_language() -> None:
    root = read(SHOWN)
    groups = [one for one in root.iter(f"{PREFIX}varGrp") if one.get("type") != "other"]
    assert [one.get("type") for one in groups] == ["section", "grid", "section"]
    assert texts(groups[0], "labl") == ["Your work", "Ihre Arbeit"]
    assert texts(groups[0], "txt") == ["Think of the last four weeks.", "Denken Sie an die letzten vier Wochen."]
    variables = {one.get("ID"): one for one in root.iter(f"{PREFIX}var")}
    tense = next(bit for bit in stored_bits(SHOWN) if any(one.id == "tense" for one in bit.field.questions))
    held = [variables[name] for name in (groups[1].get("var") or "").split()]
    assert tense.variable in [one.get("name") for one in held]
    asked = next(one for one in held if one.get("name") == tense.variable)
    assert texts(asked, "qstn/qstnLit")[:2] == ["I was tense.", "Ich war angespannt."]
