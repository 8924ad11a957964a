"""How `pytest -n` deals the tests out: those that share what is expensive to make run in one worker."""

from xdist.scheduler import LoadScopeScheduling


class BySharedGround(LoadScopeScheduling):
    """A C++ suite, the power harness with its measurements, and any other file are each dealt out as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, test = nodeid.partition("::")
        if path.endswith("test_cpp_units.py"):
            return test.partition("[")[2].partition(".")[0].rstrip("]")
        return "power" if "/power/" in path else path
