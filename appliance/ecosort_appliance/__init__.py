"""The batch queue, the service that does what is queued, and its page."""

from ecosort.version import __version__

__all__ = ["__version__"]
