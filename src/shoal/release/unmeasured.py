"""Releases that cannot be compared with their original: what is made of the comparison is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from shoal.errors import PlanError
from shoal.measures.measured import Measures
from shoal.release.release import Release


@dataclass(frozen=True, kw_only=True)
class UnmeasuredRelease(Release):
    """A release that is not compared with its original; says why in :meth:`why_not`."""

    def why_not(self, what: str) -> str:
        """Say why something is not to be had of this release."""
        raise NotImplementedError

    def measure(self, **settings: Any) -> Measures:
        """Refuse: measures compare all records."""
        self.refuse("measures")

    def report(self, path: str | Path, **settings: Any) -> NoReturn:
        """Refuse: a report is made of measures."""
        self.refuse("reports")

    def certificate(self, path: str | Path, **settings: Any) -> NoReturn:
        """Refuse: a bound is proved on all records."""
        self.refuse("certificates")

    def refuse(self, what: str) -> NoReturn:
        """Refuse something."""
        raise PlanError(self.why_not(what))
