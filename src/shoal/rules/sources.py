"""Where rules come from: expressions in the plan, and files in either notation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from shoal.errors import FileError, PlanError, counted, did_you_mean
from shoal.plan.limits import LARGEST_RULES, read_small
from shoal.plan.rules import EXPRESSIONS, PLANS, R_TEXTS, RULE_FILES, SCHEMATRON, SQL_TEXTS, rules_or_file
from shoal.rules.expression import Original, Unchanged, walk
from shoal.rules.grammar import parse_rule, parse_rules
from shoal.rules.rule import Rule, name_mistakes


def read_rules(path: str | Path) -> list[Rule]:
    """Read rules from a file, in the notation that its ending says.

    Schematron in ``.sch`` or ``.xml``, expressions in ``.rules`` or ``.txt``, those of the R package validate in ``.R``
    or as the package writes them in ``.yaml``, CHECK constraints in ``.sql``, or the rules of a plan in ``.yaml``.

    Raises
    ------
    PlanError, FileError
        The rules have mistakes, all of which are told, or the file cannot be read.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in RULE_FILES:
        raise FileError(
            f"'{path}': rules are in a file with the ending {', '.join(SCHEMATRON)} (Schematron), "
            f"{', '.join(EXPRESSIONS)} (expressions), .R (R validate), .sql (CHECK constraints) or {', '.join(PLANS)} "
            "(R validate, or a plan)"
        )
    if kind in SCHEMATRON:
        from shoal.rules.schematron import read_schematron

        return read_schematron(path)
    if kind in PLANS:
        from shoal.plan.loading import load_settings
        from shoal.rules.r_validate import is_validate, validate_rules

        loaded = load_settings(path)
        if is_validate(loaded):
            return validate_rules(loaded, path.name)
        settings = rules_or_file(loaded)
        given = settings.get("rules_file")
        if given is not None and not isinstance(given, str):
            raise PlanError(f"'{path}': rules_file: must be a text")
        if given and Path(given).suffix.lower() in PLANS and not is_validate(load_settings(given)):
            raise PlanError(f"'{path}': rules are in another plan; name a file of rules")
        rules = as_rules(settings.get("rules") or (), given)
        if not rules:
            raise PlanError(f"'{path}' has no rules")
        return rules
    try:
        text = read_small(path, "the rules", LARGEST_RULES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"'{path}' is not text in UTF-8") from None
    if kind in R_TEXTS:
        from shoal.rules.r_validate import parse_validate

        return parse_validate(text, path.name)
    if kind in SQL_TEXTS:
        from shoal.rules.sql_checks import parse_checks

        return parse_checks(text, path.name)
    rules = parse_rules(text, path.name, shown=False)
    if not rules:
        raise PlanError(f"'{path}' has no rule")
    return rules


def as_rules(expressions: Sequence[str], file: str | Path | None = None) -> list[Rule]:
    """Return the rules that expressions and a file say, or all mistakes in them.

    >>> [rule.name for rule in as_rules(["A <= B", "adult: AGE >= 18"])]
    ['A <= B', 'adult']
    """
    rules: list[Rule] = []
    mistakes: list[str] = []
    for number, text in enumerate(expressions, start=1):
        if not isinstance(text, str):
            mistakes.append(f"rule {number}: must be a text; put it in quotes")
            continue
        try:
            rules.append(parse_rule(text, f"rule {number}"))
        except PlanError as error:
            mistakes += error.mistakes
    if file is not None:
        try:
            rules += read_rules(file)
        except PlanError as error:
            mistakes += error.mistakes
    mistakes += name_mistakes(rules)
    if mistakes:
        raise PlanError(list(dict.fromkeys(mistakes)))
    return rules


def missing_columns(rules: Iterable[Rule], names: Sequence[str], removed: Sequence[str] = ()) -> list[str]:
    """Say which rules need a column that is not in the table, or that is not in the release."""
    mistakes = []
    for rule in rules:
        told = f"rule '{rule.name}' ({rule.place})"
        unknown = [name for name in rule.variables if name not in names]
        if rule.in_file and any(not did_you_mean(name, names) for name in unknown):
            # names that resemble none of the table are perhaps no names of columns, and the file no file of rules
            told = counted(len(unknown), "column of the rule is", "columns of the rule are")
            mistakes.append(f"{rule.place}: {told} not in the table")
            continue
        for name in rule.variables:
            if name in unknown:
                mistakes.append(f"{told}: column '{name}' is not in the table{did_you_mean(name, names)}")
            elif name in removed:
                mistakes.append(f"{told}: column '{name}' is an identifier and not in the release; leave the rule out")
    return mistakes


def needs_original(rule: Rule) -> bool:
    """Whether a rule is about the values of the original."""
    if rule.schematron is not None and rule.schematron.documents:
        return True
    return rule.condition is not None and any(isinstance(node, Original | Unchanged) for node in walk(rule.condition))
