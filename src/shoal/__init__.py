"""shoal makes microdata safe to publish: every record hides in a group of at least k similar ones."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.columns.hierarchy import Hierarchy, load_hierarchy
from shoal.errors import BrokenPromise, DataError, FileError, MissingExtra, PlanError, ShoalError, printable
from shoal.plan.hierarchies import HierarchySettings, WordNetSettings
from shoal.plan.plan import Blocking, Plan, Reading
from shoal.plan.roles import Kind, Role
from shoal.plan.version import shoal_version
from shoal.release.release import Release
from shoal.release.summary import Summary
from shoal.tables.example import example
from shoal.tables.hierarchy_inspection import FEWEST, HierarchyInspection, inspect_hierarchy
from shoal.tables.inspection import Inspection, inspect

if TYPE_CHECKING:
    from shoal.measures.catalogue import MEASURES
    from shoal.measures.measured import Measures
    from shoal.measures.measurement import measure
    from shoal.partition.methods import METHODS, find_method
    from shoal.pipeline import protect
    from shoal.report import report_page, write_report
    from shoal.rules.findings import RuleFinding, check_rules, write_rules
    from shoal.rules.sources import read_rules
    from shoal.sweeps import Sweep, sweep

__all__ = [
    "FEWEST",
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
    "Measures",
    "MissingExtra",
    "Plan",
    "PlanError",
    "Reading",
    "Release",
    "Role",
    "RuleFinding",
    "ShoalError",
    "Summary",
    "Sweep",
    "WordNetSettings",
    "__version__",
    "check_rules",
    "example",
    "find_method",
    "inspect",
    "inspect_hierarchy",
    "load_hierarchy",
    "measure",
    "printable",
    "protect",
    "read_rules",
    "report_page",
    "sweep",
    "write_report",
    "write_rules",
]

__version__ = shoal_version()

_WITH_KERNELS = {
    "MEASURES": "shoal.measures.catalogue",
    "METHODS": "shoal.partition.methods",
    "Measures": "shoal.measures.measured",
    "RuleFinding": "shoal.rules.findings",
    "Sweep": "shoal.sweeps",
    "check_rules": "shoal.rules.findings",
    "find_method": "shoal.partition.methods",
    "measure": "shoal.measures.measurement",
    "protect": "shoal.pipeline",
    "read_rules": "shoal.rules.sources",
    "report_page": "shoal.report",
    "write_report": "shoal.report",
    "sweep": "shoal.sweeps",
    "write_rules": "shoal.rules.findings",
}  # loaded when first used: numba is slow to import


def __getattr__(name: str) -> Any:
    if name in _WITH_KERNELS:
        return getattr(import_module(_WITH_KERNELS[name]), name)
    raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
