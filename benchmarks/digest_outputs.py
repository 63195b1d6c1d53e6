"""The cases of benchmarks/digests.py that come to files and figures: what is written, measures, sweeps, inspections."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from digest_cases import STEPS, Case
from digest_tables import FOLDER, JOBS, adult_hierarchies, table

_ONCE = ("seconds", "peak_memory_mib", "version", "timings", "versions", "shoal")  # different in every run or version
_STAMPED = (".sav", ".zsav", ".dta", ".xpt")  # the time of writing is in the file


def output_cases() -> Iterator[Case]:
    """Return the cases that come to files and figures."""
    for part in (_files, _measures, _bounds, _sweeps, _reports, _inspections, _hierarchies):
        yield from part()


def lasting(figures: Any) -> Any:
    """Return figures without what differs from run to run.

    >>> lasting({"loss": 1.5, "seconds": 0.2, "rules": [{"cost": 0.0}]})
    {'loss': 1.5, 'rules': [{'cost': 0.0}]}
    """
    if isinstance(figures, Mapping):
        return {str(name): lasting(value) for name, value in figures.items() if name not in _ONCE}
    return [lasting(value) for value in figures] if isinstance(figures, list | tuple) else figures


def _files() -> Iterator[Case]:
    """Files in and out, in a folder of their own: their bytes, and their manifests."""
    example = {"quasi_identifiers": ["age", "height", "hours", "income"], "identifiers": "name"}
    for ending in ("csv", "tsv", "csv.gz", "xml", "parquet", "arrow", "sav", "dta", "xpt"):
        yield _file(f"example.{ending}", partial(_write, ending), 3, method="mdav", **example)
    for ending in ("parquet", "xml", "sav"):
        out = f"other.{ending}"
        yield _file("example.csv", partial(_write, "csv"), 3, method="v-mdav", out=out, **example)
    names = {"quasi_identifiers": ["born", "pay", "rank"], "confidential": "town"}
    yield _file("semicolons.csv", _semicolons, 3, method="mdav", reading={"missing": ["NA", "-"]}, **names)
    yield _file("semicolons.csv", _semicolons, 3, method="mdav", reading={"encoding": "latin-1"}, **names)
    yield _file("bare.data", _bare, 3, method="mdav", all_numeric=True, reading={"header": False, "delimiter": "\t"})
    yield _file("ragged.csv", _ragged, 3, method="mdav", all_numeric=True)
    yield _file("absent.csv", lambda path: None, 3, method="mdav", all_numeric=True)
    casc = {"all_numeric": True, "options": {"steps": STEPS}, "method": "optimal"}
    yield _file("census.csv", partial(_copy, FOLDER / "casc" / "census.csv"), 5, **casc)
    wanted = {"identifiers": ["UTILNAME", "STATE", "YEAR", "MONTH"], "all_numeric": True}
    yield _file("eia.csv", partial(_copy, FOLDER / "casc" / "eia.csv"), 3, method="mdav", **wanted)
    mixed = {name: value for name, value in table("mixed").asked.items() if name != "hierarchies"}
    mixed["hierarchies"] = {"job": {"tree": JOBS}}
    yield _file("mixed.csv", partial(_write, "csv"), 3, method="sa-mdav", **mixed)
    rules = ["costs = wages + other", "if staff = 0 then bonus = 0"]
    yield _file("accounts.csv", partial(_write, "csv"), 4, method="mdav", all_numeric=True, rules=rules)
    yield _file("planned.csv", partial(_write_as, "small"), None, method=None, plan="plan.yaml")
    yield _file("accounts.xml", partial(_write, "xml"), 4, method="mdav", all_numeric=True, rules="schematron.sch")


def _file(name: str, make: Callable[[Path], Any], k: int | None, *, out: str | None = None, **asked: Any) -> Case:
    out = out or f"out-{name}"
    said = "+".join(f"{setting}:{asked[setting]}" for setting in ("reading", "rules", "plan") if setting in asked)
    words = [f"file {name}", str(asked["method"]), f"k={k}", f"to {out}", *([said] if said else [])]
    return Case("|".join(words).replace("[", "(").replace("]", ")"), partial(_through, name, make, k, out, asked))


def _through(
    name: str, make: Callable[[Path], Any], k: int | None, out: str, asked: Mapping[str, Any]
) -> dict[str, Any]:
    path = Path(name)
    make(path)
    if asked.get("plan") == "plan.yaml":
        Path("plan.yaml").write_text("k: 4\nquasi_identifiers: [v0, v2]\nmethod: v-mdav\noptions: {gamma: 0.5}\n")
    if asked.get("rules") == "schematron.sch":
        Path("edits.rules").write_text("costs: costs = wages + other\nnone: if staff = 0 then bonus = 0\n")
        shoal.write_rules(shoal.read_rules(Path("edits.rules")), Path("schematron.sch"))
    release = shoal.protect(path, k, output=out, threads=1, **asked)
    manifest = lasting(release.manifest())
    if path.suffix in _STAMPED or path.suffix in (".parquet", ".arrow", ".gz"):
        manifest["input"].pop("sha256")  # written by other packages, in the version that is there
    return {"file": _content(Path(out)), "manifest": manifest}


def _content(path: Path) -> str:
    """Return the checksum of a file, or of what is in it where it has the time or the packages' versions in it."""
    if path.suffix in _STAMPED:
        import pyreadstat

        frame, about = getattr(pyreadstat, f"read_{path.suffix.strip('.').replace('xpt', 'xport')}")(path)
        content = repr((frame.to_dict("list"), about.column_names_to_labels, about.original_variable_types)).encode()
    elif path.suffix in (".parquet", ".arrow"):
        frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path)
        content = repr((frame.schema, frame.rows())).encode()
    else:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return hashlib.sha256(content).hexdigest()


