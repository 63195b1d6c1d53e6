"""Figures under their names: a dataclass that is also a mapping of its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, cast

Figures = dict[str, Any]  # figures by name while they are put together


class NamedFigures(Mapping[str, Any]):
    """What a dataclass of figures inherits to be a mapping of their names to their values, too."""

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return any(name == own for own in self)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(cast(Any, self)))

    def __len__(self) -> int:
        return len(fields(cast(Any, self)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        return asdict(cast(Any, self))
