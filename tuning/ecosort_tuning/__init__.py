"""Probes the machine, compares measurements, holds system settings, and searches the best ones for the sorter."""

__version__ = "0.1.0"
