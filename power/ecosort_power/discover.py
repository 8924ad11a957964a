"""Lists what meters there are: on this machine, configured, and which one `--meter auto` takes."""

from __future__ import annotations

from ecosort_power.config import config_path, configured
from ecosort_power.errors import PowerError
from ecosort_power.meters import make_meter, meter_class, schemes
from ecosort_power.meters.base import Finding, Machine, parse_spec, with_settings
from ecosort_power.reading import Scope

# From best to worst for a headline.
_PREFERENCE = (Scope.WALL, Scope.PSU, Scope.BMC, Scope.BATTERY, Scope.BOARD, Scope.PACKAGE)


def find_local(machine: Machine) -> list[Finding]:
    """Every kind of meter looks for itself."""
    found: list[Finding] = []
    seen = set()
    for scheme in schemes():
        kind = meter_class(scheme)
        if kind not in seen:
            seen.add(kind)
            found += kind.discover(machine)
    return found


def find_configured(config: str | None) -> list[Finding]:
    """Configured meters, each opened and read once."""
    mend = f"correct its line in {config_path(config)}, then: ecosort-power meters"
    return [try_meter(name, text, mend) for name, text in configured(config).items()]


def try_meter(name: str, text: str, mend: str) -> Finding:
    """Errors say what is wrong and, after a semicolon, what to do; where they do not, `mend` does."""
    scope = Scope.UNKNOWN
    try:
        spec = parse_spec(text, name)
        meter = make_meter(spec)
        scope = meter.usual_scope
        try:
            found = with_settings(meter.open(), spec)
            if not meter.deferred:
                meter.read()
        finally:
            meter.close()
    except PowerError as error:
        why, _, fix = str(error).rpartition("; ")
        return Finding(name, text, scope, "unknown", "unknown", False, why or fix, fix if why else mend)
    accuracy = found.accuracy.text() if found.accuracy else "unknown"
    return Finding(name, found.title, found.scope, f"{found.effective_period_s:g} s", accuracy, True)


def choose(machine: Machine, config: str | None) -> tuple[str | None, str]:
    """A usable meter for `--meter auto`, or None and the reason in one line."""
    found = [*find_configured(config), *find_local(machine)]
    usable = [f for f in found if f.usable and f.scope in _PREFERENCE]
    if usable:
        return min(usable, key=lambda f: _PREFERENCE.index(f.scope)).spec, ""
    reasons = "; ".join(f"{f.spec.partition(':')[0]}: {f.why}" for f in found)
    return None, f"no meter is readable here ({reasons}); `ecosort-power meters` says what would help"
