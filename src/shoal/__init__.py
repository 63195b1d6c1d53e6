"""shoal makes microdata safe to publish: every record hides in a group of at least k similar ones."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import BrokenPromise, DataError, FileError, MissingExtra, PlanError, ShoalError, printable
from shoal.examples import example
from shoal.hierarchy import Hierarchy, load_hierarchy
from shoal.hierarchy_inspection import FEWEST, HierarchyInspection, inspect_hierarchy
from shoal.hierarchy_settings import HierarchySettings, WordNetSettings
from shoal.inspection import Inspection, inspect
from shoal.plan import Blocking, Plan, Reading
from shoal.release import Release
from shoal.schema import Kind, Role
from shoal.summary import Summary, shoal_version

if TYPE_CHECKING:
    from shoal.measured import Measures
    from shoal.measurement import measure
    from shoal.measures.catalogue import MEASURES
    from shoal.partition import METHODS, find_method
    from shoal.pipeline import protect
    from shoal.report import report_page, write_report
    from shoal.rule_reports import RuleFinding, check_rules, write_rules
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
    "METHODS": "shoal.partition",
    "Measures": "shoal.measured",
    "RuleFinding": "shoal.rule_reports",
    "Sweep": "shoal.sweeps",
    "check_rules": "shoal.rule_reports",
    "find_method": "shoal.partition",
    "measure": "shoal.measurement",
    "protect": "shoal.pipeline",
    "read_rules": "shoal.rules.sources",
    "report_page": "shoal.report",
    "write_report": "shoal.report",
    "sweep": "shoal.sweeps",
    "write_rules": "shoal.rule_reports",
}  # loaded when first used: numba is slow to import


def __getattr__(name: str) -> Any:
    if name in _WITH_KERNELS:
        return getattr(import_module(_WITH_KERNELS[name]), name)
    raise AttributeError(f"module 'shoal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
