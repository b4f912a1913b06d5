"""Joint fields on the results page: questions that were randomized together, with all combinations of answers."""

from dataclasses import dataclass

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.languages.number_format import Format
from survey_app.results.denominators import EVERYBODY, describe_base_briefly
from survey_app.results.row_order import sort_lines
from survey_app.results.survey_document import JointPart, Line, Results
from survey_app.tally import columns_of
from survey_app.web.charts import intervals
from survey_app.web.results.plots import MOST_PLOTTED, Plot, View, chart_rows, share_format


@dataclass(frozen=True)
class JointBlock:
    """Questions that were randomized together, and the estimates of every possible combination of their answers."""

    survey: Survey
    questions: tuple[Question, ...]
    part: JointPart
    view: View

    @property
    def base(self) -> str:
        """The respondents that n counts."""
        return self.part.base or EVERYBODY

    @property
    def form(self) -> Format:
        return share_format(self.part.estimates, self.view)

    @property
    def lines(self) -> list[Line]:
        """The combinations in reading order."""
        return sort_lines(self.questions, self.part.estimates)

    @property
    def plot(self) -> Plot | None:
        """The plot of all combinations; None if there are none or too many."""
        lines = self.lines
        if not 0 < len(lines) <= MOST_PLOTTED:
            return None
        first = self.questions[0]
        svg = intervals(
            chart_rows(lines, self.view, [line.name for line in lines]),
            title=" + ".join(question.text for question in self.questions),
            name=f"joint-{first.id}",
            note=self.view.note(lines, describe_base_briefly(self.survey, columns_of(self.survey, first.id).field)),
            words=self.view.words,
            zoomed=self.view.zoomed,
            standalone=self.view.standalone,
        )
        return Plot(f"{first.id}.joint", svg)


def joint_blocks(survey: Survey, document: Results, view: View) -> list[JointBlock]:
    """Return the joint fields of a survey, with their estimates."""
    questions = {question.id: question for question in survey.questions}
    return [
        JointBlock(survey, tuple(questions[name] for name in part.questions), part, view) for part in document.joint
    ]
