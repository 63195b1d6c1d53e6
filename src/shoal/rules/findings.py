"""Rules checked on a table that is there already, whoever made it, and rules written to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import FileError, PlanError
from shoal.plan.loading import load_settings
from shoal.plan.reading import Reading
from shoal.plan.rules import EXPRESSIONS, PLANS, R_TEXTS, RULE_FILES, SCHEMATRON, SQL_TEXTS, as_expressions, is_file
from shoal.rules.checking import RuleTable, check_fit, check_rules_on
from shoal.rules.constants import Known, constant_mistakes
from shoal.rules.languages import as_r, as_sql, as_validate
from shoal.rules.rule import Rule
from shoal.rules.sources import as_rules, needs_original
from shoal.rules.writing import as_text
from shoal.tables.files.writing_whole import check_target, write_whole
from shoal.tables.reading import read


@dataclass(frozen=True)
class RuleFinding:
    """What was found about a rule.

    Attributes
    ----------
    name, place, text : str
        Its name, where it stands, and what it says.
    violations : int
        Records that break it.
    rows : list of int
        Their numbers, from 1.
    not_applicable : int
        Records that lack a value that it needs.
    up_to_rounding : int
        Records in which the two sides of an equality differ by rounding only, so that it holds, although an engine
        that compares to the last digit says otherwise.
    checked_by : str
        ``columns``, or ``engine and columns``, or ``engine`` where the rule has no translation.
    soft : bool
        Whether it need not be kept.
    """

    name: str
    place: str
    text: str
    violations: int
    rows: list[int]
    not_applicable: int
    up_to_rounding: int
    checked_by: str
    soft: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts and lists."""
        return asdict(self)


def check_rules(
    data: Any,
    rules: str | Path | Sequence[str] | Mapping[str, str],
    *,
    original: Any = None,
    reading: Reading | Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> list[RuleFinding]:
    """Check rules on a table: how many records break each, and which; no value is shown.

    Parameters
    ----------
    data : table or path
        What is checked.
    rules : list of str, dict of str, or path
        Expressions, expressions by name, or a file of them, of Schematron, or of a plan.
    original : table or path
        The original, for rules about its values, and for the number of decimals that totals are rounded to.
    reading : dict
        How text files are read.
    orders : dict
        Values of a column from the lowest to the highest, which ``<`` and ``<=`` go by; those of the plan where the
        rules are in one.

    Returns
    -------
    list of RuleFinding
        One for each rule, in their order.

    Examples
    --------
    >>> import polars as pl
    >>> found = check_rules(pl.DataFrame({"A": [1, 2], "B": [1, 1]}), ["A <= B"])
    >>> found[0].violations, found[0].rows
    (1, [2])
    """
    asked = rules_of(rules)
    levels = orders_of(rules) if orders is None else {name: tuple(map(str, given)) for name, given in orders.items()}
    source, table = read(data, {"reading": reading} if reading is not None else {})
    before = None
    named = source.path if source else None
    if original is not None:
        first, opened = read(original, {"reading": reading} if isinstance(original, str | Path) and reading else {})
        before = RuleTable(opened, first, orders=levels)
        named = first.path if first else None
    wanting = [rule.name for rule in asked if needs_original(rule) and not _names(rule, named)]
    if wanting and original is None:
        listed = ", ".join(f"'{name}'" for name in wanting)
        raise PlanError(f"these rules are about values of the original: {listed}; name it (original, or --original)")
    known = {name: Known("order", order) for name, order in levels.items()}
    mistakes = constant_mistakes(asked, known, {})
    if mistakes:
        raise PlanError(mistakes)
    checked = RuleTable(table, source, before, levels)
    check_fit(asked, checked, named=named if original is not None else None)
    found = check_rules_on(asked, checked)
    return [
        RuleFinding(
            name=rule.name,
            place=rule.place,
            text=rule.text,
            violations=int(found[rule.name].broken.sum()),
            rows=(np.flatnonzero(found[rule.name].broken) + 1).tolist(),
            not_applicable=int(found[rule.name].idle.sum()),
            up_to_rounding=int(found[rule.name].inexact.sum()),
            checked_by="columns"
            if rule.schematron is None
            else "engine"
            if rule.condition is None
            else "engine and columns",
            soft=rule.weight is not None,
        )
        for rule in asked
    ]


def _names(rule: Rule, path: Path | None) -> bool:
    """Whether the original data that a rule names is the table itself."""
    names = rule.schematron.documents if rule.schematron else ()
    return path is not None and bool(names) and all(Path(name).name == path.name for name in names)


def rules_of(given: str | Path | Sequence[str] | Mapping[str, str]) -> list[Rule]:
    """Return the rules in a file, in a list of expressions, or in a dict of them by name."""
    return as_rules((), given) if is_file(given) else as_rules(as_expressions(given))  # type: ignore[arg-type]


def orders_of(given: object) -> dict[str, tuple[str, ...]]:
    """Return the orders that the plan with the rules declares; none where they are not in one."""
    if not isinstance(given, str | Path) or not is_file(given) or Path(given).suffix.lower() not in PLANS:
        return {}
    orders = load_settings(Path(given)).get("orders") or {}
    return {name: tuple(map(str, levels)) for name, levels in orders.items()}


def write_rules(
    rules: Sequence[Rule],
    path: str | Path,
    *,
    record: str = "Record",
    original: str = "microdata.xml",
    table: str = "microdata",
    overwrite: bool = True,
) -> None:
    """Write rules to a file, in the notation that its ending says.

    Schematron to ``.sch`` or ``.xml``, expressions to ``.rules`` or ``.txt``, rules of the R package validate to ``.R``
    or ``.yaml``, CHECK constraints to ``.sql``. A rule that the notation has no words for is an error.

    Parameters
    ----------
    rules : list of Rule
        From :func:`shoal.read_rules`.
    path : path
        Where to.
    record, original : str
        For Schematron: the name of the element that is a record, and of the original data.
    table : str
        For SQL: the name of the table.
    overwrite : bool
        Whether to replace a file that is there already.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in RULE_FILES:
        raise FileError(f"'{path}': rules are written to a file that ends in {', '.join(RULE_FILES)}")
    check_target(path, overwrite=overwrite)
    if kind in SCHEMATRON:
        from shoal.rules.schematron_writing import as_schematron

        content = as_schematron(rules, record, original)
    elif kind in EXPRESSIONS:
        content = as_text(rules).encode()
    elif kind in SQL_TEXTS:
        content = as_sql(rules, table).encode()
    else:
        content = (as_r if kind in R_TEXTS else as_validate)(rules).encode()
    write_whole(path, content, overwrite=overwrite)
