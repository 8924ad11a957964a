"""The page: who may see it, what it shows in a real browser, and the metrics."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forked
import httpx
import pytest
from ecosort_appliance.database import MIGRATIONS, open_database
from ecosort_appliance.errors import QueueError
from ecosort_appliance.ledger import Stretch, shares
from ecosort_appliance.scheduler import Scheduler, Settings
from ecosort_appliance.serve import Listen, serve
from power.peers.browser import Browser
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from sort_support import as_plain_user, directory_for_everyone

from .support import COMMAND, Queue, copy_packages, wait_for

RECORDS = ("--record-size", "16", "--key", "0:4")
HOSTILE = [
    'it\'s "quoted"',
    "line\nbreak",
    "<img src=x onerror=document.title=1>",
    "<script>document.title=1",
    "\x1b[31mred",
    "a" * 200,
    "{{ 7*7 }}",
    "*; touch x",
]

# Spares each call the 30 ms of reading all certificates of the machine.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
get = functools.partial(httpx.get, verify=NO_TLS)
post = functools.partial(httpx.post, verify=NO_TLS)


@dataclass
class Service:
    """A running `ecosort serve`."""

    queue: Queue
    process: forked.Process
    url: str
    token: str

    def client(self) -> httpx.Client:
        return httpx.Client(verify=NO_TLS, base_url=self.url, headers={"Authorization": f"Bearer {self.token}"})


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def start(queue: Queue, *options: str) -> Service:
    token = queue.directory.parent / "token"
    address = f"127.0.0.1:{free_port()}"
    process = queue.start("serve", "--listen", address, "--token-file", str(token), "--tick", "0.05", *options)
    service = Service(queue, process, f"http://{address}", "")
    wait_for(lambda: process.poll() is not None or answers(service.url))
    assert process.poll() is None
    service.token = token.read_text().strip()
    return service


def answers(url: str) -> bool:
    try:
        return get(f"{url}/login").status_code in (200, 303)
    except httpx.TransportError:
        return False


@pytest.fixture
def service(queue: Queue) -> Iterator[Service]:
    found = start(queue)
    yield found
    found.process.send_signal(signal.SIGTERM)
    assert found.process.wait(60) == 0


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory, ecosort: Path) -> Iterator[Service]:
    """A service without jobs, for all tests that change nothing."""
    found = start(Queue(tmp_path_factory.mktemp("idle") / "queue", ecosort))
    yield found
    end(found)


def test_the_end_waits_for_no_one_who_never_ends(queue: Queue) -> None:
    """A form whose body does not come."""
    found = start(queue)
    host, port = found.url.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /login HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {found.url.rstrip('/')}\r\nContent-Length: 10\r\n\r\n"
        connection.sendall(head.encode())
        assert get(found.url + "/login").status_code == 200  # it has read the one before
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(60) == 0


# --- who may


def test_without_the_token_nothing_is_told(idle: Service) -> None:
    for path in ("/", "/events", "/metrics", "/job/1"):
        assert get(idle.url + path).status_code == 401
        assert get(idle.url + path, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert get(idle.url + path, cookies={"ecosort_session": idle.token}).status_code == 401
    assert get(idle.url, headers={"Accept": "text/html"}).headers["location"] == "/login"
    with idle.client() as client:
        assert client.get("/").status_code == 200


def test_a_name_that_is_not_served_is_refused(idle: Service) -> None:
    with idle.client() as client:
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
        assert client.get("/login", headers={"Host": "127.0.0.1.evil.example:8080"}).status_code == 421
        assert client.get("/", headers={"Host": f"localhost:{idle.url.rsplit(':')[-1]}"}).status_code == 200


def test_a_change_needs_this_pages_origin_and_token(service: Service) -> None:
    number = service.queue.add("sort", "in", "-o", "out", options=("--at", "2100-01-01"))
    path = f"/job/{number}/cancel"
    session = {"ecosort_session": logged_in(service)}
    page = get(service.url, cookies=session).text
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found
    form = {"form_token": found[1]}
    own = {"Origin": service.url}
    refused = [
        ({"Origin": "http://evil.example"}, form),
        ({"Origin": "null"}, form),
        ({}, form),
        (own, {}),
        (own, {"form_token": "x"}),
    ]
    refused.append(({"Sec-Fetch-Site": "cross-site"}, form))
    for headers, data in refused:
        assert post(service.url + path, headers=headers, data=data, cookies=session).status_code == 403, (headers, data)
    assert get(service.url + path, cookies=session).status_code == 405
    assert post(service.url + path, headers=own, data=form).status_code == 401
    assert service.queue.job(number)["state"] == "queued"
    assert post(service.url + path, headers=own, data=form, cookies=session).status_code == 303
    assert service.queue.job(number)["state"] == "cancelled"
    assert post(service.url + path, headers=own, data=form, cookies=session).status_code == 409


@pytest.mark.parametrize("number", ["1", "9" * 24, "9" * 5000])
def test_pages_of_no_job(idle: Service, number: str) -> None:
    with idle.client() as client:
        assert client.get(f"/job/{number}").status_code == 404
        assert client.post(f"/job/{number}/cancel", headers={"Origin": idle.url}).status_code == 404


def logged_in(service: Service) -> str:
    answer = post(f"{service.url}/login", data={"token": service.token}, headers={"Origin": service.url})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    return answer.cookies["ecosort_session"]


def test_every_answer_carries_the_policy(idle: Service) -> None:
    for path in ("/login", "/", "/static/page.js", "/nowhere", "/static/../app.py"):
        headers = get(idle.url + path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "127.0.0.1", "[::]:0", "127.0.0.1:99999", "127.0.0.1:0"])
def test_what_is_not_safe_or_not_possible_is_refused(queue: Queue, listen: str) -> None:
    """Without a token; as root not even at 127.0.0.1."""
    process = queue.start("serve", "--listen", listen, stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.startswith(b"ecosort: ")
    assert said.count(b"\n") == 1


def test_a_token_that_others_may_read_is_refused(queue: Queue, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("0123456789abcdef0123")
    (tmp_path / "token").chmod(0o644)
    process = queue.start("serve", "--token-file", str(tmp_path / "token"), stderr=subprocess.PIPE)
    assert b"chmod 600" in process.communicate(timeout=60)[1]


def test_a_token_file_is_made_with_its_directories(queue: Queue, tmp_path: Path) -> None:
    token = tmp_path / "a" / "b" / "token"
    process = queue.start("serve", "--listen", "127.0.0.1:0", "--token-file", str(token), stderr=subprocess.PIPE)
    assert process.stderr
    assert b"the page is at" in process.stderr.readline()
    process.terminate()
    assert process.wait(60) == 0
    assert [stat.S_IMODE(path.stat().st_mode) for path in (token, *token.parents[:2])] == [0o600, 0o700, 0o700]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nohost.invalid:0", "no address is known by this name"),
        ("a..b:0", "no address is known by this name"),
        ("192.0.2.1:0", "this is no address of this machine"),
        ("127.0.0.1:{taken}", "Address already in use; choose another port"),
    ],
)
def test_an_address_that_cannot_be_listened_at_is_told(queue: Queue, tmp_path: Path, address: str, why: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        words = ("--listen", address.format(taken=other.getsockname()[1]), "--token-file", str(tmp_path / "token"))
        process = queue.start("serve", *words, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.count(b"\n")) == (2, 1)
    assert why in said.decode()


@pytest.mark.parametrize("port", ["none", "other", "same"])
def test_two_services_of_one_queue(idle: Service, tmp_path: Path, port: str) -> None:
    addresses = {"other": f"127.0.0.1:{free_port()}", "same": idle.url.removeprefix("http://")}
    page = ["--listen", addresses[port], "--token-file", str(tmp_path / "token")] if port in addresses else ["--no-page"]
    second = idle.queue.start("serve", *page, stderr=subprocess.PIPE)
    _, said = second.communicate(timeout=60)
    assert second.returncode == 2
    assert b"is served already" in said
    assert said.count(b"\n") == 1


def test_a_scheduler_that_fails_at_once_is_told(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not lost in the signal that ends the page."""

    def fail(*_: object) -> None:
        raise QueueError("it failed")

    monkeypatch.setattr(Scheduler, "tick", fail)
    queue.directory.mkdir(mode=0o711)
    (queue.directory / "locks").mkdir()
    listen = Listen("127.0.0.1:0", (), queue.directory / "token")
    with handlers_kept(), pytest.raises(QueueError, match="it failed"):
        serve(queue.directory, listen, None, Settings(), end_jobs=False)


