"""Carries bytes to a meter and back: child processes, HTTP, sysfs, VISA. No transport knows what a watt is."""
