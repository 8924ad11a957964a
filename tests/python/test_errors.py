"""Errors are raised, with their numbers, and nothing is left behind."""

import errno
import os
import pickle
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ecosort.program
import pytest
from ecosort.errors import from_program
from ecosort.program import answer_of
from ecosort.words import places_in
from sort_support import MIB, listing, mounted

from ecosort import (
    BadInput,
    EcoSortError,
    FalseClaim,
    IoFailed,
    NotEnoughMemory,
    NotEnoughSpace,
    OutputExists,
    ProgramNotFound,
    VerificationFailed,
    find_program,
    resume,
    sort_csv,
    sort_file,
    sort_in_place,
    sort_lines,
    sorted_iter,
    sorted_records,
)
from python.support import write_records


def test_too_little_memory_says_how_much_is_needed(here: Path) -> None:
    write_records(here / "in", 100_000, 100)
    with pytest.raises(NotEnoughMemory, match="at least") as raised:
        sort_file("in", "out", record_size=100, by="0:10", memory=MIB)
    assert raised.value.have_bytes == MIB
    assert raised.value.need_bytes
    assert raised.value.exit_code == 2
    assert sort_file("in", "out", record_size=100, by="0:10", memory=raised.value.need_bytes).records == 100_000


def test_more_memory_than_there_is(here: Path) -> None:
    write_records(here / "in", 10, 8)
    for sort in (
        lambda: sort_lines("in", "out", memory="1000TiB"),
        lambda: list(sorted_records([], 8, by="0:8", memory="1000TiB")),
    ):
        with pytest.raises(NotEnoughMemory, match="available") as raised:
            sort()
        assert raised.value.need_bytes
        assert raised.value.need_bytes > raised.value.have_bytes > 0


def test_too_little_space_says_where_and_how_much(here: Path, require: Callable[[str], None]) -> None:
    require("root")
    write_records(here / "in", 100_000, 100)
    with mounted(here, "tmpfs", 4 * MIB) as system:
        with pytest.raises(NotEnoughSpace) as raised:
            sort_file("in", system.root / "out", record_size=100, by="0:10")
        assert listing(system.root) == []
    error = raised.value
    assert error.places == (str(system.root),)
    assert error.have_bytes is not None
    assert error.need_bytes is not None
    assert error.have_bytes <= 4 * MIB
    assert error.need_bytes >= 10_000_000


@pytest.mark.parametrize(
    "sort",
    [
        lambda temp: list(sorted_records((bytes(80) for _ in range(200_000)), 80, by="0:10", memory="2MiB", temp=temp)),
        lambda temp: list(sorted_iter((f"{number:080}" for number in range(200_000)), memory="2MiB", temp=temp)),
    ],
    ids=["records", "iter"],
)
def test_a_drive_that_fills_up_in_the_middle(here: Path, require: Callable[[str], None], sort: Callable[[Path], Any]) -> None:
    require("root")
    with mounted(here, "tmpfs", 4 * MIB) as system:
        with pytest.raises(NotEnoughSpace, match=r"; make room there, or name another place with temp$") as raised:
            sort(system.root)
        assert listing(system.root) == []
    error = raised.value
    assert (error.places, error.have_bytes, error.need_bytes, error.exit_code) == ((str(system.root),), 4 * MIB, None, 3)


def test_the_place_that_is_full_is_told_with_its_argument(here: Path) -> None:
    told = {"kind": "io", "message": "", "errno": 28}
    for line, places, wanted in (
        ("cannot write '/(unnamed run)'", ("/",), " or name another place with temp"),
        ("cannot write '/dev/(unnamed output)'", ("/", "/dev"), " or name another place with temp or dst"),
        ("cannot write", (".", "/", "/dev"), " or name another place with temp or dst"),
    ):
        typed = f"{line}; make room there, or name another place with --temp or -o"
        error = from_program(3, typed, told, places_in([".", "/"], {"/dev/out": "dst"}, typed))
        assert isinstance(error, NotEnoughSpace)
        assert (error.places, str(error)) == (places, f"{line}; make room there,{wanted}")
        assert error.have_bytes
    assert places_in([], {}, "") in ({".": "temp"}, {os.environ.get("TMPDIR"): "temp"})
    error = from_program(3, "cannot write", told, places_in([], {"some/file": ""}, ""))
    assert (error.places, error.have_bytes) == (("some",), None)  # type: ignore[attr-defined]
    assert str(error) == "cannot write; make room there"


