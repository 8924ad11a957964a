"""The routes of the page."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs

from ecosort.text import shown
from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecosort_appliance import desk, jobs
from ecosort_appliance.database import open_database
from ecosort_appliance.drives import Temperatures
from ecosort_appliance.errors import NoSuchJob, QueueError
from ecosort_appliance.metrics import CONTENT_TYPE, metrics_text
from ecosort_appliance.web import languages
from ecosort_appliance.web.picker import Offer, Picker
from ecosort_appliance.web.security import COOKIE, Guard, same, session_of
from ecosort_appliance.web.track import Track
from ecosort_appliance.web.views import Views, WattSource

_HERE = Path(__file__).parent
_MOST_FORM_BYTES = 32768
_EVENT_PERIOD_S = 1.0
_MOST_QUIET_S = 20.0  # a proxy gives up a connection that says nothing, nginx after 60 s
_MOST_LISTENERS = 32
_TOO_OLD = "This page is too old; load it again.\n"
_CHANGES = {"cancel": desk.cancel, "retry": desk.retry, "pause": desk.pause, "resume": desk.resume}


@dataclass(frozen=True)
class Reach:
    """The page is reached so. `hosts` and `own_names` are those of the Guard. `token` None: everyone who reaches the page may do
    everything. `root` is the path below which a proxy has the page, without its last slash."""

    hosts: tuple[str, ...]
    own_names: tuple[str, ...]
    token: str | None
    root: str = ""


class Page:
    """The page of one queue."""

    def __init__(self, queue: Path, reach: Reach, meter: WattSource | None, offer: Offer | None = None) -> None:
        self._queue = queue
        self._reach = reach
        self._token = reach.token
        self._meter = meter
        self._temperatures = Temperatures()
        self.track = Track(queue, lambda: meter.watts if meter else None)
        self._views = Views(queue, meter, self._temperatures, self.track)
        self._picker = None if offer is None else Picker(queue, offer)
        self._templates = Environment(loader=FileSystemLoader(_HERE / "templates"), autoescape=True)
        self._form_token = secrets.token_urlsafe(32)
        self._listeners = 0
        self.is_ending: Callable[[], bool] = lambda: False  # the server's word; streams end with it

    def application(self) -> Starlette:
        routes = [
            Route("/", self.index),
            Route("/events", self.events),
            Route("/report", self.report),
            Route("/history", self.history),
            *self._routes_of_adding(),
            Route("/metrics", self.metrics),
            Route("/job/{number}", self.job),
            Route("/job/{number}/{change}", self.change, methods=["POST"]),
            Route("/queue/{change}", self.change_queue, methods=["POST"]),
            Route("/login", self.login, methods=["GET", "POST"]),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
        ]
        below = Middleware(BelowRoot, root=self._reach.root)
        guard = Middleware(Guard, hosts=self._reach.hosts, own_names=self._reach.own_names, token=self._token)
        return Starlette(routes=routes, middleware=[below, guard], exception_handlers={QueueError: self._say_error})

    async def _say_error(self, request: Request, error: Exception) -> Response:
        why = shown(str(error))
        status = HTTPStatus.NOT_FOUND if isinstance(error, NoSuchJob) else HTTPStatus.CONFLICT
        if "text/html" not in request.headers.get("accept", ""):
            return PlainTextResponse(why + "\n", status, {"Vary": "Accept"})
        return HTMLResponse(self._html(request, "error.html", {"why": why}), status, {"Vary": "Accept, Accept-Language"})

    def _routes_of_adding(self) -> list[Route]:
        if self._picker is None:
            return []
        return [Route("/add", self.add), *(Route(f"/add/{step}", self.add_step, methods=["POST"]) for step in ("plan", "queue"))]

    def _render(self, request: Request, name: str, **values: object) -> Response:
        return HTMLResponse(self._html(request, name, values), headers={"Vary": "Accept-Language"})

    def _html(self, request: Request, name: str, values: Mapping[str, object]) -> str:
        language = languages.chosen(request.headers.get("accept-language", ""))
        common = {"form_token": self._form_token, "root": self._reach.root, "can_add": self._picker is not None}
        template = self._templates.get_template(name)
        return template.render(values, **common, language=language, _=languages.translator(language))

    async def index(self, request: Request) -> Response:
        return self._render(request, "index.html", **await run_in_threadpool(self._views.overview))

    async def history(self, request: Request) -> Response:
        words, state = (request.query_params.get(name, "")[:200] for name in ("words", "state"))
        return self._render(request, "history.html", **await run_in_threadpool(self._views.history, words, state))

    async def add(self, request: Request) -> Response:
        """The picker of files, and the form of one."""
        assert self._picker is not None
        found = await run_in_threadpool(self._picker.look, _path(request))
        return self._render(request, "add.html", **found)

    async def add_step(self, request: Request) -> Response:
        """Shows the plan of a job, or queues it."""
        assert self._picker is not None
        form = await _form(request)
        if not same(form.get("form_token", ""), self._form_token):
            return PlainTextResponse(_TOO_OLD, HTTPStatus.FORBIDDEN)
        if request.url.path.endswith("/plan"):
            return self._render(request, "plan.html", **await run_in_threadpool(self._picker.plan, form))

        def queue() -> int:
            assert self._picker is not None
            with closing(open_database(self._queue)) as connection:
                return self._picker.add(connection, form)

        return RedirectResponse(f"/job/{await run_in_threadpool(queue)}", HTTPStatus.SEE_OTHER)

    async def report(self, request: Request) -> Response:
        found = await run_in_threadpool(self._views.report, request.query_params.get("month"))
        return self._render(request, "report.html", **found)

    async def job(self, request: Request) -> Response:
        return self._render(request, "job.html", **await run_in_threadpool(self._views.job, _number(request)))

    async def events(self, request: Request) -> Response:
        """The changing part of the index, whenever it has changed, as server-sent events."""
        if self._listeners >= _MOST_LISTENERS:
            return PlainTextResponse("Too many pages are open.\n", HTTPStatus.SERVICE_UNAVAILABLE)
        unbuffered = {"X-Accel-Buffering": "no"}  # or nginx holds events back until they fill a buffer
        return StreamingResponse(self._changes(request), media_type="text/event-stream", headers=unbuffered)

    async def _changes(self, request: Request) -> AsyncIterator[str]:
        self._listeners += 1
        try:
            last, quiet_s = "", 0.0
            while not self.is_ending() and not await request.is_disconnected():
                values = await run_in_threadpool(self._views.overview)
                html = self._html(request, "live.html", values)
                if html != last:
                    yield "".join(f"data: {line}\n" for line in html.splitlines()) + "\n"
                elif quiet_s >= _MOST_QUIET_S:
                    yield ":\n\n"
                quiet_s = quiet_s + _EVENT_PERIOD_S if html == last and quiet_s < _MOST_QUIET_S else 0.0
                last = html
                await asyncio.sleep(_EVENT_PERIOD_S)
        finally:
            self._listeners -= 1

    async def metrics(self, request: Request) -> Response:
        text = await run_in_threadpool(metrics_text, self._queue, self._meter, self._temperatures)
        return Response(text, media_type=CONTENT_TYPE)

    async def change(self, request: Request) -> Response:
        work = _CHANGES.get(request.path_params["change"])
        if work is None:
            return PlainTextResponse("There is no such change.\n", HTTPStatus.NOT_FOUND)
        return await self._changed(request, lambda connection: work(connection, _number(request)))

    async def change_queue(self, request: Request) -> Response:
        values = {"pause": "yes", "resume": "no"}
        value = values.get(request.path_params["change"])
        if value is None:
            return PlainTextResponse("There is no such change.\n", HTTPStatus.NOT_FOUND)
        return await self._changed(request, lambda connection: jobs.set_setting(connection, "stopped", value))

    async def _changed(self, request: Request, work: Callable[..., object]) -> Response:
        """A browser must give the form's token; a program, its bearer token, which the guard has looked at."""
        is_program = self._token is not None and request.headers.get("authorization") == f"Bearer {self._token}"
        if not is_program and not same((await _form(request)).get("form_token", ""), self._form_token):
            return PlainTextResponse(_TOO_OLD, HTTPStatus.FORBIDDEN)

        def in_thread() -> None:
            with closing(open_database(self._queue)) as connection:
                work(connection)

        await run_in_threadpool(in_thread)
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)

    async def login(self, request: Request) -> Response:
        if self._token is None:
            return RedirectResponse("/", HTTPStatus.SEE_OTHER)
        if request.method == "GET":
            return self._render(request, "login.html", wrong=False)
        if not same((await _form(request)).get("token", ""), self._token):
            await asyncio.sleep(1.0)
            return self._render(request, "login.html", wrong=True)
        answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            session_of(self._token),
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https:"),  # the browser's own word: a proxy has the TLS
            path=self._reach.root or "/",
            max_age=30 * 86400,
        )
        return answer


