"""JSON and TOML that are nested too deeply: one line from every source, never a traceback."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ecosort_power.errors import MeterError, MeterGlitchError, PowerError, UsageError
from ecosort_power.meters import kasa, mqtt
from ecosort_power.meters.base import parse_spec
from ecosort_power.meters.exec import capabilities_from, parse_line
from ecosort_power.nesting import MAX_DEPTH, parse_json, parse_toml
from ecosort_power.phases import current_phase, read_phases, read_stats
from ecosort_power.rederive import derivation
from ecosort_power.store import MeterRecord, ResultDirectory, read_readings
from ecosort_power.transports.http import HttpClient

from .peers import http_peers as peers
from .stored import WALL, write_result
from .support import POWER, Cli

LEVELS = 100_000
DEEP = "[" * LEVELS + "]" * LEVELS
DEEP_OBJECT = '{"a":' * LEVELS + "1" + "}" * LEVELS
# Not so deep that the parser minds, but whatever walks through it afterwards would.
SHALLOWER = '{"watts": ' + "[" * 900 + "]" * 900 + "}"


@pytest.mark.parametrize("text", [DEEP, DEEP_OBJECT, SHALLOWER, "[" * LEVELS, '[{"' * LEVELS])
def test_what_is_too_deep_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested|Expecting|Unterminated"):
        parse_json(text)


def test_brackets_inside_strings_and_many_small_objects_are_not_deep() -> None:
    brackets = json.dumps(["[{" * 1000, '"[' * 1000, {}])
    assert parse_json(brackets) == json.loads(brackets)
    assert len(parse_json(json.dumps([{"a": [1]}] * 1000))) == 1000
    levels = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse_json(levels) == json.loads(levels)


def test_nothing_else_reads_json_or_toml() -> None:
    """One mended place stays one."""
    for path in (POWER / "ecosort_power").rglob("*.py"):
        found = re.findall(r"\bjson\w*\.loads?\(|\btomllib\.|\.json\(\)", path.read_text())
        assert not found or path.name == "nesting.py", path


def deep_exec(directory: Path) -> str:
    program = directory / "deep.py"
    program.write_text(f"print('['*{LEVELS} + ']'*{LEVELS}, flush=True)\nimport time; time.sleep(9)\n")
    return f"exec:{sys.executable} {program}"


@pytest.mark.parametrize("words", [("probe",), ("doctor", "--meter"), ("run", "--runs", "1", "--meter")])
def test_a_meter_program(cli: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    more = ("--", "true") if words[0] == "run" else ()
    done = cli(*words, deep_exec(tmp_path), *more)
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr + done.stdout
    assert "no JSON" in done.stderr + done.stdout


@pytest.mark.parametrize("header", [{"identity": []}, {"identity": "x"}, {"period_s": 10**400}, {"scope": ["wall"]}])
def test_a_header_of_a_meter_program_that_cannot_be(header: dict[str, object]) -> None:
    with pytest.raises((MeterGlitchError, ValueError)):
        capabilities_from(header, {"watts": 1.0}, "x")


@pytest.mark.parametrize("text", [DEEP, DEEP_OBJECT, SHALLOWER])
def test_a_line_a_message_and_the_answer_of_a_program(text: str) -> None:
    spec = parse_spec("mqtt://broker/topic#value=watts,unit=W")
    sources: list[Callable[[], object]] = [
        lambda: parse_line(text),
        lambda: mqtt._values(text, spec, "broker"),
        lambda: kasa._document(text, "plug"),
    ]
    for source in sources:
        with pytest.raises(MeterError) as caught:
            source()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", [DEEP, DEEP_OBJECT])
def test_a_server(text: str) -> None:
    with peers.serve(lambda peer, path, given: (200, text.encode(), {})) as peer:
        client = HttpClient(f"http://{peer.host}", 20.0)
        with pytest.raises(MeterGlitchError, match="no JSON"):
            client.get("/")
        client.close()


@pytest.mark.parametrize(
    "spec",
    [
        *("exec:x", "mqtt://b/t#value=a,unit=W", "http://h/x#value=a,unit=W"),
        *("shelly://h", "tasmota://h", "homeassistant://h/sensor.a", "kasa://h"),
    ],
)
def test_a_stored_answer(spec: str) -> None:
    found = derivation(MeterRecord("m", spec, WALL))
    assert found is not None
    with pytest.raises((PowerError, ValueError)):
        found.rule(DEEP)


def test_events_and_statistics_of_a_sort(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(DEEP + "\n")
    assert "cannot be understood" in (read_phases(path, 0, 1).problem or "")
    assert current_phase(path) is None
    assert read_stats(path) is None


@pytest.mark.parametrize("name", ["session.json", "runs/01/run.json", "summary.json", "entry.json", "seal.jsonl"])
@pytest.mark.parametrize("command", ["check", "report"])
def test_a_file_of_a_result(cli: Cli, tmp_path: Path, name: str, command: str) -> None:
    result = write_result(tmp_path / "r", runs=2)
    (result / name).write_text(DEEP)
    done = cli(command, "r")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr


def test_readings_of_a_result(tmp_path: Path) -> None:
    result = ResultDirectory(write_result(tmp_path / "r", runs=1))
    path = result.run_path(1) / "readings.wall.jsonl"
    path.write_text(DEEP + "\n" + path.read_text())
    with pytest.raises(UsageError, match="line 1"):
        read_readings(path)


@pytest.mark.parametrize("text", ["a = " + DEEP, "a" + ".a" * LEVELS + " = 1", "[" + "a." * LEVELS + "a]"])
def test_a_configuration_file(text: str) -> None:
    with pytest.raises(ValueError, match="nested"):
        parse_toml(text)
    assert parse_toml('title = "v1.2 [of 3]"\n') == {"title": "v1.2 [of 3]"}