@contextlib.contextmanager
def handlers_kept() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def test_a_user_needs_no_token_on_his_own_machine(ecosort: Path, require: Callable[[str], None]) -> None:
    """But changes must come from the page all the same."""
    require("setpriv")
    with directory_for_everyone() as base:
        shutil.copy(ecosort, base / "ecosort")
        copy_packages(base / "packages")
        places = {"PYTHONPATH": base / "packages", "ECOSORT_PROGRAM": base / "ecosort", "ECOSORT_QUEUE": base / "queue"}
        environment = os.environ | {name: str(place) for name, place in places.items()}
        address = f"127.0.0.1:{free_port()}"
        process = subprocess.Popen(as_plain_user(*COMMAND, "serve", "--listen", address), env=environment, cwd=base)
        try:
            look_at_own_page(process, f"http://{address}")
        finally:
            process.terminate()
            code = process.wait(60)
        assert code == 0


def look_at_own_page(process: subprocess.Popen[bytes], url: str) -> None:
    wait_for(lambda: process.poll() is not None or answers(url))
    page = get(url)
    assert page.status_code == 200
    assert get(url, headers={"Host": "evil.example"}).status_code == 421
    found = re.search(r'name="form_token" value="([^"]+)"', page.text)
    assert found
    form, own = {"form_token": found[1]}, {"Origin": url}
    assert post(f"{url}/queue/pause", data=form).status_code == 403
    assert post(f"{url}/queue/pause", headers=own).status_code == 403
    assert post(f"{url}/queue/pause", data=form, headers=own).status_code == 303
    assert "The queue is paused" in get(url).text


