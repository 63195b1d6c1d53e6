"""Write signatures.txt, the list of what the library of kernels holds: python tools/kernels/record.py.

Every method, aggregator, blocking and measure runs on small tables, and what they call is noted. The kernels run as
plain Python here: types do not depend on it, nothing has to be compiled, and tables of a few dozen records are enough.
"""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

import shoal
from build import SIGNATURES, kernels_of_shoal
from shoal.kernels import box_tree, pool, signatures, spanning_tree
from shoal.kernels.compiling import Kernel
from shoal.kernels.sources import OPERATIONS

TREE = {"tree": {"place": {"north": ["a", "b"], "south": ["c", {"d": ["e", "f"]}]}}}
LEVELS = ["low", "middle", "high"]
FEW, MANY = 30, 90  # below and above what is indexed here


def numbers(n: int, missing: float = 0.0) -> pl.DataFrame:
    """Four columns of numbers, strata, weights and something confidential."""
    random = np.random.default_rng(n)
    columns: dict[str, Any] = {name: random.lognormal(size=n) for name in "xyz"}
    columns["whole"] = random.integers(0, 50, n)
    for name in list(columns) if missing else []:
        gone = random.random(n) < missing
        columns[name] = [None if g else v for g, v in zip(gone, columns[name].tolist(), strict=True)]
    return pl.DataFrame(columns).with_columns(
        stratum=pl.Series(random.choice(list("pq"), n)),
        weight=pl.Series(random.uniform(1, 3, n)),
        secret=pl.Series(random.choice(list("stu"), n)),
        pay=pl.Series(random.integers(0, 9, n)),
    )


def mixed(n: int, missing: bool = False) -> pl.DataFrame:
    """Columns of every kind."""
    random = np.random.default_rng(n)
    table = pl.DataFrame(
        {
            "x": random.lognormal(size=n),
            "level": random.choice(LEVELS, n),
            "name": random.choice(list("uvw"), n),
            "place": random.choice(list("abcdef"), n),
            "secret": random.choice(list("stu"), n),
        }
    )
    gone = pl.Series(random.random(n) < 0.1)
    return table.with_columns(pl.when(gone).then(None).otherwise(pl.col("x", "name")).name.keep()) if missing else table


QUASI = ["x", "y", "z", "whole"]
KINDS = ["x", "level", "name", "place"]
MEANINGS: dict[str, Any] = {"hierarchies": {"place": TREE}, "orders": {"level": LEVELS}, "nominal": ["name"]}
ASKED: dict[str, dict[str, Any]] = {"t": {"pay": {"t": 0.4}}, "distinct": {"secret": {"distinct": 2}}}
FAST: dict[str, dict[str, Any]] = {
    "optimal": {"steps": 300},
    "semantic-optimal": {"steps": 300},
    "two-step-ga": {"generations": 2},
}


def partitions() -> None:
    """Every method on few and on many records, complete and not."""
    tables = {"few": numbers(FEW), "missing": numbers(FEW, 0.1), "many": numbers(MANY)}
    for method, about in shoal.METHODS.items():
        settings: dict[str, Any] = {"method": method, "options": FAST.get(method)}
        if about.needs:
            settings["conditions"] = ASKED[about.needs]
        for name, table in tables.items():
            print(method, name, file=sys.stderr)
            with suppress(shoal.DataError):  # a method that takes complete records only
                shoal.protect(table, 3, QUASI, **settings)
                if name != "many":
                    shoal.protect(table, 3, ["x"], **settings)
        if shoal.Kind.SEMANTIC in about.kinds:
            for n, missing in ((FEW, False), (FEW, True), (MANY, False)):
                print(method, n, missing, file=sys.stderr)
                shoal.protect(mixed(n, missing), 3, KINDS, **settings, **MEANINGS)


def aggregators() -> None:
    """Every way to release values, and searches that know it."""
    for missing in (0.0, 0.1):
        table = numbers(FEW, missing)
        for aggregator in ("mean", "median", "mode", "trimmed-mean", "geometric-mean"):
            shoal.protect(table, 3, QUASI, method="mdav", aggregators=aggregator)
            shoal.protect(table, 3, QUASI, options=FAST["optimal"], aggregators=aggregator, weight="weight")
    shoal.protect(numbers(FEW), 3, QUASI, method="mdav", refine=True, weight="weight")
    for combinations in ("any", "observed"):
        shoal.protect(mixed(FEW), 3, KINDS, method="s-mdav", combinations=combinations, **MEANINGS)
    shoal.protect(mixed(8), 4, KINDS, **MEANINGS)
    for k in (3, 7):  # cuts of large groups are of another kind
        shoal.protect(numbers(FEW), k, QUASI, options=FAST["optimal"] | {"bound": 2.0})
    shoal.protect(numbers(4 * MANY, 0.1), 3, QUASI, options=FAST["optimal"])  # the densest groups of many records
    for n, k in ((MANY, 12), (MANY, 20), (2 * MANY, 44)):  # searched as large tables are, and refined
        shoal.protect(numbers(n), k, QUASI, options=FAST["optimal"])


