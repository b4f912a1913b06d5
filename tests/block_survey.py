"""A survey in which each device answers one block.

It has a joint block with a follow-up inside, one whose filter lies outside, optional points, drawn options, levels, and
geometric noise.
"""

from candor_client import Survey
from survey_app.authoring import build

YAML = b"""
slug: blocks
title: Exam honesty
epsilon: 3
ask: one
questions:
  - {id: cheated, type: yes_no, text: Did you copy from somebody?}
  - {id: why, type: choice, text: Why did you?, options: [time, fear], show_if: {question: cheated, is: [yes]}}
  - {id: stress, type: yes_no, text: Was there too much stress?}
  - {id: who, type: choice, text: Who caused it?, options: [teachers, parents, myself], show_if: {question: stress, is: [yes]}}
  - {id: fair, type: scale, text: The exam was fair., points: [Disagree, Neutral, Agree], scores: [-1, 0, 1], optional: true}
  - {id: used, type: multiple, text: Which of these did you use?, options: [notes, phone, neighbour, calculator]}
  - {id: hours, type: number, text: Hours of study a week?, min: 0, max: 60, step: 1, unit: h}
  - {id: spend, type: number, text: Spent on tutors?, min: 0, max: 500, step: 10, mechanism: laplace}
joint:
  - [cheated, why, stress]
"""


def blocks() -> Survey:
    """Return the survey, as published."""
    return build(YAML).survey
