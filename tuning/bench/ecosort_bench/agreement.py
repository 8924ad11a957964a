"""Compares the outputs of a stage."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ecosort_power.errors import RunError


@dataclass
class Agreement:
    """The contenders of a stage make the same of its input: the digest of each output is that of the first one."""

    stage: str
    what: str  # in which they agree
    digest: str | None = None  # of the first one; may be known before
    _of: dict[str, str] = field(default_factory=dict)

    def require(self, contender: str, digest: str) -> str:
        """Returns the digest. RunError where it is another one."""
        if self.digest is None:
            self.digest = digest
        if digest != self.digest:
            raise RunError(f"{self.stage}: the output of {contender} has other {self.what} than those before")
        return digest

    def require_once(self, contender: str, digest_of_output: Callable[[], str]) -> str:
        """Looks at the first output of each contender only: its digest takes long."""
        if contender not in self._of:
            self._of[contender] = self.require(contender, digest_of_output())
        return self._of[contender]
