"""How a family's module notes a case: see README.md for the fields."""

import math

import torch

torch.set_default_dtype(torch.float64)


def numbers(*shape, spread=1.0, shift=0.0, seed=0):
    """Fixed numbers in no order, none of them 0 or near another, symmetric about `shift`."""
    count = math.prod(shape)
    order = sorted(range(count), key=lambda i: (i * 7919 + seed * 104729 + 17) % (count * 3 + 1) * 31 % 1009)
    values = [(2 * i - count + 1.37) / max(count, 1) * spread + shift for i in order]
    return torch.tensor(values).reshape(shape)


def plain(tensor):
    """As a list that JSON can write."""
    flat = tensor.detach().reshape(-1).tolist()
    if tensor.dtype in (torch.int32, torch.int64):
        return flat
    return [x if math.isfinite(x) else str(x) for x in flat]


# The axes of samples, and of what lies as one sample does, by their number; weights (`w`) have none. Three are those of
# one image, but for sequences (`s`).
AXES = {2: ["", " feature"], 3: ["", " step", " feature"], 4: ["", " channel", " space", " space"]}


def declared(name, tensor, frozen):
    kind = "i32" if tensor.dtype in (torch.int32, torch.int64) else "f64"
    dims = list(tensor.shape)
    if kind == "i32":
        return f"%{name}: {kind}[{','.join(map(str, dims))}]"
    if len(dims) == 3 and name != "s":
        dims = [1] + dims
    words = AXES.get(len(dims)) if name != "w" else None
    shape = ",".join(f"{extent}{words[axis] if words else ''}" for axis, extent in enumerate(dims))
    return f"@{name}: {kind}[{shape}]" + (" frozen" if name in frozen else "")


def case(name, body, operands, forward, frozen=(), phase="training", tolerance=1e-10, updates=None, float_tolerance=None):
    """`body`: the nodes, reading @NAME for floating operands and %NAME for integers, the result being %y (or %loss).
    `forward`: from the operands, by name, to the result. `frozen`: operands without a gradient.
    `updates`: from the operands to the states after the step, a dictionary (states are frozen operands)."""
    leaves = {}
    for key, value in operands.items():
        leaves[key] = value.clone()
        if value.is_floating_point() and key not in frozen and phase == "training":
            leaves[key].requires_grad_()
    result = forward(**leaves)
    output = "loss" if "%loss" in body else "y"
    text = ", ".join(declared(key, value, frozen) for key, value in operands.items())
    noted = {
        "name": name,
        "graph": f"graph @g({text}) {{ {body} return {output}=%{output} }}",
        "phase": phase,
        "tolerance": tolerance,
        "values": {key: plain(value) for key, value in operands.items()},
        "outputs": {output: plain(result)},
    }
    if float_tolerance:
        noted["float_tolerance"] = float_tolerance
    if phase == "training":
        if output == "loss":
            result.backward()
        else:
            diff = numbers(*result.shape, seed=99)
            noted["diff"] = plain(diff)
            result.backward(diff)
        noted["gradients"] = {key: plain(leaf.grad) for key, leaf in leaves.items() if leaf.grad is not None}
    if updates:
        noted["updates"] = {key: plain(value) for key, value in updates(**operands).items()}
    return noted