def test_records_of_no_benchmark_are_told_what_is_missing(here: Path) -> None:
    write_records(here / "in", 6, 100)
    with pytest.raises(BadInput, match=r"Sort Benchmark; give record_size and by, such as .*, or format='lines' for text$"):
        sort_file("in", "out")
    assert sort_file("in", "out", record_size=100, by="0:10").records == 6


def test_too_little_space_in_place(here: Path, require: Callable[[str], None]) -> None:
    require("xfs")
    with mounted(here, "xfs", 320 * MIB) as system:
        write_records(system.root / "in", 100_000, 100)
        with pytest.raises(NotEnoughSpace) as raised:
            sort_in_place(system.root / "in", record_size=100, by="0:10", space=4096)
    assert raised.value.have_bytes == 4096
    assert (raised.value.need_bytes or 0) > 4096


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"record_size": 7, "by": "0:4"}, "no multiple of the record size 7"),
        ({"record_size": 8, "by": "0:9"}, "0:9"),
        ({"record_size": 8, "by": "0:4:u99"}, "u99"),
        ({"record_size": 8}, "both record_size and by"),
        ({"record_size": 8, "by": []}, "by is empty"),
        ({"record_size": 8, "by": "0:8", "memory": "12 parsecs"}, "12 parsecs"),
        ({"record_size": 8, "by": "0:8", "memory": -1}, "memory is a positive number"),
        ({"record_size": 8, "by": "0:8", "threads": 0}, "threads is a positive number"),
        ({"record_size": 8, "by": "0:8", "temp": "nowhere"}, "nowhere"),
        ({"record_size": 8, "by": "0:8", "format": "xml"}, "'records', 'lines', 'csv' or 'jsonl', not 'xml'"),
        *(
            ({"record_size": 8, "by": "0:8", "format": name}, f"record_size is for records, not for {name}")
            for name in ("lines", "csv", "jsonl")
        ),
    ],
)
def test_a_wrong_wish_is_bad_input(here: Path, options: dict[str, object], words: str) -> None:
    write_records(here / "in", 100, 8)
    with pytest.raises(BadInput, match=words) as raised:
        sort_file("in", "out", **options)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, ValueError)
    assert listing(here) == [str(here / "in")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "a\0"}, "no column 'a"),
        ({"by": "\ud800"}, "cannot be handed to a program"),
        ({"by": "a", "delimiter": ""}, "delimiter is a text of 1 to 8 bytes, not ''"),
        ({"by": "a", "quote": ""}, "quote is a text of one byte, not ''"),
    ],
)
def test_words_that_cannot_be_are_bad_input(here: Path, options: dict[str, Any], words: str) -> None:
    (here / "in").write_text("a\n1\n")
    with pytest.raises(BadInput, match=words):
        sort_csv("in", "out", **options)
    assert listing(here) == [str(here / "in")]


@pytest.mark.parametrize("inputs", ["absent", ".", "", [], "a\0b"])
def test_an_input_that_is_none(here: Path, inputs: str | list[str]) -> None:
    with pytest.raises(BadInput):
        sort_lines(inputs, "out")
    assert listing(here) == []


def test_an_output_is_overwritten_only_if_asked(here: Path) -> None:
    (here / "in").write_text("b\na\n")
    (here / "out").write_text("precious")
    with pytest.raises(OutputExists, match="overwrite=True") as raised:
        sort_lines("in", "out")
    assert raised.value.path == "out"
    assert (here / "out").read_text() == "precious"
    sort_lines("in", "out", overwrite=True)
    assert (here / "out").read_text() == "a\nb\n"


def test_a_file_size_limit_is_an_io_error_with_its_number(here: Path) -> None:
    """`ulimit -f` is inherited by the program, which gets EFBIG."""
    import resource

    write_records(here / "in", 10_000, 100)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(IoFailed) as raised:
            sort_file("in", "out", record_size=100, by="0:10")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.errno == errno.EFBIG
    assert listing(here) == [str(here / "in")]


