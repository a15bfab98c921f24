#!/usr/bin/env python3
"""Writes metrics.json: metrics over a whole data set as scikit-learn and NumPy compute them.

A case:
    name           unique
    label_kind     classes, multiple or values
    loss           what the training's is: binary_cross_entropy from logits makes thresholds see probabilities
    shape          [samples, C] of the predictions; batches: the sizes of the batches that they come in
    predictions, labels|targets
    metrics        [{"type", "attributes", "name", "value": a number, a list or a matrix; null: not a number}]
"""

import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn import metrics as sk

warnings.filterwarnings("ignore")
RANDOM = np.random.default_rng(20240229)


def rounded(x, places=2):
    """Few different numbers, so that there are ties."""
    return np.round(x, places)


def metric(kind, name, value, /, **attributes):
    if isinstance(value, np.ndarray):
        value = value.tolist()
    value = None if isinstance(value, float) and np.isnan(value) else value
    return {"type": kind, "attributes": attributes, "name": name, "value": value if isinstance(value, (list, type(None))) else float(value)}


def top_k(x, labels, k):
    """Of equal scores the first come first."""
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    return np.mean([label in row for label, row in zip(labels, order)])


def hinge(x, labels, margin=1.0):
    mine = x[np.arange(len(x)), labels]
    others = x.copy()
    others[np.arange(len(x)), labels] = -np.inf
    return np.maximum(0, margin - mine + others.max(1)).mean()


def rates(truth, guess, labels=None, **more):
    found = []
    for kind, function in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score),
                           ("mean_iou", sk.jaccard_score)):
        for average, theirs in (("macro", "macro"), ("micro", "micro"), ("per_class", None)):
            # All classes by themselves; means over those that occur, as is scikit-learn's default.
            own = {"labels": labels} if average == "per_class" and labels is not None else {}
            value = function(truth, guess, average=theirs, zero_division=0, **own)
            name = kind + ("" if average == "macro" else "_" + average) + (f"_{more['threshold']:g}" if more else "")
            found.append(metric(kind, name, value, average=average, **more))
    return found


def area(truth, scores, average):
    """As sklearn.metrics.roc_auc_score, over the classes that have both kinds of samples."""
    if average == "micro":
        return sk.roc_auc_score(truth.ravel(), scores.ravel())
    each = [sk.roc_auc_score(truth[:, c], scores[:, c]) for c in range(truth.shape[1]) if 0 < truth[:, c].sum() < len(truth)]
    return np.mean(each) if each else float("nan")


def areas(truth, scores):
    return [metric("roc_auc", "roc_auc" + ("" if average == "macro" else "_micro"), area(truth, scores, average), average=average)
            for average in ("macro", "micro")]


def written(x, truth, over):
    """A formula: a mean over all numbers, or over samples."""
    away = np.abs(x - truth)
    terms = np.where(away < 0.5, away ** 2, away)
    return metric("formula", "capped", terms.mean() * (x.shape[1] if over == "rows" else 1), name="capped", over=over,
                  expression="where(abs(p - t) < 0.5, (p - t) ** 2, abs(p - t))")


def of_classes(name, x, labels, batches, ks=(1, 2, 3)):
    count, classes = x.shape
    one_hot = np.eye(classes)[labels]
    guess = np.array([int(np.argmax(row)) for row in x])
    everything = list(range(classes))
    found = [metric("categorical_accuracy", "categorical_accuracy", np.mean(guess == labels)),
             *(metric("top_k_accuracy", f"top_{k}_accuracy", top_k(x, labels, k), k=k) for k in ks),
             metric("hinge", "hinge", hinge(x, labels), margin=1.0, form="largest"),
             metric("mean_squared_error", "mean_squared_error", sk.mean_squared_error(one_hot, x)),
             metric("mean_absolute_error", "mean_absolute_error", sk.mean_absolute_error(one_hot, x)),
             *rates(labels, guess, everything),
             metric("confusion_matrix", "confusion_matrix", sk.confusion_matrix(labels, guess, labels=everything).astype(float)),
             *areas(one_hot, x),
             written(x, one_hot, "rows")]
    return {"name": name, "label_kind": "classes", "loss": {"type": "mean_squared_error", "attributes": {}}, "shape": [count, classes],
            "batches": batches, "predictions": x.ravel().tolist(), "labels": labels.tolist(), "metrics": found}


def of_probabilities(name, p, labels, batches, loss):
    mean = sk.log_loss(labels, p, labels=list(range(p.shape[1])))
    found = [metric("cross_entropy", "cross_entropy", mean), metric("perplexity", "perplexity", np.exp(mean)),
             metric("bits_per_token", "bits_per_token", mean / np.log(2))]
    return {"name": name, "label_kind": "classes", "loss": loss, "shape": list(p.shape), "batches": batches,
            "predictions": p.ravel().tolist(), "labels": labels.tolist(), "metrics": found}


