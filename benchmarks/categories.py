"""Categories by their meaning: loss and time of every method that takes them, k = 2 to 10, on Adult and on Analytics.

After A. Veltmann, Implementation and evaluation of microaggregation algorithms for categorical data (UPC, 2022),
Figures 13 to 16 and Tables 5 and 6. Adult needs WordNet 3.1 in the folder of the reference data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from published import data_folder
from record import Recorder, stopwatch
from shoal.columns.hierarchy import DISTANCES, distance_matrix
from shoal.report.outlines import outline
from shoal.tables.table import open_table

KS = range(2, 11)
HERE = Path(__file__).parent / "hierarchies"
PERSON = {"person": "causal_agent"}  # one of the two hypernyms of person, the other being an organism


def adult() -> pl.DataFrame:
    """Occupation and native country of the 30162 records of Adult without missing values."""
    table = pl.read_csv(data_folder() / "adult" / "adult.data", has_header=False)
    table = table.with_columns(pl.col(pl.String).str.strip_chars())
    table = table.filter(~pl.any_horizontal(pl.col(pl.String) == "?") & pl.nth(1).is_not_null())
    return table.select(pl.nth(6).alias("occupation"), pl.nth(13).alias("native-country"))


def adult_hierarchies(parents: dict[str, str]) -> dict[str, Any]:
    """Where the hierarchies of Adult come from; ``parents`` are changes among the occupations."""
    wordnet = {"folder": str(data_folder() / "nltk_data"), "version": "3.1"}
    return {
        "occupation": {
            "wordnet": wordnet | {"words": str(HERE / "adult-occupation-words.csv"), "parents": parents},
        },
        "native-country": {
            "wordnet": wordnet
            | {"words": str(HERE / "adult-country-words.csv"), "parents": {"Taiwan": "asian_country"}},
        },
    }


def analytics(sample: int | None = None) -> pl.DataFrame:
    """Operating system and country of the 243545 records of Analytics, or 10000 of them drawn at random."""
    table = pl.read_csv(data_folder() / "analytics" / "os_country.csv.gz")
    return table if sample is None else table.sample(10_000, seed=sample, shuffle=True)


ANALYTICS = {"os": str(HERE / "analytics-os.yaml"), "country": str(HERE / "analytics-country.yaml")}


def data_sets(quick: bool) -> dict[str, tuple[pl.DataFrame, dict[str, Any]]]:
    """Return the tables by name, with their hierarchies."""
    samples = {"sample-one": (analytics(1), ANALYTICS), "sample-two": (analytics(2), ANALYTICS)}
    if quick:
        return {"sample-one": samples["sample-one"]}
    return {
        **samples,
        "analytics": (analytics(), ANALYTICS),
        "adult": (adult(), adult_hierarchies({})),
        "adult-agent": (adult(), adult_hierarchies(PERSON)),
    }


def methods() -> list[str]:
    """Return the methods that take hierarchies."""
    return [name for name, method in shoal.METHODS.items() if shoal.Kind.SEMANTIC in method.kinds]


OPTIONS = (  # beside the defaults: the proposals of the paper, and what it measures from
    ("s-mdav", {}),
    ("s-mdav", {"around": "seed"}),
    ("sa-mdav", {}),
    ("sa-mdav", {"rare": 2}),
    ("sa-mdav", {"rare": 5}),
    ("sa-mdav", {"dissolve": True}),
    ("sa-mondrian", {}),
    ("sa-mondrian", {"persist": False}),
    ("sa-mondrian", {"traversal": "mixed"}),
    ("mondrian-ordered", {}),
    ("mondrian-ordered", {"persist": False}),
    ("mondrian-ordered", {"traversal": "mixed"}),
)


def compare_options(recorder: Recorder, quick: bool) -> None:
    """Options of the methods of the paper, off their defaults, at the k of its tables."""
    tables = {"sample-one": (analytics(1), ANALYTICS)}
    if not quick:
        tables["adult-agent"] = (adult(), adult_hierarchies(PERSON))
    for data, (table, sources) in tables.items():
        for method, options in OPTIONS:
            for k in (2, 6, 10):
                asked = {"method": method, "options": options or None, "hierarchies": sources}
                summary = shoal.protect(table, k, table.columns, **asked).summary
                recorder.add(part="option", data=data, method=method, options=options, k=k, loss=summary.record_loss)


def loss_by_wu_palmer(table: pl.DataFrame, released: pl.DataFrame, sources: dict[str, Any]) -> float:
    """Return the loss of a release, 100 SSE / SST, by Wu-Palmer distances whatever it was made with."""
    off, whole = np.zeros(len(table)), np.zeros(len(table))
    for name, source in sources.items():
        hierarchy = shoal.load_hierarchy(source, table[name].unique().to_list())
        far = distance_matrix(hierarchy)
        before, after = (hierarchy.codes_of(own[name].to_list()) for own in (table, released))
        centre = (np.bincount(before, minlength=len(hierarchy)) @ far).argmin()
        off += far[before, after] / len(sources)
        whole += far[before, centre] / len(sources)
    return float(100.0 * (off**2).sum() / (whole**2).sum())


def compare_distances(recorder: Recorder, quick: bool) -> None:
    """Every distance of a hierarchy, with one parent and with several: what is lost by it and by Wu-Palmer."""
    tables = {"sample-one": (analytics(1), {name: {"file": file} for name, file in ANALYTICS.items()})}
    if not quick:
        first = adult_hierarchies({})
        tables["adult"] = (adult(), first)
        tables["adult-several"] = (
            adult(),
            {name: own | {"several_parents": "all"} for name, own in first.items()},
        )
    for data, (table, sources) in tables.items():
        for distance in DISTANCES:
            by = {name: own | {"distance": distance} for name, own in sources.items()}
            for method in ("sa-mdav", "sa-mondrian"):
                for k in (2, 6, 10):
                    release = shoal.protect(table, k, table.columns, method=method, hierarchies=by)
                    recorder.add(
                        part="distance",
                        data=data,
                        distance=distance,
                        method=method,
                        k=k,
                        own=release.summary.record_loss,
                        wu_palmer=loss_by_wu_palmer(table, release.data, sources),
                        global_risk=release.summary.global_risk,
                    )


def shuffle_rows(recorder: Recorder, quick: bool) -> None:
    """The same records in other orders: what SA-Mondrian loses."""
    table, sources = adult(), adult_hierarchies(PERSON)
    for method in ("sa-mondrian", "mondrian-ordered"):
        for seed in range(3 if quick else 6):
            rows = table.sample(fraction=1.0, shuffle=True, seed=seed) if seed else table
            summary = shoal.protect(rows, 6, table.columns, method=method, hierarchies=sources).summary
            recorder.add(part="shuffle", method=method, seed=seed, k=6, loss=summary.record_loss)


def compare_with_mdav(recorder: Recorder, quick: bool) -> None:
    """Random columns of few numbers: how often the groups of ``mdav-generic`` are those of ``mdav``."""
    rng = np.random.default_rng(1)
    differ, tables = 0, 100 if quick else 1000
    for _ in range(tables):
        n, k = int(rng.integers(4, 14)), int(rng.integers(2, 4))
        table = pl.DataFrame({"x": rng.integers(0, rng.integers(2, 10), n)})
        asked = {"confidential": [], "scaling": "none"}
        one, other = (
            shoal.protect(table, k, "x", method=method, **asked).groups for method in ("mdav", "mdav-generic")
        )
        differ += len(set(zip(one.tolist(), other.tolist(), strict=True))) > one.max() + 1
    recorder.add(part="mdav", tables=tables, differ=int(differ))


def run(quick: bool) -> None:
    """Run every method on every table at every k; one line each."""
    recorder = Recorder("categories", quick)
    compare_with_mdav(recorder, quick)
    shuffle_rows(recorder, quick)
    compare_options(recorder, quick)
    compare_distances(recorder, quick)
    for data, (table, sources) in data_sets(quick).items():
        found = {
            name: shoal.load_hierarchy(source, table[name].unique(maintain_order=True).to_list())
            for name, source in sources.items()
        }
        for name, hierarchy in found.items():
            drawn = outline(name, hierarchy, open_table(table), open_table(table))
            recorder.add(
                part="hierarchy",
                data=data,
                column=name,
                nodes=len(hierarchy),
                height=hierarchy.height,
                distinct=table[name].n_unique(),
                drawn=[f"{b}{n}" for b, n in zip(drawn.branches, drawn.names, strict=True)],
            )
        counts = table.group_by(table.columns).len()["len"]
        recorder.add(
            part="data",
            data=data,
            records=len(table),
            distinct=len(counts),
            below_2=int((counts < 2).sum()),
            below_5=int(counts.filter(counts < 5).sum()),
            global_risk=100.0 * len(counts) / len(table),
        )
        for method in methods():
            settings: dict[str, Any] = {"method": method, "hierarchies": sources}
            if method == "semantic-optimal":
                settings["options"] = {"lower": "records"}  # the loss of the paper
            shoal.protect(table, KS[0], table.columns, **settings)  # compiles, and reads WordNet
            for k in KS[:2] if quick else KS:
                with stopwatch() as taken:
                    summary = shoal.protect(table, k, table.columns, **settings).summary
                recorder.add(
                    part="run",
                    data=data,
                    method=method,
                    k=k,
                    loss=summary.record_loss,
                    by_column=summary.loss_by_column,
                    global_risk=summary.global_risk,
                    distinct=summary.distinct_after,
                    smallest=summary.smallest_group,
                    **taken,
                )
