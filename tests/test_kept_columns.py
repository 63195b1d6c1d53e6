"""Columns that are kept: what tells a quasi-identifier or singles records out is noted, and nothing else is."""

from __future__ import annotations

import time
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.measures.determination import Seen, score
from shoal.plan.plan import Plan
from shoal.release.kept_columns import PAIRS, SAMPLE, TOLD, kept_notes
from shoal.tables.table import open_table

N = 300
RNG = np.random.default_rng(11)
AGE = RNG.integers(18, 90, N)
INCOME = np.exp(RNG.normal(10, 1, N)).round(2)
TOWN = RNG.integers(0, 40, N)
PEOPLE = {"income": INCOME, "age": AGE, "region": [f"region {t // 5}" for t in TOWN]}
QUASI = list(PEOPLE)
COPIES = {
    "exact copy": (INCOME, "'kept' is 'income' itself"),
    "text copy": ([str(v) for v in INCOME], "'kept' is 'income' itself"),
    "in thousands": (INCOME / 1000, "'kept' tells 'income' (100 %)"),
    "in months": (AGE * 12, "'kept' tells 'age' (100 %)"),
    "months known": (AGE * 12 + RNG.integers(0, 12, N), "'kept' tells 'age' (100 %)"),
    "tax": (0.19 * INCOME, "'kept' tells 'income' (100 %)"),
    "tax in whole euros": ((0.19 * INCOME).round(), "'kept' tells 'income' (99."),
    "year of birth": (2024 - AGE, "'kept' tells 'age' (100 %)"),
    "year of birth, before or after the birthday": (2024 - AGE - RNG.integers(0, 2, N), "'kept' tells 'age' (98"),
    "date of birth": ([date(2024 - a, 1 + a % 12, 5) for a in AGE], "'kept' tells 'age' (100 %)"),
    "log": (np.log(INCOME).round(3), "'kept' tells 'income' (99."),
    "squared deviation": ((AGE - 18.0) ** 2, "'kept' tells 'age' (100 %)"),
    "town": (TOWN, "'kept' tells 'region' (100 %)"),
    "name of the town": ([f"town {t}" for t in TOWN], "'kept' tells 'region' (100 %)"),
    "code of the region": (100 + TOWN // 5, "'kept' tells 'region' (100 %)"),
    "text of the age": ([f"{a} years" for a in AGE], "'kept' tells 'age' (100 %)"),
}
ROLES = {"no role": {}, "confidential": {"confidential": "kept"}}


def notes_of(table, quasi=QUASI, **roles):
    return kept_notes(Plan(k=5, quasi_identifiers=quasi, **roles), open_table(table))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("copy", COPIES)
def test_a_kept_column_that_tells_a_quasi_identifier_is_noted_with_both_names(copy, role):
    values, expected = COPIES[copy]
    noted = [note for note in notes_of(pl.DataFrame({**PEOPLE, "kept": values}), **ROLES[role]) if "tell quasi" in note]
    assert len(noted) == 1
    assert expected in noted[0]
    assert noted[0].count("'kept'") == 1


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_the_note_is_in_the_summary_of_a_release_of_any_library(library):
    table = library({"income": INCOME, "age": AGE, "tax": 0.19 * INCOME})
    release = shoal.protect(table, 5, ["income", "age"], method="mdav", accept={"tax": "agreed"})
    assert any("'tax' tells 'income' (100 %)" in note for note in release.summary.notes)


def test_a_column_that_is_removed_or_released_is_not_noted():
    table = pl.DataFrame({**PEOPLE, "copy": AGE})
    assert notes_of(table, identifiers="copy") == []
    assert notes_of(table, [*QUASI, "copy"]) == []


def test_missing_cells_do_not_hide_a_copy():
    holes = pl.DataFrame({**PEOPLE, "kept": [None if i % 3 else v for i, v in enumerate(INCOME / 7)]})
    assert any("'kept' tells 'income' (100 %)" in note for note in notes_of(holes))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [20, 60, 1000])
