"""Normalisation within a sample, across neighbouring channels, and log_softmax."""

import torch
from torch.nn import functional as F

from reference import case, numbers


def layer_norm():
    for shape in ((3, 7), (2, 4, 3, 5)):
        sample = shape[1:]
        operands = {"x": numbers(*shape, spread=3.0, shift=2.0), "g": numbers(*sample, seed=1, shift=0.5), "b": numbers(*sample, seed=2)}
        yield case(f"layer_norm over samples of {list(sample)}", "%y = layer_norm(@x, @g, @b)", operands,
                   lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b))
        yield case(f"layer_norm over samples of {list(sample)}, inference", "%y = layer_norm(@x, @g, @b)", operands,
                   lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b), phase="inference")
    yield case("layer_norm without gamma and beta", "%y = layer_norm(@x) {affine=false, epsilon=0.01}",
               {"x": numbers(2, 3, 4, 2, spread=2.0)}, lambda x: F.layer_norm(x, x.shape[1:], eps=0.01))


def along_channels(x, g, b, epsilon):
    """As torchvision's LayerNorm2d in ConvNeXt: the axis is brought to the end and back."""
    return F.layer_norm(x.permute(0, 2, 3, 1), g.shape, g, b, epsilon).permute(0, 3, 1, 2)


def layer_norm_channels():
    operands = {"x": numbers(2, 6, 3, 2, spread=3.0, shift=-1.0), "g": numbers(6, seed=1, shift=0.5), "b": numbers(6, seed=2)}
    yield case("layer_norm along channels", "%y = layer_norm(@x, @g, @b) {axis=channels, epsilon=1e-06}", operands,
               lambda x, g, b: along_channels(x, g, b, 1e-6))


def group_norm():
    for groups in (1, 2, 6):  # the last is instance normalisation
        operands = {"x": numbers(2, 6, 3, 4, spread=3.0, shift=2.0), "g": numbers(6, seed=1, shift=0.5), "b": numbers(6, seed=2)}
        yield case(f"group_norm of {groups} groups", f"%y = group_norm(@x, @g, @b) {{groups={groups}}}", operands,
                   lambda x, g, b: F.group_norm(x, groups, g, b))
    yield case("group_norm as instance_norm", "%y = group_norm(@x) {groups=3, affine=false}", {"x": numbers(2, 3, 4, 3, spread=2.0)},
               lambda x: F.instance_norm(x))
    yield case("group_norm of rows", "%y = group_norm(@x) {groups=2, affine=false}", {"x": numbers(4, 6, spread=2.0)},
               lambda x: F.group_norm(x, 2))


def local_response_norm():
    for size, alpha, beta, k in ((5, 1e-4, 0.75, 1.0), (5, 2.0, 0.75, 2.0), (4, 3.0, 0.6, 1.5), (1, 1.0, 0.5, 1.0)):
        yield case(f"local_response_norm of size {size}, alpha {alpha}",
                   f"%y = local_response_norm(@x) {{size={size}, alpha={alpha}, beta={beta}, k={k}}}",
                   {"x": numbers(2, 7, 2, 3, spread=2.0)}, lambda x: F.local_response_norm(x, size, alpha, beta, k))


def log_softmax():
    yield case("log_softmax of rows", "%y = log_softmax(@x)", {"x": numbers(3, 5, spread=3.0)}, lambda x: F.log_softmax(x, 1))
    yield case("log_softmax of pixels", "%y = log_softmax(@x)", {"x": numbers(2, 4, 3, 2, spread=30.0)}, lambda x: F.log_softmax(x, 1))
    yield case("log_softmax, far apart", "%y = log_softmax(@x)", {"x": numbers(2, 6, spread=2000.0)}, lambda x: F.log_softmax(x, 1))


def negative_log_likelihood():
    labels = torch.tensor([3, 0, 4, 1], dtype=torch.int32)
    yield case("log_softmax and negative_log_likelihood",
               "%p = log_softmax(@x) %loss = negative_log_likelihood(%p, %labels)",
               {"x": numbers(4, 5, spread=4.0), "labels": labels}, lambda x, labels: F.nll_loss(F.log_softmax(x, 1), labels.long()))
    yield case("negative_log_likelihood", "%loss = negative_log_likelihood(@p, %labels)",
               {"p": numbers(4, 5, spread=1.0, shift=-2.0), "labels": labels}, lambda p, labels: F.nll_loss(p, labels.long()))


def batch_norm_and_activation():
    """What one kernel does: the activation is worked out again where backward needs what it read."""
    operands = {"x": numbers(3, 5, 4, 3, spread=3.0, shift=2.0), "g": numbers(5, seed=1, shift=1.0), "b": numbers(5, seed=2),
                "m": torch.zeros(5), "v": torch.ones(5)}
    for name, function in (("silu", F.silu), ("relu6", F.relu6), ("hard_swish", F.hardswish), ("sigmoid", torch.sigmoid),
                           ("softplus", F.softplus), ("elu", F.elu)):
        yield case(f"batch_norm and {name}", f"%n = batch_norm(@x, @g, @b, @m, @v) %y = {name}(%n)", operands,
                   lambda x, g, b, m, v: function(F.batch_norm(x, None, None, g, b, training=True)), frozen=("m", "v"))


def cases():
    for family in (layer_norm, layer_norm_channels, group_norm, local_response_norm, log_softmax, negative_log_likelihood,
                   batch_norm_and_activation):
        yield from family()
