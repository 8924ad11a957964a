"""The benchmark and the tuning share this: cold runs of programs, what they are compared with, and results. Above the harness
ecosort_power, whose processes, plans and facts of the machine it uses; below ecosort_bench and ecosort_tuning.
"""
