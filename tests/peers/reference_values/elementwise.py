"""Elementwise operators."""

import torch
from torch.nn import functional as F

from reference import case, numbers

# Arguments at which unstable forms overflow or differences cancel. No kinks: there every one-sided derivative is right.
EDGES = torch.tensor([-1e4, -745.0, -104.0, -89.0, -30.0, -3.5, -1e-3, -1e-8, -1e-310, 1e-310, 1e-8, 1e-3, 3.5, 30.0,
                      89.0, 104.0, 745.0, 1e4])


def unary(name, forward, call=None, spread=4.0, edges=EDGES, shift=0.0, tolerance=1e-10):
    """The same body over an image and over a row with the edges."""
    call = call or f"{name}(@x)"
    title = call.replace("(@x)", "").replace("{", "").replace("}", "")
    yield case(f"{title}, image", f"%y = {call}", {"x": numbers(2, 3, 2, 3, spread=spread, shift=shift)}, lambda x: forward(x),
               tolerance=tolerance, float_tolerance=3e-6)
    if edges is not None:
        yield case(f"{title}, edges", f"%y = {call}", {"x": edges.reshape(2, -1)}, lambda x: forward(x), tolerance=tolerance)
    if edges is EDGES:
        # Subnormal numbers of float where the others are 0.
        single = torch.where(edges.abs() < 1e-300, edges.sign() * 1e-40, edges)
        yield case(f"{title}, float edges", f"%y = {call}", {"x": single.reshape(2, -1)}, lambda x: forward(x),
                   tolerance=tolerance, float_tolerance=3e-6)


def relu():
    yield from unary("relu", F.relu)


def sigmoid():
    yield from unary("sigmoid", torch.sigmoid)


def tanh():
    yield from unary("tanh", torch.tanh)


def leaky_relu():
    yield from unary("leaky_relu", F.leaky_relu)
    yield from unary("leaky_relu", lambda x: F.leaky_relu(x, 0.3), "leaky_relu(@x) {negative_slope=0.3}")


def relu6():
    yield from unary("relu6", F.relu6, spread=9.0, shift=2.0)


def elu():
    yield from unary("elu", F.elu)
    yield from unary("elu", lambda x: F.elu(x, 0.7), "elu(@x) {alpha=0.7}")


def selu():
    yield from unary("selu", F.selu)


def gelu():
    yield from unary("gelu", F.gelu)
    yield from unary("gelu", lambda x: F.gelu(x, approximate="tanh"), 'gelu(@x) {approximation="tanh"}')


def silu():
    yield from unary("silu", F.silu)


def hard_swish():
    yield from unary("hard_swish", F.hardswish, spread=5.0)


def hard_sigmoid():
    # PyTorch's backward has 1/6 as a float.
    yield from unary("hard_sigmoid", F.hardsigmoid, spread=5.0, tolerance=1e-7)


def softplus():
    # PyTorch's own returns x beyond 20 / beta, which is off by exp(-20); logaddexp is the exact and stable form.
    def exact(x, beta):
        return torch.logaddexp(beta * x, torch.zeros_like(x)) / beta

    yield from unary("softplus", lambda x: exact(x, 1))
    yield from unary("softplus", lambda x: exact(x, 2.5), "softplus(@x) {beta=2.5}")


def log_sigmoid():
    yield from unary("log_sigmoid", F.logsigmoid)


def log():
    yield from unary("log", torch.log, spread=1.0, shift=1.5, edges=torch.tensor([1e-300, 1e-8, 0.999999, 1.000001, 3.0, 1e300]))


def arctanh():
    yield from unary("arctanh", torch.atanh, spread=0.9, edges=torch.tensor([-0.999999, -1e-8, -1e-310, 1e-310, 1e-8, 0.999999]))


def identity():
    yield from unary("identity", lambda x: x * 1)


def scale():
    yield from unary("scale", lambda x: 0.5 * x - 2, "scale(@x) {factor=0.5, offset=-2.0}")


def add():
    operands = {name: numbers(2, 3, 2, 3, seed=i) for i, name in enumerate("abc")}
    yield case("add, three", "%y = add(@a, @b, @c)", operands, lambda a, b, c: a + b + c)


