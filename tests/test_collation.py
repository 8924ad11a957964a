"""The order of a language: text@LOCALE of csv and jsonl, and `lines --collate`, against PyICU and GNU sort."""

import functools
import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from capabilities import only_in_soak
from csv_support import LEAST, row, run_csv
from inplace.support import kill_at_sync
from sort_support import Run

PYTHON = "/usr/bin/python3"  # Debian's, for which there is PyICU (python3-icu)
TEXT = """
Äpfel Apfel apfel Zebra zebra Ärger Arger Öl Ol öl über Uber straße strasse Strasse Straße Åke Ake Ånger Zorn élan elan Élan coté
côte côté cote file10 file9 file1 File10 中文 北京 上海 广州 张 李 王 ñandu nube ¿que? que -dash dash co-op coop naïve naive
\ufb01ne fine Łódź Lodz İstanbul Istanbul \u0131ss\u0131z e\u0301t été Æsir Aesir ß ss \U0001f600 \u3042 \u30a2 日本 café
cafe\u0301
"""
WORDS = TEXT.split()

# Debian builds one PyICU for its Python; it reads texts and a locale and prints their sort keys.
ASK_ICU = """
import sys, json, icu
tag, texts = json.load(sys.stdin)
collator = icu.Collator.createInstance(icu.Locale.forLanguageTag('und' + tag[4:] if tag.startswith('root') else tag))
json.dump([collator.getSortKey(text).hex() for text in texts], sys.stdout)
"""


def random_texts(rng: random.Random, count: int) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=rng.choice([1, 1, 2, 5]))) + rng.choice(["", "", "!", "10", "9"]) for _ in range(count)]


def texts_of_marks(rng: random.Random) -> list[str]:
    """Marks behind signs and characters without weight: ICU's comparison of two of them depends on how they begin."""
    return ["".join(rng.choices("ab-_ \u0301\u0e48\u200dé", k=rng.randrange(1, 6))) for _ in range(1500)]


@functools.cache
def has_pyicu() -> bool:
    return subprocess.run([PYTHON, "-c", "import icu"], capture_output=True, check=False).returncode == 0


def sort_keys(locale: str, texts: list[str]) -> list[bytes]:
    if not has_pyicu():
        pytest.skip("python3-icu is not installed")
    asked = json.dumps([locale, texts])
    done = subprocess.run([PYTHON, "-c", ASK_ICU], input=asked, capture_output=True, text=True, timeout=60, check=True)
    return [bytes.fromhex(key) for key in json.loads(done.stdout)]


LOCALES = [
    "root",
    "de",
    "sv",
    "zh",
    "de-u-co-phonebk",
    "de-u-kn-true",
    "en-u-ks-level1",
    "en-u-ka-shifted",
    "fr-CA",
    "root-u-kf-upper",
    "root-u-ks-identic",
    "th",  # shifted
]


@pytest.mark.parametrize("locale", LOCALES)
def test_rows_have_the_order_of_icu(ecosort: Path, tmp_path: Path, locale: str) -> None:
    rng = random.Random(locale)
    texts = [*WORDS, *random_texts(rng, 1500), *texts_of_marks(rng)]
    keys = sort_keys(locale, texts)
    order = sorted(range(len(texts)), key=keys.__getitem__)
    data = "".join(f'"{text}",{i}\n' for i, text in enumerate(texts)).encode()
    first = {keys[i]: i for i in reversed(order)}
    for unique, wanted in (([], order), (["--unique"], [*reversed(first.values())])):
        words = ["--no-header", *unique, "--by", f"1:text@{locale}", "-", "-o", "-"]
        code, output, error = run_csv(ecosort, words, tmp_path, data)
        assert (code, error) == (0, "")
        assert [int(line.rsplit(b",", 1)[1]) for line in output.splitlines()] == wanted


