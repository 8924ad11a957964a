"""The seal of a result: every change is found, the first broken link is named, and a crash leaves a chain that holds."""

from __future__ import annotations

import errno
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ecosort_power import journal
from ecosort_power.assemble import attach_energy
from ecosort_power.check import check, first_broken_link
from ecosort_power.errors import InvalidResultError
from ecosort_power.journal import Journal
from ecosort_power.report.content import gather
from ecosort_power.seal import FILE_NAME, Seal, head_of
from ecosort_power.seal_check import require_seal, seal_defects
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import summarize

from .stored import write_result
from .support import Cli


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_result(tmp_path_factory.mktemp("sealed") / "r", runs=3)


@pytest.fixture
def result(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "r"))


def broken(result: Path) -> str:
    """Code and text of the first link that is broken."""
    found = first_broken_link(check(ResultDirectory(result)))
    return f"[{found.code}] {found.text}" if found is not None else ""


def test_a_sound_result_holds_and_its_digest_is_that_of_the_last_line(cli: Cli, result: Path) -> None:
    done = cli("check", "r")
    assert done.returncode == 0, done.stdout
    last = json.loads((result / FILE_NAME).read_text().splitlines()[-1])
    assert f"digest {last['hash']}" in done.stdout
    for form in ("markdown", "html", "json"):
        assert last["hash"] in cli("report", "r", "--format", form).stdout


FILES = ("session.json", "summary.json", "idle-before.wall.jsonl", "runs/02/run.json", "runs/02/readings.wall.jsonl")


@pytest.mark.parametrize("name", [*FILES, "runs/02/events.jsonl", "runs/02/validation.txt"])
def test_one_changed_byte_is_found_and_the_file_named(result: Path, name: str) -> None:
    data = bytearray((result / name).read_bytes())
    digit = max(i for i, b in enumerate(data) if chr(b).isdigit())
    data[digit] = ord("1" if data[digit] != ord("1") else "2")
    (result / name).write_bytes(data)
    assert f"[seal] {name} is not what was written" in broken(result)


@pytest.mark.parametrize("name", ["runs/02/readings.wall.jsonl", "idle-after.wall.jsonl", "runs/03/validation.txt"])
def test_a_file_that_is_gone_or_was_added_is_named(result: Path, name: str) -> None:
    (result / name).rename(result / "runs/02/more.jsonl")
    assert f"{name} is not there" in broken(result)
    (result / "runs/02/more.jsonl").rename(result / name)
    (result / "runs/02/more.jsonl").write_text("{}")
    assert "[seal] runs/02/more.jsonl is not sealed" in broken(result)


LINES: dict[str, Callable[[list[str]], None]] = {
    "changed": lambda lines: lines.__setitem__(5, lines[5].replace('"bytes":', '"bytes": 1')),
    "removed": lambda lines: lines.__delitem__(5),
    "twice": lambda lines: lines.insert(5, lines[5]),
    "swapped": lambda lines: lines.__setitem__(slice(5, 7), [lines[6], lines[5]]),
    "garbled": lambda lines: lines.__setitem__(5, "%%%"),
}


@pytest.mark.parametrize("how", LINES)
def test_a_line_of_the_chain_cannot_be_changed(result: Path, how: str) -> None:
    lines = (result / FILE_NAME).read_text().splitlines()
    LINES[how](lines)
    (result / FILE_NAME).write_text("\n".join(lines) + "\n")
    assert f"[seal] {FILE_NAME}, line" in broken(result)


def test_without_its_seal_a_result_does_not_pass(result: Path) -> None:
    (result / FILE_NAME).unlink()
    assert "[seal-missing]" in broken(result)


def test_every_report_of_a_result_without_its_seal_says_so(cli: Cli, result: Path) -> None:
    (result / FILE_NAME).unlink()
    for form in ("terminal", "markdown", "html"):
        assert "MISSING: this result is not sealed" in cli("report", "r", "--format", form).stdout, form


def test_what_an_entry_says_beyond_its_runs_is_sealed(result: Path) -> None:
    """Without the line about it, which is the last one, the chain is whole all the same."""
    (result / "entry.json").write_text("{}")
    assert "[seal] entry.json is not sealed: it was added afterwards" in broken(result)


def reseal(result: Path, session: Any, forge: Callable[[Path, Seal], None]) -> None:
    """Does what someone does who knows the format: edit, and make the whole chain anew."""
    (result / FILE_NAME).unlink()
    seal = Seal(result)
    forge(result, seal)
    for path in sorted(p for p in result.rglob("*") if p.is_file() and p.name != FILE_NAME):
        seal.file(path)
    seal.close()


