"""The documents: their commands are run, and what they show is what the programs print."""
