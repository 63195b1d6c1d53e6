"""Kept columns that give back a quasi-identifier are refused; what they give away otherwise is found and counted."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import manifest_of, run
from shoal.plan.plan import Plan
from shoal.release.giving_back import giving_back, sums_kept
from shoal.release.singling_out import singling_out
from shoal.tables.table import open_table

N = 400
RNG = np.random.default_rng(3)
AGE, YEARS = RNG.integers(18, 90, N), RNG.integers(0, 12, N)
PAY = RNG.normal(3000, 700, N).round(2)
PEOPLE = {"age": AGE, "years": YEARS, "pay": PAY}
PART = RNG.integers(0, 900, N)
HOLES = [None if i % 7 == 0 else int(v) for i, v in enumerate(AGE)]
GIVING = {
    "year of birth": ("scaled", {"kept": 2024 - AGE}, "age"),
    "in cents": ("scaled", {"kept": (PAY * 100).round()}, "pay"),
    "as text": ("copy", {"kept": [str(v) for v in PAY]}, "pay"),
    "copy without holes": ("scaled", {"age": HOLES, "kept": AGE}, "age"),
    "copy with holes": ("scaled", {"kept": HOLES}, "age"),
    "degree": ("determines", {"kept": [f"degree {(7 * v) % 13}" for v in YEARS]}, "years"),
    "finer than the degree": ("determines", {"kept": 3 * YEARS**2 + RNG.integers(0, 3, N)}, "years"),
    "total and part": ("sum of kept", {"kept": PAY + PART, "part": PART}, "pay"),
    "two parts": ("sum of kept", {"kept": PAY - PART, "part": PART}, "pay"),
}
HARMLESS = {
    "bands": {"kept": AGE // 10},
    "all different": {"kept": RNG.permutation(10 * N)[:N]},
    "pairs": {"kept": [f"h{i // 2}" for i in range(N)], "age": np.repeat(AGE[: N // 2], 2)},  # as households have
    "one exception": {"kept": [99, *(2024 - AGE[1:])]},
    "unrelated": {"kept": RNG.integers(0, 9, N)},
    "a constant": {"kept": [1] * N},
    "sum of both, protected": {"kept": PAY + 2 * AGE},
}


def plan(**more):
    return Plan(k=4, quasi_identifiers=["age", "years", "pay"], **more)


@pytest.mark.parametrize("role", [{}, {"confidential": "kept"}])
@pytest.mark.parametrize("case", GIVING)
def test_what_gives_an_original_back_is_refused_with_names_and_what_to_do(case, role, tmp_path):
    kind, columns, of = GIVING[case]
    if case == "as text":  # looks like an identifier where it has no role, which is told first
        role = {"confidential": "kept"}
    table = pl.DataFrame({**PEOPLE, **columns})
    with pytest.raises(shoal.PlanError) as told:
        shoal.protect(table, 4, ["age", "years", "pay"], method="mdav", output=tmp_path / "out.csv", **role)
    assert f"the quasi-identifier '{of}'" in str(told.value)
    assert "'kept'" in str(told.value)
    assert "--accept COLUMN=REASON" in str(told.value)
    assert not list(tmp_path.iterdir())
    release = shoal.protect(table, 4, ["age", "years", "pay"], method="mdav", accept={"kept": "agreed"}, **role)
    found = release.summary.kept_columns[0]
    both = table.select(pl.col(of).is_not_null() & pl.col("kept").is_not_null()).to_series().sum()
    assert (found.kind, found.of, found.records, found.reason) == (kind, [of], both, "agreed")
    assert found.blocking
    assert any("'kept'" in note and note.endswith(": agreed") for note in release.summary.notes)


@pytest.mark.parametrize("case", HARMLESS)
def test_what_gives_nothing_back_is_not_refused(case):
    table = pl.DataFrame({**PEOPLE, **HARMLESS[case]})
    assert giving_back(plan(), open_table(table)) == []
    release = shoal.protect(table, 4, ["age", "years", "pay"], method="mdav")
    assert not any(one.blocking for one in release.summary.kept_columns)


def test_few_records_or_a_constant_tell_nothing():
    table = pl.DataFrame({"age": AGE[:19], "kept": 2024 - AGE[:19], "years": YEARS[:19], "pay": PAY[:19]})
    assert giving_back(plan(), open_table(table)) == []
    table = pl.DataFrame({**PEOPLE, "age": [40] * (N - 5) + [41] * 5, "kept": [1] * (N - 5) + [2] * 5})
    assert giving_back(plan(), open_table(table)) == []


def test_accepting_what_gives_nothing_back_is_a_mistake():
    with pytest.raises(
        shoal.PlanError, match="accept: column 'kept' is no copy of a quasi-identifier that is kept, nor"
    ):
        shoal.protect(
            pl.DataFrame({**PEOPLE, "kept": AGE // 10}), 4, ["age", "pay"], method="mdav", accept={"kept": "known"}
        )


def test_a_sum_of_quasi_identifiers_is_found_and_noted():
    table = pl.DataFrame({**PEOPLE, "total": PAY + AGE})
    [found] = sums_kept(plan(), open_table(table))
    assert (found.columns, found.of) == (["total"], ["age", "pay"])
    release = shoal.protect(table, 4, ["age", "years", "pay"], method="mdav")
    assert any("'total' is the sum or difference" in note for note in release.summary.notes)
    assert "sum" in {one.kind for one in release.summary.kept_columns}


def test_what_nearly_tells_is_counted_by_definition():
    kept = AGE * 12 + RNG.integers(0, 12, N)  # the age in months, each of which few records have
    kept[:4] = 0
    table = pl.DataFrame({"age": AGE, "pay": PAY, "kept": kept})
    release = shoal.protect(table, 4, ["age", "pay"], method="mdav", confidential="kept")
    [found] = [one for one in release.summary.kept_columns if one.kind == "tells"]
    exact = narrowed = 0
    for value in set(kept.tolist()):
        own = AGE[kept == value]
        if len(own) > 1 and np.ptp(own) == 0:
            exact += len(own)
        elif len(own) > 1 and np.ptp(own) <= 0.1 * np.ptp(AGE):
            narrowed += len(own)
    assert (found.records, found.narrowed, found.looked_at) == (exact, narrowed, N)
    assert exact > 20


@pytest.mark.parametrize("seed", range(6))
def test_sets_that_single_out_are_the_smallest_by_definition(seed):
    rng = np.random.default_rng(seed)
    columns = {f"c{j}": rng.integers(0, 2 + 2 * j, 60) for j in range(4)}
    groups = rng.permutation(60) // 5
    table = open_table(pl.DataFrame({"age": np.zeros(60), **columns}))

    def alone(names):
        keys = [(groups[i], *(columns[name][i] for name in names)) for i in range(60)]
        return sum(keys.count(key) == 1 for key in keys)

    from itertools import combinations

    expected = []
    for size in (1, 2, 3):
        for names in combinations(columns, size):
            smaller = any(set(one) <= set(names) for one, _ in expected)
            if not smaller and alone(names) >= 30:
                expected.append((names, alone(names)))
    found = singling_out(Plan(k=5, quasi_identifiers="age"), table, groups)
    assert [(tuple(one.columns), one.records) for one in found] == expected
    assert expected


def test_groups_are_drawn_from_many_records_and_the_margin_holds():
    n = 60_000
    inside = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        kept = rng.integers(0, 6, n)
        groups = rng.permutation(n) // 4
        keys = groups * 6 + kept
        true = 100.0 * (np.bincount(keys, minlength=6 * n)[keys] == 1).mean()
        table = open_table(pl.DataFrame({"age": np.zeros(n), "kept": kept}))
        [found] = singling_out(Plan(k=4, quasi_identifiers="age"), table, groups)
        assert 20_000 <= found.looked_at < 21_000
        assert 0.0 < found.margin < 1.5
        inside += abs(100.0 * found.records / found.looked_at - true) <= found.margin
    assert inside >= 4


def test_findings_are_in_the_manifest_and_the_report(tmp_path):
    pl.DataFrame({**PEOPLE, "born": 2024 - AGE}).write_csv(tmp_path / "in.csv")
    asked = ["protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 4, "-q", "age,pay", "-m", "mdav"]
    assert run(*asked).exit_code != 0
    done = run(*asked, "--accept", "born=agreed", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    manifest = manifest_of(tmp_path / "out.csv")
    assert "scaled" in json.dumps(manifest)
    assert "What kept columns give away" in (tmp_path / "r.html").read_text()


def test_lists_in_a_column_of_objects_are_kept_without_a_look():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"age": [20.0 + i for i in range(40)], "parts": [[i % 3] for i in range(40)]})
    release = shoal.protect(table, k=3, quasi_identifiers="age", method="mdav")
    assert release.data["parts"].tolist() == table["parts"].tolist()
    assert release.summary.kept_columns == []


@pytest.mark.parametrize("scale", [1e-200, 1e200, 1e308])
def test_values_that_are_far_apart_are_no_multiples_of_each_other(scale):
    values = [scale * ((7 * i) % 40 - 20) for i in range(40)]
    table = pl.DataFrame({"age": [1e-300 * ((11 * i) % 40) for i in range(40)], "far": values})
    assert giving_back(Plan(k=3, quasi_identifiers="age"), open_table(table)) == []
