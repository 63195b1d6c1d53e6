"""k over what is in the file: every combination of released values and missing cells is that of at least k records."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from command_line import manifest_of, run
from shoal.blocking.blocks import BLOCKINGS
from shoal.errors import BrokenPromise
from shoal.partition.missing_patterns import suppress_rare_patterns
from shoal.plan.roles import Kind

K = 3
METHODS = sorted(name for name, method in shoal.METHODS.items() if not method.needs)  # others: test_condition_methods
MIXED = [name for name in METHODS if Kind.SEMANTIC in shoal.METHODS[name].kinds]
FEW = {"optimal": {"steps": 3000}, "semantic-optimal": {"steps": 3000}}
JOBS = {"job": [{"health": ["nurse", "doctor"]}, {"food": ["cook", "baker"]}]}
KINDS = {"hierarchies": {"job": {"tree": JOBS}}, "orders": {"school": ["low", "mid", "high"]}}
NUMBERS = ["age", "income", "born"]
ALL_KINDS = ["age", "job", "school", "sex"]


def people(n=60, seed=0):
    """A complete table with columns of all kinds, a weight and a region."""
    rng = np.random.default_rng(seed)
    day = date(1960, 1, 1)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "income": np.exp(rng.normal(10, 1, n)).round(2),
            "born": [day + timedelta(int(days)) for days in rng.integers(0, 9000, n)],
            "job": rng.choice(["nurse", "doctor", "cook", "baker"], n).tolist(),
            "school": rng.choice(["low", "mid", "high"], n).tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
            "region": ["north", "south"] * (n // 2),
            "weight": rng.uniform(1, 5, n).round(1),
        }
    )


def with_gaps(table, names, where):
    """Return the table with cells missing where a matrix says so."""
    gaps = [pl.when(pl.lit(where[:, j])).then(None).otherwise(pl.col(name)) for j, name in enumerate(names)]
    return table.with_columns([gap.alias(name) for gap, name in zip(gaps, names, strict=True)])


def holes(kind, n, d):
    """Return which cells are missing, (n, d)."""
    rng = np.random.default_rng(5)
    where = np.zeros((n, d), dtype=bool)
    if kind == "at random":
        where = rng.random((n, d)) < 0.2
    elif kind == "few patterns":
        where[:4, 0] = where[4:14, 1:] = True
    elif kind == "one cell":
        where[7, 1] = True
    elif kind == "a whole column":
        where[:, 0] = True
        where[5, 1] = True
    elif kind == "all cells of a record":
        where[3] = True
    return where


def rarest(table, names):
    """Return how many records have the rarest combination, counted by polars; null is a value."""
    return table.group_by(names).len()["len"].min()


def read_back(release, path):
    release.write(path)
    return pl.read_csv(path, infer_schema_length=None)


def check_file(release, table, path):
    """Check what is read back from the file, set by set; returns it."""
    found = read_back(release, path)
    assert len(found) == len(table)
    for part in release.summary.sets:
        assert rarest(found, part.columns) >= K
        for name in part.columns:
            assert not (table[name].is_null() & found[name].is_not_null()).any()
            lost = int((table[name].is_not_null() & found[name].is_null()).sum())
            assert lost == release.summary.suppressed_for_patterns.get(name, 0)
    return found


GAPS = ["at random", "few patterns", "one cell", "a whole column", "all cells of a record"]


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("method", METHODS)
def test_k_records_of_the_file_share_every_key_of_numbers_and_dates(method, gaps, tmp_path):
    table = with_gaps(people(), NUMBERS, holes(gaps, 60, 3))
    for more in ({}, {"weight": "weight", "strata": ["region"]}):
        release = shoal.protect(table, K, NUMBERS, method=method, options=FEW.get(method), **more)
        found = check_file(release, table, tmp_path / "out.csv")
        assert found["job"].to_list() == table["job"].to_list()
        if more and not shoal.METHODS[method].by_column:
            assert rarest(found, [*NUMBERS, "region"]) >= K


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("method", MIXED)
def test_k_records_of_the_file_share_every_key_of_any_kind(method, gaps, tmp_path):
    table = with_gaps(people(), ALL_KINDS, holes(gaps, 60, 4))
    for more in ({}, {"weight": "weight", "strata": ["region"]}, {"combinations": "observed"}):
        release = shoal.protect(table, K, ALL_KINDS, method=method, options=FEW.get(method), **KINDS, **more)
        found = check_file(release, table, tmp_path / "out.csv")
        if "strata" in more:
            assert rarest(found, [*ALL_KINDS, "region"]) >= K


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("blocking", sorted(BLOCKINGS))
def test_blocks_are_cut_inside_patterns(blocking, repair, tmp_path):
    table = with_gaps(people(200), NUMBERS, holes("at random", 200, 3))
    cut = {"method": blocking, "size": 20, "repair": repair}
    check_file(shoal.protect(table, K, NUMBERS, method="mdav", blocking=cut), table, tmp_path / "out.csv")


def test_every_set_is_counted_by_itself(tmp_path):
    table = with_gaps(people(), ["age", "income", "born"], holes("at random", 60, 3))
    release = shoal.protect(table, K, [["age"], ["income", "born"]], method="mdav", refine=True)
    check_file(release, table, tmp_path / "out.csv")


def test_rules_that_suppress_leave_k_of_every_key(tmp_path):
    table = with_gaps(people().with_columns(spent=pl.col("income") / 2), ["age", "income"], holes("at random", 60, 2))
    rules = ["spent <= income", "if age < 40 then income > 10"]
    broken = table.with_columns(spent=pl.when(pl.int_range(60) % 9 == 0).then(pl.col("spent") * 3).otherwise("spent"))
    for one in (table, broken):
        release = shoal.protect(
            one, K, ["age", "income", "spent"], method="mdav", rules=rules, broken_rules="keep-where-held"
        )
        assert rarest(read_back(release, tmp_path / "out.csv"), ["age", "income", "spent"]) >= K


def test_cells_suppressed_for_patterns_are_no_cost_of_a_rule():
    table = with_gaps(people().with_columns(spent=pl.col("income") / 2), ["age", "income"], holes("at random", 60, 2))
    release = shoal.protect(table, K, ["age", "income", "spent"], method="mdav", rules=["spent <= income"])
    assert release.summary.suppressed_cells > 0
    assert release.summary.rules[0].cost == pytest.approx(0.0, abs=1e-9)


def test_sweeps_take_the_option():
    table = with_gaps(people(), NUMBERS, holes("one cell", 60, 3))
    found = [
        shoal.sweep(table, K, "mondrian", NUMBERS, missing_patterns=how).results[0].k_anonymity
        for how in ("counted", "ignored")
    ]
    assert found == [K, 1]


def test_the_old_way_is_an_option_with_its_name_in_the_manifest(tmp_path):
    table = with_gaps(people(), NUMBERS, holes("at random", 60, 3))
    path = tmp_path / "out.csv"
    release = shoal.protect(table, K, NUMBERS, method="mondrian", missing_patterns="ignored", output=path)
    assert rarest(pl.read_csv(path), NUMBERS) < K
    assert manifest_of(path)["plan"]["missing_patterns"] == "ignored"
    assert release.summary.missing_patterns == "ignored"
    assert any("share with fewer than 2 others" in note for note in release.summary.notes)
    again = shoal.protect(table, plan=shoal.Plan.from_yaml(release.plan.to_yaml()))
    assert again.data.equals(release.data)


def test_the_command_line_has_the_option(tmp_path):
    table = with_gaps(people(), NUMBERS, holes("one cell", 60, 3))
    table.write_csv(tmp_path / "in.csv")
    asked = ["-k", K, "-q", ",".join(NUMBERS), "-m", "mondrian"]
    for flags, expected in (("", K), ("--missing-patterns ignored", 1)):
        out = tmp_path / f"out{expected}.csv"
        told = run("protect", tmp_path / "in.csv", *asked, "-o", out, *flags.split()).stdout
        assert rarest(pl.read_csv(out), NUMBERS) == expected
        assert ("missing patterns" in told) == bool(flags)


def test_an_idle_option_is_told():
    release = shoal.protect(people(), K, NUMBERS, method="mdav", missing_patterns="ignored")
    assert "no quasi-identifier has missing values, so missing_patterns had no effect" in release.summary.notes
    notes = shoal.protect(people(), K, NUMBERS, method="mdav").summary.notes
    assert not [note for note in notes if "missing" in note]


@pytest.mark.parametrize(
    ("gaps", "told"),
    [
        (3, None),
        (2, "1 cell suppressed (1 of income), so that at least 3 records share which of their values are missing"),
        (1, "2 cells suppressed (2 of income), so that at least 3 records share which of their values are missing"),
    ],
)
def test_what_it_costs_is_told(gaps, told):
    """Six records in two places, and so many of three without an income."""
    incomes = [None] * gaps + [1.0 + i / 10 for i in range(3 - gaps)] + [9.0, 9.1, 9.2]
    table = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62], "income": incomes})
    summary = shoal.protect(table, K, ["age", "income"], method="mdav").summary
    assert summary.notes == ([told] if told else [])
    assert summary.suppressed_cells == 3 - gaps
    assert summary.suppressed_for_patterns == ({"income": 3 - gaps} if told else {})


def test_a_release_with_a_rare_pattern_is_not_made(monkeypatch):
    table = with_gaps(people(), NUMBERS, holes("one cell", 60, 3))
    shoal.protect(table, K, NUMBERS, method="mondrian")
    monkeypatch.setattr("shoal.release.grouping.share_patterns", lambda quasi, groups, *_: (quasi, groups))
    with pytest.raises(BrokenPromise, match="1 combination of 'age', 'income' and 'born', missing cells included, has"):
        shoal.protect(table, K, NUMBERS, method="mondrian")


def test_the_search_sees_records_that_have_the_same_columns_as_complete():
    """Wholly missing columns change nothing: the groups are those of the table without them."""
    table = people().with_columns(income=pl.lit(None, pl.Float64))
    found = [shoal.protect(table, K, names, options={"steps": 20_000}).groups for names in (NUMBERS, ["age", "born"])]
    assert np.array_equal(*found)


def test_a_group_that_is_large_enough_is_cut_by_what_is_missing():
    """Equal records are one group: five lack the school and keep their sex, and nobody loses anything."""
    table = pl.DataFrame({"sex": ["f"] * 12, "school": [None] * 5 + ["low"] * 7})
    release = shoal.protect(table, 5, ["sex", "school"], method="mondrian-mixed")
    assert release.data.equals(table)
    assert release.summary.suppressed_cells == 0
    assert np.bincount(release.groups).tolist() == [5, 7]


def test_the_nearest_records_of_a_large_group_lose_their_cells():
    """In a group of seven the record without an income is 70, and of the others the two oldest lose theirs."""
    ages = np.array([70.0, 20.0, 69.0, 21.0, 22.0, 68.0, 23.0])
    missing = np.zeros((7, 1), dtype=bool)
    missing[0] = True
    found = suppress_rare_patterns(
        missing, np.zeros(7, dtype=np.int64), 3, lambda c, rows: abs(ages[rows] - ages[c].mean())
    )
    assert np.flatnonzero(found).tolist() == [0, 2, 5]


def test_in_one_column_those_near_the_mean_lose_their_value_to_keep_the_missing_company():
    """Whatever the method, the highest values are not lost to two records without any."""
    values = [None, None, 1.0, 1.1, 1.2, 5.0, 5.1, 5.2, 5.3, 9.0, 9.1, 9.2]
    for method in ("univariate", "optimal", "individual-ranking", "mdav"):
        release = shoal.protect(pl.DataFrame({"x": values}), K, "x", method=method)
        assert release.data["x"].null_count() == K
        assert release.data["x"][9:].round(6).to_list() == [9.1] * 3


def fewest(missing, k):
    """Return the fewest cells that must be suppressed, by trying all ways to give patterns to records."""
    d = missing.shape[1]
    patterns = list(product([False, True], repeat=d))
    own = sorted(map(tuple, missing.tolist()))
    best = [missing.size + 1]

    def place(i, last, counts, cost):
        lacking = sum(k - count for count in counts.values() if count < k)
        if cost >= best[0] or lacking > len(own) - i:
            return
        if i == len(own):
            best[0] = cost
            return
        first = last if i and own[i] == own[i - 1] else 0  # equal records in order
        for p in range(first, len(patterns)):
            if all(now or not was for now, was in zip(patterns[p], own[i], strict=True)):
                more = {**counts, p: counts.get(p, 0) + 1}
                place(i + 1, p, more, cost + sum(patterns[p]) - sum(own[i]))

    place(0, 0, {}, 0)
    return best[0]


def off(centre, rows):
    return np.zeros(len(rows))


def counts_of(hidden, strata):
    return np.unique(np.column_stack([hidden, strata]), axis=0, return_counts=True)[1]


@settings(max_examples=250)
@given(data=st.data())
def test_patterns_are_never_rare_and_near_the_fewest_cells_are_suppressed(data):
    d = data.draw(st.integers(1, 3), label="d")
    rows = data.draw(st.lists(st.lists(st.booleans(), min_size=d, max_size=d), min_size=2, max_size=9), label="rows")
    missing = np.array(rows)
    k = data.draw(st.integers(2, min(4, len(rows))), label="k")
    alone = np.zeros(len(rows), dtype=np.int64)
    hidden = suppress_rare_patterns(missing, alone, k, off)
    assert (hidden | missing == hidden).all()
    assert counts_of(hidden, alone).min() >= k
    least, lost = fewest(missing, k), int((hidden & ~missing).sum())
    assert least <= lost
    if not least or len(rows) < 3 * k:
        assert lost == least


def test_on_the_whole_few_more_cells_are_suppressed_than_must_be():
    rng = np.random.default_rng(0)
    lost = least = 0
    for _ in range(150):
        missing = rng.random((9, 3)) < 0.25
        hidden = suppress_rare_patterns(missing, np.zeros(9, dtype=np.int64), 3, off)
        lost += int((hidden & ~missing).sum())
        least += fewest(missing, 3)
    assert least < lost < 1.15 * least  # a greedy choice, and not far off


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "optimal"])
def test_the_groups_of_a_tiny_release_lose_as_few_cells_as_they_must(method):
    for seed in range(12):
        gone = np.random.default_rng(seed).random((8, 2)) < 0.25
        table = with_gaps(people(8, seed), ["age", "income"], gone)
        release = shoal.protect(table, K, ["age", "income"], method=method)
        least = sum(fewest(gone[release.groups == g], K) for g in np.unique(release.groups))
        assert release.data.select("age", "income").null_count().sum_horizontal()[0] == gone.sum() + least


def test_patterns_have_k_records_in_every_stratum():
    rng = np.random.default_rng(2)
    missing, strata = rng.random((300, 4)) < 0.15, np.sort(rng.integers(0, 12, 300))
    hidden = suppress_rare_patterns(missing, strata, 4, off)
    assert (hidden | missing == hidden).all()
    assert counts_of(hidden, strata).min() >= 4


def test_many_patterns_are_settled_in_seconds():
    """2^10 patterns of 200 000 records, and a table of nothing but rare patterns."""
    rng = np.random.default_rng(3)
    for n, d, share in ((200_000, 10, 0.2), (2000, 40, 0.1)):
        missing = rng.random((n, d)) < share
        alone = np.zeros(n, dtype=np.int64)
        hidden = suppress_rare_patterns(missing, alone, 5, off)
        assert counts_of(hidden, alone).min() >= 5


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_the_search_loses_less_than_one_that_ignores_patterns_and_suppresses_afterwards(share):
    table = with_gaps(people(400), NUMBERS, np.random.default_rng(6).random((400, 3)) < share)
    steps = {"steps": 400_000}
    old = shoal.protect(table, 5, NUMBERS, options=steps, missing_patterns="ignored")
    gone = np.column_stack([old.data[name].is_null().to_numpy() for name in NUMBERS])
    naive = with_gaps(old.data, NUMBERS, suppress_rare_patterns(gone, old.groups, 5, off))
    assert rarest(old.data, NUMBERS) < 5 <= rarest(naive, NUMBERS)
    new = shoal.protect(table, 5, NUMBERS, options=steps)
    assert rarest(new.data, NUMBERS) >= 5
    then = shoal.measure(table, naive, NUMBERS)
    assert new.summary.information_loss < then.information_loss


def test_keeping_patterns_apart_from_the_start_would_lose_more():
    """Few records lack the same cells, and they are far from each other."""
    table = with_gaps(people(400), NUMBERS, np.random.default_rng(6).random((400, 3)) < 0.05)
    patterns = pl.concat_str([pl.col(name).is_null().cast(pl.Int8) for name in NUMBERS])
    strata = table.with_columns(lacks=patterns).filter(pl.len().over("lacks") >= 5)
    apart = shoal.protect(strata, 5, NUMBERS, method="mdav", strata="lacks").summary
    together = shoal.protect(strata.drop("lacks"), 5, NUMBERS, method="mdav").summary
    assert together.information_loss < 0.9 * apart.information_loss


@pytest.mark.parametrize(("method", "told"), [("mondrian", True), ("mdav", False)])
def test_a_note_names_the_column_whose_mean_moves_by_what_is_suppressed(method, told):
    rng = np.random.default_rng(5)
    n = 400
    age = rng.integers(18, 90, n)
    income = np.exp(5.0 + 0.05 * age + 0.2 * rng.normal(size=n))
    income[np.argsort(age)[-3:]] = np.nan
    columns = {"age": age, "income": income}
    frame = pl.DataFrame(columns).with_columns(pl.col("income").fill_nan(None))
    release = shoal.protect(frame, 20, list(columns), method=method)
    suppressed = frame["income"].is_not_null() & release.data["income"].is_null()
    assert suppressed.sum() > 0
    kept = frame["income"].filter(~suppressed).mean()
    falls = frame["income"].mean() - kept > 0.05 * frame["income"].std()
    assert falls is told
    note = "the suppressed values of 'income' are not like the others: without them the mean falls"
    assert any(note in sentence for sentence in release.summary.notes) is told


@pytest.mark.parametrize("method", ["sa-mdav", "s-mdav", "k-modes", "semantic-optimal"])
def test_outliers_are_not_suppressed_for_being_near_a_gap_beside_categories(method):
    """A gap was 1 away from any value, on z-scores too: nearer to an outlier than anybody else."""
    rng = np.random.default_rng(5)
    n = 400
    income = np.where(rng.random(n) < 0.06, np.nan, rng.lognormal(7.4, 0.8, n).round())
    columns = {"sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 90, n), "income": income}
    frame = pl.DataFrame(columns).with_columns(pl.col("income").fill_nan(None))
    released = shoal.protect(frame, 5, list(columns), method=method).data["income"]
    suppressed = frame["income"].filter(frame["income"].is_not_null() & released.is_null())
    assert suppressed.mean() < 1.1 * frame["income"].mean()
