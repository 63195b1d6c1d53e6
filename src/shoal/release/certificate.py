"""The certificate of a lower bound: what a separate program needs to check it, tools/check_certificate.py.

It has a price for each record, the cuts with their multipliers, those of each branch where there are branches, those
that say which groups count in branches, and the group of each record, so that it is for those who may see the original.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.columns.scaling import DEFAULT_SCALING
from shoal.errors import FileError, PlanError
from shoal.kernels.arrays import Floats
from shoal.partition.search.found import Branches, Fork, Leaf, Penalty
from shoal.plan.files_read import Inputs
from shoal.plan.plan import Plan
from shoal.plan.version import shoal_version
from shoal.release.searching import Proof
from shoal.tables.files import Source
from shoal.tables.files.writing_whole import check_target

FORMAT = "shoal lower bound 4"


def certificate_text(proof: Proof | None, plan: Plan, source: Source | None) -> str:
    """Return the certificate of a proof as JSON."""
    if proof is None:
        raise PlanError(
            "nothing was proved about this release; ask for a proof with the option bound, --bound 60s or bound=60"
        )
    refuse_categories(not proof.numbers)
    content: dict[str, Any] = {"certificate": FORMAT, "shoal": shoal_version()}
    if source:
        content["input"] = source.described()
    content |= {
        "k": plan.k,
        "scaling": plan.scaling or DEFAULT_SCALING,
        "columns": list(plan.quasi_identifiers[0]),
        "records": len(proof.groups),
        "total": proof.total,
        "cost": proof.cost,
        "proved": proof.bound,
        "blocks": proof.blocks.tolist(),
        "groups": proof.groups.tolist(),
        **_leaf(proof.proved.prices, proof.proved.penalties),
        "branches": [_branches(own) for own in proof.proved.branches],
    }
    if proof.proved.groups is not None:
        content["better"] = {"groups": proof.proved.groups.tolist(), "cost": proof.proved.cost}
    return json.dumps(content, ensure_ascii=False) + "\n"


def _leaf(prices: Floats | None, penalties: Sequence[Penalty]) -> dict[str, Any]:
    """Return prices and penalties as they are written."""
    return {
        "prices": [] if prices is None else prices.tolist(),
        "cuts": [
            {"records": rows.tolist(), "every": every, "multiplier": multiplier}
            for rows, every, multiplier in penalties
        ],
    }


def _branches(own: Branches) -> dict[str, Any]:
    """Return the branches of a block as they are written."""
    written = {"records": own.rows.tolist(), "tree": _tree(own.tree)}
    if own.listing is not None:
        prices, penalties, limit = own.listing
        written["listed"] = {**_leaf(prices, penalties), "below": limit}
    return written


def _tree(branch: Leaf | Fork) -> dict[str, Any]:
    """Return branches as they are written."""
    if isinstance(branch, Leaf):
        return _leaf(branch.prices, branch.penalties)
    before = {} if branch.before is None else _tree(branch.before)
    return {"pair": list(branch.pair), "together": _tree(branch.together), "apart": _tree(branch.apart), **before}


def refuse_categories(mixed: bool) -> None:
    """Refuse a certificate of columns of any kind, which nobody could check."""
    if mixed:
        raise PlanError(
            "a certificate is checked by a program that knows numbers only, and this method takes categories; leave it "
            "out, the summary has the bound"
        )


def check_certificate(
    path: Path, options: Mapping[str, Any], inputs: Inputs = (), overwrite: bool = True, beside: Sequence[Path] = ()
) -> None:
    """Refuse a path that a certificate cannot be written to, and one of nothing, before any work is done.

    ``beside`` are files that are written with it.
    """
    if path.suffix.lower() != ".json":
        raise FileError(f"'{path}': a certificate is written to a file that ends in .json")
    if any(path.resolve() == other.resolve() for other in beside):
        raise FileError(f"'{path}' is one of the other files; write the certificate to a file of its own")
    if options.get("bound") is None and options.get("gap") is None:
        raise PlanError(
            "a certificate is that of a lower bound; ask for one with the option bound or gap (--bound 60s, bound=60)"
        )
    check_target(path, inputs, overwrite)
