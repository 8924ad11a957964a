"""axe-core finds nothing serious on any page, as wide as a phone and as a large screen, light and dark, in both languages."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from capabilities import only_in_soak
from power.peers.browser import Browser

from .support import Queue, wait_for
from .test_page import RECORDS, WIDER, Service, browser, end, log_in, offering, start, wait_until_loaded

__all__ = ["browser", "offering"]  # fixtures

# npm says this of the package; another one by that name is no longer it.
AXE = "axe-core@4.14.1"
INTEGRITY = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
RUN = """(async () => { const found = await axe.run(document, {resultTypes: ['violations']});
  return found.violations.map(v => [v.impact, v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 150))]) })()"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    """The script, as npm has it. It is no part of the project."""
    require: Callable[[str], None] = request.getfixturevalue("require")
    require("npm")
    place = tmp_path_factory.mktemp("axe")
    done = subprocess.run(["npm", "pack", "--silent", AXE], cwd=place, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        pytest.skip(f"npm does not reach {AXE}: {done.stderr.strip()[-200:]}")
    package = next(place.glob("*.tgz"))
    assert base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() == INTEGRITY
    with tarfile.open(package) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def serious(browser: Browser, axe: str) -> list[Any]:
    """Returns what axe-core calls serious or critical of the page that is shown."""
    browser.evaluate(axe)
    answer = browser.call("Runtime.evaluate", expression=RUN, returnByValue=True, awaitPromise=True)
    found = answer["result"].get("value")
    assert isinstance(found, list), answer
    return [violation for violation in found if violation[0] in ("serious", "critical")]


def show(browser: Browser, service: Service, path: str, width: int) -> None:
    browser.open(service.url + path, width, 900, width < 800)
    wait_until_loaded(browser, path.partition("?")[0])


def pages_of(service: Service) -> list[str]:
    """All pages that are shown by an address, of a queue with a job that is done, one that failed and one that waits."""
    place = service.queue.place
    (place / "a, b.csv").write_text("id,city\n1,Ulm\n2,Aachen\n")
    (place / "a, b.csv").chmod(0o644)
    service.queue.add("sort", *RECORDS, "in.dat", "-o", "out")
    service.queue.add("csv", "--by", "city:number", "a, b.csv", "-o", "failed")
    wait_for(lambda: all(job["state"] in ("done", "failed") for job in service.queue.jobs().values()))
    service.queue.add("sort", "absent<b>", "-o", "waits", options=("--at", "2100-01-01"))
    with sqlite3.connect(service.queue.directory / "queue.sqlite") as connection:
        days = [("2026-11-01", "measured", 7200.0, 3600.0), ("2026-11-02", "simulated", 0.0, 60.0)]
        connection.executemany("INSERT INTO energy VALUES (?, ?, ?, ?)", days)
    adding = [f"/add?path={quote(str(path))}" for path in (place, place / "a, b.csv")]
    return ["/", "/history", "/report", *(f"/job/{number}" for number in (1, 2, 3)), *adding]


def press(browser: Browser, key: str) -> None:
    text = {"text": "\r"} if key == "Enter" else {}
    code = {"Tab": 9, "Enter": 13}[key]
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)


def press_button(browser: Browser, form: str) -> None:
    """Reaches the button of a form as a keyboard does, from where the focus is, and presses it."""
    for _ in range(80):
        press(browser, "Tab")
        if browser.evaluate(f"document.activeElement.matches('form[action$=\"{form}\"] button')"):
            assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return press(browser, "Enter")
    pytest.fail(f"no key reaches the button of {form}")


def plan_by_keyboard(browser: Browser, service: Service, width: int) -> None:
    """The plan of a file that does not fit on the drive."""
    huge = service.queue.place / "huge.dat"
    huge.touch()
    os.truncate(huge, 10**13)  # no byte of it is on the drive
    huge.chmod(0o644)
    show(browser, service, f"/add?path={quote(str(huge))}", width)
    browser.evaluate("document.querySelector('[name=memory]').value = '1GiB'")
    press_button(browser, "/add/plan")
    wait_until_loaded(browser, "/add/plan")


@only_in_soak
def test_a_plan_is_shown_and_queued_by_keyboard_alone(offering: Service, browser: Browser) -> None:
    browser.open(f"{offering.url}/login", 360, 900, True)
    log_in(browser, offering)
    for width in (360, 800, 1400):
        plan_by_keyboard(browser, offering, width)
        assert "not enough space" in browser.evaluate("document.querySelector('[role=alert]').innerText")
        assert browser.evaluate(WIDER) == []
    press_button(browser, "/add/queue")
    wait_for(lambda: browser.evaluate("location.pathname").startswith("/job/"))
    (job,) = offering.queue.jobs().values()
    wait_for(lambda: "waits for space" in offering.queue.job(job["id"])["reason"])


@only_in_soak
def test_a_page_whose_service_has_ended_says_that_it_is_old(queue: Queue, browser: Browser) -> None:
    service = start(queue)
    browser.open(f"{service.url}/login", 800, 900, False)
    log_in(browser, service)
    wait_for(lambda: browser.evaluate("document.getElementById('lost').hidden"))
    end(service)
    wait_for(lambda: not browser.evaluate("document.getElementById('lost').hidden"))
    assert "does not answer" in browser.evaluate("document.body.innerText")


@only_in_soak
@pytest.mark.parametrize("language", ["en", "de"])
def test_nothing_serious_on_any_page(offering: Service, browser: Browser, axe: str, records: Path, language: str) -> None:
    pages = pages_of(offering)
    browser.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    show(browser, offering, "/login", 1280)
    found = {"/login": serious(browser, axe)}
    log_in(browser, offering)
    for scheme, width in itertools.product(("light", "dark"), (360, 800, 1400)):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for path in pages:
            show(browser, offering, path, width)
            found[f"{path} {scheme} {width}"] = serious(browser, axe)
        plan_by_keyboard(browser, offering, width)
        found[f"plan {scheme} {width}"] = serious(browser, axe)
    assert browser.evaluate("document.documentElement.lang") == language
    assert json.dumps({page: faults for page, faults in found.items() if faults}, indent=1) == "{}"


@only_in_soak
def test_a_page_that_is_hard_to_use_is_found(browser: Browser, axe: str) -> None:
    """Else a script that looks at nothing would find nothing, too."""
    page = "<html><body><img src='x'><input><p style='color:#aaa;background:#fff'>hard to read</p></body></html>"
    browser.open("data:text/html," + quote(page), 1280, 900, False)
    assert {violation[1] for violation in serious(browser, axe)} >= {"image-alt", "label", "color-contrast", "html-has-lang"}
