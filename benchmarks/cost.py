"""What blocking costs where there are no clusters: uniform records, MDAV with k = 3, blocks against none."""

from __future__ import annotations

import shoal
from blocking import uniform
from record import Recorder


def run(quick: bool) -> None:
    """Compare the spread tree, with and without repair, with no blocks at all."""
    recorder = Recorder("cost", quick)
    for d in (2, 5, 10):
        table = uniform(20_000 if quick else 100_000, d)
        whole = shoal.protect(table, 3, table.columns).summary.sse
        for size in (1_000, 10_000):
            for repair in (False, True):
                blocking = {"method": "spread-tree", "size": size, "repair": repair}
                sse = shoal.protect(table, 3, table.columns, blocking=blocking).summary.sse
                more = round(100 * (sse / whole - 1), 2)
                recorder.add(
                    part="cost", n=len(table), d=d, size=size, repair=repair, sse=round(sse, 4), percent_more=more
                )
