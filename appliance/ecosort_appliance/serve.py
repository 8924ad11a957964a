"""`ecosort serve`: the scheduler in one thread, the page in another; either one's end is the end of both."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ecosort_appliance import jobs
from ecosort_appliance.database import open_database
from ecosort_appliance.energy import Meter
from ecosort_appliance.errors import QueueError
from ecosort_appliance.scheduler import Scheduler, Settings, refuse_second
from ecosort_appliance.users import find_user

if TYPE_CHECKING:
    import uvicorn

    from ecosort_appliance.web.picker import Offer

_ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True)
class Listen:
    """The page is there: `names` are hosts by which it may be asked for, beside addresses; `root` is its path behind a proxy."""

    address: str
    names: tuple[str, ...]
    token_file: Path | None
    root: str = ""
    files: tuple[str, ...] = ()
    files_user: str | None = None


class SchedulerThread:
    """Runs the scheduler until it is stopped. `failure` is what ended it before that."""

    def __init__(self, queue: Path, settings: Settings, meter: Meter | None, end_jobs: bool) -> None:
        self.failure: Exception | None = None
        self._queue = queue
        self._settings = settings
        self._meter = meter
        self._end_jobs = end_jobs
        self._stop = threading.Event()
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)

    def start(self) -> None:
        """QueueError where another one serves the queue."""
        self._thread.start()
        self._is_ready.wait()
        if self.failure:
            raise self.failure

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def wait(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            connection = open_database(self._queue)
            scheduler = Scheduler(self._queue, connection, self._settings, self._meter)
            self._is_ready.set()
            try:
                scheduler.run(self._stop)
                if self._end_jobs:
                    scheduler.end_jobs()
            finally:
                scheduler.close()
                connection.close()
        except Exception as error:  # raised again by the thread that waits
            self.failure = error
            if self._is_ready.is_set() and not self._stop.is_set():
                os.kill(os.getpid(), signal.SIGTERM)  # the page ends, too; the starter of the service starts it again
            self._is_ready.set()


def serve(queue: Path, listen: Listen | None, meter: Meter | None, settings: Settings, end_jobs: bool) -> int:
    """Until a signal comes. `listen` None: without a page."""
    refuse_second(queue)
    scheduler = SchedulerThread(queue, settings, meter, end_jobs)
    try:
        if listen is None:
            _work_without_page(scheduler)
        else:
            _work_with_page(queue, listen, meter, scheduler)
    finally:
        if meter is not None:
            meter.close()
    if scheduler.failure:
        raise scheduler.failure
    _say_what_goes_on(queue, end_jobs)
    return 0


def _say_what_goes_on(queue: Path, end_jobs: bool) -> None:
    connection = open_database(queue)
    running = jobs.select(connection, "state = 'running'")
    connection.close()
    if running and not end_jobs:
        print(f"ecosort: {len(running)} running jobs continue; the next `ecosort serve` finds them", file=sys.stderr)


def _work_without_page(scheduler: SchedulerThread) -> None:
    with _signals() as wait:
        scheduler.start()
        wait()
        scheduler.stop()


@contextlib.contextmanager
def _signals() -> Iterator[Callable[[], object]]:
    """Gives what waits for a signal. The kernel may hand one to any thread, and that does not wake a main thread which waits
    for a lock; a byte in a pipe does.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    try:
        for number in _ENDINGS:
            signal.signal(number, lambda *_: None)
        yield lambda: os.read(reading, 1)
    finally:
        signal.set_wakeup_fd(-1)
        os.close(writing)
        os.close(reading)


def _work_with_page(queue: Path, listen: Listen, meter: Meter | None, scheduler: SchedulerThread) -> None:
    import uvicorn

    from ecosort_appliance.web.app import Page, Reach, refuse_root
    from ecosort_appliance.web.security import is_loopback, read_token, refuse_name
    from ecosort_appliance.web.server import Server

    host, port = parse_address(listen.address)
    if listen.token_file is None and (os.geteuid() == 0 or not is_loopback(host)):
        why = "root's page could end the jobs of all users" if is_loopback(host) else "others can reach this address"
        raise QueueError(f"{why}: give --token-file FILE (it is made if it does not exist)")
    for name in listen.names:
        refuse_name(name)
    refuse_root(listen.root)
    token = read_token(listen.token_file) if listen.token_file else None
    page = Page(queue, Reach(names_of(host), listen.names, token, listen.root.removesuffix("/")), meter, _offer(listen))
    config = uvicorn.Config(
        page.application(),
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=100,
    )
    server = Server(config)
    page.is_ending = lambda: server.should_exit
    with bound(host, port) as listener:
        _end_by_signals(server)  # before the scheduler, whose failure is a signal
        scheduler.start()
        page.track.start()
        bound_port = listener.getsockname()[1]
        print(f"ecosort: the page is at http://{f'[{host}]' if ':' in host else host}:{bound_port}/", file=sys.stderr, flush=True)
        try:
            server.run(sockets=[listener])
        finally:
            page.track.stop()
            scheduler.stop()


def names_of(host: str) -> tuple[str, ...]:
    """The names by which a page that listens at this address may be asked for. A proxy beside it may call it localhost."""
    from ecosort_appliance.web.security import is_loopback

    return ("localhost",) if is_loopback(host) else ("localhost", socket.gethostname())


def _offer(listen: Listen) -> Offer | None:
    """Returns what the page may sort. QueueError."""
    if not listen.files:
        if listen.files_user:
            raise QueueError("--files-user goes with --files: name the directories")
        return None
    if os.geteuid() == 0 and listen.files_user in (None, "root"):
        raise QueueError("--files of root's service: say whose the jobs are with --files-user NAME; not root's")
    if os.geteuid() != 0 and listen.files_user is not None:
        raise QueueError("--files-user is for root; everyone else has files of his own")
    from ecosort_appliance.web.picker import Offer, check_roots

    check_roots(listen.files)
    return Offer(listen.files, find_user(listen.files_user) if listen.files_user else os.geteuid())


def _end_by_signals(server: uvicorn.Server) -> None:
    """Handles what the server does itself while it runs, and raises it once more afterwards."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    for number in _ENDINGS:
        signal.signal(number, on_signal)


def parse_address(address: str) -> tuple[str, int]:
    """HOST:PORT, of IPv6 [HOST]:PORT."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise QueueError(f"--listen {address[:60]!r} is no HOST:PORT; write for example 127.0.0.1:8080")
    return host, int(port)


def bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        raise QueueError(f"--listen {host}:{port}: {_why_not_bound(error)}") from None


def _why_not_bound(error: OSError | UnicodeError) -> str:
    """And what to do."""
    if isinstance(error, UnicodeError) or (error.errno or 0) < 0:  # of getaddrinfo, as create_server passes it on
        return "no address is known by this name; write an address of this machine, such as 127.0.0.1"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this is no address of this machine; write one of its own (`ip address` lists them), or 0.0.0.0 for all"
    why = os.strerror(error.errno) if error.errno else str(error)
    return f"{why}; choose a port from 1024 on" if error.errno == errno.EACCES else f"{why}; choose another port"