# --- what it shows


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Browser]:
    require: Callable[[str], None] = request.getfixturevalue("require")
    require("chromium")
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


WIDER = """[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.outerHTML.slice(0, 200))"""
CLASHES = """(() => { const boxes = [...document.querySelectorAll('article')].map(e => e.getBoundingClientRect());
  return boxes.filter((a, i) => boxes.slice(i + 1).some(b =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length })()"""


def complaints(browser: Browser) -> list[str]:
    own = re.compile(r"fetches (data:image/svg|http://127\.0\.0\.1:\d+/(static/page\.(css|js)|static/icon\.svg|events)$)")
    return [text for text in browser.complaints() if not own.match(text)]


def test_hostile_names_in_a_browser(service: Service, browser: Browser, records: Path) -> None:
    for number, name in enumerate(HOSTILE):
        (service.queue.place / name).write_bytes(records.read_bytes())
        service.queue.add("sort", *RECORDS, "-o", f"{name}.{number}", "--", name, options=("--name", name) if number % 2 else ())
    service.queue.add(b"sort", b"--record-size", b"16", b"--key", b"0:4", b"in.dat", b"-o", b"bytes \xff\xfe")
    wait_for(lambda: all(job["state"] == "done" for job in service.queue.jobs().values()))
    service.queue.add("sort", "absent<b>", "-o", "waits", options=("--at", "2100-01-01"))
    for width, mobile in ((360, True), (1280, False)):
        browser.open(f"{service.url}/login", width, 900, mobile)
        if browser.evaluate("!!document.querySelector('[name=token]')"):
            log_in(browser, service)
        for path in ("/", "/job/3", "/report"):
            browser.open(service.url + path, width, 900, mobile)
            wait_until_loaded(browser, path)
            assert browser.evaluate("innerWidth") == width
            assert browser.evaluate("document.title").endswith("EcoSort")
            assert browser.evaluate(WIDER) == []
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert browser.evaluate(CLASHES) == 0
            assert complaints(browser) == []
    browser.open(service.url, 400, 900, True)
    text = browser.evaluate("document.body.innerText")
    assert "<img src=x onerror=document.title=1>" in text
    assert r"line\nbreak" in text
    assert r"bytes \xff\xfe" in text
    assert "{{ 7*7 }}" in text
    assert not (service.queue.place / "x").exists()
    metrics_hold(service)


def log_in(browser: Browser, service: Service) -> None:
    browser.evaluate(f"document.querySelector('[name=token]').value = {json.dumps(service.token)}")
    browser.evaluate("document.querySelector('form').submit()")
    wait_until_loaded(browser, "/")


def wait_until_loaded(browser: Browser, path: str) -> None:
    """The event that was waited for may have been that of the page before."""
    wait_for(lambda: browser.evaluate("location.pathname + document.readyState") == f"{path}complete")


