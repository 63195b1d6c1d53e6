"""Learning from microaggregated data: how well models of Adult predict when they see only its release, against k.

The task is that of the data set: whether somebody earns more than 50000 dollars a year. The five columns of numbers
are the quasi-identifiers and all that a model sees. It is trained on the release of seven tenths of the records, and
tested on the other three tenths as they are. The same splits are used for every k.
"""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from published import data_folder
from record import Recorder, stopwatch
from shoal.sklearn import Microaggregator

NUMBERS = {0: "age", 4: "education-num", 10: "capital-gain", 11: "capital-loss", 12: "hours-per-week"}
KS = (3, 5, 10, 25, 50, 100, 250, 500)
SPLITS = 5
MODELS = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
}


def adult() -> tuple[pl.DataFrame, np.ndarray]:
    """Return the columns of numbers and who earns more, of the 32561 records; none of these values is missing."""
    table = pl.read_csv(data_folder() / "adult" / "adult.data", has_header=False).filter(pl.nth(1).is_not_null())
    numbers = [
        pl.nth(at).cast(pl.String).str.strip_chars().cast(pl.Float64).alias(name) for at, name in NUMBERS.items()
    ]
    return table.select(numbers), table.select(pl.nth(14).str.contains(">50K")).to_series().to_numpy()


def run(quick: bool) -> None:
    """Train both models on the original and on releases with each k."""
    recorder = Recorder("learning", quick)
    table, earns_more = adult()
    if quick:
        table, earns_more = table[:3000], earns_more[:3000]
    for split in range(1 if quick else SPLITS):
        parts = train_test_split(table.to_numpy(), earns_more, test_size=0.3, stratify=earns_more, random_state=split)
        seen, unseen, learnt, asked = parts
        for k in (None, *(KS[:2] if quick else KS)):
            estimator = Microaggregator(k or 2, method="mdav")
            with stopwatch() as seconds:
                release = seen if k is None else estimator.fit_transform(seen)
            for name, model in MODELS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fitted = clone(model).fit(release, learnt)
                recorder.add(
                    split=split,
                    k=k,
                    model=name,
                    records=len(seen),
                    majority=round(100 * float(1 - asked.mean()), 3),
                    accuracy=round(100 * fitted.score(unseen, asked), 3),
                    auc=round(float(roc_auc_score(asked, fitted.predict_proba(unseen)[:, 1])), 5),
                    loss=0.0 if k is None else round(estimator.summary_.information_loss, 4),
                    **seconds,
                )