def more_watts(path: Path, factor: float, keys: tuple[str, ...]) -> None:
    """Changes the numbers of every reading, `raw` included if it is among the keys."""
    lines = []
    for line in path.read_text().splitlines():
        reading = json.loads(line)
        watts = reading["watts"] * factor
        if "watts" in keys:
            reading["watts"] = watts
        if "raw" in keys:
            reading["raw"] = reading["raw"].rpartition(",")[0] + f",{watts!r}"
        lines.append(json.dumps(reading))
    path.write_text("\n".join(lines) + "\n")


def recompute(result: Path, seal: Seal, run: bool, summary: bool) -> None:
    stored = ResultDirectory(result)
    session = stored.session()
    if run:
        fresh = attach_energy(session, stored.runs()[1], {"wall": stored.readings(2, "wall")})
        seal.document(stored.run_path(2) / "run.json", fresh)
    if summary:
        seal.document(stored.summary_path, summarize(session, stored.runs()))


def test_each_link_is_found_where_the_chain_was_made_anew(result: Path) -> None:
    """With a seal that holds again, the links from the meter's answer to the summary are named one after the other."""
    session = ResultDirectory(result).session()
    readings = result / "runs/02/readings.wall.jsonl"
    steps: list[tuple[str, Callable[[Path, Seal], None]]] = [
        ("[raw-differs] run 2: readings.wall.jsonl, line 1", lambda r, s: more_watts(readings, 0.9, ("watts",))),
        ("[energy-differs] run 2", lambda r, s: more_watts(readings, 1.0, ("raw",))),
        ("[summary-differs]", lambda r, s: recompute(r, s, run=True, summary=False)),
        ("", lambda r, s: recompute(r, s, run=False, summary=True)),
    ]
    for expected, forge in steps:
        reseal(result, session, forge)
        assert broken(result)[: len(expected) or 99] == expected


def test_another_command_than_the_sealed_one_is_found(result: Path) -> None:
    path = result / "runs/02/run.json"
    path.write_text(path.read_text().replace("1GiB", "2GiB"))
    seal = Seal(result)
    seal.file(path)
    seal.close()
    assert "[command] run 2" in broken(result)


def test_a_report_of_the_validator_that_says_otherwise_is_found(result: Path) -> None:
    path = result / "runs/02/validation.txt"
    path.write_text(path.read_text().replace("Duplicate keys: 0", "Duplicate keys: 7"))
    seal = Seal(result)
    seal.file(path)
    seal.close()
    assert "[validation-report] run 2" in broken(result)


def test_readings_are_sealed_while_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "PART_S", 0.0)
    path, seal = tmp_path / "runs/01/readings.m.jsonl", Seal(tmp_path)
    path.parent.mkdir(parents=True)
    written = Journal(path, seal)
    for i in range(50):
        written.add(json.dumps({"watts": i}))
    written.close()
    seal.close()
    assert list(seal_defects(tmp_path)) == []
    path.write_text(path.read_text().replace('{"watts": 7}', '{"watts": 8}'))
    (found,) = seal_defects(tmp_path)
    begin = path.read_text().index('{"watts": 8}')
    assert f"between its bytes {begin} and {begin + 13}" in found.text
    # A crash before the end: only parts are sealed, and readings came after the last of them.
    kept = (tmp_path / FILE_NAME).read_text().splitlines()[:-1]
    (tmp_path / FILE_NAME).write_text("\n".join(kept) + "\n")
    path.write_text(path.read_text().replace('{"watts": 8}', '{"watts": 7}', 1) + '{"watts": 9')
    assert list(seal_defects(tmp_path)) == []
    path.write_text(path.read_text().replace('{"watts": 3}', '{"watts": 4}', 1))
    assert len(list(seal_defects(tmp_path))) == 1


@pytest.mark.parametrize("cut", [1, 20, 10_000])
def test_a_line_torn_by_a_crash_is_gone_on_from(result: Path, cut: int) -> None:
    """`cut` bytes are missing at the end of the chain; where that is more than the line there is nothing to mend."""
    data = (result / FILE_NAME).read_bytes()
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    (result / FILE_NAME).write_bytes(data[: max(len(data) - cut, last)])
    seal = Seal(result)
    seal.document(result / "summary.json", json.loads((result / "summary.json").read_text()))
    seal.close()
    assert broken(result) == ""
    head = head_of(result)
    assert head is not None
    assert (result / FILE_NAME).read_text().splitlines()[-1].endswith(f'"{head.digest}"}}')


