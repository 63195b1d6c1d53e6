"""What a release says about columns that are kept, and about cells that rules cost."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from command_line import run


@pytest.fixture
def stays():
    rng = np.random.default_rng(0)
    came = [date(2023, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 365, 120)]
    gone = [day + timedelta(days=int(days)) for day, days in zip(came, rng.integers(0, 30, 120), strict=True)]
    return pl.DataFrame({"came": came, "left": gone, "pay": rng.normal(size=120).round(3)})


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_kept_date_that_the_release_contradicts_is_noted(stays, kind):
    table = (
        stays if kind == "polars" else stays.to_pandas().astype({"came": "datetime64[ns]", "left": "datetime64[ns]"})
    )
    release = shoal.protect(table, 5, ["came", "pay"], method="mdav")
    broken = int((release.data["came"] > release.data["left"]).sum())
    assert broken > 0
    said = [note for note in release.summary.notes if "is never after" in note]
    assert said == [
        f"'came' is never after 'left' in the original, and in {broken} records of the release; protect 'left' too, as "
        "means of both keep their order, or give an edit rule (rules, or --rules), which suppresses what would break it"
    ]


def test_dates_that_are_protected_together_keep_their_order_without_a_note(stays):
    release = shoal.protect(stays, 5, ["came", "left"], method="mdav")
    assert (release.data["came"] <= release.data["left"]).all()
    assert not any("never after" in note for note in release.summary.notes)


def test_dates_without_an_order_are_not_noted(stays):
    other = stays.with_columns(left=pl.col("left").shuffle(seed=1))
    assert not any("never after" in n for n in shoal.protect(other, 5, ["came", "pay"], method="mdav").summary.notes)


def test_cells_that_rules_suppress_are_noted(stays):
    release = shoal.protect(stays, 5, ["came", "pay"], method="mdav", rules=["came <= left"])
    lost = int(release.data["came"].is_null().sum())
    assert lost > 0
    assert any(
        note.startswith(f"{lost} cells suppressed where no values of a group keep") for note in release.summary.notes
    )


def test_columns_without_a_role_are_named_once_on_the_command_line(tmp_path, stays):
    stays.write_csv(tmp_path / "t.csv")
    words = ["protect", tmp_path / "t.csv", "-k", "5", "-q", "pay", "-m", "mdav", "-o"]
    told = run(*words, tmp_path / "r.csv").output
    assert "kept as they are, since nothing is said about them: 'came' and 'left'" in " ".join(told.split())
    told = run(*words, tmp_path / "s.csv", "--keep", "came,left").output
    assert "nothing is said" not in told


def test_the_same_days_give_the_same_groups_as_dates_as_times_and_in_a_file(tmp_path, stays):
    stays.write_csv(tmp_path / "t.csv")
    times = pd.DataFrame({"came": pd.to_datetime(stays["came"].to_list()), "pay": stays["pay"].to_list()})
    forms = (stays, times, times.astype({"came": "datetime64[s]"}), tmp_path / "t.csv")
    for method in ("mdav", "optimal", "sa-mdav"):
        found = [shoal.protect(data, 5, ["came", "pay"], method=method).groups.tolist() for data in forms]
        assert all(groups == found[0] for groups in found), method
