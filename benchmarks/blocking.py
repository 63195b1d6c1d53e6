"""Blocking: the 2^d-tree, the spread tree, repair, and 2.5 million records from file to file.

Uniform records on [-10000, 10000] as in Solanas et al., z-scores, MDAV with k = 3.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from published import DATA, data_folder
from record import Recorder

TABLE_3_1 = {500: 16384, 1000: 4096, 2000: 4096, 5000: 1024, 10000: 1024}  # cells, 2.5 million records, d = 2
TABLE_3_2 = {2: (4.55, 4.9), 3: (593.64, 1155.54), 4: (7953.22, 21004.5), 5: (37269.3, 99876.3), 10: (916119, 1985030)}
TABLE_3_3 = {(100, 3): 456.846, (200, 3): 464.589, (100, 5): 713.095, (200, 5): 734.925}


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("blocking", quick)
    n = 100_000 if quick else 2_500_000
    casc = data_folder() / "casc"
    for data, drop in DATA.items():
        for size in (100, 200):
            for k in (3, 5):
                for method in (None, "2d-tree", "spread-tree"):
                    for repair in (False, True):
                        if method is None and repair:
                            continue
                        blocking = {"method": method, "size": size, "repair": repair} if method else None
                        path = casc / f"{data}.csv"
                        settings = {"identifiers": drop, "all_numeric": True, "method": "mdav", "blocking": blocking}
                        s = shoal.protect(path, k, **settings).summary
                        published = TABLE_3_3.get((size, k)) if data == "eia" and method == "2d-tree" else None
                        recorder.add(
                            part="reference", data=data, size=size, k=k, method=method, repair=repair, blocks=s.blocks,
                            sse=round(s.sse, 4), published=published,
                        )  # fmt: skip
    for d, published in TABLE_3_2.items():
        table = uniform(n, d)
        for method in ("2d-tree", "univariate", "spread-tree"):
            for repair in (False, True) if method == "spread-tree" else (False,):
                recorder.add(
                    part="simulated", n=n, d=d, published=published,
                    **protect_timed(table, {"method": method, "size": 10_000, "repair": repair}),
                )  # fmt: skip
    recorder.add(part="command line", n=n, d=10, **_command_line(uniform(n, 10)))


def uniform(n: int, d: int) -> pl.DataFrame:
    """Return n uniform records in d columns."""
    x = np.random.default_rng(0).uniform(-10_000, 10_000, size=(n, d))
    return pl.DataFrame({f"v{j}": x[:, j] for j in range(d)})


def protect_timed(table: pl.DataFrame, blocking: dict[str, object]) -> dict[str, object]:
    """Protect a table by MDAV with k = 3; returns the loss and the time."""
    cpu, wall = time.process_time(), time.perf_counter()
    s = shoal.protect(table, 3, table.columns, method="mdav", blocking=blocking).summary
    return {
        "method": blocking["method"],
        "size": blocking["size"],
        "repair": bool(blocking.get("repair")),
        "blocks": s.blocks,
        "sse": round(s.sse, 4),
        "loss": round(s.information_loss, 4),
        "cpu": round(time.process_time() - cpu, 2),
        "wall": round(time.perf_counter() - wall, 2),
    }


def _command_line(table: pl.DataFrame) -> dict[str, object]:
    """Protect a Parquet file to another through the command line."""
    with tempfile.TemporaryDirectory() as folder:
        table.write_parquet(Path(folder) / "in.parquet")
        command = [
            sys.executable,
            "-m",
            "shoal",
            "protect",
            "in.parquet",
            "-o",
            "out.parquet",
            "-k",
            "3",
            "--all-numeric",
            "--method",
            "mdav",
        ]
        command += ["--blocking", "spread-tree", "--json"]
        cut = {"method": "spread-tree", "size": 6_000}
        shoal.protect(table.head(20_000), 3, table.columns, method="mdav", blocking=cut)  # compiles
        started = time.perf_counter()
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        summary = json.loads(out.stdout)
        return {
            "wall": round(time.perf_counter() - started, 2),
            "peak_mib": summary["peak_memory_mib"],
            "loss": round(summary["information_loss"], 4),
            "blocks": summary["blocks"],
        }
