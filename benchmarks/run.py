"""Run benchmarks: python benchmarks/run.py [--quick] [NAME ...]; then python benchmarks/pages.py writes docs/results.

Each benchmark is a module here with a function ``run(quick)``. Results go to benchmarks/results, one JSON line a run.
"""

from __future__ import annotations

import argparse
from importlib import import_module

BENCHMARKS = (
    "published",
    "optimal",
    "bound",
    "many",
    "any-size",
    "speed",
    "methods",
    "awkward",
    "blocking",
    "blocking_figures",
    "sizes",
    "cost",
    "measures",
    "sweep",
    "categories",
    "mixed",
    "report",
    "rules",
    "paper_sets",
    "rule_sets",
    "rows",
    "start",
    "learning",
    "sdcmicro",
    "engines",
    "conditions",
    "app",
)


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all where none is given")
    parser.add_argument("--quick", action="store_true", help="smaller sizes: minutes become seconds")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    for name in arguments.names or BENCHMARKS:
        import_module(name.replace("-", "_")).run(arguments.quick)


if __name__ == "__main__":
    main()
