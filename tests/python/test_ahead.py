"""Work one step ahead: the items, what goes wrong, and the end."""

import threading
import time
from collections.abc import Iterator

import pytest
from ecosort.ahead import ahead


class Source:
    """Numbers, and what was done with it."""

    def __init__(self, count: int, error: Exception | None = None) -> None:
        self.count, self.error, self.made, self.is_closed = count, error, 0, False

    def items(self) -> Iterator[int]:
        try:
            for number in range(self.count):
                self.made += 1
                yield number
            if self.error:
                raise self.error
        finally:
            self.is_closed = True


def _threads() -> int:
    return sum(thread.name.startswith("ecosort ahead") for thread in threading.enumerate())


@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_every_item_comes_in_order(count: int) -> None:
    assert list(ahead(Source(count).items())) == list(range(count))
    assert _threads() == 0


def test_what_goes_wrong_is_raised_behind_the_items_before_it() -> None:
    items = ahead(Source(3, ZeroDivisionError("here")).items())
    seen = [next(items), next(items), next(items)]
    with pytest.raises(ZeroDivisionError, match="here"):
        next(items)
    assert seen == [0, 1, 2]
    assert _threads() == 0


def test_one_item_is_made_ahead_and_no_more() -> None:
    source = Source(100)
    items = ahead(source.items())
    next(items)
    deadline = time.monotonic() + 60
    while source.made < 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    assert source.made == 2
    items.close()
    assert source.is_closed
    assert _threads() == 0


def test_who_lets_go_ends_the_thread() -> None:
    source = Source(100)
    items = ahead(source.items())
    assert next(items) == 0
    del items
    assert source.is_closed
    assert _threads() == 0
