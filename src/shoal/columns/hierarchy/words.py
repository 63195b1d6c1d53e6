"""Files that give the values of a column their words: ``value;word`` rows in CSV, or ``value: word`` in YAML."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from shoal.columns.hierarchy.rows import MARKS
from shoal.errors import DataError, FileError
from shoal.plan.delimited import find_delimiter
from shoal.plan.limits import LARGEST_HIERARCHY, LARGEST_YAML, read_small

_HEADER = ["value", "word"]


def read_words(path: Path) -> dict[str, str]:
    """Return the word of each value in a file; a first row ``value;word`` is a header."""
    nested = path.suffix.lower() in (".yaml", ".yml")
    try:
        text = read_small(path, "the words", LARGEST_YAML if nested else LARGEST_HIERARCHY).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"the words '{path}' are not in UTF-8") from None
    pairs = _in_yaml(text) if nested else _in_rows(text)
    words: dict[str, str] = {}
    mistakes = []
    for place, pair in pairs:
        if pair is None:
            mistakes.append(f"line {place}: write a value and its word")
        elif pair[0] in words:
            mistakes.append(f"line {place}: the value has a word already; give it one")
        else:
            words[pair[0]] = pair[1]
    if mistakes:
        raise DataError([f"words '{path.name}': {mistake}" for mistake in mistakes])
    return words


_Pairs = list[tuple[int, tuple[str, str] | None]]  # line, and value and word where they are there


def _in_rows(text: str) -> _Pairs:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=find_delimiter(text, MARKS, ragged=True))
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(cell.strip() for cell in row)]
    if rows and [cell.lower() for cell in rows[0][1]] == _HEADER:
        rows = rows[1:]
    return [(line, (row[0], row[1]) if len(row) == 2 and all(row) else None) for line, row in rows]


def _in_yaml(text: str) -> _Pairs:
    import yaml

    from shoal.plan.yaml_input import YamlMistake, compose

    try:
        top = compose(text, yaml.BaseLoader)
    except YamlMistake:
        raise DataError("the words are not valid YAML; write them as value: word, one a line") from None
    if not isinstance(top, yaml.MappingNode):
        raise DataError("the words must be values with their words, one a line, such as 'Hong: hong_kong'")
    found: _Pairs = []
    for key, value in top.value:
        scalars = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode) and key.value and value.value
        found.append((key.start_mark.line + 1, (key.value, value.value) if scalars else None))
    return found
