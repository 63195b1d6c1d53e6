"""How to read a file, where looking at it is not enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import field_validator, model_validator

from shoal.errors import PlanError
from shoal.plan.settings import Flag, Settings, named


class Reading(Settings):
    """How to read a file, where looking at it is not enough. Most settings are for text files.

    Attributes
    ----------
    delimiter, encoding : str or None
        Found by looking at the file where None.
    missing : tuple of str
        Texts that mark a missing value, beside an empty cell.
    header : bool
        Whether the first line has the names of the columns.
    decimal : {".", ","} or None
        Mark of decimals; found by looking where None.
    thousands : {",", ".", " ", "'"} or None
        Mark between thousands; none where None.
    signs : tuple of str
        Currency or per cent signs, or other units, that stand before or behind numbers, the same in a whole column.
    table : str or None
        Sheet of a workbook, or table of a database; need not be named where there is only one.
    """

    section: ClassVar[str] = "reading."

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    header: Flag = True
    decimal: Literal[".", ","] | None = None
    thousands: Literal[",", ".", " ", "'"] | None = None
    signs: tuple[str, ...] = ()
    table: str | None = None

    @field_validator("missing", "signs", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits_together(self) -> Reading:
        mistakes = []
        if self.thousands and self.thousands == self.decimal:
            mistakes.append("reading.thousands: is the mark of decimals, too; they must differ")
        if any(not sign.strip() or any(mark in "0123456789+-.," for mark in sign) for sign in self.signs):
            mistakes.append("reading.signs: a sign is a text without digits, points, commas, plus and minus")
        if mistakes:
            raise PlanError(mistakes)
        return self


def as_reading(value: object) -> Reading:
    """Return how to read a text file, from a Reading, its settings, or None."""
    if isinstance(value, Reading):
        return value
    if value is not None and not isinstance(value, Mapping):
        raise PlanError(f"reading: give {', '.join(Reading.model_fields)} by name, such as {{'encoding': 'latin-1'}}")
    named(value, "reading")
    return Reading(**(value or {}))
