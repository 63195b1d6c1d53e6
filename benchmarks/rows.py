"""Row-wise XML and rules in Schematron at a million records: time, and memory above that of the columns.

Each step runs in a process of its own, whose largest memory is told; a process that only holds the columns, as they
were read, gives what to compare it with.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from record import Recorder
from rules import _large

_RULES = """TOTAL = V1 + V2 + V3
TAX = V4 * RATE
V1 >= 0
V7 from original
if V6 < 300 then V5 <= CEILING
"""
_STEPS = {
    "start": "import polars; from shoal.tables.files.rows import read_rows",
    "read": "from shoal.tables.files.rows import read_rows; read_rows(path)",
    "write": (
        "import polars as pl; from shoal.tables.files.rows import write_rows;"
        "write_rows(pl.read_parquet(path.with_suffix('.parquet')), path.with_name('out.xml'), None, {})"
    ),
    "check": "import shoal; assert not any(f.violations for f in shoal.check_rules(path, path.with_suffix('.sch')))",
}


def run(quick: bool) -> None:
    """Record seconds and memory of reading, writing, and checking five rules with Saxon on every record."""
    recorder = Recorder("rows", quick)
    n = 20_000 if quick else 1_000_000
    import shoal
    from shoal.tables.files.rows import write_rows

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "microdata.xml"
        table = _large(n)
        table.write_parquet(path.with_suffix(".parquet"))
        write_rows(table, path, None, {})
        rules = path.with_suffix(".rules")
        rules.write_text(_RULES, encoding="utf-8")
        shoal.write_rules(shoal.read_rules(rules), path.with_suffix(".sch"))
        size = round(path.stat().st_size / 2**20, 1)
        columns = round(table.estimated_size("mb"), 1)
        for step, code in _STEPS.items():
            told = subprocess.run(
                [sys.executable, "-c", _timed(code, path)], check=True, capture_output=True, text=True
            ).stdout.split()
            recorder.add(
                step=step, records=n, columns=table.width, file_mib=size, columns_mib=columns, cpu=float(told[-2]),
                peak_mib=round(float(told[-1]), 1),
            )  # fmt: skip


def _timed(code: str, path: Path) -> str:
    return (
        "import time; from pathlib import Path;"
        f"path = Path({str(path)!r}); before = time.process_time(); {code};"
        "status = Path('/proc/self/status').read_text();"  # the system's other figure counts the parent too
        "print(round(time.process_time() - before, 2), int(status.split('VmHWM:')[1].split()[0]) / 1024)"
    )