def test_a_document_sealed_before_a_crash_takes_its_name_afterwards(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = json.loads((result / "session.json").read_text())
    session["host"]["governor"] = "performance"
    seal = Seal(result)
    with monkeypatch.context() as crash:
        crash.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            seal.document(result / "session.json", session)
    seal.close()
    assert "governor" not in (result / "session.json").read_text()
    assert broken(result) == ""
    Seal(result).close()
    assert "governor" in (result / "session.json").read_text()
    assert broken(result) == ""


def test_two_do_not_write_one_result(cli: Cli, result: Path, tmp_path: Path) -> None:
    """Nor does a second one take a directory for left over in which the first reads its input."""
    (tmp_path / "begun").mkdir()
    for directory, words in (
        (result, ("run", "--continue", "r")),
        (result, ("attach", "r", "--meter", "csv:log.csv")),
        (tmp_path / "begun", ("run", "--time-only", "--out", "begun", "--", "true")),
    ):
        first = Seal(directory)
        before = sorted(directory.rglob("*"))
        done = cli(*words)
        first.close()
        assert (done.returncode, "another ecosort-power works in" in done.stderr) == (2, True), done.stderr
        assert sorted(directory.rglob("*")) == before
    assert broken(result) == ""
    Seal(result).close()


class Full:
    """A file on a drive that has room for ten more bytes."""

    def __init__(self, real: Any) -> None:
        self._real, self._full = real, False

    def fileno(self) -> int:
        return int(self._real.fileno())

    def write(self, data: bytes) -> int:
        if not self._full:
            self._full = True
            return int(self._real.write(data[:10]))
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_drive_leaves_no_half_line(tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    seal.add("command", path="runs/01", words=["a"])
    real, seal._file = seal._file, Full(seal._file)  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space"):
        seal.add("command", path="runs/02", words=["b" * 100])
    seal._file = real
    seal.add("command", path="runs/02", words=["c"])
    seal.close()
    assert list(seal_defects(tmp_path)) == []
    assert len((tmp_path / FILE_NAME).read_text().splitlines()) == 2


def sealed_files(result: Path) -> list[Path]:
    return sorted(p for p in result.rglob("*") if p.is_file())


def test_any_flipped_byte_is_a_broken_link_and_no_report(result: Path) -> None:
    """Bytes all over every file, whatever they do to its syntax."""
    rng = random.Random(1)
    for path in sealed_files(result):
        before = path.read_bytes()
        places = {0, len(before) - 2, *rng.sample(range(len(before)), min(len(before), 6 if path.name != "seal.jsonl" else 60))}
        for place in sorted(places):
            damaged = bytearray(before)
            damaged[place] ^= rng.choice((1, 4, 32, 128))
            path.write_bytes(damaged)
            try:
                broken = next(seal_defects(result))
                assert path.name in broken.text or place == len(before) - 1  # a last line without its end was torn by a crash
                with pytest.raises(InvalidResultError, match="First broken link"):
                    gather(ResultDirectory(result), None)
                with pytest.raises(InvalidResultError):
                    require_seal(result)
            finally:
                path.write_bytes(before)
    assert not list(seal_defects(result))


@pytest.mark.parametrize(
    ("name", "old", "new", "text"),
    [
        ("session.json", b"{", b"[", "session.json is not what was written"),
        ("runs/02/run.json", b'"', b"#", "runs/02/run.json is not what was written"),
        ("summary.json", b":", b";", "summary.json is not what was written"),
        ("seal.jsonl", b'"n":3', b'"o":3', "seal.jsonl, line 3 was changed"),
        ("seal.jsonl", b'"bytes"', b'"bytez"', "seal.jsonl, line 1 was changed"),
    ],
)
def test_damage_that_breaks_the_syntax_is_named_by_the_seal(
    result: Path, sound: Path, cli: Cli, name: str, old: bytes, new: bytes, text: str
) -> None:
    path = result / name
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    done = cli("check", "r")
    assert done.returncode == 1
    assert f"the first link that is broken: [seal] {text}" in done.stdout
    assert done.stderr == ""
    for words in (
        *(("report", "r", "--format", form) for form in ("terminal", "json", "csv", "markdown", "html")),
        ("report", "r", "--format", "figures", "-o", "f"),
        ("compare", "r", sound),
        ("compare", sound, "r"),
        ("attach", "r", "--meter", "csv:x.csv"),
    ):
        done = cli(*words)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert text in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_result_without_a_seal_that_cannot_be_read_has_two_defects(result: Path, sound: Path, cli: Cli) -> None:
    (result / "seal.jsonl").unlink()
    (result / "session.json").write_text("{")
    done = cli("check", "r")
    assert done.returncode == 1
    assert "DEFECT [seal-missing]" in done.stdout
    assert "DEFECT [unreadable]" in done.stdout
    assert cli("check", "nothing").returncode == 2
