"""Work in a thread of its own: one step ahead of a caller that wants items, or one step behind a caller that makes them.

Items go from thread to thread in a list that is emptied, so that no one holds on to one that was taken.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


def ahead(source: Iterator[Item]) -> Generator[Item, None, None]:
    """Yields what `source` yields, and raises what it raises: one item waits while the one before is in use.

    The end of this generator, however it comes, ends the thread and closes `source`.
    """
    pool, end = ThreadPoolExecutor(1, "ecosort ahead"), object()

    def make() -> list[Any]:
        return [next(source, end)]

    try:
        made = pool.submit(make)
        while (item := made.result())[0] is not end:
            made = pool.submit(make)
            yield item.pop()
    finally:
        pool.shutdown()
        if hasattr(source, "close"):
            source.close()


class Behind(Generic[Item]):
    """Does `work` on what it is given, in the order of giving: on one item while the next one is made.

    An error of the work is raised by the next `give`, or by the end of the `with` block, which waits for the work on the last
    item. After an error nothing more is worked on.
    """

    def __init__(self, work: Callable[[Item], None]) -> None:
        self._work = work
        self._pool = ThreadPoolExecutor(1, "ecosort behind")
        self._last: Future[None] | None = None

    def __enter__(self) -> Behind[Item]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pool.shutdown()
        if error is None:
            self.wait()

    def wait(self) -> None:
        """Waits for the work on the last item."""
        if self._last:
            self._last.result()

    def give(self, item: Item) -> None:
        """Waits until the work on the item before is done, so that no more than two are there."""
        self.wait()
        given = [item]
        self._last = self._pool.submit(lambda: self._work(given.pop()))
