"""Schematron files to rules: ISO, the older namespace, or none; ``assert`` and ``report``, ``let``, patterns, contexts.

A pattern's rules are tried in order, and an element belongs to the first whose context it matches. Phases are not
applied: every pattern is active. What refers to other files or to XSLT is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.errors import PlanError, printable
from shoal.plan.limits import LARGEST_RULES
from shoal.plan.xml_input import parse_xml
from shoal.rules.expression import And, Condition, Implies, Not
from shoal.rules.rule import Rule, Schematron, name_mistakes
from shoal.rules.simplify import simplified
from shoal.rules.translation import NoTranslationError, Scope, translate
from shoal.rules.xpath import documents_of, for_engine, mistakes_of, names_of, parse_xpath

NAMESPACES = ("http://purl.oclc.org/dsdl/schematron", "http://www.ascc.net/xml/schematron", "")
_PREFIX = re.compile(r"[^\W\d][\w.-]*")
_INCLUDING = "http://www.w3.org/2001/XInclude"
_SCHEMA = "http://www.w3.org/2001/XMLSchema"
_REFUSED = {
    "include": "other files are not read; put the rules into one file",
    "extends": "abstract rules are not supported; write the rule out",
    "function": "XSLT functions are not supported",
    "key": "XSLT keys are not supported",
}
_MOST_LETS = 200  # variables in one place
_SILENT = ("title", "p", "ns", "phase", "diagnostics", "properties", "active", "let", "param")


@dataclass
class _Reading:
    """What is known of a file while it is read."""

    path: Path
    namespace: str
    prefixes: dict[str, str]
    mistakes: list[str] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)

    def place(self, element: Any) -> str:
        return f"{self.path.name}, line {element.sourceline}"

    def refuse(self, element: Any, message: str) -> None:
        self.mistakes.append(f"{self.place(element)}: {message}")


@dataclass(frozen=True)
class _Context:
    """Elements that a rule is about: their name, and conditions on them."""

    text: str
    element: str
    predicates: tuple[Any, ...]


def read_schematron(path: Path) -> list[Rule]:
    """Read the rules of a Schematron file; all mistakes are told at once."""
    root = parse_xml(path, "reading rules in Schematron", LARGEST_RULES)
    name, namespace = _named(root)
    if namespace not in NAMESPACES or name not in ("schema", "pattern"):
        raise PlanError(
            f"'{path}' is not Schematron: its first element must be 'schema' in the namespace {NAMESPACES[0]} or "
            f"{NAMESPACES[1]}"
        )
    prefixes = {"xs": _SCHEMA}
    state = _Reading(path, namespace, prefixes)
    for declaration in root.iter(_tag(namespace, "ns")):
        prefix, uri = declaration.get("prefix") or "", declaration.get("uri") or ""
        if _PREFIX.fullmatch(prefix) and uri:
            prefixes[prefix] = uri
        else:
            state.refuse(declaration, "<ns> needs a prefix, which is a name, and a uri")
    _check_elements(root, state)
    lets = _lets(root, {}, state)
    patterns = [root] if name == "pattern" else root.findall(_tag(namespace, "pattern"))
    for pattern in patterns:
        _read_pattern(pattern, _lets(pattern, lets, state) if pattern is not root else lets, state)
    if not state.rules and not state.mistakes:
        state.mistakes.append(f"'{path}' has no assert and no report, so no rule")
    state.mistakes += name_mistakes(state.rules)
    if state.mistakes:
        raise PlanError(list(dict.fromkeys(state.mistakes)))
    return state.rules


def _named(element: Any) -> tuple[str, str]:
    namespace, _, name = str(element.tag).rpartition("}")
    return name, namespace.lstrip("{")


def _tag(namespace: str, name: str) -> str:
    return f"{{{namespace}}}{name}" if namespace else name


def _check_elements(root: Any, state: _Reading) -> None:
    """Refuse what the file has and we do not read."""
    for element in root.iter("*"):
        name, namespace = _named(element)
        if (namespace in (state.namespace, _INCLUDING)) and name in _REFUSED:
            state.refuse(element, f"<{name}>: {_REFUSED[name]}")
        elif namespace != state.namespace and "XSL" in namespace:
            state.refuse(element, f"<{name}> is XSLT, which is not run")
        elif namespace == state.namespace and element.get("abstract") == "true":
            state.refuse(element, f"<{name} abstract='true'> is not supported; write the rules out")
        elif namespace == state.namespace and name == "pattern" and element.get("is-a"):
            state.refuse(element, "<pattern is-a='...'> is not supported; write the rules out")


def _lets(element: Any, outer: Mapping[str, tuple[str, Any]], state: _Reading) -> dict[str, tuple[str, Any]]:
    """Return the variables in scope inside an element, as text and token."""
    lets = dict(outer)
    for let in element.findall(_tag(state.namespace, "let")):
        name, value = let.get("name"), let.get("value")
        if not name or not value:
            state.refuse(let, "<let> needs a name and a value")
            continue
        if len(lets) >= _MOST_LETS:
            state.refuse(let, f"there are more than {_MOST_LETS} variables; write fewer")
            break
        token = _parsed(value, let, lets, state)
        if token is not None:
            lets[name] = (value, token)
    return lets


def _parsed(text: str, element: Any, lets: Mapping[str, Any], state: _Reading) -> Any:
    """Parse an XPath, or note what is wrong with it and return None."""
    try:
        token = parse_xpath(text, state.prefixes, state.place(element))
    except PlanError as error:
        state.mistakes += error.mistakes
        return None
    wrong = mistakes_of(token, frozenset(lets), state.place(element))
    state.mistakes += wrong
    return None if wrong else token


def _read_pattern(pattern: Any, lets: dict[str, tuple[str, Any]], state: _Reading) -> None:
    title = pattern.find(_tag(state.namespace, "title"))
    name = pattern.get("name") or ("".join(title.itertext()) if title is not None else "") or pattern.get("id") or ""
    name = " ".join(name.split())
    earlier: list[_Context] = []
    found: list[tuple[str | None, Rule]] = []
    for rule in pattern.findall(_tag(state.namespace, "rule")):
        context = _context(rule, state)
        if context is None:
            continue
        before = tuple(one for one in earlier if one.element == context.element)
        if any(not one.predicates and one.text == context.text for one in before):
            state.refuse(rule, "an earlier rule of the pattern has the same context, so this one never applies")
            continue
        inner = _lets(rule, lets, state)
        for test in rule:
            kind = _named(test)[0] if isinstance(test.tag, str) else ""
            if kind in ("assert", "report"):
                read = _read_test(test, kind == "report", context, before, inner, state)
                if read is not None:
                    found.append((test.get("id"), read))
            elif kind and kind not in _SILENT and kind not in _REFUSED:
                state.refuse(test, f"<{kind}> has no meaning inside a rule")
        earlier.append(context)
    unnamed = [rule for identity, rule in found if not identity]
    for identity, rule in found:
        own = name or rule.text
        number = f" ({unnamed.index(rule) + 1})" if len(unnamed) > 1 and not identity and name else ""
        state.rules.append(_renamed(rule, identity or own + number))


def _renamed(rule: Rule, name: str) -> Rule:
    return replace(rule, name=printable(name))


def _context(rule: Any, state: _Reading) -> _Context | None:
    text = rule.get("context")
    if not text:
        state.refuse(rule, "<rule> needs a context")
        return None
    try:
        token = parse_xpath(text, state.prefixes, state.place(rule))
    except PlanError as error:
        state.mistakes += error.mistakes
        return None
    predicates: list[Any] = []
    last = token
    if last.symbol in ("/", "//"):
        last = last[-1] if len(last) else last
    while last.symbol == "[":
        predicates.insert(0, last[1])
        last = last[0]
        if last.symbol in ("/", "//") and len(last):
            last = last[-1]
    name = str(last.value) if last.symbol == "(name)" else str(last[1].value) if last.symbol == ":" else ""
    if not name:
        state.refuse(rule, f"context '{printable(text)}': name the element that is a record or a value in it")
        return None
    wrong = mistakes_of(token, frozenset(), state.place(rule), rooted=True)
    if documents_of(token):
        wrong.append(f"{state.place(rule)}: a context has no document() in it")
    if any(predicate.symbol in ("(integer)", "(decimal)", "(float)") for predicate in predicates):
        wrong.append(f"{state.place(rule)}: a rule is about all records, not about one by its position")
    if wrong:
        state.mistakes += wrong
        return None
    return _Context(text, name, tuple(predicates))


def _read_test(
    test: Any,
    report: bool,
    context: _Context,
    before: tuple[_Context, ...],
    lets: Mapping[str, tuple[str, Any]],
    state: _Reading,
) -> Rule | None:
    text = test.get("test")
    if not text:
        state.refuse(test, f"<{'report' if report else 'assert'}> needs a test")
        return None
    try:
        token = _parsed(text, test, lets, state)
    except RecursionError:
        state.refuse(test, "the test is too long; use sum((A, B, ...)), or several rules")
        return None
    for shown in test.iter(_tag(state.namespace, "value-of")):
        if not shown.get("select"):
            state.refuse(shown, "<value-of> needs a select")
        else:
            _parsed(shown.get("select"), shown, lets, state)
    if token is None:
        return None
    tokens = {name: parsed for name, (_, parsed) in lets.items()}
    about_value = any(part.symbol in (".", "..") and part.label != "literal" for part in _outer(token))
    about_value |= any(_outer_uses_item(tokens[str(p.value)]) for p in token.iter() if _is_let(p, tokens))
    condition = _condition(token, report, context, before, tokens, about_value)
    used = _used_lets(token, tokens)
    names = [name for part in (token, *(tokens[name] for name in used)) for name in names_of(part, tokens)]
    names = [*([context.element] if about_value else []), *names]
    documents = [name for part in (token, *(tokens[name] for name in used)) for name in documents_of(part)]
    return Rule(
        name="",
        condition=condition,
        text=" ".join(text.split()),
        place=state.place(test),
        notation="schematron",
        schematron=Schematron(
            context=context.text,
            element=context.element,
            about_value=about_value,
            lets=tuple((name, for_engine(lets[name][0], lets[name][1])) for name in used),
            test=for_engine(text, token),
            negated=report,
            before=tuple(one.text for one in before),
            namespaces=tuple(sorted(state.prefixes.items())),
            documents=tuple(dict.fromkeys(documents)),
        ),
        in_file=True,
        only_engine=() if condition is not None else tuple(dict.fromkeys(names)),
    )


def _condition(
    token: Any,
    report: bool,
    context: _Context,
    before: tuple[_Context, ...],
    lets: Mapping[str, Any],
    about_value: bool,
) -> Condition | None:
    """Return the condition of a test, with those of its context before it; None where there is no translation."""
    scope = Scope(context.element if about_value else None, lets)
    if any(not one.predicates for one in before):
        return None  # whether a path as a context matches an element is left to the engine
    try:
        condition = translate(token, scope)
        when = [translate(predicate, scope) for predicate in context.predicates]
        for one in before:
            matched = tuple(translate(predicate, scope) for predicate in one.predicates)
            when.append(Not(And(matched)))
    except NoTranslationError:
        return None
    except RecursionError:
        raise PlanError("a test is too long; use sum((A, B, ...)), or several rules") from None
    held: Condition = Not(condition) if report else condition
    if when:
        held = Implies(when[0] if len(when) == 1 else And(tuple(when)), held)
    return simplified(held)


def _outer(token: Any) -> list[Any]:
    """Return the parts of an expression that stand in its own context: not the predicates and later steps in it."""
    found = [token]
    if token.symbol in ("/", "//", "["):
        return found + (_outer(token[0]) if len(token) and token[0].symbol != "." else [])
    for part in token:
        found += _outer(part)
    return found


def _outer_uses_item(token: Any) -> bool:
    return any(part.symbol in (".", "..") for part in _outer(token))


def _is_let(token: Any, lets: Mapping[str, Any]) -> bool:
    return token.symbol == "$" and str(token.value) in lets


def _used_lets(token: Any, lets: Mapping[str, Any]) -> list[str]:
    """Return the variables that an expression needs, those that they need before them."""
    used: dict[str, None] = {}
    waiting = [(name, False) for name in _lets_in(token, lets)][::-1]
    while waiting:
        name, ready = waiting.pop()
        if ready:
            used[name] = None
        elif name not in used:
            inner = [(below, False) for below in _lets_in(lets[name], lets) if below not in used]
            waiting += [(name, True), *inner[::-1]]
    return list(used)


def _lets_in(token: Any, lets: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(str(part.value) for part in token.iter() if _is_let(part, lets)))
