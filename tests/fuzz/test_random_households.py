"""Random tables whose records belong to households: refused, or k households share every key of the file.

Tables and plans are those of the fuzzer, with a column of households, and some columns the same inside each.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import event, given, settings
from hypothesis import strategies as st

import shoal
from random_plans import plans
from random_tables import MARK, tables
from read_back import cells_of_file, cells_of_frame
from test_fuzz import EXAMPLES, HOW, REFUSED, files_in, shows_no_cell


@st.composite
def tables_of_households(draw):
    """Draw a table with households of one to three records, members apart, and columns that are one for all of them."""
    table = draw(tables((20, 35, 60, 150)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    homes = rng.permutation(np.repeat(np.arange(len(table.frame)), rng.integers(1, 4, len(table.frame))))
    homes = homes[: len(table.frame)]
    ids = pl.Series("hid", [f"{MARK}h{home}" for home in homes])
    theirs = draw(st.lists(st.sampled_from([name for name in table.kinds if table.kinds[name] != "kept"] or ["hid"])))
    first = {home: row for row, home in reversed(list(enumerate(homes.tolist())))}
    same = [first[home] for home in homes.tolist()]
    frame = table.frame.drop([table.person] if table.person else [])
    frame = frame.with_columns(frame[name].gather(same) for name in set(theirs) - {"hid"})
    if table.weight and draw(st.booleans()):
        frame = frame.with_columns(frame[table.weight].gather(same))
    kinds = {name: kind for name, kind in table.kinds.items() if name != table.person} | {"hid": "kept"}
    return replace(table, frame=frame.with_columns(ids), kinds=kinds, person=None, edits=(), form="polars")


@settings(max_examples=max(EXAMPLES // 5, 1), **HOW)
@given(data=st.data())
def test_households_are_refused_or_k_of_them_share_every_key(data):
    table = data.draw(tables_of_households(), label="table")
    asked = {name: value for name, value in data.draw(plans(table), label="plan").items() if name != "confidential"}
    size = data.draw(st.sampled_from(["counted", "merged", "ignored"]), label="size")
    number = data.draw(st.sampled_from(["renumbered", "same", "removed"]), label="number")
    asked["household"] = {"id": "hid", "size": size, "release": number}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "release.parquet"
        try:
            release = shoal.protect(table.frame, output=out, threads=1, progress=False, **asked)
        except REFUSED as error:
            assert not files_in(folder), "a run that was refused leaves files"
            shows_no_cell(str(error), table, asked)
            event("refused")
            return
        event(f"released: {size}")
        released = cells_of_file(out, dict(table.frame.schema))
        original = cells_of_frame(table.frame)
        check(original, released, release, asked)
        again = folder / "again.parquet"
        shoal.protect(table.frame, output=again, threads=2, progress=False, **asked)
        assert again.read_bytes() == out.read_bytes()


def check(original, released, release, asked):
    """k households have every key, members stay together, and what was one for all of them is."""
    ids = original["hid"]
    members = Counter(ids)
    if asked["household"]["release"] == "removed":
        assert "hid" not in released
    else:
        assert len(set(zip(ids, released["hid"], strict=True))) == len(members) == len(set(released["hid"]))
        assert (released["hid"] == ids) == (asked["household"]["release"] == "same")
    if asked.get("missing_patterns") != "ignored":
        for part in release.plan.quasi_identifiers:
            homes = defaultdict(set)
            for home, *key in zip(ids, *(released[name] for name in part), strict=True):
                own = members[home] if asked["household"]["size"] == "counted" else None
                homes[own, *key].add(home)
            assert min(map(len, homes.values())) >= asked["k"], f"a key of {part} has fewer than k households"
    for name in release.summary.household.variables:
        values = defaultdict(set)
        for home, value in zip(ids, released[name], strict=True):
            values[home].add(value)
        assert max(map(len, values.values())) == 1, f"column {name} differs inside a household"
