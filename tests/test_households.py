"""Households: k counts them, their variables stay one for all members, sizes are kept apart; read back from files."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from household_tables import HOUSEHOLD, PERSON, fewest_households, inside, same_members, survey
from shoal.release.household_sizes import merge_sizes
from shoal.tables.table import open_table

SETS = (HOUSEHOLD, PERSON)
WAYS = {
    "mdav": {"method": "mdav"},
    "search": {"method": "optimal", "options": {"steps": 2000}},
    "columns one by one": {"method": "individual-ranking"},
    "refined": {"method": "v-mdav", "refine": True},
    "mixed": {"method": "semantic-optimal", "options": {"steps": 500}, "extra": ["tenure", "sex"]},
    "weighted": {"method": "mdav", "weight": "weight"},
    "strata": {"method": "mdav", "strata": "region"},
    "blocks": {"method": "mdav", "blocking": {"method": "spread-tree", "size": 40}},
    "dominance": {"method": "mdav", "dominance": {"p": 10, "action": "grow"}},
    "another order": {"method": "mdav", "columns": ["age", "rooms", "wage", "rent"]},
    "sets": {"method": "mdav", "columns": [["age"], ["rooms", "wage"], ["rent"]]},
}
REFUSED = ("refined", 0.1)  # refine needs columns without missing values


def asked_of(way):
    asked = {**WAYS[way]} if isinstance(way, str) else {**way}
    extra = asked.pop("extra", [])
    columns = asked.pop("columns", [*HOUSEHOLD, *PERSON, *extra])
    return {"k": 3, "quasi_identifiers": columns, "household": "hid", "nominal": extra or None, **asked}


@pytest.mark.parametrize(
    ("way", "gaps"), [(way, gaps) for way in WAYS for gaps in (0.0, 0.1) if (way, gaps) != REFUSED]
)
def test_k_households_share_every_key_of_the_file(tmp_path, way, gaps):
    table = survey(missing=gaps)
    table.write_csv(tmp_path / "in.csv")
    release = shoal.protect(tmp_path / "in.csv", **asked_of(way), output=tmp_path / "out.csv")
    out = pl.read_csv(tmp_path / "out.csv")
    sets = [part.columns for part in release.summary.sets]
    fewest = fewest_households(table, out, sets)
    assert fewest >= 3
    assert release.summary.household.fewest == fewest
    theirs = [name for name in (*HOUSEHOLD, "tenure") if any(name in part for part in sets)]
    assert release.summary.household.variables == [n for part in sets for n in part if n in theirs]
    assert inside(table, out, theirs)
    assert same_members(table, out)
    assert out.columns == table.columns
    assert out["hid"].to_list() != table["hid"].to_list()
    assert sorted(set(out["hid"].to_list())) == list(range(1, 121))


@pytest.mark.parametrize("way", ["mdav", "search", "weighted", "mixed", "strata"])
def test_variables_of_households_are_released_as_from_a_table_of_households(way):
    """What a user of a system without households does: one row each, sizes apart, then back to the members."""
    table = survey(missing=0.1)
    asked = asked_of(way)
    release = shoal.protect(table, **asked)
    once = table.unique("hid", keep="first", maintain_order=True).join(
        table.group_by("hid").agg(size=pl.len()), on="hid", maintain_order="left"
    )
    theirs = next(part for part in release.plan.quasi_identifiers if "rooms" in part)
    asked = {name: value for name, value in asked.items() if name not in ("household", "quasi_identifiers", "nominal")}
    apart = [*([asked.pop("strata")] if "strata" in asked else []), "size"]
    nominal = [name for name in theirs if name == "tenure"] or None
    alone = shoal.protect(
        once, quasi_identifiers=theirs, strata=apart, identifiers="hid", persons=[], nominal=nominal, **asked
    )
    back = once.select("hid").hstack(alone.data.select(theirs))
    expected = table.select("hid").join(back, on="hid", maintain_order="left").select(theirs)
    assert release.data.select(theirs).equals(expected)


def test_released_values_are_weighted_means_over_households():
    table = survey()
    release = shoal.protect(table, 3, [*HOUSEHOLD], household="hid", method="mdav", weight="weight")
    of_each = table.with_columns(group=release.groups, now=release.data["rent"]).unique("hid")
    for _, own in of_each.group_by("group"):
        mean = (own["rent"] * own["weight"]).sum() / own["weight"].sum()
        assert own["now"].to_numpy() == pytest.approx(mean, abs=1e-9)


def test_weights_of_households_are_their_own_column():
    table = survey().with_columns(own=pl.col("weight") + pl.col("pno"))
    with pytest.raises(shoal.DataError, match=r"weight: column 'own' differs between members.* in \d+ of 120 househ"):
        shoal.protect(table, 3, [*HOUSEHOLD, *PERSON], household="hid", method="mdav", weight="own")
    both = {"id": "hid", "weight": "weight"}
    release = shoal.protect(table, 3, [*HOUSEHOLD, *PERSON], household=both, method="mdav", weight="own")
    once = shoal.protect(table, 3, [*HOUSEHOLD], household="hid", method="mdav", weight="weight")
    assert release.data.select(HOUSEHOLD).equals(once.data.select(HOUSEHOLD))
    persons = shoal.protect(table, 3, [*PERSON], household="hid", method="mdav", weight="own")
    assert release.data.select(PERSON).equals(persons.data.select(PERSON))


def test_members_of_a_household_do_not_count_twice():
    """All records of a household are alike: without households, groups are made of one family each."""
    rng = np.random.default_rng(5)
    place = np.repeat(rng.normal(size=40), 3)
    table = pl.DataFrame({"hid": np.repeat(np.arange(40), 3), "x": place + 0.001 * rng.normal(size=120)})
    alone = shoal.protect(table, 3, "x", confidential="hid", method="mdav")
    assert fewest_households(table, alone.data, [["x"]]) == 1
    release = shoal.protect(table, 3, "x", household="hid", method="mdav")
    assert release.summary.household.variables == []
    assert fewest_households(table, release.data, [["x"]]) >= 3


@st.composite
def households(draw):
    """Draw small households with columns that are the same inside or not, gaps among them."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3]), min_size=6, max_size=14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    homes = rng.permutation(len(sizes))
    hid = rng.permutation(np.repeat(homes, sizes))  # members far apart in the file
    n = len(hid)

    def some(values):
        return [None if rng.random() < 0.15 else int(v) for v in values]

    theirs = some(rng.integers(0, 6, len(sizes)))
    return pl.DataFrame(
        {
            "hid": [f"h{home}" for home in hid],
            "a": pl.Series([theirs[home] for home in hid], dtype=pl.Int64),
            "b": pl.Series(some(rng.integers(0, 9, n)), dtype=pl.Int64),
            "c": rng.choice(["x", "y", "z"], n),
        }
    )


