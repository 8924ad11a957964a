"""Decides how `pytest -n` deals the tests out.

A worker gets one part of the tests at a time: a C++ suite, whose cases run as one process, a file of the power harness, whose
measurements are made while its other tests run, or some tests of any other file.
"""

from typing import Any

import pytest
from order_of_tests import is_quiet
from xdist.scheduler import LoadScopeScheduling

# A file is cut, so that no worker is left with a long one at the end; its fixtures are made again for each part.
TESTS_OF_A_PART = 48


class InTwoPhases(LoadScopeScheduling):
    """All workers share the tests that may run beside others; then one of them does the quiet ones alone."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the order of the parts is that of the tests
        self._parts: dict[str, str] = {}  # by node id
        self._tests_of_file: dict[str, int] = {}

    def _split_scope(self, nodeid: str) -> str:
        return self._parts.get(nodeid) or self._parts.setdefault(nodeid, self._next_part(nodeid))

    def _next_part(self, nodeid: str) -> str:
        path, _, test = nodeid.partition("::")
        if path.endswith("test_cpp_units.py"):
            return test.partition("[")[2].partition(".")[0].rstrip("]")
        if "/power/" in path:  # a measurement is made once for the tests of its file that look at it
            return path
        number = self._tests_of_file[path] = self._tests_of_file.get(path, -1) + 1
        return f"{path} {number // TESTS_OF_A_PART}"

    def _must_wait(self, node: Any) -> bool:
        """The next part is a quiet one, and another worker is still there."""
        first_test = next(iter(next(iter(self.workqueue.values()))))
        others_work = any(self._pending_of(work) for other, work in self.assigned_work.items() if other is not node)
        return is_quiet(first_test) and (others_work or node is not self.nodes[0])

    def _assign_work_unit(self, node: Any) -> None:
        if self.workqueue and not self._must_wait(node):
            super()._assign_work_unit(node)
        elif node is not self.nodes[0]:
            node.shutdown()

    def remove_node(self, node: Any) -> str | None:
        crashed = super().remove_node(node)
        for other in self.nodes:
            self._reschedule(other)
        return crashed