def of_many(name, x, truth, batches, loss, threshold=0.5):
    probabilities = 1 / (1 + np.exp(-x)) if loss["attributes"].get("from_logits") else x
    guess = (probabilities > threshold).astype(int)
    more = {} if threshold == 0.5 else {"threshold": threshold}
    suffix = "" if threshold == 0.5 else f"_{threshold:g}"
    counts = sk.multilabel_confusion_matrix(truth, guess).reshape(-1, 4).astype(float)  # tn fp fn tp
    found = [metric("binary_accuracy", "binary_accuracy" + suffix, np.mean(guess == truth), threshold=threshold),
             metric("mean_squared_error", "mean_squared_error", sk.mean_squared_error(truth, x)),
             metric("mean_absolute_error", "mean_absolute_error", sk.mean_absolute_error(truth, x)),
             *rates(truth, guess, **more),
             metric("confusion_matrix", "confusion_matrix" + suffix, counts, **more),
             *areas(truth, x),
             written(x, truth, "elements")]
    return {"name": name, "label_kind": "multiple", "loss": loss, "shape": list(x.shape), "batches": batches,
            "predictions": x.ravel().tolist(), "targets": truth.ravel().astype(float).tolist(), "metrics": found}


def of_values(name, x, truth, batches):
    found = [metric("mean_squared_error", "mean_squared_error", sk.mean_squared_error(truth, x)),
             metric("mean_absolute_error", "mean_absolute_error", sk.mean_absolute_error(truth, x)),
             written(x, truth, "elements")]
    return {"name": name, "label_kind": "values", "loss": {"type": "mean_absolute_error", "attributes": {}}, "shape": list(x.shape),
            "batches": batches, "predictions": x.ravel().tolist(), "targets": truth.ravel().tolist(), "metrics": found}


def cases():
    def softmax(x):
        return np.exp(x) / np.exp(x).sum(1, keepdims=True)

    labels = RANDOM.integers(0, 4, 23)
    yield of_classes("four classes in uneven batches", softmax(RANDOM.normal(size=(23, 4)) + 1.5 * np.eye(4)[labels]), labels, [8, 8, 7])
    yield of_classes("ties", rounded(softmax(RANDOM.normal(size=(23, 4))), 1), labels, [8, 8, 7])
    yield of_classes("negative numbers", RANDOM.normal(size=(23, 4)) - 3, labels, [23])
    yield of_classes("single samples", softmax(RANDOM.normal(size=(5, 3))), np.array([0, 2, 1, 1, 0]), [1, 1, 1, 1, 1])
    # Class 1 is never a label, class 3 never predicted, class 4 neither.
    scores = softmax(RANDOM.normal(size=(20, 5)))
    scores[:, 3:] = 0.0
    yield of_classes("classes that do not occur", scores, np.array([0, 2, 3, 0, 2] * 4), [6, 6, 8])
    yield of_classes("one class only", softmax(RANDOM.normal(size=(6, 3))), np.zeros(6, dtype=int), [4, 2])
    truth = (RANDOM.random((19, 5)) < 0.35).astype(int)
    truth[:, 4] = 0
    yield of_many("any number of classes", RANDOM.random((19, 5)), truth, [8, 8, 3], {"type": "binary_cross_entropy", "attributes": {"from_logits": False}})
    yield of_many("any number of classes, another threshold", rounded(RANDOM.random((19, 5)), 1) + 0.05, truth, [8, 8, 3],
                  {"type": "binary_cross_entropy", "attributes": {"from_logits": False}}, threshold=0.3)
    yield of_many("logits", RANDOM.normal(size=(19, 5)) * 2, truth, [10, 9], {"type": "binary_cross_entropy", "attributes": {"from_logits": True}})
    yield of_values("numbers", RANDOM.normal(size=(11, 2)), RANDOM.normal(size=(11, 2)), [4, 4, 3])
    for smoothing in (0.0, 0.2):
        yield of_probabilities(f"probabilities, smoothing {smoothing}", softmax(RANDOM.normal(size=(13, 6)) * 3),
                               RANDOM.integers(0, 6, 13), [5, 5, 3],
                               {"type": "categorical_cross_entropy", "attributes": {"smoothing": smoothing}})


def main():
    found = list(cases())
    lines = ",\n".join(json.dumps(c) for c in found)
    path = pathlib.Path(__file__).resolve().parent / "metrics.json"
    path.write_text(f'{{"scikit-learn": "{sklearn.__version__}", "cases": [\n{lines}\n]}}\n')
    print(f"metrics.json: {len(found)} cases, {sum(len(c['metrics']) for c in found)} values")


if __name__ == "__main__":
    main()
