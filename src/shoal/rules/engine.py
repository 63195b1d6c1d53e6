"""Rules in Schematron run by an engine that is not ours: Saxon, XSLT 3 and XPath 3.1, through saxonche.

Each rule becomes a template whose match is the rule's context and which writes the number of the record where the test
fails, as Schematron's own skeleton does. Records come in small documents, one after another, so that memory
stays bounded. ``document('...')`` is a variable with the values of the original, each once. The engine is a process of
its own, see :mod:`shoal.rules.engine_process`, which is ended when it takes too long.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from shoal.errors import DataError, MissingExtra, PlanError, counted, listed
from shoal.kernels.arrays import Ints
from shoal.plan.limits import ENGINE_SECONDS
from shoal.plan.xml_input import lxml_etree
from shoal.rules.engine_process import EngineError, EngineTimeout, engine_process
from shoal.rules.expression import Original
from shoal.rules.rule import Rule, Schematron
from shoal.rules.xpath import CURRENT, ORIGINAL

_ALONE = threading.Lock()  # there is one process of the engine; sweeps come in several threads
_NAMED = 5  # rules that a message names
_XSL = "http://www.w3.org/1999/XSL/Transform"
_ERRORS = "http://www.w3.org/2005/xqt-errors"
_STATIC = re.compile(r"[A-Z]{4}\d{4}\s+(.*)")


def engine_violations(
    rules: Sequence[Rule], documents: Iterable[tuple[str, int]], original: str, numbers: Ints | None = None
) -> dict[str, Ints]:
    """Return the rows in which each rule fails, by name.

    Parameters
    ----------
    rules : sequence of Rule
        Rules from Schematron.
    documents : iterable of (str, int)
        Documents of records, one after another, with the number of records in each.
    original : str
        The document that stands for the original data.
    numbers : int64 (records,), optional
        Row of the table that each record of the documents is, for messages; where records that are equal come once.
    """
    found: dict[str, list[Ints]] = {rule.name: [] for rule in rules}
    with _ALONE:
        _ask(rules, sheet=_stylesheet(rules), original=original, parameter=ORIGINAL)
        first = 0
        for text, count in documents:
            told = _marks(_ask(rules, document=text))
            rows_of = np.arange(first, first + count) if numbers is None else numbers[first : first + count]
            _check_errors(rules, told, rows_of)
            if first == 0:
                _check_contexts(rules, told)
            for i, rule in enumerate(rules):
                rows = np.asarray(told.get(f"r{i}", []), dtype=np.int64)
                found[rule.name].append(np.unique(rows) - 1 + first)
            first += count
    return {name: np.concatenate(rows) if rows else np.empty(0, np.int64) for name, rows in found.items()}


def check_engine(rules: Sequence[Rule]) -> None:
    """Refuse rules that the engine does not understand, all at once."""
    mistakes = []
    with _ALONE:
        for rule in rules:
            try:
                _ask([rule], sheet=_stylesheet([rule]))
            except PlanError as error:
                mistakes += error.mistakes
    if mistakes:
        raise PlanError(mistakes)


def _ask(rules: Sequence[Rule], **question: str) -> str:
    """Return what the engine writes; its own words are about a stylesheet, never about a document, which has cells."""
    if find_spec("saxonche") is None:
        raise MissingExtra("checking rules in Schematron", "rules")
    told = f"rule{'s' if len(rules) > 1 else ''} {listed([rule.name for rule in rules], _NAMED)}"
    try:
        return engine_process().ask(ENGINE_SECONDS, **question)
    except EngineTimeout:
        raise PlanError(
            f"the engine took more than {ENGINE_SECONDS:g} seconds for {told}, and was stopped; a regular expression "
            "or a loop in there may have no end"
        ) from None
    except EngineError as error:
        if "document" in question:
            raise DataError(f"the engine cannot run {told} on the records") from None
        reason = _STATIC.search(str(error))
        why = reason.group(1).strip() if reason else "it is not valid XPath"
        place = f"{rules[0].place}: " if len(rules) == 1 else ""
        raise PlanError(f"{place}{told} cannot be run by the engine: {why}") from None


def _marks(out: str) -> dict[str, list[int]]:
    """Return the rows by rule, and by ``f`` and rule those in which it was tried."""
    told: dict[str, list[int]] = {}
    for line in out.split():
        mark, _, row = line.partition(":")
        told.setdefault(mark, []).append(int(row))
    return told


def _check_errors(rules: Sequence[Rule], told: dict[str, list[int]], numbers: Ints) -> None:
    """Refuse rules that the engine cannot evaluate in some records."""
    reasons = []
    for mark, rows in told.items():
        if mark[0] == "e":
            number, _, code = mark[1:].partition("-")
            reasons.append(
                f"rule '{rules[int(number)].name}' cannot be evaluated in at least {counted(len(rows), 'record')}, the "
                f"first is record {numbers[rows[0] - 1] + 1} (error {code} of the engine): a value is not what the "
                "rule takes it for; test that first, as in V1 castable as xs:double"
            )
    if reasons:
        raise DataError(reasons)


def _check_contexts(rules: Sequence[Rule], told: dict[str, list[int]]) -> None:
    """Refuse contexts without conditions that match nothing in the first records: the rule would say nothing."""
    mistakes = []
    for i, rule in enumerate(rules):
        own = rule.schematron
        if own and "[" not in own.context and not own.before and not own.about_value and f"f{i}" not in told:
            mistakes.append(
                f"{rule.place}: context '{own.context}' matches no record of the data; write it as the data has it"
            )
    if mistakes:
        raise PlanError(list(dict.fromkeys(mistakes)))


def _stylesheet(rules: Sequence[Rule]) -> str:
    """Return a stylesheet that writes ``r<rule>:<record>`` for each record that breaks a rule."""
    etree = lxml_etree("checking rules in Schematron")
    spaces = {prefix: uri for rule in rules if rule.schematron for prefix, uri in rule.schematron.namespaces if prefix}
    sheet = etree.Element(f"{{{_XSL}}}stylesheet", nsmap={"xsl": _XSL, "shoal-error": _ERRORS, **spaces}, version="3.0")
    _add(etree, sheet, "output", method="text")
    _add(etree, sheet, "param", name=ORIGINAL)
    root = _add(etree, sheet, "template", match="/")
    records = _add(etree, root, "for-each", select="*/*")
    for i, rule in enumerate(rules):
        own = rule.schematron
        if own is None:
            raise TypeError("only rules from Schematron are run by the engine")
        select = "*" if own.about_value else "."
        _add(etree, records, "apply-templates", select=select, mode=f"m{i}").append(_row(etree))
        _add(etree, sheet, "template", match="*", mode=f"m{i}", priority="-9")
        for place, context in enumerate(own.before):
            _add(etree, sheet, "template", match=context, mode=f"m{i}", priority=str(900 - place))
        _test(etree, sheet, i, rule, own)
    return str(etree.tostring(sheet, encoding="unicode"))


def _test(etree: Any, sheet: Any, i: int, rule: Rule, own: Schematron) -> None:
    template = _add(etree, sheet, "template", match=own.context, mode=f"m{i}", priority="1")
    _add(etree, template, "param", name="shoal-row", tunnel="yes")
    fired = _add(etree, template, "if", test="$shoal-row = 1")
    _add(etree, fired, "value-of", select=f"concat('f{i}:', $shoal-row, ' ')")
    # an error that reaches the engine's caller has been printed by it, with the cell that caused it
    tried = _add(etree, template, "try")
    _add(etree, tried, "variable", name=CURRENT, select=".")
    for name, value in own.lets:
        _add(etree, tried, "variable", name=name, select=value)
    test = own.test
    if isinstance(rule.condition, Original):
        # the same as index-of over the values of the original, by a hash and not by a search
        name = rule.condition.name
        node = "." if own.about_value else name
        key = f"shoal-domain-{i}"
        _add(etree, sheet, "key", name=key, match=f"*[local-name() = '{name}']", use="string()")
        local = f"*[local-name() = '{name}']" if node != "." else "."
        test = f"exists({local}[key('{key}', string(), ${ORIGINAL})])"
    broken = test if own.negated else f"not({test})"
    hit = _add(etree, tried, "if", test=broken)
    _add(etree, hit, "value-of", select=f"concat('r{i}:', $shoal-row, ' ')")
    caught = _add(etree, tried, "catch", errors="*")
    code = "local-name-from-QName($shoal-error:code)"
    _add(etree, caught, "value-of", select=f"concat('e{i}-', {code}, ':', $shoal-row, ' ')")


def _row(etree: Any) -> Any:
    return etree.Element(f"{{{_XSL}}}with-param", name="shoal-row", select="position()", tunnel="yes")


def _add(etree: Any, parent: Any, tag: str, /, **attributes: str) -> Any:
    return etree.SubElement(parent, f"{{{_XSL}}}{tag}", **attributes)