def test_independent_columns_of_all_kinds_are_quiet(seed, n):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "income": np.exp(rng.normal(10, 1, n)),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "rare": rng.random(n) < 0.03,
            "region": rng.choice(list("abcdefgh"), n),
            "zeros": np.where(rng.random(n) < 0.9, 0, rng.integers(1, 90, n)),
            "kept rare": rng.random(n) < 0.02,
            "kept class": rng.integers(0, 5, n),
            "kept zeros": np.where(rng.random(n) < 0.95, 0, rng.integers(1, 9, n)),
            "kept town": [f"t{v}" for v in rng.integers(0, max(n // 8, 2), n)],
        }
    )
    assert notes_of(table, ["income", "age", "sex", "rare", "region", "zeros"]) == []


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [20, 100, 2000])
@pytest.mark.parametrize("correlation", [0.9, -0.9, 0.97])
def test_correlated_columns_are_not_taken_for_determined_ones(seed, n, correlation):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = correlation * x + np.sqrt(1 - correlation**2) * rng.normal(size=n)
    there, codes = np.ones(n, dtype=bool), np.arange(n)
    assert score(Seen("x", codes, there, x), Seen("y", codes, there, y)) < TOLD - 0.02
    assert not [note for note in notes_of(pl.DataFrame({"x": x, "y": y}), ["y"]) if "tell quasi" in note]


def test_a_table_in_the_order_of_a_quasi_identifier_is_quiet():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"age": np.sort(rng.integers(18, 90, 500)), "sex": rng.choice(["f", "m"], 500)})
    assert notes_of(table.with_columns(code=rng.integers(0, 2, 500)), ["age"]) == []


def test_classes_of_a_quasi_identifier_tell_it_only_where_they_are_narrow():
    table = pl.DataFrame({"income": INCOME, "decile": np.argsort(np.argsort(INCOME)) * 10 // N})
    assert notes_of(table, ["income"]) == []
    finer = table.with_columns(decile=pl.Series(np.argsort(np.argsort(INCOME)) * 100 // N))
    assert any("'decile' tells 'income' (9" in note for note in notes_of(finer, ["income"]))


@pytest.mark.parametrize("kind", ["weights", "exact pay", "text"])
def test_kept_values_that_nobody_else_has_are_counted(kind):
    rng = np.random.default_rng(3)
    values = {
        "weights": rng.uniform(1, 9, N),
        "exact pay": rng.permutation(N) * 7 + 1000,
        "text": [f"comment {i}" for i in range(N)],
    }[kind]
    table = pl.DataFrame({**PEOPLE, "kept": values})
    roles = {"weight": "kept"} if kind == "weights" else {"confidential": "kept"}
    (note,) = notes_of(table, **roles)
    assert f"'kept' {N} of {N}" in note
    assert "only ones with their value" in note


def test_the_count_is_that_of_all_records_and_not_of_the_sample():
    rng = np.random.default_rng(4)
    n = 3 * SAMPLE
    values = np.arange(n, dtype=float)
    values[: n // 4] = 7.0  # shared, and so is one more
    table = pl.DataFrame({"age": rng.integers(18, 90, n), "pay": [None, *values[1:-1], 7.0]})
    (note,) = notes_of(table, ["age"])
    observed = table["pay"].drop_nulls()
    assert f"'pay' {int(observed.is_unique().sum())} of {len(observed)}" in note


def test_rounded_values_are_quiet():
    assert notes_of(pl.DataFrame({**PEOPLE, "pay": (RNG.normal(3000, 800, N) / 200).round() * 200})) == []


def test_no_note_shows_a_value():
    values = pl.DataFrame({**PEOPLE, "kept": INCOME, "word": [f"word{i:05}" for i in range(N)]})
    told = " ".join(notes_of(values, confidential=["word"]))
    assert not any(f"{value:.2f}" in told for value in INCOME)
    assert "word0" not in told


def test_lists_and_other_values_without_a_hash_are_no_obstacle():
    table = pl.DataFrame({"age": AGE, "list": [[1, 2]] * N})
    assert notes_of(table, ["age"]) == []
    objects = pd.DataFrame({"age": AGE, "list": pd.Series([[1, 2]] * N, dtype=object)})
    assert notes_of(objects, ["age"]) == []


def test_columns_of_the_reference_data_that_are_not_determined_are_quiet(reference_data):
    census = pl.read_csv(reference_data / "casc" / "census.csv")
    quasi = ["AFNLWGT", "AGI", "EMCONTRB"]
    assert not [note for note in notes_of(census, quasi) if "tell quasi" in note]


def test_it_costs_little_in_a_large_table():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{i}": rng.normal(size=200_000) for i in range(60)})
    started = time.process_time()
    (note,) = notes_of(table, [f"c{i}" for i in range(30)])
    assert time.process_time() - started < 20
    assert "and more in 20 other columns" in note
    assert PAIRS > 30 * 30