def test_the_page_follows_and_its_buttons_work(service: Service, browser: Browser) -> None:
    browser.open(f"{service.url}/login", 1280, 900, False)
    log_in(browser, service)
    number = service.queue.add("sort", "in", "-o", "out", options=("--at", "2100-01-01", "--name", "later"))
    wait_for(lambda: "later" in browser.evaluate("document.body.innerText"))
    browser.evaluate(f"document.querySelector('form[action=\"/job/{number}/pause\"] button').click()")
    wait_for(lambda: service.queue.job(number)["state"] == "paused")


def metrics_hold(service: Service) -> dict[str, list[tuple[dict[str, str], float]]]:
    with service.client() as client:
        answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = text_string_to_metric_families(answer.text)
    return {family.name: [(s.labels, s.value) for s in family.samples] for family in families}


def metered_job(queue: Queue, program_s: float) -> int:
    """A job whose program works for so long, by a stand-in for the program that also writes the report."""
    stand_in = queue.directory.parent / f"sort-for-{program_s}"
    program = queue.environment["ECOSORT_PROGRAM"]
    report = '{"records": 1000000, "bytes_read": 1, "bytes_written": 1}'
    stand_in.write_text(
        f"#!/bin/sh\nfor w; do case $w in --stats=*) stats=${{w#--stats=}};; esac; done\n"
        f'[ "$1" = run ] || exec "{program}" "$@"\n'
        f"sleep {program_s}\necho '{report}' > $stats\n: > out\n"
    )
    stand_in.chmod(0o755)
    queue.environment["ECOSORT_PROGRAM"] = str(stand_in)
    return queue.add("sort", *RECORDS, "in.dat", "-o", "out", options=("--on-end", "tee told"))


def end(service: Service) -> None:
    service.process.terminate()
    assert service.process.wait(60) == 0


def with_program(queue: Queue, program_s: float, meter: str) -> tuple[Service, int, float]:
    """A service, a job of it that has ended and been reported, and how long all that took."""
    (queue.place / "in.dat").write_bytes(bytes(16))
    number = metered_job(queue, program_s)
    queue.ok("pause")
    service = start(queue, "--meter", meter)
    wait_for(lambda: metrics_hold(service).get("ecosort_simulated_power_watts"))
    begin_s = time.monotonic()
    queue.ok("resume")
    wait_for((queue.place / "told").exists)
    wait_for((queue.place / "told").read_text)
    return service, number, time.monotonic() - begin_s


def test_simulated_joules_are_called_that_everywhere(queue: Queue) -> None:
    """Also by a service without a meter."""
    service, number, waited_s = with_program(queue, 2.0, "sim:#period=0.1")
    try:
        job = queue.job(number)
        assert job["records"] == 1_000_000
        assert 15 <= job["joules"] / job["metered_s"] <= 61
        assert 1.75 < job["metered_s"] < waited_s
        told = json.loads((queue.place / "told").read_text())
        assert (told["energy_source"], told["joules"]) == ("simulated", pytest.approx(job["joules"]))
        families = metrics_hold(service)
        assert 15 <= families["ecosort_simulated_power_watts"][0][1] <= 61
        assert families["ecosort_simulated_energy_joules"][0][1] >= job["joules"]
        assert not {"ecosort_power_watts", "ecosort_energy_joules"} & set(families)
    finally:
        end(service)
    service = start(queue)
    try:
        with service.client() as client:
            pages = (client.get("/").text, client.get(f"/job/{number}").text)
        said = queue.ok("show", str(number))
        for text in (*pages, said):
            assert re.search(r"SIMULATED, no measurement: [\d,]+ J, .* records/J", text)
        assert re.search(r'<p class="facts">ended \d{4}-', pages[0])
        assert re.search(
            r'<span>\d{4}-\d\d-\d\d</span><svg .*width="100.0" .*<span>SIMULATED, no measurement: [\d.]+ Wh in .* of metering',
            pages[0],
        )
        assert queue.job(number)["energy_source"] == "simulated"
    finally:
        end(service)


