"""What is in a table, and a plan to start from: roles are proposed, shown, and left to the user to confirm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import DataError, FileError, PlanError, counted, printable
from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.household import Household
from shoal.plan.notebook import fragment, grid
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading, as_reading
from shoal.plan.roles import Kind, Role
from shoal.plan.yaml_output import written_yaml
from shoal.tables.disguised import Disguise, disguise, numeral
from shoal.tables.files import Source, read_file
from shoal.tables.files.text import TextForm
from shoal.tables.files.writing_whole import check_target, write_whole
from shoal.tables.households import read_households
from shoal.tables.missing_codes import numbers_for_missing, texts_for_missing
from shoal.tables.proposing import Proposal, propose
from shoal.tables.row_labels import index_suspects
from shoal.tables.table import Table, open_table


@dataclass(frozen=True)
class Question:
    """A text or a number that may stand for missing values; only the user knows.

    Attributes
    ----------
    mark : str
        What it is, as ``missing`` takes it.
    columns : tuple of str
        The columns that have it.
    words : str
        The question, which is among the notes, too.
    """

    mark: str
    columns: tuple[str, ...]
    words: str


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
        What was guessed while reading, and questions to the user.
    questions : tuple of Question
        What may stand for missing values.
    table
        The table as it was read, or as it was given. Never written anywhere.
    """

    records: int
    proposals: list[Proposal]
    reading: Reading
    notes: tuple[str, ...]
    questions: tuple[Question, ...] = ()
    table: Any = field(default=None, repr=False, compare=False)

    def plan(self, k: int = 5) -> Plan:
        """Return the proposed plan; raises DataError where there is nothing to microaggregate."""
        named = self._named()
        if not named[Role.QUASI_IDENTIFIER]:
            raise DataError("there is no column to propose as a quasi-identifier")
        return Plan(
            k=k,
            identifiers=tuple(named[Role.IDENTIFIER]),
            quasi_identifiers=(tuple(named[Role.QUASI_IDENTIFIER]),),
            household=self._household(k, named[Role.HOUSEHOLD]),
            confidential=tuple(named[Role.CONFIDENTIAL]),
            weight=next(iter(named[Role.WEIGHT]), None),
            nominal=tuple(p.profile.name for p in self.proposals if p.nominal),
            hierarchies={p.profile.name: HierarchySettings(**p.hierarchy) for p in self.proposals if p.hierarchy},
            reading=self.reading,
        )

    def to_yaml(self, k: int = 5) -> str:
        """Return the proposed plan as YAML to edit, with what was found as comments."""
        plan = self.plan(k)
        lines = [
            "# A plan proposed by `shoal inspect`. Roles are guesses: check every line, then",
            "#   shoal protect TABLE -o RELEASE --plan THIS_FILE",
            "# Other roles: weight: COLUMN, strata: [COLUMN]. Codes that are names are `nominal`. The method is",
            "# a search for the least loss unless a line `method: NAME` says otherwise; `shoal methods` lists them.",
            "#",
        ]
        lines += [f"# {line}" for line in self._told()]
        lines += ["#", *(f"# {printable(note)}" for note in self.notes)] if self.notes else []
        body = written_yaml(plan.to_dict(), default_flow_style=None, width=100)
        return "\n".join(lines) + "\n" + body

    def write(self, path: str | Path, k: int = 5, *, overwrite: bool = True) -> None:
        """Write the proposed plan to a YAML file."""
        if Path(path).suffix.lower() not in (".yaml", ".yml"):
            raise FileError(f"'{path}': a plan is a YAML file; give it the ending .yaml")
        check_target(Path(path), overwrite=overwrite)
        write_whole(Path(path), self.to_yaml(k), overwrite=overwrite)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts and lists."""
        columns = [
            asdict(p.profile) | {"role": p.role, "reason": p.reason, "nominal": p.nominal, "hierarchy": p.hierarchy}
            for p in self.proposals
        ]
        return {"records": self.records, "columns": columns, "notes": list(self.notes)}

    def __str__(self) -> str:
        """Return a line for each column, with its proposed role, and the notes."""
        notes = [f"note: {printable(note)}" for note in self.notes]
        return "\n".join([counted(self.records, "record"), *self._told(), *notes])

    def _told(self) -> list[str]:
        """Return what was found in each column and is proposed for it, a line for each."""
        width = max((len(printable(p.profile.name)) for p in self.proposals), default=0)
        return [
            f"{printable(p.profile.name):<{width}}  {p.profile.kind:<8} {p.role}: {p.reason}" for p in self.proposals
        ]

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

    def _household(self, k: int, names: list[str]) -> Household | None:
        """Return what is proposed for households: sizes that few have are taken together, so that the plan runs."""
        if not names:
            return None
        rare = read_households(open_table(self.table), names[0]).of_rare_size(k)
        return Household(id=names[0], size="merged") if rare else Household(id=names[0])

    def _named(self) -> dict[Role, list[str]]:
        return {role: [p.profile.name for p in self.proposals if p.role is role] for role in Role}


def inspect(data: Any, reading: Reading | Mapping[str, Any] | None = None) -> Inspection:
    """Look at the columns of a table and propose a role for each, and how to read it where it is a text file.

    The usual texts for missing values, such as ``NA``, and separators of thousands are proposed as ``reading``. Numbers
    that may stand for missing values, such as -99, are asked about in a note.

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
    labelled: set[str] = set()
    declared = isinstance(data, str | Path)
    if isinstance(data, str | Path):
        source = read_file(data, reading)
        if isinstance(source.form, TextForm):
            source, reading, found = _read_better(data, source, reading)
            notes = tuple(found)
        labelled = _labelled(source)
        data, notes = source.frame, (*source.notes, *notes)
    table = open_table(data)
    proposals = propose(table, labelled)
    questions = (*_marks_left(table, declared), *_codes_for_missing(table, proposals, declared))
    notes = (*notes, *index_suspects(table), *(question.words for question in questions))
    return Inspection(len(table), proposals, reading, notes, questions, data)


