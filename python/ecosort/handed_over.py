"""Goes from one thread to another."""

from __future__ import annotations

from typing import Generic, TypeVar

Item = TypeVar("Item")


class HandedOver(Generic[Item]):
    """An item that no one holds on to once it was taken."""

    def __init__(self, item: Item) -> None:
        self._items = [item]

    def take(self) -> Item:
        return self._items.pop()
