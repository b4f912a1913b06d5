"""What an author is told about the design of a survey: what each device answers, and how many people that saves."""

from survey_app.authoring import Built
from survey_app.authoring.design import MARGIN, Design
from survey_app.explain import written

WORTHWHILE = 0.9  # a saving is told if at most this part of the respondents is left
MOST_NAMED = 8  # blocks that are named one by one
DIGITS = 2  # of a number of respondents, which rests on guesses


def saving(built: Built) -> str | None:
    """One sentence about `ask`, as the file has it or as it might; None if there is nothing to choose or to save."""
    chosen, split, auto = built.design, built.designs.get("all"), built.designs.get("auto")
    better = auto if auto and auto.respondents <= WORTHWHILE * chosen.respondents else None
    margin = f"respondents for ±{written.quantity(100 * MARGIN)} points"
    if any(item.need != 1 for item in built.wishes.items):
        margin += ", weights counted,"
    if len(built.survey.questions) == 1 or (chosen.ask == "all" and better is None):
        return None
    if chosen.ask == "all" and better:
        needed = f"about {_about(better)} {margin} instead of {_about(chosen)}"
        return f"ask: auto would let each device answer {_blocks(better)}: {needed}"
    sentence = f"each device answers {_blocks(chosen)}: about {_about(chosen)} {margin}"
    if split and split.respondents > chosen.respondents:
        sentence += f" instead of {_about(split)} if each answered everything and ε were split"
    return f"{sentence}; ask: auto would need {_about(better)}" if better else sentence


def _blocks(design: Design) -> str:
    blocks = [" + ".join(block.questions) for block in design.blocks]
    if len(blocks) == 1:
        return "everything, as one block"
    noun = "blocks" if any(len(block.questions) > 1 for block in design.blocks) else "questions"
    named = f" ({'; '.join(blocks)})" if len(blocks) <= MOST_NAMED else ""
    return f"one of {len(blocks)} {noun}{named}"


def _about(design: Design) -> str:
    return written.count(int(float(f"{design.respondents:.{DIGITS}g}")))
