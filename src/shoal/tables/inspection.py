"""What is in a table, and a plan to start from: roles are proposed, shown, and left to the user to confirm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import DataError, FileError, printable
from shoal.plan.notebook import fragment, grid
from shoal.plan.plan import Plan, Reading, as_reading
from shoal.plan.roles import MEASURABLE, Kind, Role
from shoal.tables.files import read_file
from shoal.tables.files.writing_whole import check_target, write_whole
from shoal.tables.identifying import Profile, looks_like_weight, why_identifier
from shoal.tables.row_labels import index_suspects
from shoal.tables.table import open_table


@dataclass(frozen=True)
class Proposal:
    """A column, the role proposed for it, and why."""

    profile: Profile
    role: Role
    reason: str


@dataclass(frozen=True)
class Inspection:
    """What was found in a table.

    Attributes
    ----------
    records : int
        Its rows.
    proposals : list of Proposal
        Its columns.
    reading : Reading
        How it was read.
    notes : tuple of str
        What was guessed while reading.
    """

    records: int
    proposals: list[Proposal]
    reading: Reading
    notes: tuple[str, ...]

    def plan(self, k: int = 5) -> Plan:
        """Return the proposed plan; raises DataError where there is nothing to microaggregate."""
        named = self._named()
        if not named[Role.QUASI_IDENTIFIER]:
            raise DataError("there is no column of numbers or dates to propose as a quasi-identifier")
        return Plan(
            k=k,
            identifiers=tuple(named[Role.IDENTIFIER]),
            quasi_identifiers=(tuple(named[Role.QUASI_IDENTIFIER]),),
            confidential=tuple(named[Role.CONFIDENTIAL]),
            weight=next(iter(named[Role.WEIGHT]), None),
            reading=self.reading,
        )

    def to_yaml(self, k: int = 5) -> str:
        """Return the proposed plan as YAML to edit, with what was found as comments."""
        plan = self.plan(k)
        lines = [
            "# A plan proposed by `shoal inspect`. Roles are guesses: check every line, then",
            "#   shoal protect TABLE -o RELEASE --plan THIS_FILE",
            "# Other roles: weight: COLUMN, strata: [COLUMN]. The method is optimal unless a line `method: NAME` says",
            "# otherwise; `shoal methods` lists them.",
            "#",
        ]
        width = max(len(printable(p.profile.name)) for p in self.proposals)
        for p in self.proposals:
            lines.append(f"# {printable(p.profile.name):<{width}}  {p.profile.kind:<8} {p.role}: {p.reason}")
        body = yaml.safe_dump(plan.to_dict(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)
        return "\n".join(lines) + "\n" + body

    def write(self, path: str | Path, k: int = 5, *, overwrite: bool = True) -> None:
        """Write the proposed plan to a YAML file."""
        if Path(path).suffix.lower() not in (".yaml", ".yml"):
            raise FileError(f"'{path}': a plan is a YAML file; give it the ending .yaml")
        check_target(Path(path), overwrite=overwrite)
        write_whole(Path(path), self.to_yaml(k), overwrite=overwrite)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts and lists."""
        columns = [asdict(p.profile) | {"role": p.role, "reason": p.reason} for p in self.proposals]
        return {"records": self.records, "columns": columns, "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        """Return what notebooks show: the columns with their proposed roles, and no value of the table."""
        rows = [
            (p.profile.name, p.profile.type, f"{p.profile.missing:,}", f"{p.profile.distinct:,}", p.role, p.reason)
            for p in self.proposals
        ]
        head = ("column", "type", "missing", "distinct", "proposed role", "because")
        told = 'inspection.write("plan.yaml") writes the proposed plan, to be checked.'
        about = {"records": f"{self.records:,}"}
        return fragment("Inspection", about, tables=[grid(head, rows)], notes=self.notes, told=told)

    def _named(self) -> dict[Role, list[str]]:
        return {role: [p.profile.name for p in self.proposals if p.role is role] for role in Role}


def inspect(data: Any, reading: Reading | Mapping[str, Any] | None = None) -> Inspection:
    """Look at the columns of a table and propose a role for each.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or path
        The table.
    reading : Reading or dict
        How to read a text file.

    Examples
    --------
    >>> from shoal.tables.example import example
    >>> [str(p.role) for p in inspect(example()).proposals][:3]
    ['identifier', 'quasi-identifier', 'quasi-identifier']
    """
    reading = as_reading(reading)
    notes: tuple[str, ...] = ()
    if isinstance(data, str | Path):
        source = read_file(Path(data), reading)
        data, notes = source.frame, source.notes
    table = open_table(data)
    proposals: list[Proposal] = []
    for name in table.names:
        profile = table.profile(name)
        weighted = any(p.role is Role.WEIGHT for p in proposals)
        proposals.append(_propose(profile, weighted))
    return Inspection(len(table), proposals, reading, (*notes, *index_suspects(table)))


def _propose(profile: Profile, weighted: bool) -> Proposal:
    """Propose a role for a column; there is at most one weight."""
    reason = why_identifier(profile)
    if reason:
        return Proposal(profile, Role.IDENTIFIER, reason)
    if profile.kind in MEASURABLE:
        if looks_like_weight(profile.name) and not weighted and not profile.missing:
            return Proposal(profile, Role.WEIGHT, "its name says so")
        if profile.constant:
            return Proposal(
                profile, Role.CONFIDENTIAL, "it has a single value" if profile.distinct else "it has no values"
            )
        return Proposal(
            profile,
            Role.QUASI_IDENTIFIER,
            "a number that could single somebody out"
            if profile.kind is Kind.NUMERIC
            else "a date that could single somebody out",
        )
    return Proposal(profile, Role.CONFIDENTIAL, "has no distances")