def _write(ending: str, path: Path) -> None:
    """Write the table that a file is named after, with what is there beside shoal."""
    data = table(path.name.split(".")[0]).data
    if ending == "parquet":
        data.write_parquet(path)
    elif ending == "arrow":
        data.write_ipc(path)
    elif ending == "xml":
        cells = [
            "".join(f"<{n}>{v}</{n}>" for n, v in row.items() if v is not None) for row in data.iter_rows(named=True)
        ]
        path.write_text(
            "<Data>\n" + "\n".join(f"<Record>{c}</Record>" for c in cells) + "\n</Data>\n", encoding="utf-8"
        )
    elif f".{ending}" in _STAMPED:
        import pyreadstat

        getattr(pyreadstat, f"write_{ending.replace('xpt', 'xport')}")(data.to_pandas(), path)
    else:
        text = data.write_csv(separator="\t" if ending == "tsv" else ",")
        path.write_bytes(gzip.compress(text.encode(), mtime=0) if ending.endswith("gz") else text.encode())


def _write_as(name: str, path: Path) -> None:
    path.write_text(table(name).data.write_csv())


def _copy(source: Path, path: Path) -> None:
    path.write_bytes(source.read_bytes())


def _semicolons(path: Path) -> None:
    """Decimal commas, German dates, two marks for missing values, quotes, CRLF, and Windows-1252."""
    data = table("dates").data.head(120)
    lines = ["born;pay;rank;town"]
    for i, (born, pay) in enumerate(data.select("born", "pay").iter_rows()):
        money = ("NA", "-")[i % 2] if i % 17 == 0 else f"{pay:.2f}".replace(".", ",")
        lines.append(f'{born:%d.%m.%Y};{money};{i % 9};"Köln; {i % 3}"')
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))


def _bare(path: Path) -> None:
    path.write_text(table("ties").data.head(90).write_csv(separator="\t", include_header=False))


def _ragged(path: Path) -> None:
    path.write_text("a,b\n1,2\n3\n4,5,6\n")


