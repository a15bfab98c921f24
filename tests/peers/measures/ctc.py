#!/usr/bin/env python3
"""Writes ctc.json: the loss of sequences of labels and its gradient as PyTorch computes them, and label error rates by a plain
Levenshtein distance.

A case:
    name         unique
    blank, per   the loss's fields
    shape        [N, S, C] of the numbers x that reach the model's log_softmax
    x            those numbers, in logical order
    lengths      the steps of each sample; none: all have S
    most_labels  L; labels: [N, L], -1 behind those of a sample
    value        the loss
    gradient     by x
    changes      what makes the best paths the labels, of all samples together; counted: the labels there are
"""

import functools
import json
import pathlib

import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(20061)


def distance(ours, theirs):
    @functools.lru_cache(maxsize=None)
    def of(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (ours[i - 1] != theirs[j - 1]))

    return of(len(ours), len(theirs))


def best_path(rows, blank):
    path = rows.argmax(1).tolist()
    return tuple(c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c))


def case(name, labels, steps, classes, blank=0, per="label", lengths=None, spread=1.5, peaks=False):
    count, most = len(labels), max(1, max(len(row) for row in labels))
    x = torch.randn(count, steps, classes) * spread
    if peaks:
        # Near the labels, so that rates are neither 0 nor 1.
        for n, row in enumerate(labels):
            for u, label in enumerate(row):
                x[n, (2 * u + 1) % steps, label] += 4
    x.requires_grad_()
    used = torch.tensor(lengths if lengths else [steps] * count)
    padded = torch.full((count, most), 1 if blank != 1 else 0)
    for n, row in enumerate(labels):
        padded[n, :len(row)] = torch.tensor(row, dtype=torch.long)
    y = x.log_softmax(2)
    each = F.ctc_loss(y.transpose(0, 1), padded, used, torch.tensor([len(row) for row in labels]), blank=blank, reduction="none")
    value = each.mean()
    if per == "label":
        value = F.ctc_loss(y.transpose(0, 1), padded, used, torch.tensor([len(row) for row in labels]), blank=blank, reduction="mean")
    assert torch.isfinite(value)
    value.backward()
    changes = sum(distance(best_path(x[n, :used[n]], blank), tuple(row)) for n, row in enumerate(labels))
    return {"name": name, "blank": blank, "per": per, "shape": list(x.shape), "x": x.detach().reshape(-1).tolist(),
            **({"lengths": lengths} if lengths else {}), "most_labels": most,
            "labels": [label for row in labels for label in row + [-1] * (most - len(row))], "value": value.item(),
            "gradient": x.grad.reshape(-1).tolist(), "changes": changes, "counted": sum(len(row) for row in labels)}


def cases():
    several = [[1, 2, 3], [2, 2], [3], [1, 1, 1, 2]]
    for per in ("label", "sample"):
        yield case(f"labels of several numbers, per {per}", several, 8, 4, per=per, peaks=True)
        yield case(f"steps of several numbers, per {per}", several, 9, 4, per=per, lengths=[9, 5, 1, 7], peaks=True)
    yield case("the last class is the blank", [[0, 1, 0], [2, 2, 1], [1]], 7, 4, blank=3, peaks=True)
    yield case("a blank in the middle", [[0, 2, 0], [2, 2, 3], [4]], 7, 5, blank=1, lengths=[7, 6, 2])
    yield case("one label each", [[1], [2], [1]], 3, 3)
    yield case("no labels", [[], [1, 2]], 4, 3, lengths=[3, 4])
    yield case("no labels at all", [[], []], 3, 2)
    yield case("a single step", [[1], [2]], 1, 3)
    # As many steps as the labels take at least.
    yield case("no step to spare", [[1, 1, 2], [1, 2, 1, 2]], 4, 3, lengths=[4, 4])
    yield case("two classes", [[1, 1], [1, 1, 1]], 6, 2)
    yield case("improbable labels", [[1, 2, 3, 4], [4, 4]], 12, 5, spread=60)
    yield case("many steps", [[1 + i * i % 6 for i in range(17)], [3] * 9], 40, 7, spread=3, peaks=True)


def main():
    found = list(cases())
    names = [c["name"] for c in found]
    assert len(set(names)) == len(names)
    lines = ",\n".join(json.dumps(c) for c in found)
    path = pathlib.Path(__file__).resolve().parent / "ctc.json"
    path.write_text(f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n')
    print(f"ctc.json: {len(found)} cases")


if __name__ == "__main__":
    main()
