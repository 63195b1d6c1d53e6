"""Every method that takes categories x every awkward input: at least k, every row once, the same result twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from command_line import manifest_of
from shoal.blocking.blocks import BLOCKINGS
from shoal.plan.roles import Kind
from small_tables import cells

METHODS = sorted(name for name, method in shoal.METHODS.items() if Kind.SEMANTIC in method.kinds)
K = 3
JOBS = {"job": [{"health": ["nurse", "doctor"]}, {"food": ["cook", "baker"]}, "farmer"]}
LEVELS = ["low", "mid", "high"]
SETTINGS = {"hierarchies": {"job": {"tree": JOBS}}, "orders": {"school": LEVELS}}


def people(n=30, seed=0, missing=0.0):
    """A table with columns of all kinds."""
    rng = np.random.default_rng(seed)

    def column(values):
        return [None if rng.random() < missing else value.item() for value in rng.choice(values, n)]

    return pl.DataFrame(
        {
            "job": column(["nurse", "doctor", "cook", "baker", "farmer", "food"]),
            "school": column(LEVELS),
            "sex": column(["f", "m"]),
            "smokes": column([True, False]),
            "age": column(np.arange(20, 60)),
        },
        schema={"job": pl.String, "school": pl.String, "sex": pl.String, "smokes": pl.Boolean, "age": pl.Int64},
    )


AWKWARD = {
    "all kinds": people(),
    "missing": people(60, 1, 0.3),
    "n = k": people(K),
    "n = k + 1": people(K + 1),
    "n = 2k": people(2 * K),
    "n = 3k + 1": people(3 * K + 1),
    "all rows equal": people(1).sample(20, with_replacement=True, seed=0),
    "many equal rows": people(6).sample(80, with_replacement=True, seed=1),
    "a column without any value": people(20).with_columns(job=pl.lit(None, pl.String)),
    "a column with one value": people(20).with_columns(sex=pl.lit("f")),
}


def check_promises(table, release, k):
    groups = release.groups
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.sum() == len(table)
    data = release.data
    assert data.schema == table.schema
    for name in table.columns:
        before, after = table[name].to_list(), data[name].to_list()
        for g in range(len(sizes)):
            rows = np.flatnonzero(groups == g)
            seen = [row for row in rows if before[row] is not None]
            assert all(after[row] is None for row in rows if before[row] is None)
            assert len({after[row] for row in rows}) == 1  # a value, or none for all of them
            if after[rows[0]] is not None and len({before[row] for row in seen}) == 1:
                assert after[seen[0]] == before[seen[0]]
    lost = data.null_count().sum_horizontal()[0] - table.null_count().sum_horizontal()[0]
    assert release.summary.suppressed_cells == lost
    assert data.group_by(data.columns).len()["len"].min() >= k


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("method", METHODS)
def test_promises_hold(method, case):
    table = AWKWARD[case]
    options = {"steps": 20_000} if method == "semantic-optimal" else {}
    release = shoal.protect(table, K, table.columns, method=method, options=options, **SETTINGS)
    check_promises(table, release, K)
    again = shoal.protect(table, K, table.columns, method=method, options=options, **SETTINGS)
    assert release.data.equals(again.data)
    assert np.isfinite(release.summary.loss)
    assert 0.0 <= release.summary.global_risk <= 100.0 / K + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_a_hierarchy_of_one_name(method):
    table = pl.DataFrame({"job": ["work"] * 7})
    release = shoal.protect(table, K, "job", method=method, hierarchies={"job": {"flat": True}})
    assert release.data.equals(table)
    assert release.summary.loss == 0.0


def test_values_that_are_not_in_the_hierarchy_are_all_named_with_the_nearest():
    table = people().with_columns(job=pl.Series(["nurs", "cooke", "nurse"] * 10))
    with pytest.raises(shoal.DataError, match=r"'nurs', did you mean 'nurse'.*'cooke', did you mean 'cook'"):
        shoal.protect(table, K, ["job", "sex"], hierarchies=SETTINGS["hierarchies"])
    with pytest.raises(shoal.DataError, match="column 'school': 1 value not in the given order: 'mid'"):
        shoal.protect(people(), K, "school", orders={"school": ["low", "high"]})


def test_a_method_for_numbers_names_those_that_take_categories():
    with pytest.raises(
        shoal.ShoalError, match="column 'job' is semantic, which method 'mdav' does not take; semantic-opt"
    ):
        shoal.protect(people(), K, ["job", "age"], method="mdav", hierarchies=SETTINGS["hierarchies"])
    with pytest.raises(
        shoal.ShoalError, match="column 'smokes' is true or false, which method 'mondrian' does not take"
    ):
        shoal.protect(people(), K, ["smokes", "age"], method="mondrian")


def test_ordered_methods_take_ordinal_columns():
    release = shoal.protect(people(), K, ["school", "age"], method="mondrian", orders=SETTINGS["orders"])
    assert set(release.data["school"]) <= set(LEVELS)


def test_categories_without_a_method_are_searched():
    assert shoal.protect(people(), K, ["sex", "age"]).summary.method == "semantic-optimal"
    assert shoal.protect(people(), K, ["age"]).summary.method == "optimal"


WRONG = {
    "a hierarchy of another column": ({"hierarchies": {"age2": "x.csv"}}, "column 'age2' is not in the table"),
    "a hierarchy of no quasi-identifier": (
        {"hierarchies": {"smokes": {"flat": True}}},
        "hierarchies: column 'smokes' is not a quasi-identifier, so this has no effect",
    ),
    "two kinds": (
        {"hierarchies": {"sex": {"flat": True}}, "nominal": ["sex"]},
        "column 'sex' is in hierarchies and in nominal; it can be of one kind",
    ),
    "a weight of 0": ({"column_weights": {"age": 0}}, "column_weights.age: must be above 0"),
    "weights without mixed distances": (
        {"quasi_identifiers": ["age"], "column_weights": {"age": 2}, "method": "mdav"},
        "column_weights: has no effect with method 'mdav'",
    ),
    "an aggregator of another kind": (
        {"aggregators": {"sex": "centroid"}},
        "aggregator 'centroid' does not suit column 'sex'; for nominal columns there are mode, weighted-plurality",
    ),
    "an aggregator of no kind": (
        {"quasi_identifiers": ["sex"], "aggregators": "median"},
        "aggregator 'median' suits none of the columns",
    ),
    "combinations of one column": ({"combinations": "observed"}, "combinations: has no effect with fewer than two"),
    "refined groups": (
        {"refine": True, "method": "sa-mdav", "aggregators": {"age": "median"}},
        "refine: lowers the loss of column 'age' where it is released as mean or weighted-mean, not as median; ask for "
        "that aggregator, or leave refine out",
    ),
    "repaired blocks": (
        {"blocking": {"method": "univariate", "columns": ["age"], "repair": True}},
        "blocking.repair: exchanges records by the sums of squares of numbers and dates, not of sex; leave it out",
    ),
    "blocks of categories": ({"blocking": "spread-tree"}, "blocking: cuts columns of numbers and dates, not sex"),
    "plurality without weights": ({"aggregators": {"sex": "weighted-plurality"}}, "needs a column of weights"),
    "an order of one value": (
        {"quasi_identifiers": ["school"], "orders": {"school": ["low"]}},
        "give at least two values",
    ),
    "scaling without numbers": ({"quasi_identifiers": ["sex"], "scaling": "range"}, "scaling: has no effect without"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_has_no_effect_or_does_not_fit_is_an_error(what):
    changed, sentence = WRONG[what]
    with pytest.raises(shoal.ShoalError) as caught:
        shoal.protect(people(), **({"k": K, "quasi_identifiers": ["sex", "age"]} | changed))
    assert sentence in str(caught.value)


def test_text_that_holds_numbers_is_refused_unless_it_is_nominal():
    table = people().with_columns(code=pl.Series([str(i % 4) for i in range(30)]))
    with pytest.raises(shoal.DataError, match=r"column 'code' holds numbers as text.*name it as nominal"):
        shoal.protect(table, K, ["code", "sex"])
    release = shoal.protect(table, K, ["code", "sex"], nominal="code", confidential=[], method="sa-mdav")
    assert set(release.data["code"]) <= set("0123")


def test_numbers_can_be_names():
    table = pl.DataFrame({"ward": [7, 7, 7, 300, 300, 300, 12, 12]})
    release = shoal.protect(table, K, "ward", nominal="ward", method="sa-mdav")
    assert release.data["ward"].dtype == pl.Int64
    assert set(release.data["ward"]) <= {7, 300, 12}


CONSTRUCTORS = {
    "polars text": lambda t: t,
    "polars categorical": lambda t: t.with_columns(pl.col("job").cast(pl.Categorical)),
    "pandas objects": lambda t: pd.DataFrame(t.to_dict(as_series=False)).astype({"job": object}),
    "pandas string": lambda t: pd.DataFrame(t.to_dict(as_series=False)).astype({"job": "string"}),
    "pandas category": lambda t: pd.DataFrame(t.to_dict(as_series=False)).astype({"job": "category"}),
    "pandas arrow": lambda t: t.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pyarrow": lambda t: t.to_arrow(),
    "pyarrow dictionary": lambda t: _dictionary(t.to_arrow()),
}


def _dictionary(table):
    place = table.schema.get_field_index("job")
    return table.set_column(place, "job", table.column("job").cast(pa.string()).dictionary_encode())


@pytest.mark.parametrize("library", CONSTRUCTORS)
def test_categories_keep_their_type_in_every_library(library):
    plain = people(60, 2, 0.1).select("job", "smokes")
    table = CONSTRUCTORS[library](plain)
    settings = {
        "k": 5,
        "quasi_identifiers": ["job", "smokes"],
        "method": "mondrian-mixed",
        "hierarchies": SETTINGS["hierarchies"],
    }
    expected = shoal.protect(plain, **settings).data
    found = shoal.protect(table, **settings).data
    assert type(found) is type(table)
    assert cells(found, "job") == expected["job"].to_list()
    assert cells(found, "smokes") == expected["smokes"].to_list()
    assert "health" in expected["job"].to_list() or "job" in expected["job"].to_list()  # a name that was not there


def test_a_type_that_cannot_hold_the_names_above_is_an_error():
    table = people().with_columns(pl.col("job").cast(pl.Enum(["nurse", "doctor", "cook", "baker", "farmer", "food"])))
    with pytest.raises(shoal.DataError, match="column 'job' is an Enum without the names above its values"):
        shoal.protect(table, K, "job", hierarchies=SETTINGS["hierarchies"])
    names = ["nurse", "doctor", "cook", "baker", "farmer", "food", "health", "job"]
    fits = people().with_columns(pl.col("job").cast(pl.Enum(names)))
    release = shoal.protect(fits, K, "job", method="sa-mdav", hierarchies=SETTINGS["hierarchies"])
    used = set(release.data["job"])
    assert release.data.schema == {**fits.schema, "job": pl.Enum([name for name in names if name in used])}
    numbers = pl.DataFrame({"size": [1, 2, 3, 1]})
    with pytest.raises(shoal.DataError, match="names of its order, which are text"):
        shoal.protect(numbers, 2, "size", orders={"size": ["1", "2", "3", "more"]})


def test_strata_sets_and_weights():
    table = people(80, 4).with_columns(weight=pl.Series(np.random.default_rng(0).uniform(1, 5, 80)))
    sets = [["job", "age"], ["school", "sex"]]
    release = shoal.protect(table, K, sets, strata="smokes", weight="weight", method="sa-mdav", **SETTINGS)
    assert release.groups.shape == (80, 2)
    for groups in release.groups.T:
        assert np.bincount(groups).min() >= K
        for g in np.unique(groups):
            assert len(set(table["smokes"].to_numpy()[groups == g])) == 1
    sex, groups = table["sex"].to_list(), release.groups[:, 1]
    for g in np.unique(groups):
        rows = np.flatnonzero(groups == g)
        shares = {s: sum(table["weight"][int(r)] for r in rows if sex[r] == s) for s in ("f", "m")}
        assert release.data["sex"][int(rows[0])] == max(shares, key=shares.get)


def test_blocks_can_be_cut_by_numbers():
    table = people(400, 5).select("job", "age")
    release = shoal.protect(
        table,
        K,
        ["job", "age"],
        method="sa-mdav",
        blocking={"method": "spread-tree", "size": 50, "columns": ["age"]},
        hierarchies=SETTINGS["hierarchies"],
    )
    check_promises(table, release, K)
    blocks = BLOCKINGS["spread-tree"](table["age"].cast(pl.Float64).to_numpy()[:, None], K, 50)
    assert release.summary.blocks == blocks.max() + 1 > 1
    assert len(set(zip(release.groups.tolist(), blocks.tolist(), strict=True))) == release.summary.groups


def test_combinations_are_those_that_occur():
    table = people(24, 6, 0.05)
    names = ["job", "school", "sex"]
    plain = shoal.protect(table, 4, names, method="mondrian-mixed", **SETTINGS)
    kept = shoal.protect(table, 4, names, method="mondrian-mixed", combinations="observed", **SETTINGS)
    there = set(table.select(names).drop_nulls().rows())
    assert not set(plain.data.select(names).drop_nulls().rows()) <= there
    assert set(kept.data.select(names).drop_nulls().rows()) <= there
    assert np.array_equal(plain.groups, kept.groups)


def test_more_weight_on_a_column_loses_less_of_it():
    table = people(200, 7)
    names = ["job", "sex", "age"]
    losses = [
        shoal.protect(
            table, 5, names, method="sa-mdav", hierarchies=SETTINGS["hierarchies"], column_weights={"age": weight}
        ).summary.loss_by_column["age"]
        for weight in (0.1, 10)
    ]
    assert losses[1] < losses[0]


def test_what_was_released_can_be_measured_reported_and_made_again(tmp_path):
    table = people(80, 8)
    release = shoal.protect(table, 4, ["job", "school", "age"], confidential="sex", method="sa-mdav", **SETTINGS)
    found = release.measure()
    assert found.k_anonymity >= 4
    assert found.categorical == ["job", "school"]
    release.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 0
    plan = shoal.Plan.from_yaml(release.plan.to_yaml())
    assert plan == release.plan
    assert shoal.protect(table, plan=plan).data.equals(release.data)


def test_a_sweep_takes_methods_for_categories_where_there_are_some(tmp_path):
    found = shoal.sweep(
        people(30, 9), [3], None, ["job", "sex"], output=tmp_path / "sweep", hierarchies=SETTINGS["hierarchies"]
    )
    methods = {row["method"] for row in found.rows()} if hasattr(found, "rows") else {r.method for r in found.results}
    assert methods == {"semantic-optimal", "sa-mdav", "s-mdav", "sa-mondrian", "mondrian-ordered"}


def test_a_timed_search_of_several_sets_is_repeated_by_one_number_of_steps(tmp_path):
    """Sets with many and with few distinct records make the same number of proposals for each of them."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {name: rng.choice([f"{name}{i}" for i in range(many)], 200) for name, many in (("a", 4), ("b", 20), ("c", 20))}
    )
    asked = {"k": 3, "quasi_identifiers": [["a"], ["b", "c"]]}
    timed = shoal.protect(table, **asked, options={"time": 1.0}, output=tmp_path / "timed.csv")
    again = manifest_of(tmp_path / "timed.csv")["plan_again"]
    repeated = shoal.protect(table, plan=shoal.Plan(**again))
    assert (repeated.groups == timed.groups).all()
    assert repeated.data.equals(timed.data)


def test_a_plan_that_repeats_itself_stands_alone(tmp_path):
    table = pl.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v", "w", "x"] * 10})
    shoal.protect(table, 3, ["a", "b"], output=tmp_path / "out.csv")
    assert "plan_again" not in manifest_of(tmp_path / "out.csv")
