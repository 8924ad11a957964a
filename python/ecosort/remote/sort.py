"""`ecosort-remote`, which `ecosort` becomes where an input or the output of one sort, shuffle, merge or check is an address.

Its words are those that the program read and wrote anew: the command, options as --name=value, and behind `--` the inputs. The
program runs with a pipe for each address, and writes what this one gives a name when all went well. So an input that broke off
makes no output, also where this process is killed and the program takes the end of a pipe for that of the input.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ecosort.array_files import new_file
from ecosort.codec_names import ASSUMED_RATIO, is_named_tsv, split_codec
from ecosort.command_ends import ended, print_notices
from ecosort.descriptors import write_all
from ecosort.errors import BadInput, IoFailed
from ecosort.program import find_program
from ecosort.remote.addresses import PIECE, Changed, is_bucket, is_remote
from ecosort.remote.ranges import read_range, version_of
from ecosort.remote.s3_inputs import objects_of
from ecosort.remote.uploads import chunk_of, demand_uploads, upload

_OUTPUT = "--output="


class _Ended(Exception):  # noqa: N818  # it says what it is
    """The program has ended with this code, and said why."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class _Remote:
    """One sort: the program, and what feeds it."""

    def __init__(self, command: str, options: Sequence[str], inputs: Sequence[str]) -> None:
        self._inputs = [found for named in inputs for found in (objects_of(named) if is_remote(named) else [named])]
        self._is_quiet = "--quiet" in options
        outputs = [word.removeprefix(_OUTPUT) for word in options if word.startswith(_OUTPUT)]
        self._output = outputs[-1] if outputs and outputs[-1] != "-" else None
        if self._output and is_bucket(self._output):
            demand_uploads(self._output)
        self._versions = {url: version_of(url) for url in self._inputs if is_remote(url)}
        self._words = [command, *self._to_stream(command, options), *_delimiter(command, options, self._inputs)]
        self._failed: list[BaseException] = []
        # Records come through one pipe, one input behind the other. Files alone need none.
        is_one = command == "sort" and len(self._inputs) > 1 and bool(self._versions)
        self._files = {name: Path(name).stat() for name in self._inputs if is_one and name != "-" and not is_remote(name)}
        if is_one:
            self._demand_whole_records(options)
        self._pipes = [self._inputs] if is_one else [[name] for name in self._inputs]

    def _demand_whole_records(self, options: Sequence[str]) -> None:
        """Raises BadInput where the end of an input would be the beginning of a record."""
        size = next((int(word.partition("=")[2]) for word in options if word.startswith("--record-size=")), 100)
        if "--decompress=auto" in options:
            raise BadInput("several inputs that are compressed and addresses: sort them one by one, then merge the results")
        for name in self._inputs:
            if name == "-":
                raise BadInput("standard input cannot be combined with addresses; write it to a file first")
            length = self._versions[name].size if is_remote(name) else self._files[name].st_size
            if length % size:
                raise BadInput(f"'{name}' has {length} bytes, which are no whole records of {size} bytes")

    def _to_stream(self, command: str, options: Sequence[str]) -> list[str]:
        """GNU sort takes the output `-` for a file of that name."""
        if not self._output:
            return list(options)
        are_lines = command == "lines" or "--lines" in options
        return [*(word for word in options if not word.startswith(_OUTPUT)), *([] if are_lines else [f"{_OUTPUT}-"])]

    def run(self) -> None:
        """Raises _Ended, and what feeding and the upload raise."""
        if self._output and is_bucket(self._output):
            chunk = chunk_of(self._rows_bytes())
            with self._started(subprocess.PIPE) as program:
                upload(self._output, self._chunks(program, chunk), chunk)
        elif self._output:
            notices: list[str] = []
            with new_file(self._output, True, notices) as descriptor, self._started(descriptor) as program:
                self._wait(program)
            if not self._is_quiet:
                print_notices(notices)
        else:
            with self._started(None) as program:
                self._wait(program)

    @contextlib.contextmanager
    def _started(self, stdout: int | None) -> Iterator[subprocess.Popen[bytes]]:
        """Ends the program where it still works at the end of the block."""
        ends = [(inputs, *os.pipe()) for inputs in self._pipes if any(map(is_remote, inputs))]
        names = {f"/dev/fd/{read_end}": ", ".join(inputs) for inputs, read_end, _ in ends}
        descriptors = iter(names)
        paths = [next(descriptors) if any(map(is_remote, inputs)) else inputs[0] for inputs in self._pipes]
        words = [str(find_program()), *self._words, "--", *paths]
        reading = [read_end for _, read_end, _ in ends]
        with subprocess.Popen(words, stdout=stdout, stderr=subprocess.PIPE, pass_fds=reading, process_group=0) as program:
            saying = _in_thread(_say, program, names)
            try:
                for inputs, read_end, write_end in ends:
                    os.close(read_end)
                    _in_thread(self._feed, program, inputs, write_end)
                yield program
            finally:
                program.kill()  # does nothing where it has ended
                saying.join()

    def _feed(self, program: subprocess.Popen[bytes], inputs: Sequence[str], end: int) -> None:
        try:
            for name in inputs:
                for piece in self._pieces(name):
                    write_all(end, piece)
            self._demand_unchanged()
        except BrokenPipeError:  # the program has ended, or wants no more
            pass
        except Changed as error:
            self._fail(program, IoFailed(f"'{error.url}' changed while it was read; sort it again"))
        except BaseException as error:
            self._fail(program, error)
        finally:
            os.close(end)

    def _pieces(self, name: str) -> Iterator[bytes]:
        if is_remote(name):
            yield from read_range(name, self._versions[name], 0, self._versions[name].size)
            return
        with Path(name).open("rb") as file:
            while piece := file.read(PIECE):
                yield piece

    def _demand_unchanged(self) -> None:
        """Raises IoFailed for a file that is another one now (promise P9). The program cannot see that through a pipe."""
        for name, before in self._files.items():
            if stat.S_ISREG(before.st_mode) and not _is_as_before(name, before):
                raise IoFailed(f"'{name}' changed while it was read; sort it when nothing writes to it")

    def _fail(self, program: subprocess.Popen[bytes], error: BaseException) -> None:
        """The end of the pipe would look like the end of the input."""
        self._failed.append(error)
        program.kill()
        program.wait()

    def _chunks(self, program: subprocess.Popen[bytes], size: int) -> Iterator[bytes]:
        assert program.stdout
        while piece := program.stdout.read(size):
            yield piece
        self._wait(program)

    def _wait(self, program: subprocess.Popen[bytes]) -> None:
        code = program.wait()
        if self._failed:
            raise self._failed[0]
        if code:
            raise _Ended(code if code > 0 else 128 - code)

    def _rows_bytes(self) -> int:
        sizes = {name: version.size for name, version in self._versions.items()}
        sizes |= {name: Path(name).stat().st_size for name in self._inputs if Path(name).is_file()}
        return sum(size * (ASSUMED_RATIO if split_codec(name)[1] else 1) for name, size in sizes.items())


