"""docs/coming-from.md: every peer has its table, and what it says of EcoSort is so; `make known-ground` runs the others."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def known_ground() -> ModuleType:
    spec = importlib.util.spec_from_file_location("known_ground", ROOT / "tests" / "known_ground" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tests" / "known_ground"))  # of what it imports
        spec.loader.exec_module(module)
    return module


def test_every_peer_has_a_table_with_its_version_and_day(known_ground: ModuleType) -> None:
    parts = known_ground.parts_of(known_ground.PAGE.read_text())
    assert sorted(parts) == sorted(path.stem for path in Path(known_ground.HERE, "peers").glob("*.toml"))
    for name, part in parts.items():
        assert re.match(r".+ v?\d[-.\w]* \(.+\), run 20\d\d-\d\d-\d\d\.\n", part), name
        peer = tomllib.loads((known_ground.HERE / "peers" / f"{name}.toml").read_text())
        cases = [case["what"] for case in known_ground.cases_of(peer["kind"])]
        assert [row for row in re.findall(r"^\| ([^|]+) \|", part, re.MULTILINE) if row in cases][-len(cases) :] == cases, name
        assert re.search(r"^\| (text|number) \| `.+` \| `ecosort ", part, re.MULTILINE), name


def test_a_peer_that_is_a_crate_has_its_version_and_day_in_one_place(known_ground: ModuleType) -> None:
    rows = [line.split() for line in (ROOT / "tuning/setup/crates.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[-\w]+@\d+\.\d+\.\d+", row[0]) and re.fullmatch(r"20\d\d-\d\d-\d\d", row[1]) for row in rows)
    peers = [tomllib.loads(path.read_text()) for path in (known_ground.HERE / "peers").glob("*.toml")]
    built = [peer["build"].removeprefix("$SETUP/crates ") for peer in peers if peer["from"] == "crates.io"]
    assert sorted(built) == sorted(row[0].partition("@")[0] for row in rows)


@pytest.mark.parametrize(
    ("kind", "peer"),
    [("lines", "gnu-sort"), ("csv", "sqlite"), ("jsonl", "jq"), ("u64", "stxxl"), ("vcf", "bcftools"), ("bed", "bedtools")],
)
def test_the_page_says_what_ecosort_does(ecosort: Path, known_ground: ModuleType, kind: str, peer: str) -> None:
    rows = known_ground.parts_of(known_ground.PAGE.read_text())[peer].splitlines()
    tool = known_ground.Tool(kind, known_ground.ECOSORT[kind])
    for case in known_ground.cases_of(kind):
        if case["look"] in ("values", "ties", "bytes", "header", "last_end"):
            [row] = [row for row in rows if row.startswith(f"| {case['what']} | ")]
            assert row.endswith(f" | {known_ground.cell(tool, case)} |")


def test_another_cell_is_noticed_and_a_figure_of_memory_may_vary(known_ground: ModuleType) -> None:
    before = "X 1 (PyPI), run 2026-11-29.\n| memory | no limit: ~150 MiB taken | ~33 MiB |\n| ties | stay in input order | - |"
    assert known_ground.differences(before, before.replace("2026-11-29", "2027-01-01").replace("150", "170")) == []
    for old, new in (("150", "250"), ("X 1", "X 2"), ("stay in input", "come in another")):
        assert len(known_ground.differences(before, before.replace(old, new))) == 1
