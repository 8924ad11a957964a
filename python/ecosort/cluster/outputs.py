"""Decides where the parts of a job go, and what makes them its result: a directory, one file (single.py), or a bucket
(bucket.py).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ecosort.cluster.journal import RESUME, Event
from ecosort.cluster.manifest import Manifest, manifest_bytes, read_manifest
from ecosort.durable import link_as, sync_directory, write_durably
from ecosort.errors import BadInput, VerificationFailed
from ecosort.remote.s3_inputs import MANIFEST

Json = dict[str, Any]


def appeared(path: Path) -> BadInput:
    """Says that somebody else's file has the name of one of this job."""
    return BadInput(f"'{path}' appeared while its rows were sorted; move it away, then {RESUME}")


def _is_same(one: Path, other: Path) -> bool:
    """Both names are of one file."""
    return os.path.lexists(one) and os.path.lexists(other) and os.path.samestat(one.lstat(), other.lstat())


class Output:
    """Serves a job, for its driver. Methods are called in the order of this list; a job that is resumed begins again.

    A kind of output does what it needs; the others do nothing.
    """

    def is_committed(self, events: Sequence[Event]) -> bool:
        """Returns whether the result of this job is there. `events` are those of its journal."""
        raise NotImplementedError

    def has_part(self, part: int) -> bool:
        """Returns whether the part has its name."""
        return False

    def prepare(self, sizes: Sequence[int], top_bytes: int) -> bool:
        """For parts whose rows have these sizes; `top_bytes` are in front of the first. True: what was written is lost."""
        return False

    def attempt(self, part: int, attempt: int, temp: Path) -> Json:
        """Returns what a task gets: `output`, a path for its output; `place` in one file and `upload`, an address, or None."""
        raise NotImplementedError

    def suspects(self, attempts: Sequence[int]) -> list[int]:
        """Parts that must be read again, because attempts that no one waits for may have written there. No one can any more."""
        return []

    def reopen(self) -> None:
        """Parts can be written again. Also at the end of the job, whatever ended it."""

    def name_parts(self, answers: Sequence[Json]) -> None:
        """Attempts that won, by their answers, become parts. Again after a crash."""

    def demand_sizes(self, manifest: Manifest) -> None:
        """Raises VerificationFailed where a part has not the size that its task told."""

    def put_summaries(self, summaries: Mapping[str, bytes]) -> None:
        """Beside the parts, by their names, where there are parts."""

    def commit(self, manifest: Manifest) -> None:
        """Makes the parts the result, in one step. Raises BadInput where something else is there by now."""
        raise NotImplementedError

    def complete(self, manifest: Manifest) -> None:
        """Does what comes after the commit; also where a crash came in between."""

    def clean_up(self) -> None:
        """Removes what is no part of the result."""

    def discard(self, sizes: Mapping[int, int]) -> None:
        """Nothing was committed, and nothing will be. `sizes`: of the parts that were made."""
        raise NotImplementedError


class DirectoryOutput(Output):
    """Parts get their names when all are complete; the manifest is the commit.

    Each file of the result keeps its name in `attempts`, too, until the commit: one that has no such name is not of this job. So
    no file that somebody else put there is taken for a part, replaced or removed.
    """

    def __init__(self, path: Path, job: str) -> None:
        self._path = path
        self._job = job

    def is_committed(self, events: Sequence[Event]) -> bool:
        return read_manifest(self._path / MANIFEST, self._job) is not None

    def _part(self, part: int) -> Path:
        return self._path / f"part-{part:05}"

    def prepare(self, sizes: Sequence[int], top_bytes: int) -> bool:
        """The directory of the parts is durable before the slices of the first one are removed."""
        (self._path / "attempts").mkdir(parents=True, exist_ok=True)
        sync_directory(self._path)
        return False

    def attempt(self, part: int, attempt: int, temp: Path) -> Json:
        return {"output": str(self._path / "attempts" / f"part-{part:05}.{attempt}"), "place": None, "upload": None}

    def name_parts(self, answers: Sequence[Json]) -> None:
        for part, answer in enumerate(answers):
            self._name(Path(answer["output"]), self._part(part))
        sync_directory(self._path)

    def _name(self, attempt: Path, name: Path) -> None:
        """Gives it the name if it does not have it. Raises BadInput where another file has it."""
        if _is_same(attempt, name):
            return
        try:
            link_as(attempt, name)
        except FileExistsError:
            raise appeared(name) from None

    def demand_sizes(self, manifest: Manifest) -> None:
        for part in manifest.parts:
            if (self._path / part.file).stat().st_size != part.bytes:
                raise VerificationFailed(
                    f"'{part.file}' is not what was written; if it is yours, move it away and resume, "
                    "else give the job up with `ecosort cluster resume --abandon`"
                )

    def put_summaries(self, summaries: Mapping[str, bytes]) -> None:
        for name, summary in summaries.items():
            self._create(name, summary)

    def commit(self, manifest: Manifest) -> None:
        self._create(MANIFEST, manifest_bytes(manifest))

    def _create(self, name: str, data: bytes) -> None:
        attempt, path = self._path / "attempts" / name, self._path / name
        if not _is_same(attempt, path):
            write_durably(attempt, data)
            self._name(attempt, path)
            sync_directory(self._path)

    def clean_up(self) -> None:
        shutil.rmtree(self._path / "attempts", ignore_errors=True)

    def discard(self, sizes: Mapping[int, int]) -> None:
        """A file that is no part of this job stays, and the directory with it."""
        for part in sizes:
            path = self._part(part)
            for attempt in (self._path / "attempts").glob(f"{path.name}.*"):
                for named in (path, self._path / attempt.name):  # the second one is that of a summary
                    if _is_same(attempt, named):
                        named.unlink()
        shutil.rmtree(self._path / "attempts", ignore_errors=True)
        with contextlib.suppress(OSError):  # somebody else has files there
            self._path.rmdir()
