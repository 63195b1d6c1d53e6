"""Every type of column in every kind of file: the cells of a kept column come back, or the file is refused."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import shoal

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))
from read_back import cells_of_file, cells_of_frame

DAY = date(2020, 2, 29)
COLUMNS = {
    "small whole": pl.Series([-128, 0, 127], dtype=pl.Int8),
    "whole": pl.Series([-(2**53), 0, 2**53], dtype=pl.Int64),
    "large whole": pl.Series([-(2**63), 0, 2**63 - 1], dtype=pl.Int64),
    "unsigned": pl.Series([0, 1, 2**32 - 1], dtype=pl.UInt32),
    "large unsigned": pl.Series([0, 1, 2**64 - 1], dtype=pl.UInt64),
    "float": pl.Series([0.1, -1e300, 5e-324]),
    "float of all digits": pl.Series([0.1 + 0.2, 1.7976931348623157e308, 123456789.123456789]),
    "narrow float": pl.Series([0.1, -1e30, 2.5], dtype=pl.Float32),
    "infinite": pl.Series([0.1, float("inf"), 1.0]),
    "money": pl.Series([Decimal("0.10"), Decimal("-12345.67"), Decimal(3)], dtype=pl.Decimal(12, 2)),
    "long decimal": pl.Series([Decimal("12345678901234567.89"), Decimal(1), Decimal(2)], dtype=pl.Decimal(30, 2)),
    "boolean": pl.Series([True, False, True]),
    "text": pl.Series(["a\nb", "=1+1", "é'\""]),
    "empty text": pl.Series(["", "x", "y"]),
    "numbers as text": pl.Series(["007", "1e5", "-9"]),
    "category": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
    "enumeration": pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b", "c"])),
    "day": pl.Series([DAY, date(1950, 1, 1), date(2099, 12, 31)]),
    "early day": pl.Series([date(1850, 1, 1), DAY, DAY]),
    "first days of a sheet": pl.Series([date(1900, 1, 1), date(1900, 2, 28), date(1900, 3, 1)]),
    "moment": pl.Series([datetime(2020, 1, 1, 12, 30), datetime(1999, 1, 1), datetime(2020, 5, 5, 1, 2, 3)]),
    "fine moment": pl.Series([datetime(2020, 1, 1, 12, 30, 0, 123456)] * 2 + [datetime(2020, 1, 1)]),
    "moment of a zone": pl.Series([datetime(2020, 1, 1, 12, tzinfo=UTC)] * 3),
    "clock": pl.Series([time(1, 2, 3), time(0), time(23, 59, 59)]),
    "duration": pl.Series([timedelta(days=1), timedelta(0), timedelta(seconds=1)]),
    "bytes": pl.Series([b"\x00", b"a", b"\xff"]),
    "list": pl.Series([[1], [], [2, 3]]),
    "record": pl.Series([{"a": 1}, {"a": 2}, {"a": 3}]),
}
NOT_IN = {  # kinds of files that do not hold a type
    "sheet": [
        *("large whole", "large unsigned", "infinite", "long decimal", "early day", "fine moment"),
        *("moment of a zone", "duration", "bytes", "list", "record"),
    ],
    "JSON": ["infinite", "long decimal", "duration", "bytes"],
    "SQLite": ["large unsigned", "long decimal", "duration", "list", "record"],
    "text": ["duration", "bytes", "list", "record"],
}
KINDS = {"sheet": [".xlsx"], "JSON": [".jsonl", ".jsonl.zst"], "SQLite": [".sqlite"], "text": [".csv", ".csv.zst"]}
REFUSED = {(what, ending) for kind, whats in NOT_IN.items() for what in whats for ending in KINDS[kind]}
ENDINGS = [".csv", ".csv.zst", ".jsonl", ".jsonl.zst", ".xlsx", ".sqlite", ".parquet", ".arrow"]


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("what", COLUMNS)
def test_cells_come_back_or_are_refused(tmp_path, what, ending, gap):
    kept = pl.concat([COLUMNS[what], COLUMNS[what].clear(1 if gap else 0)])
    frame = pl.DataFrame({"x": range(len(kept)), "kept": kept})
    out = tmp_path / f"out{ending}"
    release = shoal.protect(frame, k=3, quasi_identifiers="x", method="mdav", confidential="kept")
    if (what, ending) in REFUSED:
        with pytest.raises(shoal.FileError, match="'kept'"):
            release.write(out)
        assert not list(tmp_path.iterdir())
        return
    release.write(out)
    back = cells_of_file(out, dict(frame.schema))["kept"]
    expected = cells_of_frame(frame)["kept"]
    if ending.startswith(".csv"):  # where an empty cell is a missing one
        expected = [None if cell == "" else cell for cell in expected]
    assert back == expected


def test_rules_are_checked_on_every_type_of_column(tmp_path):
    frame = pl.DataFrame({"x": range(6), "y": range(6)})
    for dtype in (pl.Int8, pl.Int64, pl.UInt16, pl.Float32, pl.Float64, pl.Decimal(9, 2)):
        for ending in ENDINGS:
            out = tmp_path / f"out{ending}"
            typed = frame.with_columns(pl.col("x").cast(dtype), pl.Series("job", list("ababab"), dtype=pl.Categorical))
            release = shoal.protect(
                typed, k=3, quasi_identifiers=["x", "y"], method="mdav", rules=["x >= 0"], output=out
            )
            assert release.summary.rules[0].violations_after == 0
