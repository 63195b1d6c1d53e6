"""Protects the table of the tests on Spark, and writes the digest of each release: one process for each cluster.

``python spark_program.py MASTER FOLDER RESULTS [CASE ...]``; a Spark has one session, and pytest should have none.
"""

import json
import sys
import time
from pathlib import Path

import polars as pl

import shoal
from tables_for_engines import MATRIX, PLANS, TABLE, digest, told

EVERY = {**PLANS, **MATRIX}


def rows_of(frame, sort):
    return pl.from_arrow(frame.orderBy(sort).drop(sort).toArrow()).select(pl.all())


def of_file(folder, plan, out):
    release = shoal.protect(folder, **plan, engine="spark", output=out)
    return told(release, pl.read_parquet(sorted(out.glob("*.parquet"))), release.manifest())


def of_table(session, plan, partitions, shuffled):
    numbered = TABLE.drop("d", "t").with_row_index("r").with_columns(pl.col("r").cast(pl.Int64))
    if shuffled:
        numbered = numbered.sample(fraction=1.0, shuffle=True, seed=partitions)
    frame = session.createDataFrame(numbered.to_arrow()).repartition(partitions)
    assert frame.rdd.getNumPartitions() == partitions
    engine = {"name": "spark", "row": "r"}
    release = shoal.protect(frame, **plan, confidential=["r"], engine=engine)
    assert type(release.data).__name__ == "DataFrame"
    return digest(rows_of(release.data, "r")), release.summary.information_loss


def figures(measures):
    """What is measured, without what no two engines share."""
    return {name: value for name, value in measures.to_dict().items() if name not in ("notes", "seconds")}


def of_measures(folder, plan, out):
    shoal.protect(folder, **plan, engine="spark", output=out)
    return figures(shoal.measure_in_engine(folder, out, engine="spark"))


def main(master, folder, results, *cases):
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.executor.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    found = {}
    where = Path(results)
    for case in cases:
        kind, _, name = case.partition(":")
        started = time.time()
        if kind == "file":
            found[case] = of_file(Path(folder), EVERY[name], where / f"out-{len(found)}")
        elif kind == "measure":
            found[case] = of_measures(Path(folder), PLANS[name], where / f"out-{len(found)}")
        else:  # such as 17-shuffled-off: partitions, order, adaptive execution
            partitions, order, adaptive = kind.split("-")
            session.conf.set("spark.sql.adaptive.enabled", "true" if adaptive == "on" else "false")
            found[case] = of_table(session, PLANS[name], int(partitions), order == "shuffled")
        print(case, round(time.time() - started, 1), flush=True)
        (where / "digests.json").write_text(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
