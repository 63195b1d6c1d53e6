"""From a table to a release: strata, weights, sets, identifiers, notes, the summary and the manifest."""

import hashlib
import json
from datetime import date

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import manifest_of
from shoal.blocking.strata import merge_small_mixed_strata, merge_small_strata
from shoal.columns.scaling import Records
from shoal.partition.method import Method
from shoal.plan.plan import merge_settings
from shoal.release.declaring import declare
from shoal.tables.table import open_table

COLUMNS = ["age", "height", "income"]


@pytest.fixture(scope="module")
def survey():
    return shoal.example(90)


def numbers(seed, records=30, columns="ab"):
    """Return a table of random numbers."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({name: rng.normal(size=records) for name in columns})


def sizes(groups):
    return np.unique(groups, axis=0, return_counts=True)[1].tolist()


def test_strata_are_never_mixed_and_are_kept(survey):
    release = shoal.protect(survey, k=3, quasi_identifiers=COLUMNS, identifiers="name", strata="region", method="mdav")
    mixed = pl.DataFrame({"group": release.groups, "region": survey["region"]})
    assert mixed.group_by("group").agg(pl.col("region").n_unique())["region"].max() == 1
    assert release.data["region"].equals(survey["region"])
    assert release.summary.strata == 4
    assert min(sizes(release.groups)) >= 3


def test_combinations_of_strata_and_missing_values_are_strata():
    parts = pl.DataFrame({"s": ["a", "a", None, None] * 3, "t": [1, 2, 1, 2] * 3, "x": [float(n) for n in range(12)]})
    release = shoal.protect(parts, k=3, quasi_identifiers="x", strata=["s", "t"], method="mdav")
    assert release.groups.tolist() == [0, 1, 2, 3] * 3
    assert release.summary.strata == 4


def test_strata_that_are_too_small_are_all_named():
    table = numbers(1, 12).with_columns(part=pl.Series(["big"] * 7 + ["tiny"] * 2 + ["small"] * 3))
    with pytest.raises(shoal.DataError) as caught:
        shoal.protect(table, k=4, quasi_identifiers=["a", "b"], strata="part")
    assert "2 strata of 3 with fewer than k = 4 records" in str(caught.value)
    assert "'part = tiny' (2 records), 'part = small' (3 records)" in str(caught.value)


def test_an_error_about_strata_does_not_list_a_whole_column():
    table = numbers(1, 30).with_columns(part=pl.int_range(0, 30))
    with pytest.raises(shoal.DataError, match=r"30 strata of 30 .* and 25 more") as caught:
        shoal.protect(table, k=3, quasi_identifiers=["a", "b"], strata="part")
    assert str(caught.value).count("part = ") == 5


def test_small_strata_are_merged_with_their_nearest_if_the_user_says_so():
    table = pl.DataFrame(
        {"x": [0.0, 1.0, 2.0, 1.5, 50.0, 51.0, 52.0, 90.0, 91.0], "part": ["a"] * 3 + ["b"] + ["c"] * 3 + ["d"] * 2}
    )
    release = shoal.protect(table, k=3, quasi_identifiers="x", strata="part", small_strata="merge", method="mdav")
    assert release.groups.tolist() == [0] * 4 + [1] * 5
    assert release.data["part"].equals(table["part"])
    assert (release.summary.strata, release.summary.merged_strata) == (4, 2)
    assert any(note.startswith("2 strata had fewer than 3 records and share groups") for note in release.summary.notes)


def test_small_strata_are_merged_by_columns_of_any_kind():
    table = pl.DataFrame(
        {
            "job": ["cook"] * 4 + ["nurse"] * 4 + ["cook", "nurse", "nurse"],
            "age": [30, 31, 32, 33, 30, 31, 32, 33, 33, 30, 31],
            "part": ["a"] * 4 + ["b"] * 4 + ["c", "d", "d"],
        }
    )
    release = shoal.protect(table, k=3, quasi_identifiers=["job", "age"], strata="part", small_strata="merge")
    parts = [set(table["part"].filter(release.groups == g)) for g in np.unique(release.groups)]
    assert all(part <= {"a", "c"} or part <= {"b", "d"} for part in parts)
    assert (release.summary.strata, release.summary.merged_strata) == (4, 2)
    assert release.data["job"].equals(table["job"])


def test_strata_of_any_kind_are_merged_until_every_one_is_large_enough():
    table = pl.DataFrame({"job": list("abcdefghij"), "age": range(10)})
    quasi = declare(merge_settings(None, {"k": 2, "quasi_identifiers": ["job", "age"]}), open_table(table)).sets[0]
    assert min(sizes(merge_small_mixed_strata(np.arange(10), quasi.counted(), 4))) >= 4
    assert sizes(merge_small_mixed_strata(np.arange(10), quasi.counted(), 10)) == [10]


def test_weights_that_are_all_equal_change_nothing():
    table = numbers(1).select("a", "b").with_columns(w=pl.lit(2.5))
    weighted, plain = (shoal.protect(table, 3, ["a", "b"], weight=weight, seed=4) for weight in ("w", None))
    assert weighted.summary.steps == plain.summary.steps
    assert weighted.data.equals(plain.data)


def test_merging_goes_on_until_every_stratum_is_large_enough():
    records = Records(np.arange(10.0)[:, None])
    assert min(sizes(merge_small_strata(np.arange(10), records, 4))) >= 4
    assert sizes(merge_small_strata(np.arange(10), records, 10)) == [10]


def test_weights_give_weighted_means_and_are_kept():
    table = pl.DataFrame({"x": [1.0, 2.0, 10.0], "n": [10, 20, 40], "w": [1.0, 2.0, 7.0]})
    release = shoal.protect(table, k=3, quasi_identifiers=["x", "n"], weight="w", method="mdav")
    assert release.data["x"].to_list() == pytest.approx([(1 + 4 + 70) / 10] * 3)
    assert release.data["n"].to_list() == [33] * 3
    assert release.data["w"].equals(table["w"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 0.0, -2.0], "weight 'w' is not above 0 in 2 records"),
        ([1.0, None, 2.0], "weight 'w' is missing in 1 record;"),
        ([1.0, float("inf"), 2.0], "column 'w' has 1 infinite value;"),
        (["1", "many", "few"], "weight 'w' is nominal"),
        ([date(2020, 1, 1)] * 3, "'w'"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0], "w": weights})
    with pytest.raises(shoal.DataError, match=message):
        shoal.protect(table, k=3, quasi_identifiers="x", weight="w")


def test_sets_are_microaggregated_separately_and_their_combination_is_told():
    table = numbers(3, 40, "abcd")
    release = shoal.protect(table, k=4, quasi_identifiers=[["a", "b"], ["c", "d"]], method="mdav")
    alone = [shoal.protect(table, k=4, quasi_identifiers=part, method="mdav") for part in (["a", "b"], ["c", "d"])]
    assert release.groups.shape == (40, 2)
    for place, one in enumerate(alone):
        assert release.groups[:, place].tolist() == one.groups.tolist()
        for column in one.plan.quasi_identifiers[0]:
            assert release.data[column].equals(one.data[column])
    combined = min(sizes(release.groups))
    assert release.summary.combined_smallest_group == combined < 4
    assert release.summary.smallest_group == 4
    assert release.summary.groups == sum(one.summary.groups for one in alone)
    assert [part.columns for part in release.summary.sets] == [["a", "b"], ["c", "d"]]
    [note] = release.summary.notes
    assert note.startswith("k = 4 holds for each of the 2 sets of quasi-identifiers and not for their combination")
    assert f"smallest group has {combined} record" in note


def test_one_set_has_no_note_and_is_its_own_combination():
    summary = shoal.protect(numbers(3), k=4, quasi_identifiers=["a", "b"], method="mdav").summary
    assert summary.notes == []
    assert summary.combined_smallest_group == summary.smallest_group


def test_a_method_by_column_says_that_k_holds_for_each_column_only():
    release = shoal.protect(numbers(4), k=5, quasi_identifiers=["a", "b"], method="individual-ranking")
    assert [part.columns for part in release.summary.sets] == [["a"], ["b"]]
    assert release.summary.combined_smallest_group == min(sizes(release.groups))
    assert "holds for each of the 2 sets" in release.summary.notes[0]


@pytest.mark.parametrize(
    ("k", "records", "error", "message"),
    [
        (1, 5, shoal.PlanError, "k: must be at least 2"),
        (0, 5, shoal.PlanError, "k: must be at least 2"),
        (-3, 5, shoal.PlanError, "k: must be at least 2"),
        (6, 5, shoal.DataError, "the table has 5 records, fewer than k = 6; choose a smaller k"),
        (2, 0, shoal.DataError, "the table has 0 records, fewer than k = 2"),
        (None, 5, shoal.PlanError, "k: is missing"),
    ],
)
def test_a_k_that_cannot_be_is_refused(k, records, error, message):
    with pytest.raises(error, match=message):
        shoal.protect(numbers(1, records), k=k, quasi_identifiers=["a", "b"])


def test_as_many_records_as_k_are_one_group():
    table = numbers(1, 7)
    release = shoal.protect(table, k=7, quasi_identifiers=["a", "b"], method="mdav")
    assert release.groups.tolist() == [0] * 7
    assert release.data["a"].to_list() == pytest.approx([table["a"].mean()] * 7)
    assert release.summary.information_loss == pytest.approx(100.0)


def test_constant_columns_are_noted_and_play_no_part():
    table = numbers(5).with_columns(same=pl.lit(3), also=pl.lit(0.1))
    with_constant = shoal.protect(table, k=3, quasi_identifiers=["a", "same", "b", "also"], method="mdav")
    without = shoal.protect(table, k=3, quasi_identifiers=["a", "b"], method="mdav")
    assert with_constant.groups.tolist() == without.groups.tolist()
    assert with_constant.data.select("same", "also").equals(table.select("same", "also"))
    assert with_constant.summary.constant_columns == ["same", "also"]
    assert "constant, so without a part in distances and loss: same, also" in with_constant.summary.notes
    assert with_constant.summary.sse == pytest.approx(without.summary.sse)
    assert with_constant.summary.sst == pytest.approx(without.summary.sst)


def test_all_columns_constant_lose_nothing():
    table = pl.DataFrame({"a": [2.5] * 8, "b": [7] * 8})
    release = shoal.protect(table, k=3, quasi_identifiers=["a", "b"], method="mdav")
    assert release.data.equals(table)
    assert (release.summary.sse, release.summary.sst, release.summary.information_loss) == (0.0, 0.0, 0.0)


def test_undeclared_columns_that_look_like_identifiers_are_all_listed():
    n = 24
    table = numbers(6, n).with_columns(
        pl.Series("Surname", ["Bach", "Haas"] * (n // 2)),
        pl.Series("patient_id", [i * 3 % 11 for i in range(n)]),
        pl.Series("contact", [f"p{i % 5}@example.org" for i in range(n)]),
        pl.Series("line", range(1, n + 1)),
        pl.Series("free_text", [f"words of {i}" for i in range(n)]),
        pl.Series("humid", [i % 4 for i in range(n)]),
        pl.Series("region", ["n", "s"] * (n // 2)),
    )
    with pytest.raises(shoal.PlanError) as caught:
        shoal.protect(table, k=3, quasi_identifiers=["a"])
    [mistake] = caught.value.mistakes
    suspects = ("Surname", "patient_id", "contact", "line", "free_text")
    assert all(f"'{name}' (" in mistake for name in suspects)
    assert not any(f"'{name}' (" in mistake for name in ("humid", "region", "b"))
    release = shoal.protect(
        table, k=3, quasi_identifiers="a", identifiers=suspects[:3], confidential=suspects[3:], method="mdav"
    )
    assert release.data.columns == ["a", "b", "line", "free_text", "humid", "region"]


def test_identifiers_are_removed_and_the_rest_stays_in_order(survey):
    release = shoal.protect(survey, k=3, quasi_identifiers=COLUMNS, identifiers=["name", "hours"], method="mdav")
    assert release.data.columns == ["age", "height", "income", "region", "weight", "satisfied"]
    kept = ["region", "weight", "satisfied"]
    assert release.data.select(kept).equals(survey.select(kept))
    assert len(release.data) == len(survey)


def test_integers_and_dates_stay_what_they_are():
    days = [date(2020, 2, 28), date(2020, 2, 29), date(2020, 3, 1), date(2020, 3, 4)]
    table = pl.DataFrame({"n": [1, 2, 2, 6], "day": days})
    data = shoal.protect(table, k=4, quasi_identifiers=["n", "day"], method="mdav").data
    assert data.schema == table.schema
    assert data["n"].to_list() == [3] * 4  # the mean is 2.75
    assert data["day"].to_list() == [date(2020, 3, 1)] * 4  # a quarter of a day after midnight


def test_rounding_does_not_depend_on_which_record_comes_first():
    released = [
        shoal.protect(pl.DataFrame({"n": n}), k=2, quasi_identifiers="n", method="mdav").data["n"]
        for n in ([1, 2], [2, 1])
    ]
    assert released[0].to_list() == released[1].to_list()


@pytest.mark.parametrize("scaling", ["z-score", "range", "robust", "none"])
@pytest.mark.parametrize("method", ["mdav", "univariate"])
def test_the_summary_is_what_the_released_table_says(survey, method, scaling):
    release = shoal.protect(
        survey, k=4, quasi_identifiers=COLUMNS, identifiers="name", method=method, scaling=scaling, strata="region"
    )
    sse = sst = suppressed = 0.0
    for name in COLUMNS:
        before = survey[name].cast(pl.Float64).to_numpy()
        after = release.data[name].cast(pl.Float64).to_numpy()
        seen, kept = ~np.isnan(before), ~np.isnan(after)
        assert not (kept & ~seen).any()
        mean, spread = before[seen].mean(), before[seen].std()
        off = np.where(kept, before - after, before - mean)[seen] / spread
        assert release.summary.loss_by_column[name] == pytest.approx(100 * (off**2).sum() / seen.sum())
        sse, sst = sse + (off**2).sum(), sst + seen.sum()
        suppressed += (seen & ~kept).sum()
    summary = release.summary
    assert (summary.sse, summary.sst) == pytest.approx((sse, sst))
    assert summary.information_loss == pytest.approx(100 * sse / sst)
    assert summary.suppressed_cells == suppressed
    counts = sizes(release.groups)
    assert (summary.groups, summary.smallest_group, summary.largest_group) == (len(counts), min(counts), max(counts))
    assert (summary.records, summary.k, summary.method) == (90, 4, method)
    assert dict(summary) == {name: summary[name] for name in summary}
    assert json.loads(json.dumps(summary.to_dict()))["sets"][0]["columns"] == COLUMNS


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_the_same_input_twice_gives_the_same_bytes(tmp_path, survey, ending):
    survey.write_csv(tmp_path / "in.csv")
    outputs = [tmp_path / f"{name}.{ending}" for name in ("first", "second")]
    for output in outputs:
        shoal.protect(
            tmp_path / "in.csv",
            k=3,
            quasi_identifiers=COLUMNS,
            identifiers="name",
            strata="region",
            output=output,
            method="mdav",
        )
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_the_manifest_says_what_it_takes_to_recognise_and_repeat_the_release(tmp_path, survey):
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    survey.write_csv(source)
    release = shoal.protect(
        source,
        k=3,
        quasi_identifiers=[["age", "height"], ["income"]],
        identifiers="name",
        seed=11,
        output=output,
        method="mdav",
    )
    manifest = manifest_of(output)
    for side, path in (("input", source), ("output", output)):
        assert manifest[side] == {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert manifest["shoal"] == shoal.__version__
    assert manifest["seed"] == release.summary.seed == 11
    assert set(manifest["versions"]) >= {"python", "numpy", "numba", "polars"}
    assert manifest["summary"] == json.loads(json.dumps(release.summary.to_dict()))
    assert set(manifest["timings"]) >= {"read", "declare", "block", "partition", "aggregate", "check"}
    for place, counted in enumerate(manifest["group_sizes"]):
        of_set = sizes(release.groups[:, place])
        assert counted == {str(size): of_set.count(size) for size in set(of_set)}
    again = shoal.protect(source, plan=shoal.Plan(**manifest["plan"]), output=tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == output.read_bytes()
    assert again.plan == release.plan


SECRET = "Zaphod4711"
LEAKS = {
    "text among numbers": (f"x,y\n1,a\n2,b\n3,c\n{SECRET},d\n", {}),
    "text": (f"x,y\n{SECRET},a\n{SECRET},b\n3,c\n", {"method": "mdav"}),
    "text as a weight": (f"x,y\n1,{SECRET}\n2,b\n3,c\n", {"weight": "y"}),
    "a short line": (f"x,y\n1,a\n{SECRET}\n3,c\n", {}),
    "a long line": (f"x,y\n1,a\n2,{SECRET},{SECRET}\n3,c\n", {}),
    "an open quote": (f'x,y\n1,a\n2,"{SECRET}\n3,c\n', {}),
    "a quote inside": (f'x,y\n1,a\n2,"{SECRET}"b"\n3,c\n', {}),
    "too few records": (f"x,y\n1,{SECRET}\n", {}),
    "an identifier": ("x,name\n" + "".join(f"{n},{SECRET}{n}\n" for n in range(30)), {}),
    "a wrong encoding": (f"x,y\n1,{SECRET}\n2,b\n3,c\n", {"reading": {"encoding": "utf-32"}}),
    "a folder that is not there": (f"x,y\n1,{SECRET}\n2,b\n3,c\n", {"output": "nowhere/out.csv"}),
}


@pytest.mark.parametrize("what", LEAKS)
def test_errors_show_no_value_of_a_cell(tmp_path, what):
    content, changed = LEAKS[what]
    path = tmp_path / "in.csv"
    path.write_text(content)
    with pytest.raises(shoal.ShoalError) as caught:
        shoal.protect(path, **({"k": 3, "quasi_identifiers": "x", "output": tmp_path / "out.csv"} | changed))
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)


def test_summary_manifest_and_inspection_show_no_value_of_a_cell(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(f"x,y,z,only\n987654321,a,{SECRET},{SECRET}\n987654321,b,,\n987654321,c,,\n5,d,,\n")
    release = shoal.protect(path, k=3, quasi_identifiers="x", strata="only", small_strata="merge", method="mdav")
    release.write(tmp_path / "out.csv")
    found = shoal.inspect(path)
    shown = [
        repr(release),
        json.dumps(release.summary.to_dict()),
        (tmp_path / "out.csv.manifest.json").read_text(),
        json.dumps(found.to_dict()),
        found.to_yaml(),
    ]
    assert not any(secret in text for text in shown for secret in (SECRET, "987654321"))


def test_idle_blocking_is_noted():
    notes = shoal.protect(numbers(1, 600), 100, ["a", "b"], method="univariate", blocking="spread-tree").summary.notes
    assert any("blocking had no effect" in note for note in notes)


def test_methods_that_draw_random_numbers_get_the_seed_and_others_do_not(monkeypatch):
    def halves(records, k, watch, seed):
        order = np.random.default_rng(seed).permutation(len(records))
        return (order < len(records) // 2).astype(np.int64)

    drawn = Method("halves", halves, "Random halves.", "a test", "O(n)")
    monkeypatch.setitem(shoal.METHODS, "halves", drawn)
    table = numbers(1)
    first, again, other = (shoal.protect(table, 3, ["a", "b"], method="halves", seed=seed).groups for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    plain = [shoal.protect(table, 3, ["a", "b"], method="mdav", seed=seed).groups.tolist() for seed in (1, 2)]
    assert plain[0] == plain[1]
