#!/usr/bin/env python3
"""Writes losses.json: losses, gradients and ten steps of gradient descent as PyTorch computes them.

A case:
    name           unique
    loss           {"type", "attributes"}, as a training's
    end            the model's last layer: "" (none), softmax, log_softmax or sigmoid
    label_kind     classes, multiple or values; soft: labels have become targets (mixup)
    shape          of the numbers that reach the last layer: [N, C] or [N, C, H, W]
    x              those numbers, in logical order
    labels|targets what they should be: one class a row (a pixel is a row), or a row of numbers each
    value          the loss
    gradient       by x
    steps          optional: {"inputs" [N, D], "weights" [D, C], "rate", "after": weights}: ten steps with x = inputs @ weights
"""

import json
import pathlib

import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(20240229)
ENDS = {"": lambda x: x, "softmax": lambda x: x.softmax(1), "log_softmax": lambda x: x.log_softmax(1), "sigmoid": torch.sigmoid}
STEPS, RATE = 10, 0.25


def plain(tensor):
    return tensor.detach().reshape(-1).tolist()


def rows(x):
    """An image as a row for each pixel."""
    return x if x.dim() == 2 else x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])


def case(name, loss, attributes, end, answers, function, shape=(6, 4), kind="classes", soft=False, spread=2.0, x=None, steps=True):
    """`function`: from the predictions' rows [R, C] and the answers to the loss."""
    x = (torch.randn(shape) * spread if x is None else x).requires_grad_()
    value = function(rows(ENDS[end](x)), answers)
    value.backward()
    noted = {"name": name, "loss": {"type": loss, "attributes": attributes}, "end": end, "label_kind": kind, "soft": soft,
             "shape": list(x.shape), "x": plain(x), ("targets" if answers.is_floating_point() else "labels"): plain(answers),
             "value": value.item(), "gradient": plain(x.grad)}
    if steps and x.dim() == 2:
        inputs = torch.randn(x.shape[0], 3)
        weights = (torch.randn(3, x.shape[1]) * 0.5).requires_grad_()
        noted["steps"] = {"inputs": plain(inputs), "weights": plain(weights), "rate": RATE}
        optimizer = torch.optim.SGD([weights], lr=RATE)
        for _ in range(STEPS):
            optimizer.zero_grad()
            function(ENDS[end](inputs @ weights), answers).backward()
            optimizer.step()
        noted["steps"]["after"] = plain(weights)
    return noted


