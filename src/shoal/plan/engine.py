"""Which engine moves the rows of a table that is protected block by block, and with what."""

from __future__ import annotations

import re
from typing import ClassVar, Literal, get_args

from pydantic import Field, field_validator, model_validator

from shoal.errors import PlanError
from shoal.plan.settings import Settings

EngineName = Literal["memory", "duckdb", "spark"]
ENGINES: tuple[str, ...] = get_args(EngineName)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_LEAST = 256 * 2**20  # bytes with which DuckDB can sort at all, beside a worker


class EngineSettings(Settings):
    """The engine, and what only one of them knows.

    Attributes
    ----------
    name : {"memory", "duckdb", "spark"}
        What moves the rows. No released cell depends on it.
    memory : str or None
        Of DuckDB: most memory of the whole process, such as ``2GiB``; half of it is DuckDB's.
    master : str or None
        Of Spark: the cluster, such as ``spark://host:7077``; an existing session is used where there is one.
    row : str or None
        Of Spark: column whose values number the rows, where these do not come from Parquet files.
    settings : dict
        Of Spark: settings of a new session, ``spark.executor.memory`` and others.

    Examples
    --------
    >>> EngineSettings(name="duckdb", memory="2GiB").memory_bytes
    2147483648
    """

    section: ClassVar[str] = "engine."

    name: EngineName
    memory: str | None = None
    master: str | None = None
    row: str | None = None
    settings: dict[str, str] = Field(default={})

    @field_validator("memory")
    @classmethod
    def _an_amount(cls, value: str | None) -> str | None:
        if value is not None and bytes_of(value) < _LEAST:
            raise PlanError("engine.memory: must be at least 256MiB")
        return value

    @model_validator(mode="after")
    def _has_an_effect(self) -> EngineSettings:
        mistakes = []
        if self.memory and self.name != "duckdb":
            mistakes.append(f"engine.memory: has no effect with engine '{self.name}', only with duckdb; leave it out")
        for setting in ("master", "row", "settings"):
            if getattr(self, setting) and self.name != "spark":
                mistakes.append(
                    f"engine.{setting}: has no effect with engine '{self.name}', only with spark; leave it out"
                )
        mistakes += [
            f"engine.settings: '{name}' is no setting of Spark; they start with spark."
            for name in self.settings
            if not name.startswith("spark.")
        ]
        if mistakes:
            raise PlanError(mistakes)
        return self

    @property
    def memory_bytes(self) -> int | None:
        """Most memory of the process in bytes; None where nothing is said."""
        return None if self.memory is None else bytes_of(self.memory)


def bytes_of(text: str) -> int:
    """Return an amount of memory in bytes.

    >>> bytes_of("2GiB"), bytes_of("500 MB")
    (2147483648, 500000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE)
    if not found:
        raise PlanError("engine.memory: write an amount such as 2GiB or 500MB")
    unit = found[2].lower()
    power = "kmgt".find(unit) + 1 if unit else 0
    return int(float(found[1]) * (1024**power if found[3] else _UNITS[unit]))
