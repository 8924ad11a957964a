"""The C++ unit tests: every GoogleTest case of the program unit_tests is one test here.

A suite runs as one process; each case then looks up its own result, so a crash fails the cases it kept from ending.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import capabilities
import pytest
from conftest import BUILD

PROGRAM = Path(os.environ.get("ECOSORT_UNIT_TESTS") or BUILD / "tests" / "unit_tests")
# A program for another machine runs under an emulator: ECOSORT_EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu".
COMMAND = [*os.environ.get("ECOSORT_EMULATOR", "").split(), str(PROGRAM)]
# Memory that was freed is kept, not given back to the kernel and taken again: that was a good part of the time.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296"}
IS_SLOW = capabilities.SOAK or os.environ.get("ECOSORT_SAN") or os.environ.get("ECOSORT_EMULATOR")
SUITE_TIMEOUT_S = 3600 if IS_SLOW else 240
pytestmark = pytest.mark.timeout(SUITE_TIMEOUT_S + 60)  # a suite runs within the first test that asks for it


def list_cases() -> list[tuple[str, str]]:
    """(suite, case) pairs from --gtest_list_tests: suites are at the margin, their cases are indented below."""
    listing = subprocess.run([*COMMAND, "--gtest_list_tests"], capture_output=True, text=True, timeout=60, check=True)
    cases, suite = [], ""
    for line in listing.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if re.match(r"\S+\.$", name):
            suite = name[:-1]
        elif name.startswith("  "):
            cases.append((suite, name.strip()))
    return cases


@dataclass(frozen=True)
class SuiteRun:
    results: dict[str, dict[str, object]]  # by case; only those that ended
    output: str
    ending: str


RUNS: dict[str, SuiteRun] = {}  # the order of the tests may come back to a suite


@pytest.fixture(scope="module")
def suite_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SuiteRun:
    suite: str = request.param
    if suite not in RUNS:
        RUNS[suite] = run_suite(suite, tmp_path_factory)
    return RUNS[suite]


def run_suite(suite: str, tmp_path_factory: pytest.TempPathFactory) -> SuiteRun:
    directory = tmp_path_factory.mktemp("units")
    report = directory / "report.json"
    command = [*COMMAND, f"--gtest_filter={suite}.*", f"--gtest_output=json:{report}"]
    with (directory / "output").open("w+") as output:
        try:
            # An empty working directory: a test that leaves a file behind is seen below.
            (directory / "cwd").mkdir()
            code = subprocess.run(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=directory / "cwd",
                env=ENVIRONMENT,
                timeout=SUITE_TIMEOUT_S,
                check=False,
            ).returncode
            ending = f"exit code {code}"
        except subprocess.TimeoutExpired:
            ending = f"killed after {SUITE_TIMEOUT_S} s"
        output.seek(0)
        text = output.read()
    left = sorted(path.name for path in (directory / "cwd").iterdir())
    assert not left, f"suite {suite} left files behind: {left}"
    results: dict[str, dict[str, object]] = {}
    if report.exists():
        for found in json.loads(report.read_text())["testsuites"]:
            results |= {case["name"]: case for case in found["testsuite"]}
    return SuiteRun(results, text, ending)


def reason_for_skip(suite: str, case: str, output: str) -> str:
    """Returns what the case printed between its beginning and its end: GTEST_SKIP() << "reason"."""
    name = re.escape(f"{suite}.{case}")
    found = re.search(rf"^\[ RUN      \] {name}$(.*?)^\[  SKIPPED \] {name}", output, re.MULTILINE | re.DOTALL)
    return " ".join(found.group(1).split()) if found else "no reason given"


def skip(reason: str) -> None:
    """Skips as every other test does: with ECOSORT_STRICT nothing is skipped but what only a soak runs, and what no machine with
    this processor can.
    """
    if capabilities.STRICT and not any(word in reason for word in ("ECOSORT_SOAK", "this processor lacks")):
        pytest.fail(f"skipped although ECOSORT_STRICT is set: {reason}", pytrace=False)
    pytest.skip(reason)


CASES = list_cases() if PROGRAM.exists() else []


def test_the_unit_test_program_is_built_and_has_cases() -> None:
    assert PROGRAM.exists(), f"{PROGRAM} is not built: run make"
    assert CASES


@pytest.mark.parametrize(
    ("suite_run", "case"),
    [pytest.param(suite, case, id=f"{suite}.{case}") for suite, case in CASES],
    indirect=["suite_run"],
    scope="module",
)
def test_unit(request: pytest.FixtureRequest, suite_run: SuiteRun, case: str) -> None:
    result = suite_run.results.get(case)
    if result is None:
        pytest.fail(f"did not end ({suite_run.ending}):\n{suite_run.output[-4000:]}", pytrace=False)
    if result.get("result") == "SKIPPED":
        skip(reason_for_skip(*request.node.callspec.id.split(".", 1), suite_run.output))
    failures = result.get("failures", [])
    assert isinstance(failures, list)
    if failures:
        pytest.fail("\n\n".join(failure["failure"] for failure in failures), pytrace=False)
    assert result.get("status") == "RUN"


SKIPPED_OUTPUT = """\
[ RUN      ] Suite.Other
[       OK ] Suite.Other (0 ms)
[ RUN      ] Backends/Suite.Case/pool
tests/cpp/some_test.cpp:84: Skipped
the kernel refuses {}

[  SKIPPED ] Backends/Suite.Case/pool (1 ms)
"""


@pytest.mark.parametrize(
    ("strict", "what", "outcome"),
    [
        (False, "this", pytest.skip.Exception),
        (True, "this", pytest.fail.Exception),
        (True, "without ECOSORT_SOAK", pytest.skip.Exception),
    ],
)
def test_a_skipped_case_fails_where_everything_is_required(
    monkeypatch: pytest.MonkeyPatch, strict: bool, what: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(capabilities, "STRICT", strict)
    reason = reason_for_skip("Backends/Suite", "Case/pool", SKIPPED_OUTPUT.format(what))
    assert reason.endswith(f"Skipped the kernel refuses {what}")
    with pytest.raises(outcome, match=f"the kernel refuses {what}"):
        skip(reason)


@pytest.mark.parametrize(
    "suite_run", [pytest.param(suite, id=suite) for suite in dict.fromkeys(suite for suite, _ in CASES)], indirect=True
)
def test_suite_ends_cleanly(suite_run: SuiteRun) -> None:
    """Events after the last case count, too: leaks found at exit, a crash in a destructor."""
    failed = any(case.get("failures") for case in suite_run.results.values())
    assert failed or suite_run.ending == "exit code 0", suite_run.output[-4000:]
