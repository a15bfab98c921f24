#!/usr/bin/env python3
"""Writes optimizer_values.json: what ten updates of every optimizer make of a small network, in double.

The network is softmax(tanh(x a.weights + a.bias) b.weights + b.bias) under the mean cross-entropy. Its gradients are PyTorch's
(autograd). The updates are

- torch.optim's, clip_grad_norm_'s and clip_grad_value_'s for sgd, rmsprop, adam, adamw, adagrad;
- written here from the papers for lars and lamb, which torch does not have, and for nadam, where torch 1.13 departs from its own
  documentation in one factor;
- written here for the forms of PyDTNN, which are those of the table in docs/optimizers.md.

Needs PyTorch and NumPy; the tests do not.
"""

import json
import pathlib

import numpy as np
import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)  # NAdam keeps its product of momenta in the default type

UPDATES = 10
SAMPLES, BATCH = 16, 6  # batches of 6, 6 and 4
NAMES = ("a.weights", "a.bias", "b.weights", "b.bias")


def made(shape, seed, scale=1.0):
    return np.random.default_rng(seed).normal(size=shape).round(3) * scale


SOURCE = made((SAMPLES, 4), 1)
LABELS = [int(v) for v in np.random.default_rng(2).integers(0, 3, SAMPLES)]
# Biases begin at zero, as those of models do.
FIRST = {"a.weights": made((4, 5), 3, 0.5), "a.bias": np.zeros(5), "b.weights": made((5, 3), 4, 0.5), "b.bias": np.zeros(3)}


def batches_of_epoch():
    order = list(range(SAMPLES))
    return [order[first:first + BATCH] for first in range(0, SAMPLES, BATCH)]


def schedule(accumulation):
    """Ten updates: the batches of each, an epoch's last batch ending its group, and a learning rate's factor."""
    updates, epochs = [], 0
    while len(updates) < UPDATES:
        batches = batches_of_epoch()
        updates += [batches[first:first + accumulation] for first in range(0, len(batches), accumulation)]
        epochs += 1
    return [{"batches": group, "factor": 1 - 0.05 * i} for i, group in enumerate(updates[:UPDATES])]


def loss_of(weights, rows):
    x, labels = torch.tensor(SOURCE[rows]), torch.tensor([LABELS[row] for row in rows])
    hidden = torch.tanh(x @ weights["a.weights"] + weights["a.bias"])
    return F.cross_entropy(hidden @ weights["b.weights"] + weights["b.bias"], labels)


class Written:
    """An update rule written here: step(name, weights, gradient, rate, t) for arrays, t from 1."""

    def __init__(self, rule):
        self.rule, self.states, self.t = rule, {}, 0

    def step(self, weights, settings):
        self.t += 1
        for name, value in weights.items():
            if value.grad is None:
                continue
            fields = settings[name]
            state = self.states.setdefault(name, {})
            new = self.rule(value.detach().numpy().copy(), value.grad.numpy().copy(), state, self.t, **fields)
            with torch.no_grad():
                value.copy_(torch.tensor(new))


def moments(g, state, beta1, beta2):
    state["m"] = beta1 * state.get("m", np.zeros_like(g)) + (1 - beta1) * g
    state["v"] = beta2 * state.get("v", np.zeros_like(g)) + (1 - beta2) * g * g
    return state["m"], state["v"]


def norm(x):
    return float(np.sqrt((x * x).sum()))


def lars(w, g, state, t, lr, momentum, trust_coefficient, weight_decay, epsilon=0.0, adaptive=True):
    """You, Gitman and Ginsburg 2017, algorithm 1."""
    ratio, divisor = 1.0, norm(g) + weight_decay * norm(w) + epsilon
    if adaptive and norm(w) > 0 and divisor > 0:
        ratio = trust_coefficient * norm(w) / divisor
    state["u"] = momentum * state.get("u", np.zeros_like(w)) + lr * ratio * (g + weight_decay * w)
    return w - state["u"]