@pytest.mark.parametrize(
    "error",
    [
        NotEnoughMemory("a line", 1, None),
        NotEnoughSpace("a line", ["/tmp"], 1, 2),
        FalseClaim("a.parquet", 7, "a ascending"),
        OutputExists("out"),
        IoFailed("a line", 28),
        BadInput("a line"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_crosses_processes_with_its_line_and_numbers(error: EcoSortError) -> None:
    """A pool of processes hangs where the error of a worker cannot be made again."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_what_cannot_be_resumed_is_bad_input(here: Path) -> None:
    with pytest.raises(BadInput, match="no sort of 'nothing' was begun"):
        resume("nothing")


def test_exit_codes_say_what_json_does_not() -> None:
    kinds = [from_program(code, "a line", None) for code in (1, 2, 3, 4)]
    assert [type(error) for error in kinds] == [VerificationFailed, BadInput, IoFailed, EcoSortError]
    assert [error.exit_code for error in kinds] == [1, 2, 3, 4]
    told = {"kind": "verification", "message": "a line"}
    assert type(from_program(2, "a line", told)) is VerificationFailed  # as `ecosort lines` ends


def test_a_program_that_is_killed_or_silent_is_named_so() -> None:
    """It may have written the JSON of a success before it was killed, and no line."""
    assert str(from_program(-9, "", {"schema": "ecosort.partition-plan/1"})) == "the program was ended by signal 9"
    assert str(from_program(137, "half a li", None)) == "the program was ended by signal 9: half a li"
    assert str(from_program(2, "", None)) == "the program ended with exit code 2 and said nothing"


def test_a_program_that_cannot_be_asked_is_an_io_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """An OSError is none of this package, whose callers expect EcoSortError."""

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    find_program()
    monkeypatch.setattr(ecosort.program.subprocess, "run", fail)
    with pytest.raises(IoFailed, match=r"^the program cannot be started: Too many open files$") as raised:
        answer_of("manual", "json")
    assert raised.value.errno == errno.EMFILE


# --- the program -------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ECOSORT_PROGRAM")
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(ecosort.program, "_INSIDE", Path("/nowhere"))


@pytest.mark.usefixtures("no_program")
def test_a_program_in_path_is_found(here: Path, ecosort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProgramNotFound, match="set ECOSORT_PROGRAM"):
        find_program()
    (here / "bin").mkdir(0o755)
    shutil.copy(ecosort, here / "bin")
    monkeypatch.setenv("PATH", f"/usr/bin:relative:{here}/bin")
    assert find_program() == here / "bin" / "ecosort"


@pytest.mark.usefixtures("no_program")
def test_a_program_in_path_that_others_can_write_is_not_used(here: Path, ecosort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "bin").mkdir()
    shutil.copy(ecosort, here / "bin")
    monkeypatch.setenv("PATH", f"{here}/bin")
    (here / "bin").chmod(0o777)
    with pytest.raises(ProgramNotFound, match="others can write"):
        find_program()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo ecosort 0.0.9", "is ecosort 0.0.9, and this package needs"),
        ("echo sort", "does not say that it is ecosort"),
        ("kill -TERM $$", "was ended by signal 15 before it said what it is"),
        (None, "cannot run"),
    ],
)
def test_a_program_of_another_version_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, words: str
) -> None:
    program = here / "program"
    if script:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("ECOSORT_PROGRAM", "program")
    with pytest.raises(ProgramNotFound, match=words):
        sort_lines("in", "out")


def test_a_program_that_never_answers_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "program").write_text("#!/bin/sh\nexec sleep 60\n")
    (here / "program").chmod(stat.S_IRWXU)
    monkeypatch.setenv("ECOSORT_PROGRAM", "program")
    monkeypatch.setattr("ecosort.program._ANSWER_S", 0.2)
    with pytest.raises(ProgramNotFound, match="does not answer --version"):
        sort_lines("in", "out")


def test_the_version_is_that_of_the_program(ecosort: Path) -> None:
    import ecosort as package

    said = subprocess.run([ecosort, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[1] == package.__version__


def test_no_file_descriptor_is_left_open(here: Path) -> None:
    (here / "in").write_text("b\na\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    sort_lines("in", "out")
    with pytest.raises(BadInput):
        sort_lines("absent", "other")
    list(sorted_records([b"b", b"a"], 1, by="0:1"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
