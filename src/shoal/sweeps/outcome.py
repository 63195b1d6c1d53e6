"""What a sweep comes to: its results, front, knee and recommendation, and the files they are written to."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from shoal.errors import FileError, counted, decimal, one_or_many
from shoal.measures.catalogue import MEASURES
from shoal.plan.files_read import Inputs
from shoal.plan.notebook import fragment, grid
from shoal.plan.version import shoal_version
from shoal.sweeps.recommendation import Axes, Judgement, judge
from shoal.sweeps.results import PERCENTAGES, Result
from shoal.sweeps.risk_utility_map import PICTURES, can_draw, draw
from shoal.tables.files import write_file
from shoal.tables.files.writing_whole import encoded, same_file, written_whole

if TYPE_CHECKING:
    import polars as pl

_TABLES = ("sweep.parquet", "sweep.csv")
_WORDS = "sweep.json"
_PLAN = "recommended.yaml"


@dataclass(frozen=True)
class Sweep:
    """All combinations of method and k with their figures, and which of them to take.

    Attributes
    ----------
    results : list of Result
        Method by method, k rising.
    axes : Axes
        What is weighed against what: names of measures, and limits.
    records : int
        Rows of the table.
    sample, repeats : int or None
        Records of each sample and number of samples; None where the whole table was protected.
    reused : int
        Runs whose results were in the folder already.
    notes : list of str
        What a user should know about these figures.
    """

    results: list[Result]
    axes: Axes = field(default_factory=Axes)
    records: int = 0
    sample: int | None = None
    repeats: int | None = None
    reused: int = 0
    notes: list[str] = field(default_factory=list)
    _judgement: Judgement = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_judgement", judge(self.results, self.axes))

    def __repr__(self) -> str:
        return f"<Sweep of {counted(len(self.results), 'combination')}. {self.recommendation}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show: the recommendation and the combinations that no other beats."""
        axes = (self.axes.risk, self.axes.loss)
        rows = [
            (str(r.k), r.name, *(decimal(getattr(r, name)) for name in axes), str(r.k_anonymity), f"{r.groups:,}")
            for r in self.front
        ]
        head = ("k", "method", *(f"{MEASURES[name].label}, %" for name in axes), "k-anonymity", "groups")
        about = {"recommendation": self.recommendation, "tried": counted(len(self.results), "combination")}
        return fragment(
            "Sweep", about, tables=[grid(head, rows)], notes=self.notes, told="sweep.table has all of them."
        )

    @property
    def front(self) -> list[Result]:
        """The combinations that no other beats, from the highest risk to the lowest."""
        return [self.results[place] for place in self._judgement.front]

    @property
    def knee(self) -> Result | None:
        """The knee of the front, where it has one."""
        return self._at(self._judgement.knee)

    @property
    def recommended(self) -> Result | None:
        """The combination to take; None where none is within the limits, or where none stands out."""
        return self._at(self._judgement.recommended)

    @property
    def nearest(self) -> Result | None:
        """The combination that comes nearest to the limits, where none is within them."""
        return self._at(self._judgement.nearest)

    @property
    def recommendation(self) -> str:
        """The recommendation in words, with its reason."""
        return self._judgement.sentence

    def _at(self, place: int | None) -> Result | None:
        return None if place is None else self.results[place]

    @property
    def table(self) -> pl.DataFrame:
        """A polars table, a row for each combination."""
        lines = [result.row() for result in self.results]
        judgement = self._judgement
        columns = {name: [line[name] for line in lines] for name in lines[0]}
        columns["front"] = [place in judgement.front for place in range(len(lines))]
        columns["recommended"] = [place == judgement.recommended for place in range(len(lines))]
        numbers = [name for name in columns if name in PERCENTAGES or name.endswith("_error")]
        frame = nw.from_dict(columns, backend="polars").with_columns(nw.col(*numbers).cast(nw.Float64))
        native: pl.DataFrame = frame.to_native()  # columns that are None throughout are numbers too
        return native

    def judge(
        self,
        *,
        risk: str | None = None,
        loss: str | None = None,
        max_risk: float | None = None,
        max_loss: float | None = None,
    ) -> Sweep:
        """Return the same results weighed anew, with other axes or limits; nothing is run."""
        axes = Axes(risk or self.axes.risk, loss or self.axes.loss, max_risk, max_loss)
        return Sweep(self.results, axes, self.records, self.sample, self.repeats, self.reused, self.notes)

    def chart(self) -> Any:
        """Return the risk-utility map as an altair chart; needs the extra ``report``."""
        judgement = self._judgement
        return draw(self.results, self.axes, judgement.front, judgement.knee, judgement.recommended, self._sampled())

    def _sampled(self) -> str:
        if self.sample is None:
            return counted(self.records, "record")
        samples = one_or_many(self.repeats or 1, "a sample", f"means over {self.repeats} samples")
        return f"{samples} of {self.sample} of {counted(self.records, 'record')}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        judgement = self._judgement
        lines = self.table.to_dicts()
        return {
            "records": self.records,
            "sample": self.sample,
            "repeats": self.repeats,
            **asdict(self.axes),
            "results": lines,
            "front": [lines[place] for place in judgement.front],
            "knee": None if judgement.knee is None else lines[judgement.knee],
            "recommended": None if judgement.recommended is None else lines[judgement.recommended],
            "nearest": None if judgement.nearest is None else lines[judgement.nearest],
            "recommendation": self.recommendation,
            "reused": self.reused,
            "notes": self.notes,
            "version": shoal_version(),
        }

    def write(self, folder: str | Path) -> list[Path]:
        """Write tables, recommendation, recommended plan and picture to a folder; returns what was written.

        All appear whole or not at all, and what an earlier sweep wrote there is replaced. The picture needs the extra
        ``report`` and is left out where that is not installed, the plan where nothing is recommended.
        """
        folder = Path(folder)
        check_folder(folder)
        folder.mkdir(exist_ok=True)
        best = self.recommended
        pictures = PICTURES if can_draw() else {}
        names = [*_TABLES, _WORDS, *([_PLAN] if best else []), *pictures]
        paths = [folder / name for name in names]
        with written_whole(*paths) as part:
            for name in _TABLES:
                write_file(self.table, part(folder / name), None, ())
            text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
            part(folder / _WORDS).write_bytes(encoded(text + "\n"))
            if best:
                part(folder / _PLAN).write_bytes(encoded(best.plan.to_yaml()))
            for name, how in pictures.items():
                self.chart().save(str(part(folder / name)), **how)
        for name in {_PLAN, *PICTURES} - set(names):
            (folder / name).unlink(missing_ok=True)
        return paths


def check_folder(folder: Path, inputs: Inputs = ()) -> None:
    """Refuse a folder that a sweep cannot be written to, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise FileError(f"'{folder}' is a file; name a folder")
    nearest = folder if folder.is_dir() else folder.absolute().parent
    if not nearest.is_dir():
        raise FileError(f"the folder '{nearest}' is not there; make it first")
    if not os.access(nearest, os.W_OK):
        raise FileError(f"the folder '{nearest}' cannot be written to; choose another one")
    for name in (*_TABLES, _WORDS, _PLAN, *PICTURES):
        target = folder / name
        if target.is_dir():
            raise FileError(f"'{target}' is a folder, and the sweep writes a file of that name; choose another folder")
        for what, read in inputs:
            if same_file(target, read):
                raise FileError(f"'{target}' is {what}, which the sweep would replace; choose another folder")
