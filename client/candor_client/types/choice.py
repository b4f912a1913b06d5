"""The type `choice`: one of several options."""

from typing import Any, final

from candor_client.canonical import labels_at
from candor_client.types import TypeName
from candor_client.types.labels import OneLabel


@final
class Choice(OneLabel):
    """Options without an order, which may be shuffled on the screen."""

    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        return {"labels": labels_at(value["options"], f"{path}.options", 2)}


TYPE = Choice(
    name=TypeName.CHOICE,
    required=("options",),
    possible=("shuffle",),
    labels_key="options",
    has_labels=True,
    has_sets=False,
    fits_grid=False,
    lists_labels=True,
)
