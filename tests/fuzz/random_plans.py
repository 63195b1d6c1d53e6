"""Random plans for the fuzzer: any method with any of its options, and every other setting, on a given table.

Most plans fit their table, so that most runs end in a file; the others show that what does not fit is refused. Methods,
options, aggregators and ways of blocking come from their lists in the code: a new one is drawn without a change here.
"""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

import shoal
from random_tables import LEVELS, TREE
from shoal.aggregate.categories import CATEGORY_AGGREGATORS
from shoal.aggregate.numbers import AGGREGATORS
from shoal.plan.blocking import Blocking
from shoal.plan.plan import Plan
from shoal.plan.roles import Kind

KIND = {
    "number": Kind.NUMERIC,
    "date": Kind.DATE,
    "nominal": Kind.NOMINAL,
    "coded": Kind.NOMINAL,
    "ordinal": Kind.ORDINAL,
    "semantic": Kind.SEMANTIC,
}
_BY_THE_CLOCK = ("time", "gap", "bound")  # options of seconds: what they come to is not the same twice
_QUICK = (  # on some thousands of records of any kind; beside these the index is tested by itself
    "optimal", "mdav", "mdav-single", "v-mdav", "tfrp", "ldf", "univariate", "individual-ranking", "mondrian",
    "mondrian-mixed", "mondrian-ordered", "sa-mondrian",
)  # fmt: skip
_FEW_STEPS = {"steps": 2000, "generations": 20}  # promises do not wait for the best groups


def words_of(model, field):
    """Return the words that a setting takes."""
    return [word for part in (model.model_fields[field].annotation,) for word in _texts(part)]


def _texts(annotation):
    if isinstance(annotation, str):
        return [annotation]
    return [text for part in get_args(annotation) for text in _texts(part)]


def _option(draw, option):
    if option.choices:
        return draw(st.sampled_from(option.choices))
    if option.kind is bool:
        return draw(st.booleans())
    if option.default is None and option.name not in _FEW_STEPS and draw(st.booleans()):
        return None
    least = option.least or 0
    most = min(option.most or float("inf"), _FEW_STEPS.get(option.name, least + 6))
    if option.kind is int:
        return draw(st.integers(int(least), int(most)))
    return draw(st.floats(least, most) | st.just(float(least)))


def _options(draw, method):
    found = {}
    for option in shoal.METHODS[method].options:
        if option.name not in _BY_THE_CLOCK and (option.name in _FEW_STEPS or draw(st.integers(0, 2)) == 0):
            found[option.name] = _option(draw, option)
    return found


def _sometimes(draw, one_in):
    return draw(st.integers(0, one_in - 1)) == 0


def _category_settings(draw, quasi, kinds):
    asked = {
        "hierarchies": {name: {"tree": TREE} for name in quasi if kinds[name] == "semantic"},
        "orders": {name: list(LEVELS) for name in quasi if kinds[name] == "ordinal"},
        "nominal": [name for name in quasi if kinds[name] == "coded"],
    }
    for name in [*asked["nominal"], *asked["orders"]]:
        if _sometimes(draw, 4):  # a hierarchy over codes or an order
            source = {"flat": True} if name in asked["nominal"] else {"order": asked["orders"].pop(name)}
            asked["hierarchies"][name] = source
    asked["nominal"] = [name for name in asked["nominal"] if name not in asked["hierarchies"]]
    for name in asked["hierarchies"]:
        if _sometimes(draw, 4):
            asked["hierarchies"][name]["distance"] = draw(st.sampled_from(["path", "information-content"]))
    return {name: value for name, value in asked.items() if value}


def _aggregators(draw, quasi, kinds, weight):
    found = {}
    for name in quasi:
        if not _sometimes(draw, 3):
            continue
        known = AGGREGATORS if kinds[name] in ("number", "date") else CATEGORY_AGGREGATORS
        fits = [
            key
            for key, one in known.items()
            if (weight or not one.needs_weights) and KIND[kinds[name]] in getattr(one, "kinds", tuple(Kind))
        ]
        found[name] = draw(st.sampled_from(fits))
    return found


def _decimals(draw, numbers):
    if not _sometimes(draw, 6):
        return {}
    names = draw(st.lists(st.sampled_from([*numbers, "*"]), max_size=2, unique=True))
    return {name: draw(st.sampled_from([0, 1, 3, "all"])) for name in names}


def _several_sets(draw, quasi):
    if len(quasi) < 2 or not _sometimes(draw, 5):
        return [quasi]
    cut = draw(st.integers(1, len(quasi) - 1))
    return [quasi[:cut], quasi[cut:]]