def test_a_short_job_has_no_joules_and_says_why(queue: Queue) -> None:
    service, number, _ = with_program(queue, 0.2, "sim:#period=1")
    try:
        job = queue.job(number)
        assert job["joules"] is None
        assert re.search(r"no joules: \d values? of the meter came while it worked, 10 are needed", queue.ok("show", str(number)))
        assert json.loads((queue.place / "told").read_text())["joules"] is None
        with service.client() as client:
            assert "records/J" not in client.get("/").text
    finally:
        end(service)


def test_a_jobs_share_is_of_the_time_in_which_it_works() -> None:
    """A second at 60 W is 60 J, wherever the values of the meter lie; of two at once each has the half."""
    stretches = [Stretch(n / 4, (n + 1) / 4, 15.0) for n in range(20)]
    share = shares(stretches, {1: (1.1, 2.1)})[1]
    assert [share.joules, share.seconds, share.values] == pytest.approx([60.0, 1.0, 4])
    found = shares(stretches, {1: (1.0, 3.0), 2: (2.0, float("inf")), 3: (0.0, 0.0)})
    assert [found[1].joules, found[2].joules] == pytest.approx([90.0, 150.0])
    assert set(found) == {1, 2}


def test_joules_of_an_older_program_stay_as_they_are(queue: Queue) -> None:
    number = queue.add("sort", "in", "-o", "out", options=("--at", "2100-01-01"))
    path = queue.directory / "queue.sqlite"
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(MIGRATIONS[0])
        connection.executescript(
            "INSERT INTO jobs (id, uid, words, directory, environment, resumable, state, queued_s, joules, metered_s, records)"
            f" VALUES ({number}, 0, '[\"sort\"]', '\"/\"', '{{}}', 1, 'done', 1, 50, 2, 100);"
            "INSERT INTO energy VALUES ('2026-01-01', 7200, 60); PRAGMA user_version = 1;"
        )
    assert "50 J, 25.0 W, 2 records/J" in queue.ok("show", str(number))
    with contextlib.closing(open_database(queue.directory)) as connection:
        assert [tuple(row) for row in connection.execute("SELECT * FROM energy")] == [("2026-01-01", "", 7200.0, 60.0)]


def test_progress_of_a_job_that_runs(service: Service) -> None:
    """One whose program is stopped, so that it can be looked at."""
    (service.queue.place / "in.dat").write_bytes(os.urandom(16 * 8_000_000))
    number = service.queue.add("sort", *RECORDS, "--memory", "4MiB", "in.dat", "-o", "out")
    progress = service.queue.directory / "jobs" / str(number) / "progress.json"
    with service.queue.held(number, progress):
        with service.client() as client, client.stream("GET", "/events") as answer:
            event = next(answer.iter_text())
        assert "MB/s" in event
        assert re.search(r"progress   .*MB/s", service.queue.ok("show", str(number)))
        assert re.search(r'<progress max="100" value="\d+" aria-label="[^"]+">', event)
        assert metrics_hold(service)["ecosort_job_bytes_per_second"][0][0] == {"job": str(number)}
    wait_for(lambda: service.queue.job(number)["state"] == "done")


# --- a job by the page


@pytest.fixture
def offering(queue: Queue, tmp_path: Path) -> Iterator[Service]:
    """A service whose page sorts files in `place`. As root the jobs are those of a plain user."""
    import pwd

    user = pwd.getpwuid(65534).pw_name
    for place in (queue.place, *list(queue.place.parents)[: len(tmp_path.parts) - 2]):
        place.chmod(0o777 if place == queue.place else 0o755)
    found = start(queue, "--files", str(queue.place), *(("--files-user", user) if os.geteuid() == 0 else ()))
    yield found
    end(found)


