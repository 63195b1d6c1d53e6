"""Error localisation: the fewest cells to change, against trying every set of cells and every value."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.grammar import parse_condition

NAMES = ["a", "b", "t", "s"]
BOUNDS = ["0 <= a <= 4", "0 <= b <= 4", "0 <= t <= 4", "s in {x, y, z}"]
SETS = [
    ["t = a + b"],
    ["t = a + b", "if a = 0 then b = 0", "a != 3"],
    ["if s = 'x' then a > 2 and t <= 1", "if s != 'z' then b = 0 or t = 4"],
    ["a < b", "b < t", "s not in {y}", "abs(t - a) <= 3"],
    ["a in {0, 2, 4}", "not (a = 2 and s = 'x')", "t >= 2 * a - 1", "if t > 2 then s = 'y'"],
]


def all_good(rules):
    """Return all records that keep the rules."""
    values = {"a": range(5), "b": range(5), "t": range(5), "s": ["x", "y", "z"]}
    grid = list(product(*values.values()))
    columns = {}
    for j, name in enumerate(NAMES):
        own = np.array([g[j] for g in grid], dtype=object if name == "s" else float)
        columns[name] = Observations(own, np.ones(len(grid), dtype=bool))
    good = np.ones(len(grid), dtype=bool)
    for rule in rules:
        good &= evaluate(parse_condition(rule), columns).holds
    return [g for g, fine in zip(grid, good, strict=True) if fine]


def smallest(row, kept, weights):
    """Return the least weight of cells in which a record differs from one of the good ones."""
    return min(sum(weights[n] for n, x, y in zip(NAMES, row, g, strict=True) if x != y) for g in kept)


@pytest.mark.parametrize("rules", SETS)
@pytest.mark.parametrize("weights", [{}, {"a": 2.5, "t": 1.5}], ids=["alike", "weighted"])
def test_no_lighter_set_of_cells_can_make_a_record_right(rules, weights):
    rng = np.random.default_rng(len(rules))
    n = 15
    kept = all_good(BOUNDS + rules)
    table = pl.DataFrame(
        {"a": rng.integers(0, 7, n), "b": rng.integers(0, 7, n), "t": rng.integers(0, 7, n),
         "s": rng.choice(["x", "y", "z", "w"], n)}
    )  # fmt: skip
    found = shoal.localise_errors(table, BOUNDS + rules, weights=weights)
    weight = {name: weights.get(name, 1.0) for name in NAMES}
    for number, row in enumerate(table.rows(), start=1):
        least = smallest(row, kept, weight)
        assert sum(weight[name] for name in found.cells.get(number, [])) == least
    assert found.broken == len(found.cells)
    assert found.by_column == {
        n: c for n, c in found.by_column.items() if c == sum(n in v for v in found.cells.values())
    }
    assert (found.unsolved, found.not_handled) == ([], {})


def test_the_cell_that_breaks_two_rules_is_the_one_to_change_and_missing_cells_are_filled_anyway():
    table = pl.DataFrame({"wage": [10, 900, 10], "other": [5, 5, None], "costs": [15, 15, 18], "most": [99, 99, 99]})
    rules = ["costs = wage + other", "wage <= most"]
    assert shoal.localise_errors(table, rules).cells == {2: ["wage"]}


def test_orders_and_dates_are_localised():
    table = pl.DataFrame({"now": ["hi", "lo"], "goal": ["lo", "hi"], "born": [9, 3], "died": [5, 5]})
    table = table.with_columns(pl.col("born", "died").cast(pl.Date))
    levels = {"now": ["lo", "mid", "hi"], "goal": ["lo", "mid", "hi"]}
    found = shoal.localise_errors(
        table, ["now < goal", "born <= died", "died <= '1970-01-08'"], orders=levels, weights={"died": 3}
    )
    assert found.cells == {1: ["now", "goal", "born"]}


def test_what_cannot_be_handled_is_said_and_rules_that_no_record_keeps():
    table = pl.DataFrame({"a": [5, 1], "b": [1, 1]})
    found = shoal.localise_errors(table, {"square": "a * a <= b", "gap": "a is missing or b > 0", "sum": "a <= b"})
    assert found.not_handled == {"square": "it is not linear", "gap": "it asks whether a value is missing"}
    assert found.cells == {1: ["a"]}
    assert shoal.localise_errors(table, ["a < b", "a > b"]).unsolved == [1, 2]
    with pytest.raises(shoal.PlanError, match="weights: column 'aa' is not in the table"):
        shoal.localise_errors(table, ["a <= b"], weights={"aa": 2})


def test_the_command_tells_columns_and_rows_and_no_value(tmp_path):
    table = pl.DataFrame({"wage": [10, 98765, 10], "other": [5, 5, 8], "costs": [15, 15, 18]})
    table.write_csv(tmp_path / "t.csv")
    (tmp_path / "t.rules").write_text("costs = wage + other\nwage <= 50\n")
    done = run("rules", "localise", tmp_path / "t.csv", tmp_path / "t.rules")
    assert done.exit_code == 1
    assert "98765" not in done.output
    assert "1 cell must change" in done.output
    asked = run("rules", "localise", tmp_path / "t.csv", tmp_path / "t.rules", "--json", "--weight", "other=0.5")
    assert json.loads(asked.stdout)["cells"] == {"2": ["wage"]}
    assert pl.read_csv(tmp_path / "t.csv").equals(table)


def test_missing_cells_of_other_rules_must_be_possible_to_fill_in_a_record_that_is_looked_at():
    """d is missing and a whole number: no d is half of 3, so that c must change though no rule over it is broken."""
    table = pl.DataFrame({"c": [3, 4, 3], "d": [None, None, None], "b": [1, 1, 2]}, schema_overrides={"d": pl.Int64})
    found = shoal.localise_errors(table, ["2 * d = c", "d is integer", "b >= 2"])
    assert found.cells == {1: ["c", "b"], 2: ["b"]}
