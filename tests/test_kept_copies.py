"""A kept copy of a quasi-identifier is refused before any work, unless the plan says why it may stay."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from command_line import manifest_of, run

N = 80
RNG = np.random.default_rng(5)
AGE = RNG.integers(18, 90, N)
PLACE = [f"p{i}" for i in RNG.integers(0, 9, N)]
PEOPLE = {"age": AGE, "height": RNG.normal(170, 9, N).round(1), "place": PLACE}
HOLES = [None if i % 7 == 0 else int(v) for i, v in enumerate(AGE)]
COPIES = {
    "a copy": ({"kept": AGE}, "age"),
    "a copy of another type": ({"kept": AGE.astype(float)}, "age"),
    "a copy of text": ({"kept": PLACE}, "place"),
    "a copy with the same holes": ({"age": HOLES, "kept": HOLES}, "age"),
}
OTHERS = {
    "one record differs": {"kept": [*AGE[:-1], AGE[-1] + 1]},
    "a part of it": {"kept": AGE // 10},
    "a constant beside a constant": {"age": [7] * N, "kept": [7] * N},
}


def protect(columns, library=pl.DataFrame, **more):
    table = library({**PEOPLE, **columns})
    return shoal.protect(table, 4, ["age", "height", "place"], method="sa-mondrian", **more)


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("role", [{}, {"confidential": "kept"}])
@pytest.mark.parametrize("copy", COPIES)
def test_a_kept_copy_is_refused_with_both_names_and_what_to_do(copy, role, library, tmp_path):
    columns, of = COPIES[copy]
    with pytest.raises(
        shoal.PlanError, match=f"column 'kept' is kept and is the quasi-identifier '{of}' itself"
    ) as told:
        protect(columns, library, output=tmp_path / "out.csv", **role)
    assert "--accept COLUMN=REASON" in str(told.value)
    assert f"all {N} records" in str(told.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", OTHERS)
def test_what_is_no_copy_is_not_refused(case):
    assert "kept" in protect(OTHERS[case]).data.columns


def test_a_copy_that_is_removed_or_protected_too_is_no_matter():
    assert "kept" not in protect({"kept": AGE}, identifiers="kept").data.columns
    table = pl.DataFrame({**PEOPLE, "kept": AGE})
    assert shoal.protect(table, 4, ["age", "height", "kept"], method="mdav").summary.groups > 1


def test_a_copy_that_is_accepted_stays_and_the_reason_is_told():
    release = protect({"kept": AGE}, accept={"kept": "agreed with the office"})
    assert release.data["kept"].to_list() == AGE.tolist()
    assert "'kept' is kept although it is 'age' itself: agreed with the office" in release.summary.notes
    assert release.manifest()["plan"]["accept"] == {"kept": "agreed with the office"}


WRONG = {
    "no copy": ({"height": "known"}, "accept: column 'height' is no copy of a quasi-identifier that is kept"),
    "no reason": ({"kept": " "}, "accept.kept: say why the column may stay"),
    "no column": ({"kepd": "known"}, "column 'kepd' is not in the table; did you mean 'kept'?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_accepting_without_effect_or_reason_is_a_mistake(case):
    accept, expected = WRONG[case]
    with pytest.raises(shoal.PlanError) as told:
        protect({"kept": AGE}, accept=accept)
    assert expected in str(told.value)


def test_the_command_line_accepts_a_copy(tmp_path):
    pl.DataFrame({**PEOPLE, "kept": AGE}).write_csv(tmp_path / "in.csv")
    asked = ["protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 4, "-q", "age,height", "-m", "mdav"]
    refused = run(*asked)
    assert refused.exit_code != 0
    assert "--accept COLUMN=REASON" in " ".join(refused.output.split())
    assert run(*asked, "--accept", "kept=agreed with the office").exit_code == 0
    assert manifest_of(tmp_path / "out.csv")["plan"]["accept"] == {"kept": "agreed with the office"}
