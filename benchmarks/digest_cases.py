"""The cases of benchmarks/digests.py that make a release: methods, options and settings on the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

import shoal
from digest_tables import FOLDER, JOBS, TABLES, adult_hierarchies, table

STEPS = 20_000  # of a search: a number of steps repeats it, a time does not
# values off the default of options that are neither true or false nor a choice
VALUES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("optimal", "steps"): (0, 3000),
    ("optimal", "time"): (0.2,),
    ("optimal", "gap"): (1.0,),
    ("optimal", "bound"): (0.2,),
    ("v-mdav", "gamma"): (0.0, 1.1),
    ("iv-mdav", "gamma"): (0.8, 2.0),
    ("iv-mdav", "candidates"): (3,),
    ("iv-mdav", "outlier"): (1.5,),
    ("fuzzy-c-means", "fuzziness"): (1.05, 2.0),
    ("fuzzy-c-means", "clusters"): (2, 25),
    ("two-step-ga", "part"): (2, 9),
    ("two-step-ga", "population"): (6,),
    ("two-step-ga", "generations"): (30,),
    ("semantic-optimal", "steps"): (0, 3000),
    ("semantic-optimal", "time"): (0.2,),
    ("sa-mdav", "rare"): (2,),
    ("sa-mdav-static", "rare"): (2,),
    ("k-modes", "rounds"): (1, 3),
}
# options in seconds, or whose end depends on them: on tables where the best groups are found at once, without a search
AT_ONCE = {
    ("optimal", "time"): "one-column",
    ("optimal", "gap"): "one-column",
    ("optimal", "bound"): "one-column",
    ("semantic-optimal", "time"): "few-kinds",
}
KS: dict[str, tuple[int, ...]] = {
    "four": (2, 3, 5),
    "nine": (2, 3, 5),
    "small": (2, 3, 5, 10),
    "one-column": (2, 3, 5, 10),
}
TOO_LARGE = ("many-missing",)  # for most methods; a table of so many gets blocks where their size is left to shoal
OPTION_TABLES = ("tarragona", "ties", "missing", "mixed", "adult-ordered")
SCALINGS = ("z-score", "range", "robust", "none")
AGGREGATORS = ("mean", "median", "geometric-mean", "trimmed-mean", "mode", "weighted-mean")
CATEGORY_AGGREGATORS = (
    "centroid", "least-squares", "least-common-subsumer", "median", "convex-median", "mode", "weighted-plurality",
)  # fmt: skip
BLOCKINGS = ("2d-tree", "spread-tree", "univariate", "equal-counts", "fixed-counts")
RULES: dict[str, list[str]] = {
    "total": ["costs = wages + other"],
    "product": ["tax = sales * rate"],
    "ratio": ["rate = tax / sales within 0.001"],
    "bounds": ["0 <= rate <= 0.4", "staff in {0, 1, 2, 3}"],
    "governed": ["if staff = 0 then bonus = 0"],
    "original": ["wages from original", "staff is integer"],
    "all": ["costs = wages + other", "tax = sales * rate", "wages >= 0", "if staff = 0 then bonus = 0", "rate <= 0.4"],
}
SOURCES: dict[str, dict[str, Any]] = {
    "tree by path": {"job": {"tree": JOBS, "distance": "path"}},
    "tree by information": {"job": {"tree": JOBS, "distance": "information-content"}},
    "flat": {"job": {"flat": True}, "town": {"flat": True}},
    "order": {"level": {"order": ["none", "primary", "secondary", "higher", "doctorate"]}, "job": {"tree": JOBS}},
    "intervals of numbers": {"age": {"intervals": [5, 10, 40]}, "job": {"tree": JOBS}},
    "intervals": {"age": {"intervals": [5, 10, 40]}, "job": {"tree": JOBS}},
}


@dataclass(frozen=True)
class Case:
    """Something to run: it returns a release, or figures by name.

    Attributes
    ----------
    name : str
        Table, method and what else was asked for.
    run : callable
        Runs it.
    method, options
        What it shows, where it makes a release.
    """

    name: str
    run: Callable[[], Any]
    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def word(value: Any) -> str:
    """Return a setting in the name of a case, without the signs that a glob pattern takes for others."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{word(part)}" for name, part in value.items())
    return "+".join(map(word, value)) if isinstance(value, list | tuple) else str(value)