def lamb(w, g, state, t, lr, beta1, beta2, epsilon, weight_decay, adaptive=True):
    """You et al. 2020, algorithm 2, phi the identity."""
    m, v = moments(g, state, beta1, beta2)
    change = m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + epsilon) + weight_decay * w
    ratio = norm(w) / norm(change) if adaptive and norm(w) > 0 and norm(change) > 0 else 1.0
    return w - lr * ratio * change


def nadam(w, g, state, t, lr, beta1, beta2, epsilon, weight_decay, momentum_decay, extra=False):
    """Dozat 2016, as torch.optim.NAdam's documentation has it. The code of torch 1.13 has mu_t once more in the product up to t + 1
    (`extra`), against its documentation and the paper; `check_nadam` shows that nothing else differs."""
    g = g + weight_decay * w
    mu, after = (beta1 * (1 - 0.5 * 0.96 ** (k * momentum_decay)) for k in (t, t + 1))
    state["p"] = state.get("p", 1.0) * mu
    m, v = moments(g, state, beta1, beta2)
    until = state["p"] * after * (mu if extra else 1.0)
    return w - lr * ((1 - mu) / (1 - state["p"]) * g + after / (1 - until) * m) / (np.sqrt(v / (1 - beta2**t)) + epsilon)


def check_nadam():
    fields = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7, "weight_decay": 0.05, "momentum_decay": 0.004}
    w, ours, state = torch.tensor(FIRST["a.weights"], requires_grad=True), FIRST["a.weights"].copy(), {}
    optimizer = torch.optim.NAdam([w], lr=0.05, betas=(0.8, 0.95), eps=1e-7, weight_decay=0.05, momentum_decay=0.004)
    errors = {}
    for t in range(1, 11):
        g = made((4, 5), 100 + t)
        w.grad = torch.tensor(g)
        optimizer.step()
        ours = nadam(ours, g, state, t, 0.05, **fields, extra=torch.__version__.startswith("1."))
        errors[t] = np.abs(w.detach().numpy() - ours).max()
    assert max(errors.values()) < 1e-12, errors


def pydtnn_sgd(w, g, state, t, lr, momentum, nesterov, weight_decay):
    state["v"] = momentum * state.get("v", np.zeros_like(w)) + g
    step = g + momentum * state["v"] if nesterov else state["v"]
    return w - lr * (weight_decay * w + step)


def pydtnn_rmsprop(w, g, state, t, lr, rho, epsilon, weight_decay):
    state["c"] = rho * state.get("c", np.zeros_like(w)) + (1 - rho) * g * g
    return w - lr * (weight_decay * w + g / np.sqrt(state["c"] + epsilon))


def pydtnn_adam(w, g, state, t, lr, beta1, beta2, epsilon, weight_decay):
    m, v = moments(g, state, beta1, beta2)
    return w - lr * (weight_decay * w + m / (1 - beta1**t) / np.sqrt(v / (1 - beta2**t) + epsilon))


def pydtnn_nadam(w, g, state, t, lr, beta1, beta2, epsilon, weight_decay):
    m, v = moments(g, state, beta1, beta2)
    hat = (m + (1 - beta1) * g) / (1 - beta1**t)
    return w - lr * (weight_decay * w + hat / np.sqrt(v / (1 - beta2**t) + epsilon))


def epsilon_inside_adagrad(w, g, state, t, lr, epsilon, weight_decay):
    g = g + weight_decay * w
    state["s"] = state.get("s", np.zeros_like(w)) + g * g
    return w - lr * g / np.sqrt(state["s"] + epsilon)


