"""Everything that is looked at in the columns that are kept, with what is to be told of it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import printable
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.release.declaring import Declared
from shoal.release.giving_back import giving_back_notes, sums_kept
from shoal.release.kept_columns import kept_found
from shoal.release.kept_finding import KeptFinding
from shoal.release.singling_out import singling_notes, singling_out
from shoal.tables.table import Table


def look_at_kept(declared: Declared, table: Table, groups: Sequence[Ints]) -> tuple[list[KeptFinding], list[str]]:
    """Return what kept columns give away beside the ``groups`` (n,) of each set, and the notes that say so."""
    plan = declared.plan
    telling, told = kept_found(plan, table)
    # what a column gives back whole is told as that
    whole = {(one.columns[0], one.of[0]) for one in declared.given_back}
    telling = [one for one in telling if not one.of or (one.columns[0], one.of[0]) not in whole]
    sums = sums_kept(plan, table)
    together = groups[0]
    for own in groups[1:]:
        together = number_keys(together * (int(own.max()) + 1) + own)[0]
    singling = singling_out(plan, table, together)
    notes = giving_back_notes(declared.given_back) + told + [_sum_note(one) for one in sums] + singling_notes(singling)
    return [*declared.given_back, *telling, *sums, *singling], notes


def _sum_note(one: KeptFinding) -> str:
    parts = " and ".join(f"'{printable(name)}'" for name in one.of)
    return (
        f"kept column '{printable(one.columns[0])}' is the sum or difference of the quasi-identifiers {parts}: whoever "
        "knows one of them has the other; remove it, or make it a quasi-identifier too"
    )
