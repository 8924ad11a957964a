"""`python -m ecosort_appliance`."""

from ecosort_appliance.cli import main

main()