def _measures() -> Iterator[Case]:
    """All measures of releases, with the roles of their plans and with others."""
    for name, k, method, asked in (
        ("tarragona", 3, "mdav", {}),
        ("census", 5, "v-mdav", {"refine": True}),
        ("example", 3, "mdav", {"weight": "weight", "confidential": "satisfied"}),
        ("missing", 4, "mdav", {}),
        ("ties", 3, "hdf", {}),
        ("zero-inflated", 5, "univariate", {}),
        ("dates", 3, "mdav", {}),
        ("types", 3, "mdav-single", {}),
        ("sets", 3, "mdav", {}),
        ("one-column", 3, "univariate", {}),
        ("normal-6000", 3, "mdav", {}),
        ("mixed", 3, "sa-mdav", {"weight": "weight"}),
        ("mixed-missing", 3, "mondrian-mixed", {}),
        ("adult", 5, "sa-mondrian", {}),
        ("adult-meaning", 3, "s-mdav", {}),
        ("accounts", 4, "mdav", {"rules": ["costs = wages + other", "tax = sales * rate", "staff from original"]}),
    ):
        said = "+".join(n for n in asked)
        yield Case(f"measures of {name}|{method}|k={k}|{said}", partial(_measured, name, k, method, asked))
    yield Case("measures of example|known, blocking, population", _measured_by_intruder)
    yield Case("measures of two tables|hierarchies", _measured_apart)


