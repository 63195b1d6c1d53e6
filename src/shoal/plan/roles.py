"""What the columns of a table are: their role in the release, their kind, and whether they look like identifiers."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a column is for, and so what happens to it."""

    IDENTIFIER = "identifier"
    """Names a person or company directly: removed."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Could single somebody out together with others: microaggregated."""
    CONFIDENTIAL = "confidential"
    """What the release is about: kept as it is."""
    WEIGHT = "weight"
    """Sampling weight: used for weighted means, kept."""
    STRATUM = "stratum"
    """Records of different strata are never mixed; kept."""
    HOUSEHOLD = "household"
    """Tells households, or other wholes, apart: k counts these; renumbered, kept or removed."""


class Kind(StrEnum):
    """What sort of values a column has."""

    NUMERIC = "numeric"
    """Numbers with a distance."""
    DATE = "date"
    """Dates and times: distances in time."""
    ORDINAL = "ordinal"
    """Categories in an order that the user gives."""
    NOMINAL = "nominal"
    """Categories and text."""
    SEMANTIC = "semantic"
    """Categories with a hierarchy that says what they are kinds of."""
    BOOLEAN = "boolean"
    """True and false."""
    OTHER = "other"
    """Anything else: lists, bytes, durations."""


MEASURABLE = (Kind.NUMERIC, Kind.DATE)  # kinds that the numeric methods take
ORDERED = (*MEASURABLE, Kind.ORDINAL)
EVERY_KIND = (*ORDERED, Kind.NOMINAL, Kind.SEMANTIC)
CATEGORIES = (Kind.ORDINAL, Kind.NOMINAL, Kind.SEMANTIC)
