"""Random definitions of all kinds with random answers, to see whether two readings of the wire agree on them."""

from random import Random
from typing import Any

from tests import reference
from tests.definitions import define, encode, field

MOST_CELLS = 300


def definition(random: Random) -> dict[str, Any]:
    """Return a survey of one to seven questions, some conditional, some joint, with `ask` or without."""
    questions: list[dict[str, Any]] = []
    for place in range(random.randint(1, 7)):
        questions.append(_question(random, f"q{place}", questions))
    places = [[question] for question in questions]
    while len(places) > 1 and random.random() < 0.5:
        one, other = sorted(random.sample(range(len(places)), 2))
        together = sorted(places[one] + places[other], key=questions.index)
        if _cells(together) <= MOST_CELLS:
            places[one] = together
            del places[other]
    random.shuffle(places)
    ask = {"ask": 1} if random.random() < 0.5 else {}
    fields = []
    for members in places:
        chance = {"chance": random.randint(2, 10**5)} if ask and random.random() < 0.7 else {}
        fields.append(field(_mechanism(random, members), *(member["id"] for member in members), **chance))
    return define(questions, fields, **ask)


def _cells(members: list[dict[str, Any]]) -> int:
    product = 1
    for member in members:
        product *= reference.number_of_symbols(member)
    return product


def _question(random: Random, name: str, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    kind = random.choice(["yes_no", "choice", "scale", "multiple", "number"])
    made: dict[str, Any] = {"id": name, "type": kind, "text": f"{name} – so?"}
    count = random.randint(2, 5)
    if kind in ("choice", "multiple"):
        made["options"] = [f"option {i}" for i in range(count)]
        made |= {"shuffle": True} if random.random() < 0.2 else {}
    elif kind == "scale":
        made["points"] = [f"point {i}" for i in range(count)]
    elif kind == "number":
        steps, low = random.choice([1, 2, 6, 60, 997]), random.choice([0, -5, "0.5"])
        high = low + steps if isinstance(low, int) else f"{steps}.5"
        made |= {
            "min": low,
            "max": high,
            "step": 1,
            random.choice(["levels", "bins"]): random.randint(2, min(steps, 7) + 1),
        }
    parents = [question for question in earlier if question["type"] != "number"]
    if parents and random.random() < 0.4:
        parent = random.choice(parents)
        labels = parent.get("options") or parent.get("points") or ["no", "yes"]
        made["show_if"] = {"question": parent["id"], "is": random.sample(labels, random.randint(1, len(labels) - 1))}
    elif random.random() < 0.3:
        made["optional"] = True
    return made


def _mechanism(random: Random, members: list[dict[str, Any]]) -> dict[str, Any]:
    only = members[0]
    if len(members) == 1 and only["type"] == "multiple" and random.random() < 0.6:
        size = len(only["options"]) + reference.is_optional(only)
        draw = random.randint(1, size)
        return {"kind": "drawn", "size": size, "draw": draw, "keep": _draw_threshold(random, 1, 2**draw)}
    size = len(reference.combinations(members))
    if len(members) == 1 and "levels" in only and not reference.is_optional(only) and random.random() < 0.5:
        return {"kind": "geometric", "size": size, "ratio": str(random.randint(2**58, 2**64 - 2**40))}
    if size == 2 and random.random() < 0.5:
        one = random.randint(2**63, 2**64 - 1)
        return {"kind": "flip", "one": str(one), "zero": str(random.randint(1, one - 1))}
    weight = random.choice([1, 1, random.randint(1, size - 1)])
    return {"kind": "subset", "size": size, "weight": weight, "keep": _draw_threshold(random, weight, size)}


def _draw_threshold(random: Random, weight: int, size: int) -> str:
    """Return a threshold above chance."""
    return str(random.randint(2**64 * weight // size + 1, 2**64 - 1))


def answers(random: Random, made: dict[str, Any]) -> dict[str, Any]:
    """Return random answers to a definition; also to questions that are hidden."""
    said: dict[str, Any] = {}
    for question in made["questions"]:
        if reference.is_optional(question) and random.random() < 0.3:
            said[question["id"]] = None
        elif question["type"] == "yes_no":
            said[question["id"]] = random.random() < 0.5
        elif question["type"] == "multiple":
            said[question["id"]] = [option for option in question["options"] if random.random() < 0.5]
        elif question["type"] == "number":
            low, high = question["min"], question["max"]
            whole = random.randint(int(float(low)), int(float(high)))
            said[question["id"]] = whole if isinstance(low, int) else f"{whole}.5"
        else:
            said[question["id"]] = random.choice(question.get("options") or question["points"])
    return said


def case(random: Random) -> tuple[bytes, dict[str, Any], bytes, tuple[str, str, int]]:
    """Return a definition, answers, random bytes, and the reference's result: bits, id, and how many bytes it used."""
    made = definition(random)
    said, source = answers(random, made), random.randbytes(4096)
    bits, identity, used = reference.report(made, said, source)
    return encode(made), said, source, (reference.pack(bits).hex(), identity.hex(), used)
