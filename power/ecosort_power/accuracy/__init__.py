"""Measures how right the energies and their intervals are: simulated meters on loads of known energy, evaluated as measurements
are.
"""
