"""The methods on the CASC reference sets, beside the published figures."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from record import Recorder, stopwatch

KS = (3, 4, 5, 10)
DATA = {"tarragona": [], "census": [], "eia": ["UTILNAME", "STATE", "YEAR", "MONTH"]}
# SSE as printed: Rawat & Borah (IV-MDAV), Table 1; loss in percent as printed: Wen, Lin & Wang (LDF, HDF), Table 1
PUBLISHED_SSE = {
    ("tarragona", "mdav"): (1835.8318, 2119.1678, 2435.2796, 3598.7743),
    ("tarragona", "mdav-single"): (1839.4617, 2139.1554, 2473.9951, 3601.2138),
    ("tarragona", "v-mdav"): (1839.6440, 2135.5903, 2481.3201, 3607.2572),
    ("tarragona", "iv-mdav"): (1839.4739, 2139.1554, 2473.9951, 3601.2138),
    ("census", "mdav"): (799.1827, 1052.2557, 1276.0162, 1987.4925),
    ("census", "mdav-single"): (793.7595, 1044.7749, 1247.3171, 1966.5216),
    ("census", "v-mdav"): (794.9373, 1054.9675, 1264.5801, 1975.8520),
    ("census", "iv-mdav"): (791.2159, 1039.4388, 1246.1519, 1965.0536),
    ("eia", "mdav"): (217.3804, 302.1859, 750.1957, 1728.3120),
    ("eia", "mdav-single"): (215.1095, 301.9676, 783.0258, 1580.8008),
    ("eia", "v-mdav"): (229.2986, 437.8020, 588.0341, 1264.4328),
    ("eia", "iv-mdav"): (184.1079, 274.5894, 412.3063, 1286.3228),
}
PUBLISHED_LOSS = {
    ("eia", "hdf"): (1.09, 0.84, 1.9, 4.27),
    ("eia", "ldf"): (0.76, 1.10, 2.17, 4.17),
    ("census", "hdf"): (6.14, 9.13, 10.84, 15.79),
    ("census", "ldf"): (6.46, 8.49, 10.12, 15.93),
    ("tarragona", "hdf"): (20.7, 23.83, 26.0, 35.39),
    ("tarragona", "ldf"): (17.15, 19.44, 23.25, 33.49),
}


def data_folder() -> Path:
    """Folder of the reference data: SHOAL_DATA, or beside the repository."""
    return Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def run(quick: bool) -> None:
    """Run every method on every reference set, as it is and refined; then on many normal records."""
    recorder = Recorder("published", quick)
    folder = data_folder() / "casc"
    for data, drop in DATA.items():
        for name, method in shoal.METHODS.items():
            # the benchmark optimal has what a search finds in a time, categories the methods for columns of any kind
            if method.search or method.mixed:
                continue
            options = {"gamma": 1.1} if (data, name) == ("eia", "v-mdav") else {}
            settings = {"identifiers": drop, "all_numeric": True, "method": name, "options": options}
            for refined in (False, True) if not method.refine_mistakes(columns=13) else (False,):
                # what is compiled or loaded at the first call is no part of the time
                shoal.protect(folder / f"{data}.csv", KS[0], **settings, refine=refined)
                for place, k in enumerate(KS[:1] if quick else KS):
                    with stopwatch() as taken:
                        summary = shoal.protect(folder / f"{data}.csv", k, **settings, refine=refined).summary
                    sse, loss = PUBLISHED_SSE.get((data, name)), PUBLISHED_LOSS.get((data, name))
                    recorder.add(
                        data=data,
                        method=name,
                        options=options,
                        refined=refined,
                        k=k,
                        sse=round(summary.sse, 4),
                        loss=round(summary.information_loss, 4),
                        smallest_group=summary.smallest_group,
                        largest_group=summary.largest_group,
                        published_sse=sse[place] if sse else None,
                        published_loss=loss[place] if loss else None,
                        **taken,
                    )
    _many_records(recorder, 10_000 if quick else 100_000)


def _many_records(recorder: Recorder, n: int) -> None:
    """Time every method on n x 5 normal records, k = 3, on one thread, after a first call on fewer."""
    values = np.random.default_rng(0).normal(size=(n, 5))
    table = pl.DataFrame({f"v{j}": values[:, j] for j in range(5)})
    for name, refined in [
        *[(name, False) for name, method in shoal.METHODS.items() if not method.mixed],
        ("mdav", True),
    ]:
        settings = {"quasi_identifiers": table.columns, "method": name, "refine": refined, "threads": 1}
        shoal.protect(table[:6000], 3, **settings)
        with stopwatch() as taken:
            summary = shoal.protect(table, 3, **settings).summary
        loss = round(summary.information_loss, 4)
        recorder.add(data="normal", records=n, method=name, options={}, refined=refined, k=3, loss=loss, **taken)
