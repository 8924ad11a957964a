"""The tests of `ecosort jsonl` share these: JSON lines, and the order that Python gives them.

Python's json module says what the values of a line are; lines are kept as bytes, because they must come out as they went in.
"""

import json
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import csv_support
from csv_support import READERS, random_version

LEAST = ["--memory", "1MiB"]  # blocks of 8 KiB; a few MB make many runs
BLOCK = 8 * 1024


class Literal(str):
    """A number as a line has it."""


def read(raw: bytes) -> Any:
    """Returns what Python's json module reads in one line; numbers keep their digits."""
    return json.loads(raw, parse_int=Literal, parse_float=Literal)


Way = tuple[str | int, ...]


def value_at(value: Any, way: Way) -> Any:
    for step in way:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else None
    return value


def text_of(value: Any) -> bytes | None:
    """Returns what a key compares; objects and arrays are compared by other tests."""
    if value is None:
        return None
    if isinstance(value, bool):
        return b"true" if value else b"false"
    assert isinstance(value, str)
    return value.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Key:
    way: Way
    type: str = "text"
    descending: bool = False

    def words(self) -> str:
        path = ""
        for step in self.way:
            if isinstance(step, int):
                path += f"[{step}]"
            else:
                quoted = '"' + step.replace("\\", "\\\\").replace('"', '\\"') + '"'
                path += ("." if path else "") + (step if re.fullmatch(r"\w+", step) else quoted)
        return f"{path}:{self.type}{':desc' if self.descending else ''}"

    def value(self, raw: bytes) -> Any:
        text = text_of(value_at(read(raw), self.way))
        if text is None or (text == b"" and self.type in ("text", "nocase")):
            return text
        if self.type in ("version", "natural") and text == b"":
            return ()
        return READERS[self.type](text.decode("latin-1"))


def written(rng: random.Random, value: Any) -> bytes:
    """The value as a line may have it: with or without blanks and escapes."""
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,", "\t:  ")])
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators)
    text = re.sub(r'"@([^"]*)"', r"\1", text)  # numbers with digits of their own
    if rng.random() < 0.2:
        text = rng.choice([" ", "\t", ""]) + text + rng.choice([" ", "\r", ""])
    return text.encode("utf-8", "surrogatepass") + b"\n"


def random_text(rng: random.Random, most: int = 12) -> str:
    return "".join(rng.choice("abAB019 _,;\"\\/'\n\r\t\xe9\u20ac\U0001f600\x00{}[]:") for _ in range(rng.randrange(most)))


def random_json_number(rng: random.Random) -> str:
    small, large = str(rng.randrange(-50, 50)), str(rng.randrange(10**25))
    exponent = f"{rng.randrange(9)}.{rng.randrange(10**20)}e{rng.randrange(-40, 40)}"
    return "@" + rng.choice([small, large, exponent, f"{rng.uniform(-1, 1):.9f}", "1e5", "1E-3", "-0", "0.10"])


def random_written(rng: random.Random) -> str:
    return csv_support.random_written(rng).encode("latin-1").decode()


MAKERS = csv_support.MAKERS | {
    "text": random_text,
    "nocase": random_text,
    "length": random_text,
    "number:decimal=,": random_written,
}


def random_value(rng: random.Random, type_: str) -> Any:
    if type_ == "version":
        return rng.choice([random_version(rng), random_version(rng), None])
    if type_ in ("number", "integer", "text", "length", "bool", "float", "size") and rng.random() < 0.5:
        return rng.choice([random_json_number(rng), random_json_number(rng), True, False, None])
    return MAKERS[type_](rng) if rng.random() < 0.95 else None


def random_lines(rng: random.Random, count: int, types: Sequence[str]) -> list[bytes]:
    """Lines with a value of each type at ("values", its number, "v"), and the number of the line."""
    lines = []
    for i in range(count):
        values = [{"v": random_value(rng, type_)} if rng.random() < 0.97 else {} for type_ in types]
        members = [("n", f"@{i}"), ("values", values), ("a.b", random_text(rng)), ("rest", {"n": [rng.random() < 0.5, None]})]
        rng.shuffle(members)
        lines.append(written(rng, dict(members)))
    return lines


def run_jsonl(ecosort: Path, words: Sequence[str], directory: Path, data: bytes | None = None) -> tuple[int, bytes, str]:
    """Exit code, standard output and standard error."""
    done = subprocess.run([ecosort, "jsonl", *words], cwd=directory, input=data, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")
