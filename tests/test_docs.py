"""The documents: their commands do what is written there, their tables are what programs print, their links lead somewhere."""

import functools
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from capabilities import only_in_soak
from conftest import BUILD, ROOT
from ecosort_site import console, findings, prediction, progress
from sort_support import Require, Run

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
README = ROOT / "README.md"
RUN = [page for page in (README, *PAGES) if console.steps_of(page.read_text())]
pytestmark = pytest.mark.skipif(bool(os.environ.get("ECOSORT_SAN")), reason="what a sanitizer slows down is not what people see")


def path_of_programs() -> str:
    """Returns the PATH of an installation: the program, and its tools beside this Python."""
    return os.pathsep.join((str(BUILD), str(Path(sys.executable).parent), os.environ["PATH"]))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_stands_there(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("ECOSORT_PROGRAM", str(BUILD / "ecosort"))
    found = console.differences(page.read_text(), tmp_path, path_of_programs())
    assert not found, "\n\n".join(found) + "\n\nmake site-figures puts the new output into the pages"


def test_pages_with_commands_that_are_run() -> None:
    assert {"README", "index", "install", "home-server", "troubleshooting", "recipes"} <= {page.stem for page in RUN}


@pytest.mark.parametrize(
    ("page", "same"),
    [
        ("```console\n$ echo 12.5 s\n9 s\n```\n", True),
        ("```console\n$ echo 12.5 s\n9 min\n```\n", False),
        ("```shell-session\n$ echo 12\n12\n```\n", True),
        ("```shell-session\n$ echo 12\n13\n```\n", False),
        ("```console\n$ seq 5\n1\n...\n5\n```\n", True),
        ("```console\n$ echo a; echo b\na\n```\n", False),
        ("```console\n$ exit 3\n[exit 3]\n```\n", True),
        ("```console\n$ exit 3\n```\n", False),
        ("```console\n$ echo a; exit 3\n...\n```\n", False),
        ("```console\n$ echo no >&2; exit 2\nno\n[exit 2]\n```\n", True),
        ("```console\n$ echo a \\\n  b\na b\n```\n", True),
        ("    $ exit 3\n", True),
    ],
)
def test_a_page_that_is_wrong_is_noticed(page: str, same: bool, tmp_path: Path) -> None:
    assert (console.differences(page, tmp_path, os.environ["PATH"]) == []) == same


def test_new_output_takes_the_place_of_the_old(tmp_path: Path) -> None:
    page = "A\n\n```shell-session\n$ echo new\nold\n```\n\n```console\n$ echo 7\n8\n```\n"
    assert console.renewed(page, tmp_path, os.environ["PATH"]) == page.replace("old", "new")


def commands_of(text: str) -> list[str]:
    """Finds what looks like a command of ecosort, in code of any kind."""
    code = re.findall(r"^(?: {4}|\$ )(?:.*?[;|] )?(ecosort .*)$", text, re.MULTILINE) + re.findall(r"`(ecosort [^`\n]+)`", text)
    return [re.sub(r"\s+#.*$", "", command) for command in code]


@functools.cache
def help_of(words: tuple[str, ...]) -> str:
    environment = {**os.environ, "PATH": path_of_programs(), "ECOSORT_PROGRAM": str(BUILD / "ecosort")}
    done = subprocess.run([BUILD / "ecosort", *words, "--help"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


GROUPS = ("power", "tune", "queue", "plan", "cluster")


def unknown_options(command: str) -> list[str]:
    """Finds the unknown options of a command and of those that it runs behind `--`, each after its own words."""
    found = []
    for part in re.split(r" -- (?=ecosort )", command):
        own, _, job = part.partition(" -- ")
        words = own.split()[1:]
        if not words or words[0].startswith(("-", "COMMAND")):
            continue
        names = tuple(words[: 1 + (words[0] in GROUPS and len(words) > 1 and not words[1].startswith("-"))])
        names = ("plan", "sort") if names == ("plan",) else names
        options = re.findall(r"(?<![\w-])--[a-z][a-z-]+", own)
        found += [f"{' '.join(names)} {option}" for option in options if option not in help_of(names) and option != "--help"]
        if job and words[:2] == ["queue", "add"]:
            found += unknown_options("ecosort " + job)
        if job and words[0] == "joulesort":
            found += unknown_options("ecosort sort " + job)
    return found


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.stem)
def test_every_command_and_option_exists(page: Path, ecosort: Path) -> None:
    assert [unknown for command in commands_of(page.read_text()) for unknown in unknown_options(command)] == []


def test_a_command_that_does_not_exist_is_noticed(ecosort: Path) -> None:
    assert unknown_options("ecosort sort --no-such-thing in") == ["sort --no-such-thing"]
    assert unknown_options("ecosort queue add -- sort --nothing in -o out") == ["sort --nothing"]
    with pytest.raises(AssertionError):
        unknown_options("ecosort no-such-command --memory 1MiB")


def fields_told(schema: str) -> set[str]:
    part = (DOCS / "json.md").read_text().partition(f"<!-- fields: {schema} -->\n")[2].partition("\n\n")[0]
    return {name for row in part.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_the_fields_of_json_are_those_that_are_told(run: Run, tmp_path: Path) -> None:
    assert run("gen", "-a", "60000", "in", cwd=tmp_path).returncode == 0
    words = ("--memory", "2MiB", "in", "-o", "out")
    done = run("sort", *words, "--stats", "stats", "--events", "events", "--progress=json", cwd=tmp_path)
    plan = run("plan", "sort", "--json", *words, cwd=tmp_path)
    failed = run("sort", "absent", "-o", "out", "--progress=json", cwd=tmp_path)
    (tmp_path / "lines").write_text("1\n")
    assert run("lines", "--claim", "lines", "-o", "claimed", cwd=tmp_path).returncode == 0
    for command in (["csv", "--no-header", "--by", "1"], ["jsonl", "--allow-missing", "--by", "a"], ["lines"], ["shuffle"]):
        assert run(*command, "lines", "-o", "out", "--stats", command[0] + ".json", cwd=tmp_path).returncode == 0
    assert run("check", "lines", "lines", "--stats", "check.json", cwd=tmp_path).returncode == 0
    documents = [
        *((tmp_path / f"{name}.json").read_text() for name in ("csv", "jsonl", "lines", "shuffle", "check", "claimed.claim")),
        (tmp_path / "stats").read_text(),
        (tmp_path / "events").read_text().splitlines()[0],
        done.stderr.splitlines()[-1],
        plan.stdout,
        failed.stderr.splitlines()[-2],
    ]
    demand_told(documents)


def demand_told(documents: list[str]) -> None:
    for text in documents:
        document = json.loads(text)
        assert set(document) == fields_told(document["schema"]), document["schema"]


def test_so_are_those_of_a_queued_job(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_QUEUE", str(tmp_path / "queue"))
    assert run("gen", "-a", "100", "in", cwd=tmp_path).returncode == 0
    assert run("queue", "add", "--", "sort", "in", "-o", "out", cwd=tmp_path).returncode == 0
    demand_told([run("queue", "show", "1", "--json", cwd=tmp_path).stdout])


def test_so_are_those_of_plans_merges_and_parts(run: Run, tmp_path: Path) -> None:
    assert run("gen", "-a", "20000", "in", cwd=tmp_path).returncode == 0
    assert run("sort", "in", "-o", "one", cwd=tmp_path).returncode == 0
    assert run("merge", "one", "one", "-o", "two", "--stats", "merge", cwd=tmp_path).returncode == 0
    for words in ("--count 100 in -o sample", "--merge --parts 2 sample -o splitters"):
        assert run("sample", "records", *words.split(), cwd=tmp_path).returncode == 0
    (tmp_path / "slices").mkdir()
    cut = "partition records in --splitters splitters --report report -o slices"
    assert run(*cut.split(), cwd=tmp_path).returncode == 0
    together = "cluster sort --format records --record-size 100 --key 0:10 --memory 16MiB --parts 2 in -o parts"
    assert run(*together.split(), cwd=tmp_path).returncode == 0
    demand_told(
        [
            (tmp_path / "merge").read_text(),
            (tmp_path / "report").read_text(),
            (tmp_path / "parts" / "MANIFEST.json").read_text(),
            run("plan", "sort", "--resumable", "--json", "in", "-o", "out", cwd=tmp_path).stdout,
            run("plan", "csv", "--no-header", "--by", "1", "--resumable", "--json", "in", "-o", "out", cwd=tmp_path).stdout,
            run("manual", "json").stdout,
        ]
    )


def test_the_prediction_of_the_research_kit_is_what_is_printed(ecosort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_PROGRAM", str(ecosort))
    assert prediction.part(prediction.said()) in prediction.PAGE.read_text()


def test_the_findings_are_those_of_the_scripts_heads() -> None:
    assert findings.listed() in findings.PAGE.read_text(), "make site-figures puts the heads into the page"
    scripts = sorted(findings.SCRIPTS.glob("*.sh"))
    assert scripts
    assert all(os.access(script, os.X_OK) and script.read_text().count("\n") <= findings.LONGEST for script in scripts)


@pytest.mark.parametrize("missing", findings.LABELS)
def test_a_finding_without_a_part_of_its_head_is_noticed(missing: str) -> None:
    script = "#!/usr/bin/env bash\n" + "".join(f"# {label}: text,\n#   more.\n" for label in findings.LABELS) + "set -u\n"
    assert findings.head(script) == dict.fromkeys(findings.LABELS, "text, more.")
    with pytest.raises(ValueError, match="it needs In short, Package"):
        findings.head(script.replace(f"# {missing}:", "#"))


def looks(line: str) -> str:
    """Without numbers, units, and the time left, which is not known at once."""
    return re.sub(r"\d+(?:\.\d+)?", "0", re.sub(r", (?:\d+ min )?\d+ s left|[kMG]B", "", line))


def test_the_picture_of_the_progress_line_is_what_it_prints(ecosort: Path, tmp_path: Path) -> None:
    printed = progress.lines_of_a_sort(ecosort, 3_000_000, "16MiB", tmp_path)
    drawn = [text.text or "" for text in ElementTree.parse(progress.PICTURE).iter("{http://www.w3.org/2000/svg}text")]
    assert len(drawn) == 4
    assert len(printed) >= 2
    for line in printed:
        assert any(looks(whole).startswith(looks(line)) for whole in drawn)  # an early line has no rate yet


@pytest.mark.parametrize("picture", sorted((DOCS / "pictures").glob("*.svg")), ids=lambda picture: picture.stem)
def test_pictures_are_small_and_well_formed(picture: Path) -> None:
    ElementTree.parse(picture)
    assert picture.stat().st_size < 10_000
    assert any(f"pictures/{picture.name}" in page.read_text() for page in PAGES)


def test_the_readme_is_short_and_leads_to_the_list_of_all_pages() -> None:
    text = README.read_text()
    assert text.count("\n") <= 150
    assert max(len(re.findall(r"\]\(", line)) for line in text.splitlines()) <= 2  # no lists of links to read through
    assert "(docs/index.md#all-pages)" in text
    listed = (DOCS / "index.md").read_text().partition("\n## All pages\n")[2]
    assert {page.name for page in PAGES if f"({page.name})" not in listed} == {"index.md"}


def test_the_version_stands_in_one_place() -> None:
    """Others read it there; a citation is a text of its own."""
    version = re.search(r'^__version__ = "(.*)"$', (ROOT / "python/ecosort/version.py").read_text(), re.MULTILINE)
    assert version
    assert f"\nversion: {version[1]}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.fixture(scope="module")
def site(require: Require, tmp_path_factory: pytest.TempPathFactory, ecosort: Path) -> Path:
    require("site")
    mkdocs = ROOT / ".venv-site" / "bin" / "mkdocs"
    place = tmp_path_factory.mktemp("site")
    words = [mkdocs, "build", "--quiet", "--strict", "-f", ROOT / "packaging/site/mkdocs.yml", "--site-dir", place]
    environment = {**os.environ, "ECOSORT_PROGRAM": str(ecosort)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return place


@only_in_soak  # continuous integration builds the site by itself
def test_the_site_has_every_page_and_asks_no_other_host(site: Path) -> None:
    names = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {f"{page.stem}.html" for page in PAGES} | {"man/ecosort-sort.html", "design/engine.html"} <= names
    loaded = re.compile(r"<(?:script|img|iframe|link|source)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"' >]+)")
    assert {found for path in site.rglob("*.html") for found in loaded.findall(path.read_text())} == set()
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert not re.search(r"url\([\"']?(?:https?:)?//|@import", styles)


# A cluster, a meter, minutes, a crash, a journal of ext4.
NEEDS_MORE = ("--on ray", "shelly://", "power meters", "tune probe", "ecosort resume", "ecosort inplace")


def recipes() -> list[str]:
    """Returns the recipes that work wherever their files are. Directories of other drives are here."""
    part = README.read_text().partition("\n## Recipes\n")[2].partition("\n## ")[0]
    code = re.findall(r"^ {4}(?=ecosort (?!::)|producer)(\S.*)$", part, re.MULTILINE)
    commands = [re.sub(r"\s+#.*$", "", line).replace(" /", " ./") for line in code]
    return [command for command in commands if not any(word in command for word in NEEDS_MORE)]


def make_inputs_of_recipes(directory: Path, run: Run) -> None:
    for name in ("x.log.gz", "y.log.gz"):
        (directory / name).write_bytes(gzip.compress(b"".join(b"host %d\n" % (n * 37 % 101) for n in range(1000))))
    for name in ("shop1.csv", "shop2.csv"):
        (directory / name).write_text("name,when\nb,2026-03-01\na,2026-03-01\nc,2025-01-01T10:00:00Z\n")
    (directory / "hosts.csv").write_text("net,name\n10.0.0.10,Zoe\n10.0.0.2,Änne\n")
    for name in ("log1.jsonl", "log2.jsonl"):
        (directory / name).write_text('{"items":[{"price":3}]}\n{"items":[{"price":12.5}]}\n')
    for name in ("a.bin", "b.bin"):
        (directory / name).write_bytes(os.urandom(1600))
    for name in ("a.csv", "b.csv"):
        (directory / name).write_text("x,2\ny,10\n")
    (directory / "huge.log").write_text("".join(f"{n * 7919 % 10007}\n" for n in range(10000)))
    for name in ("big.dat", "huge.dat"):
        assert run("gen", "-a", "50000", name, cwd=directory).returncode == 0
    (directory / "train.txt").write_text("one\ntwo\nthree\n")
    for name in ("ssd1", "ssd2", "slow"):
        (directory / name).mkdir()


def test_the_recipes_of_the_readme_work(run: Run, tmp_path: Path) -> None:
    make_inputs_of_recipes(tmp_path, run)
    environment = {
        **os.environ,
        "PATH": path_of_programs(),
        "ECOSORT_PROGRAM": str(BUILD / "ecosort"),
        "ECOSORT_QUEUE": "./queue",
    }
    functions = "producer() { cat a.bin; }; consumer() { cat > piped; }; set -o pipefail; "
    found = recipes()
    assert len(found) >= 10
    for command in found:
        words = ["bash", "-c", functions + command]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "piped").stat().st_size == 1600
    assert run("check", "sorted.dat", cwd=tmp_path).returncode == 0
