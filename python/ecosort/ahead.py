"""Work that is done one step ahead of its user."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Generic, TypeVar

from ecosort.handed_over import HandedOver

Item = TypeVar("Item")


def ahead(source: Iterator[Item]) -> Generator[Item, None, None]:
    """Yields what `source` gives, and raises, made by a thread of its own: one item waits while the one before is in use.

    The end of this generator, however it comes, ends the thread and closes `source`.
    """
    maker = _Maker(source)
    try:
        yield from maker.items()
    finally:
        maker.give_up()


class _Maker(Generic[Item]):
    def __init__(self, source: Iterator[Item]) -> None:
        self._source = source
        self._made: SimpleQueue[HandedOver[Item] | _End] = SimpleQueue()
        self._room = Semaphore(0)
        self._is_given_up = False
        # A daemon: a stream that is still held when the interpreter ends keeps no one waiting.
        self._thread = Thread(target=self._make, name="ecosort ahead", daemon=True)
        self._thread.start()

    def items(self) -> Iterator[Item]:
        while not isinstance(made := self._made.get(), _End):
            self._room.release()
            yield made.take()
        if made.error is not None:
            raise made.error

    def give_up(self) -> None:
        self._is_given_up = True
        self._room.release()
        self._thread.join()
        if hasattr(self._source, "close"):
            self._source.close()

    def _make(self) -> None:
        error = None
        try:
            while not self._is_given_up:
                self._made.put(HandedOver(next(self._source)))
                self._room.acquire()
        except StopIteration:
            pass
        except BaseException as raised:  # is raised where the items are wanted
            error = raised
        self._made.put(_End(error))


class _End:
    """No more items; or why not."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
