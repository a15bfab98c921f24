"""A classifier for scikit-learn."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._plan import Plan, compile, parse


class DtnnClassifier(ClassifierMixin, BaseEstimator):
    """Classes of rows of numbers, by a network that is trained to its last epoch.

    Parameters
    ----------
    hidden : units of the dense layers between the features and the classes, each with a relu behind it.
    layers : the layers of a spec in their place, the last of which gives a softmax over the classes.
    optimizer : a name, or a dictionary as in a spec.
    learning_rate : None, the optimizer's default.
    epochs, batch_size : of the training.
    validation_split : the part of the samples that the history's validation is of.
    threads : 0: the cores of this machine.
    random_state : the seed, or what draws it; None: always the same one.

    Features are standardised by those of `fit`. The network is `plan_` once it is fitted."""

    def __init__(self, hidden: Any = (64,), *, layers: Any = None, optimizer: Any = "adam",
                 learning_rate: Optional[float] = None, epochs: int = 100, batch_size: int = 32,
                 validation_split: float = 0.0, threads: int = 0, random_state: Any = None):
        self.hidden = hidden
        self.layers = layers
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.validation_split = validation_split
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> DtnnClassifier:
        X, y = validate_data(self, X, y, dtype=numpy.float64)
        check_classification_targets(y)
        self.classes_, labels = numpy.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("the samples are of one class; a classifier needs at least two")
        self.mean_ = X.mean(axis=0)
        deviation = X.std(axis=0)
        self.deviation_ = numpy.where(deviation > 0, deviation, 1.0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples.npz")
            # A dataset has test samples; those of a fit are its own.
            rows, labels = self._rows(X), labels.astype(numpy.int32)
            numpy.savez(path, x_train=rows, y_train=labels, x_test=rows[:1], y_test=labels[:1])
            self.plan_ = compile(self._job(path, len(rows)), threads=self.threads)
            self.history_ = self.plan_.fit()
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=numpy.float64, reset=False)
        return self.plan_.predict(self._rows(X))

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _rows(self, X: Any) -> Any:
        return numpy.ascontiguousarray((X - self.mean_) / self.deviation_, dtype=numpy.float32)

    def _job(self, path: str, samples: int) -> dict[str, Any]:
        layers = self.layers
        if layers is None:
            layers = [layer for units in self.hidden for layer in ({"dense": {"units": int(units)}}, "relu")]
            layers = [*layers, {"dense": {"units": len(self.classes_)}}, "softmax"]
        optimizer = self.optimizer
        if self.learning_rate is not None and isinstance(optimizer, str):
            optimizer = {optimizer: {"learning_rate": float(self.learning_rate)}}
        training = {"kind": "training", "name": "fit", "optimizer": optimizer, "epochs": int(self.epochs),
                    "batch_size": int(min(self.batch_size, samples)), "metrics": ["categorical_accuracy"]}
        if self.random_state is not None:
            training["seed"] = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.validation_split:
            training["validation_split"] = float(self.validation_split)
        shape = [int(len(self.mean_))]
        return {
            "name": "classifier",
            "model": {"kind": "model", "name": "classifier", "input": {"shape": shape}, "layers": layers},
            "dataset": {"kind": "dataset", "name": "samples", "type": "archive", "path": path, "train_samples": samples,
                        "test_samples": 1, "classes": int(len(self.classes_))},
            "training": training,
        }

    # A plan is its text and its weights, which can be copied and pickled; a network cannot.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        plan: Optional[Plan] = state.pop("plan_", None)
        if plan is not None:
            state["plan_text_"] = plan.text
            state["weights_"] = {name: numpy.array(value) for name, value in plan.weights.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        text, weights = state.pop("plan_text_", None), state.pop("weights_", {})
        super().__setstate__(state)
        if text is not None:
            self.plan_ = parse(text)
            self.plan_.weights.update(weights)
