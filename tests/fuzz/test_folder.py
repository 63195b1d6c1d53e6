"""A folder in which releases are made, replaced, refused, measured and made again, in any order.

After every step, each release is beside a manifest with its checksum, the originals are as they were, and there is
no other file.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import shoal
from faults import full_disk
from read_back import cells_of_file

STEPS = max(4, int(os.environ.get("SHOAL_FUZZ_EXAMPLES", "350")) // 25)
ORIGINALS = {
    "a.csv": "x,y,job\n" + "".join(f"{i},{(i * 7) % 11},{'abc'[i % 3]}\n" for i in range(14)),
    "b.csv": "x,y,job\n" + "".join(f"{i * i},{i % 4},{'ab'[i % 2]}\n" for i in range(9)),
}
OUTPUTS = ("one.csv", "two.parquet", "three.arrow", "four.xlsx", "five.sqlite", "six.jsonl.zst")


class FolderOfReleases(RuleBasedStateMachine):
    """What is in the folder, and what was released from what."""

    def __init__(self):
        super().__init__()
        self.kept = tempfile.TemporaryDirectory()
        self.folder = Path(self.kept.name)
        for name, text in ORIGINALS.items():
            (self.folder / name).write_text(text)
        self.made = {}

    def teardown(self):
        self.kept.cleanup()

    def protect(self, original, out, **asked):
        return shoal.protect(self.folder / original, output=self.folder / out, progress=False, method="mdav", **asked)

    @rule(original=st.sampled_from(sorted(ORIGINALS)), out=st.sampled_from(OUTPUTS), k=st.integers(2, 5))
    def release(self, original, out, k):
        self.protect(original, out, k=k, quasi_identifiers=["x", "y"])
        self.made[out] = (original, k)

    @rule(out=st.sampled_from(OUTPUTS), k=st.sampled_from([1, 15, 99]))
    def refuse(self, out, k):
        with pytest.raises((shoal.PlanError, shoal.DataError)):
            self.protect("a.csv", out, k=k, quasi_identifiers=["x", "y"])

    @rule(out=st.sampled_from(OUTPUTS))
    def do_not_replace(self, out):
        if out in self.made:
            with pytest.raises(shoal.FileError):
                self.protect("a.csv", out, k=2, quasi_identifiers="x", overwrite=False)

    @rule(original=st.sampled_from(sorted(ORIGINALS)))
    def do_not_write_over_the_original(self, original):
        with pytest.raises(shoal.FileError):
            self.protect(original, original, k=2, quasi_identifiers="x")

    @rule(out=st.sampled_from(OUTPUTS), room=st.integers(0, 120))
    def run_out_of_disk(self, out, room):
        with full_disk(room), pytest.raises(shoal.FileError):
            self.protect("b.csv", out, k=2, quasi_identifiers=["x", "y"])

    @rule(out=st.sampled_from(OUTPUTS))
    def make_again_from_the_manifest(self, out):
        if out in self.made:
            told = json.loads((self.folder / f"{out}.manifest.json").read_text())
            before = (self.folder / out).read_bytes()
            shoal.protect(
                self.folder / self.made[out][0], plan=shoal.Plan(**told["plan"]), output=self.folder / out, threads=2
            )
            assert (self.folder / out).read_bytes() == before

    @rule(out=st.sampled_from(OUTPUTS))
    def measure(self, out):
        if out in self.made:
            found = shoal.measure(self.folder / self.made[out][0], self.folder / out)
            assert found.k_anonymity >= self.made[out][1]

    @invariant()
    def only_whole_releases_are_there(self):
        manifests = {f"{out}.manifest.json" for out in self.made}
        assert {path.name for path in self.folder.iterdir()} == {*ORIGINALS, *self.made, *manifests}
        for name, text in ORIGINALS.items():
            assert (self.folder / name).read_text() == text
        for out in self.made:
            told = json.loads((self.folder / f"{out}.manifest.json").read_text())
            assert told["output"]["sha256"] == hashlib.sha256((self.folder / out).read_bytes()).hexdigest()

    @invariant()
    def every_release_has_k_of_every_key(self):
        for out, (_, k) in self.made.items():
            found = cells_of_file(self.folder / out, dict.fromkeys("xy", pl.Int64()))
            assert min(Counter(zip(found["x"], found["y"], strict=True)).values()) >= k


TestAFolderOfReleases = FolderOfReleases.TestCase
TestAFolderOfReleases.settings = settings(max_examples=STEPS, stateful_step_count=12, deadline=None)
