"""The examples of docstrings, of README.md and the wheel itself do what they say."""

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from capabilities import only_in_soak
from conftest import ROOT
from sort_support import sanitizers

import ecosort

EXAMPLES, OF_THE_DOCS = (
    re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    for page in ("python/README.md", "docs/python.md")
)
MODULES = [module.name for module in pkgutil.iter_modules(ecosort.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str, here: Path) -> None:
    done = doctest.testmod(importlib.import_module(f"ecosort.{name}"))
    assert done.failed == 0


def test_every_public_function_has_an_example_or_says_of_which_it_is_a_variant() -> None:
    functions = [name for name in ecosort.__all__ if name.startswith("sort")]
    documented = {name: getattr(ecosort, name).__doc__ or "" for name in functions}
    assert [name for name in functions if ">>>" not in documented[name] and "Is sort(" not in documented[name]] == []
    assert ">>>" in documented["sort"]


def run_example(text: str, python: Path | str, here: Path, **environment: str) -> None:
    """Prints what the comments behind its prints say."""
    done = subprocess.run(
        [python, "-c", text], cwd=here, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    for promised in re.findall(r"print\(.*\)  # (.*)", text):
        assert promised in done.stdout.splitlines()


@pytest.mark.parametrize("example", EXAMPLES, ids=range(1, len(EXAMPLES) + 1))
def test_examples_of_the_readme(example: str, here: Path) -> None:
    assert len(EXAMPLES) == 4
    run_example(example, sys.executable, here, PYTHONPATH=str(ROOT / "python"))


@pytest.mark.parametrize("example", OF_THE_DOCS, ids=range(1, len(OF_THE_DOCS) + 1))
def test_examples_of_the_docs(example: str, here: Path) -> None:
    assert "# " in example
    run_example(example, sys.executable, here, PYTHONPATH=str(ROOT / "python"))


def test_examples_of_the_docs_work_one_after_the_other(here: Path) -> None:
    for example in OF_THE_DOCS:
        run_example(example, sys.executable, here, PYTHONPATH=str(ROOT / "python"))


@pytest.mark.parametrize("page", ["python/README.md", "docs/python.md"])
def test_who_repeats_the_first_example_is_told_how(page: str) -> None:
    _, first, rest = re.split(r"^```(?:python)?\n", (ROOT / page).read_text(), maxsplit=2, flags=re.MULTILINE)
    assert " sort(" in first
    assert "overwrite=True" in rest.partition("```")[0]


def test_recipes_of_clusters_may_be_typed_one_after_the_other() -> None:
    """Each sort has an output of its own, which the one before did not make."""
    text = (ROOT / "docs" / "cluster.md").read_text()
    recipes, calls = (text.split("\n```python\n")[0], text.split("\n```python\n")[1])
    outputs = re.findall(r"cluster sort (?:[^\n]|\\\n)*? -o (\S+)", recipes) + re.findall(r'sort\("in.dat", "(.*?)"', calls)
    assert len(outputs) == 7
    assert len(set(outputs)) == len(outputs)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made as `make wheel` makes it, of the program under test."""
    if sanitizers():
        pytest.skip("a program with sanitizers is for no one else")
    return make_wheel(ROOT, tmp_path_factory.mktemp("dist"))


def make_wheel(tree: Path, directory: Path, umask: int = 0o022, **environment: str) -> Path:
    words = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, tree]
    environment = {**os.environ, **environment}
    done = subprocess.run(words, capture_output=True, text=True, check=False, umask=umask, env=environment)
    assert done.returncode == 0, done.stderr
    (made,) = directory.iterdir()
    return made


@only_in_soak
def test_the_same_commit_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """In another directory, later, by a user of other habits, who has no git."""
    for name in ("python", "power", "tuning", "appliance"):
        shutil.copytree(ROOT / name, tmp_path / "tree" / name, copy_function=shutil.copyfile)
    for name in ("setup.py", "pyproject.toml", "LICENSE"):
        shutil.copyfile(ROOT / name, tmp_path / "tree" / name)
    for path in (tmp_path / "tree").rglob("*.py"):
        path.chmod(0o600)
    date = subprocess.check_output(["git", "-C", ROOT, "log", "-1", "--format=%ct"], text=True).strip()
    (tmp_path / "dist").mkdir()
    again = make_wheel(tmp_path / "tree", tmp_path / "dist", umask=0o077, SOURCE_DATE_EPOCH=date, TZ="Asia/Tokyo")
    with zipfile.ZipFile(wheel) as archive:
        (tmp_path / "program").write_bytes(archive.read("ecosort/bin/ecosort"))
        assert {entry.external_attr >> 16 & 0o777 for entry in archive.infolist()} == {0o644, 0o664, 0o755}  # RECORD has its own
    assert again.read_bytes() == wheel.read_bytes()
    notes = subprocess.run(["readelf", "--notes", tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    assert "build-id" not in notes  # it would differ between directories of a build


def test_the_wheel_is_small_and_for_many_systems(wheel: Path) -> None:
    assert re.fullmatch(rf"ecosort-{ecosort.__version__}-py3-none-(manylinux_2_\d+|linux)_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        program = archive.getinfo("ecosort/bin/ecosort")
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        required = re.findall(r"^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    assert program.file_size < 6_900_000
    assert {"ecosort/py.typed", "ecosort/manual.json"} <= set(names)
    assert all("extra ==" in line for line in required)
    of_arrow = {re.split(r"\W", line)[0] for line in required if re.search(r"extra == ['\"]arrow", line)}
    assert of_arrow == {"numpy", "pyarrow"}  # all that sort_table imports; pyarrow does not bring numpy along


def test_the_wheel_works_where_there_is_nothing_but_python(wheel: Path, here: Path) -> None:
    """No index, no compiler, no other package, no environment; then numpy and pyarrow are lent for the other examples."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "fresh"], check=True)
    scripts = here / "fresh" / "bin"
    python = scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet"]  # whose own copy in there would take seconds to make
    subprocess.run([*pip, "install", "--no-index", wheel], check=True, capture_output=True)
    bare = {"PATH": "/nowhere"}
    said = subprocess.run([scripts / "ecosort", "--version"], capture_output=True, text=True, check=True, env=bare)
    assert said.stdout.splitlines()[0] == f"ecosort {ecosort.__version__}"
    for command, brought in (
        ("ecosort-power", "click>=8.1"),
        ("ecosort-tune", "optuna>=3.5"),
        ("ecosort-appliance", "uvicorn>=0.27"),
    ):
        done = subprocess.run([scripts / command, "--help"], capture_output=True, text=True, check=False, env=bare)
        assert done.returncode == 2
        assert "pip install '" in done.stderr
        assert f"'{brought}'" in done.stderr
        assert "'click>=8.1'" in done.stderr  # also of an extra that names another one
        assert "'ecosort" not in done.stderr  # an index may hold anything under that name
        assert done.stderr.count("\n") == 1
    done = subprocess.run([scripts / "ecosort", "power", "--help"], capture_output=True, text=True, check=False, env=bare)
    assert "pip install 'click>=8.1' 'httpx>=0.27'" in done.stderr
    missing = "import ecosort\ntry: ecosort.sort_table('x', 'a')\nexcept ecosort.BadInput as error: print(error)"
    said = subprocess.run([python, "-c", missing], capture_output=True, text=True, check=True, env=bare, cwd=here)
    assert "pip install 'numpy>=1.26' 'pyarrow>=18'" in said.stdout
    lent = {"PATH": "/nowhere", "ECOSORT_PROGRAM": "", "PYTHONPATH": sysconfig.get_path("purelib")}
    for example in EXAMPLES:
        run_example(example, python, here, **lent)
