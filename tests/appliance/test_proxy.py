"""The page behind a proxy: which names and origins are its own, paths below a prefix, events that are not held back."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest
from ecosort_appliance.database import open_database
from ecosort_appliance.errors import QueueError
from ecosort_appliance.serve import names_of
from ecosort_appliance.web import app
from ecosort_appliance.web.app import Page, Reach, refuse_root
from ecosort_appliance.web.security import refuse_name

from .support import Queue, wait_for
from .test_page import free_port, start

TOKEN = "a-token-of-a-test"
BACKEND = "127.0.0.1:8080"


def page_of(tmp_path: Path, own_names: tuple[str, ...] = ("Sorter.lan",), root: str = "") -> Page:
    open_database(tmp_path).close()
    return Page(tmp_path, Reach(("localhost",), own_names, TOKEN, root), None)


class Client:
    """Asks a page without a server."""

    def __init__(self, page: Page) -> None:
        self._transport = httpx.ASGITransport(app=page.application())

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        return self._ask("GET", path, headers or {}, None)

    def post(self, path: str, headers: Mapping[str, str], data: Mapping[str, str]) -> httpx.Response:
        return self._ask("POST", path, headers, data)

    def _ask(self, method: str, path: str, headers: Mapping[str, str], data: Mapping[str, str] | None) -> httpx.Response:
        async def answer() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url=f"http://{BACKEND}") as client:
                return await client.request(method, path, headers=headers, data=data)

        return asyncio.run(answer())


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(page_of(tmp_path))


def log_in(client: Client, headers: dict[str, str], path: str = "/login") -> httpx.Response:
    return client.post(path, data={"token": TOKEN}, headers=headers)


@pytest.mark.parametrize("host", [BACKEND, "sorter.lan", "sorter.lan:443", "SORTER.lan:8443", "192.0.2.7"])
@pytest.mark.parametrize("origin", ["https://sorter.lan", "http://sorter.lan:8443", "HTTPS://Sorter.LAN"])
def test_a_name_given_with_host_is_ours_with_any_port_and_scheme(client: Client, host: str, origin: str) -> None:
    """The proxy may make anything of Host: nginx sends the service's own address by default."""
    assert log_in(client, {"Host": host, "Origin": origin, "Sec-Fetch-Site": "same-origin"}).status_code == 303


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "null", "https://", "https://[", "sorter.lan", "https://sorter.lan.evil.example"),
        *("https://evil.example:8080", "https://evil.example@", "https://sorter.lan@evil.example"),
        *("http://localhost:3000", "http://127.0.0.1:3000", "http://127.0.0.1:80"),
    ],
)
@pytest.mark.parametrize("site", ["same-origin", "cross-site"])
def test_a_foreign_origin_is_refused(client: Client, origin: str, site: str) -> None:
    """Also another service of this machine, and whatever the browser is made to say besides."""
    for host in (BACKEND, "sorter.lan", "localhost"):
        answer = log_in(client, {"Host": host, "Origin": origin, "Sec-Fetch-Site": site})
        assert (answer.status_code, "--host NAME" in answer.text) == (403, True), host


@pytest.mark.parametrize(
    ("host", "origin", "code"),
    [
        ("localhost", "https://localhost", 303),
        ("localhost:443", "https://localhost", 303),
        ("localhost:80", "http://localhost", 303),
        ("localhost:443", "http://localhost", 403),
        (BACKEND, f"http://{BACKEND}", 303),
        ("evil.example", "https://sorter.lan", 421),
    ],
)
def test_other_names_are_those_that_were_asked_for(client: Client, host: str, origin: str, code: int) -> None:
    assert log_in(client, {"Host": host, "Origin": origin}).status_code == code


def test_a_proxy_of_the_same_machine_may_call_it_localhost() -> None:
    """`proxy_pass http://localhost:8080` before a page that listens at all addresses."""
    for address in ("127.0.0.1", "0.0.0.0", "192.0.2.7"):
        assert names_of(address)[0] == "localhost"


def test_the_cookie_of_a_page_with_tls_goes_by_tls_only(client: Client) -> None:
    cookies = [log_in(client, {"Origin": f"{scheme}://sorter.lan"}).headers["set-cookie"] for scheme in ("https", "http")]
    assert ["Secure" in cookie for cookie in cookies] == [True, False]