def classes(count=6, of=4):
    return torch.tensor([(3 * i + i // 2) % of for i in range(count)])


def shares(count=6, of=4):
    return torch.softmax(torch.randn(count, of) * 1.5, 1)


def many(count=6, of=4):
    return (torch.rand(count, of) < 0.4).double()


WEIGHTS = [0.5, 2.0, 0.0, 1.25]


def one_hot(answers, of=4):
    return answers if answers.is_floating_point() else F.one_hot(answers, of).double()


def cross_entropies():
    for smoothing in (0.0, 0.1):
        for weights in (None, WEIGHTS):
            attributes = {"smoothing": smoothing, **({"class_weights": weights} if weights else {})}
            weight = torch.tensor(weights) if weights else None
            say = f"smoothing {smoothing}{', class weights' if weights else ''}"
            for answers, what, soft in ((classes(), "labels", False), (shares(), "shares", True)):
                # The cross-entropy of the logarithms, as logits, is the same number.
                yield case(f"categorical_cross_entropy of {what}, {say}", "categorical_cross_entropy", attributes, "softmax", answers,
                           lambda p, t, w=weight, s=smoothing: F.cross_entropy(p.log(), t, weight=w, label_smoothing=s), soft=soft)
    yield case("categorical_cross_entropy behind a sigmoid", "categorical_cross_entropy", {}, "sigmoid", classes(),
               lambda p, t: F.nll_loss(p.log(), t))
    yield case("categorical_cross_entropy of pixels", "categorical_cross_entropy", {"class_weights": WEIGHTS}, "softmax", classes(2 * 3 * 5),
               lambda p, t: F.nll_loss(p.log(), t, weight=torch.tensor(WEIGHTS)), shape=(2, 4, 3, 5))
    yield case("categorical_cross_entropy of any number of classes", "categorical_cross_entropy", {}, "softmax", many(),
               lambda p, t: -(t * p.log()).sum(1).mean(), kind="multiple")
    for weights in (None, WEIGHTS):
        attributes = {"class_weights": weights} if weights else {}
        weight = torch.tensor(weights) if weights else torch.ones(4)
        say = ", class weights" if weights else ""
        yield case(f"negative_log_likelihood of labels{say}", "negative_log_likelihood", attributes, "log_softmax", classes(),
                   lambda y, t, w=weight: F.nll_loss(y, t, weight=w))
        yield case(f"negative_log_likelihood of shares{say}", "negative_log_likelihood", attributes, "log_softmax", shares(),
                   lambda y, t, w=weight: -(w * t * y).sum(1).mean(), soft=True)


def binary():
    for weights in (None, WEIGHTS, [3.0]):
        weight = torch.tensor(weights) if weights else None
        attributes = {"positive_weights": weights} if weights else {}
        say = f", positive weights {weights}" if weights else ""

        def logits(x, t, w=weight):
            return F.binary_cross_entropy_with_logits(x, one_hot(t), pos_weight=w)

        def probabilities(p, t, w=weight):
            if w is None:
                return F.binary_cross_entropy(p, one_hot(t))
            return -(w * one_hot(t) * p.log() + (1 - one_hot(t)) * (1 - p).log()).mean()

        for answers, kind in ((many(), "multiple"), (classes(), "classes"), (shares(), "values")):
            yield case(f"binary_cross_entropy of {kind}{say}", "binary_cross_entropy", {**attributes, "from_logits": False}, "sigmoid", answers,
                       probabilities, kind=kind)
            yield case(f"binary_cross_entropy from logits of {kind}{say}", "binary_cross_entropy", {**attributes, "from_logits": True}, "", answers,
                       logits, kind=kind)
    yield case("binary_cross_entropy from logits far from zero", "binary_cross_entropy", {"from_logits": True}, "", many(),
               lambda x, t: F.binary_cross_entropy_with_logits(x, t), kind="multiple", x=torch.randn(6, 4) * 300, steps=False)
    yield case("binary_cross_entropy behind a softmax", "binary_cross_entropy", {"from_logits": False}, "softmax", classes(),
               lambda p, t: F.binary_cross_entropy(p, one_hot(t)))
    zero = torch.tensor([[0.0, 1.5], [-0.0, 0.0]])
    yield case("binary_cross_entropy from logits of zero", "binary_cross_entropy", {"from_logits": True}, "", torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
               lambda x, t: F.binary_cross_entropy_with_logits(x, t), kind="multiple", x=zero, steps=False)


def pointwise():
    for answers, kind in ((classes(), "classes"), (torch.randn(6, 4), "values"), (many(), "multiple")):
        yield case(f"mean_squared_error of {kind}", "mean_squared_error", {}, "", answers, lambda p, t: F.mse_loss(p, one_hot(t)), kind=kind)
        yield case(f"mean_absolute_error of {kind}", "mean_absolute_error", {}, "", answers, lambda p, t: F.l1_loss(p, one_hot(t)), kind=kind)
        for delta in (0.5, 1.0, 3.0):
            huber = case(f"huber of {kind}, delta {delta}", "huber", {"delta": delta}, "", answers,
                         lambda p, t, d=delta: F.huber_loss(p, one_hot(t), delta=d), kind=kind)
            yield huber
            if delta == 0.5:
                written = "where(abs(p - t) < 0.5, 0.5 * (p - t) ** 2, 0.5 * (abs(p - t) - 0.25))"
                yield {**huber, "name": f"a written huber of {kind}",
                       "loss": {"type": "formula", "attributes": {"expression": written, "over": "elements"}}}
    same = torch.tensor([[1.0, 0.0, 2.0]])
    yield case("mean_absolute_error where nothing differs", "mean_absolute_error", {}, "", torch.tensor([[1.0, 0.5, 2.0]]),
               lambda p, t: F.l1_loss(p, t), kind="values", x=same, steps=False)
    for answers, kind, what in ((classes(), "classes", "labels"), (shares(), "values", "shares"), (many(), "multiple", "zeros and ones")):
        yield case(f"kl_divergence of {what}", "kl_divergence", {}, "log_softmax", answers,
                   lambda y, t: F.kl_div(y, one_hot(t), reduction="batchmean"), kind=kind)
    yield case("mean_squared_error of pixels", "mean_squared_error", {}, "sigmoid", classes(2 * 3 * 5), lambda p, t: F.mse_loss(p, one_hot(t)),
               shape=(2, 4, 3, 5))


def crammer_singer(x, t, margin):
    mine = x.gather(1, t[:, None]).squeeze(1)
    others = x.masked_fill(F.one_hot(t, x.shape[1]).bool(), -float("inf")).max(1).values
    return (margin - mine + others).clamp(min=0).mean()


def hinges():
    for margin in (1.0, 0.4):
        yield case(f"hinge, margin {margin}", "hinge", {"margin": margin, "form": "largest"}, "", classes(),
                   lambda x, t, m=margin: crammer_singer(x, t, m))
        yield case(f"hinge of form all, margin {margin}", "hinge", {"margin": margin, "form": "all"}, "", classes(),
                   lambda x, t, m=margin: F.multi_margin_loss(x, t, margin=m))
    # The others below zero: max((1 - t) p) would find the 0 in the label's place.
    yield case("hinge of negative numbers", "hinge", {"margin": 1.0, "form": "largest"}, "", classes(),
               lambda x, t: crammer_singer(x, t, 1.0), x=torch.rand(6, 4) - 2, steps=False)


def dice(p, t, smooth, pixels):
    if pixels:
        p, t = (value.reshape(-1, pixels, value.shape[1]).transpose(1, 2) for value in (p, t))
    both, below = (p * t).sum(-1), p.sum(-1) + t.sum(-1)
    return (1 - (2 * both + smooth) / (below + smooth)).mean()


def dices():
    for smooth in (1.0, 0.01):
        yield case(f"dice of pixels, smooth {smooth}", "dice", {"smooth": smooth}, "softmax", classes(2 * 3 * 5),
                   lambda p, t, s=smooth: dice(p, one_hot(t), s, 15), shape=(2, 4, 3, 5))
        for answers, kind in ((classes(), "classes"), (many(), "multiple")):
            yield case(f"dice of {kind}, smooth {smooth}", "dice", {"smooth": smooth}, "sigmoid", answers,
                       lambda p, t, s=smooth: dice(p, one_hot(t), s, 0), kind=kind)


def main():
    cases = [c for family in (cross_entropies, binary, pointwise, hinges, dices) for c in family()]
    names = [c["name"] for c in cases]
    assert len(set(names)) == len(names)
    lines = ",\n".join(json.dumps(c) for c in cases)
    path = pathlib.Path(__file__).resolve().parent / "losses.json"
    path.write_text(f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n')
    print(f"losses.json: {len(cases)} cases")


if __name__ == "__main__":
    main()