def release_case(
    name: str, k: int | None, method: str | None, *, data: Any = None, said: str | None = None, **asked: Any
) -> Case:
    """Return the case of a release; ``said`` names settings that are too long for its name."""
    options = dict(asked.pop("options", {}))
    if method in shoal.METHODS and "steps" in _option_names(method) and not {"time", "gap", "bound"} & set(options):
        options.setdefault("steps", STEPS)
    told = {**{f"-{option}": value for option, value in options.items()}, **asked} if said is None else {}
    words = [name, method or "nothing said", f"k={k}", *(f"{n}={word(v)}" for n, v in told.items())]
    settings = {"method": method, "options": options or None, "threads": 1, **asked}
    full = "|".join([*words, said] if said else words)
    return Case(full, partial(_protect, name, data, k, settings), method, options)


def _protect(name: str, data: Any, k: int | None, settings: Mapping[str, Any]) -> shoal.Release:
    chosen = table(name)
    return shoal.protect(data(chosen.data) if data else chosen.data, k, **{**chosen.asked, **settings})


def _option_names(method: str) -> list[str]:
    return [option.name for option in shoal.METHODS[method].options]


def release_cases() -> Iterator[Case]:
    """Return the cases that make a release, those that belong together one after the other."""
    for part in (
        _methods, _options, _refined, _scalings, _aggregators, _combinations, _blocking, _strata, _rules, _categories,
        _seeds, _threads, _libraries, _mistakes,
    ):  # fmt: skip
        yield from part()


def _methods() -> Iterator[Case]:
    """Every method on every table, and what is done where no method is named."""
    for name in TABLES:
        for method in shoal.METHODS if name not in TOO_LARGE else ():
            yield from (release_case(name, k, method) for k in KS.get(name, (3, 5)))
    for name in ("small", "example", "sets", "one-column", "mixed", "adult-meaning", "few-kinds"):
        yield release_case(name, 3, None)


def off_default(method: str, option: Any) -> tuple[Any, ...]:
    """Return values of an option other than its default, or raise LookupError where nothing says which."""
    if (method, option.name) in VALUES:
        return VALUES[method, option.name]
    if option.kind is bool:
        return (not option.default,)
    if option.choices:
        return tuple(choice for choice in option.choices if choice != option.default)
    raise LookupError(f"option '{option.name}' of method '{method}' has no case: give values for it in VALUES")


def _options() -> Iterator[Case]:
    """Every option of every method off its default, where it can be seen."""
    left = set(VALUES)
    for method, entry in shoal.METHODS.items():
        for option in entry.options:
            left.discard((method, option.name))
            names = OPTION_TABLES if (method, option.name) not in AT_ONCE else [AT_ONCE[method, option.name]]
            for value in off_default(method, option):
                yield from (release_case(name, 3, method, options={option.name: value}) for name in names)
    if left:
        raise LookupError(f"there are values for options that no method has: {sorted(left)}")
    yield release_case("small", 5, "iv-mdav", options={"candidates": 3, "cap": True, "gamma": 0.9})
    yield release_case("small", 5, "optimal", options={"steps": 100, "time": 1})
    yield release_case("sets", 5, "optimal", options={"gap": 1})
    yield release_case("missing", 5, "optimal", options={"bound": 1})
    yield release_case("one-column", 5, "univariate", options={"by": "sum"})


def _refined() -> Iterator[Case]:
    """Groups that are improved afterwards, and groups whose records may lack different cells."""
    for name, k in (("tarragona", 3), ("ties", 5), ("strata", 3), ("sets", 3), ("one-column", 3), ("zero-inflated", 5)):
        yield from (release_case(name, k, method, refine=True) for method in shoal.METHODS)
    for method in ("mdav", "hdf", "univariate"):
        yield release_case("normal-6000", 3, method, refine=True)
        yield release_case("missing", 3, method, refine=True)
        yield release_case("missing", 3, method, missing_patterns="ignored")


