#!/usr/bin/env python3
"""Writes sequence_values.json: what PyTorch makes of a network over sequences, [16 steps, 32 features], in double.

    a = dense(x)                     over the features of every step
    b = relu(layer_norm(a))          over the features
    c = softmax(a, over the steps)
    d = concat(b + a, c, over the steps)
    logits = dense(mean of d over the steps)

under the mean cross-entropy, trained by plain SGD on the batches that are listed. Dropout of rate 0 stands in the network that
is compiled and changes nothing. Needs PyTorch and NumPy; the test does not.
"""

import json
import pathlib

import numpy as np
import torch
from torch.nn import functional as F

STEPS, FEATURES, UNITS, CLASSES = 16, 32, 8, 3
SAMPLES, BATCH, UPDATES, RATE = 12, 4, 9, 0.5


def made(shape, seed, scale=1.0):
    return (np.random.default_rng(seed).normal(size=shape) * scale).round(3)


SOURCE = made((SAMPLES, STEPS, FEATURES), 1)
LABELS = [int(v) for v in np.random.default_rng(2).integers(0, CLASSES, SAMPLES)]
FIRST = {
    "a.weights": made((FEATURES, UNITS), 3, 0.3),
    "a.bias": made((UNITS,), 4, 0.1),
    "norm.gamma": 1 + made((UNITS,), 5, 0.1),
    "norm.beta": made((UNITS,), 6, 0.1),
    "last.weights": made((UNITS, CLASSES), 7, 0.5),
    "last.bias": made((CLASSES,), 8, 0.1),
}


def loss_of(weights, rows):
    x, labels = torch.tensor(SOURCE[rows]), torch.tensor([LABELS[row] for row in rows])
    a = x @ weights["a.weights"] + weights["a.bias"]
    b = torch.relu(F.layer_norm(a, (UNITS,), weights["norm.gamma"], weights["norm.beta"], 1e-5))
    c = torch.softmax(a, dim=1)
    d = torch.cat([b + a, c], dim=1)
    logits = d.mean(dim=1) @ weights["last.weights"] + weights["last.bias"]
    return F.cross_entropy(logits, labels)


def main():
    weights = {name: torch.tensor(value, requires_grad=True) for name, value in FIRST.items()}
    optimizer = torch.optim.SGD(weights.values(), lr=RATE)
    losses, batches = [], []
    for update in range(UPDATES):
        first = BATCH * update % SAMPLES
        rows = list(range(first, first + BATCH))
        optimizer.zero_grad()
        loss = loss_of(weights, rows)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        batches.append(rows)
    values = {
        "source": SOURCE.ravel().tolist(),
        "labels": LABELS,
        "rate": RATE,
        "first": {name: value.ravel().tolist() for name, value in FIRST.items()},
        "batches": batches,
        "losses": losses,
        "weights": {name: value.detach().numpy().ravel().tolist() for name, value in weights.items()},
    }
    path = pathlib.Path(__file__).with_name("sequence_values.json")
    path.write_text(json.dumps(values, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