@settings(deadline=None, max_examples=60)
@given(households(), st.sampled_from(["counted", "merged", "ignored"]), st.sampled_from([2, 3]))
def test_any_households_are_protected_or_refused(table, size, k):
    if table["hid"].n_unique() == len(table):
        return
    asked = {"household": {"id": "hid", "size": size}, "method": "sa-mdav", "nominal": "c"}
    if size == "counted" and min(Counter(Counter(table["hid"].to_list()).values()).values()) < k:
        with pytest.raises(shoal.DataError, match="who stand out to whoever counts their members"):
            shoal.protect(table, k, ["a", "b", "c"], **asked)
        return
    release = shoal.protect(table, k, ["a", "b", "c"], **asked)
    sets = release.plan.quasi_identifiers
    assert fewest_households(table, release.data, sets, sizes=size == "counted") >= k
    assert inside(table, release.data, release.summary.household.variables)
    assert same_members(table, release.data)
    assert "a" in release.summary.household.variables


# sizes ---------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 7), min_size=1, max_size=30), st.integers(1, 6))
def test_rare_sizes_join_the_next_until_k_have_each(sizes, k):
    merged = merge_sizes(np.array(sizes), k)
    counts = Counter(merged.tolist())
    assert min(counts.values()) >= min(k, len(sizes))
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(merged[order]) >= 0).all()  # classes are intervals of sizes
    if min(Counter(sizes).values()) >= k:
        assert merged.tolist() == sizes


