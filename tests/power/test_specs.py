"""Specifications of meters, settings, passwords, configuration, entry points."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from ecosort_power import codec, meters
from ecosort_power.config import configured, resolve
from ecosort_power.errors import UsageError
from ecosort_power.meters.base import Meter, more_values, parse_spec, with_settings
from ecosort_power.reading import Accuracy, Capabilities, Flag, Reading, Scope, parse_accuracy
from ecosort_power.transports.credentials import find_secret, read_secret_file
from hypothesis import given
from hypothesis import strategies as st


def test_a_specification_has_a_name_a_kind_an_address_and_settings() -> None:
    spec = parse_spec("wall=scpi:/dev/ttyUSB0#profile=lmg95,accuracy=0.03%+0.02W")
    assert (spec.name, spec.scheme, spec.address) == ("wall", "scpi", "/dev/ttyUSB0")
    assert spec.settings == {"profile": "lmg95", "accuracy": "0.03%+0.02W"}
    assert parse_spec(spec.text).settings == spec.settings


@pytest.mark.parametrize(
    ("meter", "helps"), [("sim:#update=0.1", "--meter sim:#period=0.1"), ("tasmota://h", "take a meter with")]
)
def test_a_run_that_is_too_short_gets_advice_that_this_meter_can_follow(meter: str, helps: str) -> None:
    assert helps in more_values(meter)


def test_an_equals_sign_in_an_address_is_no_name() -> None:
    assert parse_spec("http://h/x?a=b:c").name == "http"


@pytest.mark.parametrize("text", ["ipmi://joule:secret@h", "redfish://a:b@h", "ipmi://h#password=x", "http://u:p@h/#value=a"])
def test_a_password_on_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="seen by every user"):
        parse_spec(text)


@pytest.mark.parametrize("text", ["wall", "/dev/ttyUSB0", "", "x y"])
def test_no_specification_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="SCHEME"):
        parse_spec(text)


def test_an_unknown_setting_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="cipher"):
        meters.make_meter(parse_spec("ipmi://u@h#cypher=3"))


@pytest.mark.parametrize("setting", ["lag=-1", "update=-0.5", "quantum=nan", "period=0", "range=inf", "window=x"])
def test_a_setting_that_no_meter_can_have_is_refused(setting: str) -> None:
    spec = parse_spec(f"rapl:#{setting}")
    with pytest.raises(UsageError, match=setting.partition("=")[0]):
        with_settings(Capabilities("x", Scope.WALL, 1.0), spec)


@pytest.mark.parametrize(
    "spec", ["sim:#simulated=yess", "exec:m#simulated=ja", "rapl:#simulated=", "ipmi://u@h#accept-deactivated=si"]
)
def test_neither_yes_nor_no_is_refused(spec: str) -> None:
    """A word that is not understood must not mean no: the result would be ranked."""
    with pytest.raises(UsageError, match="must be yes or no"):
        meters.make_meter(parse_spec(spec))


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"rapl.*scpi"):
        meters.make_meter(parse_spec("voltcraft:x"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1%", Accuracy(0.01)),
        ("0.1% + 0.05% of 600W", Accuracy(0.001, 0.3)),
        ("0.5W", Accuracy(0.0, 0.5)),
        ("0.1%+0.05% of 600 W+0.2 W", Accuracy(0.001, 0.5)),
    ],
)
def test_accuracies_are_understood(text: str, expected: Accuracy) -> None:
    found = parse_accuracy(text)
    assert (found.gain, found.offset_w) == pytest.approx((expected.gain, expected.offset_w))


@pytest.mark.parametrize("text", ["good", "1", "1%%", "-1%"])
def test_a_nonsense_accuracy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="accuracy"):
        parse_accuracy(text)


@pytest.mark.parametrize(("mode", "fine"), [(0o600, True), (0o400, True), (0o640, False), (0o604, False), (0o666, False)])
def test_a_password_file_must_be_closed_to_others(tmp_path: Path, mode: int, fine: bool) -> None:
    path = tmp_path / "password"
    path.write_text("geheim\n")
    path.chmod(mode)
    if fine:
        assert read_secret_file(path) == "geheim"
    else:
        with pytest.raises(UsageError, match="chmod 600") as caught:
            read_secret_file(path)
        assert "geheim" not in str(caught.value)


def test_a_password_is_not_waited_for_at_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "password", 0o600)
    with pytest.raises(UsageError, match="no regular file"):
        read_secret_file(tmp_path / "password")


def test_a_password_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_bytes(b"g\xfcheim\n")
    path.chmod(0o600)
    for name, text in ((str(path), "no text in UTF-8"), ("~nobody.of.this.name/x", "no such home directory")):
        with pytest.raises(UsageError, match=text):
            find_secret({"password-file": name}, ())


def test_a_user_without_a_home_has_no_configured_meters(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, say, that runs as a user whom no file names."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "~nobody.of.this.name/.config")
    assert configured(None) == {}


def test_passwords_come_from_named_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "a")
    monkeypatch.setenv("IPMITOOL_PASSWORD", "b")
    assert find_secret({"password-env": "MINE"}, ("IPMITOOL_PASSWORD",)) == "a"
    assert find_secret({}, ("IPMITOOL_PASSWORD",)) == "b"
    with pytest.raises(UsageError, match="NOT_SET"):
        find_secret({"password-env": "NOT_SET"}, ())


def test_configured_meters_have_names(tmp_path: Path) -> None:
    path = tmp_path / "meters.toml"
    path.write_text('[meters]\nwall = "shelly://192.0.2.1"\n')
    assert configured(str(path)) == {"wall": "shelly://192.0.2.1"}
    first, second, third = resolve(["wall", "rapl:", "rapl:"], str(path))
    assert (first.name, first.scheme, second.name, third.name) == ("wall", "shelly", "rapl", "rapl2")
    with pytest.raises(UsageError, match="wall"):
        resolve(["bench"], str(path))
    with pytest.raises(UsageError, match="does not exist"):
        configured(str(tmp_path / "absent.toml"))


@pytest.mark.parametrize("name", ["a/b", "../x", "a+b", "", "-a", "a b", "x" * 61, ".hidden"])
def test_a_configured_name_that_is_no_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "meters.toml"
    path.write_text(f'[meters]\n"{name}" = "sim:"\n')
    with pytest.raises(UsageError, match="is no name of a meter"):
        configured(str(path))


class OtherMeter(Meter):
    """Another package would bring this."""

    def open(self):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def read(self):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def close(self) -> None:
        """Nothing."""


def test_other_packages_bring_meters_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("other", f"{__name__}:OtherMeter", meters.GROUP)
    monkeypatch.setattr(meters, "entry_points", lambda group: [entry] if group == meters.GROUP else [])
    assert meters.meter_class("other").__name__ == "OtherMeter"
    assert "other" in meters.schemes()


@given(
    st.builds(
        Reading,
        before_s=st.floats(0, 1e6),
        after_s=st.floats(0, 1e6),
        watts=st.none() | st.floats(-10, 1e4),
        joules=st.none() | st.floats(0, 1e9),
        flags=st.lists(st.sampled_from(Flag), max_size=3).map(tuple),
        stamp=st.none() | st.text(max_size=5),
    )
)
def test_readings_survive_being_stored(reading: Reading) -> None:
    assert codec.decode(Reading, codec.encode(reading)) == reading


@pytest.mark.parametrize("broken", [{}, {"before_s": "x", "after_s": 1}, {"before_s": 1, "after_s": 1, "flags": ["odd"]}, []])
def test_a_document_of_another_shape_is_refused(broken: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - every message is another
        codec.decode(Reading, broken)
