"""Every reading of every meter in the tests of meters is derived again from its raw answer, as `ecosort-power check` does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ecosort_power.meters import BUILT_IN, meter_class
from ecosort_power.meters.base import Meter, with_settings
from ecosort_power.meters.csv import CsvMeter
from ecosort_power.reading import Capabilities, Reading, screen
from ecosort_power.rederive import derivation, differences
from ecosort_power.store import MeterRecord

# Kinds of meters without a rule: none. A new one needs its rule in rederive.py.
WITHOUT_RULE: frozenset[str] = frozenset()


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """While the block runs, readings are kept; at its end they are compared."""
    opened: dict[Meter, Capabilities] = {}
    kept: dict[Meter, list[Reading]] = {}

    def opening(own: Callable[[Any], Capabilities]) -> Callable[[Any], Capabilities]:
        @functools.wraps(own)
        def call(self: Meter) -> Capabilities:
            opened[self] = own(self)
            return opened[self]

        return call

    def reading(own: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(own)
        def call(self: Meter, *words: Any) -> Any:
            found = own(self, *words)
            kept.setdefault(self, []).extend(found if isinstance(found, list) else [found])
            return found

        return call

    for kind in dict.fromkeys(k for s in BUILT_IN for k in meter_class(s).__mro__ if issubclass(k, Meter) and k is not Meter):
        for name, wrap in (("open", opening), ("read", reading), ("collect", reading)):
            if name in vars(kind) and (name != "collect" or kind is CsvMeter):
                monkeypatch.setattr(kind, name, wrap(vars(kind)[name]))
    yield
    for meter, readings in kept.items():
        if meter in opened and meter.spec.scheme not in WITHOUT_RULE:
            capabilities = with_settings(opened[meter], meter.spec)
            record = MeterRecord(meter.spec.name, meter.spec.text, capabilities)
            assert derivation(record) is not None, meter.spec.scheme
            assert list(differences(record, [screen(r, capabilities) for r in readings])) == []
