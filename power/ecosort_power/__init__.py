"""Measures the energy of a command with real meters and reports records per joule."""

from ecosort.version import __version__

__all__ = ["__version__"]
