"""`ecosort-remote`, which `ecosort` becomes where an input or the output of one sort is an address.

Its words are those that the program read and wrote anew: the command, options as --name=value, and behind `--` the inputs. The
program runs with a pipe for each address. It never sees the end of an input that broke off, because it is ended before.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from ecosort.command_ends import Interrupted, code_of, interruptible, told
from ecosort.errors import BadInput, EcoSortError
from ecosort.program import find_program
from ecosort.remote.addresses import Changed, Version, is_bucket, is_remote
from ecosort.remote.ranges import read_range, version_of
from ecosort.remote.s3_inputs import objects_of
from ecosort.remote.uploads import chunk_of, demand_uploads, upload

_OUTPUT = "--output="
_PACKED = (".gz", ".zst", ".lz4", ".xz", ".bz2")
_RATIO = 4  # the rows are assumed to have so many times the size of a compressed input


class _Ended(Exception):  # noqa: N818  # it says what it is
    """The program has ended with this code, and said why."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class _Remote:
    """One sort: the program, and what feeds it."""

    def __init__(self, command: str, options: Sequence[str], inputs: Sequence[str]) -> None:
        self._inputs = [found for named in inputs for found in (objects_of(named) if is_remote(named) else [named])]
        outputs = [word.removeprefix(_OUTPUT) for word in options if word.startswith(_OUTPUT)]
        self._bucket = outputs[-1] if outputs and is_bucket(outputs[-1]) else None
        if self._bucket:
            demand_uploads(self._bucket)
        self._versions = {url: version_of(url) for url in self._inputs if is_remote(url)}
        self._words = [command, *self._to_stream(command, options), *_delimiter(command, options, self._inputs)]
        self._failed: list[BaseException] = []

    def _to_stream(self, command: str, options: Sequence[str]) -> list[str]:
        """GNU sort takes the output `-` for a file of that name."""
        if not self._bucket:
            return list(options)
        return [*(word for word in options if not word.startswith(_OUTPUT)), *([] if command == "lines" else [f"{_OUTPUT}-"])]

    def run(self) -> None:
        """Raises _Ended, and what feeding and the upload raise."""
        with contextlib.ExitStack() as stack:
            ends = [(url, *os.pipe()) for url in self._inputs if is_remote(url)]
            self._start([read_end for _, read_end, _ in ends])
            stack.callback(self._end)
            for url, read_end, write_end in ends:
                os.close(read_end)
                threading.Thread(target=self._feed, args=(url, self._versions[url], write_end), daemon=True).start()
            if self._bucket:
                chunk = chunk_of(self._rows_bytes())
                upload(self._bucket, self._chunks(chunk), chunk)
            else:
                self._wait()

    def _start(self, read_ends: list[int]) -> None:
        descriptors = iter(read_ends)
        paths = [f"/dev/fd/{next(descriptors)}" if is_remote(name) else name for name in self._inputs]
        stdout = subprocess.PIPE if self._bucket else None
        self._program = subprocess.Popen([find_program(), *self._words, "--", *paths], stdout=stdout, pass_fds=read_ends)

    def _end(self) -> None:
        self._program.kill()  # does nothing where it has ended
        self._program.wait()
        if self._program.stdout:
            self._program.stdout.close()

    def _feed(self, url: str, version: Version, end: int) -> None:
        try:
            for piece in read_range(url, version, 0, version.size):
                _write(end, piece)
        except BrokenPipeError:  # the program has ended, or wants no more
            pass
        except Changed:
            self._fail(BadInput(f"'{url}' has changed while it was read; sort it again"))
        except BaseException as error:
            self._fail(error)
        finally:
            os.close(end)

    def _fail(self, error: BaseException) -> None:
        """The end of the pipe would look like the end of the input."""
        self._failed.append(error)
        self._program.kill()
        self._program.wait()

    def _chunks(self, size: int) -> Iterator[bytes]:
        assert self._program.stdout
        while piece := self._program.stdout.read(size):
            yield piece
        self._wait()

    def _wait(self) -> None:
        code = self._program.wait()
        if self._failed:
            raise self._failed[0]
        if code:
            raise _Ended(code if code > 0 else 128 - code)

    def _rows_bytes(self) -> int:
        sizes = {name: version.size for name, version in self._versions.items()}
        sizes |= {name: Path(name).stat().st_size for name in self._inputs if Path(name).is_file()}
        return sum(size * (_RATIO if name.endswith(_PACKED) else 1) for name, size in sizes.items())


def _delimiter(command: str, options: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """A pipe has no name that would say it."""
    names = [Path(name).with_suffix("").name if name.endswith(_PACKED) else name for name in inputs]
    is_named = any(word.startswith("--delimiter=") for word in options)
    return ["--delimiter=tab"] if command == "csv" and not is_named and all(n.lower().endswith(".tsv") for n in names) else []


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes as those of the program."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if "--" not in words:
            raise BadInput("this program is a part of ecosort; give an address to `ecosort sort`, `lines`, `csv` or `jsonl`")
        at = words.index("--")
        with interruptible():
            _Remote(words[0], words[1:at], words[at + 1 :]).run()
    except _Ended as ended:
        return ended.code
    except KeyboardInterrupt as error:
        return 128 + (error.number if isinstance(error, Interrupted) else 2)
    except (EcoSortError, OSError) as error:
        print(f"ecosort: {told(error)}", file=sys.stderr)
        return code_of(error)
    return 0