@pytest.mark.parametrize("descending", [False, True])
def test_beyond_memory_and_in_json_lines_the_order_is_the_same(ecosort: Path, tmp_path: Path, descending: bool) -> None:
    texts = random_texts(random.Random(descending), 9000)
    keys = sort_keys("sv", texts)
    order = sorted(range(len(texts)), key=keys.__getitem__, reverse=descending)
    if descending:  # equal texts stay in the order of the input
        order = sorted(range(len(texts)), key=lambda i: (bytes(255 - byte for byte in keys[i]) + b"\xff", i))
    lines = [json.dumps({"a": text, "i": i, "rest": "x" * 120}) for i, text in enumerate(texts)]
    words = ["jsonl", *LEAST, "--by", f"a:text@sv{':desc' if descending else ''}", "--stats", "stats", "-q", "-", "-o", "-"]
    done = subprocess.run(
        [ecosort, *words], input="\n".join(lines).encode() + b"\n", capture_output=True, cwd=tmp_path, timeout=60, check=True
    )
    stats = json.loads((tmp_path / "stats").read_text())
    assert stats["runs"] > 1
    assert stats["collation"].startswith("ICU ")
    assert [json.loads(line)["i"] for line in done.stdout.splitlines()] == order


def sort_lines(ecosort: Path, words: list[str], data: bytes) -> bytes:
    done = subprocess.run([ecosort, "lines", *words], input=data, capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("reverse", [False, True])
def test_lines_have_the_order_of_icu_and_then_of_their_bytes(ecosort: Path, tmp_path: Path, reverse: bool) -> None:
    texts = [*random_texts(random.Random(2), 3000), "cafe\u0301", "café", ""]  # the last but one are canonically equivalent
    keys = sort_keys("de", texts)
    order = sorted(range(len(texts)), key=lambda i: (keys[i], texts[i].encode()), reverse=reverse)
    data = "".join(f"{text}\n" for text in texts).encode()
    wanted = "".join(f"{texts[i]}\n" for i in order).encode()
    words = ["--collate", "de", *["-r"] * reverse]
    assert sort_lines(ecosort, words, data) == wanted
    (tmp_path / "in").write_bytes(data * 20)
    spilled = sort_lines(ecosort, [*words, "-S", "1M", "-u", str(tmp_path / "in")], b"")
    assert spilled.count(b"\n") == len(set(keys)), "-u keeps one of the lines that are equal to the language"


def test_keys_of_lines_are_texts_in_the_order_or_what_their_letters_say(ecosort: Path) -> None:
    rng = random.Random(4)
    texts = [text.replace(" ", "_") for text in random_texts(rng, 1000)]
    lines = [(rng.randrange(5), text) for text in texts]
    keys = sort_keys("de", texts)
    order = sorted(range(len(lines)), key=lambda i: (lines[i][0], keys[i]))
    data = "".join(f"{text} {number}\n" for number, text in lines).encode()
    wanted = "".join(f"{lines[i][1]} {lines[i][0]}\n" for i in order).encode()
    assert sort_lines(ecosort, ["--collate=de", "-s", "-k2,2n", "-k1,1"], data) == wanted


@only_in_soak  # localedef takes seconds
@pytest.mark.parametrize(("name", "locale"), [("de_DE", "de"), ("sv_SE", "sv")])
def test_gnu_sort_agrees_about_plain_words(ecosort: Path, tmp_path: Path, name: str, locale: str) -> None:
    """Both know where letters go; about punctuation, digits and signs they differ."""
    made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", tmp_path / f"{name}.UTF-8"], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("the sources of locales are not installed")
    rng = random.Random(name)
    alphabet = "abcdefgxyzåäöéABCXYZÅÄÖ"
    words = sorted({"".join(rng.choices(alphabet, k=rng.randrange(1, 9))) for _ in range(3000)})
    rng.shuffle(words)
    data = "".join(f"{word}\n" for word in words).encode()
    environment = os.environ | {"LOCPATH": str(tmp_path), "LC_ALL": f"{name}.UTF-8"}
    done = subprocess.run(["sort"], input=data, env=environment, capture_output=True, timeout=60, check=True)
    assert sort_lines(ecosort, ["--collate", locale], data) == done.stdout


def test_another_version_of_icu_does_not_continue(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\nb\n")
    request = {"schema": "ecosort.request/1", "inputs": ["in.csv"], "place": {"output": "out.csv"}}
    rows: dict[str, dict[str, Any]] = {"csv": {"keys": ["a:text@de"]}, "lines": {"collate": "de"}}
    for form, members in rows.items():
        for version, code in (("ICU 1.0, collation 1.0", 2), ("", 0)):
            text = json.dumps(request | {form: members | {"collation_version": version}})
            (tmp_path / "request.json").write_text(text)
            done = run("run", "request.json", cwd=tmp_path)
            assert done.returncode == code, done.stderr
            assert ("was begun with ICU 1.0, collation 1.0, and here is ICU" in done.stderr) == (code == 2)


def test_letters_that_say_the_same_otherwise_are_refused(run: Run) -> None:
    for letter in ("-f", "-d", "-i"):
        done = run("lines", "--collate=de", letter, "/dev/null")
        assert done.returncode == 2
        assert "--collate cannot be combined with -d, -f and -i" in done.stderr


def test_rows_of_two_keys_share_a_window(ecosort: Path, tmp_path: Path) -> None:
    rng = random.Random(9)
    texts = random_texts(rng, 1500)
    keys = sort_keys("de", texts)
    numbers = [rng.randrange(4) for _ in texts]
    order = sorted(range(len(texts)), key=lambda i: (keys[i], numbers[i]))
    data = b"".join(row([text.encode().decode("latin-1"), str(numbers[i]), str(i)]) for i, text in enumerate(texts))
    words = ["--no-header", "--by", "1:text@de", "--by", "2:integer", "-", "-o", "-"]
    code, output, error = run_csv(ecosort, words, tmp_path, data)
    assert (code, error) == (0, "")
    assert [int(line.rsplit(b",", 1)[1]) for line in output.splitlines()] == order


@pytest.mark.parametrize("locale", ["de", "fr-CA", "en-u-kn-true"])
def test_rows_with_one_first_text_have_the_order_of_the_second(ecosort: Path, tmp_path: Path, locale: str) -> None:
    """Rows with equal first weights may all have one text, so that the next key decides, or several."""
    rng = random.Random(locale)
    cities = ["Köln", "Straße", "cafe", "Zürich am See"]
    variants = {"cafe": ["cafe", "café", "Cafe"], "Straße": ["Straße", "Strasse"]}
    firsts = [rng.choice(variants.get(city, [city])) for city in rng.choices(cities, k=1200)]
    seconds = random_texts(rng, len(firsts))
    keys = list(zip(sort_keys(locale, firsts), sort_keys(locale, seconds), strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    data = "".join(f'"{a}","{b}",{i}\n' for i, (a, b) in enumerate(zip(firsts, seconds, strict=True))).encode()
    words = ["--no-header", "--by", f"1:text@{locale}", "--by", f"2:text@{locale}", "-", "-o", "-"]
    code, output, error = run_csv(ecosort, words, tmp_path, data)
    assert (code, error) == (0, "")
    assert [int(line.rsplit(b",", 1)[1]) for line in output.splitlines()] == order


def test_a_job_keeps_the_version_and_resumes(ecosort: Path, run: Run, tmp_path: Path) -> None:
    texts = random_texts(random.Random(8), 12_000)
    (tmp_path / "in").write_text("".join(f"{text} {'x' * 100}\n" for text in texts))
    words = ("lines", "--collate=de", "-S", "1M", tmp_path / "in", "--quiet", "-o")
    plain, out = tmp_path / "plain", tmp_path / "out"
    assert run(*words, plain, "--stats", "stats", cwd=tmp_path).returncode == 0
    assert kill_at_sync(ecosort, tmp_path, 3, *words, out, "--resumable")
    version = json.loads((tmp_path / "stats").read_text())["collation"]
    kept = [path.read_bytes() for path in (tmp_path / "out.ecosort").iterdir()]
    assert any(f'"collation_version":"{version}"'.encode() in content for content in kept)
    assert run("resume", out).returncode == 0
    assert out.read_bytes() == plain.read_bytes()
