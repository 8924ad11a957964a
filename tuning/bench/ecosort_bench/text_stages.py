"""The stages of a benchmark that sort lines and tables, and those that compare with sorters of today."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

from ecosort_measure.cold_run import run_warm
from ecosort_measure.floor_trace import Shape
from ecosort_power.errors import RunError
from ecosort_power.records import RECORD_BYTES

from ecosort_bench import cpu_floor, lines, long_keys, peers, tables
from ecosort_bench.agreement import Agreement
from ecosort_bench.contenders import WORKS_IN_OUTPUT, Work
from ecosort_bench.floors import add_floor, measure_costs
from ecosort_bench.inputs import make_input
from ecosort_bench.runs import Bench
from ecosort_bench.schedule import Slot


def keys(bench: Bench, rounds: int) -> None:
    """Keys that begin alike, interleaved with random keys of the same length."""
    size = bench.records * RECORD_BYTES
    random = replace(bench.work, input=bench.directory / long_keys.RANDOM)
    for key in long_keys.LONG_KEYS:
        slots = bench.slots_left(key.stage, dict.fromkeys(key.contenders, rounds))
        if not slots:
            continue
        alike = replace(bench.work, input=bench.directory / key.input_kind)
        bench.say(f"making keys: {key.what}")
        bench.make_lines(key.input_kind, size, alike.input)
        if not random.input.exists():
            bench.make_lines(long_keys.RANDOM_INPUT_KIND, size, random.input)
        same = {name: Agreement(key.stage, "bytes") for name in key.contenders}  # one of them has another input
        for slot in slots:
            work = random if slot.contender == long_keys.RANDOM else alike
            _run_long_key(bench, key, slot, work, same[slot.contender])
        alike.input.unlink()
    random.input.unlink(missing_ok=True)


def _run_long_key(bench: Bench, key: long_keys.LongKey, slot: Slot, work: Work, same: Agreement) -> None:
    work.output.unlink(missing_ok=True)
    measured = bench.run_cold(long_keys.command(key, bench.programs, work))
    checksum = same.require(slot.contender, lines.digest(work.output))
    size = {"input_bytes": work.input.stat().st_size}
    bench.keep(key.stage, slot, measured, {"stats": json.loads(work.stats.read_text()), "checksum": checksum, **size})
    work.output.unlink()


def text_lines(bench: Bench, group: str, rounds: int, asked_bytes: int, cases: tuple[str, ...] = ()) -> None:
    """Text lines against GNU sort, and records with an integer key against STXXL: the outputs are the same bytes.

    `cases`: names of those that are measured; none: all of the group.
    """
    for case in lines.chosen(bench.programs, group, cases):
        contenders = case.contenders if bench.programs.before is None else (*case.contenders, lines.BEFORE)
        slots = bench.slots_left(case.stage, dict.fromkeys(contenders, lines.SMALL_ROUNDS if case.is_small else rounds))
        if not slots:
            continue
        work = replace(bench.work, input=bench.directory / case.name)
        bench.say(f"making input: {case.what}")
        bench.make_lines(case.input_kind, case.bytes(asked_bytes), work.input)
        same = bench.agreement(case.stage, "bytes")
        if case.moves_everything:
            work = _with_floor_of_lines(bench, case, work)
        for slot in slots:
            _run_lines(bench, case, slot, work, same)
        work.input.unlink()


def _with_floor_of_lines(bench: Bench, case: lines.Case, work: Work) -> Work:
    """Sorts once, outside of the measurements, to see how many runs there are. All kinds share one search for the floor."""
    command, environment = lines.command(case, "ecosort", bench.programs, work)
    bench.run_cold(command, environment)
    work.output.unlink()
    stats = json.loads(work.stats.read_text())
    size = work.input.stat().st_size
    if "plan" in stats:  # of records: what the memory holds at the end is not stored
        runs, stored = stats["plan"]["stored_runs"], size * stats["plan"]["stored_records"] // stats["plan"]["records"]
    else:
        runs, stored = stats["runs"], size if stats["runs"] > 0 else 0
    return add_floor(bench, Shape(size, stored, runs, size), work, case.stage, search="lines")


def _run_lines(bench: Bench, case: lines.Case, slot: Slot, work: Work, same: Agreement) -> None:
    size = {"input_bytes": work.input.stat().st_size}
    if slot.contender == "floor_b":
        bench.keep(case.stage, slot, bench.measure("floor_b", work), {"stats": None, "checksum": None, **size})
        work.output.unlink()
        return
    work.output.unlink(missing_ok=True)
    command, environment = lines.command(case, slot.contender, bench.programs, work)
    if case.is_small:
        measured = run_warm(command, bench.directory, environment, work.output)
    else:
        measured = bench.run_cold(command, environment)
    checksum = same.require(slot.contender, lines.digest(work.output))
    has_stats = slot.contender == "ecosort" and not case.is_small
    extra = {"stats": json.loads(work.stats.read_text()) if has_stats else None, "checksum": checksum}
    bench.keep(case.stage, slot, measured, {**extra, **size})
    work.output.unlink()


def sort_tables(bench: Bench, rounds: int, asked_bytes: int, cases: tuple[str, ...] = ()) -> None:
    """Tables and arrays by columns, against programs that know columns: all outputs hold the same rows, in order.

    `cases`: names of those that are measured; none: all.
    """
    for case in tables.CASES:
        slots = bench.slots_left(case.stage, dict.fromkeys(case.contenders, rounds))
        if not slots or (cases and case.name not in cases):
            continue
        tables.require_peers(case)
        output = bench.work.output.with_suffix(case.output_suffix)
        work = replace(bench.work, input=bench.directory / case.name, output=output)
        bench.say(f"making input: {case.what}")
        bench.make_lines(case.input_kind, int(asked_bytes * case.share), work.input)
        size = work.input.stat().st_size
        if make := {"parquet": tables.make_parquet, "stream": tables.make_parquet, "packed": tables.make_gzip}.get(case.name):
            text = work.input.rename(work.input.with_suffix(".csv"))
            make(bench.programs, text, work)
            text.unlink()
        same = bench.agreement(case.stage, "rows")
        for slot in slots:
            _run_table(bench, case, slot, work, same, size)
        work.input.unlink()


def _run_table(bench: Bench, case: tables.TableCase, slot: Slot, work: Work, same: Agreement, input_bytes: int) -> None:
    work.output.unlink(missing_ok=True)
    measured = bench.run_cold(*tables.command(case, slot.contender, bench.programs, work))
    checksum = None
    if slot.contender != "codec":
        checksum = same.require_once(slot.contender, lambda: tables.rows_digest(case, bench.programs, work))
    extra = {"stats": None, "checksum": checksum, "input_bytes": input_bytes}
    bench.keep(case.stage, slot, measured, {**extra, "output_bytes": work.output.stat().st_size})
    work.output.unlink()


def other_sorters(bench: Bench, rounds: int) -> None:
    """The work of other stages by sorters of today. A peer that is not here, or fails, is not run: the result says why."""
    for case in peers.CASES:
        absent = {name: why for name in case.peers if (why := peers.why_absent(name, bench.programs))}
        bench.results.data.setdefault("absent", {})[case.stage] = absent
        versions = {name: peers.version(name, bench.programs) for name in case.peers if name not in absent}
        bench.results.data["versions"] |= versions
        contenders = [name for name in case.contenders if name not in absent]
        slots = bench.slots_left(case.stage, dict.fromkeys(contenders, rounds))
        if slots:
            _run_peers(bench, case, slots, absent)


def _run_peers(bench: Bench, case: peers.PeerCase, slots: list[Slot], absent: dict[str, str]) -> None:
    work = replace(bench.work, input=bench.directory / ("uniform" if case.like is None else case.name))
    if case.like is None:
        digest = bench.input("uniform", bench.records)
    else:
        size = int(bench.results.data["settings"][case.size] * case.like.share)
        bench.make_lines(case.like.input_kind, size, work.input)
        digest = None  # that of what EcoSort makes, which is the first contender
    same = bench.agreement(case.stage, "rows")
    same.digest = digest or same.digest
    for slot in slots:
        if slot.contender in absent:
            continue
        if slot.contender in WORKS_IN_OUTPUT:
            shutil.copyfile(work.input, work.output)
        try:
            measured = bench.run_cold(*peers.command(case, slot.contender, bench.programs, work))
            checksum = same.require_once(slot.contender, lambda: peers.digest_of_output(case, bench.programs, work))
        except RunError as error:
            if slot.contender == "ecosort":
                raise
            absent[slot.contender] = peers.complaint(error)
            bench.say(f"{case.stage}: {slot.contender} is left out: {absent[slot.contender]}")
        else:
            extra = {"stats": None, "checksum": checksum, "input_bytes": work.input.stat().st_size}
            bench.keep(case.stage, slot, measured, extra)
        finally:
            _remove_output(bench, work)
    if case.like is not None:
        work.input.unlink()


def _remove_output(bench: Bench, work: Work) -> None:
    """Removes what a peer leaves beside it, too."""
    work.output.unlink(missing_ok=True)
    shutil.rmtree(work.temp)
    work.temp.mkdir()


def cpu(bench: Bench, rounds: int, cases: tuple[cpu_floor.CpuCase, ...] = cpu_floor.CASES) -> None:
    """Sorts that compress nothing, their requests without computing, and what they compute without requests."""
    measured = bench.results.data.setdefault("costs", {})
    if any(case.kind not in measured for case in cases) and not (tool := bench.programs.tool("costs")).exists():
        raise RunError(f"{tool} is not there: make bench builds it")
    for case in cases:
        slots = bench.slots_left(case.stage, dict.fromkeys(cpu_floor.CONTENDERS, rounds))
        if not slots:
            continue
        work = replace(bench.work, input=bench.directory / case.stage)
        bench.say(f"making input: {case.what}")
        _make_cpu_input(bench, case, work.input)
        command, environment = cpu_floor.command(case, bench.programs, work)
        bench.run_cold([*command, "--trace", str(work.trace)], environment)
        work.output.unlink()
        if case.kind not in measured:
            stats = json.loads(work.stats.read_text())
            runs, stored_share = cpu_floor.merged_runs(stats), cpu_floor.stored_share(stats)
            measured[case.kind] = measure_costs(bench, case.kind, runs, stored_share, work)
            bench.results.save()
        same = bench.agreement(case.stage, "bytes")
        for slot in slots:
            _run_cpu(bench, case, slot, work, same)
        work.input.unlink()


def _make_cpu_input(bench: Bench, case: cpu_floor.CpuCase, path: Path) -> None:
    settings = bench.results.data["settings"]
    if case == cpu_floor.RECORDS:
        make_input(bench.programs, "uniform", bench.records, path, bench.work.memory_bytes)
    else:
        bench.make_lines("text" if case == cpu_floor.TEXT else "table", settings[case.size], path)


def _run_cpu(bench: Bench, case: cpu_floor.CpuCase, slot: Slot, work: Work, same: Agreement) -> None:
    is_sort = slot.contender == "ecosort"
    command, environment = (
        cpu_floor.command(case, bench.programs, work) if is_sort else bench.programs.command(slot.contender, work)
    )
    work.output.unlink(missing_ok=True)
    measured = bench.run_cold(command, environment)
    checksum = same.require(slot.contender, lines.digest(work.output)) if is_sort else None
    stats = json.loads(work.stats.read_text()) if is_sort else None
    bench.keep(case.stage, slot, measured, {"stats": stats, "checksum": checksum, "input_bytes": work.input.stat().st_size})
    work.output.unlink()
