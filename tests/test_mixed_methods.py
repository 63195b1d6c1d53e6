"""The methods for columns of any kind against their slow, obvious versions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reference
import shoal
import slow_mixed
from all_partitions import partitions, same_groups
from shoal.columns.categories import Factor, nominal, ordinal, semantic
from shoal.columns.hierarchy import grow
from shoal.columns.mixed import mix
from shoal.columns.numbers import Column
from shoal.columns.scaling import Scale
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.semantic_optimal import search_of
from shoal.partition.semantic_optimal.problem import objective_of, problem_of
from shoal.partition.semantic_optimal.start import portions_of

TREE = [
    ("health", "job"),
    ("nurse", "health"),
    ("doctor", "health"),
    ("surgeon", "doctor"),
    ("food", "job"),
    ("cook", "food"),
    ("baker", "cook"),
    ("waiter", "food"),
    ("farmer", "job"),
]
LEVELS = ["none", "school", "trade", "college"]
JOBS = ["nurse", "doctor", "surgeon", "cook", "baker", "waiter", "farmer", "food"]


def draw(kind, n, seed):
    """Rows of a table, its columns as the slow version has them, and as shoal has them."""
    rng = np.random.default_rng(seed)
    many = {
        "numbers": [rng.integers(0, 12, n), rng.integers(0, 5, n)],
        "one hierarchy": [rng.choice(JOBS, n, p=_skewed(rng, len(JOBS)))],
        "categories": [rng.choice(JOBS, n, p=_skewed(rng, len(JOBS))), rng.choice(["f", "m"], n)],
        "mixed": [
            rng.choice(JOBS, n, p=_skewed(rng, len(JOBS))),
            rng.choice(LEVELS, n),
            rng.choice(["f", "m"], n),
            rng.integers(0, 9, n),
        ],
    }[kind.removesuffix(" missing")]
    cells = [[value.item() for value in column] for column in many]
    if kind.endswith("missing"):
        cells = [[None if rng.random() < 0.15 else value for value in column] for column in cells]
    slow_columns, columns, scales = [], [], []
    for j, values in enumerate(cells):
        there = np.array([value is not None for value in values])
        labels = list(dict.fromkeys(value for value in values if value is not None))
        codes = np.array([labels.index(value) if value is not None else 0 for value in values])
        scale = None
        if all(isinstance(label, int) for label in labels):
            span = float(max(labels) - min(labels)) or 1.0
            slow_columns.append(("number", span))
            numbers = np.array([value or 0 for value in values], dtype=np.float64)
            columns.append(Column(f"c{j}", numbers, there))
            scale = Scale(0.0, 1.0, 0.0, span)
        elif set(labels) <= set(LEVELS):
            slow_columns.append(("ordinal", LEVELS))
            columns.append(ordinal(f"c{j}", Factor(codes, there, labels), LEVELS))
        elif set(labels) <= {"f", "m"}:
            slow_columns.append(("nominal",))
            columns.append(nominal(f"c{j}", Factor(codes, there, labels)))
        else:
            slow_columns.append(("semantic", TREE))
            columns.append(semantic(f"c{j}", Factor(codes, there, labels), grow(TREE), "wu-palmer"))
        scales.append(scale)
    weights = [1.0 + 0.37 * j for j in range(len(columns))]  # without them too many distances are equal up to rounding
    return slow_mixed.Slow(zip(*cells, strict=True), slow_columns, weights), mix(columns, scales, weights)


def _skewed(rng, n):
    p = rng.random(n) ** 4
    return p / p.sum()


def run(name, records, k, **options):
    return METHODS[name].function(records, k, new_watch(), **options)


def k_modes(slow, k):
    drawn = np.sort(
        np.random.default_rng(0).permutation(len(slow.distinct))[: min(len(slow.distinct), len(slow.rows) // k)]
    )
    return slow_mixed.k_modes(slow.plain(), k, drawn)


SLOW = {
    "sa-mdav": slow_mixed.sa_mdav,
    "sa-mdav-static": lambda slow, k: slow_mixed.sa_mdav(slow, k, follow=False),
    "s-mdav": slow_mixed.s_mdav,
    "mdav-generic": lambda slow, k: slow_mixed.mdav_generic(slow.plain(), k),
    "k-modes": k_modes,
    "mondrian": lambda slow, k: slow_mixed.mondrian(slow, k, "median"),
    "mondrian-mixed": lambda slow, k: slow_mixed.mondrian(slow, k, "median"),
    "mondrian-relaxed": slow_mixed.mondrian_relaxed,
    "mondrian-ordered": lambda slow, k: slow_mixed.mondrian(slow, k, "centroid"),
    "sa-mondrian": lambda slow, k: slow_mixed.mondrian(slow, k, "gap"),
}
KINDS = ["numbers", "one hierarchy", "categories", "mixed", "numbers missing", "categories missing", "mixed missing"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SLOW)
def test_a_method_gives_the_groups_of_its_slow_version(name, kind):
    for seed in range(4):
        for n, k in ((7, 3), (40, 2), (60, 5)):
            slow, records = draw(kind, n, seed)
            groups = run(name, records, k)
            assert np.bincount(groups).min() >= k
            assert same_groups(groups, SLOW[name](slow, k)), (seed, n, k)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_round_their_first_record(kind):
    for seed in range(3):
        slow, records = draw(kind, 50, seed)
        groups = run("s-mdav", records, 4, around="seed")
        assert same_groups(groups, slow_mixed.s_mdav(slow, 4, around="seed")), seed


@pytest.mark.parametrize("name", ["sa-mdav", "sa-mdav-static"])
def test_rare_records_join_the_nearest_groups_early(name):
    differ = 0
    for seed in range(4):
        slow, records = draw("mixed", 60, seed)
        groups = run(name, records, 4, rare=1)
        expected = slow_mixed.sa_mdav(slow, 4, follow=name == "sa-mdav", rare=1)
        assert same_groups(groups, expected), seed
        differ += not same_groups(groups, run(name, records, 4))
    assert differ > 0


def test_on_one_column_mdav_generic_is_mdav_record_by_record():
    rng = np.random.default_rng(1)
    drawn = [rng.integers(0, rng.integers(2, 10), rng.integers(4, 14)) for _ in range(200)]
    for values in (np.array([1, 5, 1, 0, 9, 0, 0, 0, 0]), np.array([0, 1, 2, 0, 2, 2, 0, 0, 2]), *drawn):
        numbers = values.astype(np.float64)
        records = mix([Column("c", numbers, np.ones(len(values), dtype=bool))], [Scale(0.0, 1.0, 0.0, 1.0)], [1.0])
        for k in (2, 3):
            assert same_groups(run("mdav-generic", records, k), reference.mdav(numbers[:, None], k)), (values, k)


@pytest.mark.parametrize(
    ("name", "where"), [("mondrian", "median"), ("mondrian-ordered", "centroid"), ("sa-mondrian", "gap")]
)
def test_mondrian_that_gives_up(name, where):
    for seed in range(4):
        slow, records = draw("mixed", 60, seed)
        groups = run(name, records, 4, persist=False)
        assert same_groups(groups, slow_mixed.mondrian(slow, 4, where, persist=False)), seed
        assert groups.max() <= run(name, records, 4).max() + 3


@pytest.mark.parametrize("name", ["sa-mondrian", "mondrian-ordered", "mondrian-mixed"])
def test_the_mixed_traversal_sorts_by_its_own_order(name):
    where = {"sa-mondrian": "gap", "mondrian-ordered": "centroid", "mondrian-mixed": "median"}[name]
    slow, records = draw("one hierarchy", 60, 0)
    at = {slow.rows[row][0]: records.mixed_order[record, 0] for row, record in enumerate(records.record)}
    assert len(set(at.values())) == len(at)
    expected = slow_mixed.mondrian(slow, 3, where, place=lambda j, v: at[v])
    assert same_groups(run(name, records, 3, traversal="mixed"), expected)


def test_the_control_has_categories_in_the_order_that_the_seed_draws():
    slow, records = draw("one hierarchy", 60, 0)
    places = np.random.default_rng(5).permutation(records.metric.width[0])
    names = slow.candidates(0)
    expected = slow_mixed.mondrian(slow, 3, "centroid", place=lambda j, v: places[names.index(v)])
    assert same_groups(run("mondrian-strict", records, 3, seed=5), expected)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("kind", ["one hierarchy", "categories", "mixed"])
def test_few_records_are_put_together_in_the_best_way(kind, split):
    for seed in range(2):
        slow, records = draw(kind, 9, seed)
        found = search(search_of(records, 3, split, lower="records"), 0, Budget())
        assert found.exact
        assert found.cost == pytest.approx(slow_mixed.least_loss(slow, 3, split), abs=1e-9)


def test_only_what_all_partitions_were_compared_for_is_called_exact():
    _, records = draw("categories", 9, 0)
    rng = np.random.default_rng(0)
    alone = search_of(records, 3, True)
    uneven = search_of(records, 3, True, weights=rng.lognormal(0.0, 1.0, 9))
    assert len(records.counts) < 9
    assert search(alone, 0, Budget()).exact
    found = search(uneven, 0, Budget())
    assert (found.exact, found.settled) == (False, True)  # equal records count with the mean of their weights
    assert search(search_of(records, 3, False, weights=rng.lognormal(0.0, 1.0, 9)), 0, Budget()).exact
    _, larger = draw("mixed", 60, 0)
    assert not search(search_of(larger, 3, True), 0, Budget(steps=1000)).exact


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_search_keeps_k_and_loses_no_more_than_any_other_method(kind, split):
    for seed in range(2):
        slow, records = draw(kind, 80, seed)
        found = search(search_of(records, 4, split, lower="records"), 0, Budget(steps=400 * len(records.counts)))
        portions = record, group, amount = portions_of(records, found.groups)
        assert np.bincount(group, amount).min() >= 4
        assert np.array_equal(np.bincount(record, amount), records.counts)
        problem = problem_of(records, 4, split, objective=objective_of(records, "records"))
        assert problem.costs(portions).sum() == pytest.approx(found.cost)
        if "missing" not in kind:
            counted = {}
            for r, g, many in zip(record.tolist(), group.tolist(), amount.tolist(), strict=True):
                counted.setdefault(g, {})[slow.distinct[r]] = many
            assert sum(slow.error(part, 4) for part in counted.values()) == pytest.approx(found.cost)
        for name in SLOW:
            groups = run(name, records, 4)
            together = all(len(set(groups[records.record == r])) == 1 for r in range(len(records.counts)))
            if split or together:
                assert found.cost <= problem.costs(portions_of(records, groups)).sum() + 1e-9, name


def test_equal_records_stay_together_without_split():
    _, records = draw("categories", 80, 3)
    groups = run("semantic-optimal", records, 5, steps=20_000, split=False)
    assert all(len(set(groups[records.record == r])) == 1 for r in range(len(records.counts)))


def test_dissolving_lowers_the_loss_of_rare_values():
    losses = {False: 0.0, True: 0.0}
    for seed in range(5):
        _, records = draw("mixed", 100, seed)
        problem = problem_of(records, 5, False)
        for how in losses:
            losses[how] += problem.costs(portions_of(records, run("sa-mdav", records, 5, dissolve=how))).sum()
    assert losses[True] < losses[False]


def test_millions_of_equal_records_cost_no_more_than_few():
    values = np.tile(np.arange(40), 50_000)
    column = semantic(
        "c",
        Factor(values, np.ones(len(values), dtype=bool), [f"v{i}" for i in range(40)]),
        grow([*((f"v{i}", f"g{i // 5}") for i in range(40)), *((f"g{i}", "all") for i in range(8))]),
        "wu-palmer",
    )
    records = mix([column], [None], [1.0])
    assert records.counts.tolist() == [50_000] * 40
    for name in SLOW:
        groups = run(name, records, 5)
        assert np.bincount(groups).min() >= 5


@pytest.mark.parametrize("lower", ["information", "records"])
@pytest.mark.parametrize("seed", range(6))
def test_with_sampling_weights_the_search_lowers_the_loss_of_what_is_released(seed, lower):
    rng = np.random.default_rng(seed)
    ages, towns = rng.permutation(90)[:9].astype(float), rng.choice(["a", "b", "c"], 9)
    weights = rng.lognormal(0.0, 1.5, 9)
    span = ages.max() - ages.min()
    spread = ((ages - ages.mean()) ** 2).sum(), 9.0 - max((towns == town).sum() for town in "abc")

    def lost(ages_off, towns_off):
        if lower == "records":
            return ((0.5 * ages_off / span + 0.5 * towns_off) ** 2).sum()
        return (ages_off**2).sum() / spread[0] + towns_off.sum() / spread[1]

    def cost(rows):
        mean = np.average(ages[rows], weights=weights[rows])
        mode = max(set(towns[rows]), key=lambda town: weights[rows][towns[rows] == town].sum())
        return lost(np.abs(ages[rows] - mean), (towns[rows] != mode).astype(float))

    least = min(sum(cost(np.array(rows)) for rows in groups) for groups in partitions(list(range(9)), 3))
    table = pl.DataFrame({"age": ages, "town": towns, "w": weights})
    asked = {"method": "semantic-optimal", "scaling": "range", "options": {"lower": lower}}
    data = shoal.protect(table, k=3, quasi_identifiers=["age", "town"], weight="w", **asked).data
    off = lost(np.abs(ages - data["age"].to_numpy()), (towns != data["town"].to_numpy()).astype(float))
    assert off == pytest.approx(least)


def test_a_search_that_knows_the_weights_loses_less_than_one_that_does_not():
    rng = np.random.default_rng(3)
    n = 200
    table = pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "job": rng.choice(list("abcdefghijklmnopqrstuvwxyz"), n),
            "w": rng.lognormal(0.0, 1.5, n),
        }
    )
    settings = {"k": 4, "quasi_identifiers": ["age", "job"], "method": "semantic-optimal", "options": {"steps": 60_000}}
    weighted = shoal.protect(table, **settings, weight="w")
    blind = shoal.protect(table.drop("w"), **settings)
    age, job = table["age"].to_numpy().astype(float), table["job"].to_numpy()
    lost = []
    for groups in (weighted.groups, blind.groups):
        off = np.zeros(n)
        for g in np.unique(groups):
            rows = groups == g
            w = table["w"].to_numpy()[rows]
            mode = max(set(job[rows]), key=lambda name, rows=rows, w=w: w[job[rows] == name].sum())
            off[rows] = np.abs(age[rows] - np.average(age[rows], weights=w)) / age.std()
            off[rows] += job[rows] != mode
        lost.append((off**2).sum())
    assert lost[0] < 0.99 * lost[1]


def test_by_default_skewed_money_counts_beside_categories():
    rng = np.random.default_rng(0)
    n = 800
    table = pl.DataFrame(
        {
            "cost": np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(8.0, 2.2, n)),
            "height": rng.exponential(1500.0, n),
            "phase": rng.choice(list("abcdef"), n),
            "state": rng.choice(list("ghijklmnopqrstuvwxyz"), n),
        }
    )
    settings = {"k": 5, "quasi_identifiers": table.columns, "method": "sa-mdav"}
    usual = shoal.protect(table, **settings).summary
    by_range = shoal.protect(table, **settings, scaling="range").summary
    assert by_range.loss_by_column["cost"] > 60.0
    assert usual.loss_by_column["cost"] < 40.0
    assert usual.information_loss < 0.7 * by_range.information_loss
