"""Headless Chromium over its debugging pipe (DevTools protocol, JSON ended by NUL on descriptors 3 and 4)."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any


class Browser:
    """One page in one process; a profile directory of its own."""

    def __init__(self, profile: Path) -> None:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        assert program is not None
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        # Out of the way of 3 and 4, which the child's ends become.
        inner_in, inner_out = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_read, from_write))

        def arrange() -> None:
            os.dup2(inner_in, 3)
            os.dup2(inner_out, 4)

        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
        words += [f"--user-data-dir={profile}", "--no-first-run", "about:blank"]
        self._process = subprocess.Popen(
            words,
            preexec_fn=arrange,
            close_fds=False,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (to_read, from_write, inner_in, inner_out):
            os.close(fd)
        self._out, self._in = to_write, from_read
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, timeout_s: float = 60.0, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout_s
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            assert left > 0, "the browser did not answer"
            if select.select([self._in], [], [], left)[0]:
                data = os.read(self._in, 1 << 20)
                assert data, "the browser ended"
                self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))

    def open(self, url: str, width: int, height: int, mobile: bool) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1, mobile=mobile
        )
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._receive(deadline))

    def evaluate(self, expression: str) -> Any:
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors of the console and of the page, and everything that was fetched beside the page itself."""
        found = []
        for e in self.events:
            parameters = e.get("params", {})
            if e.get("method") == "Runtime.exceptionThrown":
                found.append(str(parameters))
            elif e.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif e.get("method") == "Network.requestWillBeSent" and parameters["type"] != "Document":
                found.append(f"fetches {parameters['request']['url'][:80]}")
        return found

    def close(self) -> None:
        os.close(self._out)
        os.close(self._in)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
