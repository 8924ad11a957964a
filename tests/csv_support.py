"""The tests of `ecosort csv` share these: files of CSV row by row, and the order that Python gives them.

Python's csv module says what the values of a row are; rows are kept as bytes, because they must come out as they went in.
"""

import csv
import io
import ipaddress
import math
import random
import re
import subprocess
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeVar

from capabilities import SOAK

LEAST = ["--memory", "1MiB"]  # blocks of 8 KiB; a few MB make many runs


@dataclass(frozen=True)
class Dialect:
    delimiter: str = ","
    quote: str = '"'
    end: bytes = b"\n"


def field(value: str, dialect: Dialect = Dialect(), quoted: bool = False) -> bytes:
    """Writes the value as a row has it; in quotes where it must be, or where `quoted` says so."""
    needs = any(c in value for c in (dialect.delimiter, dialect.quote, "\n", "\r"))
    if not (quoted or needs):
        return value.encode("latin-1")
    return (dialect.quote + value.replace(dialect.quote, 2 * dialect.quote) + dialect.quote).encode("latin-1")


def sizes_up_to(most: int, block: int) -> list[int]:
    """Returns some sizes of files, and each at the borders of blocks; with ECOSORT_SOAK each."""
    if SOAK:
        return list(range(most))
    near = (border + shift for border in range(block, most, block) for shift in range(-4, 5))
    return sorted({*range(0, most, 397), *near})


def row(values: Sequence[str], dialect: Dialect = Dialect(), quoted: bool = False) -> bytes:
    return dialect.delimiter.encode().join(field(value, dialect, quoted) for value in values) + dialect.end


def values_of(raw: bytes, dialect: Dialect = Dialect()) -> list[str]:
    """Returns what Python's csv module reads in one row."""
    text = io.StringIO(raw.decode("latin-1"), newline="")
    rows = list(csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True))
    assert len(rows) == 1, raw
    return rows[0]


