"""Work that is done one step behind its user."""

from __future__ import annotations

from collections.abc import Callable
from queue import Queue
from threading import Thread
from types import TracebackType
from typing import Generic, TypeVar

from ecosort.handed_over import HandedOver

Item = TypeVar("Item")


class Behind(Generic[Item]):
    """Does `work` on what it is given, in the order of giving, in a thread of its own: on one item while the next one is made.

    What the work raises is raised by the next `give`, or by the end of the `with` block, which waits for the work on the last
    item. After an error nothing more is worked on.
    """

    def __init__(self, work: Callable[[Item], None]) -> None:
        self._work = work
        self._given: Queue[HandedOver[Item] | None] = Queue(1)
        self._error: BaseException | None = None
        self._thread = Thread(target=self._do, name="ecosort behind", daemon=True)

    def __enter__(self) -> Behind[Item]:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._given.put(None)
        self._thread.join()
        if error is None and self._error is not None:
            raise self._error

    def give(self, item: Item) -> None:
        """Waits until the work on the item before is done, so that no more than two are there."""
        self._given.join()
        if self._error is not None:
            raise self._error
        self._given.put(HandedOver(item))

    def _do(self) -> None:
        while (given := self._given.get()) is not None:
            try:
                self._work(given.take())
            except BaseException as raised:  # is raised where the items are made
                self._error = raised
            self._given.task_done()