def _scalings() -> Iterator[Case]:
    """Every way to make columns comparable."""
    numeric = ("mdav", "v-mdav", "optimal", "k-ward", "univariate", "fuzzy-c-means", "mst", "tsp-hm")
    any_kind = ("s-mdav", "semantic-optimal", "mdav-generic", "k-modes", "sa-mondrian", "mondrian-mixed")
    for scaling in SCALINGS:
        for method in (*numeric, *any_kind, "mondrian"):
            yield from (
                release_case(name, 3, method, scaling=scaling) for name in ("census", "zero-inflated", "missing")
            )
        yield from (release_case("mixed", 3, method, scaling=scaling) for method in any_kind)
        yield release_case("few-kinds", 3, "s-mdav", scaling=scaling)


def _aggregators() -> Iterator[Case]:
    """Every aggregator, of numbers and of categories."""
    for how in AGGREGATORS:
        for name in ("example", "weighted", "ties", "dates", "types", "zero-inflated", "sets"):
            for method in ("mdav", "optimal", "individual-ranking", "s-mdav", "semantic-optimal"):
                yield release_case(name, 4, method, aggregators=how)
    for how in CATEGORY_AGGREGATORS:
        for method in ("s-mdav", "semantic-optimal", "mdav-generic", "mondrian-mixed", "k-modes"):
            yield release_case("mixed", 4, method, aggregators=how)
            yield release_case("mixed", 4, method, aggregators=how, weight="weight")
            yield release_case("mixed-missing", 3, method, aggregators=how, weight="weight")
        yield release_case("adult-meaning", 5, "sa-mdav", aggregators=how)
        yield release_case("mixed", 4, "sa-mondrian", aggregators={"job": how, "*": "mode"})
        yield release_case("mixed", 4, "sa-mondrian", aggregators={"level": how})
    for method in ("mdav", "optimal", "individual-ranking", "s-mdav"):
        positive = {"quasi_identifiers": ["wages", "other", "sales"], "aggregators": "geometric-mean"}
        yield release_case("accounts", 4, method, **positive)
    chosen = {"age": "median", "income": "trimmed-mean", "*": "mode"}
    yield release_case("example", 3, "mdav", aggregators=chosen)
    yield release_case("example", 3, "optimal", aggregators=chosen)


def _combinations() -> Iterator[Case]:
    """Released categories only as they occur together."""
    for name in ("mixed", "mixed-missing", "adult-meaning"):
        yield from (release_case(name, 3, method, combinations="observed") for method in shoal.METHODS)
    yield release_case("mixed", 3, "s-mdav", combinations="observed", weight="weight", column_weights={"job": 3.0})


def _blocking() -> Iterator[Case]:
    """Every way to cut a table into blocks."""
    for method in BLOCKINGS:
        for repair in (False, True):
            for size in (100, 200, "auto"):
                cut = {"method": method, "size": size, "repair": repair}
                yield release_case("normal-6000", 3, "mdav", blocking=cut)
                yield release_case("tarragona", 5, "mdav-single", blocking=cut)
                yield release_case("ties", 3, "v-mdav", blocking=cut)
        cut = {"method": method, "size": 100}
        yield release_case("missing", 3, "mdav", blocking=cut)
        yield release_case("strata", 3, "mdav", blocking=cut, strata=["area", "half"])
        yield release_case("strata", 3, "mdav", blocking=cut | {"repair": True}, refine=True)
        yield release_case("sets", 3, "optimal", blocking=cut)
        yield release_case("dates", 3, "mdav", blocking=cut | {"columns": ["born"]})
        yield release_case("mixed", 3, "semantic-optimal", blocking=cut | {"columns": ["pay"]})
        yield release_case("mixed", 3, "sa-mdav", blocking=cut)
        for name in ("univariate", "individual-ranking", "mondrian", "mondrian-relaxed"):
            yield release_case("many-missing", 3, name, blocking=method)
    for method in shoal.METHODS:
        yield release_case("census", 3, method, blocking={"method": "spread-tree", "size": 100})
        yield release_case("ties", 5, method, blocking={"method": "equal-counts", "size": 200, "columns": ["v2"]})
    two = {"method": "2d-tree", "size": 100, "columns": ["pay", "age"]}
    yield release_case("mixed", 3, "mdav-generic", blocking=two)