def multiply():
    operands = {name: numbers(2, 3, 2, 3, seed=i) for i, name in enumerate("abc")}
    yield case("multiply, two", "%y = multiply(@a, @b)", {"a": operands["a"], "b": operands["b"]}, lambda a, b: a * b)
    yield case("multiply, three", "%y = multiply(@a, @b, @c)", operands, lambda a, b, c: a * b * c)
    gate = {"x": numbers(2, 5, 3, 4), "g": numbers(2, 5, 1, 1, seed=3)}
    yield case("multiply, gate", "%y = multiply(@x, @g)", gate, lambda x, g: x * g)
    yield case("multiply, gate first", "%y = multiply(@g, @x)", gate, lambda x, g: x * g)
    row = {"x": numbers(2, 5, 3, 4), "g": numbers(2, 5, seed=3)}
    yield case("multiply, gate of a row", "%y = multiply(@x, @g)", row, lambda x, g: x * g[:, :, None, None])
    yield case("squeeze and excite", "%m = global_avg_pool2d(@x) %s = sigmoid(%m) %y = multiply(@x, %s)", {"x": gate["x"]},
               lambda x: x * torch.sigmoid(x.mean((2, 3), keepdim=True)))


def elementwise():
    def written(infix, forward, names="x", spread=2.0, shift=0.0):
        operands = {name: numbers(3, 5, seed=i, spread=spread, shift=shift + 0.11 * i) for i, name in enumerate(names)}
        reads = ", ".join(f"@{name}" for name in names)
        return case(f"elementwise {infix}", f'%y = elementwise({reads}) {{expression="{infix}"}}', operands,
                    lambda **given: forward(*given.values()))

    yield written("x * sigmoid(x)", lambda x: x * torch.sigmoid(x))
    yield written("x * tanh(log1p(exp(x)))", F.mish)
    yield written("exp(-x * x) - erf(x) / 3", lambda x: torch.exp(-x * x) - torch.erf(x) / 3)
    yield written("expm1(x) * atanh(x / 4)", lambda x: torch.expm1(x) * torch.atanh(x / 4))
    yield written("select(x0 < x1, x0 * x1, sqrt(abs(x0)))", lambda a, b: torch.where(a < b, a * b, a.abs().sqrt()), "ab")
    yield written("log(x0) / x1 - max(x0, x1) + min(x1, 2)",
                  lambda a, b: a.log() / b - torch.maximum(a, b) + b.clamp(max=2), "ab", shift=2.5)


def trained():
    """Numbers that are learned: one for each channel, and one for all."""
    image, row = numbers(2, 3, 2, 3, spread=3.0), numbers(4, 5, spread=3.0)
    swish = '%y = elementwise(@x, @b) {expression="x0 c1 x0 mul sigmoid mul"}'
    prelu = '%y = elementwise(@x, @b) {expression="x0 0 gt x0 c1 x0 mul select"}'

    def aligned(x, b):
        return b.reshape([-1] + [1] * (x.dim() - 2))

    for what, x, count in (("channels of an image", image, 3), ("features", row, 5), ("all of an image", image, 1), ("all of a row", row, 1)):
        operands = {"x": x, "b": numbers(count, seed=4, shift=0.7)}
        yield case(f"swish with a learned beta, {what}", swish, operands, lambda x, b: x * torch.sigmoid(aligned(x, b) * x),
                   float_tolerance=3e-6)
        yield case(f"prelu, {what}", prelu, operands, lambda x, b: F.prelu(x, b), float_tolerance=3e-6)
    yield case("two learned numbers", '%y = elementwise(@x, @a, @b) {expression="x0 c1 mul c2 add x0 exp mul c1 c2 mul add"}',
               {"x": image, "a": numbers(3, seed=1), "b": numbers(1, seed=2)},
               lambda x, a, b: (x * aligned(x, a) + b) * torch.exp(x) + aligned(x, a) * b)
    yield case("an activation behind one that learns", '%z = elementwise(@x, @b) {expression="x0 c1 mul"} %y = silu(%z)',
               {"x": image, "b": numbers(3, seed=3)}, lambda x, b: F.silu(x * aligned(x, b)))


def cases():
    for operator in (relu, sigmoid, tanh, leaky_relu, relu6, elu, selu, gelu, silu, hard_swish, hard_sigmoid, softplus, log_sigmoid,
                     log, arctanh, identity, scale, add, multiply, elementwise, trained):
        yield from operator()
