"""A template that asks for what is not there fails, so that a renamed attribute is noticed."""

import pytest
from flask import render_template_string
from jinja2 import UndefinedError

from tests.fixtures import Installation


@pytest.mark.parametrize(
    "text",
    [
        "{{ nothing }}", "{{ survey.nothing }}", "{% if survey.nothing %}{% endif %}", "{{ survey.nothing.more }}",
        "{% for one in survey.nothing %}{% endfor %}", "{{ 'yes' if nothing else 'no' }}", "{{ survey.nothing == 1 }}",
    ],
)  # fmt: skip
def test_a_name_or_attribute_that_is_not_there_raises(installation: Installation, text: str) -> None:
    survey = installation.publish().survey
    with installation.app.test_request_context():
        assert render_template_string("{{ survey.slug }}", survey=survey) == "exam"
        with pytest.raises(UndefinedError):
            render_template_string(text, survey=survey)