class BelowRoot:
    """Takes the path below which a proxy has the page off a request, where the proxy left it on, and puts it before redirects."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self._root}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self._root) or "/"}

        async def with_root(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("location", "").startswith("/"):
                    headers["location"] = self._root + headers["location"]
            await send(message)

        await self._app(scope, receive, with_root)


def refuse_root(root: str) -> None:
    """QueueError for a --root-path that no proxy can have, or that the page has itself."""
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", root) or {".", ".."} & set(root.split("/")):
        raise QueueError(f"--root-path {root[:60]!r} is no path; write for example /ecosort")
    if {*root.split("/")[1:2]} & {"events", "metrics", "report", "history", "add", "job", "queue", "login", "static"}:
        raise QueueError(f"--root-path {root[:60]!r} begins like a path of the page itself; take another one, such as /ecosort")


def _number(request: Request) -> int:
    return jobs.number_of(request.path_params["number"])


def _path(request: Request) -> str:
    """The path of a query, whatever its bytes are."""
    return parse_qs(request.url.query, errors="surrogateescape").get("path", [""])[0]


async def _form(request: Request) -> dict[str, str]:
    """Reads a small form; empty for anything else."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_FORM_BYTES:
            return {}
    return {name: values[0] for name, values in parse_qs(body.decode(errors="replace")).items()}