def blockings() -> None:
    """Every way to cut a table into blocks."""
    for n, missing in ((80, 0.0), (80, 0.1), (4 * MANY, 0.0)):
        table = numbers(n, missing)
        for blocking in ("spread-tree", "2d-tree", "univariate", "equal-counts"):
            print(blocking, n, missing, file=sys.stderr)
            for repair in (False,) if missing else (False, True):  # repair needs complete records
                cut = {"method": blocking, "size": n // 4, "repair": repair}
                shoal.protect(table, 3, QUASI, method="mdav", blocking=cut)
        shoal.protect(table, 3, QUASI, method="mdav", strata=["stratum", "secret"], small_strata="merge")


def conditions() -> None:
    """Groups that grow, of numbers and of all kinds."""
    for missing in (0.0, 0.1):
        table = numbers(FEW, missing).with_columns(id=pl.Series([i // 3 for i in range(FEW)]))
        grow = {"n": 2, "share": 90, "action": "grow"}
        for weight in (None, "weight"):
            settings = {"identifiers": "id", "weight": weight, "dominance": grow, "method": "mdav"}
            with suppress(shoal.DataError):  # dominated whatever is merged
                shoal.protect(table, 3, QUASI, **settings)
        table = mixed(FEW, bool(missing)).with_columns(id=pl.Series([i // 3 for i in range(FEW)]))
        shoal.protect(table, 3, KINDS, method="s-mdav", identifiers="id", **MEANINGS)
        for asked in ASKED.values():
            for method in ("mdav", "optimal"):
                options = FAST.get(method)
                shoal.protect(numbers(FEW, missing), 3, QUASI, method=method, options=options, conditions=asked)
    secret = ASKED["distinct"]
    shoal.protect(mixed(FEW), 3, KINDS, options=FAST["semantic-optimal"], conditions=secret, **MEANINGS)
    shoal.protect(mixed(FEW), 3, KINDS, method="s-mdav", refine=True, **MEANINGS)


def measures() -> None:
    """Every measure on numbers and on all kinds."""
    for n, missing in ((FEW, 0.0), (FEW, 0.1), (MANY, 0.0)):
        print("measures", n, missing, file=sys.stderr)
        table = numbers(n, missing)
        released = shoal.protect(table, 3, QUASI, method="mdav", weight="weight")
        known = {"quasi_identifiers": QUASI, "confidential": ["secret", "stratum", "pay"], "weight": "weight"}
        shoal.measure(table, released.data, **known)
        shoal.measure(table, released.data, **known, blocking=["stratum"], population=table)
        table = mixed(n, bool(missing))
        released = shoal.protect(table, 3, KINDS, method="s-mdav", **MEANINGS)
        shoal.measure(table, released.data, quasi_identifiers=KINDS, confidential="secret", hierarchies={"place": TREE})


def first_steps() -> None:
    """What the demonstration and a first user do."""
    survey = shoal.example(80)
    named = {"identifiers": "name", "confidential": "satisfied", "weight": "weight", "strata": "region"}
    quasi = ["age", "height", "hours", "income"]
    for method in ("optimal", "mdav"):
        shoal.protect(survey, 5, quasi, method=method, options=FAST.get(method), **named)
    shoal.sweep(numbers(FEW), [3, 5], ["mdav", "v-mdav"], QUASI)
    shoal.protect(numbers(FEW), 3, QUASI, method="mdav", rules=["x + y >= 0", "whole >= 0"])


class Notes(threading.local):
    """Which kernels were called from Python, and how deep inside kernels a thread is."""

    lines: set[str] = set()  # noqa: RUF012 - of all threads
    depth = 0

    def take(self, kernel: Kernel, *arguments: Any, **named: Any) -> Any:
        """Call a kernel as plain Python."""
        types = signatures.text_of(arguments)
        if self.depth == 0 and types is not None and not named:
            self.lines.add(f"{kernel.__module__}:{kernel.__qualname__} {types}")
        self.depth += 1
        try:
            return kernel.py_func(*arguments, **named)
        finally:
            self.depth -= 1


def run_as_python() -> Notes:
    """Let kernels run as they are written, and operations go to the kernel of their type."""
    notes = Notes()

    def call(kernel: Kernel, *arguments: Any, **named: Any) -> Any:
        return notes.take(kernel, *arguments, **named)

    Kernel.__call__ = call  # type: ignore[method-assign]
    pool.worth_indexing = spanning_tree.worth_indexing = lambda n: n >= MANY
    pool.worth_indexing_still = lambda n, d: n >= MANY
    box_tree._WORTH = MANY // 2  # distinct records, which are fewer
    operations = {operation: _choose(kernels) for operation, kernels in OPERATIONS.items()}
    for module in {sys.modules[kernel.__module__] for kernel in kernels_of_shoal().values()}:
        for name, value in list(vars(module).items()):
            if callable(value) and value in operations:
                setattr(module, name, operations[value])
    return notes


def _choose(kernels: dict[type, Any]) -> Any:
    return lambda first, *others: kernels[type(first)](first, *others)


def main() -> None:
    """Run everything and write the list."""
    warnings.simplefilter("ignore")  # whole numbers that wrap round are meant to
    notes = run_as_python()
    for part in (first_steps, measures, conditions, blockings, aggregators, partitions):
        part()
    lines = sorted(notes.lines)
    SIGNATURES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} signatures of {len({line.split()[0] for line in lines})} kernels", file=sys.stderr)


if __name__ == "__main__":
    main()
