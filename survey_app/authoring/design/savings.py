"""A sentence for the author about the design: the questions each device answers, and the respondents it saves.

The design is compared with everything split and with everything in one block, even if these need fewer respondents.
"""

from survey_app.authoring import BuiltSurvey
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.blocks import MARGIN, Design
from survey_app.languages import numbers

WORTHWHILE = 0.9  # a saving is mentioned if at most this share of the respondents remains
MOST_NAMED = 8  # more blocks than this are not listed by name
DIGITS = 2  # significant digits of a number of respondents, which rests on guesses


def describe_saving(built: BuiltSurvey) -> str | None:
    """Return one sentence about `ask`, as in the file or as recommended.

    Return None if there is no choice or no saving.
    """
    design, split = built.design, built.designs.get(Ask.ALL)
    if len(built.survey.questions) == 1:
        return None
    alternative = _find_alternative(built)
    better = alternative if alternative and alternative.respondents <= WORTHWHILE * design.respondents else None
    if design.ask is Ask.ALL:
        if better is None:
            return None
        return (
            f"with {_name_ask(better)}, each device would answer {_describe_blocks(better)}: "
            f"{_describe_needs(better, built)}, instead of {_format_respondents(design)}"
        )
    sentence = f"each device answers {_describe_blocks(design)}: {_describe_needs(design, built)}"
    if split and split.respondents >= design.respondents:
        sentence += f", instead of {_format_respondents(split)} if each answered all questions and ε were split"
    elif split:
        sentence += f", but {_format_respondents(split)} if each answered all questions and ε were split (ask: all)"
    return f"{sentence}; {_name_ask(better)} would need {_format_respondents(better)}" if better else sentence


def _find_alternative(built: BuiltSurvey) -> Design | None:
    """Return the best blocks, or everything in one block: the design that needs fewer respondents."""
    designs = [design for design in (built.designs.get(Ask.AUTO), built.joint_design) if design]
    return min(designs, key=lambda design: design.respondents, default=None)


def _name_ask(design: Design) -> str:
    return "ask: auto" if design.ask is Ask.AUTO else "one joint group of all questions"


def _describe_blocks(design: Design) -> str:
    blocks = [" + ".join(block.questions) for block in design.blocks]
    if len(blocks) == 1:
        return "all questions as one block"
    noun = "blocks" if any(len(block.questions) > 1 for block in design.blocks) else "questions"
    names = f" ({'; '.join(blocks)})" if len(blocks) <= MOST_NAMED else ""
    return f"one of {len(blocks)} {noun}{names}"


def _describe_needs(design: Design, built: BuiltSurvey) -> str:
    note = " (weights included)" if any(item.need != 1 for item in built.request.items) else ""
    return f"about {_format_respondents(design)} respondents for ±{numbers.format_quantity(100 * MARGIN)} points{note}"


def _format_respondents(design: Design) -> str:
    return numbers.format_count(int(float(f"{design.respondents:.{DIGITS}g}")))
