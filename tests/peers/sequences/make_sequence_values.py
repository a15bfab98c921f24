#!/usr/bin/env python3
"""Writes sequence_values.json: what PyTorch makes of three networks over sequences, in double, trained by plain SGD on the batches
that are listed, under the mean cross-entropy. Their specs stand in sequences_test.cpp, where dropout of rate 0 changes nothing.

    features    [16 steps, 32 features], a class for each sample: dense layers, layer_norm, softmax over the steps, concat, mean
    tokens      [7 steps] of integers, a class for each step: embeddings, causal attention over queries, keys and values side by
                side, and over queries that share keys and values, both turned by rotary embeddings; rms_norm, swiglu
    shared      the same tokens; layers that share parameters: repetitions, two uses of a block, layers that read the weights of
                others as they are and the other way round, and the table of the words at the end, with a bias of its own

Needs PyTorch and NumPy; the test does not.
"""

import json
import pathlib

import numpy as np
import torch
from torch.nn import functional as F

SAMPLES, BATCH, UPDATES, RATE = 12, 4, 9, 0.5
UNITS, CLASSES = 8, 3
STEPS, WORDS, WIDTH, HEADS, HIDDEN, NARROW = 7, 11, 12, 3, 10, 5


def made(shape, seed, scale=1.0):
    return (np.random.default_rng(seed).normal(size=shape) * scale).round(3)


def features_logits(w, x):
    a = x @ w["a.weights"] + w["a.bias"]
    b = torch.relu(F.layer_norm(a, (UNITS,), w["norm.gamma"], w["norm.beta"], 1e-5))
    c = torch.softmax(a, dim=1)
    d = torch.cat([b + a, c], dim=1)
    return d.mean(dim=1) @ w["last.weights"] + w["last.bias"]


