"""Packages are described: which there are, from what they were built, what they need."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

PACKAGING = ROOT / "packaging"
BUILDINFO = """Format: 1.0
Source: ecosort
Build-Origin: Ubuntu
Installed-Build-Depends:
 cmake (= 3.25.1-1),
 libzstd-dev:amd64 (= 1.5.4+dfsg2-5),
 unrelated (= 1.0)
Environment:
 LANG="C"
"""


@pytest.fixture
def deb(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        "Package: ecosort\nVersion: 0.2.0\nArchitecture: amd64\nMaintainer: a <a@localhost>\n"
        "Depends: libc6 (>= 2.36), libzstd1 (>= 1.5.2) | other,\n libecosort1 (= 0.2.0)\nDescription: sorts\n"
    )
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, tmp_path / "ecosort.deb"], check=True, capture_output=True)
    return tmp_path / "ecosort.deb"


def bill_of(deb: Path) -> dict[str, Any]:
    place = deb.parent
    (place / "a.buildinfo").write_text(BUILDINFO)
    words = ["--buildinfo", place / "a.buildinfo", "--commit", "0" * 40, "--date", "1700000000", "--output", place / "out", deb]
    subprocess.run([sys.executable, PACKAGING / "sbom", *words], check=True)
    found: dict[str, Any] = json.loads((place / "out").read_text())
    return found


def test_the_bill_of_materials_names_the_package_and_what_it_was_built_from(deb: Path) -> None:
    bill = bill_of(deb)
    assert (bill["spdxVersion"], bill["creationInfo"]["created"]) == ("SPDX-2.3", "2023-11-14T22:13:20Z")
    packages = {package["name"]: package for package in bill["packages"]}
    assert set(packages) == {"ecosort", "cmake", "libzstd-dev", "libc6", "libzstd1"}
    assert packages["libzstd-dev"]["versionInfo"] == "1.5.4+dfsg2-5"
    assert packages["libzstd-dev"]["externalRefs"][0]["referenceLocator"] == "pkg:deb/ubuntu/libzstd-dev@1.5.4+dfsg2-5"
    assert packages["ecosort"]["checksums"][0]["checksumValue"] == hashlib.sha256(deb.read_bytes()).hexdigest()
    kinds = {(relation["spdxElementId"], relation["relationshipType"]) for relation in bill["relationships"]}
    assert {
        ("SPDXRef-DOCUMENT", "DESCRIBES"),
        ("SPDXRef-deb-cmake", "BUILD_DEPENDENCY_OF"),
        ("SPDXRef-deb-libzstd1", "RUNTIME_DEPENDENCY_OF"),
    } <= kinds
    there = {package["SPDXID"] for package in bill["packages"]} | {"SPDXRef-DOCUMENT"}
    assert {relation[end] for relation in bill["relationships"] for end in ("spdxElementId", "relatedSpdxElement")} <= there


def test_the_same_packages_have_the_same_bill(deb: Path) -> None:
    assert bill_of(deb) == bill_of(deb)


def test_packages_are_built_from_what_the_program_needs() -> None:
    """debian.txt and debian/control name the same libraries."""
    control = (PACKAGING / "debian" / "control").read_text().partition("\nPackage:")[0]
    group = (ROOT / "tuning/setup/debian.txt").read_text().partition("[program]\n")[2].partition("\n\n")[0].split("\n")
    libraries = {name for name in group if name.startswith("lib") or name.endswith("-dev")}
    assert {name for name in libraries if not re.search(rf"[ ,]{re.escape(name)}[,\s]", control)} == set()


@pytest.mark.parametrize(
    "script", [path for path in sorted(PACKAGING.iterdir()) if path.is_file() and path.stat().st_mode & 0o100]
)
def test_scripts_say_how_they_are_called(script: Path) -> None:
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "usage:" in done.stderr
