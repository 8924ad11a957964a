"""Work one step behind: its order, how much of it there is at a time, and what becomes of errors."""

from __future__ import annotations

import threading
import weakref

import pytest
from ecosort.ahead import Behind


class Item:
    """A test knows whether it is still there."""

    def __init__(self, number: int) -> None:
        self.number = number


def test_all_is_done_in_the_order_of_giving() -> None:
    done: list[int] = []
    with Behind(done.append) as behind:
        for number in range(1000):
            behind.give(number)
    assert done == list(range(1000))


def test_one_item_is_worked_on_while_the_next_one_is_made_and_no_more() -> None:
    working, may_end, given = threading.Event(), threading.Semaphore(0), []

    def work(number: int) -> None:
        working.set()
        may_end.acquire()

    def give_three() -> None:
        with Behind(work) as behind:
            for number in range(3):
                behind.give(number)
                given.append(number)

    giver = threading.Thread(target=give_three)
    giver.start()
    assert working.wait(60)
    giver.join(0.2)
    assert given == [0], "the second one waits for the work on the first"
    for _ in range(3):
        may_end.release()
    giver.join(60)
    assert given == [0, 1, 2]


def test_what_was_worked_on_is_not_held() -> None:
    items: list[weakref.ref[Item]] = []
    with Behind[Item](lambda item: items.append(weakref.ref(item))) as behind:
        for number in range(3):
            behind.give(Item(number))
        behind.wait()
        assert [item() for item in items] == [None] * 3


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_of_the_work_is_raised_and_nothing_more_is_done(failing: int) -> None:
    done: list[int] = []

    def work(number: int) -> None:
        done.append(number)
        if number == failing:
            raise OSError(28, f"no room for {number}")

    def give_three() -> None:
        with Behind(work) as behind:
            for number in range(3):
                behind.give(number)

    with pytest.raises(OSError, match=f"no room for {failing}"):
        give_three()
    assert done == list(range(failing + 1))


def test_an_error_of_the_giver_is_the_one_that_is_raised() -> None:
    def work(number: int) -> None:
        raise OSError(28, "no room")

    def give_and_stop() -> None:
        with Behind(work) as behind:
            behind.give(0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        give_and_stop()
    assert not any(thread.name == "ecosort behind" for thread in threading.enumerate())