def number(value: str) -> Decimal | None:
    text = value.strip(" \t")
    return Decimal(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?", text) else None


def integer(value: str) -> int | None:
    text = value.strip(" \t")
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else None


def date(value: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def written_number(value: str) -> Decimal | None:
    """Numbers with a comma for the point, groups and signs, by one expression for all of their text."""
    sign, digits = r"[-+\u2212]?", r"(?:\d+|[1-9]\d{0,2}(?P<group>[. '_\xa0])(?:\d{3}(?P=group))*\d{3})"
    money = "[$\xa3\xa5\u20ac]"
    text = value.encode("latin-1").decode("utf-8", "replace").strip(" \t")
    found = re.fullmatch(
        rf"(?P<sign>{sign}) ?(?P<left>{money}?) ?(?P<number>{digits}?(?:,\d*)?) ?(?P<right>{money}?) ?(?P<percent>%?)", text
    )
    if not found or not re.search(r"\d", found["number"]) or (found["left"] and found["right"]):
        return None
    number_text = re.sub(r"[. '_\xa0]", "", found["number"]).replace(",", ".")
    exact = Decimal(number_text) / (100 if found["percent"] else 1)
    return -exact if found["sign"] in ("-", "\u2212") else exact


def ip(value: str) -> tuple[Any, ...] | None:
    try:
        one = ipaddress.ip_interface(value.strip(" \t"))
    except ValueError:
        return None
    return (one.version, int(one.ip), one.network.prefixlen, getattr(one.ip, "scope_id", None) or "")


UNITS = {letter: power for power, letter in enumerate("KMGTPEZYRQ", 1)}


def size(value: str) -> Fraction | None:
    found = re.fullmatch(r"([+-]?)(\d+(?:\.\d+)?)[ \t]*(?:([KMGTPEZYRQ])(B|iB)?|B)?", value.strip(" \t"), re.IGNORECASE)
    if not found:
        return None
    base = 1000 if (found[4] or "").upper() == "B" else 1024
    exact = Fraction(found[2]) * int(base ** UNITS.get((found[3] or "").upper(), 0))
    return -exact if found[1] == "-" else exact


def duration(value: str) -> Fraction | None:
    number_of = r"(\d+(?:\.\d+)?)"
    units: dict[str, int | Fraction] = {
        "w": 604800,
        "d": 86400,
        "h": 3600,
        "m": 60,
        "s": 1,
        "ms": Fraction(1, 10**3),
        "us": Fraction(1, 10**6),
        "ns": Fraction(1, 10**9),
    }
    text = value.strip(" \t")
    sign = -1 if text.startswith("-") else 1
    text = re.sub(r"^[+-]", "", text)
    spans: dict[str, list[int | Fraction]] = {
        "".join(rf"(?:{number_of}\s*{unit}\s*)?" for unit in units): list(units.values()),
        r"(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)": [3600, 60, 1],
        rf"P(?:{number_of}W)?(?:{number_of}D)?(?:T(?=\d)(?:{number_of}H)?(?:{number_of}M)?(?:{number_of}S)?)?": [
            604800,
            86400,
            3600,
            60,
            1,
        ],
    }
    for expression, seconds in spans.items():
        found = re.fullmatch(expression, text)
        if found and any(found.groups()):
            parts = zip(found.groups(), seconds, strict=True)
            return sign * sum((Fraction(part) * unit for part, unit in parts if part), Fraction(0))
    return None


def hexadecimal(value: str) -> int | None:
    text = value.strip(" \t")
    return int(text, 16) if re.fullmatch(r"[+-]?(0[xX])?[0-9a-fA-F]+", text) else None


def boolean(value: str) -> bool | None:
    words = {"true": True, "t": True, "yes": True, "y": True, "on": True, "1": True}
    return (words | {"false": False, "f": False, "no": False, "n": False, "off": False, "0": False}).get(
        value.strip(" \t").lower()
    )


def uuid_bytes(value: str) -> bytes | None:
    text = value.strip(" \t")
    shape = r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}"
    if not re.fullmatch(rf"{shape}|\{{({shape})\}}|urn:uuid:({shape})", text, re.IGNORECASE):
        return None
    return uuid.UUID(text).bytes


def floating(value: str) -> tuple[bool, float, float] | None:
    """NaN comes behind all, and -0 before 0."""
    text = value.strip(" \t")
    if not re.fullmatch(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", text, re.IGNORECASE):
        return None
    exact = float(text)
    return (True, 0.0, 0.0) if math.isnan(exact) else (False, exact, math.copysign(1, exact))


def natural(value: str) -> Any:
    name, *numbers = value.upper().split(".")
    return (name, *map(int, numbers))


SIZES = ("tiny", "S", "M|L", "X:L", "huge")
LISTED = "list:" + "|".join(re.sub(r"([|:\\])", r"\\\1", name) for name in SIZES)

READERS: dict[str, Callable[[str], Any]] = {
    "text": lambda value: value.encode("latin-1") or None,
    "nocase": lambda value: value.encode("latin-1").upper() or None,
    "number": number,
    "integer": integer,
    "date": date,
    "version": lambda value: tuple(int(part) for part in value.split(".")) if value else None,
    "length": lambda value: sum(byte & 0xC0 != 0x80 for byte in value.encode("latin-1")),
    "natural": lambda value: natural(value) if value else None,
    "ip": ip,
    "size": size,
    "duration": duration,
    "hex": hexadecimal,
    "bool": boolean,
    "uuid": uuid_bytes,
    "float": floating,
    LISTED: lambda value: SIZES.index(value) if value in SIZES else None,
    "number:decimal=,": written_number,
}


TYPE_NAMES = [*dict.fromkeys(name.partition(":")[0] for name in READERS)]


@dataclass(frozen=True)
class Key:
    column: int
    type: str = "text"
    descending: bool = False

    def words(self, names: Sequence[str] | None) -> str:
        name = names[self.column] if names else str(self.column + 1)
        return f"{name}:{self.type}{':desc' if self.descending else ''}"

    def read(self, values: Sequence[str]) -> Any:
        return READERS[self.type](values[self.column])


class Directed(Protocol):
    """Counts of a key when values are there."""

    @property
    def descending(self) -> bool: ...


Row = TypeVar("Row")


def ordered(read: Sequence[tuple[list[Any], Row]], keys: Sequence[Directed], nulls_first: bool, unique: bool) -> list[Row]:
    """The rows as a stable sort by their values leaves them; it sorts by the last key first, and keeps what is equal in order."""
    order = list(read)
    for at, key in reversed(list(enumerate(keys))):
        nulls = [one for one in order if one[0][at] is None]
        others = [one for one in order if one[0][at] is not None]
        others.sort(key=lambda one: one[0][at], reverse=key.descending)
        order = nulls + others if nulls_first else others + nulls
    return [raw for i, (values, raw) in enumerate(order) if not unique or i == 0 or order[i - 1][0] != values]


def in_order(
    rows: Sequence[bytes], keys: Sequence[Key], dialect: Dialect = Dialect(), nulls_first: bool = False, unique: bool = False
) -> list[bytes]:
    """The rows as a stable sort by the keys leaves them."""
    read = [([key.read(values) for key in keys], raw) for raw in rows for values in [values_of(raw, dialect)]]
    return ordered(read, keys, nulls_first, unique)


def run_csv(ecosort: Path, words: Sequence[str], directory: Path, data: bytes | None = None) -> tuple[int, bytes, str]:
    """Exit code, standard output and standard error."""
    done = subprocess.run([ecosort, "csv", *words], cwd=directory, input=data, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def random_text(rng: random.Random, most: int = 12) -> str:
    return "".join(rng.choice("abAB019 _,;\"'\n\r\t\xe9\xff\x00") for _ in range(rng.randrange(most)))


def random_number(rng: random.Random) -> str:
    return rng.choice(
        [
            str(rng.randrange(-50, 50)),
            f"{rng.uniform(-9, 9):.{rng.randrange(8)}f}",
            f"{rng.uniform(-1, 1):e}",
            f"{rng.randrange(10**25)}",
            f"+{rng.randrange(9)}.{rng.randrange(10**20)}e{rng.randrange(-40, 40)}",
            "0",
            "-0.0",
            ".5",
            "5.",
            " 7 ",
            "",
            "abc",
            "1.2.3",
            "1e",
            "-",
            "inf",
        ]
    )


def random_integer(rng: random.Random) -> str:
    return rng.choice([str(rng.randrange(-50, 50)), str(rng.randrange(-(10**30), 10**30)), "007", "+3", "1.0", "1e3", "", "x"])


def random_date(rng: random.Random) -> str:
    day = f"{rng.choice([1969, 1970, 2000, 2024])}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
    time = f"{rng.randrange(24):02}:{rng.randrange(60):02}"
    seconds = f"{time}:{rng.randrange(60):02}"
    fraction = f"{seconds}.{rng.choice(['5', '25', '250', '123456', '000001'])}"
    zone = rng.choice(["Z", "+02:00", "-0530", "+01"])
    return rng.choice(
        [day, day, f"{day}T{time}", f"{day} {seconds}", f"{day}T{fraction}", f"{day}T{seconds}{zone}", "2023-02-29", ""]
    )


def random_version(rng: random.Random) -> str:
    return ".".join(str(rng.randrange(1, 13)) for _ in range(3)) if rng.random() < 0.95 else ""


def random_natural(rng: random.Random) -> str:
    return (
        ".".join([rng.choice(["chr", "CHR", "Chr", "lib"]), *(str(rng.randrange(1, 13)) for _ in range(3))])
        if rng.random() < 0.95
        else ""
    )


def random_ip(rng: random.Random) -> str:
    four = ipaddress.IPv4Address(rng.choice([rng.randrange(2**32), 0x0A000000 + rng.randrange(600), 0, 2**32 - 1]))
    six = ipaddress.IPv6Address(
        rng.choice([rng.randrange(2**128), (0x20010DB8 << 96) + rng.randrange(300), 0xFFFF << 32 | int(four), 1])
    )
    made = rng.choice(
        [f"{four}", f"{four}/{rng.randrange(33)}", f"{six}", six.exploded.upper(), f"{six}/{rng.randrange(129)}", f" {four} "]
    )
    return rng.choice(
        [made] * 9 + ["", "10.0.0.256", "10.0.0", "10.0.0.01", "1.2.3.4/33", "::1/129", "1.2.3.4/", "fe80::1%eth0", ":::", "a"]
    )


def random_size(rng: random.Random) -> str:
    number_text = rng.choice(
        [str(rng.randrange(3000)), f"{rng.uniform(0, 2000):.{rng.randrange(1, 9)}f}", str(rng.randrange(10**20))]
    )
    unit = rng.choice(["", "K", "k", "M", "MB", "mb", "KiB", "GiB", "T", " PB", "EiB", "Q", "B", " b"])
    return rng.choice([number_text + unit] * 9 + ["", "K", "1.K", "1e3K", "1KiBB", "1Ki", "-1K", "-0", "0G", "1 024", "ten"])


def random_duration(rng: random.Random) -> str:
    a, b, c = rng.randrange(30), rng.randrange(60), rng.randrange(60)
    fraction = rng.choice(["", ".5", ".125", ".000000001", f".{rng.randrange(10**25)}"])
    made = [
        f"{a}h{b}m{c}s",
        f"{a}h",
        f"{b * 60}s",
        f"{b}m {c}{fraction}s",
        f"{a}:{b:02}:{c:02}{fraction}",
        f"PT{a}H{b}M{c}{fraction}S",
    ]
    made += [f"P{a}DT{b}H", f"P{a}W", f"{a}d", f"{c}ms{b}ns", f"-{b}m", f"{a}.{b:02}h", "PT0S", "0s", f"{b}us"]
    wrong = ["", "1h30", "30m1h", "01:30", "1:60:00", "P1Y", "P", "PT", "P1DT", "90", "1h2h", "1:2:3", "h", "P1M"]
    return rng.choice(made if rng.random() < 0.8 else wrong)


def random_hex(rng: random.Random) -> str:
    digits = f"{rng.choice([rng.randrange(16), rng.randrange(10**6), rng.randrange(2**200)]):x}"
    made = rng.choice(
        [digits, digits.upper(), f"0x{digits}", f"-0X{digits}", f"+{digits}", f"000{digits}", f"0x7{'0' * 30}{digits[:2]}"]
    )
    return rng.choice([made] * 9 + ["", "0x", "g1", "1 2", "-", "0x0x1", "-0"])


def random_boolean(rng: random.Random) -> str:
    return rng.choice(
        ["true", "TRUE", "t", "Yes", "y", "on", "1", "false", "F", "no", "N", "OFF", "0", " true", "", "maybe", "2", "tru"]
    )


def random_uuid(rng: random.Random) -> str:
    one = uuid.UUID(int=rng.choice([rng.randrange(2**128), 0x018F << 112 | rng.randrange(300), 0, 2**128 - 1]))
    made = rng.choice([str(one), str(one).upper(), one.hex, f"{{{one}}}", one.urn])
    return rng.choice([made] * 9 + ["", str(one)[:-1], str(one).replace("-", "", 1), f"{{{one}", one.hex[:-1] + "g"])


def random_float(rng: random.Random) -> str:
    made = [
        repr(rng.uniform(-9, 9)),
        f"{rng.randrange(10**25)}",
        f"{rng.uniform(-1, 1):e}",
        f"1e{rng.randrange(-400, 400)}",
        "5e-324",
    ]
    made += [
        "0",
        "-0",
        "-0.0",
        "inf",
        "-Infinity",
        "NaN",
        "-nan",
        "1e999",
        "-1e999",
        "1e-999",
        "-1e-999",
        ".5",
        "5.",
        " 7 ",
        "+3",
    ]
    return (
        rng.choice(made) if rng.random() < 0.9 else rng.choice(["", "infin", "nan(1)", "0x1p3", "1e", ".", "--1", "1_000", "1,5"])
    )


def random_listed(rng: random.Random) -> str:
    return rng.choice([*SIZES, *SIZES, "", "s", "M", "S ", "tiny|S"])


def random_written(rng: random.Random) -> str:
    number_of = rng.choice([rng.randrange(1000), rng.randrange(10**7), rng.randrange(10**16)])
    group = rng.choice([".", " ", "'", "_", "\xa0", ""])
    text = f"{number_of:,}".replace(",", group) + rng.choice(["", ",5", ",50", f",{rng.randrange(10**20)}", ","])
    text = rng.choice(["", "", "-", "+", "\u2212", "- "]) + rng.choice([text, f"\u20ac{text}", f"{text} \u20ac", f"{text} %"])
    wrong = [
        "",
        "1,234,5",
        "1.23",
        "1234.567",
        "0.123",
        "1.234'567",
        "12.34.567,8x",
        "$1\u20ac",
        "abc",
        "1,5.000",
        ",",
        "--1",
        "1..234",
    ]
    return (text if rng.random() < 0.9 else rng.choice(wrong)).encode().decode("latin-1")


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "text": random_text,
    "nocase": random_text,
    "number": random_number,
    "integer": random_integer,
    "date": random_date,
    "version": random_version,
    "length": random_text,
    "natural": random_natural,
    "ip": random_ip,
    "size": random_size,
    "duration": random_duration,
    "hex": random_hex,
    "bool": random_boolean,
    "uuid": random_uuid,
    "float": random_float,
    LISTED: random_listed,
    "number:decimal=,": random_written,
}


def random_rows(rng: random.Random, count: int, types: Sequence[str], dialect: Dialect = Dialect()) -> list[bytes]:
    """Rows with a value of each type; the last column is the number of the row."""
    return [row([*(MAKERS[type_](rng) for type_ in types), str(i)], dialect, quoted=rng.random() < 0.2) for i in range(count)]
