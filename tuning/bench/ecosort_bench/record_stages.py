"""The stages of a benchmark that sort records of 100 bytes."""

import json
from dataclasses import replace

from ecosort_measure.floor_trace import Shape
from ecosort_power.errors import RunError
from ecosort_power.planned import NEUTRAL, plan_of
from ecosort_power.records import RECORD_BYTES

from ecosort_bench import cpu_floor, partitions
from ecosort_bench.contenders import BEYOND_CACHES_BYTES, Work
from ecosort_bench.floors import add_floor, add_floor_of_records, measure_costs, record_trace
from ecosort_bench.inputs import make_input
from ecosort_bench.runs import Bench

_ONE_PASS_ROUNDS = 10
TIGHT_PER_MILLE = 24  # spare space of the EcoSort paper's terabyte (section 4.2)


def main(bench: Bench, quotas: dict[str, int]) -> None:
    """The sort, its floors and its peers on uniform input."""
    slots = bench.slots_left("main", quotas)
    if not slots:
        return
    checksum = bench.input("uniform", bench.records)
    work = add_floor_of_records(bench, record_trace(bench, bench.work), "main")
    if "kernels" not in bench.results.data and bench.programs.tool("costs").exists():
        stats = json.loads(work.stats.read_text())
        runs, stored_share = cpu_floor.merged_runs(stats), cpu_floor.stored_share(stats)
        bench.results.data |= measure_costs(bench, "records", runs, stored_share, work)
        bench.results.save()
    for slot in slots:
        bench.run("main", slot, slot.contender, work, checksum)


def one_pass(bench: Bench) -> None:
    """The sort of an input that fits the memory, against its own floor."""
    slots = bench.slots_left("one_pass", dict.fromkeys(("ecosort", "floor_b", "floor_b_memory"), _ONE_PASS_ROUNDS))
    if not slots:
        return
    work = replace(bench.work, input=bench.directory / "small")
    records = _largest_one_pass(bench, work)
    checksum = make_input(bench.programs, "uniform", records, work.input, work.memory_bytes)
    work = add_floor_of_records(bench, record_trace(bench, work), "one_pass")
    for slot in slots:
        bench.run("one_pass", slot, slot.contender, work, checksum)
    work.input.unlink()


def _largest_one_pass(bench: Bench, work: Work) -> int:
    """Records that the memory holds, by the planner's own judgement, within 5 %."""
    records = work.memory_bytes // RECORD_BYTES
    options = (*NEUTRAL, "--memory", f"{work.memory_bytes}B")
    while plan_of(records, work.output, options, bench.programs.ecosort)["stored_runs"] > 0:
        records = records * 95 // 100
    return records


def other_kind(bench: Bench, kind: str, rounds: int) -> None:
    """The sort of another kind of input, interleaved with uniform input."""
    stage = f"input_{kind}"
    slots = bench.slots_left(stage, {"uniform": rounds, kind: rounds})
    if not slots:
        return
    other = replace(bench.work, input=bench.directory / kind)
    bench.say(f"making {kind} input")
    other_checksum = make_input(bench.programs, kind, bench.records, other.input, bench.roomy_memory())
    uniform_checksum = bench.input("uniform", bench.records)
    for slot in slots:
        is_other = slot.contender == kind
        bench.run(stage, slot, "ecosort", other if is_other else bench.work, other_checksum if is_other else uniform_checksum)
    other.input.unlink()


def gen_check(bench: Bench, rounds: int) -> None:
    """The generator and the checker, against sequential writes and reads of as many bytes."""
    contenders = ("gen", "write_floor", "check", "read_floor", "read_floor_memory")
    slots = bench.slots_left("gen_check", dict.fromkeys(contenders, rounds))
    if not slots:
        return
    size = bench.records * RECORD_BYTES
    checksum = bench.input("uniform", bench.records)
    in_order = replace(bench.work, input=bench.directory / "in_order")
    memory = f"{bench.roomy_memory()}B"
    bench.programs.run("sort", "--memory", memory, "--quiet", "--progress", "none", bench.work.input, "-o", in_order.input)
    writes = add_floor(bench, Shape(0, 0, 0, size), bench.work, "gen")
    reads = add_floor(bench, Shape(size, 0, 0, 0), in_order, "check")
    roles = {
        "gen": ("gen", writes),
        "write_floor": ("floor_b", writes),
        "check": ("check", reads),
        "read_floor": ("floor_b", reads),
        "read_floor_memory": ("floor_b_memory", replace(reads, memory_bytes=BEYOND_CACHES_BYTES)),
    }
    for slot in slots:
        bench.run("gen_check", slot, *roles[slot.contender], checksum)
    in_order.input.unlink()


def partition(bench: Bench, rounds: int) -> None:
    """Records that are cut into parts at splitters, sorted and not, against the requests of the latter without computing."""
    slots = bench.slots_left("partition", dict.fromkeys(partitions.CONTENDERS, rounds))
    if not slots:
        return
    bench.input("uniform", bench.records)
    cut = partitions.Cut(bench.programs, bench.work)
    cut.choose_splitters()
    cut.make_room()
    bench.run_cold(cut.traced())
    same = bench.agreement("partition", "records")
    for slot in slots:
        cut.make_room()
        measured = bench.run_cold(cut.command(slot.contender))
        report = None if slot.contender == "floor" else cut.report()
        checksum = same.require(slot.contender, report["hash"]) if report else None
        bench.keep("partition", slot, measured, {"stats": report, "checksum": checksum})
    cut.make_room()


def inplace(bench: Bench, rounds: int) -> None:
    """In-place sorting with ample space and with the little that the terabyte of the EcoSort paper had, against the sort."""
    slots = bench.slots_left("inplace", dict.fromkeys(("ecosort", "inplace", "inplace_tight"), rounds))
    if not slots:
        return
    checksum = bench.input("uniform", bench.records)
    try:
        bench.programs.run("plan", "inplace", bench.work.input)
    except RunError as error:  # another file system than it takes
        bench.say(f"in-place sorting is left out: {error}")
        return
    tight = replace(bench.work, spare_bytes=bench.records * RECORD_BYTES * TIGHT_PER_MILLE // 1000)
    for slot in slots:
        contender = "ecosort" if slot.contender == "ecosort" else "inplace"
        bench.run("inplace", slot, contender, tight if slot.contender == "inplace_tight" else bench.work, checksum)
