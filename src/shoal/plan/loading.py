"""Settings from YAML: a text or a file, not yet validated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from shoal.errors import FileError, PlanError


class _OnceEach(yaml.SafeLoader):
    """Reads YAML in which no setting may be given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise PlanError([f"setting '{name}' is given {names.count(name)} times; give it once" for name in twice])
        return super().construct_mapping(node, deep)


def plan_settings(text: str) -> dict[str, Any]:
    """Return the settings in a YAML text, not yet validated."""
    try:
        settings = yaml.load(text, _OnceEach)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise PlanError(f"the plan is not valid YAML{line}: {error.problem}") from None
    except yaml.YAMLError:
        raise PlanError("the plan is not valid YAML: it has characters that are not text") from None
    if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
        raise PlanError("the plan must be settings with their values, one a line, such as 'k: 5'")
    return settings


def load_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings in a YAML file, not yet validated."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileError(f"the plan '{path}' is not a text file") from None
    except OSError as error:
        raise FileError(f"cannot read the plan '{path}': {error.strerror}") from None
    return plan_settings(text)