def _strata() -> Iterator[Case]:
    """Strata of two columns, with weights and with small ones merged."""
    for method in ("mdav", "optimal", "semantic-optimal", "fuzzy-c-means", "two-step-ga", "individual-ranking"):
        yield release_case("strata", 3, method, strata=["area", "half"])
        yield release_case("small-strata", 4, method, strata=["area", "half"])
        yield release_case("example", 3, method, strata="region", weight="weight")
        yield release_case("mixed", 3, method, strata="town", quasi_identifiers=["pay", "age", "level", "owner", "job"])
    yield release_case("small-strata", 3, "mdav", refine=True, blocking="2d-tree")


def _rules() -> Iterator[Case]:
    """Edit rules, kept and broken."""
    methods = ("mdav", "optimal", "fuzzy-c-means", "univariate", "individual-ranking", "semantic-optimal", "mondrian")
    for said, rules in RULES.items():
        yield from (release_case("accounts", 4, m, rules=rules, said=f"rules={said}") for m in methods)
        for how in ("refuse", "keep-where-held"):
            broken = {"rules": rules, "broken_rules": how, "said": f"rules={said}|broken, {how}"}
            yield from (release_case("accounts-broken", 4, method, **broken) for method in methods[:3])
        for how in ("median", "geometric-mean"):
            asked = {"rules": rules, "aggregators": how, "said": f"rules={said}|aggregators={how}"}
            yield release_case("accounts", 4, "mdav", **asked)
    census = {"person": "PTOTVAL = POTHVAL + PEARNVAL", "paid": "if PEARNVAL >= 1115 then FICA >= 0"}
    yield release_case("census", 3, "mdav", rules=census, said="rules=census")
    yield release_case(
        "census", 3, "mdav", rules=census, said="rules=census|blocks", blocking="spread-tree", refine=True
    )
    kinds = ["if job = 'nurse' then pay >= 0", "level in {none, primary, secondary, higher, doctorate}", "age >= 16"]
    for method in ("s-mdav", "semantic-optimal", "mondrian-mixed", "k-modes"):
        yield release_case("mixed", 3, method, rules=kinds, said="rules=kinds")
    product = {"quasi_identifiers": ["rate", "sales", "tax"], "rules": RULES["product"]}
    for how in ("mean", "geometric-mean", "median"):
        yield release_case(
            "accounts", 4, "mdav", **product, aggregators=how, said=f"rules=product alone|aggregators={how}"
        )
    sets = [["wages", "other", "costs"], ["rate", "sales", "tax"], ["staff", "bonus"]]
    yield release_case("accounts", 4, "mdav", rules=RULES["all"], quasi_identifiers=sets, said="rules=all|three sets")


def _categories() -> Iterator[Case]:
    """What a plan says about categories."""
    methods = [name for name, method in shoal.METHODS.items() if shoal.Kind.ORDINAL in method.kinds]
    for method in methods:
        yield release_case("mixed", 3, method, column_weights={"pay": 2.0, "job": 0.5})
        yield release_case("ties", 3, method, nominal=["v0"])
        yield release_case("ties", 3, method, orders={"v0": ["3", "0", "2", "1"]})
        yield release_case("adult", 3, method, scaling="z-score", column_weights={"age": 3.0})
        for said, sources in SOURCES.items():
            asked: dict[str, Any] = {"orders": {}} if "level" in sources else {}
            asked |= {"data": _ages_as_text} if said == "intervals" else {}
            yield release_case("mixed", 3, method, hierarchies=sources, said=said, **asked)
    yield release_case("small", 3, "mdav", column_weights={"v0": 2.0})
    wordnet = {"folder": str(FOLDER / "nltk_data"), "version": "3.1"}
    words = {"occupation": {"wordnet": wordnet | {"words": _OCCUPATIONS}}, **adult_hierarchies("native-country")}
    for distance in ("wu-palmer", "path", "information-content"):
        sources = {name: {**source, "distance": distance} for name, source in words.items()}
        yield release_case("adult-meaning", 3, "sa-mdav", hierarchies=sources, said=f"WordNet by {distance}")