@pytest.mark.parametrize("sent", ["/ecosort", ""], ids=["kept", "taken off"])
def test_everything_lies_below_the_root_path(tmp_path: Path, sent: str) -> None:
    """The proxy leaves the prefix in the path or takes it off: links, forms, redirects, the cookie, the events lie below it."""
    client = Client(page_of(tmp_path, root="/ecosort"))
    own = {"Origin": "https://sorter.lan"}
    assert client.get(f"{sent}/", headers={"Accept": "text/html"}).headers["location"] == "/ecosort/login"
    entered = log_in(client, own, f"{sent}/login")
    assert (entered.status_code, entered.headers["location"]) == (303, "/ecosort/")
    assert "Path=/ecosort;" in entered.headers["set-cookie"]
    session = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
    html = client.get(f"{sent}/", headers=session).text
    places = re.findall(r'(?:href|src|action|data-events)="([^"]*)"', html)
    assert "/ecosort/events" in places
    assert [place for place in places if not place.startswith("/ecosort/")] == []
    assert client.get(f"{sent}/static/page.js").status_code == 200
    token = re.search(r'name="form_token" value="([^"]+)"', html)
    assert token
    changed = client.post(f"{sent}/queue/pause", headers=own | session, data={"form_token": token[1]})
    assert (changed.status_code, changed.headers["location"]) == (303, "/ecosort/")
    assert client.get("/ecosortx/login").status_code == 401  # another path, not ours without its beginning


