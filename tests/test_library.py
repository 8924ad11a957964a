"""The library as other programs get it: installed into an empty prefix, found by CMake and pkg-config, used by the examples."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT
from inplace.support import drive_of

EXAMPLES = ROOT / "docs" / "examples"

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("ECOSORT_SAN")), reason="a program would have to be built with the same sanitizers"
)


def call(*words: str | Path, **how: object) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("prefix")
    call("cmake", "--install", BUILD, "--component", "library", "--prefix", place)
    return place


@pytest.fixture(scope="module")
def examples(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("examples")
    strict = ["-DCMAKE_C_FLAGS=-Wall -Werror", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"]
    call("cmake", "-S", EXAMPLES, "-B", built, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", *strict)
    call("ninja", "-C", built)
    return built


def library(prefix: Path) -> Path:
    return next(prefix.rglob("libecosort.so"))


def test_the_shared_library_shows_its_interface_and_nothing_else(prefix: Path) -> None:
    shown = [line.split(maxsplit=2)[2] for line in call("nm", "-DC", "--defined-only", library(prefix)).splitlines()]
    names = [name for name in shown if name != "ECOSORT_1"]
    assert all(name.endswith("@@ECOSORT_1") for name in names), names
    ours = re.compile(
        r"^(ecosort_\w+|(typeinfo (name )?for |vtable for )?ecosort::\w+(::~?\w+|::operator=)?"
        r"(\[abi:cxx11\])?(\(.*\)( const)?)?)@@"
    )
    assert [name for name in names if not ours.match(name)] == []
    inner = re.compile(r"ecosort::[a-z_]+::")
    assert [name for name in names if inner.search(name)] == []
    for wanted in (
        "ecosort::sort(",
        "ecosort::plan(",
        "ecosort::Sorter::push(",
        "ecosort_sort@@",
        "typeinfo for ecosort::IoError@@",
    ):
        assert any(name.startswith(wanted) for name in names), wanted


def test_every_function_of_the_header_for_c_is_there(prefix: Path) -> None:
    header = (prefix / "include" / "ecosort" / "ecosort.h").read_text()
    declared = set(re.findall(r"^ECOSORT_C_API .*?(ecosort_\w+)\(", header, re.MULTILINE))
    shown = {line.split()[2].split("@")[0] for line in call("nm", "-D", "--defined-only", library(prefix)).splitlines()}
    assert declared
    assert declared <= shown


@pytest.fixture(scope="module")
def records(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """70 MB in a directory, and beside them what the program makes of them."""
    place = tmp_path_factory.mktemp("records")
    call(ecosort, "gen", "-a", "700000", place / "in")
    call(ecosort, "sort", "--memory", "64MiB", place / "in", "-o", place / "expected")
    return place


@pytest.mark.parametrize("program", ["sort_file", "sort_file_c"])
def test_the_examples_sort_as_the_program_does(examples: Path, records: Path, tmp_path: Path, program: str) -> None:
    told = call(examples / program, records / "in", tmp_path / "out")
    assert re.fullmatch(r"700000 records, [1-9]\d* runs\n", told), "70 MB through 64 MiB"
    call("cmp", tmp_path / "out", records / "expected")
    missing = subprocess.run([examples / program, "missing", "out2"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (missing.returncode, "missing" in missing.stderr, (tmp_path / "out2").exists()) == (2, True, False)


def test_the_library_sorts_in_place_and_continues(examples: Path, ecosort: Path, tmp_path: Path) -> None:
    """An error while the merge begins leaves a job, which the library itself, or the program, continues."""
    with drive_of("ext4", tmp_path) as drive:
        file, program = drive.root / "data", str(examples / "sort_in_place")
        call(ecosort, "gen", "-a", "120000", tmp_path / "in")
        call(ecosort, "sort", tmp_path / "in", "-o", tmp_path / "expected")
        for way_on in ([program, str(file)], [str(ecosort), "resume", "-q", str(file)]):
            shutil.copyfile(tmp_path / "in", file)
            ended = subprocess.run([program, str(file), "merge"], capture_output=True, text=True, check=False)
            assert (ended.returncode, file.exists(), ended.stderr) == (5, False, "interrupted; call it once more\n")
            call(*way_on)
            call("cmp", file, tmp_path / "expected")


@pytest.mark.parametrize(
    ("format_", "key", "text"),
    [
        ("csv", "price:number:desc", 'name,price\n"b\n1",10\na,9.5\nc,1e3\n'),
        ("jsonl", "a.b[0]:number", '{"a":{"b":[10]}}\n{"a":{"b":["9.5"]}}\n[]\n'),
    ],
)
def test_the_example_of_tables(examples: Path, ecosort: Path, tmp_path: Path, format_: str, key: str, text: str) -> None:
    (tmp_path / "in").write_text(text)
    assert call(examples / "sort_table_c", format_, key, tmp_path / "in", tmp_path / "out") == "3 rows\n"
    call(ecosort, format_, "-q", "--by", key, tmp_path / "in", "-o", tmp_path / "expected")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() != text.encode()
    (tmp_path / "in.gz").write_bytes(gzip.compress(text.encode()))
    call(examples / "sort_table_c", format_, key, tmp_path / "in.gz", tmp_path / "out.gz")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == (tmp_path / "expected").read_bytes()
    (tmp_path / "in").write_text(text.replace("10", "x"))
    words = [examples / "sort_table_c", format_, key, tmp_path / "in", tmp_path / "out2"]
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    if format_ == "csv":
        assert "line 3, byte 17: column 'price': 'x' is no number" in refused.stderr
    else:
        assert "line 1, byte 11: this is no value of JSON" in refused.stderr
    assert not (tmp_path / "out2").exists()


def test_the_example_of_push_and_pull(examples: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    told = call(examples / "push_pull", "2500000", env=environment)
    assert re.fullmatch(r"2500000 numbers in order, [1-9]\d* runs\n", told), "20 MB through 16 MiB"
    assert call(examples / "push_pull", "1000", env=environment) == "1000 numbers in order, 0 runs\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("format_", "key", "text", "expected"),
    [
        ("csv", "price:number:desc", 'name,price\n"b\n1",10\na,9.5\nc,1e3\n', 'name,price\nc,1e3\n"b\n1",10\na,9.5\n'),
        ("jsonl", "a:number", '{"a":10}\n{"a":9}', '{"a":9}\n{"a":10}\n'),
    ],
)
def test_the_example_of_pushed_rows(examples: Path, format_: str, key: str, text: str, expected: str) -> None:
    done = subprocess.run([examples / "push_rows", format_, key], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
    wrong = subprocess.run([examples / "push_rows", format_, "missing"], input=text, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout, "missing" in wrong.stderr) == (2, "", True)


def test_pkg_config_finds_it_too(prefix: Path, tmp_path: Path) -> None:
    where = next(prefix.rglob("ecosort.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(where)}
    flags = call("pkg-config", "--cflags", "--libs", "ecosort", env=environment).split()
    version = call("pkg-config", "--modversion", "ecosort", env=environment).strip()
    source = tmp_path / "version.c"
    source.write_text(
        "#include <ecosort/ecosort.h>\n#include <stdio.h>\nint main(void) { return puts(ecosort_version()) < 0; }\n"
    )
    call("cc", "-std=c99", "-pedantic", "-Wall", "-Werror", source, "-o", tmp_path / "version", *flags)
    assert call(tmp_path / "version", env={**os.environ, "LD_LIBRARY_PATH": str(library(prefix).parent)}) == f"{version}\n"


def test_the_archive_links_into_a_program_as_well(prefix: Path, tmp_path: Path) -> None:
    archive = next(prefix.rglob("libecosort.a"))
    where = next(prefix.rglob("ecosort.pc")).parent
    private = call(
        "pkg-config", "--static", "--libs-only-l", "ecosort", env={**os.environ, "PKG_CONFIG_PATH": str(where)}
    ).split()
    words = ["c++", "-std=c++20", EXAMPLES / "push_pull.cpp", f"-I{prefix}/include", "-o", tmp_path / "push_pull", archive]
    call(*words, *(word for word in private if word != "-lecosort"))
    assert call(tmp_path / "push_pull", "1000", env={**os.environ, "TMPDIR": str(tmp_path)}).startswith("1000 numbers")


def test_headers_stand_alone(tmp_path: Path) -> None:
    """Each compiles by itself, the one for C as C99, and none needs what is not installed."""
    place = tmp_path / "include"
    shutil.copytree(ROOT / "include", place)
    for header in sorted((place / "ecosort").iterdir()):
        words = ["c++", "-std=c++20", "-fsyntax-only"] if header.suffix == ".hpp" else ["cc", "-std=c99", "-fsyntax-only"]
        user = tmp_path / ("user.cpp" if header.suffix == ".hpp" else "user.c")
        user.write_text(f"#include <ecosort/{header.name}>\n#include <ecosort/{header.name}>\n")
        call(*words, "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{place}", user)
