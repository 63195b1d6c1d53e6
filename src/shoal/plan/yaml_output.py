"""Settings as YAML, for readers of YAML 1.1 and for ours: a text that one of them takes for more stands in quotes."""

from __future__ import annotations

from typing import Any

import yaml

from shoal.plan.yaml_input import PlainLoader


class _QuotingDumper(yaml.SafeDumper):
    """Writes texts such as ``no``, ``010`` and ``1e-3`` in quotes."""


for _first, _patterns in PlainLoader.yaml_implicit_resolvers.items():
    for _tag, _pattern in _patterns:
        _QuotingDumper.add_implicit_resolver(_tag, _pattern, [_first])


def written_yaml(settings: dict[str, Any], **how: Any) -> str:
    """Return settings as a YAML text, in their order; ``how`` goes to ``yaml.dump``.

    >>> print(written_yaml({"k": 3, "strata": ["no", "1e-3", "b"]}, default_flow_style=None), end="")
    k: 3
    strata: ['no', '1e-3', b]
    """
    text: str = yaml.dump(settings, Dumper=_QuotingDumper, sort_keys=False, allow_unicode=True, **how)
    return text