def test_a_size_of_few_households_is_refused_merged_or_ignored():
    table = survey()
    large = pl.DataFrame({**{name: [table[name][0]] * 9 for name in table.columns}, "hid": [1] * 9})
    table = pl.concat([table, large.with_columns(pl.col("hid").cast(pl.Int64), age=pl.lit(50, pl.Int64))])
    asked = {"k": 3, "quasi_identifiers": [*HOUSEHOLD, *PERSON], "method": "mdav"}
    with pytest.raises(shoal.DataError, match=r"1 size of households is that .*: 9 members \(1 household\); leave"):
        shoal.protect(table, **asked, household="hid")
    for size, words in (("merged", "share groups with the next"), ("ignored", "sizes are not counted")):
        release = shoal.protect(table, **asked, household={"id": "hid", "size": size})
        assert release.summary.household.rare_sizes == 1
        assert any(words in note and "1 household has a size" in note for note in release.summary.notes)
        assert fewest_households(table, release.data, SETS, sizes=False) >= 3
    kept = table.with_columns(size=pl.len().over("hid")).with_row_index()
    for size in (1, 2, 3):  # what is not rare is still apart
        rows = kept.filter(pl.col("size") == size)["index"].to_list()
        release = shoal.protect(table, **asked, household={"id": "hid", "size": "merged"})
        assert fewest_households(table[rows], release.data[rows], SETS) >= 3


@pytest.mark.parametrize("action", ["error", "merge"])
def test_strata_of_few_households_are_refused_or_merged_inside_their_size(action):
    table = survey().with_columns(region=pl.when(pl.col("hid") < 90_030).then(pl.lit("isle")).otherwise("region"))
    asked = {"household": "hid", "method": "mdav", "strata": "region", "small_strata": action}
    if action == "error":
        with pytest.raises(shoal.DataError, match=r"'region = isle', \d members? \(\d households?\)"):
            shoal.protect(table, 4, [*HOUSEHOLD, *PERSON], **asked)
        with pytest.raises(shoal.DataError, match=r"fewer than k = 9 households \('hid'\): 'region = isle' \(5 hou"):
            shoal.protect(table, 9, [*HOUSEHOLD, *PERSON], **asked)
        return
    release = shoal.protect(table, 4, [*HOUSEHOLD, *PERSON], **asked)
    assert fewest_households(table, release.data, SETS) >= 4
    assert release.summary.merged_strata >= 1


def test_ignored_patterns_release_values_of_k_households():
    table = survey(missing=0.2)
    release = shoal.protect(table, 3, [*HOUSEHOLD, *PERSON], household="hid", method="mdav", missing_patterns="ignored")
    assert release.summary.household.fewest is None
    for place, names in enumerate(release.plan.quasi_identifiers):
        for name in names:
            homes = {}
            rows = zip(table["hid"].to_list(), release.groups[:, place], release.data[name].to_list(), strict=True)
            for one, group, value in rows:
                if value is not None:
                    homes.setdefault(group, set()).add(one)
            assert min(map(len, homes.values())) >= 3
    assert inside(table, release.data, HOUSEHOLD)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_columns_of_every_type_are_counted(library):
    """Dates, times, true and false, categories of all kinds, small numbers, odd names."""
    table = survey(60)
    number = pl.int_range(len(table), eager=True)
    of_household = table["hid"].rank("dense").cast(pl.Int64)
    table = pl.DataFrame(
        {
            "^h.*$": table["hid"],
            "built": (of_household * 86_400_000).cast(pl.Datetime("ms")).cast(pl.Date),
            "owned": of_household % 2 == 0,
            "zone": (of_household % 3).cast(pl.String).cast(pl.Categorical),
            "came": (number * 3_600_000).cast(pl.Datetime("ms")),
            "kind": (number % 4).cast(pl.String).cast(pl.Enum(["0", "1", "2", "3"])),
            "few": (number % 100).cast(pl.Int8),
            "part": number.cast(pl.Float32) / 7,
        }
    )
    given = {"polars": lambda t: t, "pandas": pl.DataFrame.to_pandas, "pyarrow": pl.DataFrame.to_arrow}[library](table)
    theirs, own = ["built", "owned", "zone"], ["came", "kind", "few", "part"]
    release = shoal.protect(given, 3, [*theirs, *own], household="^h.*$", method="sa-mdav", nominal=["zone", "kind"])
    assert release.summary.household.variables == theirs
    out = open_table(release.data).to_polars()
    assert fewest_households(table, out, [theirs, own], hid="^h.*$") >= 3
    assert same_members(table, out, hid="^h.*$")
