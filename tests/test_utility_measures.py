"""Measures of utility against scipy, scikit-learn and slow versions of their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

import shoal
import slow_measures as slow
from shoal.measures.contingency import table_distance
from shoal.measures.distributions import kolmogorov_smirnov_and_wasserstein
from shoal.measures.moments import joint_moments
from shoal.measures.pairs import NumericPair
from shoal.measures.probabilistic_loss import correlation_errors
from shoal.measures.propensity import propensity
from shoal.measures.regression import overlaps
from small_tables import lettered


def correlated(n=300, d=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.exponential(size=(n, d)) + 100.0


def microaggregated(values, k=4):
    return shoal.protect(lettered(values), k, list("abcdefghij"[: values.shape[1]]), method="mdav").data.to_numpy()


@pytest.fixture(scope="module")
def tables():
    original = correlated()
    return original, microaggregated(original)


@pytest.fixture(scope="module")
def with_holes():
    original = correlated(seed=2)
    rng = np.random.default_rng(3)
    original[rng.random(original.shape) < 0.05] = np.nan
    released = original + rng.normal(scale=0.3, size=original.shape)
    released[rng.random(original.shape) < 0.05] = np.nan
    return original, released


@pytest.mark.parametrize("which", ["tables", "with_holes"])
def test_information_loss_and_il1s_follow_their_definitions(which, request):
    original, released = request.getfixturevalue(which)
    found = shoal.measure(lettered(original), lettered(released))
    assert found.information_loss == pytest.approx(slow.information_loss(original, released), rel=1e-9)
    assert found.numeric_loss == found.information_loss
    assert found.il1s == pytest.approx(slow.il1s(original, released), rel=1e-9)


def test_information_loss_is_that_of_the_release():
    survey = shoal.example(300)
    release = shoal.protect(survey, 4, ["age", "height", "income"], identifiers="name", method="mdav")
    found = release.measure()
    assert found.information_loss == pytest.approx(release.summary.information_loss, rel=1e-12)
    assert found.sse == pytest.approx(release.summary.sse, rel=1e-12)
    assert found.suppressed_cells == release.summary.suppressed_cells
    assert {n: c["information_loss"] for n, c in found.by_column.items()} == pytest.approx(
        release.summary.loss_by_column
    )


@pytest.mark.parametrize("which", ["tables", "with_holes"])
def test_pil_follows_its_definition_statistic_by_statistic(which, request):
    original, released = request.getfixturevalue(which)
    found = shoal.measure(lettered(original), lettered(released))
    parts = slow.pil(original, released)
    assert found.pil_parts == pytest.approx(parts, abs=1e-6)
    assert found.pil == pytest.approx(np.mean(list(parts.values())), abs=1e-6)


def test_pil_does_not_depend_on_units(tables):
    original, released = tables
    units = np.array([1e-6, 1.0, 1e3, 1e9])
    shifted = shoal.measure(lettered(original * units + 1e3 * units), lettered(released * units + 1e3 * units))
    assert shifted.pil == pytest.approx(shoal.measure(lettered(original), lettered(released)).pil, abs=1e-6)


def test_where_an_error_is_zero_pil_is_0_or_100():
    zeros = np.zeros(60)
    x = np.concatenate((zeros, np.arange(40.0)))
    moved = x.copy()
    moved[:60] = 1e-3
    same = shoal.measure(pl.DataFrame({"x": x}), pl.DataFrame({"x": x}))
    changed = shoal.measure(pl.DataFrame({"x": x}), pl.DataFrame({"x": moved}))
    assert same.pil_parts["quantiles"] == 0.0
    # the eleven quantiles from 5 % to 55 % have no error and have moved, the rest have not
    assert changed.pil_parts["quantiles"] == pytest.approx(100 * 11 / 19, abs=0.5)
    assert changed.pil_parts["covariance"] is None


def test_errors_of_correlations_are_those_of_normal_data_on_normal_data():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200_000, 2))
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]
    moments = joint_moments((x - x.mean(axis=0)) / x.std(axis=0))
    r = moments.correlations[0, 1]
    assert correlation_errors(moments)[0, 1] == pytest.approx((1 - r**2) / np.sqrt(len(x)), rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_distances_of_distributions_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.integers(0, 20, size=150) if seed % 2 else rng.normal(size=150)).astype(float)
    y = np.sort(rng.integers(3, 25, size=90) if seed % 2 else rng.normal(size=90, loc=0.2)).astype(float)
    largest, area = kolmogorov_smirnov_and_wasserstein(x, y)
    assert largest == pytest.approx(stats.ks_2samp(x, y).statistic, abs=1e-12)
    assert area == pytest.approx(stats.wasserstein_distance(x, y), abs=1e-12)


def test_distributions_correlations_and_eigenvalues_of_a_table(tables):
    original, released = tables
    found = shoal.measure(lettered(original), lettered(released))
    x, y = slow.z_scores(original, released)
    columns = list(zip(x.T, y.T, strict=True))
    assert found.kolmogorov_smirnov == pytest.approx(np.mean([stats.ks_2samp(a, b).statistic for a, b in columns]))
    assert found.wasserstein == pytest.approx(np.mean([stats.wasserstein_distance(a, b) for a, b in columns]))
    off = np.triu_indices(4, 1)
    change = np.abs(np.corrcoef(x.T) - np.corrcoef(y.T))[off]
    assert found.correlation_difference == pytest.approx(change.mean())
    assert found.correlations["columns"] == list("abcd")
    assert np.array(found.correlations["released"]) == pytest.approx(np.corrcoef(y.T))
    values = [np.linalg.eigvalsh(np.cov(table.T, ddof=0)) for table in (x, y)]
    assert found.eigenvalue_difference == pytest.approx(100 * np.abs(values[0] - values[1]).sum() / 4)


def test_pmse_is_that_of_a_logistic_regression_by_scikit_learn(tables):
    x, y = slow.z_scores(*tables)
    there = np.ones(len(x), dtype=bool)
    found = propensity([NumericPair(str(j), x[:, j], y[:, j], there, there) for j in range(4)])
    design = PolynomialFeatures(2, include_bias=False).fit_transform(np.vstack((x, y)))
    design = (design - design.mean(axis=0)) / design.std(axis=0)
    labels = np.repeat([0, 1], len(x))
    model = LogisticRegression(C=np.inf, max_iter=10_000, tol=1e-10).fit(design, labels)
    expected = ((model.predict_proba(design)[:, 1] - 0.5) ** 2).mean()
    assert found.pmse == pytest.approx(expected, rel=1e-3)
    assert found.ratio == pytest.approx(found.pmse / (14 / (8 * 2 * len(x))), rel=1e-9)


def pmse_by_its_definition(columns, tolerance=1e-6):
    """Return pMSE of complete numbers (n, d) before and after as docs/measures.md defines it, and the parameters.

    Least squares say which terms are left out, and scipy finds the maximum of the likelihood.
    """
    x, y = columns
    terms = np.vstack((x, y))
    d = x.shape[1]
    terms = np.column_stack([terms, *(terms[:, i] * terms[:, j] for i in range(d) for j in range(i, d))])
    terms = terms[:, terms.std(axis=0) > 0.0]
    terms = (terms - terms.mean(axis=0)) / terms.std(axis=0)
    kept = np.ones((len(terms), 1))
    for term in terms.T:
        left = term - kept @ np.linalg.lstsq(kept, term)[0]
        if left.var() >= tolerance:
            kept = np.column_stack([kept, left / left.std()])  # what is fitted is the same with the rest of a term
    labels = np.repeat([0.0, 1.0], len(x))

    def loss(beta):
        linear = kept @ beta
        chance = 1.0 / (1.0 + np.exp(-linear))
        return np.logaddexp(0.0, linear).sum() - labels @ linear, kept.T @ (chance - labels)

    fitted = optimize.minimize(loss, np.zeros(kept.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7}).x
    return ((1.0 / (1.0 + np.exp(-kept @ fitted)) - 0.5) ** 2).mean(), kept.shape[1]


def test_pmse_is_what_its_definition_gives_with_terms_that_depend_on_each_other():
    rng = np.random.default_rng(7)
    x = rng.lognormal(size=(400, 3))
    x = np.column_stack([x, x[:, 0] + x[:, 1], x[:, 2] + 1e-5 * rng.normal(size=400), np.ones(400)])
    table = pl.DataFrame(dict(zip("abcdef", x.T, strict=True)))
    release = shoal.protect(table, 5, list("abcde"), method="mdav")
    found = shoal.measure(table, release.data, list("abcdef"))
    before, after = slow.z_scores(x[:, :5], release.data.select("a", "b", "c", "d", "e").to_numpy())
    expected, parameters = pmse_by_its_definition((before, after))
    assert parameters == 1 + 3 + 6  # of a, b and c with their squares and products
    assert found.pmse == pytest.approx(expected, rel=1e-6)
    assert found.pmse_ratio == pytest.approx(expected / ((parameters - 1) / (8 * 800)), rel=1e-6)


def test_pmse_of_tables_that_can_be_separated_is_its_limit():
    x = np.linspace(0.0, 1.0, 60)
    apart = shoal.measure(pl.DataFrame({"x": x}), pl.DataFrame({"x": x + 2.0}))
    assert apart.pmse == pytest.approx(0.25, abs=1e-8)
    half = np.where(x > 0.5, x + 2.0, x)  # what was moved can be told apart, the rest cannot
    before, after = pl.DataFrame({"c": ["a"] * 60}), pl.DataFrame({"c": np.where(half > 1.0, "b", "a")})
    chance = 30 / 90  # of being released, of an "a"
    assert shoal.measure(before, after).pmse == pytest.approx((90 * (chance - 0.5) ** 2 + 30 * 0.25) / 120, abs=1e-8)


@pytest.mark.parametrize("kind", [pl.String, pl.Float64])
def test_columns_without_any_value_can_be_measured(kind):
    table = pl.DataFrame({"x": pl.Series([None] * 6, dtype=kind)})
    found = shoal.protect(table, 2, "x").measure()
    assert (found.pmse, found.information_loss) == (0.0, 0.0)


def test_pmse_of_records_drawn_at_random_is_what_it_is_expected_to_be():
    rng = np.random.default_rng(5)
    there = np.ones(2000, dtype=bool)
    ratios = []
    x = rng.normal(size=(2000, 3))
    for _ in range(60):
        drawn = x[rng.integers(0, 2000, size=2000)]
        pairs = [NumericPair(str(j), x[:, j], drawn[:, j], there, there) for j in range(3)]
        ratios.append(propensity(pairs).ratio)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.2)


def test_pmse_tells_tables_apart_that_differ_in_categories_or_missing_values():
    original = pl.DataFrame({"x": np.arange(200.0), "c": ["a", "b"] * 100})
    other = original.with_columns(c=pl.lit("a"))
    holes = original.with_columns(x=pl.when(pl.col("x") % 2 == 0).then(None).otherwise(pl.col("x")))
    assert shoal.measure(original, original).pmse == pytest.approx(0.0, abs=1e-12)
    assert shoal.measure(original, other).pmse > 0.05
    assert shoal.measure(original, holes).pmse > 0.05


def test_regression_overlaps_are_those_of_lines_fitted_to_the_records(tables):
    original, released = tables
    x, y = slow.z_scores(original, released)
    found = overlaps(np.cov(x.T, ddof=0), np.cov(y.T, ddof=0), (len(x), len(y)))
    for i in range(4):
        others = [j for j in range(4) if j != i]
        intervals = [fitted_intervals(table[:, others], table[:, i]) for table in (x, y)]
        for position, j in enumerate(others):
            (low, high), (low2, high2) = intervals[0][position], intervals[1][position]
            common = max(min(high, high2) - max(low, low2), 0.0)
            expected = 50 * (common / (high - low) + common / (high2 - low2))
            assert found[i, j] == pytest.approx(expected, abs=1e-6)


def fitted_intervals(x, y):
    design = np.column_stack((np.ones(len(x)), x))
    line, *_ = np.linalg.lstsq(design, y, rcond=None)
    variance = ((y - design @ line) ** 2).sum() / (len(y) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    wide = stats.norm.ppf(0.975)
    return [(b - wide * e, b + wide * e) for b, e in zip(line[1:], errors[1:], strict=True)]


def test_a_column_that_is_the_sum_of_others_does_not_stop_the_regression():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 3))
    x[:, 2] = x[:, 0] + x[:, 1]
    assert shoal.measure(lettered(x), lettered(x)).coefficients_kept == pytest.approx(100.0)
    assert shoal.measure(lettered(x), lettered(np.tile(x.mean(axis=0), (200, 1)))).coefficients_kept == 0.0


def test_loss_of_categories_is_the_share_of_what_differs_from_the_mode_that_was_lost():
    before = pl.DataFrame({"c": ["a"] * 6 + ["b"] * 3 + ["d"]})
    after = pl.DataFrame({"c": ["a"] * 5 + ["b"] * 4 + ["a"]})
    found = shoal.measure(before, after)
    assert found.information_loss == found.category_loss == pytest.approx(100 * 2 / 4)
    assert found.by_column["c"]["changed_cells"] == pytest.approx(20.0)
    suppressed = shoal.measure(before, pl.DataFrame({"c": ["a"] * 5 + [None] * 5}))
    assert suppressed.information_loss == pytest.approx(100.0)
    assert suppressed.suppressed_cells == 5


def test_the_loss_of_a_mixed_table_is_the_mean_of_its_columns():
    before = pl.DataFrame({"x": [1.0, 2.0, 3.0, 6.0], "c": ["a", "a", "b", "c"]})
    after = pl.DataFrame({"x": [1.5, 1.5, 4.5, 4.5], "c": ["a", "a", "c", "c"]})
    found = shoal.measure(before, after, ["x", "c"])
    assert (found.numeric_loss, found.category_loss) == pytest.approx((100 * 5 / 14, 50.0))
    assert found.information_loss == pytest.approx((100 * 5 / 14 + 50.0) / 2)
    assert (found.sse, found.sst) == pytest.approx((4 * 5 / 14 + 4 * 0.5, 8.0))


def test_distances_of_tables_count_cells():
    rng = np.random.default_rng(7)
    before, after = rng.integers(0, 4, size=(200, 3)), rng.integers(0, 5, size=(200, 3))
    for columns in itertools.chain(*(itertools.combinations(range(3), size) for size in (1, 2, 3))):
        cells = set(map(tuple, before[:, columns])) | set(map(tuple, after[:, columns]))
        p, q = ([(table[:, columns] == cell).all(axis=1).mean() for cell in cells] for table in (before, after))
        found = table_distance([before[:, j] for j in columns], [after[:, j] for j in columns])
        assert found.total_variation == pytest.approx(50 * np.abs(np.subtract(p, q)).sum())
        hellinger = np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum())
        assert found.hellinger == pytest.approx(100 * hellinger)


def test_moments_of_records_with_holes_are_those_of_the_pairs_that_have_both(with_holes):
    values = with_holes[0] - 100
    seen = ~np.isnan(values)
    found = joint_moments(np.where(seen, values, 7.0), seen)
    for i, j in itertools.product(range(4), repeat=2):
        x, y = slow.both(values[:, i], values[:, j])
        u, v = x - x.mean(), y - y.mean()
        assert found.counts[i, j] == len(x)
        for name, a, b in [("m11", 1, 1), ("m20", 2, 0), ("m22", 2, 2), ("m31", 3, 1), ("m40", 4, 0)]:
            assert getattr(found, name)[i, j] == pytest.approx((u**a * v**b).mean(), rel=1e-8, abs=1e-8)


def test_weighted_means_totals_and_shares_are_those_of_the_two_tables():
    rng = np.random.default_rng(8)
    n = 150
    table = pl.DataFrame(
        {
            "x": rng.normal(50.0, 9.0, n),
            "y": rng.integers(0, 10**6, n),
            "day": pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 900, n)),
            "c": rng.choice(["a", "b", "c"], n),
            "w": rng.lognormal(0.0, 1.0, n),
        }
    )
    released = table.with_columns(
        x=pl.when(pl.col("x") > 60).then(None).otherwise(pl.col("x") + 1.0), y=pl.col("y") // 10, c=pl.lit("a")
    )
    found = shoal.measure(table, released, ["x", "y", "day", "c"], weight="w")
    w = table["w"].to_numpy()
    mean_changes, total_changes = [], []
    for name in ("x", "y"):
        own = found.by_column[name]
        x, z = table[name].to_numpy().astype(float), released[name].cast(pl.Float64).to_numpy()
        there = ~np.isnan(z)
        mean, mean_now = np.average(x, weights=w), np.average(z[there], weights=w[there])
        assert (own["weighted_mean_original"], own["weighted_mean"]) == pytest.approx((mean, mean_now))
        assert own["weighted_total_original"] == pytest.approx((w * x).sum())
        assert own["weighted_total"] == pytest.approx((w * z)[there].sum())
        deviation = np.sqrt(np.average((x - mean) ** 2, weights=w))
        mean_changes.append(100 * (mean_now - mean) / deviation)
        total_changes.append(100 * ((w * z)[there].sum() / (w * x).sum() - 1))
        assert own["weighted_mean_change"] == pytest.approx(mean_changes[-1])
        assert own["weighted_total_change"] == pytest.approx(total_changes[-1])
    assert found.weighted_mean_change == pytest.approx(np.abs(mean_changes).mean())
    assert found.weighted_total_change == pytest.approx(np.abs(total_changes).mean())
    assert found.weighted_share_change == pytest.approx(100 * w[(table["c"] != "a").to_numpy()].sum() / w.sum())
    assert "weighted_mean" not in found.by_column["day"]
    assert shoal.measure(table, released, ["x", "y"]).weighted_mean_change is None


def test_a_weighted_release_keeps_weighted_means_and_totals():
    survey = shoal.example(200).drop_nulls().with_columns(w=pl.int_range(1, pl.len() + 1, eager=False) % 7 + 1.0)
    release = shoal.protect(survey, 5, ["height", "income"], identifiers="name", weight="w", method="mdav")
    found = release.measure()
    assert found.weight == "w"
    assert found.weighted_mean_change < 0.1  # rounding of whole numbers
    assert found.weighted_total_change < 0.1
