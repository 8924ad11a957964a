"""Measures the energy of a command with real meters and reports records per joule."""

__version__ = "0.1.0"
