"""The certificate of a lower bound: what a separate program needs to check it, tools/check_certificate.py.

It has a price for each record, the cuts with their multipliers, and the group of each, so that it is for those who may
see the original.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.columns.scaling import DEFAULT_SCALING
from shoal.errors import FileError, PlanError
from shoal.plan.files_read import Inputs
from shoal.plan.plan import Plan
from shoal.plan.version import shoal_version
from shoal.release.searching import Proof
from shoal.tables.files import Source
from shoal.tables.files.writing_whole import check_target

FORMAT = "shoal lower bound 2"


def certificate_text(proof: Proof | None, plan: Plan, source: Source | None) -> str:
    """Return the certificate of a proof as JSON."""
    if proof is None:
        raise PlanError(
            "nothing was proved about this release; ask for a proof with the option bound, such as bound=60"
        )
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
        "prices": proof.prices.tolist(),
        "cuts": [
            {"records": rows.tolist(), "every": every, "multiplier": multiplier}
            for rows, every, multiplier in proof.penalties
        ],
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


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
        raise PlanError("a certificate is that of a lower bound; ask for one with the option bound, such as bound=60")
    check_target(path, inputs, overwrite)