def _is_as_before(name: str, before: os.stat_result) -> bool:
    try:
        now = Path(name).stat()
    except FileNotFoundError:
        return False
    return all(getattr(now, part) == getattr(before, part) for part in ("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"))


def _say(program: subprocess.Popen[bytes], names: Mapping[str, str]) -> None:
    """Passes on what the program says, with addresses in place of pipes."""
    assert program.stderr
    for line in program.stderr:
        text = line
        for pipe, url in names.items():
            text = re.sub(re.escape(os.fsencode(pipe)) + rb"(?!\d)", lambda _, url=url: os.fsencode(url), text)  # type: ignore[misc]
        with contextlib.suppress(OSError):  # no one reads any more
            sys.stderr.buffer.write(text)
            sys.stderr.buffer.flush()


def _in_thread(work: Callable[..., None], *given: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=given, daemon=True)
    thread.start()
    return thread


def _delimiter(command: str, options: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """Returns the option that says what the names of pipes do not. Raises BadInput where the inputs' names differ in it."""
    is_named = any(word.startswith("--delimiter=") for word in options)
    is_csv = command == "csv" or (command == "check" and options[:1] == ["csv"]) or (command == "shuffle" and "--csv" in options)
    if is_named or not is_csv:
        return []
    is_tsv = any(map(is_named_tsv, inputs[:1]))
    for name in inputs:
        if is_named_tsv(name) != is_tsv:
            raise BadInput(f"{inputs[0]} and {name} have different delimiters by their names; name one")
    return ["--delimiter=tab"] if is_tsv else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes as those of the program."""
    words = list(sys.argv[1:] if arguments is None else arguments)

    def work() -> None:
        if "--" not in words:
            raise BadInput("this program is a part of ecosort; give an address to `ecosort sort` or another command")
        at = words.index("--")
        _Remote(words[0], words[1:at], words[at + 1 :]).run()

    try:
        return ended(work)
    except _Ended as error:
        return error.code
