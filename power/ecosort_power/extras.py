"""Libraries that only some commands need. Where one is missing, the message names the library, not a package of ours."""

from __future__ import annotations

from ecosort_power.errors import UsageError

# Top-level module -> what to install.
_PACKAGES = {
    "cryptography": "cryptography",
    "matplotlib": "matplotlib",
    "optuna": "optuna",
    "p1": "pyserial",
    "paho": "paho-mqtt",
    "prometheus_client": "prometheus-client",
    "pymodbus": "pymodbus pyserial",
    "pysnmp": "pysnmp cryptography",
    "sml": "smllib pyserial",
    "pyvisa": "pyvisa pyvisa-py pyserial pyusb",
    "zeroconf": "zeroconf",
}


def install(module: str) -> str:
    """The command that brings a module: of its library, or in the source tree of all that this project can use."""
    return f"pip install {_PACKAGES.get(module, module)} (in the source tree: make tools)"


def missing(error: ModuleNotFoundError) -> UsageError:
    """One line for a library that is not there. A module of our own that is missing is a broken installation and raises again."""
    name = (error.name or "").partition(".")[0]
    if name.startswith("ecosort") or not name:
        raise error
    return UsageError(f"this needs {name}, which is not installed; run: {install(name)}")
