"""`ecosort plan sort --compress` with a profile: what a sample of the input says of compressed runs, held against the sort."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ecosort_tuning.errors import UsageError
from ecosort_tuning.forecast import predict
from ecosort_tuning.model import fit_cpu, fit_time
from ecosort_tuning.profile import Drive, write_profile
from ecosort_tuning.runs import from_stats
from pairs import turns

from .test_sorter_profile import DRIVE, FULL, Run, close

MOST_OFF = 0.02
RECORDS = 750_000  # of 100 bytes
NUMBERS = ("--record-size=16", "--key=0:u64")


def faster(drive: Drive, times: float) -> Drive:
    rates = [
        replace(r, read_bytes_per_s=r.read_bytes_per_s * times, write_bytes_per_s=r.write_bytes_per_s * times)
        for r in drive.rates
    ]
    return replace(drive, rates=rates)


MODELS = replace(FULL, setting=[])  # sorts that are measured have no settings of a profile either
SLOW = replace(MODELS, drive=[faster(DRIVE, 0.01)])


def numbers(count: int) -> bytes:
    """Random keys of eight bytes, and the number of each record."""
    found = np.empty((count, 2), dtype="<u8")
    found[:, 0] = np.random.default_rng(5).integers(0, 2**64, count, dtype=np.uint64)
    found[:, 1] = np.arange(count, dtype=np.uint64)
    return found.tobytes()


def words_of(count: int) -> bytes:
    """Records of 60 bytes: a date, a few hundred names, and small numbers, as tables have them."""
    random = np.random.default_rng(6)
    names = np.array([f"{'item' if n % 3 else 'article'} {n * 7919 % 1000:04d}".ljust(24) for n in range(300)], dtype="S24")
    found = np.empty(count, dtype=[("date", "S16"), ("name", "S24"), ("count", "S20")])
    days = random.integers(0, 4000, count)
    found["date"] = np.array([f"{2010 + d // 365:04d}-{d % 365:03d}".ljust(16) for d in range(4000)], dtype="S16")[days]
    found["name"] = names[random.integers(0, 300, count)]
    found["count"] = np.array([f"{n:20d}" for n in range(1000)], dtype="S20")[random.integers(0, 1000, count)]
    return found.tobytes()


@pytest.fixture(scope="module", name="data")
def _data(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files that are large enough for several runs."""
    place = tmp_path_factory.mktemp("packed")
    for name, flags in {"ascii": ["-a"], "binary": [], "skewed": ["-a", "-s"]}.items():
        subprocess.run([ecosort, "gen", *flags, str(RECORDS), place / name], check=True)
    (place / "numbers").write_bytes(numbers(4_000_000))
    (place / "words").write_bytes(words_of(1_500_000))
    write_profile(place / "p.toml", MODELS)
    write_profile(place / "slow.toml", SLOW)
    yield place
    shutil.rmtree(place)


