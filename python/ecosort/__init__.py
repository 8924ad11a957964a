"""Sorts what does not fit in memory with the program `ecosort`: files, arrays, streams and tables.

Every sort is a process of the program, which this package brings along; sorts do not know of each other, so that several can
run at once, in threads or not. The output is complete and verified, or there is none. Errors are those of ecosort.errors.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecosort.public import *  # noqa: F403
    from ecosort.public import __version__ as __version__
else:  # a checker of types that saw this function would take any name for one of the package

    def __getattr__(name: str) -> Any:
        """Loads a module of the package, or what the package offers, when the first of it is asked for: the keeper of a job, and
        others that need some modules only, begin in half of the time."""
        if not name.isidentifier() or (name.startswith("__") and name not in ("__all__", "__version__")):
            raise AttributeError(f"module 'ecosort' has no attribute {name!r}")
        from importlib.util import find_spec  # which takes longer to load than this package

        if find_spec(f"ecosort.{name}"):
            return import_module(f"ecosort.{name}")
        public = import_module("ecosort.public")
        for each in ("__all__", *public.__all__):
            globals().setdefault(each, getattr(public, each))  # what a program has put there stays
        if name not in globals():
            raise AttributeError(f"module 'ecosort' has no attribute {name!r}")
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