def form_of(service: Service, path: str, session: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The page with the form of a file, and the fields that it comes with."""
    page = get(f"{service.url}/add", params={"path": path}, cookies=session)
    assert page.status_code == 200, page.text
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    fields |= dict(re.findall(r'<input name="([^"]+)" value="([^"]*)"', page.text))
    found = re.search(r'name="format" value="(\w+)" checked', page.text)
    return page.text, fields | ({"format": found[1]} if found else {})


def test_a_job_is_made_by_the_page_from_the_picker_to_its_end(offering: Service) -> None:
    (offering.queue.place / "a, b.csv").write_text("id,city\n1,Ulm\n2,Aachen\n")
    (offering.queue.place / "a, b.csv").chmod(0o644)
    session, own = {"ecosort_session": logged_in(offering)}, {"Origin": offering.url}
    listing = get(f"{offering.url}/add", params={"path": str(offering.queue.place)}, cookies=session).text
    assert "a, b.csv" in listing
    text, fields = form_of(offering, str(offering.queue.place / "a, b.csv"), session)
    assert "1,Ulm" in text
    assert fields["format"] == "csv"
    assert '<option value="#2">city</option>' in text
    fields |= {"key0": "#2", "type0": "text"}
    plan = post(f"{offering.url}/add/plan", data=fields, headers=own, cookies=session)
    assert plan.status_code == 200, plan.text
    assert "ecosort csv" in plan.text
    assert offering.queue.jobs() == {}, "nothing is queued by a plan"
    again = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', plan.text))
    queued = post(f"{offering.url}/add/queue", data=again, headers=own, cookies=session)
    assert queued.status_code == 303, queued.text
    number = int(queued.headers["location"].rpartition("/")[2])
    wait_for(lambda: offering.queue.job(number)["state"] in ("done", "failed"))
    assert offering.queue.job(number)["state"] == "done", offering.queue.log(number)
    assert (offering.queue.place / "a, b.sorted.csv").read_text() == "id,city\n2,Aachen\n1,Ulm\n"


def test_a_plan_that_does_not_fit_says_so_before_it_is_queued(offering: Service) -> None:
    with (offering.queue.place / "huge.dat").open("wb") as file:
        file.truncate(10**13)  # no byte of it is on the drive
    (offering.queue.place / "huge.dat").chmod(0o644)
    session, own = {"ecosort_session": logged_in(offering)}, {"Origin": offering.url}
    _, fields = form_of(offering, str(offering.queue.place / "huge.dat"), session)
    assert fields["format"] == "records"
    fields |= {"memory": "1GiB"}
    for language, said, needs in (
        ("en", "There is not enough space for it now.", "bytes are needed"),
        ("de", "Der Platz reicht jetzt nicht.", "Bytes werden benötigt"),
    ):
        plan = post(f"{offering.url}/add/plan", data=fields, headers=own | {"Accept-Language": language}, cookies=session)
        assert (plan.status_code, said in plan.text) == (200, True), plan.text
        assert needs in plan.text
    assert offering.queue.jobs() == {}


def test_a_plan_asks_the_program_once(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question reads the machine and the beginnings of all inputs anew."""
    from ecosort_appliance import desk, space
    from ecosort_appliance.jobs import Job

    (queue.place / "in").write_text("b\na\n")
    queue.ok("list")
    monkeypatch.setenv("ECOSORT_PROGRAM", queue.environment["ECOSORT_PROGRAM"])
    ask, questions = space.asked, []

    def counted(job: Job, words: list[str], text: str) -> subprocess.CompletedProcess[bytes] | None:
        questions.append(words)
        return ask(job, words, text)

    monkeypatch.setattr(space, "asked", counted)
    job = Job(uid=os.geteuid(), words=["lines", "--output=out", "--", "in"], directory=str(queue.place))
    with contextlib.closing(open_database(queue.directory)) as connection:
        found = desk.foresee(queue.directory, connection, job)
    assert (len(questions), found.plan["input_bytes"]) == (1, 4)


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [
        ("a.csv", ['id,"city, state",price', '1,"a, b",2'], [("#1", "id"), ("#2", "city, state"), ("#3", "price")]),
        ("a.csv", ['id,"ci', 'ty",price', "1,b,3"], [("#1", "id"), ("#2", r"ci\nty"), ("#3", "price")]),
        ("a.csv", ["name;price, EUR", "x;3"], [("#1", "name"), ("#2", "price, EUR")]),
        ("a.csv", ["name;price", "x;3,5;"], [("#1", "name"), ("#2", "price")]),
        ("a.csv", ["sep=;\r", "id;city\r", "1;b\r"], [("#1", "id"), ("#2", "city")]),
        ("a.csv", ["\ufeffid," + "a" * 400 + ",last", "1,2,3"], [("#1", "id"), ("#2", "a" * 400), ("#3", "last")]),
        ("a.tsv", ["a,b\tc", "1\t2"], [("#1", "a,b"), ("#2", "c")]),
        ("a.jsonl", ['{"a": 1, "b.c": {"d": 2, "e:f": 3}}'], ["a", '"b.c".d', '"b.c"."e:f"']),
        ("a.jsonl", ["[1]"], []),
        ("a.csv", [], []),
    ],
)
def test_the_columns_of_the_form_are_those_of_the_program(name: str, rows: list[str], expected: list[Any]) -> None:
    """A key by its number means another column where a name is quoted."""
    from ecosort_appliance.web.picker import _form_of

    form = _form_of(name, rows)
    assert (form["members"] if name.endswith("jsonl") else form["columns"]) == expected