def predicted(run: Run, place: Path, profile: str, *words: str) -> dict[str, Any]:
    done = run("plan", "sort", "--json", "--profile", profile, *words, "-o", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    return dict(plan.get("here", plan)["prediction"])


def measured(run: Run, place: Path, *words: str) -> dict[str, Any]:
    done = run("sort", "--no-profile", *words, "-o", "out", "--stats", "s.json", "--progress=none", "--quiet", cwd=place)
    assert done.returncode == 0, done.stderr
    return dict(json.loads((place / "s.json").read_text()))


KINDS: dict[str, tuple[str, ...]] = {
    "ascii": ("ascii",),
    "binary": ("binary",),
    "skewed": ("skewed",),
    "numbers": ("numbers", *NUMBERS),
    "words": ("words", "--record-size=60", "--key=0:40"),
    "words by their end": ("words", "--record-size=60", "--key=40:20", "--key=16:24"),
    "several": ("ascii", "skewed"),
}


@pytest.mark.parametrize(("kind", "how"), turns(list(KINDS), list(product(["lz4", "zstd"], ["16MiB", "64MiB"]))), ids=str)
def test_the_bytes_are_those_of_the_sort(run: Run, data: Path, kind: str, how: tuple[str, str]) -> None:
    codec, memory = how
    words = (*KINDS[kind], "--memory", memory, "--threads=2", "--compress", codec)
    found, stats = predicted(run, data, "p.toml", *words), measured(run, data, *words)
    plan, runs = stats["plan"], stats["compression"]["runs"]
    assert plan["stored_runs"] > 1
    assert plan["granule_bytes"] >= 32 << 10
    assert found["bytes_moved"] == pytest.approx(stats["bytes_read"] + stats["bytes_written"], rel=MOST_OFF)
    assert found["compression"]["codec"] == runs["codec"]
    stored = found["phases"][0]["work"]["bytes_written"]
    assert found["compression"]["ratio"] == pytest.approx(runs["plain_bytes"] / stored, rel=0.001)
    assert found["compression"]["because"] == "asked for"
    assert 0 < found["temp_bytes"] <= plan["temp_bytes"]


def test_several_passes_and_resumable_sorts(run: Run, data: Path) -> None:
    words = ("numbers", *NUMBERS, "--memory", "2MiB", "--request-size", "64KiB", "--compress=lz4")
    found, stats = predicted(run, data, "p.toml", *words), measured(run, data, *words)
    assert stats["merge_passes"] == 2
    assert found["bytes_moved"] == pytest.approx(stats["bytes_read"] + stats["bytes_written"], rel=MOST_OFF)
    words = ("ascii", "--memory", "24MiB", "--compress=zstd", "--resumable")
    found, stats = predicted(run, data, "p.toml", *words), measured(run, data, *words)
    assert found["bytes_moved"] == pytest.approx(stats["bytes_read"] + stats["bytes_written"], rel=MOST_OFF)


def test_auto_goes_by_the_drives_and_the_watts_of_the_profile(run: Run, data: Path) -> None:
    words = ("ascii", "--memory", "24MiB", "--compress=auto")
    pays = predicted(run, data, "slow.toml", *words)
    assert pays["compression"]["codec"] in {"lz4", "zstd:1"}
    assert "x as fast by the model" in pays["compression"]["because"]
    assert pays["compression"]["ratio"] > 2
    write_profile(data / "quick.toml", replace(MODELS, drive=[faster(DRIVE, 100.0)]))
    plain = predicted(run, data, "quick.toml", *words)
    assert (plain["compression"]["codec"], plain["compression"]["ratio"]) == ("none", pytest.approx(1, rel=0.01))
    assert "would not make that 5 % faster" in plain["compression"]["because"]
    energy = predicted(run, data, "slow.toml", *words, "--goal=energy")
    assert "fewer joules by the model" in energy["compression"]["because"]
    text = run("plan", "sort", "--profile", "slow.toml", *words, "-o", "out", cwd=data).stdout
    assert f"x smaller with {pays['compression']['codec']}" in text
    text = run("plan", "sort", "--profile", "quick.toml", *words, "-o", "out", cwd=data).stdout
    assert "as they are: drives move" in text


def test_coders_take_their_part_of_both_phases(run: Run, data: Path) -> None:
    """Predicted by the terms to which models are fitted: all but the coders, and these where they work."""
    words = ("ascii", "--memory", "24MiB", "--threads=1", "--compress=zstd")
    found, plain = predicted(run, data, "p.toml", *words), predicted(run, data, "p.toml", *words[:-1])
    coders = found["compression"]
    assert plain["compression"] is None
    saved = plain["bytes_moved"] - found["bytes_moved"]
    both_s = coders["compress_cpu_s"] + coders["decompress_cpu_s"]
    assert found["cpu_s"] == pytest.approx(plain["cpu_s"] + both_s - FULL.cpu.per_byte_s * saved if FULL.cpu else 0, rel=0.02)
    times = [p["times"]["processor"] for p in found["phases"]]
    assert sum(times) == close(found["cpu_s"])
    assert found["joules"] == close(21.0 * found["seconds"] + 7.5 * found["cpu_s"] + 0.8 * found["bytes_moved"] / 1e9)


def test_models_are_fitted_to_all_but_the_coders(run: Run, data: Path) -> None:
    stats = measured(run, data, "ascii", "--memory", "24MiB", "--threads=1", "--compress=zstd")
    found, runs = from_stats(stats), stats["compression"]["runs"]
    assert (found.coders.pack_s, found.coders.unpack_s) == (runs["compress_cpu_s"], runs["decompress_cpu_s"])
    own_s = found.cpu_s - runs["compress_cpu_s"] - runs["decompress_cpu_s"]
    assert 0 < own_s < found.cpu_s
    cpu = fit_cpu([found])
    assert cpu.per_record_s * found.records == pytest.approx(own_s)
    assert set(fit_time([found], DRIVE, 0.5).factor) == {"run_formation", "merge"}


def test_without_a_sample_there_is_no_prediction(run: Run, ecosort: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--memory", "24MiB", "--compress=lz4")
    assumed = predicted(run, data, "p.toml", *words, "--assume-size", "1GB")
    assert "without an input there is no sample" in assumed["absent"]
    kept = json.loads(run("plan", "sort", "--json", "--no-profile", *words, "ascii", "-o", "out", cwd=data).stdout)
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))
    with pytest.raises(UsageError, match="without an input there is no sample"):
        predict(kept, FULL)
    with (data / "ascii").open("rb") as source:
        feed = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
        words = ("plan", "sort", "--json", "--profile", "p.toml", *words, "-", "-o", "out")
        done = run(*words, cwd=data, stdin=feed.stdout)
        feed.kill()
        feed.communicate()
    assert json.loads(done.stdout)["here"]["prediction"] == {"absent": "the size of the input is not known"}
