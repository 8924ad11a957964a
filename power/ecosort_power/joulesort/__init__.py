"""A whole JouleSort entry by one command: inputs, space, runs, validation, check, submission; interrupted, it continues."""