def case(name, optimizer, learning_rate, attributes, rule, groups=(), clip_norm=0.0, clip_value=0.0, accumulation=1, average=0.0):
    """`rule(weights)` makes an object whose step() updates weights from their gradients: (step, set_rate). `groups` are (pattern,
    attributes, names); frozen ones have no gradient."""
    weights = {n: torch.tensor(v, requires_grad=True) for n, v in FIRST.items()}
    frozen = {n for _, fields, names in groups if fields.get("frozen") for n in names}
    trained = {n: w for n, w in weights.items() if n not in frozen}
    averages = {n: w.detach().clone() for n, w in trained.items()}
    step = rule(trained)
    updates, losses = schedule(accumulation), []
    for update in updates:
        rows = [row for batch in update["batches"] for row in batch]
        for w in weights.values():
            w.grad = None
        loss = loss_of(weights, rows)  # the mean over all samples of the update
        gradients = torch.autograd.grad(loss, list(trained.values()))
        for w, g in zip(trained.values(), gradients):
            w.grad = g
        if clip_norm > 0:
            torch.nn.utils.clip_grad_norm_(trained.values(), clip_norm)
        if clip_value > 0:
            torch.nn.utils.clip_grad_value_(trained.values(), clip_value)
        losses.append(loss.item())
        step(update["factor"])
        for n, w in trained.items():
            averages[n] = average * averages[n] + (1 - average) * w.detach()
    evaluated = {n: averages[n] if average > 0 and n in averages else w.detach() for n, w in weights.items()}
    return {
        "name": name,
        "training": {
            "optimizer": optimizer, "learning_rate": learning_rate, "attributes": attributes,
            "groups": [{"pattern": p, "attributes": fields} for p, fields, _ in groups],
            "clip_norm": clip_norm, "clip_value": clip_value, "accumulation": accumulation, "average_decay": average,
        },
        "updates": updates,
        "losses": losses,
        "weights": {n: w.detach().flatten().tolist() for n, w in weights.items()},
        "evaluated_loss": loss_of(evaluated, list(range(BATCH))).item(),
    }


def torch_rule(optimizer, rate, scales=None, **common):
    """An optimizer of torch; `scales` are per-name options: {"a.bias": {"weight_decay": 0}}, with `scale` for the rate."""
    def build(trained):
        options = []
        for name, w in trained.items():
            own = dict((scales or {}).get(name, {}))
            options.append({"params": [w], "lr": rate, "scale": own.pop("scale", 1.0), **own})
        made_optimizer = optimizer(options, lr=rate, **common)

        def step(factor):
            for group in made_optimizer.param_groups:
                group["lr"] = rate * factor * group["scale"]
            made_optimizer.step()
        return step
    return build


def written_rule(rule, rate, fields, own=None):
    def build(trained):
        optimizer = Written(rule)

        def step(factor):
            settings = {}
            for name in trained:
                override = dict((own or {}).get(name, {}))
                settings[name] = {**fields, "lr": rate * factor * override.pop("scale", 1.0), **override}
            optimizer.step(trained, settings)
        return step
    return build


def both(name, optimizer, rate, fields, theirs, options, **more):
    """With and without weight decay."""
    for decay in (0.0, 0.05):
        yield case(f"{name}{', weight decay' if decay else ''}", optimizer, rate, {**fields, "weight_decay": decay},
                   torch_rule(theirs, rate, weight_decay=decay, **options), **more)


