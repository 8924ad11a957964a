"""The search for the settings of the sorter that take the least time or energy on this machine."""
