"""What each device was asked, and what was randomized together: the blocks of a survey on the results page."""

from dataclasses import dataclass

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.languages.number_format import Format
from survey_app.results.denominators import EVERYBODY, short_base
from survey_app.results.row_order import in_order
from survey_app.results.survey_document import JointPart, Line, Results
from survey_app.tally import columns_of
from survey_app.web.charts import intervals
from survey_app.web.results.plots import MOST_PLOTTED, Plot, View, rows_of, share_format


@dataclass(frozen=True)
class Together:
    """Questions that were randomized together, and every combination of their answers that can occur."""

    survey: Survey
    questions: tuple[Question, ...]
    part: JointPart
    view: View

    @property
    def base(self) -> str:
        """Whom n counts."""
        return self.part.base or EVERYBODY

    @property
    def form(self) -> Format:
        return share_format(self.part.estimates, self.view)

    @property
    def lines(self) -> list[Line]:
        """The combinations in the order in which people read them."""
        return in_order(self.questions, self.part.estimates)

    @property
    def plot(self) -> Plot | None:
        """All combinations, if they are few enough."""
        lines = self.lines
        if not 0 < len(lines) <= MOST_PLOTTED:
            return None
        first = self.questions[0]
        svg = intervals(
            rows_of(lines, self.view, [line.name for line in lines]),
            title=" + ".join(question.text for question in self.questions),
            name=f"joint-{first.id}",
            note=self.view.note(lines, short_base(self.survey, columns_of(self.survey, first.id).field)),
            words=self.view.words,
            zoomed=self.view.zoomed,
            standalone=self.view.standalone,
        )
        return Plot(f"{first.id}.joint", svg)


def together(survey: Survey, document: Results, view: View) -> list[Together]:
    """The joint fields of a survey."""
    questions = {question.id: question for question in survey.questions}
    return [Together(survey, tuple(questions[name] for name in part.questions), part, view) for part in document.joint]
