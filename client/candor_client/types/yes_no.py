"""The type `yes_no`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

from candor_client.types import TypeName
from candor_client.types.labels import SingleLabel

if TYPE_CHECKING:
    from candor_client.question import Question


@final
class YesNo(SingleLabel):
    """The labels no and yes; true and false are accepted as answers too."""

    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        return {"labels": ("no", "yes")}

    def index_of(self, question: "Question", answer: Any) -> int:
        return int(answer) if isinstance(answer, bool) else super().index_of(question, answer)

    def prompt(self, question: "Question") -> str:
        return "yes or no"

    def parse_input(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        return {"y": "yes", "n": "no"}.get(typed.lower(), typed.lower())


TYPE = YesNo(
    name=TypeName.YES_NO,
    required_keys=(),
    optional_keys=(),
    labels_key=None,
    has_labels=True,
    has_sets=False,
    fits_grid=False,
    lists_labels=False,
)