def _roles(draw, table):
    """Draw what the columns with a role by nature are asked to be."""
    asked = {}
    if table.weight and not _sometimes(draw, 6):
        asked["weight"] = table.weight
    if table.person:
        asked["identifiers"] = [table.person]
        asked["persons"] = draw(st.sampled_from([None, [table.person], []]))
    if table.strata and not _sometimes(draw, 6):
        asked["strata"] = list(table.strata)
        asked["small_strata"] = draw(st.sampled_from(words_of(Plan, "small_strata")))
    return asked


def _blocking(draw, k, quasi, numbers):
    found = {"method": draw(st.sampled_from(words_of(Blocking, "method")))}
    found["size"] = draw(st.sampled_from(["auto", 2 * k, 12]))
    if len(numbers) < len(quasi):
        found["columns"] = numbers[:1]
    found["repair"] = numbers == quasi and draw(st.booleans())
    return found


@st.composite
def plans(draw, table, large=False):
    """Draw the settings of a plan for a table; for a ``large`` one a method that is quick there."""
    kinds, n = table.kinds, len(table.frame)
    able = [name for name, kind in kinds.items() if kind in KIND]
    ruled = [name for name in able if name in ("ra", "rb", "rt")]
    others = [name for name in able if name not in ruled]
    quasi = draw(st.lists(st.sampled_from(others), min_size=0 if ruled else 1, max_size=4, unique=True))
    rules = bool(table.edits) and draw(st.booleans())
    quasi += ruled if rules else ruled[: draw(st.integers(0 if quasi else 1, len(ruled)))]
    wanted = {KIND[kinds[name]] for name in quasi}
    fits = [name for name, method in shoal.METHODS.items() if wanted <= set(method.kinds) and not method.needs]
    if large:
        method = draw(st.sampled_from([name for name in fits if name in _QUICK]))
    else:
        method = draw(st.sampled_from([None, *(fits if not _sometimes(draw, 12) else shoal.METHODS)]))
    known = shoal.METHODS[method] if method else None
    asked = {
        "k": draw(st.integers(2, max(2, min(5, n // 2))))
        if not _sometimes(draw, 20)
        else draw(st.sampled_from([n, n // 2 + 1, n + 1, 1])),
        "quasi_identifiers": [quasi] if rules else _several_sets(draw, quasi),
        "seed": draw(st.integers(0, 3)),
        "decimals": _decimals(draw, [name for name in quasi if kinds[name] == "number"]),
        **_category_settings(draw, quasi, kinds),
    }
    if large:
        asked["k"] = draw(st.sampled_from([2, 3, 5, 12, 15]))
    asked["method"] = method
    search = method or ("optimal" if wanted <= {Kind.NUMERIC, Kind.DATE} else "semantic-optimal")
    if method or _sometimes(draw, 2):
        asked["options"] = _options(draw, search)
    else:
        asked["options"] = {"steps": 500}
    if large and "steps" in asked["options"]:
        asked["options"]["steps"] = draw(st.sampled_from([0, n, 4 * n]))
    asked |= _roles(draw, table)
    kept = [name for name in table.frame.columns if name.startswith("kept")]
    if not _sometimes(draw, 4):
        asked["confidential"] = kept + [name for name in able if name not in quasi]
    asked["aggregators"] = _aggregators(draw, quasi, kinds, asked.get("weight"))
    if _sometimes(draw, 4):
        asked["scaling"] = draw(st.sampled_from(words_of(Plan, "scaling")))
    if _sometimes(draw, 4):
        asked["missing_patterns"] = draw(st.sampled_from(words_of(Plan, "missing_patterns")))
    if _sometimes(draw, 4) and (known is None or not known.refine_mistakes(len(quasi)) or _sometimes(draw, 8)):
        asked["refine"] = known is not None
    if _sometimes(draw, 4):
        asked["dominance"] = draw(
            st.sampled_from([{"p": 20}, {"n": 1, "share": 95, "action": "grow"}, {"p": 5, "action": "grow"}])
        )
    numbers = [name for name in quasi if kinds[name] in ("number", "date")]
    if numbers and _sometimes(draw, 4):
        asked["blocking"] = _blocking(draw, asked["k"], quasi, numbers)
    if (known is None or known.mixed) and search == "semantic-optimal" and _sometimes(draw, 5):
        asked["column_weights"] = {quasi[0]: draw(st.sampled_from([0.5, 3]))}
    if len(quasi) - len(numbers) > 1 and _sometimes(draw, 4):
        asked["combinations"] = "observed"
        asked["aggregators"] = {name: how for name, how in asked["aggregators"].items() if name in numbers}
    if rules:
        asked["rules"] = [edit.text for edit in table.edits]
    said = {name: value for name, value in asked.items() if value is not None and value not in ({}, [])}
    return said | ({"persons": []} if asked.get("persons") == [] else {})
