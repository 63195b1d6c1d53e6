"""What kept columns give away of others, as data: counts, never values."""

from __future__ import annotations

from dataclasses import dataclass

BLOCKING = ("copy", "scaled", "determines", "sum of kept")


@dataclass(frozen=True)
class KeptFinding:
    """What kept columns give away.

    Attributes
    ----------
    kind : str
        ``copy``, ``scaled`` (a multiple, plus a constant), ``determines`` (each of its values goes with one), ``sum of
        kept``: they give back a quasi-identifier, and need a reason in ``accept``. ``tells`` (nearly so), ``sum`` (of
        several quasi-identifiers), ``unique`` (records that are alone with their value), ``singles out`` (records of a
        group that are alone with their values of these columns together).
    columns : list of str
        The kept columns.
    of : list of str
        The quasi-identifiers.
    records : int
        Records whose original can be read off, or that are alone.
    narrowed : int
        More records, whose quasi-identifier is known to a tenth of its range or of its values.
    looked_at : int
        Records that were looked at.
    margin : float
        By how many percent of those looked at the count may be off for all records, 19 times of 20; 0 where all were.
    reason : str
        Why it is accepted, where it is.
    """

    kind: str
    columns: list[str]
    of: list[str]
    records: int
    looked_at: int
    narrowed: int = 0
    margin: float = 0.0
    reason: str = ""

    @property
    def blocking(self) -> bool:
        """Whether an original can be read off, so that the release is refused unless that is accepted."""
        return self.kind in BLOCKING
