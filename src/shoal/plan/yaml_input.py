"""YAML from outside, read with nothing switched on: no aliases, no deep nesting, no tags of Python, no huge numbers.

The events of the parser are looked at before anything is built: aliases are what makes gigabytes of a few lines, and
nesting is what ends the stack. Messages show lines by number and none of what stands in them.

Words and codes stay what they are: of what YAML 1.1 takes for something else, only numbers in decimals, ``true``,
``false`` and nothing are left, nearly as in the core schema of YAML 1.2. A column may be called ``no`` or ``on``, a
code be ``010`` (not 8), ``1:30`` (not 90) or ``2020-01-01``, and ``1e-3`` is a number.
"""

from __future__ import annotations

import re

import yaml

from shoal.plan.limits import DEEPEST_YAML, LONGEST_NUMBER

_NAMING = ("alias", "anchor", "tag")  # reasons of the parser with these words quote what stands in the text
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class PlainLoader(yaml.SafeLoader):
    """Reads scalars as text unless they are plainly a number, true, false or nothing."""


PlainLoader.yaml_implicit_resolvers = {}
_DECIMAL = r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
for _tag, _pattern, _first in (
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),  # before floats: the first that fits is taken
    ("float", rf"{_DECIMAL}|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+.0123456789"),
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    PlainLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


class YamlMistake(Exception):  # noqa: N818 - becomes a PlanError or DataError with what the YAML is
    """What is wrong with a text in YAML, as the end of a sentence."""


def compose(text: str, loader: type[yaml.BaseLoader] | type[yaml.SafeLoader]) -> yaml.Node | None:
    """Return the nodes of a YAML text, or raise YamlMistake.

    >>> [node.tag for node in compose("[1, 010, no]", PlainLoader).value]
    ['tag:yaml.org,2002:int', 'tag:yaml.org,2002:str', 'tag:yaml.org,2002:str']
    """
    try:
        _check_events(text, loader)
        top: yaml.Node | None = yaml.compose(text, loader)
    except yaml.MarkedYAMLError as error:
        raise YamlMistake(told(error)) from None
    except yaml.YAMLError:
        raise YamlMistake("is not valid YAML: it has characters that are not text") from None
    except (ValueError, OverflowError):  # an escape such as \UFFFFFFFF, which stands for no character
        raise YamlMistake("is not valid YAML: it has an escape that stands for no character") from None
    if top is not None:
        _check_numbers(top)
    return top


def told(error: yaml.MarkedYAMLError) -> str:
    """Say where a text is not valid YAML, and why, with none of the names that stand there."""
    line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
    reason = error.problem or ""
    shown = reason and not any(word in reason for word in _NAMING)
    return f"is not valid YAML{line}{': ' + reason if shown else ''}"


def _check_events(text: str, loader: type[yaml.BaseLoader] | type[yaml.SafeLoader]) -> None:
    depth = 0
    for event in yaml.parse(text, loader):
        line = _line_of(event)
        if isinstance(event, yaml.AliasEvent):
            raise YamlMistake(f"has a YAML alias (*name) in line {line}; write out what it stands for")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST_YAML:
                raise YamlMistake(f"is nested more than {DEEPEST_YAML} levels deep in line {line}; make it flatter")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _line_of(place: yaml.Event | yaml.Node) -> int:
    """Return the line, from 1, of something that was read from a text, which always has a mark."""
    mark = place.start_mark
    assert mark is not None  # only what a program made has none
    return mark.line + 1


def _check_numbers(top: yaml.Node) -> None:
    """Refuse numbers that are longer than any computer counts with: to read them takes a while, too."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise YamlMistake(
                f"has a number of more than {LONGEST_NUMBER} characters in line {_line_of(node)}; write a shorter one"
            )