def optimizers():
    yield from both("sgd", "sgd", 0.3, {"momentum": 0.0, "nesterov": False}, torch.optim.SGD, {})
    yield from both("sgd with momentum", "sgd", 0.3, {"momentum": 0.9, "nesterov": False}, torch.optim.SGD, {"momentum": 0.9})
    yield from both("sgd with nesterov", "sgd", 0.3, {"momentum": 0.9, "nesterov": True}, torch.optim.SGD,
                    {"momentum": 0.9, "nesterov": True})
    for centered in (False, True):
        for momentum in (0.0, 0.9):
            yield from both(f"rmsprop{', centered' if centered else ''}{', momentum' if momentum else ''}", "rmsprop", 0.01,
                            {"rho": 0.9, "epsilon": 1e-6, "centered": centered, "momentum": momentum}, torch.optim.RMSprop,
                            {"alpha": 0.9, "eps": 1e-6, "centered": centered, "momentum": momentum})
    betas, moments_of = {"betas": (0.8, 0.95), "eps": 1e-7}, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7}
    for amsgrad in (False, True):
        end = ", amsgrad" if amsgrad else ""
        yield from both("adam" + end, "adam", 0.05, {**moments_of, "amsgrad": amsgrad}, torch.optim.Adam, {**betas, "amsgrad": amsgrad})
        yield from both("adamw" + end, "adamw", 0.05, {**moments_of, "amsgrad": amsgrad}, torch.optim.AdamW,
                        {**betas, "amsgrad": amsgrad})
    for decay in (0.0, 0.05):
        fields = {**moments_of, "momentum_decay": 0.004, "weight_decay": decay}
        yield case("nadam, weight decay" if decay else "nadam", "nadam", 0.05, {**fields, "variant": "dozat"},
                   written_rule(nadam, 0.05, fields))
    yield from both("adagrad", "adagrad", 0.1, {"epsilon": 1e-8, "learning_rate_decay": 0.1, "initial_accumulator": 0.2},
                    torch.optim.Adagrad, {"eps": 1e-8, "lr_decay": 0.1, "initial_accumulator_value": 0.2})
    # Sums begin at zero, so that no initial value hides a fault.
    yield from both("adagrad from zero", "adagrad", 0.1, {"epsilon": 1e-10, "learning_rate_decay": 0.0, "initial_accumulator": 0.0},
                    torch.optim.Adagrad, {"eps": 1e-10})
    for decay in (0.0, 0.05):
        end = ", weight decay" if decay else ""
        fields = {"momentum": 0.9, "trust_coefficient": 0.05, "weight_decay": decay}
        yield case("lars" + end, "lars", 1.5, fields, written_rule(lars, 1.5, fields))
        fields = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-6, "weight_decay": decay}
        yield case("lamb" + end, "lamb", 0.05, fields, written_rule(lamb, 0.05, fields))


def pydtnn():
    """The forms of PyDTNN, its decay on biases included, and its defaults where they are its own."""
    for decay in (0.0, 0.05):
        end = ", weight decay" if decay else ""
        for nesterov in (False, True):
            fields = {"momentum": 0.9, "nesterov": nesterov, "weight_decay": decay}
            yield case(f"pydtnn sgd{', nesterov' if nesterov else ''}{end}", "sgd", 0.1, {**fields, "decoupled_weight_decay": True},
                       written_rule(pydtnn_sgd, 0.1, fields))
        fields = {"rho": 0.9, "epsilon": 1e-7, "weight_decay": decay}
        yield case("pydtnn rmsprop" + end, "rmsprop", 0.01,
                   {**fields, "decoupled_weight_decay": True, "epsilon_inside_root": True, "momentum": 0.0, "centered": False},
                   written_rule(pydtnn_rmsprop, 0.01, fields))
        fields = {"beta1": 0.99, "beta2": 0.999, "epsilon": 1e-7, "weight_decay": decay}
        yield case("pydtnn adam" + end, "adamw", 0.05, {**fields, "epsilon_inside_root": True},
                   written_rule(pydtnn_adam, 0.05, fields))
        yield case("pydtnn nadam" + end, "nadam", 0.05,
                   {**fields, "epsilon_inside_root": True, "variant": "pydtnn", "decoupled_weight_decay": True},
                   written_rule(pydtnn_nadam, 0.05, fields))
    fields = {"epsilon": 1e-4, "weight_decay": 0.05}
    yield case("adagrad with epsilon inside the root", "adagrad", 0.1, {**fields, "epsilon_inside_root": True},
               written_rule(epsilon_inside_adagrad, 0.1, fields))


