"""The published tables, with their sources, on the public CASC reference sets.

SSE on z-scores with the population standard deviation. "To 5 digits" is a relative difference below
5e-5, since the published figures differ from each other in the fifth digit.
"""

from __future__ import annotations

import polars as pl
import pytest

import shoal

KS = (3, 4, 5, 10)
DROP = ["UTILNAME", "STATE", "YEAR", "MONTH"]

# G. S. Rawat and B. Borah, An improved variable-sized microaggregation algorithm (IV-MDAV), Table 1: SSE
SSE = {
    ("tarragona", "mdav"): (1835.8318, 2119.1678, 2435.2796, 3598.7743),
    ("tarragona", "mdav-single"): (1839.4617, 2139.1554, 2473.9951, 3601.2138),
    ("tarragona", "iv-mdav"): (1839.4739, 2139.1554, 2473.9951, 3601.2138),
    ("census", "mdav"): (799.1827, 1052.2557, 1276.0162, 1987.4925),
    ("census", "mdav-single"): (793.7595, 1044.7749, 1247.3171, 1966.5216),
    ("census", "v-mdav"): (794.9373, 1054.9675, 1264.5801, 1975.8520),
    ("census", "iv-mdav"): (791.2159, 1039.7276, 1246.1519, 1965.0536),  # k = 4: printed 1039.4388
    ("eia", "mdav"): (217.3804, 302.1859, 750.1957, 1728.3120),
    ("eia", "mdav-single"): (215.1095, 301.9676, 783.0258, 1580.8008),
    ("eia", "iv-mdav"): (184.1079, 274.5894, 412.3063, 1286.3228),
}
# the same table; these come out within the given part of the printed figure
NEARLY = {
    ("tarragona", 0.2): ((1839.6440, 2135.5903, 2481.3201, 3607.2572), 6e-4),
    ("eia", 1.1): ((229.2986, 437.8020, 588.0341, 1264.4328), 3e-3),
}
# IV-MDAV on EIA with the cap of 2k - 1 that the paper's text asks for
CAPPED = (187.1676, 283.3478, 412.5547, 1286.3304)
# T.-H. Wen, J.-L. Lin and C.-H. Wang, density-based microaggregation, Table 1: information loss in percent, as printed
LOSS = {
    ("eia", "hdf"): ("1.09", "0.84", "1.9", "4.27"),
    ("eia", "ldf"): ("0.76", "1.10", "2.17", "4.17"),
    ("census", "hdf"): ("6.14", "9.13", "10.84", "15.79"),
    ("census", "ldf"): ("6.46", "8.49", "10.12", "15.93"),
    ("tarragona", "hdf"): ("20.7", "23.83", "26", "35.39"),
    ("tarragona", "ldf"): ("17.15", "19.44", "23.25", "33.49"),
}

# J. Domingo-Ferrer, Blocking methods for microdata protection, Table 3.3: SSE on EIA, univariate blocking, by L and k
UNIVARIATE = {(100, 3): 663.435, (200, 3): 503.281, (100, 5): 1651.86, (200, 5): 1179.25}


def protect(folder, data, method, k, **options):
    drop = DROP if data == "eia" else []
    path = folder / "casc" / f"{data}.csv"
    return shoal.protect(path, k, identifiers=drop, all_numeric=True, method=method, options=options).summary


@pytest.mark.parametrize(("data", "method"), SSE)
def test_fixed_and_variable_size_methods_to_five_digits(reference_data, data, method):
    for k, published in zip(KS, SSE[data, method], strict=True):
        assert protect(reference_data, data, method, k).sse == pytest.approx(published, rel=5e-5), k


@pytest.mark.parametrize(("data", "gamma"), NEARLY)
def test_v_mdav_where_the_paper_is_nearly_reproduced(reference_data, data, gamma):
    figures, part = NEARLY[data, gamma]
    for k, published in zip(KS, figures, strict=True):
        assert protect(reference_data, data, "v-mdav", k, gamma=gamma).sse == pytest.approx(published, rel=part), k


def test_iv_mdav_with_the_cap_of_its_text(reference_data):
    for k, found in zip(KS, CAPPED, strict=True):
        summary = protect(reference_data, "eia", "iv-mdav", k, cap=True)
        assert summary.sse == pytest.approx(found, rel=1e-6)
        assert summary.largest_group <= 2 * k - 1


@pytest.mark.parametrize(("data", "method"), LOSS)
def test_density_methods_to_every_printed_digit(reference_data, data, method):
    for k, printed in zip(KS, LOSS[data, method], strict=True):
        digits = len(printed.partition(".")[2])
        assert f"{protect(reference_data, data, method, k).information_loss:.{digits}f}" == printed, k


def eia_in_blocks(table, size, k, column="RESREVENUE"):
    """SSE of MDAV in blocks of EIA: one column, sorted and cut every L records."""
    cut = {"method": "fixed-counts", "size": size, "columns": [column]}
    return shoal.protect(table, k, table.columns, method="mdav", blocking=cut).summary.sse


@pytest.fixture(scope="module")
def eia(reference_data):
    return pl.read_csv(reference_data / "casc" / "eia.csv").drop(DROP)


@pytest.mark.parametrize("k", [3, 5])
def test_the_univariate_blocking_of_eia_is_one_column_cut_every_200_records(eia, k):
    away = {column: abs(eia_in_blocks(eia, 200, k, column) / UNIVARIATE[200, k] - 1) for column in eia.columns}
    assert away.pop("RESREVENUE") < 1e-3 < min(away.values())
    assert eia_in_blocks(eia, 100, k) == pytest.approx(UNIVARIATE[100, k], rel=2.5e-2)


def test_at_100_records_the_order_of_equal_ones_decides_more_than_the_difference_to_the_paper(eia):
    """132 records are equal in the column, and the first cut runs between them."""
    assert (eia["RESREVENUE"] == 0).sum() == 132
    shuffled = [eia.sample(fraction=1.0, shuffle=True, seed=seed) for seed in range(6)]
    at_100, at_200 = ([eia_in_blocks(table, size, 3) for table in shuffled] for size in (100, 200))
    assert min(at_100) < UNIVARIATE[100, 3] < max(at_100)
    assert max(at_200) / min(at_200) < 1 + 2e-4