def test_an_error_is_a_page_for_a_browser_and_a_line_for_a_program(idle: Service) -> None:
    with idle.client() as client:
        asked = {"params": {"month": "<x>"}}
        page = client.get("/report", headers={"Accept": "text/html", "Accept-Language": "de"}, **asked)
        assert (page.status_code, page.headers["content-type"]) == (409, "text/html; charset=utf-8")
        assert '<html lang="de">' in page.text
        assert "&lt;x&gt;" in page.text
        line = client.get("/report", **asked)
        assert line.text.startswith("--month '<x>' is no month")
        for answer in (page, line):  # or a cache gives one of them to who asked for the other
            assert "Accept" in answer.headers["vary"].split(", ")
        absent = client.get("/job/7", headers={"Accept": "text/html"})
        assert (absent.status_code, "there is no job 7" in absent.text, "<html" in absent.text) == (404, True, True)


def test_what_lies_elsewhere_is_not_shown_and_not_sorted(offering: Service, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (offering.queue.place / "link").symlink_to(tmp_path / "secret")
    (offering.queue.place / "in").write_text("b\na\n")
    (offering.queue.place / "in").chmod(0o644)
    session, own = {"ecosort_session": logged_in(offering)}, {"Origin": offering.url}
    for path in (
        str(tmp_path / "secret"),
        str(offering.queue.place / "link"),
        f"{offering.queue.place}/../secret",
        "/etc/passwd",
    ):
        answer = get(f"{offering.url}/add", params={"path": path}, cookies=session)
        assert answer.status_code == 409, path
        assert "is in none of the directories" in answer.text
    _, fields = form_of(offering, str(offering.queue.place / "in"), session)
    for change, why in [
        ({"output": "../out"}, "without directories"),
        ({"output": "in"}, "is there already"),
        ({"path": "/etc/passwd"}, "is in none of the directories"),
        ({"format": "sh"}, "the format is one of"),
        ({"format": "csv"}, "choose a key"),
        ({"format": "csv", "key0": "a", "type0": "--x"}, "the type of a key is one of"),
        ({"memory": "much"}, "is no size"),
    ]:
        answer = post(f"{offering.url}/add/queue", data=fields | change, headers=own, cookies=session)
        assert (answer.status_code, why in answer.text) == (409, True), (change, answer.text)
    no_token = {name: value for name, value in fields.items() if name != "form_token"}
    assert post(f"{offering.url}/add/queue", data=no_token, headers=own, cookies=session).status_code == 403
    assert offering.queue.jobs() == {}


def test_without_files_the_page_adds_nothing(idle: Service) -> None:
    with idle.client() as client:
        assert client.get("/add").status_code == 404
        assert "/add" not in client.get("/").text


def test_root_names_whose_files_they_are(queue: Queue, tmp_path: Path) -> None:
    words = ("--listen", "127.0.0.1:0", "--token-file", str(tmp_path / "token"))
    for options, why in [
        (("--files", str(tmp_path / "none"), "--files-user", "nobody"), b"is no directory"),
        (("--files-user", "nobody"), b"--files-user goes with --files"),
        *([(("--files", str(tmp_path)), b"say whose the jobs are")] if os.geteuid() == 0 else []),
    ]:
        process = queue.start("serve", *words, *options, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 2
        assert why in said, said


def test_the_history_is_searched(service: Service, records: Path) -> None:
    service.queue.add("sort", *RECORDS, "in.dat", "-o", "one", options=("--name", "apples"))
    service.queue.add("sort", *RECORDS, "in.dat", "-o", "two", options=("--name", "pears"))
    wait_for(lambda: all(job["state"] == "done" for job in service.queue.jobs().values()))
    with service.client() as client:
        found = client.get("/history", params={"words": "PEARS"}).text
        assert "pears" in found
        assert "apples" not in found
        assert "apples" not in client.get("/history", params={"state": "failed"}).text
        assert "apples" in client.get("/report").text or "2" in client.get("/report").text
        assert client.get("/report", params={"month": "x"}).status_code == 409


def test_the_page_speaks_german_where_a_browser_asks_for_it(idle: Service) -> None:
    with idle.client() as client:
        german = client.get("/", headers={"Accept-Language": "de-DE,de;q=0.9,en;q=0.8"}).text
        assert '<html lang="de">' in german
        assert "Nichts läuft." in german
        for header in ("en", "fr, en;q=0.5", "de;q=0.1, en", "", "x;q=y"):
            assert "Nothing runs." in client.get("/", headers={"Accept-Language": header}).text, header


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("exit code -9", "Endecode -9"),
        ("queued 2026-11-29 14:10", "wartet 2026-11-29 14:10"),
        (
            "as things are now, the job waits for space: /x: 2 bytes are needed, 1 are free",
            "so, wie es jetzt ist: /x: 2 Bytes werden",
        ),
        ("SIMULATED, no measurement: 0.1 Wh in 3 s of metering", "SIMULIERT, keine Messung: 0,1 Wh in 3 s Messung"),
        ("no joules: 1 value of the meter came while it worked, 10 are needed", "keine Joule: währenddessen kam 1 Messwert, 10"),
        ("price<0.20, at the latest 2026-11-30 06:00", "price<0.20, spätestens 2026-11-30 06:00"),
        ("1,234 J, 41.0 W, 1,200 records/J, 5 J per GB moved", "1.234 J, 41,0 W, 1.200 Sätze/J, 5 J je bewegtem GB"),
        ("-1,234 J, -41.0 W, -5 J per GB moved", "-1.234 J, -41,0 W, -5 J je bewegtem GB"),  # solar modules feed the grid
        ("-0.5", "-0,5"),
        ("run formation, 42 %, 120 MB/s, 3 min 20 s left", "Vorsortieren, 42 %, 120 MB/s, noch 3 min 20 s"),
        ("1.235 MB", "1,235 MB"),
        ("exit code <b>{}", "exit code <b>{}"),
    ],
)
def test_texts_with_values_are_german_too(text: str, german: str) -> None:
    from ecosort_appliance.web import languages

    assert languages.translator("de")(text).startswith(german)
    assert languages.translator("en")(text) == text


