"""Benchmark of the sort against its peers and against what the drive can do at the same moment."""
