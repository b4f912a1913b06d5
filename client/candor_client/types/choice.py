"""The type `choice`: one of several options."""

from typing import Any, final

from candor_client.canonical import parse_labels
from candor_client.types import TypeName
from candor_client.types.labels import SingleLabel


@final
class Choice(SingleLabel):
    """Options without an order, which may be shuffled on the screen."""

    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        return {"labels": parse_labels(value["options"], f"{path}.options", 2)}


TYPE = Choice(
    name=TypeName.CHOICE,
    required_keys=("options",),
    optional_keys=("shuffle",),
    labels_key="options",
    has_labels=True,
    has_sets=False,
    fits_grid=False,
    lists_labels=True,
)
