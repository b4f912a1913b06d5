"""The type `scale`: one of several ordered points."""

from typing import Any, final

from candor_client.canonical import parse_decimal, parse_labels, parse_list
from candor_client.errors import DefinitionError
from candor_client.types import TypeName
from candor_client.types.labels import SingleLabel


@final
class Scale(SingleLabel):
    """Ordered points, each with a score if the author gives scores."""

    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        points = parse_labels(value["points"], f"{path}.points", 2)
        if "scores" not in value:
            return {"labels": points}
        values = parse_list(value["scores"], f"{path}.scores", 2)
        scores = tuple(parse_decimal(score, f"{path}.scores[{i}]") for i, score in enumerate(values))
        if len(scores) != len(points):
            raise DefinitionError("bad_value", f"{path}.scores", "needs one score for every point")
        return {"labels": points, "scores": scores}


TYPE = Scale(
    name=TypeName.SCALE,
    required_keys=("points",),
    optional_keys=("scores",),
    labels_key="points",
    has_labels=True,
    has_sets=False,
    fits_grid=True,
    lists_labels=True,
)
