"""The stage of keys that begin alike: dates and URLs in records of 100 bytes, against random keys of the same length."""

from dataclasses import dataclass

from ecosort_bench.contenders import Contenders, Work

STAGE_PREFIX = "keys_"
RANDOM = "random_keys"
RANDOM_INPUT_KIND = "bytes"


@dataclass(frozen=True)
class LongKey:
    """A kind of key at the beginning of each record; `input_kind` is what ecosort_make_lines calls it."""

    input_kind: str
    what: str
    bytes: int

    @property
    def stage(self) -> str:
        return STAGE_PREFIX + self.input_kind

    @property
    def contenders(self) -> tuple[str, str]:
        return ("ecosort", RANDOM)


LONG_KEYS = (
    LongKey("dates", "ISO timestamps with milliseconds", 24),
    LongKey("urls", "URLs of six shops", 64),
)


def command(key: LongKey, programs: Contenders, work: Work) -> list[str]:
    """Makes the command for both contenders, which differ in their input."""
    return programs.sort_command(work, "--key", f"0:{key.bytes}", "--stats", str(work.stats))
