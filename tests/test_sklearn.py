"""The estimator keeps the contract of scikit-learn, makes the release of shoal.protect, and refuses unseen records."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from command_line import in_new_python
from shoal.sklearn import Microaggregator

_NO_OTHERS = "k is a promise about the records that were grouped together: transform refuses any other table"
# checks of scikit-learn that a microaggregation cannot pass, each with the reason
UNMET = {
    "check_methods_sample_order_invariance": _NO_OTHERS,
    "check_methods_subset_invariance": _NO_OTHERS,
    "check_fit_idempotent": f"{_NO_OTHERS}, such as the test half of a split",
    "check_clustering": "asks for three large clusters; microaggregation makes groups as small as k allows",
    "check_sample_weight_equivalence_on_dense_data": "weights are those of a survey, not counts: a record with "
    "weight 2 is one record for k, and two records are two",
}
ASSIGNED = {name: UNMET[name] for name in ("check_clustering", "check_sample_weight_equivalence_on_dense_data")}
RANDOM = np.random.default_rng(1)
TABLE = RANDOM.normal(size=(60, 3))
HOLED = np.where(RANDOM.random((60, 3)) < 0.1, np.nan, TABLE)


@parametrize_with_checks(
    [Microaggregator(k=2, method="mdav"), Microaggregator(k=3, method="mdav", unseen="assign", scaling="range")],
    expected_failed_checks=lambda estimator: UNMET if estimator.unseen == "refuse" else ASSIGNED,
)
def test_scikit_learn_finds_nothing_else(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", [None, "mdav", "v-mdav", "k-ward"])
@pytest.mark.parametrize("table", [TABLE, HOLED], ids=["complete", "missing"])
def test_the_release_is_that_of_protect(method, table):
    if method == "k-ward" and table is HOLED:
        pytest.skip("k-ward takes no missing values")
    names = ["a", "b", "c"]
    release = shoal.protect(pl.DataFrame(table, names, nan_to_null=True), 4, names, method=method)
    estimator = Microaggregator(4, method=method)
    np.testing.assert_array_equal(estimator.fit_transform(table), release.data.to_numpy())
    np.testing.assert_array_equal(estimator.labels_, release.groups)
    assert estimator.summary_.information_loss == release.summary.information_loss


@pytest.mark.parametrize("table", [TABLE, HOLED], ids=["complete", "missing"])
def test_centres_are_what_groups_were_released_as(table):
    estimator = Microaggregator(5, method="mdav")
    released = estimator.fit_transform(table)
    assert np.bincount(estimator.labels_).min() >= 5
    for group, centre in enumerate(estimator.cluster_centers_):
        for column, value in zip(released[estimator.labels_ == group].T, centre, strict=True):
            seen = column[~np.isnan(column)]
            assert (seen == value).all() if len(seen) else np.isnan(value)


def test_weights_weigh_what_is_released():
    weights = RANDOM.uniform(1, 9, 60)
    estimator = Microaggregator(5, method="mdav").fit(TABLE, sample_weight=weights)
    own = estimator.labels_ == 0
    expected = np.average(TABLE[own], axis=0, weights=weights[own])
    np.testing.assert_allclose(estimator.cluster_centers_[0], expected)


def test_a_column_may_have_the_name_of_the_weights():
    table = pd.DataFrame(TABLE, columns=["sample_weight", "b", "c"])
    released = Microaggregator(5, method="mdav").fit_transform(table, sample_weight=np.ones(60))
    np.testing.assert_allclose(released, Microaggregator(5, method="mdav").fit_transform(TABLE))


def test_the_fitted_table_is_transformed_and_no_other():
    estimator = Microaggregator(5, method="mdav").fit(HOLED)
    np.testing.assert_array_equal(estimator.transform(HOLED.copy(order="F")), estimator.fit_transform(HOLED))
    for other in (HOLED[1:], HOLED[::-1], HOLED + 1e-9):
        with pytest.raises(shoal.DataError, match="not the records that were fitted"):
            estimator.transform(other)


@pytest.mark.parametrize("scaling", ["z-score", "range", "robust", "none"])
def test_assigning_takes_the_nearest_centre_in_scaled_columns(scaling):
    """Distances from the definition: differences over the spread of the original column."""
    table = TABLE * [1, 10, 100] + 1e6
    new = RANDOM.normal(size=(40, 3)) * [1, 10, 100] + 1e6
    estimator = Microaggregator(5, method="mdav", scaling=scaling, unseen="assign").fit(table)
    low, high = np.quantile(table, [0.25, 0.75], axis=0)
    spread = {"z-score": table.std(axis=0), "range": np.ptp(table, axis=0), "robust": high - low, "none": 1.0}[scaling]
    away = (new[:, None] - estimator.cluster_centers_[None]) / spread
    expected = (away**2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(estimator.assign(new), expected)
    np.testing.assert_array_equal(estimator.transform(new), estimator.cluster_centers_[expected])


def test_a_missing_value_is_at_the_same_distance_of_all_centres():
    table = np.array([[0.0, 0], [1, 0], [2, 1], [90, 7], [91, 8], [92, 8]])
    estimator = Microaggregator(3, method="mdav").fit(table)
    assert estimator.assign([[5, np.nan], [85, np.nan]]).tolist() == estimator.labels_[[0, 3]].tolist()


def test_unseen_records_are_kept_for_a_model_where_that_was_asked_for():
    estimator = Microaggregator(5, method="mdav", unseen="keep").fit(TABLE)
    np.testing.assert_array_equal(estimator.transform(TABLE[:7]), TABLE[:7])
    assert not np.array_equal(estimator.transform(TABLE), TABLE)


def test_a_fitted_estimator_holds_no_record():
    table = RANDOM.normal(size=(200, 2)) * 1e3
    estimator = Microaggregator(5, method="mdav").fit(table)
    held = np.concatenate([np.ravel(s) for s in _numbers_in(pickle.loads(pickle.dumps(estimator)).__dict__)])
    assert not np.isin(np.round(table, 9), np.round(held, 9)).any()


def _numbers_in(value):
    if isinstance(value, np.ndarray):
        return [value.astype(float)] if value.dtype.kind in "fiu" else []
    if isinstance(value, float):
        return [np.array([value])]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    parts = vars(value).values() if hasattr(value, "__dataclass_fields__") else parts
    return [found for part in parts for found in _numbers_in(part)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes_keep_their_names(library):
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library](dict(zip("abc", TABLE.T, strict=True)))
    estimator = Microaggregator(5, method="mdav").set_output(transform=library)
    released = estimator.fit_transform(table)
    assert type(released) is type(table)
    assert list(released.columns) == estimator.get_feature_names_out().tolist() == ["a", "b", "c"]


def test_in_a_column_transformer_the_other_columns_stay():
    table = pd.DataFrame({"a": TABLE[:, 0], "name": ["x"] * 60, "b": TABLE[:, 1]})
    both = ColumnTransformer([("protect", Microaggregator(5, method="mdav"), ["a", "b"])], remainder="passthrough")
    released = both.set_output(transform="pandas").fit_transform(table)
    expected = Microaggregator(5, method="mdav").fit_transform(table[["a", "b"]])
    np.testing.assert_array_equal(released[["protect__a", "protect__b"]].to_numpy(), expected)
    assert (released["remainder__name"] == "x").all()


def test_in_a_pipeline_the_model_learns_from_the_release():
    y = TABLE[:, 0] + TABLE[:, 1] > 0
    pipeline = make_pipeline(Microaggregator(5, method="mdav", unseen="keep"), LogisticRegression())
    search = GridSearchCV(pipeline, {"microaggregator__k": [3, 6]}, cv=2).fit(TABLE, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    alone = LogisticRegression().fit(Microaggregator(6, method="mdav").fit_transform(TABLE), y)
    np.testing.assert_allclose(clone(pipeline).set_params(microaggregator__k=6).fit(TABLE, y)[-1].coef_, alone.coef_)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"unseen": "asign"}, "did you mean 'assign'"),
        ({"k": 1}, "k"),
        ({"method": "mdavv"}, "did you mean 'mdav'"),
        ({"method": "mdav", "options": {"steps": 3}}, "steps"),
    ],
)
def test_mistakes_are_told(wrong, words):
    with pytest.raises(shoal.PlanError, match=words):
        Microaggregator(**{"k": 3, **wrong}).fit(TABLE)


def test_importing_shoal_loads_no_scikit_learn():
    printed = in_new_python(
        "import shoal, sys; shoal.protect; print('sklearn' in sys.modules, 'shoal.sklearn' in sys.modules)"
    )
    assert printed.split() == ["False", "False"]


def test_without_scikit_learn_the_extra_is_named():
    code = "import sys\nsys.modules['sklearn'] = None\ntry:\n    import shoal.sklearn\n"
    code += "except ImportError as error:\n    print(error)"
    assert "pip install 'shoal[sklearn]'" in in_new_python(code)