def _ages_as_text(data: pl.DataFrame) -> pl.DataFrame:
    return data.with_columns(pl.col("age").cast(pl.String))


def _seeds() -> Iterator[Case]:
    for method in shoal.METHODS:
        yield from (release_case(name, 3, method, seed=1) for name in ("small", "mixed", "ties"))


def _threads() -> Iterator[Case]:
    """Two threads, which must not change a digest."""
    for method in shoal.METHODS:
        yield from (release_case(name, 3, method, threads=2) for name in ("normal-6000", "sets", "mixed"))
    yield release_case("normal-6000", 3, "mdav", threads=2, blocking={"method": "2d-tree", "size": 100, "repair": True})
    yield release_case("tarragona", 3, "mdav", threads=2, refine=True)


def _libraries() -> Iterator[Case]:
    """Tables of other libraries, which come back as they went in."""
    for name, methods in (
        ("example", ("mdav", "semantic-optimal")),
        ("dates", ("mdav", "mondrian")),
        ("types", ("mdav",)),
        ("mixed-missing", ("sa-mdav", "mondrian-mixed")),
    ):
        for method in methods:
            yield release_case(name, 3, method, data=_pandas, said="pandas")
            yield release_case(name, 3, method, data=_arrow, said="pyarrow")


def _pandas(data: pl.DataFrame) -> Any:
    """Return a pandas table whose index says nothing about the order of its rows."""
    frame = data.to_pandas()
    return frame.set_index(frame.index[::-1] * 3)


def _arrow(data: pl.DataFrame) -> Any:
    return data.to_arrow()


def _mistakes() -> Iterable[Case]:
    """What is refused, with all that is wrong."""
    return [
        release_case("small", 1, "mdav"),
        release_case("small", None, "mdav"),
        release_case("small", 3, "mdavv", options={"gama": 1}),
        release_case("small", 3, "v-mdav", options={"gama": 1}),
        release_case("small", 3, "v-mdav", options={"gamma": -1}),
        release_case("small", 3, "mst", options={"large": "centre"}),
        release_case("small", 3, "mdav", quasi_identifiers=["v0", "w1"], weight="v0", aggregators={"v2": "maen"}),
        release_case("small", 3, "mdav", blocking={"method": "2d-tree", "size": 4, "columns": ["v9"]}),
        release_case("small", 3, "mdav", small_strata="merge"),
        release_case("small", 3, "mdav", broken_rules="keep-where-held"),
        release_case("small", 3, "mdav", rules=["v0 == v1", "v0 >= flor(v2)"], said="rules that cannot be read"),
        release_case("small", 3, "mdav", scaling="minmax"),
        release_case("small", 3, "mdav", threads=0),
        release_case("small", 3, "mdav", reading={"missing": ["NA"]}),
        release_case("example", 3, "mdav", identifiers=None),
        release_case("example", 3, "mdav", quasi_identifiers=["age", "region"]),
        release_case("types", 3, "mdav", quasi_identifiers=["tiny", "kept"], confidential=None),
        release_case("mixed", 3, "s-mdav", hierarchies={"job": {"tree": {"work": ["baker"]}}}, said="names left out"),
        release_case("mixed", 3, "s-mdav", hierarchies={"job": {"flat": True, "tree": JOBS}}, said="two sources"),
        release_case("mixed", 3, "s-mdav", orders={"level": ["none", "primary"]}),
        release_case("mixed", 3, "s-mdav", orders={"town": ["Aix", "Aix"]}, nominal=["pay", "town"]),
    ]


_OCCUPATIONS = {
    "Adm-clerical": "clerk", "Armed-Forces": "soldier", "Craft-repair": "craftsman", "Exec-managerial": "executive",
    "Farming-fishing": "farmer", "Handlers-cleaners": "cleaner", "Machine-op-inspct": "machinist",
    "Other-service": "attendant", "Priv-house-serv": "housekeeper", "Prof-specialty": "professional",
    "Protective-serv": "guard", "Sales": "salesman", "Tech-support": "technician", "Transport-moving": "driver",
}  # fmt: skip