def test_a_long_text_is_translated_at_once() -> None:
    """A path may be long, and the page says each second that its job waits."""
    from ecosort_appliance.web import languages

    begin_s = time.process_time()
    languages.translator("de")("waits for space: /" + ", of x of y" * 400)
    assert time.process_time() - begin_s < 0.5


def test_names_of_jobs_are_not_translated(queue: Queue, records: Path) -> None:
    queue.ok("pause")
    for number, options in enumerate([("--name", "done"), ("--name", "not before " * 1200), ()]):
        queue.add("sort", *RECORDS, "in.dat", "-o", f"out{number}", options=options)
    service = start(queue)
    try:
        with service.client() as client:
            page = client.get("/", headers={"Accept-Language": "de"})
            assert page.status_code == 200
            assert '/job/1">done</a>' in page.text
            assert '/job/3">Auftrag 3</a>' in page.text
            assert "abbrechen: Auftrag 3" in page.text
    finally:
        end(service)


def test_every_text_of_the_page_is_translated() -> None:
    from ecosort_appliance.web import app, languages

    templates = Path(app.__file__).parent / "templates"
    texts = {text for path in templates.iterdir() for text in re.findall(r"_\('((?:[^'\\]|\\.)*)'\)", path.read_text())}
    assert len(texts) > 40
    same_in_both = {"Token"}
    assert {text for text in texts if languages.translator("de")(text) == text} <= same_in_both | {"name", "format"}


def test_the_course_of_a_job_is_kept_whole_however_long_it_is(queue: Queue) -> None:
    from ecosort_appliance.web import charts
    from ecosort_appliance.web.track import Track

    track = Track(queue.directory, lambda: 5.0)
    for second in range(5000):
        track._looks += 1
        track._add(1, (float(second), 100.0, None if second % 2 else 5.0))
    points = track.points(1)
    assert 100 < len(points) < 300
    assert points[0][0] < 100
    assert points[-1][0] > 4900
    rate, *_ = charts.course(points)
    assert rate.pieces[0].split()[-1].startswith("600.0,")
    assert charts.course([(0.0, None, None), (1.0, None, None)]) == []
