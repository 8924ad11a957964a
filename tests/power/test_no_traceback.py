"""An address, a setting or a number may be anything: the answer is one line and no traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from ecosort_power.cli import cli as program
from ecosort_power.errors import MeterError, PowerError, UsageError
from ecosort_power.meters import make_meter, meter_class, schemes
from ecosort_power.meters.base import COMMON_SETTINGS, parse_spec, with_settings
from ecosort_power.options import Checksum, Number
from ecosort_power.reading import Capabilities, Scope
from ecosort_power.transports.process import LineChild
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .support import QUICK, Cli

SCHEMES = [s for s in schemes() if s not in ("lamp",)]
DEEP = 2000 if os.environ.get("ECOSORT_SOAK") else 50
NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "-0",
    "1e-320",
    "1e300",
    "1e400",
    "9" * 400,
    "0x10",
    "1_000",
    "١٢",
    "x",
    "",
    " ",
    "1,5",
    "%",
    "\0",
    "\udcff",
]
HOSTS = [
    "//",
    "//[",
    "//[::1",
    "//h:",
    "//h:x",
    "//h:99999",
    "//h:-1",
    "//:80",
    "//a b",
    "//user@",
    "//u@h@i",
    "///x",
    "//h/\0",
    "//ü.example",
    "//\udcff",
    "//J\udcf6rg@h",
    "//h/\udcff",
]


def understood(text: str) -> None:
    """Parses a specification and makes the meter, which says no with a PowerError or not at all."""
    with contextlib.suppress(PowerError):
        spec = parse_spec(text)
        make_meter(spec)
        with_settings(Capabilities("x", Scope.WALL, 1.0), spec)


ANYTHING = st.characters(exclude_categories=()) | st.sampled_from("\udc80\udcf6\udcff")  # bytes that are not UTF-8, too


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=DEEP, deadline=None)
@given(
    text=st.text(ANYTHING, max_size=40)
    | st.from_regex(r"//[\w.\[\]:@-]{0,20}(/[\w.-]{0,9})?(#[\w=,.:%-]{0,30})?", fullmatch=True)
)
@example(text="//[")
@example(text="//h:port/x")
def test_any_address(scheme: str, text: str) -> None:
    understood(f"{scheme}:{text}")


@given(st.text(ANYTHING, max_size=60))
@settings(max_examples=DEEP, deadline=None)
def test_any_specification(text: str) -> None:
    understood(text)


def test_addresses_of_no_host() -> None:
    for scheme in SCHEMES:
        for address in HOSTS:
            understood(f"{scheme}:{address}")
            understood(f"{scheme}:{address}#user=x,value=a,profile=generic,preset=apc-rpdu2")


PROPER = {
    "scpi": ("//127.0.0.1:9", "profile=lmg600"),
    "snmp": ("//127.0.0.1:9", "preset=apc-rpdu2"),
    "http": ("//127.0.0.1:9/x", "value=a,unit=W"),
    "https": ("//127.0.0.1:9/x", "value=a,unit=W"),
    "fritz": ("//u@127.0.0.1:9/1", ""),
    "homeassistant": ("//127.0.0.1:9/sensor.a", ""),
    "redfish": ("//u@127.0.0.1:9", "tls=off"),
    "ipmi": ("//u@127.0.0.1:9", ""),
    "mqtt": ("//127.0.0.1:9/t", "unit=W"),
    "nut": ("//127.0.0.1:9/u", ""),
    "kasa": ("//127.0.0.1:9", "type=plug"),
    "shelly": ("//127.0.0.1:9", ""),
    "tasmota": ("//127.0.0.1:9", ""),
    "exec": ("true", ""),
    "csv": ("x.csv", ""),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_number_in_any_setting(scheme: str) -> None:
    address, proper = PROPER.get(scheme, ("", ""))
    for key in {**COMMON_SETTINGS, **meter_class(scheme).settings_known}:
        for number in NUMBERS:
            understood(f"{scheme}:{address}#{proper},{key}={number}")


@pytest.mark.parametrize("scheme", [s for s in PROPER if s not in ("ipmi", "kasa")])
@pytest.mark.parametrize("setting", ["timeout=0.001", "period=86400,timeout=0.2"])
def test_opening_what_is_not_there(scheme: str, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ECOSORT_METER_PASSWORD", "REDFISH_PASSWORD", "HOME_ASSISTANT_TOKEN"):
        monkeypatch.setenv(name, "any")
    address, proper = PROPER[scheme]
    meter = make_meter(parse_spec(f"{scheme}:{address}#{proper},{setting}"))
    try:
        if not meter.deferred:
            with pytest.raises(PowerError) as caught:
                meter.open()
            assert "\n" not in str(caught.value)
    finally:
        meter.close()


@pytest.mark.parametrize("scheme", [s for s in PROPER if "127.0.0.1" in PROPER[s][0] and s not in ("ipmi", "kasa")])
@pytest.mark.parametrize("host", ["xn--", "a" * 70 + ".invalid", "a" * 300, "a..b", "-", "::1%nowhere"])
def test_opening_what_cannot_be_a_host(scheme: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ECOSORT_METER_PASSWORD", "REDFISH_PASSWORD", "HOME_ASSISTANT_TOKEN"):
        monkeypatch.setenv(name, "any")
    address, proper = PROPER[scheme]
    named = address.replace("127.0.0.1", f"[{host}]" if ":" in host else host)
    with pytest.raises(PowerError):
        make_meter(parse_spec(f"{scheme}:{named}#{proper},timeout=1")).open()


@pytest.mark.parametrize(
    "spec",
    [
        "exec:a\0b",
        "csv:a\0b",
        "hwmon:x#root=a\0b",
        "battery:#root=\0",
        "rapl:#root=\0",
        "sim:#root=\0",
        "csv:/",
        "exec:\udcff",
        "csv:\udcff",
        "hwmon:\udcff",
        "battery:\udcff",
        "rapl:\udcff#root=\udcff",
        "nvidia:\udcff",
        "scpi:/dev/\udcff#profile=lmg95",
    ],
)
def test_names_of_files_that_cannot_be(spec: str) -> None:
    with contextlib.suppress(PowerError):
        meter = make_meter(parse_spec(spec))
        meter.open()


def call(*words: str) -> None:
    """A command line in this process; what it says no with is what `main` turns into one line."""
    with contextlib.suppress(PowerError, click.ClickException, click.exceptions.Exit, OSError):
        program.main(list(words), standalone_mode=False)


def numeric_options() -> list[tuple[str, str]]:
    """(command, option) of all that take a number."""
    options = [(n, o) for n, c in program.commands.items() for o in c.params if isinstance(o, click.Option) and not o.is_flag]
    return [(name, option.opts[0]) for name, option in options if _is_number(option.type)]


def _is_number(kind: Any) -> bool:
    return isinstance(kind, (click.types.IntParamType, click.types.FloatParamType, Number))


def test_every_number_of_every_command_is_known_here() -> None:
    assert {
        ("run", "--idle"),
        ("run", "--records"),
        ("probe", "--seconds"),
        ("doctor", "--seconds"),
        ("joulesort", "--ambient"),
    } <= set(numeric_options())


@pytest.mark.parametrize(("command", "option"), numeric_options())
def test_any_number_in_any_option(command: str, option: str, in_tmp: Path) -> None:
    """The meter cannot be opened and there is no command to run: the numbers are all that is read."""
    rest = {"probe": ["csv:x"], "doctor": ["--meter", "csv:x#unit=VA"]}.get(command, [])
    for number in NUMBERS:
        call(command, *rest, option, number)
    assert not [p for p in in_tmp.iterdir() if p.name != "ecosort"]


@pytest.mark.parametrize("words", [("check",), ("report",), ("compare", "x"), ("attach", "--meter", "csv:x")])
@pytest.mark.parametrize("path", ["", "x" * 5000, "/dev/null", "/proc/1/mem", ".", "d\udcff"])
def test_any_directory(words: tuple[str, ...], path: str, in_tmp: Path) -> None:
    call(*words, path)


@pytest.mark.parametrize("option", ["--prepare", "--check-command"])
@pytest.mark.parametrize("text", ["", " ", "''", "'", 'a "b'])
def test_a_command_that_cannot_be_is_said_before_the_runs(cli: Cli, tmp_path: Path, option: str, text: str) -> None:
    done = cli("run", *QUICK, "--runs", "1", "--time-only", "--out", "r", option, text, "--", "true")
    assert (done.returncode, option in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("command", ["probe", "doctor"])
@pytest.mark.parametrize("text", ["", "'"])
def test_a_load_that_cannot_be_is_said(cli: Cli, command: str, text: str) -> None:
    words = {"probe": ["sim:", "--seconds", "5"], "doctor": ["--meter", "sim:", "--probe", "5"]}[command]
    done = cli(command, *words, "--load", text)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr


@pytest.mark.parametrize(
    ("text", "fine"), [("456a35615a4a24", True), ("0xAB", True), ("zz", False), ("", False), ("1" * 33, False)]
)
def test_a_checksum_is_hexadecimal(text: str, fine: bool) -> None:
    with contextlib.nullcontext() if fine else pytest.raises(click.BadParameter, match="ecosort gen -c"):
        assert Checksum().convert(text, None, None) == text


def test_a_file_of_meters_that_has_no_end_is_not_read(cli: Cli) -> None:
    done = cli("meters", "--config", "/dev/full")
    assert (done.returncode, "regular file" in done.stderr) == (2, True), done.stderr


def test_a_meter_program_that_prints_no_lines_is_refused_while_it_is_small() -> None:
    writer = (
        "import sys\nfor _ in range(64):\n    sys.stdout.write('x' * (1 << 16))\nsys.stdout.flush()\nimport time; time.sleep(60)"
    )
    child = LineChild([sys.executable, "-c", writer])
    try:
        with pytest.raises(MeterError, match="no lines of text"):
            child.read_line(30.0)
    finally:
        child.close()


@pytest.mark.parametrize(
    "spec", ["shelly://127.0.0.1:9", "nut://127.0.0.1:9/u", "mqtt://127.0.0.1:9/t#unit=W", "scpi:/dev/null#profile=lmg95"]
)
def test_a_meter_that_is_not_there_says_what_to_do(spec: str) -> None:
    meter = make_meter(parse_spec(spec))
    try:
        with pytest.raises(PowerError, match=r"; (look whether it is switched on|`ecosort-power meters`)"):
            meter.open()
    finally:
        meter.close()


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("sim:#scope=moon", "scope must be one of: wall, psu, "),
        ("sim:#scope=simulated", "#simulated=yes"),
        ("sim:#power=x", "power must be one of: instant, average"),
        ("snmp://h/1.3#scale=0", "scale=0 must be from 1e-12 to 1e"),
        ("snmp://h/1.3#scale=-2", "scale=-2 must be from"),
        ("http://h/x#value=a,unit=W,energy=b,energy-unit=Wh,energy-quantum=-1", "energy-quantum=-1 must be from"),
    ],
)
def test_a_setting_that_cannot_be_says_what_can(spec: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        make_meter(parse_spec(spec))


@pytest.mark.parametrize("path", ["/dev/zero", "."])
def test_a_log_that_is_no_file_is_not_read(path: str) -> None:
    with pytest.raises(MeterError, match="is no regular file"):
        make_meter(parse_spec(f"csv:{path}")).open()


def test_a_host_that_is_not_known_is_said_without_the_names_of_classes() -> None:
    meter = make_meter(parse_spec("snmp://nowhere.invalid/1.3#scale=1"))
    with pytest.raises(MeterError, match="check address") as caught:
        meter.open()
    assert "<class" not in str(caught.value)


@pytest.mark.parametrize("scheme", [s for s in PROPER if "127.0.0.1" in PROPER[s][0]])
def test_what_is_not_utf8_is_no_address_and_no_setting(scheme: str) -> None:
    address, proper = PROPER[scheme]
    for wrong in (f"{address}\udcff", address.replace("//", "//J\udcf6rg@")):
        with pytest.raises(UsageError, match=f"^meter {scheme}:.* is not UTF-8"):
            make_meter(parse_spec(f"{scheme}:{wrong}#{proper}")).open()
    for key in meter_class(scheme).settings_known:
        if key != "password-file":
            with pytest.raises(UsageError, match=f"^meter setting {key}= is not UTF-8"):
                parse_spec(f"{scheme}:{address}#{proper},{key}=\udcff")


SECRETS = [
    ("REDFISH_PASSWORD", "redfish://u@127.0.0.1:9"),
    ("ECOSORT_METER_PASSWORD", "redfish://u@127.0.0.1:9"),
    ("ECOSORT_METER_PASSWORD", "tasmota://u@127.0.0.1:9"),
    ("ECOSORT_METER_PASSWORD", "fritz://u@127.0.0.1:9/1"),
    ("ECOSORT_METER_PASSWORD", "mqtt://u@127.0.0.1:9/t#unit=W"),
    ("IPMITOOL_PASSWORD", "ipmi://u@127.0.0.1:9"),
    ("HOME_ASSISTANT_TOKEN", "homeassistant://127.0.0.1:9/sensor.a"),
    ("OF_MINE", "http://u@127.0.0.1:9/x#value=a,unit=W,password-env=OF_MINE"),
    ("SNMP_COMMUNITY", "snmp://127.0.0.1:9#preset=apc-rpdu2"),
    ("SNMP_AUTH_PASSWORD", "snmp://127.0.0.1:9#preset=apc-rpdu2,user=u"),
    ("SNMP_PRIVACY_PASSWORD", "snmp://127.0.0.1:9#preset=apc-rpdu2,user=u"),
]


@pytest.mark.parametrize(("variable", "spec"), SECRETS)
def test_a_secret_that_is_not_utf8_is_refused_by_the_name_of_its_variable(
    variable: str, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "pass word\udcff")
    with pytest.raises(UsageError, match=f"{variable} is not UTF-8") as caught:
        make_meter(parse_spec(spec)).open()
    assert "pass word" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("probe", "mqtt://127.0.0.1:9/\udcff#unit=W"), "meter mqtt://127.0.0.1:9/\\xff is not UTF-8"),
        (("probe", "exec:\udcff"), "\\xff is not installed"),
        (("report", "d\udcff"), "d\\xff is no result directory"),
        (("run", "--time-only", "--", "\udcff"), "\\xff cannot be started"),
        (("joulesort", "--records", "1000", "--meter", "sim:", "--data", "d\udcff"), "d\\xff (--data) is not UTF-8"),
        (("joulesort", "--records", "1000", "--meter", "sim:", "--", "--temp", "d\udcff"), "d\\xff of the sort is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_spelled(cli: Cli, words: tuple[str, ...], text: str) -> None:
    done = cli(*words)
    assert (done.returncode in (2, 3), done.stderr.count("\n"), text in done.stderr) == (True, 1, True), done.stderr
