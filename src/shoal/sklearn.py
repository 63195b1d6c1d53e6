"""Microaggregation as an estimator of scikit-learn: a shell over :func:`shoal.protect`.

It lives beside the report and the command line, and uses what they use. The name of the module is that of the package
that it is for; imports here are absolute, so that ``sklearn`` is always the other one.

What a fitted estimator holds, and what a pickle of it therefore tells: the release, the groups, the mean and the spread
of each column, and a checksum of the table. No record of the original.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from shoal.columns.numbers import Column
from shoal.columns.scaling import Scale, ScalingName, encode_points, fit_scale
from shoal.errors import DataError, MissingExtra, PlanError, did_you_mean
from shoal.kernels.arrays import Floats, Ints
from shoal.pipeline import protect
from shoal.plan.blocking import Blocking

try:
    from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.metrics import pairwise_distances_argmin
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as missing:
    raise MissingExtra("shoal.sklearn", "sklearn") from missing

_UNSEEN = ("refuse", "keep", "assign")


class Microaggregator(OneToOneFeatureMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """Microaggregate the columns of an array or a dataframe: every row becomes one that at least k rows share.

    All columns are quasi-identifiers, and are numbers; NaN is a missing value. For roles, categories, edit rules,
    strata and files there is :func:`shoal.protect`, which this calls. Parameters that are not given are those of the
    plan.

    Parameters
    ----------
    k : int, default 5
        Smallest group, at least 2.
    method : str, default "optimal"
        Partition method; ``shoal.METHODS`` lists them.
    options : dict
        Options of the method.
    refine : bool, default False
        Take the groups apart and put them together again while that lowers the loss.
    scaling : {"z-score", "range", "robust", "none"}
        How columns are made comparable for distances.
    aggregators : str
        What a group is released as, such as ``"mean"``, the default, or ``"median"``.
    missing_patterns : {"counted", "ignored"}
        Whether k rows share which of their values are missing, too.
    blocking : str or dict
        How a large table is cut into blocks; none by default.
    seed : int, default 0
        For methods that draw random numbers.
    unseen : {"refuse", "keep", "assign"}
        What ``transform`` does with another table than the one that was fitted. k is a promise about the records that
        were grouped together, and does not carry over to others: they are refused. In a pipeline whose last step
        learns from the release and is then shown new records, ``"keep"`` shows them as they are, and ``"assign"`` as
        the nearest released centre. Neither makes a release of them.

    Attributes
    ----------
    labels_ : int64 (n,)
        Number of each row's group, by first appearance.
    cluster_centers_ : float64 (groups, d)
        What each group was released as; NaN where all its values are missing.
    summary_ : Summary
        What was done and what it cost.
    n_features_in_, feature_names_in_
        Columns of the table that was fitted, and their names where it had any.

    Examples
    --------
    >>> import numpy as np
    >>> people = np.array([[30.0, 20], [31, 22], [33, 21], [60, 50], [62, 54], [64, 52]])
    >>> estimator = Microaggregator(k=3).fit(people)
    >>> estimator.labels_.tolist(), estimator.cluster_centers_.round(1).tolist()
    ([0, 0, 0, 1, 1, 1], [[31.3, 21.0], [62.0, 52.0]])
    >>> estimator.assign([[35.0, 30.0], [70.0, 60.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        method: str | None = None,
        options: Mapping[str, Any] | None = None,
        refine: bool | None = None,
        scaling: ScalingName = "z-score",
        aggregators: str | None = None,
        missing_patterns: str | None = None,
        blocking: Blocking | Mapping[str, Any] | str | None = None,
        seed: int | None = None,
        unseen: Literal["refuse", "keep", "assign"] = "refuse",
    ) -> None:
        self.k = k
        self.method = method
        self.options = options
        self.refine = refine
        self.scaling = scaling
        self.aggregators = aggregators
        self.missing_patterns = missing_patterns
        self.blocking = blocking
        self.seed = seed
        self.unseen = unseen

    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> Self:  # noqa: N803 - names of scikit-learn
        """Form the groups of a table and make its release.

        Parameters
        ----------
        X : array or dataframe (n, d)
            The table.
        y
            Not looked at.
        sample_weight : array (n,)
            Sampling weights: released values are weighted. They are no counts, and a record is one record for k.
        """
        if self.unseen not in _UNSEEN:
            raise PlanError(f"unseen: must be one of {', '.join(_UNSEEN)}{did_you_mean(str(self.unseen), _UNSEEN)}")
        values = self._validated(X, reset=True)
        names = [str(name) for name in self.get_feature_names_out()]
        weight = None
        columns = dict(zip(names, values.T, strict=True))
        if sample_weight is not None:
            weight = "sample_weight"
            while weight in columns:
                weight += "_"
            columns[weight] = _check_sample_weight(sample_weight, values, dtype=np.float64)
        release = protect(
            _frame(columns),
            self.k,
            [*names],
            method=self.method,
            options=self.options,
            refine=self.refine,
            scaling=self.scaling,
            aggregators=self.aggregators,
            missing_patterns=self.missing_patterns,
            blocking=self.blocking,
            weight=weight,
            seed=self.seed,
            progress=False,
        )
        self.labels_: Ints = release.groups
        self.summary_ = release.summary
        self._released: Floats = release.data.select(names).to_numpy(order="c").astype(np.float64)
        self.cluster_centers_ = _centres(self._released, self.labels_)
        self._scales = [_without_a_record(fit_scale(column, self.scaling)) for column in _columns(values, names)]
        self._fitted_on = _checksum(values)
        return self

    def fit_transform(self, X: Any, y: object = None, sample_weight: Any = None) -> Floats:  # noqa: N803
        """Return the release of a table, row by row in its order; see :meth:`fit`."""
        return self.fit(X, y, sample_weight)._released.copy()

    def transform(self, X: Any) -> Floats:  # noqa: N803 - names of scikit-learn
        """Return the release of the table that was fitted; another one is refused, unless ``unseen`` says otherwise.

        It is here for :class:`sklearn.pipeline.Pipeline` and :class:`sklearn.compose.ColumnTransformer`, which take
        no step without it.
        """
        check_is_fitted(self)
        values = self._validated(X, reset=False)
        if _checksum(values) == self._fitted_on:
            return self._released.copy()
        if self.unseen == "keep":
            return values
        if self.unseen == "assign":
            return self.cluster_centers_[self._nearest(values)]
        raise DataError(
            "transform: these are not the records that were fitted, and that k records share a row says nothing about "
            "others. Release them with fit_transform; assign() finds the nearest released centre; and unseen='keep' or "
            "'assign' shows them to a later step of a pipeline"
        )

    def assign(self, X: Any) -> Ints:  # noqa: N803 - names of scikit-learn
        """Return the row of ``cluster_centers_`` that is nearest to each record, which may be new.

        Distances are those of the plan: columns are scaled as those of the table that was fitted, and a missing
        value is at the distance that is to be expected. This protects nobody: which centre a record is nearest to is a
        fact about that record alone.
        """
        check_is_fitted(self)
        return self._nearest(self._validated(X, reset=False))

    def _nearest(self, values: Floats) -> Ints:
        every = np.concatenate([self.cluster_centers_, values])
        points = encode_points(_columns(every, self.get_feature_names_out()), self._scales).values
        groups = len(self.cluster_centers_)
        nearest: Ints = pairwise_distances_argmin(points[groups:], points[:groups]).astype(np.int64)
        return nearest

    def _validated(self, X: Any, *, reset: bool) -> Floats:  # noqa: N803 - names of scikit-learn
        fewest = self.k if reset and isinstance(self.k, int) else 1
        values: Floats = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=fewest
        )
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _frame(columns: Mapping[str, Floats]) -> Any:
    """Return a table in which NaN is missing."""
    import polars as pl

    return pl.DataFrame(columns, nan_to_null=True)


def _columns(values: Floats, names: Any) -> list[Column]:
    """Return the columns of a matrix."""
    return [Column(str(name), own, ~np.isnan(own)) for name, own in zip(names, values.T, strict=True)]


def _centres(released: Floats, labels: Ints) -> Floats:
    """Return what each group was released as: its observed values in a column are all the same."""
    centres = np.full((int(labels.max()) + 1, released.shape[1]), np.nan)
    for j, own in enumerate(released.T):
        seen = ~np.isnan(own)
        centres[labels[seen], j] = own[seen]
    return centres


def _without_a_record(scale: Scale) -> Scale:
    """Return the same scale with the mean of the column as its base, not a value of a record."""
    mean = scale.base + scale.location * scale.unit
    return replace(scale, base=mean, location=0.0, kept=None if scale.kept is None else 0.0)


def _checksum(values: Floats) -> str:
    """Return a checksum of a table, by which it is known again."""
    return hashlib.sha256(str(values.shape).encode() + np.ascontiguousarray(values).tobytes()).hexdigest()
