"""Two ways to classify into ordered classes with binary classifiers: Frank and Hall's, and data replication.

Both are scikit-learn meta-estimators. skordinal 0.2.0 has Frank and Hall's method for classifiers with probabilities;
here it takes any binary classifier, support vector machines among them, whose answers are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.svm import SVC
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class _Ordinal(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both have in common: classes in the order in which they sort, and binary answers that are counted."""

    estimator: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # where classes have no order
        return tags

    def _started(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, codes

    def _binary(self) -> Any:
        return SVC(kernel="linear") if self.estimator is None else clone(self.estimator)


class FrankHall(_Ordinal):
    """K − 1 binary classifiers, the k-th of which answers whether an item's class is above the k-th.

    The prediction is the class with as many classes below it as there are answers of yes.

    Examples
    --------
    >>> FrankHall().fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 2, 2]).predict([[-1.0], [2.0], [9.0]]).tolist()
    [0, 1, 2]
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> FrankHall:
        """Train the K − 1 classifiers."""
        X, codes = self._started(X, y)
        self.estimators_ = [self._binary().fit(X, codes > k) for k in range(len(self.classes_) - 1)]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every item, shape (item,)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        above = np.zeros(len(X), dtype=np.int64)
        for one in self.estimators_:
            above += one.predict(X).astype(np.int64)
        return self.classes_[above]


class DataReplication(_Ordinal):
    """One binary classifier of items that are repeated K − 1 times, each time with other extra features.

    The q-th replica of an item has label "its class is above the q-th". Extra features are 0 for the first replica,
    and `h` in one of K − 2 places for every other. A linear classifier finds one direction for all borders then, and
    a shift for each, which are parallel: the prediction is the class above as many borders as there are answers of yes.

    Examples
    --------
    >>> oSVM = DataReplication(SVC(kernel="linear", C=10))
    >>> oSVM.fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 2, 2]).predict([[-1.0], [2.0], [9.0]]).tolist()
    [0, 1, 2]
    """

    def __init__(self, estimator: Any = None, h: float = 1.0, s: int | None = None) -> None:
        self.estimator = estimator
        self.h = h
        self.s = s

    def fit(self, X: Any, y: Any) -> DataReplication:
        """Train the classifier on all replicas."""
        X, codes = self._started(X, y)
        if not self.h > 0:
            raise ValueError(f"h={self.h}: replicas are told apart by a size above 0")
        if self.s is not None and self.s < 1:
            raise ValueError(f"s={self.s}: a border has at least one class on either side")
        n_borders = len(self.classes_) - 1
        reach = n_borders if self.s is None else self.s
        parts, labels = [], []
        for q in range(n_borders):
            near = (codes > q - reach) & (codes <= q + reach)
            parts.append(self._extended(X[near], q))
            labels.append(codes[near] > q)
        if n_borders:
            self.estimator_ = self._binary().fit(np.vstack(parts), np.concatenate(labels))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every item, shape (item,)."""
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        above = np.zeros(len(X), dtype=np.int64)
        for q in range(len(self.classes_) - 1):
            above += self.estimator_.predict(self._extended(X, q)).astype(np.int64)
        return self.classes_[above]

    def _extended(self, X: np.ndarray, q: int) -> np.ndarray:
        extra = np.zeros((len(X), max(len(self.classes_) - 2, 0)))
        if q > 0:
            extra[:, q - 1] = self.h
        return np.hstack([X, extra])
