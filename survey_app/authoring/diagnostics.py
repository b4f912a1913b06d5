"""All errors that authoring finds in a file, so that an author need not fix and retry one by one.

`build` stops at its first error. This module replaces the place of the error with a harmless stand-in and builds the
file again. References to the replaced place are removed too, so that one fault is reported once. Errors in sections and
translations are found separately and all at once, since nothing else depends on them.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from survey_app.authoring import BuiltSurvey, build, find_presentation_errors
from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.yaml_source import AuthoringError, Content, Plain, read_content

MOST_FAULTS = 8
CONTENT_KEYS = ("text", "section", "options", "points", "statements", "min", "max")  # keys that an author writes first
STAND_IN: dict[str, Plain] = {"slug": "stand-in", "title": "stand-in", "epsilon": "4"}
QUESTION = re.compile(r"questions\[(\d+)\](?:\.(\w+))?")


@dataclass(frozen=True)
class Fault:
    """One error: its code, the reason, the path, and the line if it is known."""

    code: str
    reason: str
    path: str = ""
    line: int | None = None

    @property
    def question(self) -> int | None:
        """The position of the question that contains the fault, or None if no question does."""
        match = QUESTION.match(self.path)
        return int(match[1]) if match else None

    @property
    def key(self) -> str:
        """The key that contains the fault, in the question or in the survey."""
        match = QUESTION.match(self.path)
        return (match[2] or "") if match else re.split(r"[.\[]", self.path)[0]


@dataclass(frozen=True)
class CheckResult:
    """The result of checking a file: a survey or its faults, and the file's content if it is valid YAML.

    `bare` is the survey without sections and translations. It can be planned while only those have faults.
    """

    built: BuiltSurvey | None
    faults: tuple[Fault, ...]
    content: Content | None
    bare: BuiltSurvey | None = None

    def faults_in(self, question: int | None, key: str | None = None) -> list[Fault]:
        """Return the faults of one question, or of the survey if it is None.

        With a key, return only the faults under that key.
        """
        return [fault for fault in self.faults if fault.question == question and key in (None, fault.key)]

    def is_untouched(self, question: int | None) -> bool:
        """Return whether a question still lacks any content from its author. Its gaps are then no mistakes."""
        entries = self.content.questions if self.content else []
        entry = entries[question] if question is not None and question < len(entries) else None
        return isinstance(entry, dict) and not any(str(entry.get(key) or "").strip() for key in CONTENT_KEYS)

    @property
    def is_unwritten(self) -> bool:
        """Whether all faults are in questions that the author has not begun to write."""
        return all(self.is_untouched(fault.question) for fault in self.faults)


@lru_cache(maxsize=32)
def check(source: bytes, *, json_file: bool = False) -> CheckResult:
    """Build a file, and return either the survey or all faults."""
    try:
        content = read_content(source, json_file=json_file)
    except AuthoringError as error:
        return CheckResult(None, (Fault(error.code, error.reason, error.path, error.line),), None)
    presentation_faults = [
        Fault(error.code, error.reason, error.path, error.line) for error in find_presentation_errors(content.tree)
    ]
    if not content.questions and content.data.get("questions") in (None, "", []):
        first = Fault("empty", "there are no questions yet; add the first one", "questions")
        return CheckResult(None, (first, *_find_more_faults(content, "questions")), content)
    try:
        built = build(source, json_file=json_file, bare=bool(presentation_faults))
        return CheckResult(None if presentation_faults else built, tuple(presentation_faults), content, built)
    except AuthoringError as error:
        first = Fault(error.code, error.reason, error.path, error.line or content.tree.line_of(error.path))
        return CheckResult(None, (first, *_find_more_faults(content, error.path), *presentation_faults), content)


def _find_more_faults(content: Content, path: str) -> list[Fault]:
    data, faults = cast(dict[str, Plain], json.loads(json.dumps(content.data))), list[Fault]()
    stand_ins: set[str] = set()
    while len(faults) < MOST_FAULTS and _insert_stand_in(data, path, stand_ins):
        try:
            build(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"), json_file=True, bare=True)
            break
        except AuthoringError as error:
            path = error.path
            if _replaceable_part(path) in stand_ins:  # now the stand-in is refused for the same reason
                break
            faults.append(Fault(error.code, error.reason, path, content.tree.line_of(path)))
    return faults


def _replaceable_part(path: str) -> str:
    """Return the part of a path that is replaced as a whole: a question, or a key of the survey."""
    match = QUESTION.match(path)
    return match[0].partition(".")[0] if match else re.split(r"[.\[]", path)[0]


def _insert_stand_in(data: dict[str, Plain], path: str, stand_ins: set[str]) -> bool:
    """Replace the place of a path with a harmless stand-in. Return False if that was done before or is impossible."""
    match, key = QUESTION.match(path), _replaceable_part(path)
    questions = data.get("questions")
    if not key:  # the error is in the file itself: a key is missing
        key = next((name for name in ("slug", "title") if name not in data), "")
    if key in stand_ins or not key or key == "fields" or (key == "questions" and questions and not match):
        return False
    stand_ins.add(key)
    if not match or not isinstance(questions, list):
        data.pop(key, None)
        data |= {key: STAND_IN[key]} if key in STAND_IN else {}
        if key == "questions":
            data.pop("joint", None)
            data["questions"] = [_make_stand_in(data, 0)]
        return True
    position = int(match[1])
    if position >= len(questions):
        return False
    original = questions[position]
    ids = ids_of(original)
    questions[position] = _make_stand_in(data, position)
    for question in questions:
        condition = question.get("show_if") if isinstance(question, dict) else None
        if isinstance(question, dict) and isinstance(condition, dict) and condition.get("question") in ids:
            del question["show_if"]
    joint = data.get("joint")
    if isinstance(joint, list):
        data["joint"] = [group for group in joint if not isinstance(group, list) or not {*ids} & {*map(str, group)}]
        if not data["joint"]:
            del data["joint"]
    return True


def ids_of(entry: Plain) -> list[str]:
    """Return the ids in an entry among the questions: its own id, those of a battery's statements, or none."""
    if not isinstance(entry, dict):
        return []
    statements = entry.get("statements")
    if entry.get("type") == BATTERY:
        return list(statements) if isinstance(statements, dict) else []
    return [name] if isinstance(name := entry.get("id"), str) else []


def _make_stand_in(data: dict[str, Plain], position: int) -> Plain:
    """Return a valid question. It has its own ε if the survey has none to share."""
    own_epsilon: dict[str, Plain] = {} if "epsilon" in data else {"design": "coin"}
    return {"id": f"stand-in-{position}", "type": "yes_no", "text": "stand-in", **own_epsilon}
