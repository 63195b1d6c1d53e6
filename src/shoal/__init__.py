"""shoal makes microdata safe to publish: every record hides in a group of at least k similar ones."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.app import open_app
    from shoal.columns.hierarchy import Hierarchy, load_hierarchy
    from shoal.errors import (
        BrokenPromise,
        DataError,
        FileError,
        MissingExtra,
        PlanError,
        ShoalError,
        printable,
    )
    from shoal.kernels.progress import Standing
    from shoal.measures.catalogue import MEASURES
    from shoal.measures.measured import Measures
    from shoal.measures.measurement import measure
    from shoal.measures.uniqueness import Uniqueness, uniqueness
    from shoal.partition.methods import METHODS, find_method
    from shoal.pipeline import protect
    from shoal.plan.blocking import Blocking
    from shoal.plan.environment import environment
    from shoal.plan.hierarchies import HierarchySettings, WordNetSettings
    from shoal.plan.plan import Plan
    from shoal.plan.reading import Reading
    from shoal.plan.roles import Kind, Role
    from shoal.release.measuring import measure_in_engine
    from shoal.release.private_release import PrivateRelease
    from shoal.release.release import Release
    from shoal.release.summary import Summary
    from shoal.report import report_page, report_sections, write_report
    from shoal.report.page import report_asset
    from shoal.rules.findings import RuleFinding, check_rules, write_rules
    from shoal.rules.localising import Localisation, localise_errors
    from shoal.rules.sources import read_rules
    from shoal.sweeps import Sweep, read_sweep, sweep
    from shoal.tables.example import example
    from shoal.tables.files import FORMATS
    from shoal.tables.hierarchy_inspection import FEWEST, HierarchyInspection, inspect_hierarchy
    from shoal.tables.inspection import Inspection, inspect
    from shoal.tables.reading import read_table
    from shoal.tables.set_valued import gather_sets, spread_sets

    __version__: str

__all__ = [
    "FEWEST",
    "FORMATS",
    "MEASURES",
    "METHODS",
    "Blocking",
    "BrokenPromise",
    "DataError",
    "FileError",
    "Hierarchy",
    "HierarchyInspection",
    "HierarchySettings",
    "Inspection",
    "Kind",
    "Localisation",
    "Measures",
    "MissingExtra",
    "Plan",
    "PlanError",
    "PrivateRelease",
    "Reading",
    "Release",
    "Role",
    "RuleFinding",
    "ShoalError",
    "Standing",
    "Summary",
    "Sweep",
    "Uniqueness",
    "WordNetSettings",
    "__version__",
    "check_rules",
    "environment",
    "example",
    "find_method",
    "gather_sets",
    "inspect",
    "inspect_hierarchy",
    "load_hierarchy",
    "localise_errors",
    "measure",
    "measure_in_engine",
    "open_app",
    "printable",
    "protect",
    "read_rules",
    "read_sweep",
    "read_table",
    "report_asset",
    "report_page",
    "report_sections",
    "spread_sets",
    "sweep",
    "uniqueness",
    "write_report",
    "write_rules",
]

_HOME = {
    "FEWEST": "shoal.tables.hierarchy_inspection",
    "FORMATS": "shoal.tables.files",
    "MEASURES": "shoal.measures.catalogue",
    "METHODS": "shoal.partition.methods",
    "Blocking": "shoal.plan.blocking",
    "BrokenPromise": "shoal.errors",
    "DataError": "shoal.errors",
    "FileError": "shoal.errors",
    "Hierarchy": "shoal.columns.hierarchy",
    "HierarchyInspection": "shoal.tables.hierarchy_inspection",
    "HierarchySettings": "shoal.plan.hierarchies",
    "Inspection": "shoal.tables.inspection",
    "Kind": "shoal.plan.roles",
    "Localisation": "shoal.rules.localising",
    "Measures": "shoal.measures.measured",
    "MissingExtra": "shoal.errors",
    "Plan": "shoal.plan.plan",
    "PlanError": "shoal.errors",
    "Reading": "shoal.plan.reading",
    "PrivateRelease": "shoal.release.private_release",
    "Release": "shoal.release.release",
    "Role": "shoal.plan.roles",
    "RuleFinding": "shoal.rules.findings",
    "ShoalError": "shoal.errors",
    "Standing": "shoal.kernels.progress",
    "Summary": "shoal.release.summary",
    "Sweep": "shoal.sweeps",
    "Uniqueness": "shoal.measures.uniqueness",
    "WordNetSettings": "shoal.plan.hierarchies",
    "check_rules": "shoal.rules.findings",
    "environment": "shoal.plan.environment",
    "example": "shoal.tables.example",
    "find_method": "shoal.partition.methods",
    "gather_sets": "shoal.tables.set_valued",
    "inspect": "shoal.tables.inspection",
    "inspect_hierarchy": "shoal.tables.hierarchy_inspection",
    "load_hierarchy": "shoal.columns.hierarchy",
    "localise_errors": "shoal.rules.localising",
    "measure": "shoal.measures.measurement",
    "measure_in_engine": "shoal.release.measuring",
    "open_app": "shoal.app",
    "printable": "shoal.errors",
    "protect": "shoal.pipeline",
    "read_rules": "shoal.rules.sources",
    "read_sweep": "shoal.sweeps",
    "read_table": "shoal.tables.reading",
    "report_asset": "shoal.report.page",
    "report_page": "shoal.report",
    "report_sections": "shoal.report",
    "spread_sets": "shoal.tables.set_valued",
    "sweep": "shoal.sweeps",
    "uniqueness": "shoal.measures.uniqueness",
    "write_report": "shoal.report",
    "write_rules": "shoal.rules.findings",
}  # of each public name: loaded when it is first asked for, so that `import shoal` and `shoal --help` are quick

if not TYPE_CHECKING:  # a type checker would take a name that does not exist, too

    def __getattr__(name: str) -> object:
        if name in _HOME:
            return getattr(import_module(_HOME[name]), name)
        if name == "__version__":
            return import_module("shoal.plan.version").shoal_version()
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