def by_head(x, heads):
    """[N, T, heads * width] as [N, heads, T, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def turned(x, base=10000.0):
    """Llama's rotary embedding of [N, heads, T, width]."""
    width = x.shape[-1]
    speeds = base ** (-2.0 * torch.arange(width // 2, dtype=x.dtype) / width)
    angles = torch.outer(torch.arange(x.shape[2], dtype=x.dtype), speeds).repeat(1, 2)
    other = torch.cat([-x[..., width // 2:], x[..., :width // 2]], dim=-1)
    return x * angles.cos() + other * angles.sin()


def tokens_logits(w, x):
    def dense(name, y):
        return y @ w[name + ".weights"] + w[name + ".bias"]

    x = F.embedding(x, w["words.weights"]) + w["places.weights"][:STEPS]
    y = F.layer_norm(x, (WIDTH,), w["n1.gamma"], w["n1.beta"], 1e-5)
    q, k, v = (by_head(part, HEADS) for part in dense("qkv", y).chunk(3, dim=-1))
    x = x + dense("out1", joined(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
    y = F.rms_norm(x, (WIDTH,), w["n2.gamma"], 1e-5)
    q, k, v = by_head(dense("q", y), HEADS), by_head(dense("k", y), 1), by_head(dense("v", y), 1)
    mixed = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True, enable_gqa=True)
    x = x + dense("out2", joined(mixed))
    x = x + dense("down", F.silu(dense("gate", x)) * dense("up", x))
    return dense("last", F.layer_norm(x, (WIDTH,), w["n3.gamma"], w["n3.beta"], 1e-5))


def first_of_tokens():
    shapes = {"words.weights": (WORDS, WIDTH), "places.weights": (STEPS + 2, WIDTH), "n1.gamma": (WIDTH,), "n1.beta": (WIDTH,),
              "n2.gamma": (WIDTH,), "n3.gamma": (WIDTH,), "n3.beta": (WIDTH,)}
    for name, inputs, units in (("qkv", WIDTH, 3 * WIDTH), ("out1", WIDTH, WIDTH), ("q", WIDTH, WIDTH), ("k", WIDTH, WIDTH // HEADS),
                                ("v", WIDTH, WIDTH // HEADS), ("out2", WIDTH, WIDTH), ("gate", WIDTH, HIDDEN),
                                ("up", WIDTH, HIDDEN), ("down", HIDDEN, WIDTH), ("last", WIDTH, WORDS)):
        shapes[name + ".weights"], shapes[name + ".bias"] = (inputs, units), (units,)
    return {name: made(shape, 20 + i, 0.3) + (1 if name.endswith("gamma") else 0)
            for i, (name, shape) in enumerate(shapes.items())}


def shared_logits(w, x):
    def dense(name, y):
        return y @ w[name + ".weights"] + w[name + ".bias"]

    def tower(y):
        return torch.tanh(dense("one/in", y)) @ w["one/out.weights"]

    x = F.embedding(x, w["words.weights"])
    for _ in range(2):
        x = F.gelu(dense("turn_1/mix", F.layer_norm(x, (WIDTH,), w["turn_1/norm.gamma"], w["turn_1/norm.beta"], 1e-5)))
    one = tower(x)
    narrow = dense("one/in", one + tower(one))
    return narrow @ w["one/in.weights"].T @ w["words.weights"].T + w["last.bias"]


def first_of_shared():
    shapes = {"words.weights": (WORDS, WIDTH), "turn_1/norm.gamma": (WIDTH,), "turn_1/norm.beta": (WIDTH,),
              "turn_1/mix.weights": (WIDTH, WIDTH), "turn_1/mix.bias": (WIDTH,), "one/in.weights": (WIDTH, NARROW),
              "one/in.bias": (NARROW,), "one/out.weights": (NARROW, WIDTH), "last.bias": (WORDS,)}
    return {name: made(shape, 50 + i, 0.4) + (1 if name.endswith("gamma") else 0)
            for i, (name, shape) in enumerate(shapes.items())}


def trained(source, labels, first, logits, rate=RATE):
    weights = {name: torch.tensor(value, requires_grad=True) for name, value in first.items()}
    optimizer = torch.optim.SGD(weights.values(), lr=rate)
    losses = []
    for update in range(UPDATES):
        begin = BATCH * update % SAMPLES
        rows = slice(begin, begin + BATCH)
        optimizer.zero_grad()
        given = logits(weights, torch.tensor(source[rows]))
        loss = F.cross_entropy(given.flatten(0, -2), torch.tensor(labels[rows]).flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {
        "source": source.ravel().tolist(),
        "labels": labels.ravel().tolist(),
        "rate": rate,
        "first": {name: value.ravel().tolist() for name, value in first.items()},
        "losses": losses,
        "weights": {name: value.detach().numpy().ravel().tolist() for name, value in weights.items()},
    }


def main():
    features = trained(
        made((SAMPLES, 16, 32), 1), np.random.default_rng(2).integers(0, CLASSES, SAMPLES),
        {"a.weights": made((32, UNITS), 3, 0.3), "a.bias": made((UNITS,), 4, 0.1), "norm.gamma": 1 + made((UNITS,), 5, 0.1),
         "norm.beta": made((UNITS,), 6, 0.1), "last.weights": made((UNITS, CLASSES), 7, 0.5),
         "last.bias": made((CLASSES,), 8, 0.1)},
        features_logits)
    draw = np.random.default_rng(9)
    tokens = trained(draw.integers(0, WORDS, (SAMPLES, STEPS)), draw.integers(0, WORDS, (SAMPLES, STEPS)), first_of_tokens(),
                     tokens_logits)
    shared = trained(draw.integers(0, WORDS, (SAMPLES, STEPS)), draw.integers(0, WORDS, (SAMPLES, STEPS)), first_of_shared(),
                     shared_logits, rate=0.1)
    path = pathlib.Path(__file__).with_name("sequence_values.json")
    path.write_text(json.dumps({"features": features, "tokens": tokens, "shared": shared}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
