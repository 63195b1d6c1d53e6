"""The embedded example: a made-up survey of people, the same in every version and on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

_FIRST = [
    "Ada",
    "Alan",
    "Anna",
    "Ben",
    "Carl",
    "Dora",
    "Emmy",
    "Emil",
    "Eva",
    "Felix",
    "Grace",
    "Hana",
    "Ida",
    "Ivan",
    "Jan",
    "Jonas",
    "Kurt",
    "Lena",
    "Maria",
    "Nora",
    "Olga",
    "Otto",
    "Paul",
    "Rosa",
]
_LAST = [
    "Adler",
    "Bach",
    "Cerny",
    "Diaz",
    "Ebner",
    "Fischer",
    "Garcia",
    "Haas",
    "Ivanov",
    "Jensen",
    "Kovacs",
    "Lopez",
    "Marin",
    "Novak",
    "Olsen",
    "Petrov",
    "Rossi",
    "Silva",
    "Toth",
    "Weber",
]
_REGIONS = ("north", "east", "south", "west")


def example(records: int = 1000) -> pl.DataFrame:
    """Return a survey with a name, age, height, hours worked, income, region, sampling weight and an answer.

    Incomes grow with age and hours and have a long tail, and a few are missing, as in real surveys.

    Examples
    --------
    >>> example(3).columns
    ['name', 'age', 'height', 'hours', 'income', 'region', 'weight', 'satisfied']
    """
    import polars as pl

    draw = np.random.RandomState(20)  # the legacy generator's stream is frozen: the same survey in every numpy
    age = np.clip(draw.gamma(9.0, 5.0, records), 18, 92).astype(np.int64)
    hours = np.clip(np.rint(draw.normal(38, 9, records) - np.where(age > 66, 25, 0)), 0, 80).astype(np.int64)
    height = np.round(draw.normal(171, 9.5, records), 1)
    pay = np.exp(draw.normal(9.2, 0.45, records) + 0.012 * np.minimum(age, 60) + 0.012 * hours)
    income = [
        None if missing else round(x, -1) for x, missing in zip(pay, draw.random_sample(records) < 0.02, strict=True)
    ]
    region = draw.choice(len(_REGIONS), records, p=[0.35, 0.3, 0.2, 0.15])
    first, last = draw.choice(len(_FIRST), records), draw.choice(len(_LAST), records)
    return pl.DataFrame(
        {
            "name": [f"{_FIRST[a]} {_LAST[b]}" for a, b in zip(first, last, strict=True)],
            "age": age,
            "height": height,
            "hours": hours,
            "income": income,
            "region": [_REGIONS[r] for r in region],
            "weight": np.round(draw.uniform(40, 160, records), 1),
            "satisfied": draw.randint(1, 11, records),
        }
    )
