"""Probes the machine, compares measurements, holds system settings, and searches the best ones for the sorter."""

from ecosort.version import __version__

__all__ = ["__version__"]
