"""A proof as it goes on, and one that is ended early: bound, certificate and notes are of what is proved until then."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import check_certificate as checker
import shoal
from shoal.partition.optimal import listing
from small_tables import table_of

ENDS = (1, 2, 5, 10, 20, 30)  # which rise of the bound is the last


class Rises:
    """Progress that ends the work at a rise of the bound."""

    def __init__(self, last):
        self.last, self.gaps = last, []

    def __call__(self, done, standing=None):
        if getattr(standing, "gap", None) is not None:
            self.gaps.append(standing.gap)
            if len(self.gaps) == self.last:
                raise KeyboardInterrupt


def _table(n, strata=1, decimals=9):
    rng = np.random.default_rng(7)
    values = np.round(rng.normal(size=(n, 3)), decimals)
    return table_of(values).with_columns(s=pl.Series((np.arange(n) % strata).astype(str)))


@pytest.mark.parametrize(
    ("n", "k", "strata", "listed"), [(60, 3, 1, 0), (60, 3, 1, None), (60, 8, 1, None), (90, 3, 2, 0)]
)
def test_what_was_proved_until_an_interruption_is_certified(n, k, strata, listed, tmp_path, monkeypatch, capsys):
    if listed is not None:
        monkeypatch.setattr(listing, "MOST", listed)  # branches without a list of groups
    table = _table(n, strata)
    table.write_csv(tmp_path / "in.csv")
    bounds, interrupted = [], 0
    for last in ENDS:
        rises, proof = Rises(last), tmp_path / f"{last}.json"
        release = shoal.protect(
            tmp_path / "in.csv",
            k,
            ["v0", "v1", "v2"],
            strata="s",
            options={"steps": 60_000, "bound": 60},
            certificate=proof,
            progress=rises,
        )
        assert checker.main([str(proof), str(tmp_path / "in.csv")]) == 0, last
        summary, certificate = release.summary, json.loads(proof.read_text())
        assert f"gap {summary.gap:.4f} %" in capsys.readouterr().out
        assert certificate["proved"] > 0.0
        bounds.append(summary.bound)
        ended = len(rises.gaps) == last
        interrupted += ended
        assert any("the proof was interrupted; what was proved until then holds" in note for note in summary.notes) == (
            ended
        )
        assert not any("the search was interrupted" in note for note in summary.notes)
        assert rises.gaps == sorted(rises.gaps, reverse=True)
    assert interrupted >= 2
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_a_proof_that_ends_before_anything_is_proved_says_so(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.partition.optimal.certificate.lower_bound", interrupt)
    release = shoal.protect(_table(60), 3, ["v0", "v1"], options={"steps": 6000, "bound": 60})
    assert release.summary.bound == 0.0
    assert any("the proof was interrupted before anything was proved" in note for note in release.summary.notes)
    assert not any("give it more" in note for note in release.summary.notes)


def test_a_search_for_a_gap_that_ends_in_its_proof_was_interrupted_and_keeps_what_is_proved():
    table = _table(300)
    rises = Rises(1)  # told in the cycle after the first proof
    release = shoal.protect(table, 3, ["v0", "v1", "v2"], options={"gap": 0.001}, progress=rises)
    assert any("the search was interrupted after" in note for note in release.summary.notes)
    assert 0.0 < release.summary.bound < release.summary.information_loss


def test_an_interruption_inside_the_proof_of_a_gap_ends_the_search_with_what_is_proved(monkeypatch):
    from shoal.partition.optimal import certificate

    def raised(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(certificate, "raised", raised)
    release = shoal.protect(_table(120), 3, ["v0", "v1", "v2"], options={"gap": 0.001})
    assert any("the search was interrupted after" in note for note in release.summary.notes)
    assert 0.0 < release.summary.bound < release.summary.information_loss


def test_the_bound_of_categories_holds_after_an_interruption_as_well():
    rng = np.random.default_rng(0)
    work = {"work": {"craft": ["baker", "smith"], "office": ["clerk", "lawyer"]}}
    table = pl.DataFrame({"job": rng.choice(["baker", "smith", "clerk", "lawyer"], 80), "age": rng.normal(size=80)})
    asked = {"hierarchies": {"job": {"tree": work}}, "options": {"steps": 8000, "bound": 60}}
    bounds = []
    for last in (1, 10**6):
        release = shoal.protect(table, 3, ["job", "age"], progress=Rises(last), **asked)
        bounds.append(release.summary.bound)
        assert any("the proof was interrupted" in note for note in release.summary.notes) == (last == 1)
    assert 0.0 < bounds[0] <= bounds[1] <= release.summary.information_loss


def test_the_bound_is_shown_as_it_rises_and_the_part_that_is_done_never_falls():
    shown = []
    shoal.protect(
        _table(200),
        3,
        ["v0", "v1", "v2"],
        options={"steps": 60_000, "bound": 5},
        progress=lambda done, words="": shown.append((done, str(words))),
    )
    done = [records for records, words in shown if words]
    assert done == sorted(done)
    assert 0 < done[-1] <= 200
    bounds = [float(words.split("no partition below ")[1].split(" %")[0]) for _, words in shown if "below" in words]
    assert len(bounds) > 2
    assert bounds == sorted(bounds)
