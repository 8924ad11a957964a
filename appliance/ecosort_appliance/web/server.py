"""The server of the page, which ends soon after it was asked to, even if a client still reads from it."""

from __future__ import annotations

import asyncio
import socket

import uvicorn

GRACE_S = 5.0


class Server(uvicorn.Server):
    """By a timer of its own: uvicorn has an option for that only since 0.22, and Debian 12 has an older one."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(GRACE_S, self._give_up)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self.force_exit = True
