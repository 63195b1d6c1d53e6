"""Pages of the reference that are made from the code: API, support table, errors, schema of a plan, llms.txt."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
import shoal.errors
from shoal.plan.roles import Kind

_SECTION = re.compile(r"^(\w[\w ]+)\n-{3,}$", re.MULTILINE)


def api_page() -> str:
    """Return the public names with their signatures and docstrings."""
    from shoal.sklearn import Microaggregator

    parts = ["# Python API\n\nEvery public name, from its docstring. `import shoal` loads each when it is first used."]
    for name in sorted(shoal.__all__, key=lambda own: (own != "protect", own.isupper(), own.lower())):
        parts += _entry(name, getattr(shoal, name), f"shoal.{name}")
    parts += _entry("Microaggregator", Microaggregator, "shoal.sklearn.Microaggregator")
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any, full: str) -> list[str]:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        names = ", ".join(f"`{one}`" for one in value) if isinstance(value, dict) else f"`{value}`"
        return [f"## {name}", f"`{full}`, a {type(value).__name__}: {names}."]
    parts = [f"## {name}"]
    if inspect.isfunction(value):
        parts.append(f"```text\n{full}{_signature(value)}\n```")
    parts.append(_docstring(value))
    if inspect.isclass(value) and value.__module__.startswith("shoal"):
        for own, method in vars(value).items():
            if not own.startswith("_") and inspect.isfunction(method) and method.__doc__:
                parts += [f"### {name}.{own}", f"```text\n{own}{_signature(method)}\n```", _docstring(method)]
    return parts


def _signature(function: Any) -> str:
    own = inspect.signature(function)
    lines = [str(one) for one in own.parameters.values() if one.name != "self"]
    returns = "" if own.return_annotation is inspect.Signature.empty else f" -> {own.return_annotation}"
    flat = f"({', '.join(lines)}){returns}"
    return flat if len(flat) < 90 else "(\n    " + ",\n    ".join(lines) + f",\n){returns}"


def _docstring(value: Any) -> str:
    """Return a numpydoc docstring as Markdown."""
    text = inspect.getdoc(value) or ""
    text = _SECTION.sub(r"**\1**\n", text).replace("``", "`")
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith(">>>") and not inside:
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        entry = re.match(r"^([\w, *]+) : (.+)$", line)
        if not inside and entry:
            lines.append(f"\n`{entry[1]}` : {entry[2]}\n")
        elif not inside and line.startswith("    "):
            lines.append(f":   {line.strip()}" if lines and lines[-1].endswith("\n") else f"    {line.strip()}")
        else:
            lines.append(line)
    return "\n".join([*lines, *(["```"] if inside else [])])


def support_page() -> str:
    """Return which method does what, from the registry and by trying it on a small table."""
    head = "| method | " + " | ".join(_TRIED) + " |\n|---|" + ":-:|" * len(_TRIED)
    listing = (Path(__file__).parents[2] / "docs" / "methods" / "README.md").read_text(encoding="utf-8")
    pages = dict(re.findall(r"^\| \[`([\w-]+)`\]\((\S+?)\)", listing, re.MULTILINE))
    rows = []
    for name, method in shoal.METHODS.items():
        cells = ["yes" if tried(name, method) else "" for tried in _TRIED.values()]
        rows.append(f"| [`{name}`](../methods/{pages[name]}) | " + " | ".join(cells) + " |")
    return _SUPPORT + head + "\n" + "\n".join(rows) + "\n"


_SUPPORT = """# What each method supports

