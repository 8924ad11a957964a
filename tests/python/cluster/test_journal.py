"""The journal keeps what it said, whatever ends the process that writes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ecosort.cluster.journal import Journal

from ecosort import BadInput, IoFailed


def made(path: Path, count: int) -> list[dict[str, int]]:
    events = [{"event": number} for number in range(count)]
    with Journal.create(path, events[0]) as journal:
        for event in events[1:]:
            journal.append(event)
    return events


def test_events_come_back(tmp_path: Path) -> None:
    events = made(tmp_path / "journal", 5)
    with Journal(tmp_path / "journal") as journal:
        assert journal.events == events


def test_a_journal_replaces_none(tmp_path: Path) -> None:
    """Two jobs for one output that began at the same time both ran: the second one replaced the journal of the first."""
    path = tmp_path / "journal"
    events = made(path, 2)
    with pytest.raises(FileExistsError):
        Journal.create(path, {"event": "other"})
    with Journal(path) as journal:
        assert journal.events == events
    assert list(tmp_path.iterdir()) == [path]


def test_an_event_is_synced_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    with Journal.create(tmp_path / "journal", {"event": 0}) as journal:
        journal.append({"event": 1})
        assert synced == [(tmp_path / "journal").stat().st_size]


def test_a_journal_cut_anywhere_has_the_events_before_and_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    events = made(path, 4)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Journal(path) as journal:
            kept = whole[:cut].count(b"\n")
            assert journal.events == events[:kept]
            journal.append({"event": 99})
        with Journal(path) as journal:
            assert journal.events == [*events[:kept], {"event": 99}]


def test_events_that_were_appended_at_once_are_all_there_or_none(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    made(path, 2)
    before = path.stat().st_size
    with Journal(path) as journal:
        journal.append({"event": 2}, {"event": 3})
    whole = path.read_bytes()
    for cut in range(before, len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Journal(path) as journal:
            assert len(journal.events) == (4 if cut == len(whole) else 2)


def test_a_torn_last_line_whose_newline_is_there_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    events = made(path, 3)
    data = bytearray(path.read_bytes())
    data[-3] = 0
    path.write_bytes(data)
    with Journal(path) as journal:
        assert journal.events == events[:2]


def test_damage_before_the_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    made(path, 3)
    data = bytearray(path.read_bytes())
    data[12] ^= 1
    path.write_bytes(data)
    with pytest.raises(IoFailed, match="damaged in line 1"):
        Journal(path)


def test_two_at_a_time_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "journal", 1)
    with Journal(tmp_path / "journal"), pytest.raises(BadInput, match="another process works on the job"):
        Journal(tmp_path / "journal")


def test_no_journal_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no job of ecosort cluster"):
        Journal(tmp_path / "journal")
