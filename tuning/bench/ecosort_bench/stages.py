"""The stages of a benchmark: what is prepared, and which contender runs in which round."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ecosort_measure.cold_run import Measured, run_cold, run_warm
from ecosort_measure.floor_trace import BLOCK_SIZES, DEPTHS, Shape, write_floor_trace
from ecosort_measure.results import Results
from ecosort_power.errors import RunError
from ecosort_power.planned import NEUTRAL, plan_of
from ecosort_power.records import RECORD_BYTES
from ecosort_power.validate import parse_report

from ecosort_bench import costs, cpu_floor, lines, long_keys, partitions, peers, tables
from ecosort_bench.contenders import (
    BEYOND_CACHES_BYTES,
    MAKES_SORTED_OUTPUT,
    WORKS_IN_OUTPUT,
    Contenders,
    Work,
)
from ecosort_bench.inputs import make_input

Say = Callable[[str], None]
# The search for the best floor runs on a part of the data.
_CALIBRATION_BYTES = 1 << 30
_CALIBRATION_ROUNDS = 2
_ONE_PASS_ROUNDS = 10
_COST_CALLS = 5
TIGHT_PER_MILLE = 24  # spare space of the EcoSort paper's terabyte (section 4.2)


@dataclass(frozen=True)
class Slot:
    """One run of the schedule."""

    round: int
    contender: str


def schedule(quotas: dict[str, int]) -> list[Slot]:
    """All runs, interleaved, contenders with fewer rounds spread evenly.

    Who begins a round changes, and every second round of the same contenders runs backwards, so that no one always follows the
    same one: what a drive has just written can slow down the next.
    """
    rounds = max(quotas.values(), default=0)
    seen: Counter[tuple[str, ...]] = Counter()
    slots = []
    for round_ in range(rounds):
        present = [name for name, quota in quotas.items() if round_ * quota // rounds != (round_ + 1) * quota // rounds]
        turn, is_backwards = divmod(seen[tuple(present)], 2)
        seen[tuple(present)] += 1
        turn %= max(len(present), 1)
        order = present[turn:] + present[:turn]
        slots += [Slot(round_, name) for name in (reversed(order) if is_backwards else order)]
    return slots


class Bench:
    """Runs stages and adds what they measure to the results. `directory` holds all data and is on the drive to measure."""

    def __init__(self, programs: Contenders, results: Results, directory: Path, say: Say) -> None:
        self.programs, self.results, self.directory, self.say = programs, results, directory, say
        settings = results.data["settings"]
        self.records: int = settings["records"]
        temp = directory / "temp"
        temp.mkdir(parents=True, exist_ok=True)
        self.work = Work(
            input=directory / "uniform",
            output=directory / "output",
            temp=temp,
            memory_bytes=settings["memory_bytes"],
            threads=settings["threads"],
            trace=directory / "sort.trace",
            floor_trace=directory / "floor.trace",
            floor_depth=DEPTHS[0],
            floor_reserve=True,
            read_depth=1,
            write_depth=1,
            stats=directory / "stats.json",
        )

    # Stages

    def main(self, quotas: dict[str, int]) -> None:
        """The sort, its floors and its peers on uniform input."""
        slots = schedule(quotas)
        if not self._missing("main", slots):
            return
        checksum = self._input("uniform", self.records)
        work = self._with_floor(self._record_trace(self.work), "main")
        if "kernels" not in self.results.data and self.programs.tool("costs").exists():
            stats = json.loads(work.stats.read_text())
            self.results.data |= self._measure_costs("records", cpu_floor.merged_runs(stats), cpu_floor.stored_share(stats), work)
            self.results.save()
        for slot in self._missing("main", slots):
            self._run("main", slot, slot.contender, work, checksum)

    def one_pass(self) -> None:
        """The sort of an input that fits the memory, against its own floor."""
        slots = schedule(dict.fromkeys(("ecosort", "floor_b", "floor_b_memory"), _ONE_PASS_ROUNDS))
        if not self._missing("one_pass", slots):
            return
        work = replace(self.work, input=self.directory / "small")
        records = self._largest_one_pass(work)
        checksum = make_input(self.programs, "uniform", records, work.input, work.memory_bytes)
        work = self._with_floor(self._record_trace(work), "one_pass")
        for slot in self._missing("one_pass", slots):
            self._run("one_pass", slot, slot.contender, work, checksum)
        work.input.unlink()

    def kind(self, kind: str, rounds: int) -> None:
        """The sort of another kind of input, interleaved with uniform input."""
        stage = f"input_{kind}"
        slots = schedule({"uniform": rounds, kind: rounds})
        if not self._missing(stage, slots):
            return
        other = replace(self.work, input=self.directory / kind)
        self.say(f"making {kind} input")
        other_checksum = make_input(self.programs, kind, self.records, other.input, self._roomy_memory())
        uniform_checksum = self._input("uniform", self.records)
        for slot in self._missing(stage, slots):
            is_other = slot.contender == kind
            self._run(stage, slot, "ecosort", other if is_other else self.work, other_checksum if is_other else uniform_checksum)
        other.input.unlink()

    def gen_check(self, rounds: int) -> None:
        """The generator and the checker, against sequential writes and reads of as many bytes."""
        slots = schedule(dict.fromkeys(("gen", "write_floor", "check", "read_floor", "read_floor_memory"), rounds))
        if not self._missing("gen_check", slots):
            return
        size = self.records * RECORD_BYTES
        checksum = self._input("uniform", self.records)
        in_order = replace(self.work, input=self.directory / "in_order")
        memory = f"{self._roomy_memory()}B"
        self.programs.run("sort", "--memory", memory, "--quiet", "--progress", "none", self.work.input, "-o", in_order.input)
        writes = self._with_floor_of(Shape(0, 0, 0, size), self.work, "gen")
        reads = self._with_floor_of(Shape(size, 0, 0, 0), in_order, "check")
        roles = {
            "gen": ("gen", writes),
            "write_floor": ("floor_b", writes),
            "check": ("check", reads),
            "read_floor": ("floor_b", reads),
            "read_floor_memory": ("floor_b_memory", replace(reads, memory_bytes=BEYOND_CACHES_BYTES)),
        }
        for slot in self._missing("gen_check", slots):
            self._run("gen_check", slot, *roles[slot.contender], checksum)
        in_order.input.unlink()

    def partition(self, rounds: int) -> None:
        """Records that are cut into parts at splitters, sorted and not, against the requests of the latter without computing."""
        missing = self._missing("partition", schedule(dict.fromkeys(partitions.CONTENDERS, rounds)))
        if not missing:
            return
        self._input("uniform", self.records)
        cut = partitions.Cut(self.programs, self.work)
        cut.choose_splitters()
        cut.make_room()
        self._run_cold(cut.traced())
        for slot in missing:
            cut.make_room()
            measured = self._run_cold(cut.command(slot.contender))
            report = None if slot.contender == "floor" else cut.report()
            self._keep("partition", slot, measured, {"stats": report, "checksum": report["hash"] if report else None})
        if len({run["checksum"] for run in self.results.runs if run["stage"] == "partition"} - {None}) > 1:
            raise RunError("the slices do not hold the same records each time")
        cut.make_room()

    def keys(self, rounds: int) -> None:
        """Keys that begin alike, interleaved with random keys of the same length."""
        size = self.records * RECORD_BYTES
        random = replace(self.work, input=self.directory / long_keys.RANDOM)
        for key in long_keys.LONG_KEYS:
            missing = self._missing(key.stage, schedule(dict.fromkeys(key.contenders, rounds)))
            if not missing:
                continue
            alike = replace(self.work, input=self.directory / key.input_kind)
            self.say(f"making keys: {key.what}")
            self._make_lines(key.input_kind, size, alike.input)
            if not random.input.exists():
                self._make_lines(long_keys.RANDOM_INPUT_KIND, size, random.input)
            seen: dict[str, str] = {}
            for slot in missing:
                self._run_long_key(key, slot, random if slot.contender == long_keys.RANDOM else alike, seen)
            alike.input.unlink()
        random.input.unlink(missing_ok=True)

    def _run_long_key(self, key: long_keys.LongKey, slot: Slot, work: Work, seen: dict[str, str]) -> None:
        work.output.unlink(missing_ok=True)
        measured = self._run_cold(long_keys.command(key, self.programs, work))
        checksum = lines.digest(work.output)
        if seen.setdefault(slot.contender, checksum) != checksum:
            raise RunError(f"{key.stage}: the output of {slot.contender} differs from that of the runs before")
        size = {"input_bytes": work.input.stat().st_size}
        self._keep(key.stage, slot, measured, {"stats": json.loads(work.stats.read_text()), "checksum": checksum, **size})
        work.output.unlink()

    def inplace(self, rounds: int) -> None:
        """In-place sorting with ample space and with the little that the terabyte of the EcoSort paper had, against the sort."""
        slots = schedule(dict.fromkeys(("ecosort", "inplace", "inplace_tight"), rounds))
        if not self._missing("inplace", slots):
            return
        checksum = self._input("uniform", self.records)
        try:
            self.programs.run("plan", "inplace", self.work.input)
        except RunError as error:  # another file system than it takes
            self.say(f"in-place sorting is left out: {error}")
            return
        tight = replace(self.work, spare_bytes=self.records * RECORD_BYTES * TIGHT_PER_MILLE // 1000)
        for slot in self._missing("inplace", slots):
            contender = "ecosort" if slot.contender == "ecosort" else "inplace"
            self._run("inplace", slot, contender, tight if slot.contender == "inplace_tight" else self.work, checksum)

    def text_lines(self, group: str, rounds: int, asked_bytes: int, cases: tuple[str, ...] = ()) -> None:
        """Text lines against GNU sort, and records with an integer key against STXXL: the outputs are the same bytes.

        `cases`: names of those that are measured; none: all of the group.
        """
        for case in lines.chosen(self.programs, group, cases):
            contenders = case.contenders if self.programs.before is None else (*case.contenders, lines.BEFORE)
            slots = schedule(dict.fromkeys(contenders, lines.SMALL_ROUNDS if case.is_small else rounds))
            missing = self._missing(case.stage, slots)
            if not missing:
                continue
            output = self.work.output.with_suffix(case.output_suffix)
            work = replace(self.work, input=self.directory / case.name, output=output)
            self.say(f"making input: {case.what}")
            self._make_lines(case.input_kind, case.bytes(asked_bytes), work.input)
            seen = self._checksums(case.stage)
            if case.moves_everything:
                work = self._with_floor_of_lines(case, work)
            for slot in missing:
                self._run_lines(case, slot, work, seen)
            work.input.unlink()

    def _make_lines(self, kind: str, size: int, path: Path) -> None:
        self.programs.call(self.programs.tool("make_lines"), kind, str(size), path)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _with_floor_of_lines(self, case: lines.Case, work: Work) -> Work:
        """Sorts once, outside of the measurements, to see how many runs there are. All kinds share one search for the floor."""
        command, environment = lines.command(case, "ecosort", self.programs, work)
        self._run_cold(command, environment)
        work.output.unlink()
        stats = json.loads(work.stats.read_text())
        size = work.input.stat().st_size
        if "plan" in stats:  # of records: what the memory holds at the end is not stored
            runs, stored = stats["plan"]["stored_runs"], size * stats["plan"]["stored_records"] // stats["plan"]["records"]
        else:
            runs, stored = stats["runs"], size if stats["runs"] > 0 else 0
        return self._with_floor_of(Shape(size, stored, runs, size), work, case.stage, search="lines")

    def _run_lines(self, case: lines.Case, slot: Slot, work: Work, seen: set[str]) -> None:
        size = {"input_bytes": work.input.stat().st_size}
        if slot.contender == "floor_b":
            self._keep(case.stage, slot, self._measure("floor_b", work), {"stats": None, "checksum": None, **size})
            work.output.unlink()
            return
        work.output.unlink(missing_ok=True)
        command, environment = lines.command(case, slot.contender, self.programs, work)
        if case.is_small:
            measured = run_warm(command, self.directory, environment, work.output)
        else:
            measured = self._run_cold(command, environment)
        checksum = self._same_checksum(case.stage, slot, work, seen)
        has_stats = slot.contender == "ecosort" and not case.is_small
        extra = {"stats": json.loads(work.stats.read_text()) if has_stats else None, "checksum": checksum}
        self._keep(case.stage, slot, measured, {**extra, **size})
        work.output.unlink()

    def sort_tables(self, rounds: int, asked_bytes: int, cases: tuple[str, ...] = ()) -> None:
        """Tables and arrays by columns, against programs that know columns: all outputs hold the same rows, in order.

        `cases`: names of those that are measured; none: all.
        """
        for case in tables.CASES:
            missing = self._missing(case.stage, schedule(dict.fromkeys(case.contenders, rounds)))
            if not missing or (cases and case.name not in cases):
                continue
            tables.require_peers(case)
            output = self.work.output.with_suffix(case.output_suffix)
            work = replace(self.work, input=self.directory / case.name, output=output)
            self.say(f"making input: {case.what}")
            self._make_lines(case.input_kind, int(asked_bytes * case.share), work.input)
            size = work.input.stat().st_size
            if make := {"parquet": tables.make_parquet, "stream": tables.make_parquet, "packed": tables.make_gzip}.get(case.name):
                text = work.input.rename(work.input.with_suffix(".csv"))
                make(self.programs, text, work)
                text.unlink()
            rows: dict[str, str] = {}
            for slot in missing:
                self._run_table(case, slot, work, rows, size)
            work.input.unlink()

    def _run_table(self, case: tables.TableCase, slot: Slot, work: Work, rows: dict[str, str], input_bytes: int) -> None:
        work.output.unlink(missing_ok=True)
        measured = self._run_cold(*tables.command(case, slot.contender, self.programs, work))
        if slot.contender not in rows and slot.contender != "codec":
            rows[slot.contender] = tables.rows_digest(case, self.programs, work)
        if len(set(rows.values())) > 1:
            raise RunError(f"{case.stage}: the output of {slot.contender} holds other rows than those before")
        extra = {"stats": None, "checksum": rows.get(slot.contender), "input_bytes": input_bytes}
        self._keep(case.stage, slot, measured, {**extra, "output_bytes": work.output.stat().st_size})
        work.output.unlink()

    def other_sorters(self, rounds: int) -> None:
        """The work of other stages by sorters of today. A peer that is not here, or fails, is not run: the result says why."""
        for case in peers.CASES:
            absent = {name: why for name in case.peers if (why := peers.why_absent(name, self.programs))}
            self.results.data.setdefault("absent", {})[case.stage] = absent
            versions = {name: peers.version(name, self.programs) for name in case.peers if name not in absent}
            self.results.data["versions"] |= versions
            contenders = [name for name in case.contenders if name not in absent]
            missing = self._missing(case.stage, schedule(dict.fromkeys(contenders, rounds)))
            if missing:
                self._run_peers(case, missing, absent)

    def _run_peers(self, case: peers.PeerCase, missing: list[Slot], absent: dict[str, str]) -> None:
        work = replace(self.work, input=self.directory / ("uniform" if case.like is None else case.name))
        if case.like is None:
            digest = self._input("uniform", self.records)
        else:
            size = int(self.results.data["settings"][case.size] * case.like.share)
            self._make_lines(case.like.input_kind, size, work.input)
            digest = next((run["checksum"] for run in self.results.of(case.stage, "ecosort").values()), "")
        expected = peers.ExpectedOutput(case, self.programs, work, digest)
        for slot in missing:
            if slot.contender in absent:
                continue
            if slot.contender in WORKS_IN_OUTPUT:
                shutil.copyfile(work.input, work.output)
            try:
                measured = self._run_cold(*peers.command(case, slot.contender, self.programs, work))
                expected.require(slot.contender)
            except RunError as error:
                if slot.contender == "ecosort":
                    raise
                absent[slot.contender] = peers.complaint(error)
                self.say(f"{case.stage}: {slot.contender} is left out: {absent[slot.contender]}")
            else:
                extra = {"stats": None, "checksum": expected.digest, "input_bytes": work.input.stat().st_size}
                self._keep(case.stage, slot, measured, extra)
            finally:
                self._remove_output(work)
        if case.like is not None:
            work.input.unlink()

    def _remove_output(self, work: Work) -> None:
        """Also what a peer leaves beside it."""
        work.output.unlink(missing_ok=True)
        shutil.rmtree(work.temp)
        work.temp.mkdir()

    def cpu(self, rounds: int, cases: tuple[cpu_floor.CpuCase, ...] = cpu_floor.CASES) -> None:
        """Sorts that compress nothing, their requests without computing, and what they compute without requests."""
        measured = self.results.data.setdefault("costs", {})
        if any(case.kind not in measured for case in cases) and not (tool := self.programs.tool("costs")).exists():
            raise RunError(f"{tool} is not there: make bench builds it")
        for case in cases:
            missing = self._missing(case.stage, schedule(dict.fromkeys(cpu_floor.CONTENDERS, rounds)))
            if not missing:
                continue
            work = replace(self.work, input=self.directory / case.stage)
            self.say(f"making input: {case.what}")
            self._make_cpu_input(case, work.input)
            command, environment = cpu_floor.command(case, self.programs, work)
            self._run_cold([*command, "--trace", str(work.trace)], environment)
            work.output.unlink()
            if case.kind not in measured:
                stats = json.loads(work.stats.read_text())
                runs, stored_share = cpu_floor.merged_runs(stats), cpu_floor.stored_share(stats)
                measured[case.kind] = self._measure_costs(case.kind, runs, stored_share, work)
                self.results.save()
            seen = self._checksums(case.stage)
            for slot in missing:
                self._run_cpu(case, slot, work, seen)
            work.input.unlink()

    def _checksums(self, stage: str) -> set[str]:
        """Returns the checksums of the outputs so far, also of those before --continue."""
        return {run["checksum"] for run in self.results.runs if run["stage"] == stage and run["checksum"]}

    @staticmethod
    def _same_checksum(stage: str, slot: Slot, work: Work, seen: set[str]) -> str:
        """Returns the checksum of the output. RunError if one before was another."""
        seen.add(checksum := lines.digest(work.output))
        if len(seen) > 1:
            raise RunError(f"{stage}: the output of {slot.contender} differs from that of the runs before")
        return checksum

    def _make_cpu_input(self, case: cpu_floor.CpuCase, path: Path) -> None:
        settings = self.results.data["settings"]
        if case == cpu_floor.RECORDS:
            make_input(self.programs, "uniform", self.records, path, self.work.memory_bytes)
        else:
            self._make_lines("text" if case == cpu_floor.TEXT else "table", settings[case.size], path)

    def _run_cpu(self, case: cpu_floor.CpuCase, slot: Slot, work: Work, seen: set[str]) -> None:
        is_sort = slot.contender == "ecosort"
        command, environment = (
            cpu_floor.command(case, self.programs, work) if is_sort else self.programs.command(slot.contender, work)
        )
        work.output.unlink(missing_ok=True)
        measured = self._run_cold(command, environment)
        checksum = self._same_checksum(case.stage, slot, work, seen) if is_sort else None
        stats = json.loads(work.stats.read_text()) if is_sort else None
        self._keep(case.stage, slot, measured, {"stats": stats, "checksum": checksum, "input_bytes": work.input.stat().st_size})
        work.output.unlink()

    # Preparation

    def _missing(self, stage: str, slots: list[Slot]) -> list[Slot]:
        return [slot for slot in slots if self.results.find(stage, slot.round, slot.contender) is None]

    def _input(self, kind: str, records: int) -> str:
        """Makes the input unless an earlier stage has; its checksum."""
        path = self.directory / kind
        checksums: dict[str, str] = self.results.data["input_checksums"]
        if kind not in checksums or not path.exists() or path.stat().st_size != records * RECORD_BYTES:
            self.say(f"making {records} {kind} records")
            checksums[kind] = make_input(self.programs, kind, records, path, self.work.memory_bytes)
            self.results.save()
        return checksums[kind]

    def _roomy_memory(self) -> int:
        return max(self.work.memory_bytes, 1 << 30)

    def _record_trace(self, work: Work) -> Work:
        """Sorts once with a trace, outside of the measurements."""
        self.say("recording the requests of the sort")
        command = self.programs.sort_command(work, "--stats", str(work.stats), "--trace", str(work.trace))
        self._run_cold(command)
        plan = json.loads(work.stats.read_text())["plan"]
        return replace(work, read_depth=plan["read_depth"], write_depth=plan["write_depth"])

    def _measure_costs(self, kind: str, runs: int, stored_share: float, work: Work) -> dict[str, Any]:
        """The CPU seconds per GB of each thing that a sort computes of this kind of input, with so many runs merged: on its own,
        and beside the requests of `work.trace`. Medians of several calls."""
        command = [str(self.programs.tool("costs")), str(runs), kind]
        self.say(f"measuring what a sort computes: {kind}")
        alone = costs.medians([json.loads(self._run_cold(command).stdout) for _ in range(_COST_CALLS)])
        replay, _ = self.programs.command("floor_a", work)
        busy = costs.beside_io(command, replay, work.threads, _COST_CALLS)
        work.output.unlink(missing_ok=True)
        return costs.found(alone, busy, stored_share)

    def _largest_one_pass(self, work: Work) -> int:
        """Records that the memory holds, by the planner's own judgement, within 5 %."""
        records = work.memory_bytes // RECORD_BYTES
        options = (*NEUTRAL, "--memory", f"{work.memory_bytes}B")
        while plan_of(records, work.output, options, self.programs.ecosort)["stored_runs"] > 0:
            records = records * 95 // 100
        return records

    def _with_floor(self, work: Work, stage: str) -> Work:
        """Finds the block size and depth at which this drive moves the minimal bytes fastest."""
        plan = json.loads(work.stats.read_text())["plan"]
        input_bytes = work.input.stat().st_size
        shape = Shape(input_bytes, plan["stored_records"] * RECORD_BYTES, plan["stored_runs"], input_bytes)
        return self._with_floor_of(shape, work, stage)

    def _with_floor_of(self, whole: Shape, work: Work, stage: str, search: str | None = None) -> Work:
        """`search`: the name under which the block size and depth are kept, for stages that share them."""
        name = search or stage
        found = self.results.data["floors"].get(name)
        if found is None:
            found = self._search_floor(work, whole)
            self.results.data["floors"][name] = found
            self.results.save()
        trace = work.floor_trace.with_name(f"{stage}.trace")
        write_floor_trace(trace, whole, found["block_bytes"])
        return replace(work, floor_trace=trace, floor_depth=found["depth"], floor_reserve=found["reserve"])

    def _search_floor(self, work: Work, whole: Shape) -> dict[str, Any]:
        part = whole.part(min(1.0, _CALIBRATION_BYTES / max(whole.input_bytes, whole.output_bytes)))
        tried: dict[tuple[int, int, bool], float] = {}

        def try_out(block: int, depth: int, reserve: bool) -> None:
            write_floor_trace(work.floor_trace, part, block)
            time = self._measure("floor_b", replace(work, floor_depth=depth, floor_reserve=reserve)).wall_s
            tried[block, depth, reserve] = min(time, tried.get((block, depth, reserve), time))

        for _ in range(_CALIBRATION_ROUNDS):
            for block, depth in ((block, depth) for block in BLOCK_SIZES for depth in DEPTHS):
                try_out(block, depth, True)
        block, depth, _ = min(tried, key=lambda key: tried[key])
        for _ in range(_CALIBRATION_ROUNDS):
            try_out(block, depth, False)
        block, depth, reserve = min(tried, key=lambda key: tried[key])
        self.say(f"floor (b): blocks of {block >> 10} KiB, depth {depth}, space {'' if reserve else 'not '}reserved")
        trials = [{"block_bytes": b, "depth": d, "reserve": r, "wall_s": s} for (b, d, r), s in tried.items()]
        return {"block_bytes": block, "depth": depth, "reserve": reserve, "shape": asdict(whole), "calibration": trials}

    # Runs

    def _run_cold(self, command: list[str], environment: dict[str, str] | None = None) -> Measured:
        return run_cold(command, self.directory, environment or {}, self.work.memory_bytes)

    def _measure(self, contender: str, work: Work) -> Measured:
        work.output.unlink(missing_ok=True)
        if contender in WORKS_IN_OUTPUT:
            shutil.copyfile(work.input, work.output)
        command, environment = self.programs.command(contender, work)
        return self._run_cold(command, environment)

    def _run(self, stage: str, slot: Slot, contender: str, work: Work, checksum: str) -> None:
        measured = self._measure(contender, work)
        stats = json.loads(work.stats.read_text()) if contender in ("ecosort", "inplace") else None
        found_checksum: str | None = None
        if contender == "check" and (found := parse_report(measured.stdout + measured.stderr, 0).checksum) != checksum:
            raise RunError(f"the checker found checksum {found}, the input has {checksum}")
        if contender == "gen" and work.output.stat().st_size != self.records * RECORD_BYTES:
            raise RunError(f"the generator made {work.output.stat().st_size} bytes")
        if contender in MAKES_SORTED_OUTPUT:
            found_checksum = self.programs.checksum(work.output)
            if found_checksum != checksum:
                raise RunError(f"{contender} changed the records: checksum {found_checksum}, the input has {checksum}")
        work.output.unlink(missing_ok=True)
        self._keep(stage, slot, measured, {"stats": stats, "checksum": found_checksum})

    def _keep(self, stage: str, slot: Slot, measured: Measured, extra: dict[str, Any]) -> None:
        run: dict[str, Any] = {"stage": stage, "round": slot.round, "contender": slot.contender, **asdict(measured), **extra}
        for stream in ("stdout", "stderr"):  # without the paths of this machine
            run[stream] = run[stream].replace(str(self.directory), "DIR").strip()[-300:]
        self.results.runs.append(run)
        self.results.save()
        self.say(f"{stage} round {slot.round + 1}: {slot.contender} {measured.wall_s:.2f} s, CPU {measured.cpu_s:.2f} s")

    def remove_data(self) -> None:
        shutil.rmtree(self.directory)