def test_events_are_not_held_back_by_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a page on which nothing happens says something before the proxy gives it up."""
    monkeypatch.setattr(app, "_EVENT_PERIOD_S", 0.01)
    monkeypatch.setattr(app, "_MOST_QUIET_S", 0.03)
    page = page_of(tmp_path)
    left = iter(range(12))
    page.is_ending = lambda: next(left, None) is None
    answer = Client(page).get("/events", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.headers["x-accel-buffering"] == "no"
    first, *others = answer.text.removesuffix("\n\n").split("\n\n")
    assert first.startswith("data: ")
    assert 2 <= others.count(":") < 8


@pytest.mark.parametrize("name", ["https://sorter.lan", "sorter.lan:443", "sorter.lan/", "[", "", "a b@c"])
def test_a_host_that_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(QueueError, match="write the name alone"):
        refuse_name(name)


@pytest.mark.parametrize("root", ["ecosort", "//evil.example", "/a/../b", "/a?b", "/job", "/static/x", '/"', "/a b"])
def test_a_root_path_that_cannot_be_is_refused(root: str) -> None:
    with pytest.raises(QueueError, match=r"--root-path.*/ecosort"):
        refuse_root(root)


def test_names_and_root_paths_that_can_be() -> None:
    for name in ("sorter.lan", "Sorter", "192.0.2.7", "[2001:db8::1]"):
        refuse_name(name)
    for root in ("", "/", "/ecosort", "/ecosort/", "/a/b-c_d.e"):
        refuse_root(root)


# --- nginx and Caddy themselves, with the recipes of the home server's page


def recipe(kind: str, number: int, ports: Mapping[str, int], place: Path) -> str:
    """Returns a recipe of docs/home-server.md, with other ports, and a certificate that is there."""
    page = (Path(__file__).parents[2] / "docs" / "home-server.md").read_text()
    text: str = re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)[number]
    text = re.sub("|".join(ports), lambda found: str(ports[found[0]]), text)
    return text.replace("/etc/ssl", str(place))


@contextmanager
def nginx(place: Path, service: int, port: int, root: str) -> Iterator[Path]:
    """Returns its certificate."""
    subject = ["-subj", "/CN=sorter.lan", "-addext", "subjectAltName=DNS:sorter.lan", "-days", "2"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "sorter.lan.key"]
    make = ["openssl", "req", "-x509", *subject, *key, "-out", "sorter.lan.pem"]
    subprocess.run(make, cwd=place, check=True, capture_output=True)
    ports = {"8080": service, "443": port}
    server = recipe("nginx", 0, ports, place)
    if root:
        server = server[: server.index("    location")] + recipe("nginx", 1, ports, place) + "}\n"
    here = "".join(f"{kind}_temp_path {place}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (place / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {place}/pid; error_log stderr;\n"
        f"events {{ }}\nhttp {{ access_log off; {here}\n{server}\n}}\n"
    )
    with running(["nginx", "-e", "stderr", "-p", str(place), "-c", str(place / "nginx.conf")], place):
        yield place / "sorter.lan.pem"


@contextmanager
def caddy(place: Path, service: int, port: int, root: str) -> Iterator[Path]:
    """Returns the certificate of its own authority, which it makes when it starts."""
    server = recipe("caddyfile", 0, {"8080": service}, place)
    if root:
        server = server.replace("reverse_proxy", f"reverse_proxy {root}/*")
    (place / "Caddyfile").write_text(
        f"{{\nadmin off\nskip_install_trust\nauto_https disable_redirects\nhttps_port {port}\n}}\n{server}"
    )
    authority = place / "caddy/pki/authorities/local/root.crt"
    with running(["caddy", "run", "--config", str(place / "Caddyfile"), "--adapter", "caddyfile"], place):
        wait_for(authority.exists)
        yield authority


@contextmanager
def running(words: list[str], place: Path) -> Iterator[None]:
    env = os.environ | {"XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
    process = subprocess.Popen(words, env=env)
    try:
        yield
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize("root", ["", "/ecosort"])
@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_the_recipes_for_proxies(
    queue: Queue, tmp_path: Path, require: Callable[[str], None], proxy: Callable[..., AbstractContextManager[Path]], root: str
) -> None:
    """From login to an event and a button, as a browser does it: what proxies make of the requests by default is understood."""
    require(proxy.__name__)
    service = start(queue, "--host", "sorter.lan", *(("--root-path", root) if root else ()))
    port = free_port()
    url = f"https://sorter.lan:{port}{root}"
    with proxy(tmp_path, int(service.url.rpartition(":")[2]), port, root) as certificate, browser_at(port, certificate) as client:
        wait_for(lambda: answers(client, f"{url}/login"))
        own = {"Origin": f"https://sorter.lan:{port}", "Sec-Fetch-Site": "same-origin"}
        form = {"token": service.token}
        foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        assert client.post(f"{url}/login", headers=foreign, data=form).status_code == 403
        entered = client.post(f"{url}/login", headers=own, data=form)
        assert (entered.status_code, entered.headers["location"]) == (303, f"{root}/")
        token = re.search(r'name="form_token" value="([^"]+)"', client.get(f"{url}/").text)
        assert token
        with client.stream("GET", f"{url}/events") as events:
            lines = events.iter_lines()
            assert next(lines).startswith("data: ")
            paused = client.post(f"{url}/queue/pause", headers=own, data={"form_token": token[1]})
            assert paused.status_code == 303
            begin_s = time.monotonic()
            assert next(line for line in lines if "The queue is paused" in line)
            assert time.monotonic() - begin_s < 30
    service.process.terminate()
    assert service.process.wait(60) == 0


@contextmanager
def browser_at(port: int, certificate: Path) -> Iterator[httpx.Client]:
    """Believes that certificate, and knows sorter.lan as this machine. The cookie goes by TLS only."""
    context = ssl.create_default_context(cafile=str(certificate))

    class Here(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            here = request.url.copy_with(host="127.0.0.1")
            named = request.extensions | {"sni_hostname": "sorter.lan"}
            return super().handle_request(
                httpx.Request(request.method, here, headers=request.headers, stream=request.stream, extensions=named)
            )

    def until_it_listens(request: httpx.Request) -> None:
        wait_for(lambda: listens(port))

    hooks: dict[str, list[Callable[..., object]]] = {"request": [until_it_listens]}
    with httpx.Client(transport=Here(verify=context), event_hooks=hooks) as client:
        yield client


def answers(client: httpx.Client, url: str) -> bool:
    """Caddy listens a moment before it has its certificate."""
    try:
        return client.get(url).status_code == 200
    except httpx.ConnectError:
        return False


def listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