def _measured(name: str, k: int, method: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    chosen = table(name)
    release = shoal.protect(chosen.data, k, method=method, threads=1, **{**chosen.asked, **asked})
    return {"summary": lasting(release.summary.to_dict()), "measures": lasting(release.measure(threads=1).to_dict())}


def _measured_by_intruder() -> dict[str, Any]:
    chosen = table("example")
    half = chosen.data.head(500)
    release = shoal.protect(half, 3, method="mdav", threads=1, **chosen.asked)
    population = release.data.vstack(release.data.tail(200))
    asked = {"known": ["age", "hours"], "blocking": "region", "population": population}
    return lasting(release.measure(**asked, threads=1).to_dict())


def _measured_apart() -> dict[str, Any]:
    """Measure a table that shoal did not make: the values of every second record, twice."""
    chosen = table("mixed")
    coarse = chosen.data[[i - i % 2 for i in range(len(chosen.data))]]
    names, sources = chosen.asked["quasi_identifiers"], chosen.asked["hierarchies"]
    asked = {"hierarchies": sources, "confidential": "weight", "threads": 1}
    return lasting(shoal.measure(chosen.data, coarse, names, **asked).to_dict())


def _bounds() -> Iterator[Case]:
    """Lower bounds that are proved long before the time for them is over, so that it plays no part."""
    for name, k in (("nine", 3), ("small", 2), ("small", 3), ("constant", 3)):
        yield Case(f"bound of {name}|k={k}", partial(_bounded, name, k))


def _bounded(name: str, k: int) -> dict[str, Any]:
    chosen = table(name)
    options = {"steps": 2000, "bound": 600.0}
    summary = shoal.protect(chosen.data, k, method="optimal", options=options, threads=1, **chosen.asked).summary
    return {"loss": summary.information_loss, "bound": summary.bound, "gap": summary.gap, "notes": summary.notes}


def _sweeps() -> Iterator[Case]:
    yield Case("sweep of small|k=3,5", partial(_swept, k="3,5", methods=["mdav", "v-mdav:gamma=1.1", "ldf"]))
    limits = {"risk": "dr", "loss": "pil", "max_risk": 40.0, "sample": 60, "repeats": 3}
    yield Case("sweep of small|samples", partial(_swept, k="2:6:2", methods="mdav,univariate:by=sum", **limits))


def _swept(**asked: Any) -> dict[str, Any]:
    chosen = table("small")
    return lasting(shoal.sweep(chosen.data, threads=1, **chosen.asked, **asked).to_dict())


def _reports() -> Iterator[Case]:
    for name, method in (("example", "mdav"), ("mixed", "sa-mdav")):
        for edition in ("internal", "external"):
            yield Case(f"report of {name}|{method}|{edition}", partial(_reported, name, method, edition))


def _reported(name: str, method: str, edition: str) -> dict[str, Any]:
    chosen = table(name)
    release = shoal.protect(chosen.data, 3, method=method, threads=1, **chosen.asked)
    page = shoal.report_page(release, edition, threads=1)
    page = re.sub(r"\b20\d\d-\d\d-\d\d\b", "TODAY", page).replace(shoal.__version__, "VERSION")
    return {"page": hashlib.sha256(page.encode()).hexdigest()}


def _inspections() -> Iterator[Case]:
    """What shoal tells about tables, hierarchies, rules and plans."""
    for name in ("example", "dates", "types", "mixed-missing", "adult"):
        yield Case(f"inspection of {name}", partial(_inspected, name))
    for name in ("accounts", "accounts-broken"):
        yield Case(f"rules of {name}", partial(_checked, name))
    yield Case("plan|from YAML and back", _plan)


def _inspected(name: str) -> dict[str, Any]:
    found = shoal.inspect(table(name).data)
    return {"inspection": lasting(found.to_dict()), "plan": found.to_yaml(3)}


def _checked(name: str) -> dict[str, Any]:
    rules = ["costs = wages + other", "tax = sales * rate", "if staff = 0 then bonus = 0", "rate in [0, 0.4]"]
    found = shoal.check_rules(table(name).data, rules)
    return {one.name: asdict(one) for one in found}


def _plan() -> dict[str, Any]:
    plan = shoal.Plan(
        k=4,
        quasi_identifiers=[["a", "b"], ["c"]],
        method="v-mdav",
        options={"gamma": 0.5},
        blocking={"method": "2d-tree", "size": 100},
        aggregators={"a": "median", "*": "mean"},
        rules={"parts": "a = b + c"},
        strata="s",
        hierarchies={"c": {"flat": True}},
    )
    assert shoal.Plan.from_yaml(plan.to_yaml()) == plan
    return {"yaml": plan.to_yaml()}


def _hierarchies() -> Iterator[Case]:
    """Every form of a hierarchy: what is told about it, its names in their order, and what is written."""
    for name in ("occupation", "age", "education"):
        source = adult_hierarchies(name)[name]
        yield Case(
            f"hierarchy|adult, {name}", partial(_hierarchy, source, "adult" if name == "occupation" else None, name)
        )
    for name in ("os", "country"):
        path = Path(__file__).parent.resolve() / "hierarchies" / f"analytics-{name}.yaml"
        yield Case(f"hierarchy|nested, {name}", partial(_hierarchy, str(path)))
    yield Case("hierarchy|tree", partial(_hierarchy, {"tree": JOBS}, "mixed", "job"))
    for name, text in _FORMS.items():
        yield Case(f"hierarchy|{name}", partial(_hierarchy_file, name, text, {}))
        yield Case(
            f"hierarchy|{name}, first parents", partial(_hierarchy_file, name, text, {"several_parents": "first"})
        )


def _hierarchy(source: Any, data: str | None = None, column: str | None = None) -> dict[str, Any]:
    found = shoal.inspect_hierarchy(source, *((table(data).data, column) if data else ()))
    lines = [(line.depth, line.name, line.own, line.below) for line in found.lines()]
    for ending in ("csv", "yaml"):
        found.write(f"hierarchy.{ending}")
    written = [_content(Path(f"hierarchy.{ending}")) for ending in ("csv", "yaml")]
    return {"told": found.to_dict(), "lines": hashlib.sha256(repr(lines).encode()).hexdigest(), "written": written}


def _hierarchy_file(name: str, text: str, how: Mapping[str, Any]) -> dict[str, Any]:
    Path(name).write_text(text, encoding="utf-8")
    return _hierarchy({"file": name, **how})


_FORMS = {
    "rows.csv": "Spain,Europe,*\nFrance,Europe,*\nJapan,*,*\n",
    "pairs.csv": "child;parent\nSpain;Europe\nEurope;*\nJapan;*\nCyprus;Europe\nCyprus;Asia\nAsia;*\n",
    "cycle.csv": "a;b\nb;c\nc;a\n",
    "nested.yaml": "world:\n  Europe: [Spain, France]\n  Asia:\n    - Japan\n    - China: [Hong Kong]\n",
    "classes.owl": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#" '
        'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">'
        '<owl:Class rdf:about="#place"/>'
        '<owl:Class rdf:about="#town"><rdfs:subClassOf rdf:resource="#place"/></owl:Class>'
        '<owl:Class rdf:about="#port"><rdfs:label>harbour town</rdfs:label><rdfs:subClassOf rdf:resource="#town"/>'
        "</owl:Class></rdf:RDF>"
    ),
}