def _read_better(data: str | Path, source: Source, reading: Reading) -> tuple[Source, Reading, list[str]]:
    """Read a text file again where it has the usual texts for missing values, or numbers in another form."""
    import polars as pl

    marks: dict[str, list[str]] = {}
    for column in source.frame:
        if column.dtype != pl.String:
            continue
        values = column.alias("").drop_nulls().unique().to_list()
        found = texts_for_missing(values, numeric=False)
        every = texts_for_missing(values, numeric=True)
        if every and _all_numerals(value for value in values if value.strip() not in every):
            found = every
        for mark in found:
            marks.setdefault(mark, []).append(column.name)
    notes = [
        f"taken for missing values, and proposed as such: {mark} in {_listed(names)}" for mark, names in marks.items()
    ]
    better = reading.model_copy(update={"missing": (*reading.missing, *marks)})
    if marks:
        source = read_file(data, better)
    asked: dict[str, Any] = {}
    disguised = _disguised(source)
    forms = [found_form.reading for found_form in disguised.values()]
    if any(form.get("decimal") == "," for form in forms):  # commas in doubt are decimals, too
        forms = [{name: value for name, value in form.items() if (name, value) != ("thousands", ",")} for form in forms]
    for form in forms:
        for name, value in form.items():
            asked[name] = [*asked.get(name, []), *value] if isinstance(value, list) else asked.get(name, value)
    asked = {name: value for name, value in asked.items() if not getattr(reading, name)}
    if asked:
        asked = {name: tuple(dict.fromkeys(v)) if isinstance(v, list) else v for name, v in asked.items()}
        try:
            other = Reading(**{**better.model_dump(), **asked})
            source, better = read_file(data, other), other
            disguised = _disguised(source)
            told = ", ".join(f"{n} {' '.join(v) if isinstance(v, tuple) else repr(v)}" for n, v in asked.items())
            notes.append(f"numbers are written with marks or signs, and reading them so is proposed: {told}")
        except PlanError:  # columns that are written in ways that exclude each other
            pass
    notes += [found_form.told(name) for name, found_form in disguised.items()]
    return source, better, notes


def _disguised(source: Source) -> dict[str, Disguise]:
    """Return the columns of text that hold numbers, dates or times, with what they hold."""
    import polars as pl

    looked_at = {
        column.name: disguise(column.alias("").drop_nulls().unique(maintain_order=True).to_list())
        for column in source.frame
        if column.dtype == pl.String
    }
    return {name: found for name, found in looked_at.items() if found}


def _all_numerals(texts: Iterable[str]) -> bool:
    """Whether there are texts, and all of them are numbers in some form."""
    first = None
    for text in texts:
        first = numeral(text)
        if first is None:
            return False
    return first is not None


def _labelled(source: Source) -> set[str]:
    """Return the columns of whose values more than one, and all but the codes for missing ones, have a label."""
    labels = getattr(getattr(source.form, "metadata", None), "variable_value_labels", None) or {}
    found = set()
    for name, own in labels.items():
        if name in source.frame.columns:
            values = set(source.frame[name].drop_nulls().unique().to_list())
            if len(values) > 1 and values <= set(own):
                found.add(name)
    return found


def _marks_left(table: Table, declared: bool) -> list[Question]:
    """Ask where texts are left that usually mark missing values."""
    found: dict[str, list[str]] = {}
    for name in table.names:
        if table.kind(name) is Kind.NOMINAL:
            texts = [label for label in table.factor(name).labels if isinstance(label, str)]
            for mark in texts_for_missing(texts, numeric=True):
                found.setdefault(mark, []).append(name)
    how = "say so with `missing`" if declared else "make them missing before"
    return [
        Question(mark, tuple(names), f"does {mark} mark missing values in {_listed(names)}? If so, {how}")
        for mark, names in found.items()
    ]


def _codes_for_missing(table: Table, proposals: list[Proposal], declared: bool) -> list[Question]:
    """Ask about numbers that look like codes for missing values."""
    questions = []
    for one in proposals:
        name = one.profile.name
        if one.profile.kind is not Kind.NUMERIC or one.role is Role.IDENTIFIER:
            continue
        observed = table.series(name).is_null().to_numpy()
        values = table.rough_numbers(name)[~np.asarray(observed, dtype=bool)]
        for code, count in numbers_for_missing(values[np.isfinite(values)]).items():
            how = f"say so with `missing` ('{code}')" if declared else "make them missing before"
            words = f"does {code} mark missing values in {_listed([name])} ({counted(count, 'record')})? If so, {how}"
            questions.append(Question(code, (name,), words))
    return questions


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{printable(name)}'" for name in names)