Made from the registry of methods; where that does not say, by protecting a small table. All methods run on threads
where a table is cut into blocks, and all promises hold for all of them. Conditions are those on [confidential
columns](../conditions.md#what-a-group-gives-away); [engines](../engines.md) take blocks one by one.

"""


_TOGETHER = {"missing": True, "weight": "w", "strata": "s", "rules": ["a >= -9"]}


@cache
def _takes_all(name: str) -> bool:
    return _runs(name, **_TOGETHER)


def _works(name: str, **settings: Any) -> bool:
    """Whether a method takes some settings; what it takes all together, it takes one by one."""
    return (set(settings) <= set(_TOGETHER) and _takes_all(name)) or _runs(name, **settings)


def _runs(name: str, **settings: Any) -> bool:
    random = np.random.default_rng(0)
    numbers = random.normal(size=(60, 2)).round(3)
    table = pl.DataFrame(
        {"a": numbers[:, 0], "b": numbers[:, 1], "w": random.uniform(1, 3, 60).round(3), "s": [0, 1] * 30}
    )
    if settings.pop("missing", False):
        table = table.with_columns(pl.when(pl.int_range(60) % 9 == 0).then(None).otherwise("a").alias("a"))
    kinds = shoal.METHODS[name].kinds
    columns = ["a", "b"] if Kind.NUMERIC in kinds and shoal.METHODS[name].several_columns else ["a"]
    if Kind.NUMERIC not in kinds:
        return False
    if shoal.METHODS[name].search:
        settings["options"] = {"steps": 100}  # whether it runs, not how well
    try:
        shoal.protect(table, 3, columns, method=name, **settings)
    except (shoal.PlanError, shoal.DataError):
        return False
    return True


_TRIED = {
    "numbers and dates": lambda name, method: Kind.NUMERIC in method.kinds,
    "ordinal": lambda name, method: Kind.ORDINAL in method.kinds,
    "nominal and hierarchies": lambda name, method: Kind.NOMINAL in method.kinds,
    "missing values": lambda name, method: _works(name, missing=True),
    "sampling weights": lambda name, method: _works(name, weight="w"),
    "strata": lambda name, method: _works(name, strata="s"),
    "edit rules": lambda name, method: _works(name, rules=["a >= -9"]),
    "blocking": lambda name, method: _works(name, blocking={"method": "spread-tree", "size": 20}),
    "refinement": lambda name, method: not method.refine_mistakes(2),
    "search with time and bound": lambda name, method: bool(method.search),
    "conditions": lambda name, method: _works(name, confidential="s", conditions={"s": {"distinct": 2}}),
    "engines": lambda name, method: _works(name, engine="memory", blocking={"method": "2d-tree", "size": 20}),
    "seed": lambda name, method: method.seeded,
}


def errors_page() -> str:
    """Return the exceptions with what they mean and how a command ends."""
    named = [
        value for value in vars(shoal.errors).values() if inspect.isclass(value) and issubclass(value, shoal.ShoalError)
    ]
    parts = [
        "# Errors\n\nEvery error of shoal says what is wrong and what to do, and names no value of a cell. All are "
        "`shoal.ShoalError`. How a command ends: [Exit statuses](../command-line.md#exit-statuses)."
    ]
    said = messages(Path(inspect.getfile(shoal)).parent)
    for one in named:
        if not one.__name__.startswith("_"):
            above = ", ".join(f"`{base.__name__}`" for base in one.__mro__[1:-1] if not base.__name__.startswith("_"))
            parts.append(f"## {one.__name__}\n\n{inspect.getdoc(one)}\n\nIs also: {above}.")
            own = said.get(one.__name__, ())
            parts += (
                ["What it says, with `...` for names and numbers:", "\n".join(f"- `{text}`" for text in own)]
                if own
                else []
            )
    return "\n\n".join(parts) + "\n"


@cache
def messages(package: Path) -> dict[str, list[str]]:
    """Return what each exception says where it is raised, read from the source, with ... for what is put in.

    >>> found = messages(Path(inspect.getfile(shoal)).parent)
    >>> "... is a folder; name a file in it, or remove it" in found["FileError"]
    True
    """
    found: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args:
                text = _template(call.args[0])
                if len(text.replace("...", "")) > 12:  # nothing but what is put in says nothing
                    found.setdefault(call.func.id, set()).add(text)
    return {name: sorted(texts, key=lambda text: text.lstrip("'. ").lower()) for name, texts in found.items()}


def _template(node: ast.expr) -> str:
    """Return a text of the source, with ... for what is put in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(one.value if isinstance(one, ast.Constant) else "..." for one in node.values)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        text = _template(node.left) + _template(node.right)
    elif isinstance(node, ast.List | ast.ListComp):
        inside = node.elts if isinstance(node, ast.List) else [node.elt]
        text = "; ".join(filter(None, map(_template, inside)))
    else:
        text = ""
    return re.sub(r"'\.\.\.'|\.{3,}", "...", text.replace("`", "'")).strip()


def plan_schema() -> dict[str, Any]:
    """Return the JSON schema of a plan, with which editors complete and check plan.yaml."""
    schema = shoal.Plan.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Plan of shoal"}


def llms_text(docs: Path) -> str:
    """Return what programs that read documentation are given: each page with its first sentence."""
    lines = [
        "# shoal",
        "",
        "> Microaggregation in Python: every record of a release shares its values with k - 1 others.",
        "",
    ]
    for path in sorted(docs.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        first = re.search(r"^(?![#!<|`\-\s>])(.+?[.:])(?:\s|$)", text, re.MULTILINE | re.DOTALL)
        if title:
            told = " ".join(first[1].split()) if first else ""
            lines.append(f"- [{title[1]}]({path.relative_to(docs).as_posix()}): {told}")
    return "\n".join(lines) + "\n"
