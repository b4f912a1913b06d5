"""The remarks of a plan as data: what is imprecise, and which remedies would help.

`advice` and `study_plan` put them into sentences.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

RemedyCode = Literal["ask", "joint", "fewer_options", "epsilon", "respondents"]
RemarkCode = Literal[
    "uninformative",  # the interval can be as wide as the possible range
    "unreachable",  # even the whole population does not give the target margin
    "infeasible",  # the target margin takes too many respondents
    "not_above_zero",  # the share cannot be distinguished from zero
    "imprecise",  # the interval of a share is too wide to be useful
    "joint_cost",  # a joint field widens the margins of its questions
    "small_group",  # a group has fewer people than its own margin takes
    "withheld_group",  # a group has too few reports to be shown
    "uninformative_group",  # an interval of a group can be as wide as the possible range
]


class Remedy(Struct, frozen=True):
    """One change that narrows the margin of a figure: its value, and the margin that it gives."""

    code: RemedyCode
    value: str | float | list[str]
    margin: float


class Remark(Struct, frozen=True):
    """A fault of a plan: its code, the questions or groups concerned, and the remedies."""

    code: str
    about: list[str]
    remedies: list[Remedy] = []


class WordedRemark(NamedTuple):
    """A remark with its sentence."""

    remark: Remark
    sentence: str