def around():
    """Groups, freezing, clipping, accumulation, averages."""
    momentum = {"momentum": 0.9, "nesterov": False, "weight_decay": 0.05}
    options = {"momentum": 0.9, "weight_decay": 0.05}
    biases = ["a.bias", "b.bias"]
    no_decay = ("*.bias", {"weight_decay": 0.0}, biases)
    yield case("no decay on biases", "sgd", 0.3, momentum,
               torch_rule(torch.optim.SGD, 0.3, {n: {"weight_decay": 0.0} for n in biases}, **options), [no_decay])
    yield case("the first group counts", "sgd", 0.3, momentum,
               torch_rule(torch.optim.SGD, 0.3, {"a.weights": {"momentum": 0.0, "scale": 0.5}, "a.bias": {"weight_decay": 0.0},
                                                 "b.bias": {"weight_decay": 0.0}}, **options),
               [no_decay, ("a.*", {"momentum": 0.0, "learning_rate_scale": 0.5}, ["a.weights", "a.bias"])])
    adam = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7, "weight_decay": 0.05}
    adamw = {"betas": (0.8, 0.95), "eps": 1e-7, "weight_decay": 0.05}
    yield case("a frozen layer", "adamw", 0.05, adam, torch_rule(torch.optim.AdamW, 0.05, **adamw), [("a.*", {"frozen": True}, NAMES[:2])])
    yield case("a frozen bias under trained weights", "adamw", 0.05, adam, torch_rule(torch.optim.AdamW, 0.05, **adamw),
               [("a.bias", {"frozen": True}, ["a.bias"])])
    yield case("groups of lamb", "lamb", 0.05, {**adam, "adaptive": True},
               written_rule(lamb, 0.05, adam, {n: {"adaptive": False, "weight_decay": 0.0} for n in biases}),
               [("*.bias", {"adaptive": False, "weight_decay": 0.0}, biases)])
    for limit in (0.05, 100.0):
        yield case(f"norm clipped to {limit}", "sgd", 0.3, momentum, torch_rule(torch.optim.SGD, 0.3, **options), clip_norm=limit)
    yield case("norm clipped under adam", "adam", 0.05, adam, torch_rule(torch.optim.Adam, 0.05, **adamw), clip_norm=0.1)
    yield case("values clipped", "sgd", 0.3, momentum, torch_rule(torch.optim.SGD, 0.3, **options), clip_value=0.02)
    yield case("values clipped under lars", "lars", 1.5, {"momentum": 0.9, "trust_coefficient": 0.05, "weight_decay": 0.05},
               written_rule(lars, 1.5, {"momentum": 0.9, "trust_coefficient": 0.05, "weight_decay": 0.05}), clip_value=0.02)
    for accumulation in (2, 3, 5):
        yield case(f"accumulation of {accumulation}", "adam", 0.05, adam, torch_rule(torch.optim.Adam, 0.05, **adamw),
                   accumulation=accumulation)
    yield case("accumulation, clipped by norm, some frozen", "sgd", 0.3, momentum, torch_rule(torch.optim.SGD, 0.3, **options),
               [("a.bias", {"frozen": True}, ["a.bias"])], clip_norm=0.1, accumulation=2)
    yield case("average", "sgd", 0.3, momentum, torch_rule(torch.optim.SGD, 0.3, **options), average=0.9)
    yield case("average of the updates of accumulated gradients, some frozen", "adamw", 0.05, adam,
               torch_rule(torch.optim.AdamW, 0.05, **adamw), [("b.bias", {"frozen": True}, ["b.bias"])], accumulation=2, average=0.8)


def main():
    check_nadam()
    cases = [*optimizers(), *pydtnn(), *around()]
    names = [one["name"] for one in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    head = {"torch": torch.__version__, "batch": BATCH, "source": SOURCE.flatten().tolist(), "labels": LABELS,
            "first": {n: v.flatten().tolist() for n, v in FIRST.items()}}
    lines = ",\n".join(json.dumps(one) for one in cases)
    path = pathlib.Path(__file__).resolve().parent / "optimizer_values.json"
    path.write_text(f'{json.dumps(head)[:-1]}, "cases": [\n{lines}\n]}}\n')
    print(f"{path.name}: {len(cases)} cases")


if __name__ == "__main__":
    main()
