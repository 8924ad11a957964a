"""Plugs of Tuya and of the many brands that are it, in the local network by tinytuya: `tuya://DEVICE@HOST[:PORT]`.

The local key of the device (16 characters; `python -m tinytuya wizard` finds it) is its password: ECOSORT_METER_PASSWORD,
`#password-file=` or `#password-env=`. `#version=3.3` is the protocol of most; newer ones speak 3.4 or 3.5.

A plug answers a question from its memory, and measures by itself once in minutes. So each reading asks it to measure, too
(UPDATEDPS), and takes what was measured for the one before. What it sends unasked holds only what changed, and is no answer.
Power is data point 19 or 5, in 0.1 W; volts and amperes beside it (20 and 18, 6 and 4) show where a plug counts in another unit:
no power is more than volts times amperes. `#dp=` and `#scale=` say another one. The energy of Tuya (17) counts what was reported
since, and is no counter.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ecosort_power.errors import MeterError, MeterGlitchError, UsageError
from ecosort_power.extras import install
from ecosort_power.meters.base import Meter, MeterSpec
from ecosort_power.nesting import parse_json
from ecosort_power.reading import Capabilities, PowerKind, Reading, Scope
from ecosort_power.transports.address import NOT_THERE, split_address
from ecosort_power.transports.credentials import require_secret

_PORT = 6668
_PERIOD_S = 2.0
_VERSIONS = ("3.1", "3.3", "3.4", "3.5")
_KEY_LENGTH = 16
_UNASKED = 8  # the command of what a plug sends by itself
_MOST_UNASKED = 16  # messages in front of an answer
_NOT_REACHED = ("901", "902", "905")
_WRONG_KEY = ("904", "914")
# Data points of power, current in mA, and voltage in 0.1 V; watts per count of the power.
_KNOWN = {"19": ("18", "20"), "5": ("4", "6")}
_SCALE = 0.1
_SLACK = 1.1  # volts and amperes are rounded, and a moment older or newer than the power
_SLACK_W = 5.0
_LEAST_FACTOR, _FROM_VA = 0.2, 20.0  # no power supply of a computer takes a smaller part of so many volts times amperes


class TuyaMeter(Meter):
    """One plug."""

    usual_scope: ClassVar[Scope] = Scope.WALL
    settings_known: ClassVar[Mapping[str, str]] = {
        "version": f"of the protocol: {', '.join(_VERSIONS)} (3.3)",
        "dp": "data point of the power (19 or 5)",
        "scale": "watts per count of it (0.1)",
        "password-file": "file with the local key, mode 600",
        "password-env": "environment variable with it (ECOSORT_METER_PASSWORD)",
    }

    def __init__(self, spec: MeterSpec) -> None:
        super().__init__(spec)
        self._address = split_address(spec.scheme, spec.address, "tuya://DEVICE@HOST[:PORT]")
        if self._address.user is None:
            raise UsageError("tuya: needs the ID of the device: tuya://DEVICE@HOST; `python -m tinytuya scan` shows it")
        self._version = spec.settings.get("version", "3.3")
        if self._version not in _VERSIONS:
            raise UsageError(f"tuya: version must be one of: {', '.join(_VERSIONS)}")
        _chosen(spec)
        self._device: Any = None

    def open(self) -> Capabilities:
        key = require_secret(self.spec.settings, ("ECOSORT_METER_PASSWORD",), self._address.host)
        if len(key.encode()) != _KEY_LENGTH or not key.isascii():
            raise MeterError(f"{self._where}: a local key has {_KEY_LENGTH} characters; `python -m tinytuya wizard` finds it")
        self._device = _library().Device(
            self._address.user,
            address=self._address.host,
            local_key=key,
            version=float(self._version),
            port=self._address.port or _PORT,
            persist=True,
            connection_timeout=self.spec.number("timeout", 5.0),
            connection_retry_limit=1,
            connection_retry_delay=0,
        )
        with self.connecting():
            self.read()
        return Capabilities(
            title=f"Tuya {self._where}",
            scope=Scope.WALL,
            period_s=_PERIOD_S,
            power=PowerKind.INSTANT,
            quantum_w=_chosen(self.spec)[1],
            identity={"protocol": self._version},
            notes=("each reading asks the plug to measure for the next one",),
        )

    @property
    def _where(self) -> str:
        return self._address.at()

    def read(self) -> Reading:
        points = [int(p) for p in (_chosen(self.spec)[0], *(p for three in _KNOWN.items() for p in (three[0], *three[1]))) if p]
        before = time.monotonic()
        self._device.updatedps(sorted(set(points)), nowait=True)
        answer = self._answer()
        after = time.monotonic()
        found = _values(answer, self.spec, self._where)
        return Reading(before, after, found.watts, raw=json.dumps(answer, separators=(",", ":")))

    def _answer(self) -> dict[str, Any]:
        """The data points of an answer, behind what the plug sends unasked."""
        answer = self._device.status()
        for _ in range(_MOST_UNASKED):
            if not isinstance(answer, dict) or "Err" in answer or self._is_answer():
                break
            answer = self._device.receive()
        if isinstance(answer, dict) and isinstance(answer.get("dps"), dict):
            return {"dps": answer["dps"]}
        self._device.close()  # what comes late would be taken for the next answer
        raise MeterGlitchError(f"{self._where}: {self._problem(answer)}")

    def _is_answer(self) -> bool:
        """tinytuya takes a message whose check does not hold, and one that was not asked for, for the answer."""
        last = self._device.raw_recv[-1] if self._device.raw_recv else None
        if last is not None and not last.crc_good:
            self._device.close()
            raise MeterGlitchError(f"{self._where}: the check of a message does not hold; {self._wrong_key}")
        return last is not None and last.cmd != _UNASKED

    @property
    def _wrong_key(self) -> str:
        return f"is its local key right (a plug that is paired anew has another), and its version {self._version}?"

    def _problem(self, answer: object) -> str:
        code = str(answer.get("Err", "")) if isinstance(answer, dict) else ""
        if code in _NOT_REACHED:
            return f"no answer; {NOT_THERE}, and whether another program talks to it"
        if code in _WRONG_KEY:
            return f"its answer cannot be read; {self._wrong_key}"
        return f"it gives no data points; {self._wrong_key}"

    @classmethod
    def derive(cls, raw: str, spec: MeterSpec) -> Reading:
        """The values of a raw answer."""
        try:
            return _values(parse_json(raw), spec, spec.address)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"no answer of a plug: {raw[:60]}") from error

    def close(self) -> None:
        if self._device is not None:
            self._device.close()


def _library() -> Any:
    try:
        import tinytuya
        from colorama import deinit
    except ModuleNotFoundError:
        raise MeterError(f"tuya needs tinytuya; run: {install('tinytuya')}") from None
    deinit()  # it puts a filter before standard output when it is imported
    return tinytuya


def _chosen(spec: MeterSpec) -> tuple[str | None, float]:
    """The data point that was asked for, and watts per count."""
    chosen = str(spec.whole("dp", 0, 1, 255)) if "dp" in spec.settings else None
    scale = spec.positive("scale")
    if chosen is not None and chosen not in _KNOWN and scale is None:
        raise UsageError(f"tuya: how many watts is one count of data point {chosen}? say it: #dp={chosen},scale=0.1")
    return chosen, scale if scale is not None else _SCALE


def _count(points: Mapping[str, Any], point: str) -> float | None:
    value = points.get(point)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _values(answer: Mapping[str, Any], spec: MeterSpec, where: str) -> Reading:
    """MeterError for what is another unit, or for a plug that does not say which is its power."""
    points = answer["dps"]
    chosen, scale = _chosen(spec)
    there = [p for p in _KNOWN if _count(points, p) is not None and any(_count(points, q) is not None for q in _KNOWN[p])]
    if chosen is None and len(there) != 1:
        shown = ", ".join(f"{p}: {v}" for p, v in sorted(points.items()))[:200]
        raise MeterError(f"{where}: which data point is its power? It has {shown or 'none'}; say it: #dp=19")
    point = chosen or there[0]
    count = _count(points, point)
    if count is None:
        raise MeterGlitchError(f"{where}: data point {point} has no value")
    watts = count * scale
    limit = _volt_amperes(points, point)
    is_too_small = limit is not None and limit > _FROM_VA and watts < limit * _LEAST_FACTOR and "scale" not in spec.settings
    if limit is not None and (is_too_small or watts > limit * _SLACK + _SLACK_W):
        raise MeterError(
            f"{where}: {watts:g} W is no power of a device that takes {limit:.4g} VA (volts times amperes); how many watts is "
            f"one count of data point {point}? say it: #scale={scale * 10 if is_too_small else scale / 10:g}"
        )
    return Reading(0.0, 0.0, watts=watts)


def _volt_amperes(points: Mapping[str, Any], point: str) -> float | None:
    current, voltage = (_count(points, p) for p in _KNOWN.get(point, ("", "")))
    return None if current is None or voltage is None else current * 1e-3 * voltage * 0.1
